"""Compares two recordings on the best basis that both have. (docs/methods.md, 12 Difference)"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.difference.comparison import (
    Basis,
    Change,
    Difference,
    IdleChange,
    KernelTimes,
    Numbers,
    PerIteration,
    Side,
)
from sampling.difference.intervals import (
    BLOCKS,
    Means,
    Ratios,
    are_dependent,
    by_blocks,
    means_of,
    paired,
    welch,
    without_interval,
)
from sampling.difference.matching import BY_KERNEL, MatchedKernel, matched_kernels
from sampling.difference.recordings import TENTHS, Recording
from sampling.errors import NotApplicableError, SamplingError
from sampling.parallel import Progress
from sampling.reduction import GroupBy
from sampling.reduction.grouping import Grouping, KernelGroup
from sampling.reduction.iteration_runs import LEAST_MEASUREMENTS

#: Launched fewer times than this on a side, a kernel has no interval of its launches.
LEAST_LAUNCHES = 10
#: Recordings are the same work where their numbers of launches are as near, and iterations that were found
#: where they have so many launches of the same kernels.
NEARLY, ALIKE = 0.99, 0.8
Pair = tuple[Recording, Recording]
Interval = Callable[[Means, Means, float], Ratios]


class _Matched(NamedTuple):
    """The kernels of two recordings, and (g,) which one each group of either is; -1: none of them."""

    kernels: tuple[MatchedKernel, ...]
    of_kernel: tuple[IntArray, IntArray]

    def sums(self, side: int, values: FloatArray | IntArray) -> FloatArray:
        """Return (k, ...) the sums of (g, ...) what a side's groups have."""
        sums = np.zeros((len(self.kernels) + 1, *values.shape[1:]))
        np.add.at(sums, self.of_kernel[side], values)
        return sums[:-1]


class _Measured(NamedTuple):
    """What is compared of one side: quantities of the run by their names, (1, m), and of kernels, (k, m)."""

    times: KernelTimes
    quantities: dict[str, Means]
    kernels: Means


def difference_between(
    before: Side,
    after: Side,
    grouping: Grouping | None = None,
    *,
    confidence: float = 0.95,
    as_recorded: bool = False,
    progress: Progress | None = None,
) -> Difference:
    """Compare two recordings, or two parts of one: per iteration, the same launches, or all ``as_recorded``.

    Kernel groups are matched by what the grouping says, by name, grid and block where it is None, and what is
    left over by name alone, by operator, by the name of a template's function. Where the two sides lie in
    other processes or devices, these are left out.

    Raises EmptySelectionError: the region of a side leaves no launch; a note says which side's;
    NotApplicableError: a profile lacks what its region asks for; OptionError: the confidence is no fraction
    between 0 and 1, or a baseline was saved with other options.
    """
    grouping, sides = grouping or Grouping(), (before, after)
    recordings = _read(sides, replace(grouping, pool_devices=False), progress)
    keys = [{group.key for group in recording.groups} for recording in recordings]
    have_operators = before.names_operators and after.names_operators
    if grouping.by in BY_KERNEL and have_operators and keys[0] - keys[1] and keys[1] - keys[0]:
        with suppress(NotApplicableError):
            recordings = _read(sides, replace(grouping, pool_devices=False, apart=True), progress)
    places = [{group.place for group in recording.groups} for recording in recordings]
    without_places = not grouping.pool_devices and places[0] != places[1]
    match = partial(_match, recordings, grouping.by, bool(grouping.pool_devices) or without_places)
    basis, reason, is_same_work = (Basis.RECORDED, None, True) if as_recorded else _choose(recordings, match)
    matched = match(basis is Basis.ITERATIONS)
    old, new, interval = _measured(recordings, matched, basis)
    kernels = matched.kernels
    difference = Difference(
        grouping=grouping,
        without_places=without_places,
        basis=basis,
        reason=reason,
        is_same_work=is_same_work,
        per_iteration=_per_iteration(old, new, interval, confidence),
        kernels=kernels,
        before=old.times,
        after=new.times,
        ratios=_kernel_ratios(kernels, old, new, basis, interval, confidence),
        confidence=confidence,
        sides=sides,
        recordings=recordings,
        of_kernel=matched.of_kernel,
    )
    # By change, then by duration, then by key.
    by_key = np.argsort(sorted(range(len(kernels)), key=lambda index: kernels[index].key))
    longer_ns = np.maximum(old.times.total_ns, new.times.total_ns)
    return difference.ordered(np.lexsort((by_key, -longer_ns, -np.abs(difference.change_ns))))


