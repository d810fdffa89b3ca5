"""A larger GPU, launch by launch, from simulated runs on two small ones: by waves of thread blocks.

(this project; docs/methods.md, 10 Scale model)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sampling.errors import OptionError, ProfileError
from sampling.record import Record
from scalemodel.accesses import BoolArray, FloatArray
from scalemodel.predict import Prediction, Region
from scalemodel.rules import Bounds
from scalemodel.runs import CYCLES, GIVE_RUN, NO_IPC, SimulatedRun

if TYPE_CHECKING:
    from sampling.estimation.total import PlanEstimate
    from sampling.plan.plan_file import PlanFile

#: What a prediction launch by launch is called beside those of the scale rules.
METHOD = "waves"
#: Half-width of the interval a doubling, as a fraction, and how many doublings it was measured for. Eleven of
#: twelve programs were within it: that is taken for a confidence.
ERROR_OF_DOUBLING, MOST_DOUBLINGS = 0.10, 2
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


class Waves(NamedTuple):
    """The launches of a run on a larger GPU."""

    #: The larger of the two runs that were simulated, and SMs of the smaller one and of the larger GPU.
    run: SimulatedRun
    smaller: int
    target: int
    #: (n,) cycles of each launch, and what limits it, of type `Limit`.
    cycles: FloatArray
    limit: np.ndarray[tuple[int, ...], np.dtype[np.object_]]

    @property
    def half_width(self) -> float | None:
        """How far a total may be off, as a fraction; None beyond the doublings that were measured."""
        doublings = math.log2(self.target / self.run.size)
        return ERROR_OF_DOUBLING * doublings if doublings <= MOST_DOUBLINGS else None

    def limits(self, mask: BoolArray | None = None) -> list[tuple[float, str]]:
        """Return the share of the cycles of all launches, or some, by what limits them, the largest first."""
        mask = np.ones(len(self.cycles), dtype=np.bool_) if mask is None else mask
        kinds, index = np.unique(self.limit[mask].astype(str), return_inverse=True)
        cycles = (self.cycles if self.run.weight is None else self.cycles * self.run.weight)[mask]
        shares = np.bincount(index, cycles) / cycles.sum()
        return sorted(zip(shares.tolist(), kinds.tolist(), strict=True), reverse=True)


def predict_by_waves(smaller: SimulatedRun, larger: SimulatedRun, target: int) -> Waves:
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
        message = f"{target} SMs are not predicted from {small} and {large}"
        raise OptionError(message, remedy="give runs of two sizes and a target above both")
    if (ctas < 1).any():
        message = "the grid of a launch is not known"
        raise OptionError(message, remedy="give logs that print it, or a table that has it")
    waves_small, waves_large, waves = (-(-ctas // size) for size in (small, large, target))
    gain = (smaller.cycles - larger.cycles) / np.maximum(waves_small - waves_large, 1)
    by_line, by_ratio = larger.cycles - gain * (waves_large - waves), larger.cycles * waves / waves_large
    no_gain = larger.cycles >= smaller.cycles
    same_waves = (waves_small == waves_large) | (waves == waves_large)
    cycles = np.where(no_gain | (waves_small == waves_large), larger.cycles, np.maximum(by_line, by_ratio))
    tail = ctas < (1 - _TAIL) * waves * target
    limits = np.array(list(Limit), dtype=object)
    limit = limits[np.select([same_waves, no_gain, by_line < by_ratio, tail], [1, 2, 3, 4], 0)]
    return Waves(larger, small, target, cycles, limit)


def predict_launches(runs: Sequence[SimulatedRun], target: int) -> Waves:
    """Return the launches at a target from the two largest runs below it.

    Raises OptionError: there are not two, or a grid is not known.
    """
    below = sorted((run for run in runs if run.size < target), key=lambda run: run.size)
    if len(below) < 2:
        message = f"{target} SMs need two runs of fewer, and there {'is one' if below else 'are none'}"
        raise OptionError(message, remedy=GIVE_RUN)
    return predict_by_waves(below[-2], below[-1], target)


def predict_ipc(runs: Sequence[SimulatedRun], target: int) -> Prediction:
    """Return the IPC of a larger GPU as a prediction of the method `waves`, beside those of the rules."""
    waves = predict_launches(runs, target)
    half_width, run = waves.half_width, waves.run
    if run.instructions is None:
        raise ProfileError(NO_IPC, path=run.path)
    ipc = run.instructions / float(waves.cycles.sum())
    note = f"launch by launch from {waves.smaller} and {run.size} SMs"
    if half_width is None:
        note += "; beyond two doublings nothing was measured"
        return Prediction(target, METHOD, ipc, None, None, Region.TREND, note)
    low, high = ipc / (1 + half_width), ipc / (1 - half_width)
    return Prediction(target, METHOD, ipc, low, high, Region.TREND, note, Bounds.MEASURED)


# -- records ----------------------------------------------------------------------------------------------


class KernelOnTarget(Record, frozen=True):
    """A kernel on a larger GPU: its share of the predicted cycles, those of the larger run over them."""

    kernel: str
    launches: int
    cycles: float
    share: float
    speedup: float
    limit: str


class LargerGpu(Record, frozen=True, kw_only=True, rename={"models": "from"}):
    """The whole run on a larger GPU; the ends are None where nothing was measured so far from the models."""

    target: int
    models: tuple[int, int]
    cycles: float
    low: float | None
    high: float | None
    confidence: float | None
    ipc: float | None
    #: Half-widths of the interval, as fractions: of the way to the target, of which launches a plan draws, of
    #: caches that were cold.
    scale_error: float | None
    sampling_error: float | None
    caches_error: float | None
    measured: float | None
    error: float | None


class RunSummary(Record, frozen=True):
    """A run that was simulated."""

    size: int
    path: str
    launches: int
    cycles: float
    ipc: float | None


class RunsPrediction(Record, frozen=True):
    """Larger GPUs launch by launch, and the kernels of the last one where they are asked for."""

    method: str
    runs: tuple[RunSummary, ...]
    predictions: tuple[LargerGpu, ...]
    kernels: tuple[KernelOnTarget, ...]


class LargerRun(NamedTuple):
    """A larger GPU as it is predicted."""

    waves: Waves
    gpu: LargerGpu
    #: Of the whole from the drawn launches; None where all were simulated.
    estimate: PlanEstimate | None


def predict_larger_gpus(
    runs: Sequence[SimulatedRun], targets: Sequence[int], plan: PlanFile | None = None
) -> list[LargerRun]:
    """Return the GPU of each target; of a plan the whole run that its launches stand for, in one interval."""
    return [_predict_larger_gpu(runs, target, plan) for target in targets]


def _predict_larger_gpu(runs: Sequence[SimulatedRun], target: int, plan: PlanFile | None) -> LargerRun:
    waves = predict_launches(runs, target)
    run, half_width = waves.run, waves.half_width
    if plan is None:
        estimate = parts = None
        total = float(waves.cycles.sum())
        low: float | None = total * (1 - (half_width or 0.0))
        high: float | None = total * (1 + (half_width or 0.0))
        measured = next((float(run.cycles.sum()) for run in runs if run.size == target), None)
    else:
        estimate = _estimate_plan(waves, plan)
        total, low, high = estimate.main.total, estimate.main.low, estimate.main.high
        parts, measured = estimate.parts, None
    gpu = LargerGpu(
        target=target,
        models=(waves.smaller, run.size),
        cycles=total,
        low=None if half_width is None else low,
        high=None if half_width is None else high,
        confidence=None if half_width is None else CONFIDENCE,
        ipc=None if run.instructions is None else run.instructions / total,
        scale_error=half_width,
        sampling_error=None if parts is None else parts.sampling,
        caches_error=None if parts is None else parts.cold_check,
        measured=measured,
        error=None if measured is None else total / measured - 1,
    )
    return LargerRun(waves, gpu, estimate)


def _estimate_plan(waves: Waves, plan: PlanFile) -> PlanEstimate:
    """Return the whole run that the predicted cycles of a plan's launches stand for."""
    from sampling.estimation.total import estimate_plan
    from sampling.simulators.results import SimulatedLaunches

    run, results = waves.run, waves.run.results
    caches: tuple[str, ...] = ()
    if results is not None and results.caches:
        is_known = np.isin(results.ids, run.id)
        caches = tuple(
            state for state, has_cycles in zip(results.caches, is_known, strict=True) if has_cycles
        )
    launches = SimulatedLaunches(run.id, {CYCLES: waves.cycles}, caches=caches)
    return estimate_plan(plan, launches, confidence=CONFIDENCE, scale_error=waves.half_width or 0.0)


