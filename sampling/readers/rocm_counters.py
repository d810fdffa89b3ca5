"""Counters that ROCm's profilers measured of dispatches, as features: CSV and rocprofv3's databases.

rocprofv3's ``*_counter_collection.csv`` has a row a counter of a dispatch, rocprof's results and
rocprof-compute's ``pmc_perf.csv`` a row a dispatch and a column a counter, a database a row a counter and
instance. Beside the counters stands the ``duration`` of each dispatch. Launches are in the order of their
dispatch numbers; where a file has only totals of work-items, sizes are given as one-dimensional.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sampling.arrays import IntArray, dense_codes
from sampling.errors import ProfileError
from sampling.readers.feature_table import FeatureRows, FeatureTable, read_columns
from sampling.readers.input_file import InputFile
from sampling.readers.rocm_csv import agent_number, bare_name, columns_called, work_groups
from sampling.readers.rocprofv3 import is_database
from sampling.readers.sqlite_file import open_database
from sampling.readers.table import Kind, Layout, Rows, first_line, header_cells
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
# As the CSV has it; instances of a counter, such as the channels of a cache, add up.
_COUNTED = """
    SELECT P.pid process_id, IFNULL(A.type_index, 0) || '' agent_id, K.dispatch_id,
           IFNULL(S.display_name, S.kernel_name) kernel_name, K.start start_timestamp, K."end" end_timestamp,
           K.grid_size_x, K.grid_size_y, K.grid_size_z,
           K.workgroup_size_x, K.workgroup_size_y, K.workgroup_size_z,
           I.name counter_name, SUM(E.value) counter_value
    FROM rocpd_pmc_event E
    JOIN rocpd_info_pmc I ON I.id = E.pmc_id JOIN rocpd_kernel_dispatch K ON K.event_id = E.event_id
    LEFT JOIN rocpd_info_kernel_symbol S ON S.id = K.kernel_id
    LEFT JOIN rocpd_info_process P ON P.id = K.pid LEFT JOIN rocpd_info_agent A ON A.id = K.agent_id
    GROUP BY K.id, I.name
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
    table, titles = _database_table(file) if is_database(file.head) else _csv_table(file)
    column = {field: titles[index] for field, (index, _) in columns_called(titles).items()}
    nowhere = np.zeros(len(table.line), dtype=np.int64)
    names, name = table.texts(column["name"])
    process = table.whole(column["process"]) if "process" in column else nowhere
    agents, agent = table.texts(column["device"]) if "device" in column else (("0",), nowhere)
    device = np.array([agent_number(text) for text in agents])[agent]
    order = table.whole(column["order"]) if "order" in column else np.arange(len(nowhere))
    codes, first = dense_codes([process, device + 1, order, name])
    if "counter" in column:
        counters, counter = table.texts(column["counter"])
        values = np.full((len(counters), len(first)), np.nan)
        # Backwards, so that of a dispatch that ran again the first value counts.
        values[counter[::-1], codes[::-1]] = table.numbers(column["value"])[0][::-1]
        metrics = dict(zip(counters, values, strict=True))
    else:
        wide = {title: table.metric(title) for title in _counters(titles)}
        metrics = {title: values[first] for title, values in wide.items() if values is not None}
    if not metrics:
        raise ProfileError("has dispatches and no counter of any", path=file.path, remedy=_REMEDY)
    duration = (table.numbers(column["end"])[0] - table.numbers(column["start"])[0])[first]
    metrics[DURATION] = np.where(duration > 0, duration, np.nan)
    units = {DURATION: "ns"} | {name: "KiB" for name in metrics if name in _KIBIBYTES}
    items, group = _sizes(table, column, "items"), _sizes(table, column, "group")
    has_sizes = bool(items and group)
    rows = FeatureRows(
        path=file.path,
        format="rocm-counters",
        line=table.line[first],
        features=Features(metrics, units),
        names=tuple(map(bare_name, names)),
        name=name[first],
        process=process[first],
        device=device[first],
        grid=np.stack(work_groups(items, group), axis=1)[first] if has_sizes else None,
        block=np.stack(group, axis=1)[first] if has_sizes else None,
    )
    return rows.take(np.lexsort((order[first], device[first], process[first])))


def _sizes(table: FeatureTable, column: Mapping[str, str], size: str) -> list[IntArray]:
    """Return x, y and z in work-items, (n,) each, of totals as one-dimensional; none where there are none."""
    axes = [column[f"{size}_{axis}"] for axis in "xyz" if f"{size}_{axis}" in column]
    axes = axes if len(axes) == len("xyz") else [column[size]] if size in column else []
    sizes = [table.whole(axis) for axis in axes]
    return [*sizes, *[np.ones_like(size) for size in sizes * 2]][:3]


def _csv_table(file: InputFile) -> tuple[FeatureTable, tuple[str, ...]]:
    titles = header_cells(first_line(file.head))
    column = {field: titles[index] for field, (index, _) in columns_called(titles).items()}
    kinds: dict[str, Kind] = dict.fromkeys([*column.values(), *_counters(titles)], "any")
    texts = [column[field] for field in ("name", "device", "counter") if field in column]
    return read_columns(file, titles, ",", kinds | dict.fromkeys(texts, "text"), _REMEDY), titles


def _database_table(file: InputFile) -> tuple[FeatureTable, tuple[str, ...]]:
    import pyarrow as pa

    with open_database(file, _REMEDY) as database:
        cursor = database.connection.execute(_COUNTED)
        titles = tuple(title for title, *_ in cursor.description)
        columns = [pa.array(values) for values in zip(*cursor.fetchall(), strict=True)]
    if not columns:
        raise ProfileError("has no counter of a dispatch", path=file.path, remedy=_REMEDY)
    layout = Layout(titles, {title: (place, "any") for place, title in enumerate(titles)}, remedy=_REMEDY)
    rows = [Rows(file.path, layout, pa.table(columns, titles), lambda: np.arange(1, len(columns[0]) + 1))]
    return FeatureTable.of(file.path, rows, "C"), titles
