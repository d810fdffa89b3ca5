"""Simulated runs of one program on GPUs of several sizes, and a larger GPU by waves of thread blocks.

From what GPGPU-Sim and Accel-Sim print beside launches come the number of SMs, the clocks, and what one SM
has, which all runs must share. (this project; docs/methods.md, 10 Scale model)
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from sampling.errors import OptionError, ProfileError
from sampling.readers.input_file import open_input, pieces
from scalemodel.accesses import BoolArray, FloatArray, IntArray
from scalemodel.measurements import Measurements
from scalemodel.predict import Prediction, Region
from scalemodel.rules import Bounds

#: What a prediction launch by launch is called beside those of the scale rules.
METHOD = "waves"

# Behind the value comes what it means: a sentence that begins with an option's name is none.
_OPTION = re.compile(rb"^(-[a-z]\w*(?::\w+)?)[ \t]+([^\s#]\S*)[ \t]*+(?=[#\r\n]|\Z)", re.MULTILINE)
# Of a trace, and of a program, printed by another thread; what follows is no configuration any more.
_BEGUN = re.compile(rb"^[ \t]*+-kernel name = |GPGPU-Sim PTX: pushing kernel '", re.MULTILINE)
_ENDED = re.compile(rb"^[ \t]*+gpu_sim_cycle = +\d", re.MULTILINE)

_NO_IPC = "its instructions are not known, so neither is its IPC"
_CLOCKS = "-gpgpu_clock_domains"
# What belongs to one SM, one slice, or the launch of a kernel: no scale model has another.
_SAME = (
    *(_CLOCKS, "-gpgpu_shader_core_pipeline", "-gpgpu_shader_cta", "-gpgpu_shader_registers"),
    *("-gpgpu_num_sched_per_core", "-gpgpu_cache:dl1", "-gpgpu_unified_l1d_size", "-gpgpu_shmem_size"),
    *("-gpgpu_cache:dl2", "-gpgpu_n_sub_partition_per_mchannel"),
    *("-gpgpu_kernel_launch_latency", "-gpgpu_TB_launch_latency"),
)


@dataclass(frozen=True, slots=True)
class Printed:
    """What a simulator's log says beside its launches."""

    #: By name, with the hyphen.
    options: Mapping[str, str] = field(default_factory=dict)
    #: Launches that began and did not end.
    unfinished: int = 0

    @property
    def sms(self) -> int | None:
        """SMs of the simulated GPU; None where the configuration is not printed."""
        found = [self.options.get(f"-gpgpu_n_{of}", "") for of in ("clusters", "cores_per_cluster")]
        return int(found[0]) * int(found[1]) if all(map(str.isdigit, found)) else None


def read_printed(path: str) -> Printed:
    """Read what a log says beside its launches, gzip or xz or neither; raise ProfileError if it cannot be."""
    options: dict[str, str] = {}
    begun = ended = 0
    with open_input(path) as file:
        for _, text in pieces(file):
            if not begun:
                first = _BEGUN.search(text)
                for found in _OPTION.finditer(text, 0, first.start() if first else len(text)):
                    options.setdefault(found[1].decode(), found[2].decode("utf-8", "replace"))
            begun += len(_BEGUN.findall(text))
            ended += len(_ENDED.findall(text))
    return Printed(options, max(begun - ended, 0))


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """A simulated run, or the drawn launches of one; all arrays (n,)."""

    #: SMs of the GPU.
    size: int
    path: str
    #: Of each launch: its place in the run, or its id in the plan's profile.
    id: IntArray
    kernel: np.ndarray[tuple[int, ...], np.dtype[np.str_]]
    #: Of each, in words, and its thread blocks; "" and 0 where the grid is not known.
    grid: np.ndarray[tuple[int, ...], np.dtype[np.str_]]
    ctas: IntArray
    cycles: FloatArray
    #: Of threads, of the whole run; None where it is not known.
    instructions: float | None = None
    printed: Printed = Printed()
    #: How many launches of the program each stands for; None for one.
    weight: FloatArray | None = None

    @property
    def ipc(self) -> float | None:
        """Thread instructions a cycle of the whole run."""
        return None if self.instructions is None else self.instructions / float(self.cycles.sum())


# -- whether runs belong together -------------------------------------------------------------------------


def size_of(path: str, given: int | None, printed: Printed) -> int:
    """Return the SMs of a run.

    Raises ProfileError: the log and the user differ, or the run was cut off; OptionError: neither says it.
    """
    if printed.unfinished:
        what = f"cut off: {printed.unfinished} of its launches begun and not ended"
        raise ProfileError(what, path=path, remedy="give a run that went to its end")
    if (size := given or printed.sms) is None:
        what = f"{path} prints no configuration, so its number of SMs is not known"
        raise OptionError(what, remedy=f"say it: SIZE={path}")
    if printed.sms not in {None, size}:
        what = f"the configuration it prints has {printed.sms} SMs, not {given}"
        raise ProfileError(what, path=path, remedy="give each run its own size, or leave the size out")
    return size