def list_kernels(waves: Waves) -> list[KernelOnTarget]:
    """Return what is predicted of each kernel, those of most cycles first; launches weigh as in the run."""
    run = waves.run
    kernels, index = np.unique(run.kernel, return_inverse=True)
    weight = np.ones(len(run.id)) if run.weight is None else run.weight
    cycles, before = (np.bincount(index, weight * values) for values in (waves.cycles, run.cycles))
    launches = np.rint(np.bincount(index, weight)).astype(np.int64)
    return [
        KernelOnTarget(
            str(kernels[kernel]),
            int(launches[kernel]),
            float(cycles[kernel]),
            float(cycles[kernel] / cycles.sum()),
            float(before[kernel] / cycles[kernel]),
            waves.limits(index == kernel)[0][1],
        )
        for kernel in np.argsort(-cycles, kind="stable").tolist()
    ]


def summarize_runs(
    runs: Sequence[SimulatedRun], larger: Sequence[LargerRun], *, kernels: bool = False
) -> RunsPrediction:
    """Return runs and the GPUs predicted from them as one record."""
    return RunsPrediction(
        METHOD,
        tuple(RunSummary(run.size, run.path, len(run.id), float(run.cycles.sum()), run.ipc) for run in runs),
        tuple(run.gpu for run in larger),
        tuple(list_kernels(larger[-1].waves)) if kernels else (),
    )
