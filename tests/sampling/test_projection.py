"""Principal Kernel Projection: where it stops and what it projects (docs/methods.md, 9 Projection)."""

from __future__ import annotations

import statistics
from dataclasses import replace
from fractions import Fraction
from math import ceil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.errors import AnalysisError, OptionError
from sampling.projection import (
    IntervalLog,
    KernelFacts,
    Lack,
    ProjectionRule,
    ctas_needed,
    project,
    relative_spread_percent,
)

INTERVAL = 500
RULE = ProjectionRule()


def log_of(
    instructions: list[int] | np.ndarray,
    finished: list[int] | np.ndarray | int,
    /,
    *,
    cycle: np.ndarray | None = None,
    cut: bool = False,
    **facts: int,
) -> IntervalLog:
    """A log of equal intervals, unless their ends are given."""
    counts = np.asarray(instructions, dtype=np.int64)
    done = np.full(counts.size, finished) if isinstance(finished, int) else np.asarray(finished)
    ends = np.arange(1, counts.size + 1) * INTERVAL if cycle is None else cycle
    return IntervalLog("k", ends, counts, done.astype(np.int64), KernelFacts(**facts), is_cut_short=cut)


def log_of_carried(log: IntervalLog, **facts: int) -> IntervalLog:
    """The log as one that may count CTAs of other kernels."""
    return replace(log, facts=replace(log.facts, **facts), has_carried_ctas=True)


def wave(ctas: int) -> dict[str, int]:
    """Facts that make a wave of so many thread blocks."""
    return {"ctas_per_core": ctas, "cores": 1}


def brute_force_stop(log: IntervalLog, rule: ProjectionRule, needed: int) -> int | None:
    """The rule read aloud: the first record whose full window is steady when enough is done."""
    total, done = 0, 0
    signal: list[float] = []
    for index, end in enumerate(log.cycle.tolist()):
        total += int(log.instructions[index])
        done += int(log.ctas[index])
        signal.append(total / end)
        window = [signal[j] for j in range(index + 1) if end - rule.window_cycles < int(log.cycle[j]) <= end]
        if end < rule.window_cycles or len(window) < 2 or np.mean(window) == 0 or done < needed:
            continue
        if 100 * np.std(window, ddof=1) / np.mean(window) < rule.stability_percent:
            return index
    return None


# Where it stops


@pytest.mark.parametrize(
    ("wave_ctas", "stop"),
    [
        (1, 3000),  # done at once: the window must be full
        (18, 3000),
        (19, 3500),  # three a record: the seventh has 21
        (40, 7000),
        (300, 50_000),
    ],
)
def test_constant_ipc_stops_once_a_wave_is_done_and_the_window_full(wave_ctas: int, stop: int) -> None:
    found = project(log_of([5000] * 100, 3, **wave(wave_ctas)), RULE)
    assert (found.stopped, found.cycle, found.ctas_needed) == (True, stop, wave_ctas)
    assert found.ipc == 10
    assert found.spread_percent == 0
    assert found.projected_cycles == 50_000
    assert found.speedup == 50_000 / stop
    assert found.error == 0
    assert found.lacks == ()


def test_without_the_condition_a_small_grid_is_projected_38_times_too_long() -> None:
    """All thread blocks end together; the paper's rule stops with none done, one taken for 3000 cycles."""
    log = log_of([5000] * 12, [0] * 11 + [76], **wave(320))
    paper = project(log, ProjectionRule(small_grid_share=0, artifact=True))
    assert (paper.stopped, paper.cycle, paper.ctas_done) == (True, 3000, 0)
    assert paper.projected_cycles == 76 * 3000
    assert paper.projected_cycles / 6000 == 38
    ours = project(log, ProjectionRule(artifact=True))
    assert (ours.cycle, ours.projected_cycles, ours.speedup) == (6000, 6000, 1)


@pytest.mark.parametrize(
    ("log", "said"),
    [
        (log_of([5000] * 5, 3, **wave(3)), "shorter than the window"),
        (log_of([5000] * 50, 3, **wave(300), ctas=900), "150 CTAs done at the log's end, 300 needed"),
        (log_of([5000] * 50, 0), "no CTA finishes"),
    ],
)
def test_why_it_runs_on_is_said(log: IntervalLog, said: str) -> None:
    found = project(log, RULE)
    assert not found.stopped
    assert said in found.reason
    assert found.speedup == 1


# What it projects


