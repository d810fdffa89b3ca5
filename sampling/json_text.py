"""JSON as this project writes and reads it: without NaN, safe to show on a terminal, one object a file."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sampling.errors import PlanFileError

# Control characters beyond those that JSON escapes itself, what turns the direction of writing, and halves of
# characters: the bytes of a file name that is no UTF-8, which no file of UTF-8 text can hold unescaped.
_UNPRINTABLE = re.compile("[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_REMEDY = "give a file written by kernelpoint"


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


def _dumped(value: Any, **how: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, **how)
    except (TypeError, ValueError):
        # Few documents hold a number that is not finite, and to look for one takes longer than to write all.
        return json.dumps(finite(value), ensure_ascii=False, allow_nan=False, **how)


def _printable(text: str) -> str:
    return text if text.isascii() and "\x7f" not in text else _UNPRINTABLE.sub(_code_units, text)


def _code_units(found: re.Match[str]) -> str:
    return json.dumps(found[0])[1:-1] if found[0] != "\x7f" else "\\u007f"


def finite(value: Any) -> Any:
    """Return a value, at any depth, with None for every number that is not finite; a tuple becomes a list."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return value


def read_json_object(path: str) -> dict[str, Any]:
    """Return the JSON object of a plan or overrides file; "-" is standard input.

    Raises
    ------
    PlanFileError : it cannot be read, or is no JSON object.
    """
    try:
        text = sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8")
        if not text.strip():
            raise PlanFileError("an empty file", path=path, remedy=_REMEDY)
        document = json.loads(text)
    except OSError as error:
        message = f"cannot be read ({error.strerror})"
        raise PlanFileError(message, path=path, remedy="check the path") from error
    except UnicodeDecodeError as error:
        raise PlanFileError("not a text file", path=path, remedy=_REMEDY) from error
    except (ValueError, RecursionError) as error:
        raise PlanFileError(f"not JSON ({error})", path=path, remedy=_REMEDY) from error
    if not isinstance(document, dict):
        raise PlanFileError("not a JSON object", path=path, remedy=_REMEDY)
    return document
