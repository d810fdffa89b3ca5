"""Which launches of a plan are simulated, in which order, on which machine and after which others.

Every prefix of the order is as informative as it can be: first one launch of each stratum, those first whose
stratum brings most of the variance, then a second of each, and so on. (docs/methods.md, 6 Drawing and
judging)
"""

from __future__ import annotations

import heapq
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from sampling.arrays import FloatArray
from sampling.errors import OptionError
from sampling.parallel import Progress, Stream, generator
from sampling.plan.plan_file import PlanFile, PlannedLaunch, PlannedStratum
from sampling.record import Amount, Count, Index, Record
from sampling.strata.strata import OF_SEVERAL_SIGNATURES
from sampling.text import Wording, counted

#: So many launches are simulated before one that checks what cold caches cost
PREDECESSORS = 16
#: One pair tells no spread
FEWEST_PAIRS = 2
#: L2 is filled before each drawn launch: with what those before left, by copies or by a kernel of loads, or
#: with what the launch itself will load
FILLED = ("warm", "loads", "own")
#: The ordinal of a kernel of loads is this much more than that of the drawn launch after it
LOADS_FROM = 10**9
_AFTER = re.compile(r"after:([1-9]\d{0,5})")


@dataclass(frozen=True, slots=True)
class ExportChoices:
    """How a plan is handed over.

    Raises OptionError: a choice is none, or lacks what it needs.
    """

    shards: int = 1  #: how many machines share the launches
    #: the folder of the traces that the simulator runs, to be checked against the plan
    traces: str | None = None
    #: what a drawn launch finds in the caches: one of `FILLED`, ``cold``, or ``after:N``, where the N
    #: launches before it are simulated first and count for nothing; None: as warm as the target can be made
    caches: str | None = None
    #: so many of the drawn launches, which start cold, are simulated a second time, after `PREDECESSORS`
    #: others
    cold_check: int = 0
    config: str | None = None  #: the simulator's configuration, which says how large L2 is
    #: what the simulator printed of any run, which tells whether copies keep whole addresses
    simulator_log: str | None = None
    trace_before: int = 16  #: so many launches before each drawn one are recorded too
    drop_copies: bool = False  #: leave out the memory copies of the traces' list
    #: what a profiler measures, by commas: sets that it knows, and metrics; None: what the user says later
    metric_set: str | None = None
    apart: bool = False  #: share the launches out so that each runs by itself, whatever `shards` says
    progress: Progress | None = field(default=None, compare=False)  #: of reading the traces
    #: told what a file written says less of than it could
    tell: Callable[[str], None] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        is_cold, is_filled = self.caches in {None, "cold"}, self.caches in FILLED
        no_traces, none = self.traces is None, "and there are none"
        is_way, ways = is_cold or is_filled or self.predecessors > 0, ", ".join(FILLED)
        too_few = 0 < self.cold_check < FEWEST_PAIRS
        for is_wrong, words, *values in (
            (self.shards < 1, "`shards` is 1 or more, not {}", self.shards),
            (self.drop_copies and no_traces, "`drop_copies` leaves out copies that `traces` list, {}", none),
            (not is_way, "`caches` is {}, cold or after:N, not {}", ways, self.caches),
            (
                is_filled and no_traces,
                "`caches={}` reads what launches touch in `traces`, {}",
                self.caches,
                none,
            ),
            (
                self.cold_check and not is_cold,
                "`cold_check` is of launches that start cold, not of `caches={}`",
                self.caches,
            ),
            (too_few, "`cold_check` takes {} launches or more: one tells no spread", FEWEST_PAIRS),
            (self.simulator_log and no_traces, "`simulator_log` says how `traces` are run, {}", none),
        ):
            if is_wrong:
                raise OptionError(Wording(str(words), *values))

    @property
    def predecessors(self) -> int:
        """How many launches are simulated before each drawn one."""
        match = _AFTER.fullmatch(self.caches or "")
        return int(match[1]) if match else 0


@dataclass(frozen=True, slots=True)
class Step:
    """One launch that the target runs; without `launch` and `stratum`, for the caches' sake alone."""

    id: int  #: in the whole profile
    ordinal: int  #: within its process and device, from 0
    launch: PlannedLaunch | None = None
    stratum: int | None = None  #: 0-based index in the plan
    is_check: bool = False  #: whether it runs a second time, after `PREDECESSORS` others


