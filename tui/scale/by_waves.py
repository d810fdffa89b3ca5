"""`scale predict --run`: from the logs of two simulated GPUs to a larger one, launch by launch."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.errors import OptionError, ProfileError
from sampling.estimation.plan_estimate import PlanEstimate, estimate_plan
from sampling.plan.plan_file import PlanFile, read_plan
from sampling.profile.names import short_name
from sampling.readers.registry import read_profile
from sampling.simulators.results import SimulatedLaunches, read_result_files
from sampling.text import counted
from scalemodel.waves import OFF_A_DOUBLING, ByWaves, predict_by_waves
from tui.charts.quantities import share
from tui.options.scale import ScalePredictOptions
from tui.output.markdown import Block
from tui.output.writer import Answer, Canvas
from tui.scale.typed_values import sizes_of
from tui.terminal.tables import Column, names, table

_CYCLES = "cycles"
_MOST_KERNELS = 20
_SIZE_OF_RUN = "give --run SIZE=LOG, the SMs of the simulated GPU and what its simulator printed"


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """A simulated run, or the drawn launches of one; all arrays (n,).

    Attributes
    ----------
    size : SMs of the GPU.
    id : of each launch: its place in the run, or its id in the plan's profile.
    kernel : name and grid of each, in words.
    ctas : thread blocks of each, 0 where the grid is not known.
    instructions : of the whole run; None where it is not known.
    """

    size: int
    path: str
    id: IntArray
    kernel: np.ndarray[tuple[int, ...], np.dtype[np.str_]]
    ctas: IntArray
    cycles: FloatArray
    instructions: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Larger:
    """A larger GPU as it is predicted.

    Attributes
    ----------
    cycles, low, high : of the whole; both ends None where nothing was measured so far from the runs.
    measured : cycles of the run that was given at this size; None without one.
    drawn : share of the half-width that which launches were drawn brings; None where all were simulated.
    """

    waves: ByWaves
    larger: Run
    cycles: float
    low: float | None
    high: float | None
    measured: float | None
    drawn: float | None = None

    @property
    def ipc(self) -> float | None:
        """Instructions of the whole run over the predicted cycles."""
        return None if self.larger.instructions is None else self.larger.instructions / self.cycles


def answer_by_waves(options: ScalePredictOptions) -> Answer:
    """Return what `scale predict` says of runs.

    Raises
    ------
    OptionError : there are fewer than two runs below a target, or no target.
    ProfileError : a run cannot be read, or is of another program than the others.
    """
    plan = None if options.plan is None else read_plan(options.plan)
    runs = sorted((_read(text, plan) for text in options.run), key=lambda run: run.size)
    targets = sizes_of("--target", options.target) or tuple(run.size for run in runs[2:])
    if not targets:
        raise OptionError("no target is given", remedy="say which GPUs are asked for: --target 32,64,128")
    for run in runs[1:]:
        if run.size == runs[0].size:
            raise OptionError(f"two runs are of {run.size} SMs", remedy=_SIZE_OF_RUN)
        _check_same(runs[0], run)
    found = [_predicted(runs, target, plan) for target in targets]
    rows = [_row(each) for each in found]
    results = {
        "runs": [
            {"size": run.size, "path": run.path, "launches": len(run.id), "cycles": float(run.cycles.sum())}
            for run in runs
        ],
        "predictions": rows,
        "kernels": _kernel_rows(found[-1]) if options.kernels else [],
    }
    return Answer(
        "scale predict",
        results,
        lambda canvas: _text(found, options, canvas),
        rows=results["kernels"] if options.kernels else rows,
        blocks=lambda _: _blocks(found, options),
    )


def _read(text: str, plan: PlanFile | None) -> Run:
    size, equals, path = text.partition("=")
    if not equals or not size.strip().isdigit() or not path:
        raise OptionError(f"--run {text} is not SIZE=LOG", remedy=_SIZE_OF_RUN)
    return _whole_run(int(size), path) if plan is None else _drawn_run(int(size), path, plan)


def _whole_run(size: int, path: str) -> Run:
    profile = read_profile([path])
    batches = [profile.read(span, ("duration_ns", "signature")) for span in profile.spans]
    signature = np.concatenate([batch["signature"] for batch in batches])
    shapes = profile.kernels.signature_rows()
    kernel = np.array([_words(profile.kernels.names.full(row[0]), row[1:4]) for row in shapes.tolist()])
    executed = None
    if "instructions" in profile.metric_names:
        parts = [profile.read_metrics(span, ("instructions",))["instructions"] for span in profile.spans]
        executed = float(np.concatenate(parts).sum())
    cycles = np.concatenate([batch["duration_ns"] for batch in batches]).astype(np.float64)
    ctas = shapes[:, 1:4].prod(axis=1)[signature]
    return Run(size, path, np.arange(len(cycles)), kernel[signature], ctas, cycles, executed)


def _drawn_run(size: int, path: str, plan: PlanFile) -> Run:
    """Return the launches of a plan that a simulator's results have the cycles of."""
    results = read_result_files(plan, (path,))
    drawn = {launch.id: launch for launch in plan.drawn}
    cycles = results.metrics.get(_CYCLES, np.full(len(results.ids), np.nan))
    known = ~np.isnan(cycles)
    launches = [drawn[each] for each in results.ids[known].tolist()]
    grids = [launch.grid or (0, 0, 0) for launch in launches]
    kernel = np.array([_words(each.name, grid) for each, grid in zip(launches, grids, strict=True)])
    ctas = np.array(grids, dtype=np.int64).reshape(-1, 3).prod(axis=1)
    return Run(size, path, results.ids[known], kernel, ctas, cycles[known])