def _read(sides: tuple[Side, Side], grouping: Grouping, progress: Progress | None) -> Pair:
    """Return both recordings; an error says in a note which profile it is of."""
    recordings = []
    for which, side in zip(("first", "second"), sides, strict=True):
        try:
            recordings.append(side.recording(grouping, progress))
        except SamplingError as error:
            error.add_note(f"this is said of the {which} profile")
            raise
    return recordings[0], recordings[1]


def _match(recordings: Pair, by: GroupBy, without_places: bool, in_iterations: bool) -> _Matched:
    """Return the kernels of all launches, or of those in iterations."""
    groups, rows = [], []
    for side in recordings:
        rows.append(np.flatnonzero(side.iteration_launches if in_iterations else side.launches))
        of_side = [side.groups[row] for row in rows[-1].tolist()]
        groups.append([*map(_without_place, of_side)] if without_places else of_side)
    kernels, numbers = matched_kernels(groups[0], groups[1], by)
    of_kernel = np.full(len(recordings[0].groups), -1), np.full(len(recordings[1].groups), -1)
    for kernel_of, row, number in zip(of_kernel, rows, numbers, strict=True):
        kernel_of[row] = number
    return _Matched(kernels, of_kernel)


def _without_place(group: KernelGroup) -> KernelGroup:
    key = group.key.removesuffix(f" {group.place}") if group.place else group.key
    return replace(group, key=key, process=None, device=None)


def _choose(recordings: Pair, match: Callable[[bool], _Matched]) -> tuple[Basis, str | None, bool]:
    """Return on what the two are compared, why on nothing better, and whether they hold the same work."""
    before, after = recordings
    old, new, reason = before.facts, after.facts, None
    is_same = before.streams == after.streams
    are_named = old is not None and new is not None and old.name == new.name != ""
    are_enough = (
        old is not None and new is not None and min(old.iterations, new.iterations) >= LEAST_MEASUREMENTS
    )
    if are_enough and (are_named or _are_alike(match(True), recordings)):
        if not (is_same and any(map(_depends, recordings))):
            return Basis.ITERATIONS, None, True
        reason = "successive iterations depend on each other"
    if is_same:
        return Basis.PAIRED, reason, True
    if are_named:
        return Basis.ITERATIONS, "fewer than three on a side, so launches tell how far they may be off", True
    launches = [int(side.launches.sum()) for side in recordings]
    if min(launches) >= NEARLY * max(launches):
        return Basis.RECORDED, "the launches are not the same ones in the same order", True
    times = launches[1] / launches[0]
    return Basis.RECORDED, f"B holds {times:.3g} times the launches of A: not the same work", False


def _are_alike(matched: _Matched, recordings: Pair) -> bool:
    """Return whether iterations that were found launch the same kernels, or nearly."""
    old, new = (
        matched.sums(at, side.iteration_launches) / (side.facts.iterations if side.facts else 1)
        for at, side in enumerate(recordings)
    )
    return bool(np.minimum(old, new).sum() >= ALIKE * max(old.sum(), new.sum()))


def _depends(recording: Recording) -> bool:
    return recording.iterations is not None and are_dependent(recording.iterations.means()["kernel_ns"])


