"""Which launch of a trace is which of a profile's, and the lists that tracers write."""

from __future__ import annotations

import gzip
import lzma
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sampling.errors import ProfileError
from sampling.profile.profile import Profile
from sampling.simulators.alignment import (
    TraceAlignment,
    TraceList,
    align_launches,
    common_subsequence,
)
from sampling.simulators.measured_run import SeenKernel
from sampling.simulators.registry import read_trace_list

KERNELS = ("void step<(int)4>(float *)", "last(const float *)", "copy(int)")
MANGLED = ("_Z4stepILi4EEvPf", "_Z4lastPKf", "_Z4copyi")
Table = Callable[..., Profile]


def trace_of(codes: Sequence[int], grids: Sequence[int], numbers: Sequence[int] | None = None) -> TraceList:
    kernels = [
        SeenKernel(MANGLED[code] if code < 3 else f"_Z5extrav{code}", (grid, 1, 1), (grid, 1, 1))
        for code, grid in zip(codes, grids, strict=True)
    ]
    return TraceList.from_rows(
        "stats.csv", 1, list(zip(numbers or range(1, len(codes) + 1), kernels, strict=True))
    )


def aligned(
    launch_table: Table, codes: Sequence[int], trace: TraceList, drawn: Sequence[int] = (), **columns: object
) -> TraceAlignment:
    names = [KERNELS[code] for code in codes]
    columns = {"grid_x": [code + 4 for code in codes]} | columns
    profile = launch_table(names, [10] * len(codes), **columns)
    return align_launches(profile, profile.sequences[0], trace, list(drawn))


CODES = [0, 1, 2, 0, 1, 2, 0, 0, 1]


def grids(codes: Sequence[int]) -> list[int]:
    return [code + 4 for code in codes]


def test_some_of_them_in_any_order_are_known_by_their_numbers(launch_table: Table) -> None:
    found = aligned(launch_table, CODES, trace_of([0, 1], [4, 5], [8, 5]), [2, 7])
    assert found.by == "number"
    assert (found.ids.tolist(), found.numbers.tolist()) == ([4, 7], [5, 8])
    assert found.drawn_missing == (2,)
    assert found.missing_in_trace.tolist() == [0, 1, 2, 3, 5, 6, 8]


def test_a_launch_that_the_tracer_missed_shifts_its_numbers(launch_table: Table) -> None:
    codes = CODES[:2] + CODES[3:]
    found = aligned(launch_table, CODES, trace_of(codes, grids(codes)), [2, 3])
    assert found.by == "order"
    assert found.ids.tolist() == [0, 1, 3, 4, 5, 6, 7, 8]
    assert found.numbers.tolist() == list(range(1, 9))
    assert found.missing_in_trace.tolist() == [2]
    assert found.profile_launch(2).kernel.name == KERNELS[2]
    assert found.first_difference is not None
    here, there = found.first_difference
    assert here is not None
    assert there is not None
    assert (here.number, here.kernel.name) == (2, KERNELS[2])
    assert (there.number, there.kernel.name) == (3, MANGLED[0])
    assert found.drawn_missing == (2,)


def test_names_that_could_be_several_kernels_are_not_guessed(launch_table: Table) -> None:
    names = ["void f<4>(T1)", "void f<4>(T2)", "last(const float *)"]
    profile = launch_table(names, [1, 2, 3], grid_x=[4, 4, 5])
    kernels = [
        SeenKernel("void f<4>(float)", (4, 1, 1), (4, 1, 1)),
        SeenKernel(MANGLED[1], (5, 1, 1), (5, 1, 1)),
    ]
    trace = TraceList.from_rows("stats.csv", 1, list(enumerate(kernels, start=1)))
    found = align_launches(profile, profile.sequences[0], trace, [])
    assert found.ids.tolist() == [2]
    assert "can be more than one kernel" in found.notes[0]


@given(st.lists(st.integers(0, 2), min_size=1, max_size=60), st.data())
def test_launches_lacking_on_either_side_are_found(
    launch_table: Table, codes: list[int], data: st.DataObject
) -> None:
    """At least as many are matched as the trace has of the profile's, each with its own kernel."""
    kept = sorted(data.draw(st.sets(st.integers(0, len(codes) - 1), min_size=1)))
    there = [codes[place] for place in kept]
    for place in sorted(data.draw(st.sets(st.integers(0, len(there)), max_size=3)), reverse=True):
        there.insert(place, 3)
    found = aligned(launch_table, codes, trace_of(there, grids(there)))
    assert len(found.ids) == len(kept)
    assert len(found.ids) + len(found.missing_in_trace) == len(codes)
    assert len(found.numbers) + len(found.missing_in_profile) == len(there)
    pairs = zip(found.ids.tolist(), found.numbers.tolist(), strict=True)
    assert all(codes[launch] == there[number - 1] for launch, number in pairs)


FEW_CODES = st.lists(st.integers(0, 4), max_size=40)


