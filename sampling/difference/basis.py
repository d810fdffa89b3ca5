"""Compares two recordings on the best basis that both have. (docs/methods.md, 12 Difference)"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.difference.comparison import (
    Basis,
    Change,
    Difference,
    KernelTimes,
    Numbers,
    PerIteration,
    Side,
)
from sampling.difference.intervals import (
    BLOCKS,
    LEAST_MEASUREMENTS,
    Means,
    Ratios,
    are_dependent,
    by_blocks,
    means_of,
    paired,
    welch,
    without_interval,
)
from sampling.difference.launch_sums import PIECES, TENTHS
from sampling.difference.matching import BY_KERNEL, MatchedKernel, matched_kernels
from sampling.difference.recordings import Recording
from sampling.errors import NotApplicableError, SamplingError
from sampling.parallel import Progress
from sampling.reduction import GroupBy
from sampling.reduction.grouping import Grouping, KernelGroup

#: Launched fewer times than this on a side, a kernel has no interval of its launches.
LEAST_LAUNCHES = 10
#: Recordings are the same work where their numbers of launches are as near, and iterations that were found
#: where they have so many launches of the same kernels.
NEARLY, ALIKE = 0.99, 0.8
Pair = tuple[Recording, Recording]


class _Matched(NamedTuple):
    """The kernels of two recordings, and (g,) which one each group of either is; -1: none of them."""

    kernels: tuple[MatchedKernel, ...]
    of_kernel: tuple[IntArray, IntArray]

    def sums(self, side: int, values: FloatArray | IntArray) -> FloatArray:
        """Return (k, ...) the sums of (g, ...) what a side's groups have."""
        sums = np.zeros((len(self.kernels) + 1, *values.shape[1:]))
        np.add.at(sums, self.of_kernel[side], values)
        return sums[:-1]


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
    if grouping.by in BY_KERNEL and keys[0] - keys[1] and keys[1] - keys[0]:
        if all(side.names_operators for side in sides):
            with suppress(NotApplicableError):
                recordings = _read(sides, replace(grouping, pool_devices=False, apart=True), progress)
    places = [{group.place for group in recording.groups} for recording in recordings]
    without_places = not grouping.pool_devices and places[0] != places[1]
    match = partial(_match, recordings, grouping.by, bool(grouping.pool_devices) or without_places)
    basis, reason, is_same_work = _choose(recordings, match, as_recorded=as_recorded)
    matched = match(basis is Basis.ITERATIONS)
    ratios, per_iteration = _ratios(recordings, matched, basis, confidence)
    old, new = (_times(recording, matched, side, basis) for side, recording in enumerate(recordings))
    difference = Difference(
        grouping=grouping,
        without_places=without_places,
        basis=basis,
        reason=reason,
        is_same_work=is_same_work,
        per_iteration=per_iteration,
        kernels=matched.kernels,
        before=old,
        after=new,
        ratios=ratios,
        confidence=confidence,
        sides=sides,
        recordings=recordings,
        of_kernel=matched.of_kernel,
    )
    # By change, then by duration, then by key.
    kernels = matched.kernels
    by_key = np.argsort(sorted(range(len(kernels)), key=lambda index: kernels[index].key))
    longer_ns = np.maximum(old.total_ns, new.total_ns)
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
    launches = [side.sums.group_launches if in_iterations else side.launches for side in recordings]
    rows = [np.flatnonzero(counts) for counts in launches]
    groups = [
        [side.groups[row] for row in of_side.tolist()] for side, of_side in zip(recordings, rows, strict=True)
    ]
    if without_places:
        groups = [[*map(_without_place, side)] for side in groups]
    kernels, kernel_of = matched_kernels(*groups, by)
    of_kernel = [np.full(len(side.groups), -1) for side in recordings]
    for of_side, side, kernel in zip(rows, of_kernel, kernel_of, strict=True):
        side[of_side] = kernel
    return _Matched(kernels, (of_kernel[0], of_kernel[1]))


