"""Which launches a target runs, in which order, and on which of several machines.

Every prefix of the order is as informative as it can be: first one launch of each stratum, those first whose
stratum brings most of the variance, then a second of each, and so on. (docs/methods.md, 6 Drawing and
judging)
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from sampling.arrays import FloatArray
from sampling.errors import OptionError
from sampling.plan.plan_file import PlanFile, PlannedLaunch
from sampling.seeds import Stream, generator
from sampling.simulators.exporting.choices import FILLED, PREDECESSORS, ExportChoices
from sampling.text import Wording, counted

#: The ordinal of a kernel of loads is this much more than that of the drawn launch after it.
LOADS_FROM = 10**9


@dataclass(frozen=True, slots=True)
class Step:
    """One launch that the target runs.

    Attributes
    ----------
    id, ordinal : of the launch in the whole profile, and within its process and device; from 0.
    launch : as it was drawn; None for a launch that is run for the caches' sake and counts for nothing.
    stratum : 0-based index of its stratum in the plan; None where it counts for nothing.
    is_check : whether it is run a second time, after `PREDECESSORS` others.
    """

    id: int
    ordinal: int
    launch: PlannedLaunch | None
    stratum: int | None
    is_check: bool = False


Shard = tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """The launches of one process on one device: targets number each such sequence by itself.

    Attributes
    ----------
    folder : where its files go, with a slash at its end; "" where the plan has one sequence alone.
    shards : what each machine runs, in order.
    """

    process: int
    device: int
    folder: str
    shards: tuple[Shard, ...]

    @property
    def steps(self) -> Shard:
        """What all machines run."""
        return tuple(step for shard in self.shards for step in shard)

    def suffix(self, shard: int) -> str:
        """Return what tells the files of a shard from those of the others."""
        return "" if len(self.shards) == 1 else f"-{shard + 1}"


def run_parts(
    plan: PlanFile, choices: ExportChoices, together: Callable[[PlannedLaunch], Hashable] | None = None
) -> tuple[Part, ...]:
    """Return what is run of each process and device of a plan, in ascending order.

    Parameters
    ----------
    together : launches of which this is the same stay on one machine; None: each is by itself.

    Raises
    ------
    OptionError : there are more shards than there is to share out.
    """
    steps: defaultdict[tuple[int, int], list[Step]] = defaultdict(list)
    for stratum, launch in informative_order(plan):
        steps[launch.process, launch.device].append(Step(launch.id, launch.ordinal, launch, stratum))
    bundles = {place: _bundles(steps[place], choices, together) for place in sorted(steps)}
    checked = {
        place: _after_predecessors(each, PREDECESSORS)
        for place, each in checks(plan, choices.cold_check).items()
    }
    return tuple(
        Part(
            process,
            device,
            "" if len(plan.places or steps) == 1 else f"process-{process}-device-{device}/",
            (
                *shared_out(each, len(each) if choices.apart else choices.shards),
                *_by_themselves(checked.get((process, device), []), choices),
            ),
        )
        for (process, device), each in bundles.items()
    )


@dataclass(frozen=True, slots=True)
class Simulated:
    """What is simulated of a plan that is handed over.

    Attributes
    ----------
    launches : drawn ones, each once.
    beside : launches that run for the caches' sake, and second runs that check what cold caches cost.
    speedup : the whole run's time over theirs; those that were not drawn are taken to last as launches do in
        the mean. None where no durations are known.
    """

    launches: int
    beside: int
    speedup: float | None


def simulated(plan: PlanFile, choices: ExportChoices) -> Simulated:
    """Return what is simulated of a plan, and how much less that is than the whole run.

    Raises
    ------
    OptionError : there are more shards than there is to share out.
    """
    steps = [step for part in run_parts(plan, choices) for step in part.steps if step.ordinal < LOADS_FROM]
    drawn_ns = sum(step.launch.duration_ns or 0 for step in steps if step.launch is not None)
    unknown = sum(step.launch is None for step in steps)
    run_ns = drawn_ns + unknown * plan.total_duration_ns / max(plan.launches, 1)
    launches = len(plan.drawn)
    return Simulated(launches, len(steps) - launches, plan.total_duration_ns / run_ns if run_ns else None)


def informative_order(plan: PlanFile) -> list[tuple[int, PlannedLaunch]]:
    """Return the drawn launches with the index of their stratum, each prefix as informative as it can be.

    A stratum's share is N^2 (s^2 + (floor * mean)^2), its variance before anything of it has been simulated,
    and of a pooled one also N^2 spread^2 (mean^2 + s^2), for kernels differ; of equal shares the one with
    more time comes first. Within a stratum the order is random, so that the
    first few are a random sample of it too. (docs/methods.md, 6 Drawing and judging)
    """
    target = plan.target()
    random = generator(int(plan.options.get("seed", 0)), Stream.EXPORT)
    queues = [
        [stratum.launches[place] for place in random.permutation(len(stratum.launches))]
        if plan.is_random
        else list(stratum.launches)
        for stratum in plan.strata
    ]
    size, mean, std = (
        np.array([getattr(stratum, name) for stratum in plan.strata], dtype=np.float64)
        for name in ("size", "mean_ns", "std_ns")
    )
    between = np.array([target.kernel_spread**2 * stratum.pooled for stratum in plan.strata])
    share = size**2 * (std**2 + (target.noise_floor * mean) ** 2 + between * (mean**2 + std**2))
    falling = np.lexsort((-size * mean, -share)).tolist()
    order: list[tuple[int, PlannedLaunch]] = []
    turn = 0
    while falling := [stratum for stratum in falling if turn < len(queues[stratum])]:
        order += [(stratum, queues[stratum][turn]) for stratum in falling]
        turn += 1
    return order


def _bundles(
    steps: Sequence[Step], choices: ExportChoices, together: Callable[[PlannedLaunch], Hashable] | None
) -> list[Shard]:
    """Return what stays on one machine, each in the place of its first launch."""
    if choices.caches in FILLED or choices.predecessors:
        # In another order L2 would hold what later launches of the program left.
        steps = sorted(steps, key=lambda each: each.ordinal)
    if choices.predecessors:
        return _after_predecessors(steps, choices.predecessors)
    if choices.caches == "loads":
        return [(Step(each.id, LOADS_FROM + each.ordinal, None, None), each) for each in steps]
    bundles: defaultdict[Hashable, list[Step]] = defaultdict(list)
    for step in steps:
        assert step.launch is not None
        bundles[step.id if together is None else together(step.launch)].append(step)
    return [tuple(bundle) for bundle in bundles.values()]


def _after_predecessors(steps: Sequence[Step], count: int) -> list[Shard]:
    """Return runs of launches that follow each other, each after so many launches before the first of them.

    A drawn launch is a predecessor of the next ones where those are drawn too, so nothing is simulated twice.

    Parameters
    ----------
    steps : in the order of the program.
    """
    runs: list[list[Step]] = []
    for step in steps:
        first = max(0, step.ordinal - count)
        if runs and first <= runs[-1][-1].ordinal:
            first = runs[-1][-1].ordinal + 1
        else:
            runs.append([])
        # Ids go through one process and device without a gap.
        behind = range(step.ordinal - first, 0, -1)
        runs[-1] += [*(Step(step.id - each, step.ordinal - each, None, None) for each in behind), step]
    return [tuple(run) for run in runs]


def _by_themselves(checked: Sequence[Shard], choices: ExportChoices) -> Sequence[Shard]:
    """Return what is checked as a shard, in program order: others would leave its own data in L2."""
    return checked if choices.apart or not checked else [tuple(step for each in checked for step in each)]


def checks(plan: PlanFile, count: int) -> dict[tuple[int, int], list[Step]]:
    """Draw the launches that are simulated a second time: of each process and device, in their order.

    Drawn in proportion to what they stand for, systematically over a random order. Fewer launches than
    `count` are all of them. (docs/methods.md, 14 Launches simulated alone)
    """
    launches = checkable(plan)
    if not count:
        return {}
    random = generator(int(plan.options.get("seed", 0)), Stream.COLD_CHECK)
    order = random.permutation(len(launches))
    passed = np.floor(np.cumsum(check_chances(launches, count)[order]) + random.random() + 1e-9)
    stratum_of = {launch.id: stratum for stratum, launch in informative_order(plan)}
    drawn: defaultdict[tuple[int, int], list[Step]] = defaultdict(list)
    for place in np.sort(order[np.diff(passed, prepend=0.0) > 0]).tolist():
        launch = launches[place]
        step = Step(launch.id, launch.ordinal, launch, stratum_of[launch.id], is_check=True)
        drawn[launch.process, launch.device].append(step)
    return {place: sorted(each, key=lambda step: step.ordinal) for place, each in drawn.items()}


def checkable(plan: PlanFile) -> list[PlannedLaunch]:
    """Return the launches that a check may be drawn of; a device's first starts cold in the program too."""
    return [launch for launch in plan.drawn if launch.ordinal > 0]