Shard = tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """The launches of one process on one device: targets number each such sequence by itself."""

    process: int
    device: int
    folder: str  #: of its files, with a slash at its end; "" where the plan has one sequence alone
    shards: tuple[Shard, ...]  #: what each machine runs, in order

    @property
    def steps(self) -> Shard:
        """What all machines run."""
        return tuple(step for shard in self.shards for step in shard)

    def files(self) -> Iterator[tuple[str, Shard]]:
        """Yield each shard after what tells its files from those of the others."""
        for number, shard in enumerate(self.shards, start=1):
            yield "" if len(self.shards) == 1 else f"-{number}", shard

    @property
    def logs(self) -> str:
        """Where the scripts of this part and of those like it leave what the simulator prints."""
        return "*/run*/run.log" if self.folder else "run*/run.log"


def run_parts(plan: PlanFile, choices: ExportChoices, *, by_name: bool = False) -> tuple[Part, ...]:
    """Return what is run of each process and device of a plan, in ascending order.

    With `by_name` the launches of one kernel stay on one machine. Raises OptionError where there are more
    shards than there is to share out.
    """
    steps: defaultdict[tuple[int, int], list[Step]] = defaultdict(list)
    for stratum, launch in informative_order(plan):
        steps[launch.process, launch.device].append(Step(launch.id, launch.ordinal, launch, stratum))
    checked: defaultdict[tuple[int, int], list[Step]] = defaultdict(list)
    for launch, step in checks(plan, choices.cold_check):
        checked[launch.process, launch.device].append(step)
    has_folders = len(plan.places or steps) > 1
    parts = []
    for process, device in sorted(steps):
        bundles = _bundles(steps[process, device], choices, by_name=by_name)
        check_runs = _after_predecessors(checked[process, device], PREDECESSORS)
        if check_runs and not choices.apart:
            # By themselves, in program order: others would leave their own data in L2.
            check_runs = [tuple(step for run in check_runs for step in run)]
        shards = shared_out(bundles, len(bundles) if choices.apart else choices.shards)
        folder = f"process-{process}-device-{device}/" if has_folders else ""
        parts.append(Part(process, device, folder, (*shards, *check_runs)))
    return tuple(parts)


class Simulated(NamedTuple):
    """What is simulated of a plan that is handed over."""

    launches: int  #: drawn ones, each once
    extra: int  #: those that run for the caches' sake, and second runs that check what cold caches cost
    speedup: float | None  #: the whole run's time over theirs; None where no durations are known
    checked: int  #: how many run a second time


class ExportSummary(Record, frozen=True):
    """A plan that was handed to a simulator; see `Simulated`."""

    #: Those that were written.
    files: list[str]
    launches: Count
    beside: Index
    speedup: Amount | None


def simulated(plan: PlanFile, choices: ExportChoices) -> Simulated:
    """Return what is simulated; launches that were not drawn are taken to last as all do in the mean."""
    steps = [step for part in run_parts(plan, choices) for step in part.steps if step.ordinal < LOADS_FROM]
    mean_ns = plan.total_duration_ns / max(plan.launches, 1)
    run_ns = sum(mean_ns if step.launch is None else step.launch.duration_ns for step in steps)
    launches = len(plan.drawn)
    speedup = plan.total_duration_ns / run_ns if run_ns else None
    return Simulated(launches, len(steps) - launches, speedup, sum(step.is_check for step in steps))


def informative_order(plan: PlanFile) -> list[tuple[int, PlannedLaunch]]:
    """Return the drawn launches with the index of their stratum, each prefix as informative as it can be.

    A stratum's share is N^2 (s^2 + (floor * mean)^2), its variance before anything of it has been simulated,
    of several signatures also N^2 (0.1 mean)^2, of a pooled one also N^2 spread^2 (mean^2 + s^2), for kernels
    differ; of equal shares the one with more time comes first. Within a stratum the order is random, so that
    the first few are a random sample of it too. (docs/methods.md, 6 Drawing and judging)
    """
    target, random = plan.options.target, generator(plan.options.seed, Stream.EXPORT)
    queues = [_shuffled(stratum, random) if plan.is_random else stratum.launches for stratum in plan.strata]
    size, mean, std = (
        np.array([getattr(stratum, name) for stratum in plan.strata], dtype=np.float64)
        for name in ("size", "mean_ns", "std_ns")
    )
    between = np.array([target.kernel_spread**2 * stratum.pooled for stratum in plan.strata])
    several = OF_SEVERAL_SIGNATURES * np.array([stratum.is_mixed for stratum in plan.strata])
    within_var = (target.noise_floor**2 + several**2) * mean**2
    share = size**2 * (std**2 + within_var + between * (mean**2 + std**2))
    falling = np.lexsort((-size * mean, -share)).tolist()
    turns = range(max(map(len, queues), default=0))
    return [
        (stratum, queues[stratum][turn])
        for turn in turns
        for stratum in falling
        if turn < len(queues[stratum])
    ]


