"""Counters that ROCm's profilers measured of dispatches, as features: CSV and rocprofv3's databases.

A database has a row a counter and instance, such as a channel of a cache; these add up. Beside the counters
stands the ``duration`` of each dispatch. Launches are in the order of their dispatch numbers.
"""

from __future__ import annotations

from itertools import chain

import numpy as np

from sampling.errors import ProfileError
from sampling.profile.profile import KernelTable, Profile
from sampling.readers import rocm_csv
from sampling.readers.feature_table import FeatureRows
from sampling.readers.input_file import InputFile
from sampling.readers.rocprofv3 import is_database, recordings_in
from sampling.readers.sqlite_file import open_database
from sampling.readers.table import first_line, header_cells
from sampling.readers.table_launches import Launches
from sampling.reduction.launch_list import Features

FORMAT = "rocm-counters"
_REMEDY = "measure again with `rocprofv3 --pmc COUNTER ... --output-format csv`"
_DURATION = "duration"
_KIBIBYTES = frozenset({"FETCH_SIZE", "WRITE_SIZE", "FetchSize", "WriteSize"})
_COUNTED = """
    SELECT P.pid process_id, IFNULL(A.type_index, 0) agent_id, K.dispatch_id,
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
    titles = header_cells(first_line(head))
    called = rocm_csv.columns_called(titles).keys()
    has_counters = "counter" in called or bool(rocm_csv.counter_columns(titles))
    return is_database(head) or ({"name", "start", "end"} <= called and has_counters)


def read(file: InputFile) -> FeatureRows:
    """Return the dispatches with their counters; raises ProfileError, see `rocm_csv.read`, and for none."""
    profile = _read_database(file) if is_database(file.head) else rocm_csv.read(file, KernelTable(), None)
    if not profile.metric_names:
        raise ProfileError("has no counter of a dispatch", path=file.path, remedy=_REMEDY)
    table = profile.load(("signature", "duration_ns"))
    shapes = profile.kernels.signature_rows()[table["signature"]]
    parts = [part.metrics(profile.metric_names) for part in profile.parts]
    metrics = {name: np.concatenate([part[name] for part in parts]) for name in profile.metric_names}
    metrics[_DURATION] = np.where(table["duration_ns"] > 0, table["duration_ns"], np.nan)
    units = {_DURATION: "ns"} | {name: "KiB" for name in metrics if name in _KIBIBYTES}
    lengths = [sequence.launches for sequence in profile.sequences]
    process, device = (
        np.repeat([getattr(sequence, name) for sequence in profile.sequences], lengths)
        for name in ("process", "device")
    )
    has_sizes = bool(shapes[:, 1:].all())
    return FeatureRows(
        path=file.path,
        format=FORMAT,
        line=np.arange(1, len(shapes) + 1),
        features=Features(metrics, units),
        names=tuple(map(profile.kernels.names.full, range(len(profile.kernels.names)))),
        name=shapes[:, 0],
        process=process,
        device=device,
        grid=shapes[:, 1:4] if has_sizes else None,
        block=shapes[:, 4:] if has_sizes else None,
    )


def _read_database(file: InputFile) -> Profile:
    with open_database(file, _REMEDY) as database:
        # Ids are of one recording: another of the same database has them too.
        cursors = [executed(_COUNTED) for executed in recordings_in(database).values()]
        titles = [title for title, *_ in cursors[0].description] if cursors else []
        columns = dict(zip(titles, zip(*chain(*cursors), strict=True), strict=False))
    tables = [rocm_csv.rows_of_values(file, columns)] if columns else []
    kernels = KernelTable()
    return rocm_csv.build_profile(tables, Launches(file, kernels), kernels, FORMAT)
