"""TOML as the files of this engine are read: what is wrong in it is said with its place."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from scalemodel.errors import InputError

_PLACE = re.compile(r" \(at line (\d+), column (\d+)\)$")


def parsed_toml(text: str, path: str | Path, *, or_else: str, meant: str) -> dict[str, Any]:
    """Return the keys and values of a text.

    Parameters
    ----------
    or_else : what the file may be instead of a TOML; said where its name does not end as that of one.
    meant : what the remedy then tells to give.

    Raises
    ------
    InputError : the text is no TOML.
    """
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # numbers and nesting beyond Python's own limits too
        place = _PLACE.search(str(error))
        row = None if place is None else int(place[1])
        if not str(path).casefold().removesuffix(".gz").endswith(".toml"):
            what, remedy = f"neither {or_else} nor a TOML ({error})", f"give {meant}"
        else:
            reason = _PLACE.sub("", str(error))
            what = f"not a TOML: {reason[:1].casefold()}{reason[1:]}"
            what += "" if place is None else f" at column {place[2]} of the row"
            remedy = "correct it there" if place is not None else "correct it"
        raise InputError(what, path=path, row=row, remedy=remedy) from error