def _shuffled(stratum: PlannedStratum, random: np.random.Generator) -> list[PlannedLaunch]:
    """Return the launches of a stratum in random order, those of a layer together in theirs."""
    order = random.permutation(len(stratum.layers) or len(stratum.launches))
    if stratum.layers:
        order = np.argsort(np.repeat(order, [layer.launches for layer in stratum.layers]), kind="stable")
    return [stratum.launches[place] for place in order.tolist()]


def _bundles(steps: Sequence[Step], choices: ExportChoices, *, by_name: bool) -> list[Shard]:
    """Return what stays on one machine, each in the place of its first launch."""
    if choices.caches in FILLED or choices.predecessors:
        # In another order L2 would hold what later launches of the program left.
        steps = sorted(steps, key=lambda step: step.ordinal)
    if choices.predecessors:
        return _after_predecessors(steps, choices.predecessors)
    bundles: defaultdict[str | int, list[Step]] = defaultdict(list)
    for step in steps:
        bundles[step.launch.name if by_name and step.launch else step.id].append(step)
    return [tuple(bundle) for bundle in bundles.values()]


def _after_predecessors(steps: Sequence[Step], count: int) -> list[Shard]:
    """Return runs of launches that follow each other, each after so many launches before the first of them.

    Steps are in the order of the program. A drawn launch is a predecessor of the next ones where those are
    drawn too, so nothing is simulated twice.
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
        runs[-1] += [*(Step(step.id - distance, step.ordinal - distance) for distance in behind), step]
    return [tuple(run) for run in runs]


def checks(plan: PlanFile, count: int) -> list[tuple[PlannedLaunch, Step]]:
    """Draw the launches that are simulated a second time, in the order of their ids.

    Drawn in proportion to what they stand for, systematically over a random order. Fewer launches than
    `count` are all of them. (docs/methods.md, 14 Launches simulated alone)
    """
    if not count:
        return []
    launches = checkable(plan)
    random = generator(plan.options.seed, Stream.COLD_CHECK)
    order = random.permutation(len(launches))
    draws = np.floor(np.cumsum(check_chances(launches, count)[order]) + random.random() + 1e-9)
    checked = [launches[place] for place in np.sort(order[np.diff(draws, prepend=0.0) > 0])]
    strata = {launch.id: place for place, stratum in enumerate(plan.strata) for launch in stratum.launches}
    return [
        (launch, Step(launch.id, launch.ordinal, launch, strata[launch.id], is_check=True))
        for launch in checked
    ]


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
    long it is. Raises OptionError where there are fewer bundles than shards.
    """
    if len(bundles) < shards:
        raise OptionError(
            Wording("`shards={}`: there are {} to share out", shards, counted(len(bundles), "run")),
            remedy="give fewer",
        )
    length = [
        sum(step.launch.duration_ns for step in bundle if step.launch is not None) for bundle in bundles
    ]
    loads = [(0, 0, shard) for shard in range(shards)]
    mine: list[list[int]] = [[] for _ in range(shards)]
    for bundle in sorted(range(len(bundles)), key=lambda index: (-length[index], index)):
        load, number, shard = loads[0]
        mine[shard].append(bundle)
        heapq.heapreplace(loads, (load + length[bundle], number + 1, shard))
    return tuple(tuple(step for bundle in sorted(indices) for step in bundles[bundle]) for indices in mine)


def merged(numbers: Iterable[int], gap: int = 1) -> list[tuple[int, int]]:
    """Return ascending ranges (first, last) of these numbers, of which no two are `gap` or less apart.

    >>> merged([7, 2, 8, 9, 2]), merged([7, 2, 8, 9, 2], gap=5)
    ([(2, 2), (7, 9)], [(2, 9)])
    """
    ordered = np.unique(np.fromiter(numbers, dtype=np.int64))
    ends = np.flatnonzero(np.diff(ordered) > gap)
    first, last = ordered[np.append(0, ends + 1)], ordered[np.append(ends, len(ordered) - 1)]
    return list(zip(first.tolist(), last.tolist(), strict=True))


def range_text(bounds: tuple[int, int]) -> str:
    """Return a range as ``2`` or ``7-9``."""
    first, last = bounds
    return str(first) if first == last else f"{first}-{last}"
