"""The ``stats.csv`` that Accel-Sim's tracer writes beside the traces: one row a launch, traced or not.

A row is ``kernel-7.trace, NAME, grid_dimX, ...``; columns are found by their names. The launches are those of
one context, in the order of their launch. A launch that was not traced has a count of 0, which is none: a dry
run lists all launches and counts no instruction.
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
    first_line,
    header_cells,
    parse,
    parts,
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


@dataclass(frozen=True, slots=True, eq=False)
class StatsRows:
    """All rows of a file.

    Attributes
    ----------
    path : the file, for messages.
    line : (n,) 1-based line of each.
    number : (n,) the N of kernel-N, from 1.
    names : the distinct names.
    name : (n,) index into ``names``.
    sizes : (n, 6) grid x, y, z and block x, y, z.
    counts : (n, 2) all instructions of the launch and those in its trace; (n, 0) where they were not read.
    """

    path: str
    line: IntArray
    number: IntArray
    names: tuple[str, ...]
    name: IntArray
    sizes: IntArray
    counts: IntArray

    def refuse(self, wrong: BoolArray, column: str, message: str, remedy: str) -> None:
        """Raise ProfileError for the first row that is wrong, if there is one."""
        if wrong.any():
            row = int(self.line[np.argmax(wrong)])
            raise ProfileError(message, path=self.path, row=row, column=column, remedy=remedy)

    def refuse_several_runs(self) -> None:
        """Refuse rows whose numbers do not ascend.

        Raises
        ------
        ProfileError : a number is not above the one before it.
        """
        falls = np.diff(self.number, prepend=self.number[:1] - 1) <= 0
        row = int(np.argmax(falls))
        message = f"kernel-{int(self.number[row])} follows kernel-{int(self.number[row - 1])}"
        several = f"{message}: the statistics of several contexts or runs"
        self.refuse(falls, ID, several, "give each a file of its own")


def has_header(head: bytes) -> bool:
    """Return whether a file that starts like this has the header of stats.csv."""
    return {ID, NAME} <= set(_header(head))


def _header(head: bytes) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in header_cells(first_line(head)))


def read_rows(file: InputFile, *, with_counts: bool = False, progress: Progress | None = None) -> StatsRows:
    """Return the rows.

    Parameters
    ----------
    with_counts : whether to read the instructions beside names and sizes.

    Raises
    ------
    ProfileError : a column is missing, a cell is no number, an id no trace; there is no row.
    """
    import pyarrow as pa
    from pyarrow import compute

    header = _header(file.head)
    wanted = (*GRID, *BLOCK, *((INSTRUCTIONS, REPORTED) if with_counts else ()))
    for column in (ID, NAME, *wanted):
        if column not in header:
            raise ProfileError(f"no column {column}", path=file.path, row=1, remedy=REMEDY)
    ids, named, *numeric = (header.index(column) for column in (ID, NAME, *wanted))
    kinds: dict[int, Kind] = {ids: "text", named: "text", **dict.fromkeys(numeric, "integer")}
    rows: list[IntArray] = []
    names: dict[str, int] = {}
    for part in parts(file, Layout(header, kinds), progress):
        table = parse(part)
        line = row_lines(part.text) + part.line
        distinct, code = texts(table, ids)
        found = compute.extract_regex(distinct, r"kernel-(?P<number>\d{1,18})")
        wrong = to_numpy(found.is_null())[code]
        if wrong.any():
            raise part.error(int(np.argmax(wrong)), "is no trace kernel-N", position=ids, remedy=REMEDY)
        digits = compute.struct_field(found, "number").cast(pa.string())
        number = to_numpy(digits.cast(pa.int64()))[code]
        distinct, code = texts(table, named)
        spelt = [(cell or b"").decode("utf-8", "replace").strip() for cell in distinct.to_pylist()]
        name = np.array([names.setdefault(each, len(names)) for each in spelt], dtype=np.int64)[code]
        others = [values(part, table, position, None) for position in numeric]
        rows.append(np.stack([line, number, name, *others]))
    if not rows:
        raise ProfileError("lists no launch", path=file.path, remedy=REMEDY)
    of_all = np.concatenate(rows, axis=1)
    line, number, name = of_all[:3]
    return StatsRows(file.path, line, number, tuple(names), name, sizes=of_all[3:9].T, counts=of_all[9:].T)


def overflowed(rows: StatsRows) -> BoolArray:
    """Return (n,) whether the count of a launch is beyond the 32 bits that the tracer prints.

    The instructions that went into a trace are at most all of the launch, so more of them tell an overflow
    too. They stand in for none: they leave some out, and are printed in 32 bits themselves.
    """
    total, reported = rows.counts.T
    return np.asarray((total < 0) | (reported < 0) | (reported > total))
