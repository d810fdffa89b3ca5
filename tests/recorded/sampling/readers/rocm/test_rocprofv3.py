"""rocprofv3's database of a matrix product on an MI300X, and its JSON of a training run on an MI350X."""

from __future__ import annotations

import gzip
import json
import sqlite3
from contextlib import closing
from pathlib import Path

from sampling.profile.profile import Device
from tests.sampling.readers.launches_told import Told, read, told


def test_the_database_is_read_as_its_own_view_lists_it(shared_data: Path) -> None:
    path = shared_data / "rocm" / "mi300x-gemm-rocprofv3.db"
    query = """
        SELECT K.pid, A.type_index, K.name, K.start, K."end" - K.start, K.queue_id,
               K.grid_x, K.grid_y, K.grid_z, K.workgroup_x, K.workgroup_y, K.workgroup_z
        FROM kernels K
        JOIN rocpd_kernel_dispatch D ON D.id = K.id
        JOIN rocpd_info_agent A ON A.id = D.agent_id
        JOIN regions R ON R.stack_id = K.stack_id ORDER BY R.start
    """
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        rows = connection.execute(query).fetchall()
    expected = [
        Told(*row[:6], (-(-row[6] // row[9]), -(-row[7] // row[10]), -(-row[8] // row[11])), row[9:])
        for row in rows
    ]
    profile = read(path)
    launches = told(profile)
    assert launches == expected
    assert (len(launches), sum(launch.duration_ns for launch in launches)) == (151, 2_604_546)
    assert (profile.facts.launch_order, profile.facts.api_rows_missing) == ("api-start", 0)
    assert [(device.device, device.name, device.sm_count) for device in profile.facts.devices] == [
        (0, "AMD Instinct MI300X", 304)
    ]
    # The matrix product: 512 x 128 work-items in groups of 256.
    assert launches[1].grid == (2, 128, 1)


def test_the_json_is_read_as_plain_json_has_it(shared_data: Path) -> None:
    path = shared_data / "rocm" / "mi350x-training-rocprofv3.json.gz"
    with gzip.open(path) as stream:
        (recording,) = json.load(stream)["rocprofiler-sdk-tool"]
    names = {each["kernel_id"]: each["formatted_kernel_name"] for each in recording["kernel_symbols"]}
    expected = []
    records = recording["buffer_records"]["kernel_dispatch"]
    for each in sorted(records, key=lambda each: each["dispatch_info"]["dispatch_id"]):
        info = each["dispatch_info"]
        group = tuple(info["workgroup_size"].values())
        grid = tuple(-(-items // size) for items, size in zip(info["grid_size"].values(), group, strict=True))
        start = each["start_timestamp"]
        name, queue = names[info["kernel_id"]], info["queue_id"]["handle"]
        expected.append(Told(908, 0, name, start, each["end_timestamp"] - start, queue, grid, group))  # type: ignore[arg-type]
    profile = read(path)
    launches = told(profile)
    assert launches == expected
    assert (len(launches), sum(launch.duration_ns for launch in launches)) == (43_915, 4_441_741_378)
    assert profile.facts.devices == (Device(0, "AMD Instinct MI350X", 256, 309_220_868_096),)
    communication = sum(launch.duration_ns for launch in launches if launch.name.startswith("ncclDevKernel"))
    assert round(communication / 4_441_741_378, 3) == 0.936