def _measured(
    recordings: Pair, matched: _Matched, basis: Basis
) -> tuple[_Measured, _Measured, Interval | None]:
    """Return what is compared of both sides, and what tells the intervals; None: blocks of launches do."""
    interval: Interval | None = paired if basis is Basis.PAIRED else None
    numbers = [
        side.facts.iterations if basis is Basis.ITERATIONS and side.facts else 1 for side in recordings
    ]
    if min(numbers) >= LEAST_MEASUREMENTS:
        are_steps = all(side.facts and side.facts.source == "named" for side in recordings)
        interval = welch if are_steps and not any(map(_depends, recordings)) else by_blocks
    sides = []
    for at, (side, iterations) in enumerate(zip(recordings, numbers, strict=True)):
        stretches, launches = side.whole, side.launches
        # Pieces in as many blocks, and how many launches each has.
        blocks = TENTHS if interval else BLOCKS
        edges = -(-np.arange(blocks + 1) * launches[:, np.newaxis] // blocks)
        sums_ns, weight = side.piece_ns.reshape(len(launches), blocks, -1).sum(axis=2), np.diff(edges, axis=1)
        kernels = means_of(matched.sums(at, sums_ns), matched.sums(at, weight))
        quantities = stretches.means()
        if basis is Basis.ITERATIONS and side.iterations is not None:
            launches, sums_ns, quantities = (
                side.iteration_launches,
                side.iteration_ns,
                side.iterations.means(),
            )
            in_iterations = means_of(matched.sums(at, sums_ns), side.iterations.iterations)
            kernels = in_iterations if interval else kernels._replace(mean=in_iterations.mean)
        counts, total_ns = (
            matched.sums(at, values).astype(np.int64) for values in (launches, sums_ns.sum(axis=1))
        )
        if interval is None:
            # Kernels of few launches are taken to depart as the others do together.
            told = counts >= LEAST_LAUNCHES
            share = total_ns[told] / max(total_ns[told].sum(), 1)
            quantities["kernel_ns"] = Means(
                quantities["kernel_ns"].mean,
                (share[:, np.newaxis] * kernels.departure[told]).sum(axis=0, keepdims=True),
                kernels.weight[told].sum(axis=0, keepdims=True),
            )
        sides.append(_Measured(KernelTimes(counts, total_ns, iterations), quantities, kernels))
    return sides[0], sides[1], interval


def _kernel_ratios(
    kernels: tuple[MatchedKernel, ...],
    old: _Measured,
    new: _Measured,
    basis: Basis,
    interval: Interval | None,
    confidence: float,
) -> Ratios:
    """Return the ratio of each kernel, with its interval; NaN where there is none."""
    ratios = (interval or by_blocks)(old.kernels, new.kernels, confidence)
    launches = np.stack([old.times.launches, new.times.launches])
    has_none = launches.min(axis=0) == 0
    if basis is Basis.RECORDED:
        # An operator of more launches on one side does another part in each.
        is_operator = np.array([kernel.matched_by is GroupBy.OPERATOR for kernel in kernels], dtype=np.bool_)
        has_none |= is_operator & (launches[0] != launches[1])
    by_launches = interval in {None, paired}
    has_no_ends = has_none | (by_launches & (launches.min(axis=0) < LEAST_LAUNCHES))
    masks = (has_none, has_no_ends, has_no_ends)
    return Ratios(*(np.where(mask, np.nan, values) for mask, values in zip(masks, ratios, strict=True)))


def _per_iteration(
    old: _Measured, new: _Measured, interval: Interval | None, confidence: float
) -> PerIteration:
    """Return what an iteration takes, or the run."""
    changes: dict[str, Any] = dict.fromkeys(("elapsed_ns", "busy", "idle", "copies_ns"))
    for name in old.quantities.keys() & new.quantities.keys():
        before, after = old.quantities[name], new.quantities[name]
        told = interval or (by_blocks if name == "kernel_ns" else without_interval)
        values = [float(column[0]) for column in (before.mean, after.mean, *told(before, after, confidence))]
        changes[name] = Change(*(value if np.isfinite(value) else None for value in values))
    if "idle_ns" in changes:
        changes["idle"] = IdleChange(**{name: changes.pop(name) for name in IdleChange.__struct_fields__})
    return PerIteration(**changes, iterations=Numbers(old.times.iterations, new.times.iterations))
