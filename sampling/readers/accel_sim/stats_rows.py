"""The rows of ``stats.csv``, as Accel-Sim's tracer writes it beside the traces: one a launch, traced or not.

A row is ``kernel-7.trace, NAME, grid_dimX, ...``; columns are found by their names.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sampling.arrays import BoolArray, IntArray
from sampling.arrow import to_numpy
from sampling.errors import ProfileError
from sampling.progress import Progress
from sampling.readers.csv_cells import (
    Kind,
    Layout,
    Part,
    Table,
    first_line,
    header_cells,
    parse,
    pieces,
    texts,
    values,
)
from sampling.readers.input_file import InputFile
from sampling.readers.text_lines import row_lines

ID, NAME = "kernel id", "kernel mangled name"
GRID = tuple(f"grid_dim{axis}" for axis in "XYZ")
BLOCK = tuple(f"block_dim{axis}" for axis in "XYZ")
#: Warp instructions of a launch, and those of them that went into its trace; 0 for a launch not traced.
INSTRUCTIONS, REPORTED = "total_insts", "total_reported_insts"
REMEDY = "give the stats.csv that the tracer wrote beside the traces"

_NUMBER = r"kernel-(?P<number>\d{1,18})"


@dataclass(frozen=True, slots=True, eq=False)
class StatsRows:
    """All rows of a file.

    Attributes
    ----------
    line : (n,) 1-based line of each.
    number : (n,) the N of kernel-N, from 1.
    names : the distinct names.
    name : (n,) index into ``names``.
    sizes : (n, 6) grid x, y, z and block x, y, z.
    counts : (n, 2) all instructions of the launch and those in its trace; (n, 0) where they were not read.
    """

    line: IntArray
    number: IntArray
    names: tuple[str, ...]
    name: IntArray
    sizes: IntArray
    counts: IntArray

    def refuse_several_runs(self, path: str) -> None:
        """Refuse rows whose numbers do not ascend.

        Raises
        ------
        ProfileError : a number is not above the one before it.
        """
        steps = np.diff(self.number) <= 0
        if steps.any():
            row = int(np.argmax(steps)) + 1
            raise ProfileError(
                f"kernel-{int(self.number[row])} follows kernel-{int(self.number[row - 1])}: "
                "the statistics of several contexts or runs",
                path=path,
                row=int(self.line[row]),
                column=ID,
                remedy="give each a file of its own",
            )


def has_header(head: bytes) -> bool:
    """Return whether a file that starts like this has the header of stats.csv."""
    return {ID, NAME} <= set(_header(head))


def overflowed(rows: StatsRows) -> BoolArray:
    """Return (n,) whether the count of a launch is beyond the 32 bits that the tracer prints.

    The instructions that went into a trace are at most all of the launch, so more of them tell an overflow
    too. They stand in for none: they leave some out, and are printed in 32 bits themselves.
    """
    total, reported = rows.counts.T
    return np.asarray((total < 0) | (reported < 0) | (reported > total))


def read_rows(file: InputFile, *, with_counts: bool = False, progress: Progress | None = None) -> StatsRows:
    """Return the rows.

    Parameters
    ----------
    with_counts : whether to read the instructions beside names and sizes.

    Raises
    ------
    ProfileError : a column is missing, a cell is no number, an id no trace; there is no row.
    """
    header = _header(file.head)
    counts = (INSTRUCTIONS, REPORTED) if with_counts else ()
    wanted = (*GRID, *BLOCK, *counts)
    for column in (ID, NAME, *wanted):
        if column not in header:
            raise ProfileError(f"no column {column}", path=file.path, row=1, remedy=REMEDY)
    place = {column: header.index(column) for column in (ID, NAME, *wanted)}
    kinds: dict[int, Kind] = {place[column]: "text" for column in (ID, NAME)}
    kinds.update({place[column]: "integer" for column in wanted})
    lines: list[IntArray] = []
    numbers: list[IntArray] = []
    cells: list[IntArray] = []
    names: dict[str, int] = {}
    lines_past = 0
    for start, text in pieces(file, progress):
        skipped = len(first_line(text)) if start == 0 else 0
        part = Part(file, Layout(header, kinds), start + skipped, text[skipped:])
        if part.text.strip():
            table = parse(part)
            lines.append(row_lines(part.text) + lines_past + text.count(b"\n", 0, skipped) + 1)
            numbers.append(_numbers(part, table, place[ID]))
            distinct, code = texts(table, place[NAME])
            known = [(cell or b"").decode("utf-8", "replace").strip() for cell in distinct.to_pylist()]
            of_name = np.array([names.setdefault(name, len(names)) for name in known], dtype=np.int64)
            others = [values(part, table, place[column], None) for column in wanted]
            cells.append(np.stack([of_name[code], *others], axis=1))
        lines_past += text.count(b"\n")
    if not numbers:
        raise ProfileError("lists no launch", path=file.path, remedy=REMEDY)
    of_all = np.concatenate(cells)
    return StatsRows(
        line=np.concatenate(lines),
        number=np.concatenate(numbers),
        names=tuple(names),
        name=of_all[:, 0],
        sizes=of_all[:, 1:7],
        counts=of_all[:, 7:],
    )


def _header(head: bytes) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in header_cells(first_line(head)))


def _numbers(part: Part, table: Table, position: int) -> IntArray:
    """Return (n,) the number in the name of each trace."""
    import pyarrow as pa
    from pyarrow import compute

    distinct, code = texts(table, position)
    found = compute.extract_regex(distinct, _NUMBER)
    wrong = to_numpy(found.is_null())[code]
    if wrong.any():
        raise part.error(int(np.argmax(wrong)), "is no trace kernel-N", position=position, remedy=REMEDY)
    of_trace: IntArray = to_numpy(compute.struct_field(found, "number").cast(pa.string()).cast(pa.int64()))
    return of_trace[code]
