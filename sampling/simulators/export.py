"""What is exported: what is asked beside plan and target, which launches run, in which order, and where.

Every prefix of the order is as informative as it can be: first one launch of each stratum, those first whose
stratum brings most of the variance, then a second of each, and so on. (docs/methods.md, 6 Drawing and
judging)
"""

from __future__ import annotations

import heapq
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from typing import IO, TypeVar

import numpy as np

from sampling.arrays import FloatArray
from sampling.errors import OptionError
from sampling.plan.plan_file import PlanFile, PlannedLaunch
from sampling.progress import Progress
from sampling.seeds import Stream, generator
from sampling.text import Wording, counted

#: Relative path and content of a file; of a large one what writes it.
Content = str | Callable[[IO[bytes]], None]
Exported = tuple[tuple[str, Content], ...]
Item = TypeVar("Item")

#: So many launches are simulated before one that checks what cold caches cost.
PREDECESSORS = 16
#: One pair tells no spread.
FEWEST_PAIRS = 2
#: L2 is filled before each drawn launch: with what those before left, by copies or by a kernel of loads, or
#: with what the launch itself will load.
FILLED = ("warm", "loads", "own")
#: The ordinal of a kernel of loads is this much more than that of the drawn launch after it.
LOADS_FROM = 10**9
_AFTER = re.compile(r"after:([1-9]\d{0,5})")


@dataclass(frozen=True, slots=True)
class ExportChoices:
    """How a plan is handed over.

    Attributes
    ----------
    shards : how many machines share the launches.
    traces : the folder of the traces that the simulator runs, to be checked against the plan; None: not
        there.
    caches : what a drawn launch finds in the caches: one of `FILLED`, ``cold``, or ``after:N``, where the N
        launches before it are simulated first and count for nothing; None: as warm as the target can be made.
    cold_check : so many of the drawn launches, which start cold, are simulated a second time, after
        `PREDECESSORS` others.
    config : the simulator's configuration, which says how large L2 is.
    trace_before : so many launches before each drawn one are recorded too.
    drop_copies : leave out the memory copies of the traces' list.
    apart : share the launches out so that each runs by itself, whatever `shards` says.
    progress : of reading the traces.

    Raises
    ------
    OptionError : fewer than one shard, no such way to fill the caches, no traces where they are needed, a
        check of caches that are not cold, or of one launch.
    """

    shards: int = 1
    traces: str | None = None
    caches: str | None = None
    cold_check: int = 0
    config: str | None = None
    trace_before: int = 16
    drop_copies: bool = False
    apart: bool = False
    progress: Progress | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        is_cold = self.caches in {None, "cold"}
        is_filled = self.caches in FILLED
        fills = f"`caches={self.caches}`"
        for is_wrong, why in (
            (self.shards < 1, Wording("`shards` is 1 or more, not {}", self.shards)),
            (
                self.drop_copies and self.traces is None,
                Wording("`drop_copies` leaves out copies that `traces` list, and there are none"),
            ),
            (
                not (is_cold or is_filled or self.predecessors),
                Wording(f"`caches` is {', '.join(FILLED)}, cold or after:N, not {{}}", self.caches),
            ),
            (
                is_filled and self.traces is None,
                Wording(f"{fills} reads what launches touch in `traces`, and there are none"),
            ),
            (
                self.cold_check and not is_cold,
                Wording("`cold_check` is of launches that start cold, not of `caches={}`", self.caches),
            ),
            (
                0 < self.cold_check < FEWEST_PAIRS,
                Wording("`cold_check` takes {} launches or more: one tells no spread", FEWEST_PAIRS),
            ),
            (
                self.config and (self.traces is None or not (is_filled or self.caches is None)),
                Wording("`config` says how much of L2 is filled, and nothing is filled"),
            ),
        ):
            if is_wrong:
                raise OptionError(why)

    @property
    def predecessors(self) -> int:
        """How many launches are simulated before each drawn one."""
        found = _AFTER.fullmatch(self.caches or "")
        return int(found[1]) if found else 0

    def without_filling(self, target: str) -> ExportChoices:
        """Return the choices for a target whose caches nothing fills but launches that are simulated.

        Raises
        ------
        OptionError : another way is chosen.
        """
        if self.caches in FILLED:
            raise OptionError(
                Wording(f"nothing can fill the caches of {target} but launches: `caches={self.caches}`"),
                remedy=Wording("give `caches=after:4` or `caches=cold`"),
            )
        return replace(self, caches=self.caches or "cold")

    def refuse_others(self, taken: Collection[str], target: str) -> None:
        """Raise OptionError for a choice that is made and is none of those that a target takes."""
        plain = ExportChoices()
        for name in (each.name for each in fields(self) if each.compare and each.name not in taken):
            if getattr(self, name) != getattr(plain, name):
                raise OptionError(Wording(f"`{name}` means nothing to {{}}", target))


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

    def files(self) -> Iterator[tuple[str, Shard]]:
        """Yield each shard after what tells its files from those of the others."""
        for number, shard in enumerate(self.shards, start=1):
            yield "" if len(self.shards) == 1 else f"-{number}", shard


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
    checked = checks(plan, choices.cold_check)
    has_folders = len(plan.places or steps) > 1
    parts = []
    for process, device in sorted(steps):
        bundles = _bundles(steps[process, device], choices, together)
        again = _after_predecessors(checked.get((process, device), []), PREDECESSORS)
        if again and not choices.apart:
            # By themselves, in program order: others would leave their own data in L2.
            again = [tuple(step for each in again for step in each)]
        shards = shared_out(bundles, len(bundles) if choices.apart else choices.shards)
        folder = f"process-{process}-device-{device}/" if has_folders else ""
        parts.append(Part(process, device, folder, (*shards, *again)))
    return tuple(parts)


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
    target = plan.options.target
    random = generator(plan.options.seed, Stream.EXPORT)
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
        bundles[step.id if together is None or step.launch is None else together(step.launch)].append(step)
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
        runs[-1] += [*(Step(step.id - each, step.ordinal - each, None, None) for each in behind), step]
    return [tuple(run) for run in runs]