def _words(name: str, grid: Sequence[int]) -> str:
    return f"{name} ({', '.join(map(str, grid))})"


def _check_same(one: Run, other: Run) -> None:
    """Refuse runs that are not of the same launches.

    Raises
    ------
    ProfileError : they differ; names the first launch that does.
    """
    remedy = f"give runs of one program with one input, as that of {one.path}"
    if len(one.id) != len(other.id) or (one.id != other.id).any():
        both = f"{counted(len(other.id), 'launch', 'launches')} and {len(one.id):,}"
        raise ProfileError(
            f"its launches are not those of the other run ({both})", path=other.path, remedy=remedy
        )
    unlike = np.flatnonzero(one.kernel != other.kernel)
    if len(unlike):
        first = int(unlike[0])
        here, there = other.kernel[first], one.kernel[first]
        raise ProfileError(
            f"launch {int(one.id[first])} is {here}, and {there} in the other run",
            path=other.path,
            remedy=remedy,
        )


def _predicted(runs: Sequence[Run], target: int, plan: PlanFile | None) -> Larger:
    below = [run for run in runs if run.size < target]
    if len(below) < 2:
        there = "is one" if len(below) == 1 else "are none"
        raise OptionError(f"{target} SMs need two runs of fewer, and there {there}", remedy=_SIZE_OF_RUN)
    smaller, larger = below[-2:]
    waves = predict_by_waves(larger.ctas, smaller.cycles, larger.cycles, (smaller.size, larger.size), target)
    truth = next((float(run.cycles.sum()) for run in runs if run.size == target), None)
    if plan is not None:
        return _of_plan(plan, waves, larger)
    total, off = float(waves.cycles.sum()), waves.half_width
    low, high = (None, None) if off is None else (total * (1 - off), total * (1 + off))
    return Larger(waves, larger, total, low, high, truth)


def _of_plan(plan: PlanFile, waves: ByWaves, larger: Run) -> Larger:
    """Return the whole run that the predicted launches of a plan stand for; one interval for both errors."""
    predicted = SimulatedLaunches(larger.id, {_CYCLES: waves.cycles})
    found: PlanEstimate = estimate_plan(plan, predicted, scale_error=waves.half_width or 0.0)
    total = found.main
    low, high = (None, None) if waves.half_width is None else (total.low, total.high)
    drawn = None if found.parts is None else found.parts.sampling
    return Larger(waves, larger, total.total, low, high, None, drawn)


def _row(found: Larger) -> dict[str, Any]:
    return {
        "target": found.waves.target,
        "from": list(found.waves.sizes),
        "cycles": found.cycles,
        "low": found.low,
        "high": found.high,
        "ipc": found.ipc,
        "scale_error": found.waves.half_width,
        "sampling_error": found.drawn,
        "measured": found.measured,
        "error": None if found.measured is None else found.cycles / found.measured - 1,
    }


