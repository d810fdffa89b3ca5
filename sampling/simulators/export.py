"""What every export shares: which launches run, in which order and where; manifest, page and scripts.

Every prefix of the order is as informative as it can be: first one launch of each stratum, those first whose
stratum brings most of the variance, then a second of each, and so on. (docs/methods.md, 6 Drawing and
judging)
The manifest says of each launch that is run which one of the profile it is, and what it weighs.
"""

from __future__ import annotations

import csv
import heapq
import io
import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from textwrap import fill
from typing import IO, Annotated, NamedTuple

import msgspec
import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.errors import OptionError, ProfileError
from sampling.parallel import Progress, Stream, generator
from sampling.plan.plan_file import PlanFile, PlannedLaunch
from sampling.profile.names import is_communication
from sampling.readers.input_file import InputFile
from sampling.simulators.measured_run import STATE, UNNUMBERED, dimensions_text
from sampling.text import Wording, counted, shortened

#: Relative path and content of a file; of a large one what writes it
Content = str | Callable[[IO[bytes]], None]
Exported = tuple[tuple[str, Content], ...]


class Exporter(NamedTuple):
    """A simulator or tool that takes plans."""

    note: str  #: how its ids are counted, and whether it was tried here
    takes: frozenset[str]  #: which of `ExportChoices` mean something to it
    export: Callable[[PlanFile, ExportChoices], Exported]


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
    trace_before: int = 16  #: so many launches before each drawn one are recorded too
    drop_copies: bool = False  #: leave out the memory copies of the traces' list
    apart: bool = False  #: share the launches out so that each runs by itself, whatever `shards` says
    progress: Progress | None = field(default=None, compare=False)  #: of reading the traces

    def __post_init__(self) -> None:
        is_cold, is_filled = self.caches in {None, "cold"}, self.caches in FILLED
        has_traces = self.traces is not None
        lacks_traces = "`drop_copies` leaves out copies that `traces` list, and there are none"
        reads_traces = f"`caches={self.caches}` reads what launches touch in `traces`, and there are none"
        no_way = f"`caches` is {', '.join(FILLED)}, cold or after:N, not {{}}"
        not_cold = "`cold_check` is of launches that start cold, not of `caches={}`"
        no_spread = f"`cold_check` takes {FEWEST_PAIRS} launches or more: one tells no spread"
        fills_nothing = "`config` says how much of L2 is filled, and nothing is filled"
        can_fill = has_traces and (is_filled or self.caches is None)
        for is_wrong, template, value in (
            (self.shards < 1, "`shards` is 1 or more, not {}", self.shards),
            (self.drop_copies and not has_traces, lacks_traces, None),
            (not (is_cold or is_filled or self.predecessors), no_way, self.caches),
            (is_filled and not has_traces, reads_traces, None),
            (self.cold_check and not is_cold, not_cold, self.caches),
            (0 < self.cold_check < FEWEST_PAIRS, no_spread, None),
            (self.config and not can_fill, fills_nothing, None),
        ):
            if is_wrong:
                raise OptionError(Wording(template, *() if value is None else (value,)))

    @property
    def predecessors(self) -> int:
        """How many launches are simulated before each drawn one."""
        found = _AFTER.fullmatch(self.caches or "")
        return int(found[1]) if found else 0

    def without_filling(self, target: str) -> ExportChoices:
        """Return the choices for a target whose caches launches alone fill, else raise OptionError."""
        if self.caches in FILLED:
            raise OptionError(
                Wording(f"nothing can fill the caches of {target} but launches: `caches={self.caches}`"),
                remedy=Wording("give `caches=after:4` or `caches=cold`"),
            )
        return replace(self, caches=self.caches or "cold")

    def refuse_others(self, taken: Collection[str], target: str) -> None:
        """Raise OptionError for a choice that is made and is none of those that a target takes."""
        for each in fields(self):
            if each.compare and each.name not in taken and getattr(self, each.name) != each.default:
                raise OptionError(Wording(f"`{each.name}` means nothing to {{}}", target))


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


