"""Every launch of a traced process, from ``stats.csv`` as Accel-Sim's tracer writes it beside the traces.

One row a launch, traced or not: ``kernel-7.trace, NAME, grid_dimX, ...``; columns are found by their names.
"""

from __future__ import annotations

import numpy as np

from sampling.arrays import IntArray
from sampling.dense_codes import dense_codes
from sampling.errors import ProfileError
from sampling.readers.csv_cells import (
    Kind,
    Layout,
    Part,
    first_line,
    header_cells,
    parse,
    pieces,
    texts,
    values,
)
from sampling.readers.input_file import InputFile
from sampling.simulators.measured_run import SeenKernel
from sampling.simulators.trace_list import TraceList

_ID, _NAME = "kernel id", "kernel mangled name"
_SIZES = tuple(f"{shape}_dim{axis}" for shape in ("grid", "block") for axis in "XYZ")
_NUMBER = r"kernel-(?P<number>\d{1,18})"
_REMEDY = "give the stats.csv that the tracer wrote beside the traces"


def recognises_list(head: bytes) -> bool:
    """Return whether a file that starts like this has the header of such a list."""
    return {_ID, _NAME} <= {cell.strip() for cell in header_cells(first_line(head))}


def read_list(file: InputFile) -> TraceList:
    """Return the launches in the list's order.

    Raises
    ------
    ProfileError : a column is missing, a cell is no number, an id no trace; there is no row.
    """
    header = tuple(cell.strip() for cell in header_cells(first_line(file.head)))
    for column in (_ID, _NAME, *_SIZES):
        if column not in header:
            raise ProfileError(f"no column {column}", path=file.path, row=1, remedy=_REMEDY)
    place = {column: header.index(column) for column in (_ID, _NAME, *_SIZES)}
    kinds: dict[int, Kind] = {place[column]: "text" for column in (_ID, _NAME)}
    kinds.update({place[column]: "integer" for column in _SIZES})
    numbers: list[IntArray] = []
    rows: list[IntArray] = []
    names: dict[str, int] = {}
    for start, text in pieces(file):
        skipped = len(first_line(text)) if start == 0 else 0
        part = Part(file, Layout(header, kinds), start + skipped, text[skipped:])
        if not part.text.strip():
            continue
        table = parse(part)
        numbers.append(_numbers(part, table, place[_ID]))
        distinct, code = texts(table, place[_NAME])
        known = [(cell or b"").decode("utf-8", "replace").strip() for cell in distinct.to_pylist()]
        of_name = np.array([names.setdefault(name, len(names)) for name in known], dtype=np.int64)
        sizes = [values(part, table, place[column], None) for column in _SIZES]
        rows.append(np.stack([of_name[code], *sizes], axis=1))
    if not numbers:
        raise ProfileError("lists no launch", path=file.path, remedy=_REMEDY)
    return _list(file, np.concatenate(numbers), np.concatenate(rows), list(names))


def _numbers(part: Part, table: object, position: int) -> IntArray:
    """Return (n,) the number in the name of each trace."""
    distinct, code = texts(table, position)
    of_trace = np.zeros(len(distinct), dtype=np.int64)
    found = _extracted(distinct)
    for place, number in enumerate(found):
        if number is None:
            row = int(np.argmax(code == place))
            raise part.error(row, "is no trace kernel-N", position=position, remedy=_REMEDY)
        of_trace[place] = int(number)
    return of_trace[code]


def _extracted(names: object) -> list[bytes | None]:
    from pyarrow import compute

    found = compute.extract_regex(names, _NUMBER)
    numbers: list[bytes | None] = compute.struct_field(found, "number").to_pylist()
    return numbers


def _list(file: InputFile, number: IntArray, rows: IntArray, names: list[str]) -> TraceList:
    codes, first_rows = dense_codes([rows[:, column] for column in range(rows.shape[1])])
    kernels = []
    for name, *sizes in rows[first_rows].tolist():
        grid, block = (sizes[0], sizes[1], sizes[2]), (sizes[3], sizes[4], sizes[5])
        kernels.append(SeenKernel(names[name], grid, block))
    return TraceList(file.path, number, 1, codes.astype(np.int64), tuple(kernels))
