"""One iteration of a loop, times the number of iterations. [Principal Kernel Analysis, baseline]"""

from __future__ import annotations

import numpy as np

from sampling.errors import NotApplicableError, OptionError
from sampling.methods.method import Method, PickRequest
from sampling.methods.picks import Picks
from sampling.methods.single_iteration.found_loops import FoundLoop, found_loops, loop_details, loop_notes
from sampling.methods.single_iteration.iteration import Iteration
from sampling.methods.single_iteration.named_ranges import iterations_of_ranges
from sampling.methods.single_iteration.options import GIVE_IDS, NAME, Options
from sampling.reduction.group_by import GroupBy
from sampling.reduction.launch_list import LaunchList


def pick(request: PickRequest[Options]) -> Picks:
    """Take the launches of one iteration; each weighs the number of iterations.

    Raises
    ------
    NotApplicableError : the profile has no iteration of the name, or none is found.
    OptionError : launch ids without both ends or without the number of iterations.
    """
    launches, options = request.launches, request.options
    loops: list[FoundLoop] = []
    if options.range is not None:
        iterations = iterations_of_ranges(launches, options.range, options)
    elif (options.first, options.last) != (None, None):
        iterations = [_of_launch_ids(launches, options)]
    else:
        loops = found_loops(launches)
        iterations = [loop.iteration(options) for loop in loops]
    stratum = np.full(len(launches), -1, dtype=np.int64)
    for index, iteration in enumerate(iterations):
        stratum[slice(None) if iteration.stands_for is None else iteration.stands_for] = index
    rows = [np.arange(iteration.start, iteration.stop) for iteration in iterations]
    weights = [np.full(len(row), each.iterations) for row, each in zip(rows, iterations, strict=True)]
    return Picks(
        stratum=stratum,
        labels=tuple(iteration.label for iteration in iterations),
        row=np.concatenate(rows),
        weight=np.concatenate(weights),
        notes=(*_notes(launches, iterations), *loop_notes(launches, loops, iterations)),
        details={
            "iterations": [iteration.iterations for iteration in iterations],
            "launches_of_one": [iteration.stop - iteration.start for iteration in iterations],
            "launches": len(launches),
            **loop_details(launches, loops),
        },
    )


def _of_launch_ids(launches: LaunchList, options: Options) -> Iteration:
    if options.first is None or options.last is None:
        raise OptionError(f"{NAME}.first and .last go together", remedy=GIVE_IDS)
    if options.iterations is None:
        raise OptionError(
            f"launches {options.first} to {options.last} do not tell how many iterations there are",
            remedy=f"set {NAME}.iterations",
        )
    if launches.last_id is not None and options.last > launches.last_id:
        raise OptionError(
            f"{NAME}.last {options.last}: there is no such launch",
            remedy=f"the ids of the profile end at {launches.last_id}",
        )
    start, stop = np.searchsorted(launches.id, [options.first, options.last + 1]).tolist()
    if start == stop:
        raise NotApplicableError(
            f"none of the launches {options.first} to {options.last} is selected",
            remedy=f"the ids selected lie between {launches.id[0]} and {launches.id[-1]}",
        )
    return Iteration(
        start=start,
        stop=stop,
        missing=options.last + 1 - options.first - (stop - start),
        iterations=options.iterations,
        stands_for=None,
        label=f"all launches, by those from {options.first} to {options.last}",
    )


def _notes(launches: LaunchList, iterations: list[Iteration]) -> tuple[str, ...]:
    terms = dict.fromkeys(
        f"{each.stop - each.start:,} x {round(each.iterations, 2):,.12g}" for each in iterations
    )
    share = sum((each.stop - each.start) * each.iterations for each in iterations)
    shown = next(iter(terms)) if len(iterations) == 1 else f"{len(iterations)} of them, {', '.join(terms)}"
    notes = [f"one iteration: {shown} = {share:,.12g} of {len(launches):,} launches"]
    if missing := sum(each.missing for each in iterations):
        notes.append(f"{missing:,} launches of the iteration are not selected, and so not counted")
    reached = {int(launches.sequence[each.start]) for each in iterations}
    there = len(np.unique(launches.sequence))
    if iterations[0].stands_for is not None and len(reached) < there:
        notes.append(f"{there - len(reached)} of {there} processes and devices have no such iteration")
    return tuple(notes)


METHOD = Method(
    name=NAME,
    source="Principal Kernel Analysis, single iteration (baseline)",
    needs=(
        "a loop of the same kernels, a named range (NVTX, annotation), or the launch ids of one iteration",
    ),
    needs_durations=False,
    published_grouping=GroupBy.NAME,
    options_type=Options,
    pick=pick,
)