def run_parts(
    plan: PlanFile, choices: ExportChoices, together: Callable[[PlannedLaunch], Hashable] | None = None
) -> tuple[Part, ...]:
    """Return what is run of each process and device of a plan, in ascending order.

    Launches of which `together` is the same stay on one machine. Raises OptionError where there are more
    shards than there is to share out.
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


class Simulated(NamedTuple):
    """What is simulated of a plan that is handed over."""

    launches: int  #: drawn ones, each once
    beside: int  #: those that run for the caches' sake, and second runs that check what cold caches cost
    speedup: float | None  #: the whole run's time over theirs; None where no durations are known


def simulated(plan: PlanFile, choices: ExportChoices) -> Simulated:
    """Return what is simulated; launches that were not drawn are taken to last as all do in the mean.

    Raises OptionError where there are more shards than there is to share out.
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
    more time comes first. Within a stratum the order is random, so that the first few are a random sample of
    it too. (docs/methods.md, 6 Drawing and judging)
    """
    target, random = plan.options.target, generator(plan.options.seed, Stream.EXPORT)
    queues = [
        [stratum.launches[place] for place in random.permutation(len(stratum.launches))]
        if plan.is_random
        else stratum.launches
        for stratum in plan.strata
    ]
    size, mean, std = (
        np.array([getattr(stratum, name) for stratum in plan.strata], dtype=np.float64)
        for name in ("size", "mean_ns", "std_ns")
    )
    between = np.array([target.kernel_spread**2 * stratum.pooled for stratum in plan.strata])
    share = size**2 * (std**2 + (target.noise_floor * mean) ** 2 + between * (mean**2 + std**2))
    falling = np.lexsort((-size * mean, -share)).tolist()
    turns = range(max(map(len, queues), default=0))
    return [(each, queues[each][turn]) for turn in turns for each in falling if turn < len(queues[each])]


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
        return [(Step(each.id, LOADS_FROM + each.ordinal), each) for each in steps]
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
        runs[-1] += [*(Step(step.id - each, step.ordinal - each) for each in behind), step]
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
    long it is. Raises OptionError where there are fewer bundles than shards.
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
        load, number, shard = loads[0]
        mine[shard].append(bundle)
        heapq.heapreplace(loads, (load + length[bundle], number + 1, shard))
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


Count = Annotated[int, msgspec.Meta(ge=0, le=10**18)]


class ManifestRow(msgspec.Struct, frozen=True):
    """A launch that is run, as ``manifest.csv`` has it; what is run for the caches' sake weighs 0."""

    id: Count  #: of the launch in the whole profile
    simulator_id: str | int = ""  #: what the target calls it: a number or a name with one, kernel-7, Kernel2
    stratum: int | None = None
    weight: float = 0  #: 0 too of the second run of a launch that is checked
    warm_up: Count = 0
    caches: Annotated[str, msgspec.Meta(pattern=f"^(?:{STATE.pattern})$")] = ""  #: how it finds them
    shard: Count = 1  #: which machine runs it, from 1
    order: Count = 0  #: when, from 1
    process: int = 0
    device: int = 0
    ordinal: int = 0
    occurrence: int | None = None
    duration_ns: int | None = None
    grid: str = ""
    block: str = ""
    name: str = ""


_COLUMNS = ManifestRow.__struct_fields__
_NUMBER = re.compile(r"(?:[Kk]ernel-?)?([0-9]{1,18})(?:-ctx_0x[0-9a-fA-F]+)?")
_REMEDY = "give the manifest.csv that `kernelpoint export` wrote beside what was run"