def test_instructions_are_projected_at_the_ipc_so_far() -> None:
    log = log_of([5000] * 10, 3, cut=True, instructions=1_000_000, **wave(18))
    found = project(log, RULE)
    assert found.basis == "instructions"
    assert found.projected_cycles == 3000 + (1_000_000 - 30_000) / 10
    assert found.total_cycles is None
    assert found.error is None
    assert found.speedup == 100_000 / 3000


def machine_log(slots: int, lengths: np.ndarray, starts: np.ndarray) -> tuple[IntervalLog, int]:
    """A GPU that holds so many CTAs of 1000 instructions; the next starts where one ends.

    Returns the log, and the cycle in which the last CTA ends.

    Parameters
    ----------
    lengths : (n,) cycles of each CTA.
    starts : (slots,) cycle in which each slot takes its first.
    """
    free, begins, ends = list(starts), [], []
    for length in lengths:
        slot = int(np.argmin(free))
        begins.append(free[slot])
        free[slot] += length
        ends.append(free[slot])
    begin, end = np.array(begins), np.array(ends)
    whole = int(np.ceil(end.max()))
    cycle = np.arange(INTERVAL, whole + 1, INTERVAL)
    share = np.clip((cycle[:, None] - begin) / (end - begin), 0, 1)
    instructions = np.diff((1000 * share.sum(axis=1)).astype(np.int64), prepend=0)
    finished = np.diff((end[None, :] <= cycle[:, None]).sum(axis=1), prepend=0)
    return log_of(instructions, finished, cycle=cycle, cut=True, ctas=lengths.size, **wave(slots)), whole


LOOSE = ProjectionRule(stability_percent=10)


def test_ctas_in_flight_count_by_what_they_have_done() -> None:
    """Ends spread evenly over a CTA's length: those in flight are half done, as many again as half a wave."""
    errors = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        log, _ = machine_log(40, rng.uniform(2000, 6000, 400), rng.uniform(0, 2000, 40))
        found = project(log, LOOSE)
        assert found.basis == "ctas"
        assert found.ctas_done < 80
        known = project(replace(log, facts=replace(log.facts, instructions=400_000)), LOOSE)
        assert known.cycle == found.cycle
        assert known.projected_cycles is not None
        assert found.projected_cycles is not None
        errors.append(found.projected_cycles / known.projected_cycles - 1)
        published = 400 / (found.ctas_done + 1) * found.cycle
        assert published / known.projected_cycles > 1.2, "with none of them counted it is far too long"
    assert abs(np.mean(errors)) < 0.05
    assert np.max(np.abs(errors)) < 0.15


def test_of_a_small_grid_those_in_flight_are_half_done() -> None:
    """30 of 100 are done, all began with the kernel: (30 + 100) / 2."""
    log = log_of([5000] * 100, 1, ctas=100, cut=True, **wave(320))
    found = project(replace(log, facts=replace(log.facts, ctas=100)), RULE)
    short = replace(log, cycle=log.cycle[:30], instructions=log.instructions[:30], ctas=log.ctas[:30])
    assert found.cycle == 30 * INTERVAL
    assert project(short, RULE).projected_cycles == 100 / 65 * 30 * INTERVAL


@pytest.mark.parametrize("total", [{"instructions": 499_999}, {"ctas": 299}, {"cycles": 49_999}])
def test_a_log_with_more_than_the_kernel_is_refused(total: dict[str, int]) -> None:
    with pytest.raises(AnalysisError, match="its log has"):
        project(log_of([5000] * 100, 3, **total), RULE)


def test_ctas_of_other_kernels_are_no_contradiction_to_the_grid() -> None:
    """The first record has 120 more than its own three: 420 in all, of a grid of 300."""
    log = log_of([5000] * 100, [123] + [3] * 99, ctas=300, **wave(150))
    with pytest.raises(AnalysisError, match="420 thread blocks"):
        project(log, RULE)
    found = project(log_of_carried(log), RULE)
    assert (found.totals.ctas, found.total_cycles) == (300, 50_000)
    assert found.lacks == (Lack.CARRIED,)
    with pytest.raises(AnalysisError, match="instructions"):
        project(log_of_carried(log, instructions=499_999), RULE)


# The artifact


def test_the_artifact_lets_the_conditions_be_met_at_different_times() -> None:
    """Steady from 3000, restless when the wave is done at 5500: the artifact stops there all the same."""
    instructions = [5000] * 10 + [50_000] * 2 + [5000] * 288
    ctas = [0] * 10 + [20] + [1] * 289
    log = log_of(instructions, ctas, **wave(20))
    artifact, rule = project(log, ProjectionRule(artifact=True)), project(log, RULE)
    assert artifact.cycle == 5500
    assert artifact.projected_cycles == 309 / 21 * 5500
    assert "steady before" in artifact.reason
    assert rule.cycle > 30_000
    assert rule.cycle == 500 * (1 + brute_force_stop(log, RULE, 20))