def check_runs(runs: Sequence[Run]) -> None:
    """Refuse runs that are not of one program on GPUs that differ in size alone.

    Raises OptionError: two are of one size; ProfileError: they differ otherwise, in a launch or an option.
    """
    one = runs[0]
    for place, other in enumerate(runs[1:], 1):
        if other.size in {run.size for run in runs[:place]}:
            raise OptionError(f"two runs are of {other.size} SMs", remedy="give one run of each size")
        if wrong := _unlike(one, other):
            remedy = f"give runs of one program with one input, as {one.path}"
            raise ProfileError(wrong, path=other.path, remedy=remedy)
        for option in _SAME:
            here, there = other.printed.options.get(option), one.printed.options.get(option)
            if here is not None and there is not None and here != there:
                what = f"other resources of an SM, a slice or a launch: {option} is {here}, and {there}"
                if option == _CLOCKS:
                    what = f"another clock: {option} is {here}, and {there}"
                remedy = "simulate GPUs that differ in what all SMs share alone, as scale models do"
                raise ProfileError(f"{what} in {one.path}", path=other.path, remedy=remedy)


def _unlike(one: Run, other: Run) -> str | None:
    """Return how the launches of two runs differ, None where they do not."""
    if not set(other.kernel.tolist()) & set(one.kernel.tolist()):
        return f"another program: none of its kernels is in {one.path}"
    if len(one.id) != len(other.id):
        return f"its launches are not those of the other run ({len(other.id):,} launches and {len(one.id):,})"
    unlike = (one.id != other.id) | (one.kernel != other.kernel) | (one.grid != other.grid)
    if not unlike.any():
        return None
    first = int(np.argmax(unlike))
    here, there = (f"{run.kernel[first]} {run.grid[first]}".rstrip() for run in (other, one))
    return f"launch {int(other.id[first])} is {here}, and {there} in the other run"


