"""The commands around a scale model: the small GPUs to simulate, and the miss-rate curve of a trace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from scalemodel.derive import (
    ScaledModel,
    SharedResources,
    Target,
    default_factors,
    derive,
    read_target,
)
from scalemodel.errors import OptionError
from scalemodel.from_logs import read_printed
from scalemodel.miss_rate import CurveOptions, Method, MissRateCurve, miss_rate_curve
from scalemodel.traces import TraceFormat, read_address_trace
from tui.charts.quantities import share
from tui.options.files import reading
from tui.options.scale import (
    ScaleDeriveOptions,
    ScaleMrcOptions,
    capacities_of,
    sizes_of,
)
from tui.output.files import write_folder
from tui.output.markdown import Block
from tui.output.writer import STDOUT, Answer, Canvas, emit, write_stdout
from tui.terminal.diagnostics import note
from tui.terminal.printable import Column, is_ascii, names, table, wrapped

_MIB = 2**20


def run_derive(options: ScaleDeriveOptions) -> None:
    """Read the target, divide it by each factor, write what the simulator reads."""
    known = None if options.simulator_log is None else read_printed(options.simulator_log).options
    if known is not None and not known:
        what = f"{options.simulator_log} prints no configuration"
        raise OptionError(what, remedy="give what GPGPU-Sim or Accel-Sim printed from its start on")
    target = read_target(options.file, known)
    models = derive(target, factors_of(target, options))
    written: list[str] = []
    if options.output == STDOUT:
        write_stdout(only_file(models))
    elif options.output is not None:
        files = [file for model in models for file in model_files(model)]
        with reading(files_beside(options.file, files)):
            written = write_folder(Path(options.output), files, force=options.force)
    else:
        note("nothing is written without -o FOLDER", quiet=options.quiet)
    emit(
        Answer(
            "scale derive",
            [model_row(model) for model in models],
            lambda canvas: models_text(target, models, written, canvas),
            blocks=lambda _: models_blocks(target, models, written),
            warnings=tuple(dict.fromkeys(each.code for model in models for each in model.notes)),
        ),
        options,
        to_stderr=options.output == STDOUT,
        redirect=False,
    )


def factors_of(target: Target, options: ScaleDeriveOptions) -> tuple[int, ...]:
    """Return the factors asked for; the default ones if none are."""
    return sizes_of("--factor", options.factor) or default_factors(target)


def model_files(model: ScaledModel) -> list[tuple[str, str]]:
    """Return (path, text) of each file of a model, all in a folder named after its size."""
    folder = f"{model.resources.size}-{model.resources.size_unit}"
    return [(f"{folder}/{name}", text) for name, text in model.files]


def files_beside(target: str, files: Sequence[tuple[str, str]]) -> list[str]:
    """Return the files beside a target, of the names written: its configuration may have them read too."""
    return [] if target == "-" else [str(Path(target).parent / Path(name).name) for name, _ in files]


def only_file(models: Sequence[ScaledModel]) -> str:
    """Return the text of the one file there is to write; raise OptionError where there are several."""
    if len(models) != 1 or len(models[0].files) != 1:
        count = sum(len(model.files) for model in models)
        raise OptionError(f"there are {count} files to write", remedy="name a folder with -o")
    return models[0].files[0][1]


def model_row(model: ScaledModel) -> dict[str, Any]:
    """Return a model as the contract's `scale derive` lists it."""
    return {
        "factor": model.factor,
        "size": model.resources.size,
        "size_unit": model.resources.size_unit,
        **model.resources._asdict(),
        "changes": [change._asdict() for change in model.changes],
        "unchanged": dict(model.unchanged),
        "files": [{"path": path, "content": text} for path, text in model_files(model)],
        "notes": [each._asdict() for each in model.notes],
    }


