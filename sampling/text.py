"""Texts: counts, lists, names and parameters as messages write them, and JSON that is safe to show."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from enum import StrEnum
from typing import Any

_PARAMETER = re.compile(r"`([a-z_]+)(?:=([^`]*))?`")


class Wording(str):
    """A text that names parameters, in backticks: ``"`epsilon` is above 0"``, ``"give `group_by=name`"``.

    It reads as it is. A program whose users know the parameters by other names has them put in by `renamed`,
    into the words of the engine alone: the values that fill its ``{}`` come from the user and stay as they
    are, but for those that are a `Wording` too.

    >>> text = Wording("`kernel={!r}`: no kernel has it", "`kernel`")
    >>> text, text.renamed({"kernel": "--kernel"})
    ("`kernel='`kernel`'`: no kernel has it", "--kernel '`kernel`': no kernel has it")
    """

    template: str
    values: tuple[object, ...]

    def __new__(cls, template: str, *values: object) -> Wording:  # noqa: PYI034 - there are no subclasses
        """Fill the values in."""
        wording = super().__new__(cls, template.format(*values))
        wording.template, wording.values = template, values
        return wording

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what a copy is made from: the words before anything is filled in."""
        return (Wording, (self.template, *self.values))

    def renamed(self, names: Mapping[str, str], quote: str = "") -> str:
        """Return the text with other names for its parameters, each with its value between two ``quote``."""

        def other_name(match: re.Match[str]) -> str:
            parameter, value = match.groups()
            if parameter not in names:
                return match[0]
            return f"{quote}{names[parameter]}{'' if value is None else f' {value}'}{quote}"

        template = _PARAMETER.sub(other_name, self.template)
        values = (
            value.renamed(names, quote) if isinstance(value, Wording) else value for value in self.values
        )
        return template.format(*values)


def joined_texts(separator: str, texts: Iterable[str]) -> str:
    """Return texts as one; of those that are a `Wording` the parameters can still be renamed."""
    several = tuple(texts)
    return Wording(separator.join("{}" for _ in several), *several)


def counted(count: int, singular: str, several: str | None = None) -> str:
    """Return a count with its noun.

    >>> counted(1, "row"), counted(1106, "row"), counted(2, "launch"), counted(0, "launch is", "launches are")
    ('1 row', '1,106 rows', '2 launches', '0 launches are')
    """
    if several is None:
        several = (
            "strata"
            if singular == "stratum"
            else f"{singular}{'es' if singular.endswith(('ch', 'ss')) else 's'}"
        )
    return f"1 {singular}" if count == 1 else f"{count:,} {several}"


def listed(names: Sequence[str], limit: int = 6) -> str:
    """Return the first names, and how many there are in all where not all are shown.

    >>> listed(["a", "b"]), listed(["a", "b", "c"], limit=2)
    ('a, b', 'a, b, ... (3 in all)')
    """
    text = ", ".join(names[:limit])
    return text if len(names) <= limit else f"{text}, ... ({len(names):,} in all)"


def joined(words: Iterable[object], conjunction: str = "and") -> str:
    """Return words as in a sentence.

    >>> joined([8]), joined([8, 16, 32]), joined("ab", "or")
    ('8', '8, 16 and 32', 'a or b')
    """
    *before, last = map(str, words)
    return f"{', '.join(before)} {conjunction} {last}" if before else last


def shortened(name: str, limit: int = 96) -> str:
    """Return a name with its middle cut out where it has more than ``limit`` characters.

    >>> shortened("abcdefghijklmno", limit=12)
    'abcdef...mno'
    """
    return name if len(name) <= limit else f"{name[: limit // 2]}...{name[-(limit // 2 - 3) :]}"


class NumberKind(StrEnum):
    """What a number with a point counts."""

    FRACTION = "fraction"
    PERCENT = "per cent"
    OTHER = "other"


def why_no_number(text: str, kind: NumberKind = NumberKind.FRACTION) -> str:
    """Return why a text is no number; one in per cent is told what is typed instead.

    >>> why_no_number("5%"), why_no_number("five")
    ('fractions are meant, not per cent: 0.05', "'five' is no number")
    """
    if text.endswith("%") and kind is not NumberKind.OTHER:
        with suppress(ValueError):
            share = float(text[:-1])
            if kind is NumberKind.PERCENT:
                return f"per cent are meant without their sign: {share:g}"
            return f"fractions are meant, not per cent: {share / 100:g}"
    return f"{text!r} is no number"


def nearest(word: str, words: Sequence[str]) -> str:
    """Return which of the known words may be meant, as a remedy; all of them where none is near.

    >>> nearest("rot", ["root", "stem"]), nearest("x", ["root", "stem"])
    ("did you mean 'root'?", 'there are root, stem')
    """
    close = get_close_matches(word.lower(), words, 1)
    return f"did you mean {close[0]!r}?" if close else f"there are {', '.join(words) or 'none'}"


