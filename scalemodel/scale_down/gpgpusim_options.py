"""The grammar of a `gpgpusim.config`: its options, and where their values stand.

It is that of the simulator's option parser (option_parser.cc). `#` starts a comment. Everything else is
words apart by white space, `-option value`, over line ends too; a word in quotes may hold blanks; of an
option given twice the last counts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from scalemodel.errors import InputError

_COMMENT = re.compile(r"#[^\n]*")
_WORD = re.compile(r'"[^"]*"|\S+', re.ASCII)
_OPTION_NAME = re.compile(r"-[A-Za-z]")


@dataclass(frozen=True, slots=True)
class Option:
    """The value of an option that counts, without quotes; where it starts in the text; its row, from 1."""

    value: str
    start: int
    row: int


def looks_like_gpgpusim(text: str) -> bool:
    """Return whether a line of the text starts with an option."""
    return any(_OPTION_NAME.match(line.lstrip()) for line in text.splitlines())


def read_options(text: str, path: str) -> dict[str, Option]:
    """Return name, with its hyphen, -> value of all options, as the simulator takes a text apart.

    Raises
    ------
    InputError : a word is neither an option nor the value of one, or the file reads another.
    """
    bare = _COMMENT.sub(lambda comment: " " * len(comment[0]), text)
    options: dict[str, Option] = {}
    name: str | None = None
    row, counted = 1, 0
    for word in _WORD.finditer(bare):
        row, counted = row + bare.count("\n", counted, word.start()), word.start()
        if _OPTION_NAME.match(word[0]):
            name = word[0]
            options[name] = Option("", word.end(), row)
            if name == "-config":
                raise InputError(
                    "-config reads another file", path=path, row=row, remedy="put all options in one file"
                )
            continue
        if name is None:
            raise InputError(
                f"{word[0]!r} is neither an option nor the value of one",
                path=path,
                row=row,
                remedy="give a gpgpusim.config as the simulator reads it, one -option and one value each",
            )
        quoted = word[0].startswith('"')
        options[name] = Option(word[0].strip('"'), word.start() + quoted, row)
        name = None
    return options
