"""Findings: each raised by a small profile that breaks one assumption, and by no other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sampling.plan.draft import draft_plan
from sampling.plan.findings import Change, Finding, findings
from sampling.profile.profile import Profile, RecordingFacts
from sampling.reduction import GroupBy
from sampling.reduction.duration_counts import clock_step_ns
from sampling.reduction.grouping import Grouping
from sampling.reduction.idle import CAUSES, IdleTime
from sampling.reduction.region import Region
from sampling.strata.target import Target
from tests.small_plans import request_of

Find = Callable[..., dict[str, Finding]]

# In an order without trend.
SPREAD = [10_001 + 7 * (37 * step % 100) for step in range(100)]


@pytest.fixture(scope="module")
def find(launch_table: Callable[..., Profile]) -> Find:
    """Return the findings, by code, of a profile built from one entry a launch."""

    def found(
        names: list[str],
        durations: list[int],
        *,
        region: Region | None = None,
        grouping: Grouping | None = None,
        plan: Any = None,
        target: Target | None = None,
        **columns: Any,
    ) -> dict[str, Finding]:
        columns.setdefault("grid_x", [1] * len(names))
        profile = launch_table(names, durations, **columns)
        looked = draft_plan(profile, request_of("joint", grouping, region, target))
        made = findings(looked if plan is None else replace(looked, design=plan))
        return {finding.code: finding for finding in made}

    return found


def plan_of(method: str, samples: int, speedup: float | None, *, random: bool = True) -> Any:
    """What is looked at of the design of a plan; no kernel group of it is simulated whole."""
    none = np.zeros(0, dtype=np.int64)
    counts = SimpleNamespace(groups=(), group_launches=none, group_duration_ns=none, total_duration_ns=0)
    return SimpleNamespace(
        method=method,
        samples=samples,
        speedup=speedup,
        random=random,
        groups=SimpleNamespace(counts=counts),
        strata=SimpleNamespace(group=none, launches=none, samples=none, least_samples=1),
        target=Target(),
    )


def kernels(durations: list[int], names: list[str] | None = None, **columns: Any) -> dict[str, Any]:
    """A profile in one entry a launch; by default of one kernel."""
    return {"names": names or ["k"] * len(durations), "durations": durations, **columns}


_REDUCED = ["gemm"] * 70 + ["ncclDevKernel_AllReduce_Sum_f32(int)"] * 30
_WAITING = kernels([3000] * 70 + [1000] * 30, _REDUCED)
# 50,000 of 2 * 50,000 + 98 * 10,001 ns are hidden.
_LATER = range(100_000, 98 * 100_000 + 1, 100_000)
_BESIDE = kernels([50_000] * 2 + [10_001] * 98, start_ns=[0, 0, *_LATER])
_GIANT = kernels([10_001] * 80 + [200_020], ["k"] * 80 + ["giant"])
_APART = kernels(SPREAD, process=[0] * 50 + [1] * 50, device=[0] * 25 + [1] * 25 + [0] * 50)
_NO_GRID = kernels(SPREAD, grid_x=[0] * 40 + [1] * 60)
_WHOLE = kernels([10] * 9000 + [7000, 9000, 400], ["k"] * 9000 + ["few"] * 3, target=Target(0.004))
_FEW_MISSING = RecordingFacts(launch_calls=110, calls_without_kernel=10)
_MANY_MISSING = RecordingFacts(launch_calls=125, calls_without_kernel=25)
_MERGED = RecordingFacts(merged_ranks=2)
_LEFT_OUT = RecordingFacts(rows_left_out=1, first_left_out="row 6, column dur: it ends before it starts")
_CUT = RecordingFacts(overlong=1, overlong_ns=3_400_000_000, first_overlong="void elementwise<int>(int)")
_KEPT = replace(_CUT, overlong=1_200, keeps_overlong=True)
# 4 of 20 launches were not timed, which is also why two of them last 0 ns.
_TIMES_ARE_MISSING = kernels(
    [10_001, 0, 10_008, 10_005] * 5, start_ns=[10**18 + 100_000 * row if row % 5 else 0 for row in range(20)]
)
_MISSING = RecordingFacts(api_rows_missing=25, launch_order="gpu-start")

#: A small profile, the code that is found in it, its severity and few words, and parts of what is said.
FOUND: list[tuple[str, str, str, dict[str, Any], str]] = [
    (
        *("graph-level-trace", "warning", "kernels of 1,234 graph replays missing"),
        kernels(SPREAD, facts=RecordingFacts(hidden_graph_replays=1234)),
        "1,234 CUDA-graph replays ... --cuda-graph-trace=node",
    ),
    (
        *("missing-kernels", "error", "20.0 % of the launches missing"),
        kernels(SPREAD, facts=_MANY_MISSING),
        "25 of 125 launch calls (20.0 %) have no kernel ... in no total ... record from before",
    ),
    (
        *("missing-kernels", "warning", "9.1 % of the launches missing"),
        kernels(SPREAD, facts=_FEW_MISSING),
        "10 of 110 launch calls (9.1 %)",
    ),
    (
        *("merged-ranks", "note", "the file holds 2 ranks", kernels(SPREAD, facts=_MERGED)),
        "The file holds 2 ranks: each is a process here",
    ),
    (
        *("replayed", "note", "3 replays not counted"),
        kernels(SPREAD, facts=RecordingFacts(replays=3)),
        "run again 3 times for other counters: each counts once, with its first times.",
    ),
    (
        *("rows-left-out", "warning", "1 row left out", kernels(SPREAD, facts=_LEFT_OUT)),
        "1 row is no usable launch and was left out; the first: row 6, column dur: it ends before",
    ),
    (
        *("overlong", "error", "1 launch cannot last so long", kernels(SPREAD, facts=_CUT)),
        "begin and end meanwhile (the first: elementwise); it is cut ... 3.40 s ... with `keep_overlong`",
    ),
    (
        *("overlong", "error", "1,200 launches cannot last so long", kernels(SPREAD, facts=_KEPT)),
        "they are kept, 3.40 s more in every total than up to the next ... leave out `keep_overlong`",
    ),
    (
        *("no-times", "warning", "4 launches without a time", _TIMES_ARE_MISSING),
        "4 launches of 20 (20.0 %) have no start ... their duration counts, but span, busy",
    ),
    (
        *("zero-durations", "note", "5 launches last 0 ns", _TIMES_ARE_MISSING),
        "shorter than the clock shows or not recorded",
    ),
    (
        *("api-rows-missing", "note", "25 launches without API call", kernels(SPREAD, facts=_MISSING)),
        "25 of 100 launches (25.0 %) ... rest on start times on the GPU.",
    ),
    (
        *("communication-kernels", "warning", "communication takes 12.5 %", _WAITING),
        "30 launches are collective communication (12.5 % of the time)",
    ),
    ("overlap", "warning", "4.6 % of the time overlaps", _BESIDE, "4.6 % of the kernel time is hidden"),
    (
        *("overlap", "warning", "up to 50.0 % of the time overlaps"),
        kernels([10_001] * 4, start_ns=[0, 20_000, 0, 1], device=[0, 0, 1, 1]),
        "50.0 % of the kernel time on device 1 of process 0 is hidden",
    ),
    (
        *("overlap", "warning", "up to 50.0 % of the time overlaps"),
        kernels([10_001] * 6, start_ns=[0, 9_000, 0, 1, 0, 9_000], device=[0, 0, 1, 1, 2, 2]),
        "50.0 % of the kernel time on device 1 of process 0 (at most so much on 2 others) is hidden",
    ),
    (
        *("idle", "note", "idle 80.0 % of the time", kernels([10, 20, 10], start_ns=[0, 80, 190])),
        "No kernel runs on the device for 80.0 % of the time",
    ),
    ("zero-durations", "note", "1 launch lasts 0 ns", kernels([0] + [10_001] * 10_000), "(under 0.1 %)"),
    (
        *("coarse-clock", "note", "clock ticks of 1 us", kernels([0] * 98 + [2000] * 2)),
        "100.0 % of the launches last fewer than 50 steps",
    ),
    (
        *("coarse-clock", "note", "clock ticks of 1 us", kernels([2000] * 10 + [90_000] * 90)),
        "steps of 1,000 ns and 10.0 % of the launches last fewer than 50 steps",
    ),
    ("no-grid", "note", "40 launches without grid", _NO_GRID, "40 launches (40.0 %) have no grid and block"),
    ("several-devices", "note", "3 devices sampled apart", _APART, "2 processes and 2 device numbers"),
    (
        *("one-launch-dominates", "warning", "one launch is 20.0 % of the time", _GIANT),
        "One launch of #2 giant takes 20.0 % of the time ... faster than 5.0x.",
    ),
    (
        *("not-worth-sampling", "note", "sampling gains only 1.50x"),
        kernels(SPREAD, plan=plan_of("stem", 90, 1.5)),
        "The stem plan simulates 90 of 100 launches and is only 1.50x faster",
    ),
    (
        *("not-worth-sampling", "note", "each launch is a group"),
        kernels([5, 6, 7], ["a", "b", "c"], plan=plan_of("joint", 3, 1.0)),
        "Each of the 3 launches is a kernel group of its own ... record more of the program",
    ),
    (
        *("not-worth-sampling", "note", "1 group simulated whole", _WHOLE),
        "1 kernel group (15.4 % of the time) is simulated ... accept a larger `group_epsilon`, or none",
    ),
]


@pytest.mark.parametrize(("code", "severity", "words", "profile", "said"), FOUND)
def test_what_breaks_an_assumption_is_said(
    code: str, severity: str, words: str, profile: dict[str, Any], said: str, find: Find
) -> None:
    finding = find(**profile)[code]
    assert (finding.severity, finding.words) == (severity, words)
    assert len(words) <= 40
    text = f"{finding.message} {finding.remedy}"
    places = [text.index(part) for part in said.split(" ... ")]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("code", "profile"),
    [
        ("communication-kernels", {**_WAITING, "region": Region(exclude=("communication",))}),
        ("overlap", kernels([10_001] * 100, start_ns=[0, 9_950, *_LATER])),
        ("coarse-clock", kernels([2000] * 4 + [90_000] * 96)),
        # Durations of 0 do not show the steps of a clock.
        ("coarse-clock", kernels([0] * 99 + [2000])),
        ("no-grid", {**_NO_GRID, "grouping": Grouping(GroupBy.NAME)}),
        ("several-devices", {**_APART, "region": Region(processes=(0,), devices=(1,))}),
        ("several-devices", {**_APART, "grouping": Grouping(pool_devices=True)}),
        ("iterations", kernels(SPREAD)),
        ("one-launch-dominates", kernels([10_001] * 80 + [50_005], ["k"] * 80 + ["giant"])),
        ("not-worth-sampling", kernels(SPREAD, plan=plan_of("root", 20, 2.0))),
        # A plan that samples no time is not slow.
        ("not-worth-sampling", kernels([0] * 99 + [5], plan=plan_of("root", 20, None))),
    ],
)
def test_what_is_as_it_should_be_is_not_said(code: str, profile: dict[str, Any], find: Find) -> None:
    assert code not in find(**profile)


@pytest.mark.parametrize(
    ("durations", "step_ns"),
    [
        ([1000, 2000, 57_000, 0], 1000),
        ([32, 64, 96, 128, 31, 65], 32),
        ([32 * step + step % 3 - 1 for step in range(1, 200)], 32),
        (list(range(1, 500)), 1),
        ([1000] * 98 + [1001, 1002], 1000),
        ([1000] * 97 + [1001] * 3, 1),
    ],
)
def test_the_step_of_the_clock(durations: list[int], step_ns: int) -> None:
    values, launches = np.unique(durations, return_counts=True)
    assert clock_step_ns(values, launches) == step_ns


FALLING = [1_000_000 - 9_000 * step for step in range(100)]


def test_drift_says_from_what_to_what_and_how_much_of_the_time(find: Find) -> None:
    finding = find(["k"] * 100 + ["even"] * 100, FALLING + SPREAD)["drift"]
    # Of a hundredth's steps the medians of the first and the last five launches.
    assert finding.message.startswith(
        "#1 k falls from 982 us to 127 us over the run, 98.2 % of the time drifts"
    )
    assert "(rank correlation -1.00)" in finding.message
    assert (finding.severity, finding.changes) == ("note", (Change("launches", "50:"),))
    assert "`launches=50:`" in finding.remedy
    growing = find(["k"] * 100, FALLING[::-1], plan=plan_of("sieve", 1, 100.0, random=False))["drift"]
    assert growing.message.startswith("#1 k grows from 127 us to 982 us")
    assert "the sieve plan takes launches that last otherwise, and no bound" in growing.message
    assert (growing.severity, growing.changes) == ("warning", (Change("method", "joint"),))


def test_identical_ranks(find: Find) -> None:
    names = [f"k{step % 7}" for step in range(100)]
    ranks = {"process": [5] * 100 + [6] * 100, "device": [0] * 100 + [1] * 100}
    finding = find(names * 2, SPREAD + [2 * value for value in SPREAD], **ranks)["identical-ranks"]
    assert finding.message.startswith(
        "2 processes or devices issue the same 100 launches in the same order: one of them takes 1/2 of the "
        "simulations"
    )
    assert "the slowest takes 100.0 % longer than the fastest." in finding.message
    assert finding.remedy.startswith("plan one with `devices=0` and count its total 2 times")
    assert finding.changes == (Change("devices", "0"),)
    single = find(names * 2, SPREAD * 2, region=Region(devices=(0,)), **ranks)
    assert "identical-ranks" not in single
    pooled = find(names * 2, SPREAD * 2, grouping=Grouping(pool_devices=None), **ranks)["identical-ranks"]
    assert pooled.message.startswith("2 processes or devices issue the same launches and are planned as one")
    assert pooled.changes == (Change("each_rank"),)


def test_iterations(find: Find) -> None:
    names = ["start", *["a", "b", "c", "b"] * 30, "end"]
    durations = [10_000, *[1000, 2000, 3000, 2000] * 29, 1000, 2000, 3000, 3000, 10_000]
    finding = find(names, durations)["iterations"]
    # Rotations of the loop are as good: b and c stand in it twice and once.
    assert "30 times the same 4 launches" in finding.message
    assert "one iteration alone may be off by 12." in finding.message
    change = finding.changes[0]
    first, stop = map(int, (change.value or "").split(":"))
    assert sorted(names[first:stop]) == ["a", "b", "b", "c"]
    assert f"`launches={first}:{stop}`" in finding.remedy
    assert "iterations" not in find(["k"] * 100, SPREAD)
    # Where others lie between them, ids and launches are not as many.
    apart = [*["a", "b", "c", "b"] * 15, "x", *["a", "b", "c", "b"] * 15]
    message = find(apart, [1000] * len(apart))["iterations"].message
    start = "Among launches 0 to 120 the same 4 launches come 30 times (99.2 % of all)"
    assert message.startswith(start), message


def idle_time(causes: dict[str, float], **shares: float) -> IdleTime:
    """Idle time whose gaps are due to these causes."""
    given = {cause: causes.get(cause, 0.0) for cause in CAUSES}
    told = {"synchronising": 0.0, "copying": 0.0, **shares}
    return IdleTime(idle_ns=160, share=0.8, causes=given, short=0.0, gaps=[], operators={}, **told)


@pytest.mark.parametrize(
    ("idle", "said", "unsaid"),
    [
        (idle_time({"host": 0.9}), "90.0 % host: CUDA graphs or a larger batch", "synchronisations"),
        (idle_time({"host": 0.9}, synchronising=0.5), "90.0 % host: fewer synchronisations", "graphs"),
        (
            idle_time({"host": 0.9}, synchronising=0.6, copying=0.5),
            "90.0 % host: non-blocking copies from pinned memory",
            "graphs",
        ),
        (
            idle_time({"host": 0.3, "copy": 0.5, "turnaround": 0.2}),
            "50.0 % copy: non-blocking copies beside kernels ... 30.0 % host: CUDA graphs",
            "turnaround",
        ),
        (idle_time({"dependency": 1.0}), "another device or a collective", "graphs"),
        (idle_time({"turnaround": 0.6}), "60.0 % turnaround: CUDA graphs or fewer, longer kernels", "host"),
        (idle_time({"unknown": 1.0}), "record the API calls too", "graphs"),
        (None, "`kernelpoint info` says what each gap is due to", "graphs"),
    ],
)
def test_the_remedy_of_idle_time_is_that_of_its_causes(
    idle: IdleTime | None, said: str, unsaid: str, launch_table: Callable[..., Profile]
) -> None:
    profile = launch_table(["k"] * 3, [10, 20, 10], start_ns=[0, 80, 190])
    looked = draft_plan(profile, request_of("joint", None, None, None))
    if idle is not None:
        looked = replace(looked, idle={looked.sequences[0]: idle})
    (finding,) = (finding for finding in findings(looked) if finding.code == "idle")
    assert all(part in finding.remedy for part in said.split(" ... "))
    assert unsaid not in finding.remedy


@pytest.mark.parametrize(("busy_ns", "is_said"), [(79, True), (80, False), (81, False)])
def test_a_fifth_idle_is_worth_saying(busy_ns: int, is_said: bool, find: Find) -> None:
    found = find(**kernels([busy_ns - 1, 1], start_ns=[0, 99]))
    assert ("idle" in found) == is_said