def stands_for_ns(launch: PlannedLaunch) -> float:
    """Return the time that a launch stands for; its weight alone where the profile has no durations."""
    return launch.weight * (launch.duration_ns or 1)


def check_chances(launches: Sequence[PlannedLaunch], count: int) -> FloatArray:
    """Return (n,) the chance to be checked: by what launches stand for, at most 1, `count` in all."""
    size = np.array([stands_for_ns(launch) for launch in launches], dtype=np.float64)
    chance = np.ones(len(size))
    if count >= len(size):
        return chance
    is_open = chance > 0
    # What would be drawn more than once is drawn for certain, and the others share what is left.
    while (over := is_open & (size * (count - (~is_open).sum()) > size[is_open].sum())).any():
        is_open &= ~over
    chance[is_open] = size[is_open] * (count - (~is_open).sum()) / size[is_open].sum()
    return chance


def shared_out(bundles: Sequence[Shard], shards: int) -> tuple[Shard, ...]:
    """Share bundles out over machines by sampled time: the longest goes to who has least so far.

    Within a shard they stay in order. What runs for the caches' sake counts nothing: a plan does not say how
    long it is.

    Raises
    ------
    OptionError : there are fewer bundles than shards.
    """
    if len(bundles) < shards:
        raise OptionError(
            Wording("`shards={}`: there are {} to share out", shards, counted(len(bundles), "run")),
            remedy="give fewer",
        )
    length = [_duration_ns(bundle) for bundle in bundles]
    loads = [(0, 0, shard) for shard in range(shards)]
    mine: list[list[int]] = [[] for _ in range(shards)]
    for bundle in sorted(range(len(bundles)), key=lambda each: (-length[each], each)):
        load, number, shard = heapq.heappop(loads)
        mine[shard].append(bundle)
        heapq.heappush(loads, (load + length[bundle], number + 1, shard))
    return tuple(tuple(step for bundle in sorted(each) for step in bundles[bundle]) for each in mine)


def _duration_ns(steps: Iterable[Step]) -> int:
    return sum(step.launch.duration_ns for step in steps if step.launch is not None)
