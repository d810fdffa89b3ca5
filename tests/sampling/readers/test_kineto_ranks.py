"""Kineto traces of several ranks in one file: each rank is read as its own trace is."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sampling.profile.profile import Profile
from sampling.readers.registry import read_profile
from tests.sampling.readers.kineto_traces import annotation, call, kernel, operator, operators, trace
from tests.sampling.readers.launches_told import Json, column, names, ranges, read, shapes

# Of one rank: kernels of a call, microseconds of each, whether the call's number has gone before
Issued = list[tuple[int, int]]
Moved = Callable[[Json, int], Json]


def rank_trace(rank: int, issued: Issued, device: int) -> list[Json]:
    """Return what one rank records: grids on the calls, an operator around each, annotations around pairs."""
    process, events = 80 + rank, list[Json]()
    for number, (kernels, duration) in enumerate(issued):
        ts = 100 * number + rank
        size = {"grid": [number + 1, rank + 1, 1], "block": [64, 1, 1]}
        events += [
            {**call(number, ts + 2, "hipLaunchKernel", **size), "pid": process},
            {**operator(f"aten::op{number}_of_{rank}", ts, 9), "pid": process},
            *(
                kernel(
                    number,
                    name=f"k{number % 3}",
                    ts=ts + 2_000 + each,
                    dur=duration,
                    device=device,
                    pid=device,
                    grid=None,
                    block=None,
                )
                for each in range(kernels)
            ),
        ]
        if number % 2:
            events.append({**annotation(f"pair of {rank}", ts - 100, 150), "pid": process})
    return events


def renamed(form: str) -> Moved:
    return lambda event, rank: {**event, "pid": form.format(pid=event["pid"], rank=rank, half=rank // 2)}


def offset(event: Json, rank: int) -> Json:
    return {**event, "pid": event["pid"] + 1_000 * rank}


def fused(event: Json, rank: int) -> Json:
    """As TraceFusion does: the numbers of calls differ too."""
    args = {**event.get("args", {}), "rank": rank}
    if "correlation" in args:
        args["correlation"] += 100_000 * rank
    return {**offset(event, rank), "args": args}


FORMS: dict[str, tuple[Moved, Sequence[int], Sequence[int]]] = {
    # How events are changed, which ranks are merged, and what they are then
    "sglang": (renamed("[TP{rank:02d}] {pid}"), (0, 3, 11), (0, 3, 11)),
    "sglang of one kind": (renamed("[TP00-DP{rank:02d}] {pid}"), (2, 1), (1, 2)),
    "sglang of two kinds": (renamed("[TP{rank:02d}-DP{half:02d}] {pid}"), (0, 1, 2), (0, 1, 2)),
    "twice the same number": (renamed("[TP{rank:02d}-EP{rank:02d}] {pid}"), (1, 5), (1, 5)),
    "rank": (renamed("Rank {rank}: {pid}"), (7, 4), (4, 7)),
    "rank alone": (renamed("rank{rank}"), (0, 2), (0, 2)),
    "prefix": (renamed("{rank}_{pid}"), (1, 0), (0, 1)),
    "names": (renamed("node-{rank}-{pid}"), (5, 6), (5, 6)),
    "offset": (offset, (0, 1, 2), (0, 1, 2)),
    "fused": (fused, (0, 1, 4), (0, 1, 2)),
}


def assert_each_rank_is_its_own_trace(
    folder: Path, merged: Sequence[Json], alone: dict[int, list[Json]]
) -> Profile:
    """Assert that the file of merged events holds the ranks, each with what its own trace tells."""
    path = folder / "merged.json"
    path.write_text(json.dumps({"traceEvents": merged}))
    profile = read(path)
    owners = [(each.owner, each.launches) for each in profile.sequences]
    tables = (names, shapes, operators, lambda each: column(each, "duration_ns"))
    found, opened = [table(profile) for table in tables], ranges(profile, "pair")
    place = 0
    for sequence, (rank, events) in enumerate(sorted(alone.items())):
        path.write_text(json.dumps(trace(*events)))
        own = read(path)
        assert owners[sequence] == (f"rank {rank}", own.launches)
        for table, of_all in zip(tables, found, strict=True):
            assert of_all[place : place + own.launches] == table(own)
        assert [(text, *at) for text, of, *at in opened if of == sequence] == [
            (text, *at) for text, _, *at in ranges(own, "pair")
        ]
        place += own.launches
    assert place == profile.launches
    assert profile.facts.merged_ranks == len(alone) == len(owners)
    assert (profile.facts.launch_order, profile.facts.calls_without_kernel) == ("api-start", 0)
    return profile


ISSUED = st.lists(st.tuples(st.integers(1, 3), st.integers(0, 9)), min_size=1, max_size=6)


@pytest.mark.parametrize("form", FORMS)
@given(data=st.data())
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_each_rank_is_read_as_its_own_trace(form: str, data: st.DataObject, tmp_path: Path) -> None:
    moved, ranks, numbers = FORMS[form]
    devices = [rank % 3 for rank in ranks] if data.draw(st.booleans()) else [0] * len(ranks)
    traces = {
        rank: rank_trace(rank, data.draw(ISSUED), device) for rank, device in zip(ranks, devices, strict=True)
    }
    merged = [moved(event, rank) for rank, events in traces.items() for event in events]
    if data.draw(st.booleans()):
        merged = data.draw(st.permutations(merged))
    alone = dict(zip(numbers, (traces[rank] for rank in sorted(ranks)), strict=True))
    assert_each_rank_is_its_own_trace(tmp_path, merged, alone)


@given(first=ISSUED, second=ISSUED, are_numbered_apart=st.booleans())
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_traces_put_behind_each_other_are_told_by_whose_calls_they_hold(
    first: Issued, second: Issued, are_numbered_apart: bool, tmp_path: Path
) -> None:
    """Nothing is changed in them, and numbers of calls may come twice."""
    traces = [rank_trace(1, first, 0), rank_trace(0, second, 1)]
    if are_numbered_apart:
        traces[0] = [{**fused(event, 1), "pid": event["pid"]} for event in traces[0]]
    assert_each_rank_is_its_own_trace(tmp_path, [*traces[0], *traces[1]], dict(enumerate(traces)))


def test_the_devices_of_one_process_are_no_ranks(tmp_path: Path) -> None:
    events = [
        *rank_trace(0, [(1, 5)] * 4, 0),
        *(kernel(each, device=1, pid=1, ts=9_000) for each in range(4)),
    ]
    path = tmp_path / "two-devices.json"
    for process in ("{pid}", "GPU {pid}"):
        written = [{**event, "pid": process.format(pid=event["pid"])} for event in events]
        path.write_text(json.dumps(trace(*written, distributedInfo={"rank": 3})))
        profile = read(path)
        assert [(each.place, each.launches) for each in profile.sequences] == [
            ("process 3 device 0", 4),
            ("process 3 device 1", 4),
        ]
        assert (profile.facts.merged_ranks, profile.facts.rank) == (0, 3)


def test_the_device_and_stream_may_stand_behind_the_rank(tmp_path: Path) -> None:
    launches = [
        {
            **kernel(5, device=None, stream=None, name=f"of {rank}"),
            "pid": f"[TP{rank}] 3",
            "tid": f"[TP{rank}] 7",
        }
        for rank in (0, 1)
    ]
    described = [{"id": 3, "name": "MI300X", "numSms": 304}] * 2
    path = tmp_path / "merged.json"
    path.write_text(json.dumps(trace(*launches, deviceProperties=described)))
    profile = read(path)
    assert [each.place for each in profile.sequences] == ["rank 0 device 3", "rank 1 device 3"]
    assert (column(profile, "stream"), names(profile)) == ([7, 7], ["of 0", "of 1"])
    assert [(each.device, each.name) for each in profile.facts.devices] == [(3, "MI300X")]


def test_a_kernel_is_joined_to_no_call_of_another_rank(tmp_path: Path) -> None:
    whole, other = rank_trace(0, [(1, 5)] * 3, 0), rank_trace(1, [(1, 7)] * 3, 0)
    lost = [event for event in other if event["cat"] != "cuda_runtime"]
    moved = FORMS["sglang"][0]
    path = tmp_path / "merged.json"
    path.write_text(json.dumps([*(moved(each, 0) for each in whole), *(moved(each, 1) for each in lost)]))
    profile = read(path)
    assert shapes(profile)[3:] == [(None, None)] * 3
    assert (profile.facts.api_rows_missing, profile.facts.launch_calls) == (3, 3)


def test_ranks_of_several_merged_files_stay_ranks(tmp_path: Path) -> None:
    moved = FORMS["sglang"][0]
    paths = []
    for first in (0, 2):
        events = [
            moved(event, rank) for rank in (first, first + 1) for event in rank_trace(rank, [(1, 5)] * 2, 0)
        ]
        paths.append(tmp_path / f"node{first}.json")
        paths[-1].write_text(json.dumps(trace(*events)))
    joined = read_profile([str(path) for path in paths])
    assert [each.place for each in joined.sequences] == [f"rank {rank} device 0" for rank in range(4)]
    again = read_profile([str(paths[0]), str(paths[0])])
    assert [each.place for each in again.sequences] == [f"process {number} device 0" for number in range(4)]
