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
from sampling.readers import table
from sampling.readers.input_file import InputFile
from sampling.readers.table import Layout, first_line, header_cells

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
    line : (n,) 1-based line of each.
    number : (n,) the N of kernel-N, from 1.
    names, name : the distinct names, and (n,) the index of each row's.
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
        """Raise ProfileError where a number is not above the one before it."""
        falls = np.diff(self.number, prepend=self.number[:1] - 1) <= 0
        row = int(np.argmax(falls))
        message = f"kernel-{int(self.number[row])} follows kernel-{int(self.number[row - 1])}"
        several = f"{message}: the statistics of several contexts or runs"
        self.refuse(falls, ID, several, "give each a file of its own")


def has_header(head: bytes) -> bool:
    """Return whether a file that starts like this has the header of stats.csv."""
    return {ID, NAME} <= {cell.strip() for cell in header_cells(first_line(head))}


def read_rows(file: InputFile, *, with_counts: bool = False, progress: Progress | None = None) -> StatsRows:
    """Return the rows, with the instructions beside names and sizes where these are asked for.

    Raises
    ------
    ProfileError : a column is missing, a cell is no number, an id no trace; there is no row.
    """
    import pyarrow as pa
    from pyarrow import compute

    header = tuple(cell.strip() for cell in header_cells(first_line(file.head)))
    numeric = (*GRID, *BLOCK, *((INSTRUCTIONS, REPORTED) if with_counts else ()))
    for column in (ID, NAME, *numeric):
        if column not in header:
            raise ProfileError(f"no column {column}", path=file.path, row=1, remedy=REMEDY)
    layout = Layout(
        header,
        {column: (header.index(column), "text") for column in (ID, NAME)}
        | {column: (header.index(column), "integer") for column in numeric},
        remedy=REMEDY,
    )
    parts: list[IntArray] = []
    names: dict[str, int] = {}
    for rows in table.read_rows(file, layout, progress):
        distinct, code = rows.codes(ID)
        found = compute.extract_regex(distinct, r"kernel-(?P<number>\d{1,18})")
        rows.refuse(to_numpy(found.is_null())[code], ID, "is no trace kernel-N")
        digits = compute.struct_field(found, "number").cast(pa.string())
        spelt, named = rows.texts(NAME)
        codes = [names.setdefault(each.strip(), len(names)) for each in spelt]
        name = np.array(codes, dtype=np.int64)[named]
        number = to_numpy(digits.cast(pa.int64()))[code]
        parts.append(np.stack([rows.lines, number, name, *(rows.numbers(column) for column in numeric)]))
    if not parts:
        raise ProfileError("lists no launch", path=file.path, remedy=REMEDY)
    line, number, name, *others = np.concatenate(parts, axis=1)
    table_of = np.stack(others, axis=1)
    return StatsRows(file.path, line, number, tuple(names), name, table_of[:, :6], table_of[:, 6:])


def overflowed(rows: StatsRows) -> BoolArray:
    """Return (n,) whether the count of a launch is beyond the 32 bits that the tracer prints.

    The instructions that went into a trace are at most all of the launch, so more of them tell an overflow
    too. They stand in for none: they leave some out, and are printed in 32 bits themselves.
    """
    total, reported = rows.counts.T
    return np.asarray((total < 0) | (reported < 0) | (reported > total))
