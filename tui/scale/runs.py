"""Simulated runs: read from logs or tables, and the larger GPU that `scale predict --run` says of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sampling.errors import OptionError, ProfileError
from sampling.estimation.total import PlanEstimate, estimate_plan
from sampling.plan.plan_file import PlanFile, read_plan
from sampling.profile.names import short_name
from sampling.readers.columns import column_map
from sampling.readers.folders import MOST_ENTRIES
from sampling.readers.gpgpu_sim_output import recognise
from sampling.readers.input_file import ReadOptions, open_input
from sampling.readers.registry import read_profile
from sampling.simulators.results import SimulatedLaunches, read_result_files
from sampling.text import counted
from scalemodel.from_logs import (
    CONFIDENCE,
    METHOD,
    OFF_A_DOUBLING,
    ByWaves,
    KernelRow,
    Printed,
    Run,
    check_runs,
    kernel_rows,
    read_printed,
    size_of,
    waves_of,
)
from tui.charts.quantities import share
from tui.options.scale import ScalePredictOptions, sizes_of
from tui.output.blocks import Block
from tui.output.writer import Answer
from tui.terminal.printable import Column, names

_CYCLES = "cycles"
_LOG_NAME = re.compile(r"\.(log|txt|out)(\.gz|\.xz)?$")
_MOST_KERNELS, _MOST_NAMED = 20, 3
_DECIDING = 0.5
_OF_RULES = (
    *("ipc", "mpki", "mpki_from", "f_mem", "assume_f_mem", "peak_ipc_per_sm"),
    *("files", "benchmark", "simulated", "scaling", "mpki_unit"),
)
_SIZE_OF_RUN = "give --run SIZE=LOG, the SMs of the simulated GPU and what its simulator printed"


def is_run(text: str) -> bool:
    """Return whether a word names what a simulator printed, or SIZE=FILE of a run."""
    size, equals, path = text.partition("=")
    if equals and size.strip().isdigit() and Path(path).is_file():
        return True
    return text != "-" and Path(text).is_file() and _is_log(text)


def _is_log(path: str) -> bool:
    with open_input(path) as file:
        return recognise(file)


def logs_in(folder: str) -> list[str]:
    """Return what simulators printed among the files named as logs in a folder and its folders, in order.

    Raises ProfileError: there is none, or more in it than `MOST_ENTRIES`.
    """
    entries = list(islice(chain.from_iterable(map(Path(folder).glob, ("*", "*/*"))), MOST_ENTRIES + 1))
    if len(entries) > MOST_ENTRIES:
        what = f"it and its folders have more files than {MOST_ENTRIES:,}"
        raise ProfileError(what, path=folder, remedy="give the logs, or the folder of a run")
    named = (str(path) for path in entries if _LOG_NAME.search(path.name))
    found = sorted(path for path in named if is_run(path))
    if not found:
        remedy = "give one with what GPGPU-Sim or Accel-Sim printed, as run.log or run.txt"
        raise ProfileError("no log of a simulator is in it or in its folders", path=folder, remedy=remedy)
    return found


def read_run(text: str, plan: PlanFile | None = None) -> tuple[Run, SimulatedLaunches | None]:
    """Return the run that SIZE=FILE or FILE names; of a plan its drawn launches, with their results.

    Raises OptionError: it is of neither form; ProfileError: it cannot be read, was cut off, or
    its size is not known.
    """
    size, equals, path = text.partition("=")
    given = int(size) if equals and size.strip().isdigit() else None
    path = path if given is not None else text
    if not path or (equals and given is None and not Path(text).exists()):
        raise OptionError(f"--run {text} is not SIZE=LOG", remedy=_SIZE_OF_RUN)
    is_log = not Path(path).is_file() or _is_log(path)
    printed = read_printed(path) if is_log and path != "-" else Printed()
    if not is_log and given is None:
        raise OptionError(f"--run {text}: a table does not say of how many SMs it is", remedy=_SIZE_OF_RUN)
    if plan is None:
        whole = _whole_run(path, printed, is_log=is_log)
        return replace(whole, size=size_of(path, given, printed)), None
    results = read_result_files(plan, (path,))
    drawn = {launch.id: launch for launch in plan.drawn}
    cycles = results.metrics.get(_CYCLES, np.full(len(results.ids), np.nan))
    known = ~np.isnan(cycles)
    launches = [drawn[each] for each in results.ids[known].tolist()]
    grids = np.array([launch.grid or (0, 0, 0) for launch in launches], dtype=np.int64).reshape(-1, 3)
    run = Run(
        size_of(path, given, printed),
        path,
        results.ids[known],
        np.array([launch.name for launch in launches]),
        _words(grids),
        grids.prod(axis=1),
        cycles[known],
        printed=printed,
        weight=np.array([launch.weight for launch in launches]),
    )
    return run, results


def _whole_run(path: str, printed: Printed, *, is_log: bool) -> Run:
    columns = None
    if not is_log:
        with open_input(path) as file:
            header = file.head.split(b"\n", 1)[0].decode("utf-8", "replace").replace('"', "").strip()
        found = [name.strip() for name in header.split(",")]
        named = {"name": ("name", "kernel"), "duration_ns": (_CYCLES,), "grid": ("grid",)}
        words = [f"{ours}={name}" for ours, those in named.items() for name in those if name in found]
        columns = column_map(",".join(words)) if _CYCLES in found else None
    profile = read_profile([path], options=ReadOptions(columns))
    launches = profile.load(("duration_ns", "signature"))
    signature, shapes = launches["signature"], profile.kernels.signature_rows()
    kernel = np.array([profile.kernels.names.full(name) for name in shapes[:, 0].tolist()])
    executed = None
    if "instructions" in profile.metric_names:
        parts = [part.metrics(("instructions",))["instructions"] for part in profile.parts]
        executed = float(np.concatenate(parts).sum())
    cycles = launches["duration_ns"].astype(np.float64)
    grids = shapes[:, 1:4].astype(np.int64)
    ids, ctas = np.arange(len(cycles)), grids.prod(axis=1)[signature]
    return Run(0, path, ids, kernel[signature], _words(grids)[signature], ctas, cycles, executed, printed)


def _words(grids: np.ndarray[Any, np.dtype[np.int64]]) -> np.ndarray[Any, np.dtype[np.str_]]:
    return np.array([f"({x}, {y}, {z})" if x * y * z > 0 else "" for x, y, z in grids.tolist()], dtype=str)


def read_runs(texts: Sequence[str]) -> list[Run]:
    """Return whole runs of one program, ascending by size; see `read_run` and `check_runs`."""
    runs = sorted((read_run(text)[0] for text in texts), key=lambda run: run.size)
    check_runs(runs)
    return runs


class Larger(NamedTuple):
    """A larger GPU as it is predicted."""

    waves: ByWaves
    #: As the contract's `scale predict --run` has it; the ends are None where nothing was measured so far.
    row: dict[str, Any]
    #: Of the whole from the drawn launches; None where all were simulated.
    estimate: PlanEstimate | None


def answer_by_waves(options: ScalePredictOptions) -> Answer:
    """Return what `scale predict` says of runs.

    Raises OptionError: there are fewer than two runs below a target, or no target; ProfileError: a
    run cannot be read, or is not of the same launches as the others.
    """
    stray = next((name for name in _OF_RULES if getattr(options, name) not in {None, False, ()}), None)
    if stray is not None:
        flag = f"--{stray.replace('_', '-')}"
        what = f"{flag} is of the rules for whole runs, and launch by launch is asked for"
        raise OptionError(what, remedy="leave it out, or give --rule additive")
    if options.confidence != CONFIDENCE:
        what = (
            f"--confidence {options.confidence:g}: of launch by launch there is an interval at {CONFIDENCE:g}"
        )
        raise OptionError(what, remedy="leave it out, or give --rule additive")
    plan = None if options.plan is None else read_plan(options.plan)
    read = sorted((read_run(text, plan) for text in options.run), key=lambda each: each[0].size)
    runs = [run for run, _ in read]
    check_runs(runs)
    targets = sizes_of("--target", options.target) or tuple(run.size for run in runs[2:])
    if not targets:
        raise OptionError("no target is given", remedy="say which GPUs are asked for: --target 32,64,128")
    found = larger_gpus(runs, targets, plan, {run.size: results for run, results in read})
    rows = [each.row for each in found]
    kernels = [row._asdict() for row in kernel_rows(found[-1].waves)] if options.kernels else []
    simulated = [
        {
            "size": run.size,
            "path": run.path,
            "launches": len(run.id),
            "cycles": float(run.cycles.sum()),
            "ipc": run.ipc,
        }
        for run in runs
    ]
    return Answer(
        "scale predict",
        {"method": METHOD, "runs": simulated, "predictions": rows, "kernels": kernels},
        rows=kernels if options.kernels else rows,
        blocks=lambda _: runs_blocks(found, kernels=options.kernels),
    )


def larger_gpus(
    runs: Sequence[Run],
    targets: Sequence[int],
    plan: PlanFile | None = None,
    results_of: Mapping[int, SimulatedLaunches | None] | None = None,
) -> list[Larger]:
    """Return the GPU of each target; of a plan the whole run that its launches stand for, in one interval."""
    found = []
    for target in targets:
        waves = waves_of(runs, target)
        run, off, estimate = waves.run, waves.half_width, None
        total = float(waves.cycles.sum())
        low: float | None = total * (1 - (off or 0.0))
        high: float | None = total * (1 + (off or 0.0))
        measured = next((float(run.cycles.sum()) for run in runs if run.size == target), None)
        if plan is not None:
            results = (results_of or {})[run.size]
            caches: tuple[str, ...] = ()
            if results is not None and results.caches:
                known = np.isin(results.ids, run.id)
                caches = tuple(state for state, here in zip(results.caches, known, strict=True) if here)
            predicted = SimulatedLaunches(run.id, {_CYCLES: waves.cycles}, caches=caches)
            estimate = estimate_plan(plan, predicted, confidence=CONFIDENCE, scale_error=off or 0.0)
            total, low, high = estimate.main.total, estimate.main.low, estimate.main.high
            measured = None
        parts = None if estimate is None else estimate.parts
        row = {
            "target": target,
            "from": [waves.smaller, run.size],
            "cycles": total,
            "low": None if off is None else low,
            "high": None if off is None else high,
            "confidence": None if off is None else CONFIDENCE,
            "ipc": None if run.instructions is None else run.instructions / total,
            "scale_error": off,
            "sampling_error": None if parts is None else parts.sampling,
            "caches_error": None if parts is None else parts.cold_check,
            "measured": measured,
            "error": None if measured is None else total / measured - 1,
        }
        found.append(Larger(waves, row, estimate))
    return found


def runs_blocks(found: Sequence[Larger], *, kernels: bool) -> Iterator[Block]:
    """Yield the answer, the figures, which kernels decide, what limits them, and if asked a row a kernel."""
    first, last = found[0].row, found[-1].waves
    small, large = first["from"]
    said = f"{first['target']} SMs: {first['cycles']:,.0f} cycles"
    if first["low"] is not None:
        said += f", {first['low']:,.0f} to {first['high']:,.0f} ({100 * CONFIDENCE:.0f} % sure)"
    said += f", launch by launch from {small} and {large} SMs"
    if first["measured"] is not None:
        than = "less" if first["error"] > 0 else "more"
        said += f"; the run there took {first['measured']:,.0f}, {share(abs(first['error']))} {than}"
    yield from (said, "")
    forms = {
        "target": "",
        **dict.fromkeys(("cycles", "low", "high"), ",.0f"),
        "ipc": ".4g",
        "measured": ",.0f",
    }
    yield tuple(
        Column(
            {"target": "SMs", "ipc": "IPC"}.get(key, key),
            ["-" if each.row[key] is None else format(each.row[key], form) for each in found],
        )
        for key, form in forms.items()
    )
    yield ""
    rows = kernel_rows(last)
    yield from _explained(found[-1], rows, is_beyond=any(each.row["low"] is None for each in found))
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


def _explained(found: Larger, rows: Sequence[KernelRow], *, is_beyond: bool) -> Iterator[str]:
    """Yield which kernels have most of the predicted cycles, what limits them, what the interval is of."""
    target, summed = found.waves.target, np.cumsum([row.share for row in rows])
    count = min(int(np.searchsorted(summed, _DECIDING)) + 1, _MOST_NAMED)
    named = ", ".join(f"{short_name(row.kernel)} ({share(row.share)}, {row.limit})" for row in rows[:count])
    which = f"{count} of {counted(len(rows), 'kernel')}"
    yield f"{share(float(summed[count - 1]))} of the cycles at {target} SMs are of {which}: {named}"
    parts_of = ", ".join(f"{share(part)} {limit}" for part, limit in found.waves.limits())
    yield f"what the cycles at {target} SMs go to: {parts_of}"
    said = (
        f"the interval: {share(OFF_A_DOUBLING)} a doubling of SMs, which held for eleven of twelve programs"
    )
    parts = None if found.estimate is None else found.estimate.parts
    if parts is not None and parts.sampling is not None:
        said += f", and {share(parts.sampling)} for which launches were drawn"
    if parts is not None and parts.cold_check:
        said += f", and {share(parts.cold_check)} for caches that were cold"
    if is_beyond:
        said += "; beyond two doublings nothing was measured, and none is given"
    yield said
    if found.estimate is not None and (caches := found.estimate.caches.said):
        yield f"the caches: {caches}"