# By brute force


@st.composite
def logs(draw: st.DrawFn) -> IntervalLog:
    """Logs of uneven intervals around a steady IPC, some restless."""
    n = draw(st.integers(1, 60))
    lengths = draw(st.lists(st.integers(1, 1500), min_size=n, max_size=n))
    ipc = draw(st.integers(1, 2000))
    noise = draw(st.sampled_from([0.0, 0.001, 0.01, 0.3]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    instructions = np.rint(np.array(lengths) * ipc * (1 + noise * rng.uniform(-1, 1, n)))
    ctas = rng.integers(0, 5, n)
    return log_of(instructions, ctas, cycle=np.cumsum(lengths), **wave(draw(st.integers(1, 60))))


@given(logs(), st.sampled_from([500, 3000, 9000]), st.sampled_from([0.05, 0.25, 2.0]))
def test_stops_where_a_loop_over_the_windows_does(log: IntervalLog, window: int, percent: float) -> None:
    rule = ProjectionRule(percent, window)
    found = project(log, rule)
    expected = None if found.ctas_needed is None else brute_force_stop(log, rule, found.ctas_needed)
    assert found.stopped == (expected is not None)
    assert found.cycle == int(log.cycle[-1 if expected is None else expected])


@given(logs(), st.integers(1, 20))
def test_what_follows_the_stop_does_not_move_it(log: IntervalLog, more: int) -> None:
    """A simulator decides while it runs: the log up to the stop gives the same stop and projection."""
    facts = log.totals()
    found = project(replace(log, facts=facts), RULE)
    if not found.stopped:
        return
    end = min(int(np.searchsorted(log.cycle, found.cycle)) + more, log.cycle.size)
    cut = replace(
        log, cycle=log.cycle[:end], instructions=log.instructions[:end], ctas=log.ctas[:end], facts=facts
    )
    again = project(cut, RULE)
    assert (again.cycle, again.projected_cycles) == (found.cycle, found.projected_cycles)


@given(
    st.lists(st.floats(0.01, 1e6), min_size=1, max_size=70),
    st.lists(st.integers(1, 70), min_size=70, max_size=70),
)
def test_spread_is_numpys_of_every_window(values: list[float], lengths: list[int]) -> None:
    signal = np.array(values)
    first = np.array([max(i + 1 - lengths[i], 0) for i in range(signal.size)])
    spread = relative_spread_percent(signal, first)
    for i, start in enumerate(first):
        part = signal[start : i + 1]
        if part.size < 2:
            assert np.isnan(spread[i])
        else:
            expected = 100 * np.std(part, ddof=1) / np.mean(part)
            assert spread[i] == pytest.approx(expected, rel=1e-9, abs=1e-11)


@pytest.mark.parametrize(
    "wrong", [{"stability_percent": np.nan}, {"window_cycles": 0}, {"small_grid_share": 2}]
)
def test_rules_that_cannot_be_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(OptionError):
        ProjectionRule(**wrong)  # type: ignore[arg-type]


def exact_spread_percent(signal: list[Fraction]) -> float:
    """The definition in rational numbers: sample standard deviation over mean, in per cent."""
    return 100 * float(Fraction(statistics.variance(signal))) ** 0.5 / float(statistics.mean(signal))


def test_three_tenths_are_not_rounded_up_by_the_floating_point() -> None:
    for grid in range(1, 2000):
        assert ctas_needed(KernelFacts(ctas=grid), RULE)[0] == ceil(Fraction(3, 10) * grid)


def test_nothing_cancels_after_a_thousand_million_cycles() -> None:
    """Differences of 1e-9 of the signal, far into the log, where running sums of squares would keep none."""
    rng = np.random.default_rng(5)
    signal = 1000 + 1e-6 * rng.uniform(-1, 1, 200_000)
    first = np.maximum(np.arange(signal.size) - 5, 0)
    spread = relative_spread_percent(signal, first)
    for i in (5, 6, 77_777, 199_999):
        exact = exact_spread_percent([Fraction(value) for value in signal[first[i] : i + 1].tolist()])
        assert spread[i] == pytest.approx(exact, rel=1e-5)
        assert 1e-9 < exact < 1e-6
