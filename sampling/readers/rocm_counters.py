"""Counters that ROCm's profilers measured of dispatches, as features: CSV and rocprofv3's databases.

rocprofv3's ``*_counter_collection.csv`` has a row a counter of a dispatch, rocprof's results and
rocprof-compute's ``pmc_perf.csv`` a row a dispatch and a column a counter, a database a row a counter and
instance. Beside the counters stands the ``duration`` of each dispatch. Launches are in the order of their
dispatch numbers; where a file has only totals of work-items, sizes are given as one-dimensional.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sampling.arrays import FloatArray, IntArray, dense_codes
from sampling.errors import ProfileError
from sampling.readers.feature_table import FeatureRows, FeatureTable, coded_names, read_columns
from sampling.readers.input_file import InputFile
from sampling.readers.rocm_csv import agent_number, bare_name, columns_called, work_groups
from sampling.readers.rocprofv3 import is_database
from sampling.readers.sqlite_file import open_database
from sampling.readers.table import Kind, first_line, header_cells
from sampling.reduction.launch_list import Features

_REMEDY = "measure again with `rocprofv3 --pmc COUNTER ... --output-format csv`"
# Columns beside the counters, in small letters and without what stands between words.
_OTHERS = """
    correlationid dispatchid agentid gpuid queueid queueindex processid pid threadid tid streamid kernelid
    kernelname kind guid index gridsize grd workgroupsize wgr ldsblocksize ldsperworkgroup lds scratchsize
    scratchperworkitem scr vgprcount vgpr archvgpr accumvgprcount accumvgpr sgprcount sgpr wavesize fbar sig
    obj starttimestamp endtimestamp dispatchns beginns endns completens durationns privatesegmentsize
    groupsegmentsize countername countervalue nodeid xcc
"""
_NO_COUNTER = frozenset(
    (*_OTHERS.split(), *(f"{size}size{axis}" for size in ("grid", "workgroup") for axis in "xyz"))
)
_KIBIBYTES = frozenset({"FETCH_SIZE", "WRITE_SIZE", "FetchSize", "WriteSize"})
DURATION = "duration"
# Instances of a counter, such as the channels of a cache, add up.
_COUNTED = """
    SELECT K.id, I.name, SUM(E.value) FROM rocpd_pmc_event E
    JOIN rocpd_info_pmc I ON I.id = E.pmc_id JOIN rocpd_kernel_dispatch K ON K.event_id = E.event_id
    GROUP BY K.id, I.name
"""
_DISPATCHES = """
    SELECT K.id, P.pid, IFNULL(A.type_index, 0), K.dispatch_id, IFNULL(S.display_name, S.kernel_name),
           K."end" - K.start, K.grid_size_x, K.grid_size_y, K.grid_size_z,
           K.workgroup_size_x, K.workgroup_size_y, K.workgroup_size_z
    FROM rocpd_kernel_dispatch K
    LEFT JOIN rocpd_info_kernel_symbol S ON S.id = K.kernel_id
    LEFT JOIN rocpd_info_process P ON P.id = K.pid LEFT JOIN rocpd_info_agent A ON A.id = K.agent_id
    ORDER BY P.pid, K.dispatch_id