def _kernel_rows(found: Larger) -> list[dict[str, Any]]:
    """Return what is predicted of each kernel, those of most cycles first, and what limits most of it."""
    waves, run = found.waves, found.larger
    shapes, of_shape = np.unique(run.kernel, return_inverse=True)
    kernels, of_kernel = np.unique(
        [each.rpartition(" (")[0] for each in shapes.tolist()], return_inverse=True
    )
    of_launch = of_kernel[of_shape]
    cycles, before = (np.bincount(of_launch, each) for each in (waves.cycles, run.cycles))
    launches = np.bincount(of_launch)
    rows = []
    for kernel in np.argsort(-cycles, kind="stable").tolist():
        here = of_launch == kernel
        by_limit = _by_limit(waves, here)
        rows.append(
            {
                "kernel": str(kernels[kernel]),
                "launches": int(launches[kernel]),
                "cycles": float(cycles[kernel]),
                "share": float(cycles[kernel] / cycles.sum()),
                "speedup": float(before[kernel] / cycles[kernel]),
                "limit": by_limit[0][1],
            }
        )
    return rows


def _by_limit(waves: ByWaves, here: np.ndarray[Any, Any]) -> list[tuple[float, str]]:
    """Return the share of the predicted cycles by what limits them, the largest first."""
    limits, of = np.unique(waves.limit[here].astype(str), return_inverse=True)
    shares = np.bincount(of, waves.cycles[here]) / waves.cycles[here].sum()
    return sorted(zip(shares.tolist(), limits.tolist(), strict=True), reverse=True)


def _sentence(found: Larger) -> str:
    small, large = found.waves.sizes
    words = f"{found.waves.target} SMs: {found.cycles:,.0f} cycles"
    if found.low is not None and found.high is not None:
        words += f", {found.low:,.0f} to {found.high:,.0f}"
    words += f", launch by launch from {small} and {large} SMs"
    if found.measured is not None:
        off = found.cycles / found.measured - 1
        words += (
            f"; the run there took {found.measured:,.0f}, {share(abs(off))} {'less' if off > 0 else 'more'}"
        )
    return words


def _explained(found: Sequence[Larger]) -> Iterator[str]:
    last = found[-1]
    by_limit = _by_limit(last.waves, np.full(len(last.larger.id), True))
    yield f"what the cycles at {last.waves.target} SMs go to: " + ", ".join(
        f"{share(part)} {limit}" for part, limit in by_limit
    )
    off = share(OFF_A_DOUBLING)
    said = f"the interval: {off} a doubling of SMs, as twelve programs showed"
    if last.drawn is not None:
        said += f", and {share(last.drawn)} for which launches were drawn"
    if any(each.low is None for each in found):
        said += "; beyond two doublings nothing was measured, and none is given"
    yield said


def _columns(found: Sequence[Larger]) -> tuple[Column, ...]:
    def cells(value: Callable[[Larger], float | None], form: str) -> list[str]:
        return ["-" if (each := value(one)) is None else format(each, form) for one in found]

    return (
        Column("SMs", [str(each.waves.target) for each in found]),
        Column("cycles", cells(lambda each: each.cycles, ",.0f")),
        Column("low", cells(lambda each: each.low, ",.0f")),
        Column("high", cells(lambda each: each.high, ",.0f")),
        Column("IPC", cells(lambda each: each.ipc, ".4g")),
        Column("measured", cells(lambda each: each.measured, ",.0f")),
    )


def _kernel_columns(found: Larger) -> tuple[Column, ...]:
    rows = _kernel_rows(found)[:_MOST_KERNELS]
    small = found.waves.sizes[1]
    return (
        Column("share", [share(row["share"]) for row in rows]),
        Column("cycles", [f"{row['cycles']:,.0f}" for row in rows]),
        Column(f"over {small} SMs", [f"{row['speedup']:.2f}x" for row in rows]),
        Column("launches", [f"{row['launches']:,}" for row in rows]),
        Column("what limits it", [row["limit"] for row in rows], to_right=False),
        names("kernel", [short_name(row["kernel"]) for row in rows]),
    )


def _blocks(found: Sequence[Larger], options: ScalePredictOptions) -> Iterator[Block]:
    yield _sentence(found[0])
    yield _columns(found)
    yield from _explained(found)
    if options.kernels:
        yield _kernel_columns(found[-1])


def _text(found: Sequence[Larger], options: ScalePredictOptions, canvas: Canvas) -> str:
    width = options.width or canvas.width
    lines = []
    for block in _blocks(found, options):
        if isinstance(block, str):
            lines += textwrap.wrap(block, width, subsequent_indent="  ", break_on_hyphens=False)
        else:
            lines += ["", *table(block, ascii_only=canvas.ascii_only).splitlines(), ""]
    if not options.kernels:
        lines.append("next: --kernels says which kernels these are")
    return "\n".join(lines).rstrip()
