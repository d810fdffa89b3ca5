"""Signs by which files that are no profile are known, and the details of them worth quoting."""

from __future__ import annotations

import re
from collections.abc import Callable

from sampling.readers.input_file import InputFile
from sampling.readers.nsys.csv_dialect import bare_names, header_cells

Sign = Callable[[InputFile], bool]

_NSYS_VERSION = re.compile(rb"Report (\d{4})@(\d+)@(\d+)@")
_SOURCE = re.compile(
    rb"^(#!|#include|#pragma|import \w|from [\w.]+ import |def \w+\(|class \w+[:({ ]|package \w|__global__|"
    rb"template ?<|(int|void) \w+ ?\()",
    re.MULTILINE,
)
_TEXT_CONTROLS = frozenset(b"\t\n\r\f\b\x1b")
_LISTED_COLUMNS = 4


def starts(*magics: bytes) -> Sign:
    """Return the sign that a file starts with one of the byte strings."""
    return lambda file: file.head.startswith(magics)


def at(offset: int, magic: bytes) -> Sign:
    """Return the sign that a byte string stands at an offset."""
    return lambda file: file.head[offset : offset + len(magic)] == magic


def matching(pattern: bytes) -> Sign:
    """Return the sign that a regular expression is found in the head; ^ and $ are those of lines."""
    compiled = re.compile(pattern, re.MULTILINE)
    return lambda file: compiled.search(file.head) is not None


def named(*suffixes: str) -> Sign:
    """Return the sign that a file's name ends so, whatever its case."""
    return lambda file: file.path.casefold().endswith(suffixes)


def both(*signs: Sign) -> Sign:
    """Return the sign that all of the signs are there."""
    return lambda file: all(sign(file) for sign in signs)


def binary(file: InputFile) -> bool:
    """Return whether the head holds bytes that text does not."""
    head = file.head
    return any(byte < 32 and byte not in _TEXT_CONTROLS for byte in set(head))


def csv_columns(*columns: str) -> Sign:
    """Return the sign that the first line that is not empty names these columns, units aside."""
    wanted = frozenset(columns)
    return lambda file: wanted <= bare_names(header_cells(_first_line(file)))


def table_of_text(file: InputFile) -> bool:
    """Return whether this looks like CSV: its first lines have as many cells each, and at least two."""
    counts = {len(header_cells(line)) for line in _whole_lines(file)[:5] if line.strip()}
    return len(counts) == 1 and counts.pop() >= 2 and not binary(file) and not source_code(file)


def source_code(file: InputFile) -> bool:
    """Return whether this is a program's source."""
    return not binary(file) and _SOURCE.search(file.head) is not None


def json_text(file: InputFile) -> bool:
    """Return whether this starts as a JSON object or a list of objects does."""
    return re.match(rb"(?:\xef\xbb\xbf)?\s*(?:\{\s*[\"}]|\[\s*[\[{\]\"\d-])", file.head) is not None


def column_names(file: InputFile) -> str:
    """Return the first columns of a CSV, quoted."""
    cells = header_cells(_first_line(file))
    shown = ", ".join(f"'{cell.strip()}'" for cell in cells[:_LISTED_COLUMNS])
    return shown + (", ..." if len(cells) > _LISTED_COLUMNS else "")


def nsys_version(file: InputFile) -> str:
    """Return the version of Nsight Systems that a report names, with the words around it, or nothing."""
    match = _NSYS_VERSION.search(file.head[:200])
    return "" if match is None else " " + ".".join(part.decode() for part in match.groups())


def _first_line(file: InputFile) -> bytes:
    return next((line for line in _lines(file) if line.strip()), b"")


def _lines(file: InputFile) -> list[bytes]:
    return file.head.removeprefix(b"\xef\xbb\xbf").splitlines()[:200]


def _whole_lines(file: InputFile) -> list[bytes]:
    """Return the lines of the head, without the one that the head's end may cut."""
    lines = _lines(file)
    return lines if file.head.endswith(b"\n") or len(lines) == 1 else lines[:-1]
