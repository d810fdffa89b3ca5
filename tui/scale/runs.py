"""What `scale predict --run` says of a larger GPU, launch by launch from runs: data and words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from sampling.errors import OptionError
from sampling.plan.plan_file import read_plan
from sampling.profile.names import short_name
from sampling.text import counted
from scalemodel.runs import read_runs
from scalemodel.waves import (
    CONFIDENCE,
    ERROR_OF_DOUBLING,
    KernelOnTarget,
    LargerRun,
    list_kernels,
    predict_larger_gpus,
    summarize_runs,
)
from tui.charts.quantities import share
from tui.options.scale import ScalePredictOptions, parse_sizes
from tui.output.blocks import Block
from tui.output.writer import CommandResult
from tui.terminal.printable import Column, names

_MOST_KERNELS, _MOST_NAMED = 20, 3
_DECIDING = 0.5
_OF_RULES = (
    *("ipc", "mpki", "mpki_from", "f_mem", "assume_f_mem", "peak_ipc_per_sm"),
    *("files", "benchmark", "simulated", "scaling", "mpki_unit"),
)


def answer_by_waves(options: ScalePredictOptions) -> CommandResult:
    """Return what `scale predict` says of runs.

    Raises OptionError: there are fewer than two runs below a target, or no target; ProfileError: a run cannot
    be read, or is not of the same launches as the others.
    """
    stray = next((name for name in _OF_RULES if getattr(options, name) not in {None, False, ()}), None)
    if stray is not None:
        flag = f"--{stray.replace('_', '-')}"
        message = f"{flag} is of the rules for whole runs, and launch by launch is asked for"
        raise OptionError(message, remedy="leave it out, or give --rule additive")
    if options.confidence != CONFIDENCE:
        message = (
            f"--confidence {options.confidence:g}: of launch by launch there is an interval at {CONFIDENCE:g}"
        )
        raise OptionError(message, remedy="leave it out, or give --rule additive")
    plan = None if options.plan is None else read_plan(options.plan)
    runs = read_runs(options.run, plan)
    targets = parse_sizes("--target", options.target) or tuple(run.size for run in runs[2:])
    if not targets:
        raise OptionError("no target is given", remedy="say which GPUs are asked for: --target 32,64,128")
    larger = predict_larger_gpus(runs, targets, plan)
    prediction = summarize_runs(runs, larger, kernels=options.kernels)
    return CommandResult(
        "scale predict",
        prediction,
        rows=prediction.kernels if options.kernels else prediction.predictions,
        blocks=lambda _: runs_blocks(larger, kernels=options.kernels),
    )


def runs_blocks(larger: Sequence[LargerRun], *, kernels: bool) -> Iterator[Block]:
    """Yield the answer, the figures, which kernels decide, what limits them, and if asked a row a kernel."""
    first, last = larger[0].gpu, larger[-1].waves
    small, large = first.models
    sentence = f"{first.target} SMs: {first.cycles:,.0f} cycles"
    if first.low is not None:
        sentence += f", {first.low:,.0f} to {first.high:,.0f} ({100 * CONFIDENCE:.0f} % sure)"
    sentence += f", launch by launch from {small} and {large} SMs"
    if first.measured is not None and first.error is not None:
        than = "less" if first.error > 0 else "more"
        sentence += f"; the run there took {first.measured:,.0f}, {share(abs(first.error))} {than}"
    yield from (sentence, "")
    forms = {
        "target": "",
        **dict.fromkeys(("cycles", "low", "high"), ",.0f"),
        "ipc": ".4g",
        "measured": ",.0f",
    }
    yield tuple(
        Column(
            {"target": "SMs", "ipc": "IPC"}.get(key, key),
            ["-" if (value := getattr(run.gpu, key)) is None else format(value, form) for run in larger],
        )
        for key, form in forms.items()
    )
    yield ""
    rows = list_kernels(last)
    yield from _explained(larger[-1], rows, is_beyond=any(run.gpu.low is None for run in larger))
    if not kernels:
        yield "next: --kernels gives a row a kernel"
        return
    rows = rows[:_MOST_KERNELS]
    yield ""
    yield (
        Column("share", [share(row.share) for row in rows]),
        Column("cycles", [f"{row.cycles:,.0f}" for row in rows]),
        Column(f"over {last.run.size} SMs", [f"{row.speedup:.2f}x" for row in rows]),
        Column("launches", [f"{row.launches:,}" for row in rows]),
        Column("what limits it", [row.limit for row in rows], to_right=False),
        names("kernel", [short_name(row.kernel) for row in rows]),
    )


def _explained(larger: LargerRun, rows: Sequence[KernelOnTarget], *, is_beyond: bool) -> Iterator[str]:
    """Yield which kernels have most of the predicted cycles, what limits them, what the interval is of."""
    target, summed = larger.waves.target, np.cumsum([row.share for row in rows])
    count = min(int(np.searchsorted(summed, _DECIDING)) + 1, _MOST_NAMED)
    named = ", ".join(f"{short_name(row.kernel)} ({share(row.share)}, {row.limit})" for row in rows[:count])
    which = f"{count} of {counted(len(rows), 'kernel')}"
    yield f"{share(float(summed[count - 1]))} of the cycles at {target} SMs are of {which}: {named}"
    parts_of = ", ".join(f"{share(part)} {limit}" for part, limit in larger.waves.limits())
    yield f"what the cycles at {target} SMs go to: {parts_of}"
    doubling = f"{share(ERROR_OF_DOUBLING)} a doubling of SMs"
    sentence = f"the interval: {doubling}, which held for eleven of twelve programs"
    parts = None if larger.estimate is None else larger.estimate.parts
    if parts is not None and parts.sampling is not None:
        sentence += f", and {share(parts.sampling)} for which launches were drawn"
    if parts is not None and parts.cold_check:
        sentence += f", and {share(parts.cold_check)} for caches that were cold"
    if is_beyond:
        sentence += "; beyond two doublings nothing was measured, and none is given"
    yield sentence
    if larger.estimate is not None and (caches := larger.estimate.caches.said):
        yield f"the caches: {caches}"