def manifest(part: Part, simulator_ids: Mapping[int, str | int], caches: str = "") -> tuple[str, str]:
    """Return ``manifest.csv`` of a part, in the order of each shard.

    Parameters
    ----------
    simulator_ids : how the target calls a launch, by its ordinal; empty where it is not known.
    caches : what drawn launches find in the caches, as `ExportChoices` has it; "" where the program runs.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for number, shard in enumerate(part.shards, start=1):
        for order, step in enumerate(shard, start=1):
            row = ManifestRow(
                step.id,
                simulator_ids.get(step.ordinal, ""),
                step.stratum,
                warm_up=int(step.launch is None),
                shard=number,
                order=order,
                process=part.process,
                device=part.device,
                ordinal=step.ordinal,
            )
            if (launch := step.launch) is not None:
                row = msgspec.structs.replace(
                    row,
                    weight=0 if step.is_check else launch.weight,
                    caches=f"after:{PREDECESSORS}" if step.is_check else caches,
                    occurrence=launch.occurrence,
                    duration_ns=launch.duration_ns,
                    grid=dimensions_text(launch.grid),
                    block=dimensions_text(launch.block),
                    name=launch.name,
                )
            writer.writerow(msgspec.structs.astuple(row))
    return f"{part.folder}manifest.csv", text.getvalue()


@dataclass(frozen=True, slots=True, eq=False)
class Manifest:
    """The launches of an export, in the order of its shards, each (n,)."""

    path: str
    id: IntArray  #: of the launch in the profile
    number: IntArray  #: in the simulator; `UNNUMBERED` where it has none
    shard: IntArray
    is_warm_up: BoolArray
    caches: tuple[str, ...]  #: "" where the export does not say


def manifests_in(folder: Path) -> list[Path]:
    """Return those of an export, one for each process and device, or of all exports of a run."""
    ways = ("", "process-*/", "rounds/*[0-9]/", "rounds/*[0-9]/process-*/")
    return [path for way in ways for path in sorted(folder.glob(f"{way}manifest.csv"))]


def read_manifest(file: InputFile) -> Manifest:
    """Read a manifest; ProfileError where it cannot be, lacks a column, or a cell holds what none can."""
    with file.open() as stream:
        text = stream.read().decode("utf-8-sig", "replace")
    reader = csv.DictReader(text.splitlines(), restkey="")
    for column in ("id", "simulator_id"):
        if column not in (reader.fieldnames or ()):
            raise ProfileError(f"no column {column}", path=file.path, row=1, remedy=_REMEDY)
    rows = []
    for cells in reader:
        # What a row lacks is as its default says, but a launch has an id.
        known = {name: cell for name, cell in cells.items() if cell or name == "id"}
        try:
            rows.append(msgspec.convert(known, ManifestRow, strict=False))
        except msgspec.ValidationError as error:
            column = str(error).rpartition("$.")[2].rstrip("`")
            wrong = f"{cells[column]!r} is none of what stands there"
            raise ProfileError(
                wrong, path=file.path, row=reader.line_num, column=column, remedy=_REMEDY
            ) from error
    if not rows:
        raise ProfileError("has no row below its header", path=file.path, remedy=_REMEDY)
    rows.sort(key=lambda row: (row.shard, row.order))
    numbers = [_NUMBER.fullmatch(str(row.simulator_id)) for row in rows]
    return Manifest(
        file.path,
        np.array([row.id for row in rows], dtype=np.int64),
        np.array([int(each[1]) if each else UNNUMBERED for each in numbers], dtype=np.int64),
        np.array([row.shard for row in rows], dtype=np.int64),
        np.array([row.warm_up > 0 for row in rows]),
        tuple(row.caches for row in rows),
    )


_MANIFEST = """\
manifest.csv says of each launch which one of the profile it is (id, from 0), how {target} calls it, its
stratum (from 0, in the plan's order) and weight: the total is the sum of weight x result.
"""
_ORDER = """\
Launches are in the order in which they are best simulated: first one of each stratum, the stratum that brings
most of the variance first, then a second of each, and so on. `order` in manifest.csv counts it.
"""
_PROGRAM_ORDER = """\
Launches are in the order of the program, for else L2 would hold what later ones left; `order` in manifest.csv
counts it.
"""
_WARM_UPS = """\
The {} before each drawn one {} run first: `warm_up` is 1 and the weight 0 in manifest.csv.
Leave the result out of the total.
"""
_CACHES = {
    "warm": "L2 is filled before each launch with what the launches before it left in the program.\n",
    "loads": "A kernel of loads before each launch fills L2 with what others left there in the program.\n",
    "own": "L2 is filled before each launch with what it will load itself: a total of these is too low.\n",
    "cold": "A launch finds in the caches what the one before it here left; in the program that is another.\n"
    "Totals of launches simulated like this were 5 to 10 % too long, of some 40 %.\n",
}
_CHECK = """\
{checks} of them run a second time, after the {before} launches before each: `caches` is after:{before} and
the weight 0 in manifest.csv. `estimate` corrects the cycles of the others by these. They have a list and a
run-N.sh of their own, the last, for after the others they would find their own data in L2.
"""
_SHARDS = """\
There are {shards} shards of about the same sampled time, run-1.sh to run-{shards}.sh, for as many machines
or as one job array of Slurm: cd here, then sbatch slurm.sh.
"""
_SEVERAL_DEVICES = """\
Process {process} used {devices} devices, and {target} counts the launches of a process on all of them
together, unless it counts each context: then these numbers are others. Run a process a device.
"""
_COMMUNICATION = """\
{count} of them {are} of communication kernels ({name}), which wait for other devices: under a tracer they
never end, and a simulator of one device cannot run them. Make the plan without communication kernels.
"""
_ESTIMATE = """
The whole run's cycles, of all that has been simulated so far:
    kernelpoint estimate . {logs}
"""
_PARTS = """\
The plan is of {parts}: each has a folder, for its launches are numbered by themselves.
"""
_HEAD = """\
#!/bin/sh
{comment}
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
absolute() {{ case $1 in /*) printf '%s\\n' "$1" ;; *) printf '%s\\n' "$PWD/$1" ;; esac; }}
fail() {{ printf '%s\\n' "$0: $1" >&2; exit 1; }}
"""
_WANTS_PROGRAM = """\
if [ $# -eq 0 ]; then
  printf '%s\\n' "usage: sh $0 PROGRAM [ARGUMENT...]" >&2
  exit 2
fi
"""
_SLURM = """\
#!/bin/sh
#SBATCH --job-name=kernelpoint
#SBATCH --array=1-{shards}
# One task a shard. Submit it from its own folder: cd FOLDER && sbatch slurm.sh{arguments}
set -eu
cd -- "${{SLURM_SUBMIT_DIR:-.}}"
exec sh "./run-$SLURM_ARRAY_TASK_ID.sh" "$@"
"""


def readme(
    target: str,
    note: str,
    text: str,
    plan: PlanFile,
    parts: Sequence[Part],
    choices: ExportChoices,
    *,
    is_ordered: bool = True,
    uses_nvbit: bool = False,
    is_estimated: bool = False,
) -> tuple[str, str]:
    """Return ``README.txt``: the note on the ids, what holds for all targets, and the target's own text.

    The target keeps the order that it is given (`is_ordered`); a tool of NVBit records launches, which counts
    those of a process on all devices, and in which kernels that wait for other devices hang (`uses_nvbit`);
    `estimate` reads what its script leaves (`is_estimated`).
    """
    steps = [step for part in parts for step in part.steps if step.launch is not None]
    checked = sum(step.is_check for step in steps)
    pieces = [
        f"{counted(len(steps) - checked, 'launch', 'launches')} of a plan of KernelPoint, for {target}.\n",
        fill(f"{note}.", 106, break_on_hyphens=False, break_long_words=False) + "\n",
        _MANIFEST.format(target=target),
    ]
    if is_ordered:
        pieces.append(_PROGRAM_ORDER if choices.caches in FILLED or choices.predecessors else _ORDER)
    if several := choices.predecessors:
        words = "launch" if several == 1 else f"{several} launches"
        pieces.append(_WARM_UPS.format(words, "is" if several == 1 else "are"))
    elif choices.caches is not None:
        pieces.append(_CACHES[choices.caches])
    if checked:
        pieces.append(_CHECK.format(checks=checked, before=PREDECESSORS))
    if choices.shards > 1:
        pieces.append(_SHARDS.format(shards=choices.shards))
    if len(parts) > 1:
        pieces.append(_PARTS.format(parts=counted(len(parts), "process and device", "processes and devices")))
    if uses_nvbit:
        pieces += _cautions(plan, parts, target)
    last = _ESTIMATE.format(logs=_logs_of(parts[0])) if is_estimated else ""
    return "README.txt", "\n".join([*pieces, text]) + last


def _cautions(plan: PlanFile, parts: Sequence[Part], target: str) -> Iterator[str]:
    """Yield what goes wrong with this plan under a tool of NVBit; of devices as far as the plan says."""
    places = {(each.process, each.device) for each in plan.profile.sequences}
    places |= {(part.process, part.device) for part in parts}
    for process, devices in sorted(Counter(process for process, _ in places).items()):
        if devices > 1:
            yield _SEVERAL_DEVICES.format(process=process, devices=devices, target=target)
    names = [launch.name for launch in plan.drawn if is_communication(launch.name)]
    if names:
        are = "is" if len(names) == 1 else "are"
        yield _COMMUNICATION.format(count=len(names), are=are, name=shortened(names[0], 48))


def _logs_of(part: Part) -> str:
    """Return where the scripts of a part, and of those like it, leave what the simulator prints."""
    return "*/run*/run.log" if part.folder else "run*/run.log"


def then_estimate(part: Part) -> str:
    """Return the end of a script that simulates: the log, and what to type then."""
    top = "/.." if part.folder else ""
    return (
        "printf '%s\\n' \"$PWD/run.log\"\n"
        f"printf '%s\\n' \"then: kernelpoint estimate '$here{top}' '$here{top}'/{_logs_of(part)}\" >&2\n"
    )


def script(comment: str, body: str, *, takes_program: bool = False) -> str:
    """Return a POSIX script: comment, settings, ``here``, the functions absolute and fail, then the body.

    With `takes_program` the words behind the script's name are the program to run, which must be there.
    """
    head = _HEAD.format(comment="\n".join(f"# {line}" for line in comment.split("\n")))
    return head + (_WANTS_PROGRAM if takes_program else "") + body


def slurm(part: Part, *, takes_program: bool = False) -> tuple[tuple[str, str], ...]:
    """Return the job array that runs each shard's ``run-N.sh``; nothing for one shard."""
    if len(part.shards) == 1:
        return ()
    arguments = " PROGRAM [ARGUMENT...]" if takes_program else ""
    return ((f"{part.folder}slurm.sh", _SLURM.format(shards=len(part.shards), arguments=arguments)),)


def quoted(text: object) -> str:
    """Return a text as one word of a shell."""
    return shlex.quote(str(text))