def programs_of(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """Return the runs of each program, ascending by size: those whose launches are the same.

    A program is named by what the paths of its runs begin with and share.
    """
    programs: list[list[Run]] = []
    for run in sorted(runs, key=lambda run: run.size):
        same = [each for each in programs if _unlike(each[0], run) is None]
        if not same:
            programs += (same := [[]])
        same[0].append(run)
    named: dict[str, list[Run]] = {}
    for program in programs:
        check_runs(program)
        paths = [run.path.split("/") for run in program]
        # The first part of the paths in which runs differ: `heat-8` and `heat-16`.
        differing = next((set(parts) for parts in zip(*paths, strict=False) if len(set(parts)) > 1), None)
        part = min(differing or {"/".join(paths[0][-2:])}, key=len)
        name = part.rstrip("0123456789").rstrip("-_. ") or "run"
        names = (name, *(f"{name} {number}" for number in range(2, len(programs) + 1)))
        named[next(each for each in names if each not in named)] = program
    return named


# -- a larger GPU -----------------------------------------------------------------------------------------

#: Half-width of the interval a doubling, as a fraction, and how many doublings it was measured for. Eleven of
#: twelve programs were within it: that is taken for a confidence.
OFF_A_DOUBLING, MOST_DOUBLINGS = 0.10, 2
CONFIDENCE = 0.9
# A wave's tail is told where more than this share of the last waves' places is empty.
_TAIL = 0.1


class Limit(StrEnum):
    """What keeps a launch from getting shorter in proportion to the SMs."""

    NOTHING = "its waves get fewer"
    FEW_BLOCKS = "too few thread blocks"
    NO_GAIN = "does not scale"
    SUPERLINEAR = "superlinear"
    TAIL = "a tail of a wave"


class ByWaves(NamedTuple):
    """The launches of a run on a larger GPU."""

    #: The larger of the two runs that were simulated, and SMs of the smaller one and of the larger GPU.
    run: Run
    smaller: int
    target: int
    #: (n,) cycles of each launch, and what limits it, of type `Limit`.
    cycles: FloatArray
    limit: np.ndarray[tuple[int, ...], np.dtype[np.object_]]

    @property
    def half_width(self) -> float | None:
        """How far a total may be off, as a fraction; None beyond the doublings that were measured."""
        doublings = math.log2(self.target / self.run.size)
        return OFF_A_DOUBLING * doublings if doublings <= MOST_DOUBLINGS else None

    def limits(self, which: BoolArray | None = None) -> list[tuple[float, str]]:
        """Return the share of the cycles of all launches, or some, by what limits them, the largest first."""
        here = np.ones(len(self.cycles), dtype=np.bool_) if which is None else which
        kinds, of = np.unique(self.limit[here].astype(str), return_inverse=True)
        cycles = (self.cycles if self.run.weight is None else self.cycles * self.run.weight)[here]
        shares = np.bincount(of, cycles) / cycles.sum()
        return sorted(zip(shares.tolist(), kinds.tolist(), strict=True), reverse=True)


def predict_by_waves(smaller: Run, larger: Run, target: int) -> ByWaves:
    """Return the cycles of every launch on a larger GPU, with nothing fitted.

    The thread blocks of a launch run in waves: one more than the SMs hold begins another. With m(n) the waves
    on n SMs, its cycles go as T(n) = a + b m(n), through the two sizes that were simulated:

        m(n) = ceil(CTAs / n)
        T_T  = T_L                                                           where T_L >= T_S or m_S = m_L
               max(T_L - (T_S - T_L) / (m_S - m_L) (m_L - m_T),  T_L m_T / m_L)        elsewhere

    What does not get shorter from the smaller to the larger does not on from there; no launch gains more than
    its waves: a cliff between the two sizes is not gained a second time. The interval is what was measured on
    twelve real programs: 4.2 % off in the mean, 14.8 % at worst.

    Given are runs of the same launches on two GPUs whose sizes in SMs ascend to the target. Raises
    OptionError: they do not, or a grid is not known.
    """
    small, large, ctas = smaller.size, larger.size, larger.ctas
    if not 0 < small < large < target:
        what = f"{target} SMs are not predicted from {small} and {large}"
        raise OptionError(what, remedy="give runs of two sizes and a target above both")
    if (ctas < 1).any():
        what = "the grid of a launch is not known"
        raise OptionError(what, remedy="give logs that print it, or a table that has it")
    waves_small, waves_large, waves = (-(-ctas // size) for size in (small, large, target))
    gain = (smaller.cycles - larger.cycles) / np.maximum(waves_small - waves_large, 1)
    by_line, least = larger.cycles - gain * (waves_large - waves), larger.cycles * waves / waves_large
    no_gain, few = larger.cycles >= smaller.cycles, (waves_small == waves_large) | (waves == waves_large)
    cycles = np.where(no_gain | (waves_small == waves_large), larger.cycles, np.maximum(by_line, least))
    tail = ctas < (1 - _TAIL) * waves * target
    limits = np.array(list(Limit), dtype=object)
    limit = limits[np.select([few, no_gain, by_line < least, tail], [1, 2, 3, 4], 0)]
    return ByWaves(larger, small, target, cycles, limit)


def waves_of(runs: Sequence[Run], target: int) -> ByWaves:
    """Return the launches at a target from the two largest runs below it.

    Raises OptionError: there are not two, or a grid is not known.
    """
    below = sorted((run for run in runs if run.size < target), key=lambda run: run.size)
    if len(below) < 2:
        what = f"{target} SMs need two runs of fewer, and there {'is one' if below else 'are none'}"
        remedy = "give --run SIZE=LOG, the SMs of the simulated GPU and what its simulator printed"
        raise OptionError(what, remedy=remedy)
    return predict_by_waves(below[-2], below[-1], target)


def predicted_by_waves(runs: Sequence[Run], target: int) -> Prediction:
    """Return the IPC of a larger GPU as a prediction of the method `waves`, beside those of the rules."""
    found = waves_of(runs, target)
    off, run = found.half_width, found.run
    if run.instructions is None:
        raise ProfileError(_NO_IPC, path=run.path)
    ipc = run.instructions / float(found.cycles.sum())
    note = f"launch by launch from {found.smaller} and {run.size} SMs"
    if off is None:
        note += "; beyond two doublings nothing was measured"
        return Prediction(target, METHOD, ipc, None, None, Region.TREND, note)
    low, high = ipc / (1 + off), ipc / (1 - off)
    return Prediction(target, METHOD, ipc, low, high, Region.TREND, note, Bounds.MEASURED)


def measurements_of_runs(name: str, runs: Sequence[Run]) -> Measurements:
    """Return the IPC of whole runs as measurements; ProfileError where one's instructions are not known."""
    ipc = {}
    for run in runs:
        if run.ipc is None:
            remedy = "give a log, or a table with a column instructions"
            raise ProfileError(_NO_IPC, path=run.path, remedy=remedy)
        ipc[run.size] = run.ipc
    return Measurements(name, ipc, {}, {})


class KernelRow(NamedTuple):
    """A kernel on a larger GPU: its share of the predicted cycles, those of the larger run over them."""

    kernel: str
    launches: int
    cycles: float
    share: float
    speedup: float
    limit: str


def kernel_rows(waves: ByWaves) -> list[KernelRow]:
    """Return what is predicted of each kernel, those of most cycles first; launches weigh as in the run."""
    run = waves.run
    kernels, of_launch = np.unique(run.kernel, return_inverse=True)
    weight = np.ones(len(run.id)) if run.weight is None else run.weight
    cycles, before = (np.bincount(of_launch, weight * each) for each in (waves.cycles, run.cycles))
    launches = np.rint(np.bincount(of_launch, weight)).astype(np.int64)
    return [
        KernelRow(
            str(kernels[kernel]),
            int(launches[kernel]),
            float(cycles[kernel]),
            float(cycles[kernel] / cycles.sum()),
            float(before[kernel] / cycles[kernel]),
            waves.limits(of_launch == kernel)[0][1],
        )
        for kernel in np.argsort(-cycles, kind="stable").tolist()
    ]