class _Lines(list[str]):
    write = list.append


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    r"""Return rows as CSV whose lines end in ``\n``, cells with any line end in quotes.

    >>> csv_text([("name", "id"), ("a\rb", 1), ("c", None)])
    'name,id\n"a\rb",1\nc,\n'
    """
    lines = _Lines()
    # Before Python 3.13 a writer quotes, of all line ends, those alone that it writes itself.
    csv.writer(lines, lineterminator="\r\n").writerows(rows)
    return "".join(f"{line[:-2]}\n" for line in lines)


_LIKE_A_FORMULA = re.compile(r"'*[=+\-@\x00-\x1f\x7f]")
_NUMBER = re.compile(r"[+-](\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def spreadsheet_cell(text: str) -> str:
    """Return a text as a cell that no spreadsheet runs as a formula: an apostrophe before it, if need be.

    >>> spreadsheet_cell("=1+1"), spreadsheet_cell("'=1"), spreadsheet_cell("-1.5e3"), spreadsheet_cell("a=b")
    ("'=1+1", "''=1", '-1.5e3', 'a=b')
    """
    return f"'{text}" if _LIKE_A_FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def cell_text(cell: str) -> str:
    """Return the text that `spreadsheet_cell` made a cell of.

    >>> cell_text("'=1+1"), cell_text("''=1"), cell_text("'a'")
    ('=1+1', "'=1", "'a'")
    """
    return cell[1:] if cell.startswith("'") and _LIKE_A_FORMULA.match(cell) else cell


def duration_text(duration_ns: float, unit: str = "ns") -> str:
    """Return a duration in the unit that suits it, to three digits; of others than ns in thousands of it.

    >>> duration_text(640), duration_text(954_321), duration_text(1_250_000_000)
    ('640 ns', '954 us', '1.25 s')
    >>> duration_text(640, "cycles"), duration_text(954_321, "cycles")
    ('640 cycles', '954 kcycles')
    """
    smallest, larger_units = unit, duration_units(unit)[1:]
    value = duration_ns
    for larger in larger_units:
        # What rounds to 1,000 of a unit is one of the next.
        if value < 999.5:
            break
        value, unit = value / 1000, larger
    digits = 0 if value >= 99.95 or (unit == smallest and value == int(value)) else 1 if value >= 9.995 else 2
    return f"{value:,.{digits}f} {unit}"


def duration_units(unit: str = "ns") -> tuple[str, ...]:
    """Return the names of what durations are counted in, each a thousand of the one before it."""
    return ("ns", "us", "ms", "s") if unit == "ns" else tuple(prefix + unit for prefix in ("", *"kMG"))


# Control characters beyond those that JSON escapes itself, what turns the direction of writing, and halves of
# characters: the bytes of a file name that is no UTF-8, which no file of UTF-8 text can hold unescaped.
_UNPRINTABLE = re.compile("[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def json_text(document: Any, indent: int | None = 1) -> str:
    """Return a document as JSON without NaN or infinity, which become null.

    What a terminal must not be sent is escaped: the same data, and safe to print.
    """
    return _printable(_dumped(document, indent=indent))


def json_rows_text(document: Mapping[str, Any]) -> str:
    """Return what `json_text` does with every item of a list, whatever it holds, on a line of its own.

    Lists of very many items stay small so, and fit for `grep`; the objects around them stay readable. Outside
    of an item an iterator is a list too, so that the items need not all be there at once.
    """
    return _printable("".join(_row_pieces(document, "\n")))


def _row_pieces(value: Any, line: str) -> Iterator[str]:
    """Yield the text of a value; ``line`` begins a line that is indented like the one it stands in."""
    inner = line + " "
    if isinstance(value, Mapping) and value:
        for number, (key, item) in enumerate(value.items()):
            yield f"{',' if number else '{'}{inner}{_dumped(key)}: "
            yield from _row_pieces(item, inner)
        yield line + "}"
    elif isinstance(value, list | tuple | Iterator):
        start = "["
        for item in value:
            yield f"{start}{inner}{_dumped(item, separators=(',', ':'))}"
            start = ","
        yield "[]" if start == "[" else line + "]"
    else:
        yield _dumped(value)


def _dumped(value: Any, **options: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, **options)
    except (TypeError, ValueError):
        # Few documents hold a number that is not finite, and to look for one takes longer than to write all.
        return json.dumps(finite(value), ensure_ascii=False, allow_nan=False, **options)


def _printable(text: str) -> str:
    if text.isascii() and "\x7f" not in text:
        return text
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def finite(value: Any) -> Any:
    """Return a value, at any depth, with None for every number that is not finite; a tuple becomes a list."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: finite(item) for key, item in value.items()}
    return [finite(item) for item in value] if isinstance(value, list | tuple) else value