"""


def recognise(head: bytes) -> bool:
    """Return whether a file that starts like this has dispatches with counters, or is a database of rocpd."""
    if is_database(head):
        return True
    titles = header_cells(first_line(head))
    called = columns_called(titles)
    return {"name", "start", "end"} <= called.keys() and ("counter" in called or bool(_counters(titles)))


def _counters(titles: tuple[str, ...]) -> list[str]:
    plain = {title: "".join(filter(str.isalnum, title)).casefold() for title in titles}
    return [title for title, text in plain.items() if text and text not in _NO_COUNTER]


def read(file: InputFile) -> FeatureRows:
    """Return the dispatches with their counters; raises ProfileError, see `read_columns`, and for none."""
    rows = _read_database(file) if is_database(file.head) else _read_csv(file)
    if set(rows.features.metrics) == {DURATION}:
        raise ProfileError("has dispatches and no counter of any", path=file.path, remedy=_REMEDY)
    return rows


def _read_csv(file: InputFile) -> FeatureRows:
    titles = header_cells(first_line(file.head))
    column = {field: titles[index] for field, (index, _) in columns_called(titles).items()}
    kinds: dict[str, Kind] = dict.fromkeys([*column.values(), *_counters(titles)], "any")
    kinds |= dict.fromkeys(
        [column[field] for field in ("name", "device", "counter") if field in column], "text"
    )
    table = read_columns(file, titles, ",", kinds, _REMEDY)
    nowhere = np.zeros(len(table.line), dtype=np.int64)
    names, name = table.texts(column["name"])
    process = table.whole(column["process"]) if "process" in column else nowhere
    agents, agent = table.texts(column["device"]) if "device" in column else (("0",), nowhere)
    device = np.array([agent_number(text) for text in agents])[agent]
    order = table.whole(column["order"]) if "order" in column else np.arange(len(nowhere))
    codes, first = dense_codes([process, device + 1, order, name])
    duration = table.numbers(column["end"])[0] - table.numbers(column["start"])[0]
    if "counter" in column:
        counters, counter = table.texts(column["counter"])
        values = _pivot(table.numbers(column["value"])[0], counter, codes, (len(counters), len(first)))
        metrics = dict(zip(counters, values, strict=True))
    else:
        wide = {title: table.metric(title) for title in _counters(titles)}
        metrics = {title: values[first] for title, values in wide.items() if values is not None}
    items, block = _sizes(table, column, "items"), _sizes(table, column, "group")
    grid = None
    if items is not None and block is not None:
        grid = np.stack(work_groups(list(items[first].T), list(block[first].T)), axis=1)
    rows = FeatureRows(
        file.path, "rocm-counters", table.line[first], _features(metrics, duration[first]),
        names=tuple(map(bare_name, names)), name=name[first], process=process[first], device=device[first],
        grid=grid, block=None if grid is None or block is None else block[first],
    )  # fmt: skip
    return rows.take(np.lexsort((order[first], device[first], process[first])))


def _sizes(table: FeatureTable, column: Mapping[str, str], size: str) -> IntArray | None:
    """Return (n, 3) sizes in work-items, of totals as one-dimensional; None where there are none."""
    axes = [column.get(f"{size}_{axis}") for axis in "xyz"]
    if None not in axes:
        return np.stack([table.whole(str(axis)) for axis in axes], axis=1)
    if size not in column:
        return None
    total = table.whole(column[size])
    return np.stack([total, np.ones_like(total), np.ones_like(total)], axis=1)


def _pivot(values: FloatArray, counter: IntArray, row: IntArray, shape: tuple[int, int]) -> FloatArray:
    """Return (counters, rows) the values; of several for one dispatch, which ran again, the first."""
    table = np.full(shape, np.nan)
    table[counter[::-1], row[::-1]] = values[::-1]
    return table


def _features(metrics: Mapping[str, FloatArray], duration: FloatArray) -> Features:
    units = {DURATION: "ns"} | {name: "KiB" for name in metrics if name in _KIBIBYTES}
    return Features({DURATION: np.where(duration > 0, duration, np.nan), **metrics}, units)


def _read_database(file: InputFile) -> FeatureRows:
    with open_database(file, _REMEDY) as database:
        dispatches = database.connection.execute(_DISPATCHES).fetchall()
        counted = database.connection.execute(_COUNTED).fetchall()
    if not dispatches or not counted:
        raise ProfileError("has no counter of a dispatch", path=file.path, remedy=_REMEDY)
    numbers = np.array([[*row[:4], *row[5:]] for row in dispatches], dtype=np.int64)
    names, name = coded_names([bare_name(str(row[4])) for row in dispatches])
    place = {key: index for index, key in enumerate(numbers[:, 0].tolist())}
    counters, counter = coded_names([str(title) for _, title, _ in counted])
    row = np.array([place[key] for key, *_ in counted])
    values = _pivot(np.array([value for *_, value in counted], dtype=np.float64), counter, row,
                    (len(counters), len(dispatches)))  # fmt: skip
    items, block = numbers[:, 5:8], numbers[:, 8:11]
    return FeatureRows(
        file.path, "rocpd-counters", np.arange(1, len(place) + 1),
        _features(dict(zip(counters, values, strict=True)), numbers[:, 4].astype(np.float64)),
        names=names, name=name, process=numbers[:, 1], device=numbers[:, 2],
        grid=np.stack(work_groups(list(items.T), list(block.T)), axis=1), block=block,
    )  # fmt: skip
