"""What the first bytes of a file show of its content: tests for it, and details that messages quote."""

from __future__ import annotations

import re
from collections.abc import Callable

from sampling.readers.csv_cells import header_cells
from sampling.readers.input_file import InputFile
from sampling.readers.nsys.csv_dialect import bare_names

#: Whether a file has some property.
Test = Callable[[InputFile], bool]

_NSYS_VERSION = re.compile(rb"Report (\d{4})@(\d+)@(\d+)@")
_SOURCE = re.compile(
    rb"^(#!|#include|#pragma|import \w|from [\w.]+ import |def \w+\(|class \w+[:({ ]|package \w|__global__|"
    rb"template ?<|(int|void) \w+ ?\()",
    re.MULTILINE,
)
_TEXT_CONTROLS = frozenset(b"\t\n\r\f\b\x1b")
# A path, an assignment or a command line is no title of a column.
_TITLE = re.compile(r"(?!.*(?:--|[=@\\]))[^/]{0,60}(?:[(\[][^()\[\]]{1,20}[)\]])?")


def starts_with(*magics: bytes) -> Test:
    """Return the test whether a file starts with one of the byte strings."""
    return lambda file: file.head.startswith(magics)


def has_at(offset: int, magic: bytes) -> Test:
    """Return the test whether a file has a byte string at an offset."""
    return lambda file: file.head[offset : offset + len(magic)] == magic


def matches(pattern: bytes) -> Test:
    """Return the test whether a regular expression is found in the head; ^ and $ match at lines."""
    compiled = re.compile(pattern, re.MULTILINE)
    return lambda file: compiled.search(file.head) is not None


def has_suffix(*suffixes: str) -> Test:
    """Return the test whether a file's name ends with one of the suffixes, in any case of letters."""
    return lambda file: file.path.casefold().endswith(suffixes)


def all_of(*tests: Test) -> Test:
    """Return the test whether a file passes all of the tests."""
    return lambda file: all(test(file) for test in tests)


def is_binary(file: InputFile) -> bool:
    """Return whether the head holds bytes that text does not."""
    return any(byte < 32 and byte not in _TEXT_CONTROLS for byte in set(file.head))


def has_columns(*columns: str) -> Test:
    """Return the test whether the first line that is not empty names these columns, units left out."""
    wanted = frozenset(columns)
    return lambda file: wanted <= bare_names(header_cells(_first_line(file)))


def is_table(file: InputFile) -> bool:
    """Return whether this looks like CSV: its first lines have equally many cells, at least two."""
    counts = {len(header_cells(line)) for line in _whole_lines(file)[:5] if line.strip()}
    # Kernels' names may read as source: "void add(int*)". A header does not.
    is_source = _SOURCE.match(_first_line(file)) is not None
    return len(counts) == 1 and counts.pop() >= 2 and not is_binary(file) and not is_source


def is_source_code(file: InputFile) -> bool:
    """Return whether this is a program's source."""
    return not is_binary(file) and _SOURCE.search(file.head) is not None


def is_json(file: InputFile) -> bool:
    """Return whether this starts as a JSON object or a JSON list does."""
    return re.match(rb"(?:\xef\xbb\xbf)?\s*(?:\{\s*[\"}]|\[\s*[\[{\]\"\d-])", file.head) is not None


def column_names(file: InputFile) -> tuple[str, ...]:
    """Return the columns of a CSV; "?" for a cell that is no title, for it may be private."""
    cells = [cell.strip() for cell in header_cells(_first_line(file))]
    return tuple(cell if _TITLE.fullmatch(cell) else "?" for cell in cells)


def nsys_version(file: InputFile) -> str:
    """Return a space and the version of Nsight Systems that wrote a report; "" where it does not say."""
    match = _NSYS_VERSION.search(file.head[:200])
    return "" if match is None else " " + ".".join(part.decode() for part in match.groups())


def _first_line(file: InputFile) -> bytes:
    return next((line for line in _lines(file) if line.strip()), b"")


def _lines(file: InputFile) -> list[bytes]:
    return file.head.removeprefix(b"\xef\xbb\xbf").splitlines()[:200]


def _whole_lines(file: InputFile) -> list[bytes]:
    """Return the lines of the head, without a last one that the head may end within."""
    lines = _lines(file)
    return lines if file.head.endswith(b"\n") or len(lines) == 1 else lines[:-1]