def models_blocks(target: Target, models: Sequence[ScaledModel], written: Sequence[str]) -> Iterator[Block]:
    """Yield what is shared, what changes in each model, and the files written."""

    def shared(resources: SharedResources) -> list[tuple[str, float | None]]:
        return [
            ("SMs", resources.sms),
            ("last-level cache, MiB", resources.llc_bytes / _MIB),
            ("its slices", resources.llc_slices),
            ("memory controllers", resources.memory_controllers),
            ("network, GB/s", resources.noc_gb_per_s),
            ("memory, GB/s", resources.dram_gb_per_s),
            ("chiplets", resources.chiplets),
            ("between chiplets, GB/s", resources.inter_chiplet_gb_per_s),
        ]

    columns = [Column("", [name for name, value in shared(target.resources) if value], to_right=False)]
    for one in (target.resources, *(model.resources for model in models)):
        heading = f"{one.size} {one.size_unit}" if len(columns) > 1 else "target"
        columns.append(Column(heading, [f"{value:,.6g}" for _, value in shared(one) if value]))
    yield columns
    for model in models:
        yield f"{model.resources.size} {model.resources.size_unit}: what changes"
        yield (
            "nothing"
            if not model.changes
            else [
                names("file", [change.file for change in model.changes]),
                names("option", [change.option for change in model.changes]),
                Column("target", [change.old for change in model.changes]),
                Column("here", [change.new for change in model.changes]),
            ]
        )
        yield from (f"note: {each.sentence}" for each in model.notes)
    if models[0].unchanged:
        yield f"As in the target: {', '.join(name for name, _ in models[0].unchanged)}."
    yield from written


def models_text(target: Target, models: Sequence[ScaledModel], written: Sequence[str], canvas: Canvas) -> str:
    """Return the same as lines, a blank one before each model and before what follows them."""
    lines: list[str] = []
    for block in models_blocks(target, models, ()):
        if not isinstance(block, str):
            lines.append(table(block))
            continue
        blank = block.endswith(": what changes") or block.startswith("As in the target")
        said = wrapped(block, canvas.width, "  ")
        lines += ["", *said] if blank else said
    return "\n".join([*lines, "", *written] if written else lines)


_RATE_NOT_GIVEN = 0.01
_CONFIDENCE = 0.95
_LEAST_BAR = 8
_BAR = ("\N{FULL BLOCK}", "#")


def run_mrc(options: ScaleMrcOptions) -> None:
    """Read the trace, count the misses at each capacity."""
    if options.seed < 0:
        raise OptionError(f"--seed is 0 or more, not {options.seed}")
    tell = partial(note, quiet=options.quiet)
    counting = curve_options(options)
    sizes, capacities = zip(*capacities_of(options.capacity), strict=True)
    if options.confidence is not None and counting.method is not Method.SHARDS:
        tell("--confidence is not used, as it is of the bounds with --rate; leave it out")
    trace = read_address_trace(
        options.traces,
        trace_format=None if options.source is None else TraceFormat(options.source.value),
        line_bytes=options.line_bytes,
    )
    capacity_bytes = np.array(capacities, dtype=np.int64)
    curve = miss_rate_curve(trace, capacity_bytes, counting, np.random.default_rng(options.seed))
    if curve.instructions is None:
        tell(
            f"the trace does not say how many {curve.unit} instructions it was recorded over, so there is no "
            "MPKI; give --instructions"
        )
    results = curve_results(curve, sizes)
    emit(
        Answer(
            "scale mrc",
            results,
            lambda canvas: curve_text(curve, sizes, options.width or canvas.width),
            rows=curve_rows(results),
            blocks=lambda _: curve_blocks(curve, sizes),
            warnings=("instructions-unknown",) if curve.instructions is None else (),
        ),
        options,
    )


def curve_options(options: ScaleMrcOptions) -> CurveOptions:
    """Return how to count; raise OptionError where more than one way is asked for."""
    asked = {
        "--exact": (options.exact, Method.EXACT),
        "--rate": (options.rate is not None, Method.SHARDS),
        "--statstack": (options.statstack, Method.STAT_STACK),
    }
    given = {flag: method for flag, (is_given, method) in asked.items() if is_given}
    if len(given) > 1:
        raise OptionError(f"{' and '.join(given)} are given", remedy="give one of them")
    return CurveOptions(
        next(iter(given.values()), Method.EXACT),
        _RATE_NOT_GIVEN if options.rate is None else options.rate,
        _CONFIDENCE if options.confidence is None else options.confidence,
        options.mpki_unit,
        options.instructions,
    )