def _without_place(group: KernelGroup) -> KernelGroup:
    key = group.key.removesuffix(f" {group.place}") if group.place else group.key
    return replace(group, key=key, process=None, device=None)


def _choose(
    recordings: Pair, match: Callable[[bool], _Matched], *, as_recorded: bool
) -> tuple[Basis, str | None, bool]:
    """Return on what the two are compared, why on nothing better, and whether they hold the same work."""
    if as_recorded:
        return Basis.RECORDED, None, True
    old, new = (side.iterations for side in recordings)
    is_same = recordings[0].sums.streams == recordings[1].sums.streams
    are_named = old is not None and new is not None and old.name == new.name != ""
    reason = None
    if old and new and min(old.iterations, new.iterations) >= LEAST_MEASUREMENTS:
        if are_named or _are_alike(match(True), recordings):
            if not is_same or not any(map(_depends, recordings)):
                return Basis.ITERATIONS, None, True
            reason = "successive iterations depend on each other"
    if is_same:
        return Basis.PAIRED, reason, True
    if are_named:
        return (
            Basis.ITERATIONS,
            "a side has fewer than three iterations, so their own spread is not known",
            True,
        )
    launches = [int(side.launches.sum()) for side in recordings]
    if min(launches) >= NEARLY * max(launches):
        return Basis.RECORDED, "the launches are not the same ones in the same order", True
    times = launches[1] / launches[0]
    return Basis.RECORDED, f"B holds {times:.3g} times the launches of A: not the same work", False


def _are_alike(matched: _Matched, recordings: Pair) -> bool:
    """Return whether iterations that were found launch the same kernels, or nearly."""
    old, new = (
        matched.sums(side, recording.sums.group_launches) / recording.iterations.iterations
        for side, recording in enumerate(recordings)
        if recording.iterations
    )
    return bool(np.minimum(old, new).sum() >= ALIKE * max(old.sum(), new.sum()))


def _depends(recording: Recording) -> bool:
    stretches = recording.sums.iterations
    return stretches is not None and are_dependent(stretches.means()["kernel_ns"])


def _times(recording: Recording, matched: _Matched, side: int, basis: Basis) -> KernelTimes:
    """Return the launches of kernels that are compared."""
    sums, facts = recording.sums, recording.iterations
    launches, total_ns, iterations = recording.launches, sums.piece_ns.sum(axis=1), 1
    if basis is Basis.ITERATIONS and facts is not None:
        launches, total_ns, iterations = sums.group_launches, sums.group_ns.sum(axis=1), facts.iterations
    counts, ns = (matched.sums(side, values).astype(np.int64) for values in (launches, total_ns))
    return KernelTimes(counts, ns, iterations)


class _Measured(NamedTuple):
    """What is compared of one side: quantities of the run by their names, (1, m), and of kernels, (k, m)."""

    quantities: dict[str, Means]
    kernels: Means