@given(FEW_CODES, FEW_CODES)
@example([], [])
@example([1], [])
@example([1, 1, 1], [1])
def test_none_is_longer(one: list[int], other: list[int]) -> None:
    found = common_subsequence(np.array(one, dtype=np.int64), np.array(other, dtype=np.int64))
    assert found is not None
    first, second = found
    assert (np.diff(first) > 0).all()
    assert (np.diff(second) > 0).all()
    assert [one[place] for place in first] == [other[place] for place in second]
    row = [0] * (len(other) + 1)
    for value in one:
        before = row[:]
        for place, there in enumerate(other):
            row[place + 1] = before[place] + 1 if value == there else max(row[place], before[place + 1])
    assert len(first) == row[-1]


def test_a_million_launches_of_which_some_are_lacking() -> None:
    rng = np.random.default_rng(0)
    whole = np.tile(rng.integers(0, 40, 500), 2000)
    kept = np.sort(rng.choice(len(whole), len(whole) - 300, replace=False))
    for one, other in ((whole, whole[kept]), (whole[kept], whole), (whole, whole[kept][5:9000])):
        found = common_subsequence(one, other)
        assert found is not None
        assert len(found[0]) == min(len(one), len(other))


STATS = (
    "kernel id, kernel mangled name, grid_dimX, grid_dimY, grid_dimZ, #blocks, block_dimX, block_dimY, "
    "block_dimZ, #threads, total_insts, total_reported_insts\n"
    "kernel-1.trace, _Z4stepPf, 4, 1, 1, 4, 128, 1, 1, 128, 1344,1344\n"
    "kernel-2.trace, _Z4lastPf, 2, 3, 1, 6, 32, 8, 1, 256, -2147,1\n"
    "kernel-3.trace, _Z4stepPf, 4, 1, 1, 4, 128, 1, 1, 128, 1344,1344\n"
)
NAMES = (
    "Kernel0 name: step(float *)\n"
    "  Grid size: (4, 1, 1), Block size: (128, 1, 1), maxBlockPerCore: 16, # of regs: 9\n"
    "Kernel1 name: last(float *)\n"
    "  Grid size: (2, 3, 1), Block size: (32, 8, 1), maxBlockPerCore: 8, # of regs: 9\n"
)
HEAD = (
    "-kernel name = {}\n-kernel id = {}\n-grid dim = ({},1,1)\n-block dim = (32,8,1)\n"
    "-shmem = 0\n\n#BEGIN_TB\n"
)


def kernels_of(found: TraceList) -> list[tuple[int, SeenKernel]]:
    return [
        (number, found.kernels[kernel])
        for number, kernel in zip(found.number.tolist(), found.kernel.tolist(), strict=True)
    ]


def test_every_launch_of_stats_and_of_names_cut_short(tmp_path: Path) -> None:
    path = tmp_path / "list"
    path.write_text(STATS)
    found = read_trace_list(str(path))
    step = SeenKernel("_Z4stepPf", (4, 1, 1), (128, 1, 1))
    assert kernels_of(found) == [(1, step), (2, SeenKernel("_Z4lastPf", (2, 3, 1), (32, 8, 1))), (3, step)]
    assert (found.first_number, len(found.kernels)) == (1, 2)
    path.write_text(NAMES + "Kernel2 name: step(float *)\n")
    found = read_trace_list(str(path))
    step = SeenKernel("step(float *)", (4, 1, 1), (128, 1, 1))
    last = SeenKernel("last(float *)", (2, 3, 1), (32, 8, 1))
    assert kernels_of(found) == [(0, step), (1, last), (2, SeenKernel("step(float *)"))]
    assert found.first_number == 0


def test_a_list_of_traces_has_what_their_heads_say(tmp_path: Path) -> None:
    (tmp_path / "kernelslist.g").write_text(
        "MemcpyHtoD,0x00007f1000000000,1048576\n# chosen\n"
        "kernel-7.traceg\nkernel-2-ctx_0x5f0a.traceg.xz\nkernel-3.trace\n"
    )
    (tmp_path / "kernel-7.traceg").write_text(HEAD.format("_Z4stepPf", 7, 4))
    packed = HEAD.format("_Z4lastPf", 2, 5).encode()
    (tmp_path / "kernel-2-ctx_0x5f0a.traceg.xz").write_bytes(lzma.compress(packed))
    (tmp_path / "kernel-3.traceg.gz").write_bytes(gzip.compress(HEAD.format("_Z4stepPf", 3, 4).encode()))
    found = read_trace_list(str(tmp_path))
    step = SeenKernel("_Z4stepPf", (4, 1, 1), (32, 8, 1))
    assert kernels_of(found) == [(7, step), (2, SeenKernel("_Z4lastPf", (5, 1, 1), (32, 8, 1))), (3, step)]
    (tmp_path / "kernel-7.traceg").unlink()
    with pytest.raises(ProfileError, match=r"row 3: kernel-7\.traceg is not there"):
        read_trace_list(str(tmp_path))
    (tmp_path / "kernel-7.traceg").write_text("hello\n")
    with pytest.raises(ProfileError, match="does not begin like a trace"):
        read_trace_list(str(tmp_path))


@pytest.mark.parametrize(
    ("text", "said"),
    [("hello\n", "neither stats"), ("", "neither stats"), ("Kernel0 name: x", "lists no launch")],
)
def test_other_files_are_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "other"
    path.write_text(text)
    with pytest.raises(ProfileError, match=said):
        read_trace_list(str(path))