def curve_results(curve: MissRateCurve, sizes: Sequence[int | None]) -> dict[str, Any]:
    """Return the curve as the contract's `scale mrc` has it.

    Parameters
    ----------
    sizes : the system size of each capacity, None where capacities have none.
    """
    none: list[float | None] = [None] * len(sizes)
    known = {"mpki": curve.mpki, "low": curve.low, "high": curve.high}
    return {
        "size": list(sizes),
        "capacity_bytes": curve.capacity_bytes.tolist(),
        **{name: none if values is None else values.tolist() for name, values in known.items()},
        "miss_ratio": curve.miss_ratio.tolist(),
        "unit": curve.unit.value,
        "method": curve.method.value,
        "rate": curve.rate,
        "confidence": curve.confidence,
        "accesses": curve.accesses,
        "cold_misses": curve.counts.cold,
        "instructions": curve.instructions,
        "line_bytes": curve.line_bytes,
    }


def curve_rows(results: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a row a capacity, as `scale predict --mpki-from` reads them."""
    columns = ("size", "capacity_bytes", "mpki", "low", "high", "miss_ratio")
    kept = {name: results[name] for name in ("unit", "method", "rate", "line_bytes")}
    return [
        {**dict(zip(columns, values, strict=True)), **kept}
        for values in zip(*(results[name] for name in columns), strict=True)
    ]


def curve_text(curve: MissRateCurve, sizes: Sequence[int | None], width: int) -> str:
    """Return the curve as a table with bars, and below it how the misses were counted."""
    columns, *sentences = curve_blocks(curve, sizes)
    assert not isinstance(columns, str)
    values = curve.miss_ratio if curve.mpki is None else curve.mpki
    room = max(width - max(map(len, table(columns).split("\n"))) - 2, _LEAST_BAR)
    most = float(values.max()) or 1.0
    bars = [_BAR[is_ascii()] * round(float(value) / most * room) for value in values]
    lines = [line for text in sentences for line in wrapped(str(text), width)]
    return "\n".join([table([*columns, Column("", bars, to_right=False)]), "", *lines])


def curve_blocks(curve: MissRateCurve, sizes: Sequence[int | None]) -> list[Block]:
    """Return the same without bars."""
    is_sampled = curve.method is Method.SHARDS
    shown = {
        "miss ratio" if curve.mpki is None else "MPKI": curve.miss_ratio
        if curve.mpki is None
        else curve.mpki,
        "low": curve.low if is_sampled else None,
        "high": curve.high if is_sampled else None,
    }
    columns = [] if sizes[0] is None else [Column("size", [str(size) for size in sizes])]
    columns.append(Column("capacity", [_capacity(int(each)) for each in curve.capacity_bytes]))
    columns += [
        Column(name, [f"{value:.4g}" for value in column])
        for name, column in shown.items()
        if column is not None
    ]
    return [columns, *_sentences(curve)]


def _sentences(curve: MissRateCurve) -> Iterator[str]:
    """Yield where the working set comes to fit, and how the misses were counted."""
    order = np.argsort(curve.capacity_bytes, kind="stable")
    capacity, misses = curve.capacity_bytes[order], curve.counts.misses[order]
    if capacity.size > 1:
        step = int(np.argmax(misses[:-1] - misses[1:]))
        fallen = 1 - misses[step + 1] / misses[step] if misses[step] else 0.0
        if fallen > 0:
            yield (
                f"The largest fall is between {_capacity(int(capacity[step]))} and "
                f"{_capacity(int(capacity[step + 1]))}, by {share(float(fallen))}: so much of the working "
                "set comes to fit there."
            )
    unit = f"per thousand {curve.unit} instructions" if curve.mpki is not None else "per access"
    level = 100 * (curve.confidence or 0)
    how = {
        Method.EXACT: "all counted",
        Method.SHARDS: f"of {share(curve.rate)} of the lines, low to high is {level:.0f} %",
        Method.STAT_STACK: "estimated from reuse distances",
    }[curve.method]
    yield (
        f"Misses {unit}, {how}; {curve.accesses:,} access{'' if curve.accesses == 1 else 'es'}, "
        f"{curve.counts.cold:,.0f} of them the first to their "
        f"line; lines of {curve.line_bytes} bytes, least recently used, fully associative."
    )


def _capacity(capacity: int) -> str:
    for name, factor in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if capacity >= factor:
            return f"{capacity / factor:.4g} {name}"
    return f"{capacity} B"