def checks(plan: PlanFile, count: int) -> dict[tuple[int, int], list[Step]]:
    """Draw the launches that are simulated a second time: of each process and device, in their order.

    Drawn in proportion to what they stand for, systematically over a random order. Fewer launches than
    `count` are all of them. (docs/methods.md, 14 Launches simulated alone)
    """
    if not count:
        return {}
    launches = checkable(plan)
    random = generator(plan.options.seed, Stream.COLD_CHECK)
    order = random.permutation(len(launches))
    passed = np.floor(np.cumsum(check_chances(launches, count)[order]) + random.random() + 1e-9)
    chosen = {launches[place].id for place in order[np.diff(passed, prepend=0.0) > 0].tolist()}
    drawn: defaultdict[tuple[int, int], list[Step]] = defaultdict(list)
    for stratum, launch in sorted(informative_order(plan), key=lambda each: each[1].ordinal):
        if launch.id in chosen:
            step = Step(launch.id, launch.ordinal, launch, stratum, is_check=True)
            drawn[launch.process, launch.device].append(step)
    return drawn


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
    length = [sum(step.launch.duration_ns for step in each if step.launch is not None) for each in bundles]
    loads = [(0, 0, shard) for shard in range(shards)]
    mine: list[list[int]] = [[] for _ in range(shards)]
    for bundle in sorted(range(len(bundles)), key=lambda each: (-length[each], each)):
        load, number, shard = heapq.heappop(loads)
        mine[shard].append(bundle)
        heapq.heappush(loads, (load + length[bundle], number + 1, shard))
    return tuple(tuple(step for bundle in sorted(each) for step in bundles[bundle]) for each in mine)


def merged(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Return ascending ranges (first, last) of exactly these numbers, no two of which touch.

    >>> merged([7, 2, 8, 9, 2])
    [(2, 2), (7, 9)]
    """
    ranges: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if ranges and ranges[-1][1] + 1 == number:
            ranges[-1] = (ranges[-1][0], number)
        else:
            ranges.append((number, number))
    return ranges


def range_text(one: tuple[int, int]) -> str:
    """Return a range as ``2`` or ``7-9``."""
    first, last = one
    return str(first) if first == last else f"{first}-{last}"


def bridged(ranges: Sequence[tuple[int, int]], most_characters: int) -> list[tuple[int, int]]:
    """Return ranges that hold the given ones and whose text, with blanks between them, is short enough.

    The smallest gaps are bridged first, so that as little as possible is in them beyond what was given.
    """
    left = list(ranges)
    while len(left) > 1 and (excess := len(" ".join(map(range_text, left))) - most_characters) > 0:
        gaps = [after[0] - before[1] for before, after in pairwise(left)]
        # So many are needed at least, for a bridge saves two numbers and two signs at most.
        few = min(len(gaps), -(-excess // (2 * len(str(left[-1][1])) + 2)))
        limit = sorted(gaps)[few - 1]
        kept = [left[0]]
        for gap, each in zip(gaps, left[1:], strict=True):
            if few and gap <= limit:
                few -= 1
                kept[-1] = (kept[-1][0], each[1])
            else:
                kept.append(each)
        left = kept
    return left


def in_pieces(items: Sequence[Item], most: int) -> Iterator[Sequence[Item]]:
    """Yield the items in order, at most so many at a time."""
    for start in range(0, len(items), most):
        yield items[start : start + most]


def of_names(shard: Shard) -> Mapping[str, list[Step]]:
    """Return the launches of a shard by the name of their kernel, in its order."""
    found: defaultdict[str, list[Step]] = defaultdict(list)
    for step in shard:
        if step.launch is not None:
            found[step.launch.name].append(step)
    return found


def name_pattern(name: str) -> str:
    """Return an expression for exactly this name, in letters, digits, underscores and dots.

    A dot stands for any other character: colons end a field in ncu, brackets and stars mean something to
    expressions, blanks to shells. A character that is no ASCII may be several bytes.

    >>> name_pattern("void at::f<(int)4>(float *)")
    '^void.at..f..int.4..float...$'
    """
    signs = (("." if re.match(r"\W", each, re.ASCII) else each) if each.isascii() else ".+" for each in name)
    return f"^{''.join(signs)}$"