def _measured(
    recording: Recording, matched: _Matched, side: int, basis: Basis, *, by_launches: bool
) -> _Measured:
    """Return the means of one side; ``by_launches``: how far they may be off is told by launches alone."""
    sums = recording.sums
    launches, total_ns = matched.sums(side, recording.launches), matched.sums(side, sums.piece_ns.sum(axis=1))
    if basis is Basis.ITERATIONS and sums.iterations is not None:
        stretches, numbers = sums.iterations, sums.iterations.iterations
        kernels = means_of(matched.sums(side, sums.group_ns), numbers)
    else:
        stretches, tenths = sums.whole, sums.piece_ns.reshape(-1, TENTHS, PIECES // TENTHS).sum(axis=2)
        kernels = means_of(matched.sums(side, tenths), np.ones(TENTHS))
    quantities = stretches.means()
    if by_launches:
        departure_ns = matched.sums(side, _departure_ns(recording))
        departure = departure_ns / np.maximum(total_ns, 1)[:, np.newaxis]
        mean = total_ns / np.maximum(launches, 1) if basis is Basis.RECORDED else kernels.mean
        kernels = Means(mean, departure, np.repeat(launches[:, np.newaxis] / BLOCKS, BLOCKS, axis=1))
        # Kernels of few launches are taken to depart as the others do together.
        told = launches >= LEAST_LAUNCHES
        departure = departure_ns[told].sum(axis=0, keepdims=True) / max(total_ns[told].sum(), 1)
        weight = np.full((1, BLOCKS), launches[told].sum() / BLOCKS)
        quantities["kernel_ns"] = Means(quantities["kernel_ns"].mean, departure, weight)
    return _Measured(quantities, kernels)


def _departure_ns(recording: Recording) -> FloatArray:
    """Return (g, BLOCKS) how far a group's blocks are from its mean, times its launches.

    0 of fewer launches than blocks. So they add up: groups that are slow together count as such.
    """
    launches = recording.launches[:, np.newaxis]
    block_ns = recording.sums.piece_ns.reshape(-1, BLOCKS, PIECES // BLOCKS).sum(axis=2)
    edges = -(-np.arange(BLOCKS + 1) * launches // BLOCKS)
    departure_ns = means_of(block_ns, np.diff(edges, axis=1)).departure * block_ns.sum(axis=1, keepdims=True)
    return np.where(launches >= BLOCKS, departure_ns, 0)


def _ratios(
    recordings: Pair, matched: _Matched, basis: Basis, confidence: float
) -> tuple[Ratios, PerIteration]:
    """Return the ratio of each kernel (k,), and what an iteration takes."""
    times = [_times(recording, matched, side, basis) for side, recording in enumerate(recordings)]
    iterations = [side.iterations for side in times]
    is_spread = basis is Basis.ITERATIONS and min(iterations) >= LEAST_MEASUREMENTS
    by_launches = basis is Basis.RECORDED or (basis is Basis.ITERATIONS and not is_spread)
    old, new = (
        _measured(recording, matched, side, basis, by_launches=by_launches)
        for side, recording in enumerate(recordings)
    )
    are_steps = all(side.iterations and side.iterations.source == "named" for side in recordings)
    interval = paired if basis is Basis.PAIRED else by_blocks
    if is_spread and are_steps and not any(map(_depends, recordings)):
        interval = welch
    ratios = interval(old.kernels, new.kernels, confidence)
    fewest = np.minimum(times[0].launches, times[1].launches)
    has_none = fewest == 0
    if basis is Basis.RECORDED:
        # An operator of more launches on one side does another part in each.
        is_operator = [kernel.matched_by is GroupBy.OPERATOR for kernel in matched.kernels]
        has_none |= np.array(is_operator, dtype=np.bool_) & (times[0].launches != times[1].launches)
    has_no_ends = has_none if is_spread else has_none | (fewest < LEAST_LAUNCHES)
    masks = (has_none, has_no_ends, has_no_ends)
    ratios = Ratios(*(np.where(mask, np.nan, values) for mask, values in zip(masks, ratios, strict=True)))

    def change(name: str) -> Change | None:
        before, after = old.quantities.get(name), new.quantities.get(name)
        if before is None or after is None:
            ends = [None if side is None else float(side.mean[0]) for side in (before, after)]
            return None if ends == [None, None] else Change(ends[0], ends[1], None, None, None)
        is_told = not by_launches or name == "kernel_ns"
        ratio = (interval if is_told else without_interval)(before, after, confidence)
        ends = [float(side.mean[0]) for side in (before, after)]
        return Change(*ends, *(float(value[0]) if np.isfinite(value[0]) else None for value in ratio))

    kernel_ns, launches = change("kernel_ns"), change("launches")
    assert kernel_ns is not None
    assert launches is not None
    others = {name: change(name) for name in ("elapsed_ns", "busy", "copies_ns")}
    return ratios, PerIteration(
        kernel_ns=kernel_ns, launches=launches, iterations=Numbers(*iterations), **others
    )
