"""The commands of the scale model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sampling.text import counted
from scalemodel.derive import (
    ScaledModel,
    SharedResources,
    Target,
    default_sizes,
    derive,
    factors_for_sizes,
    read_target,
)
from scalemodel.errors import InputError, OptionError
from scalemodel.from_logs import read_printed
from scalemodel.inputs import read_benchmarks
from scalemodel.measurements import Measurements, Scaling
from scalemodel.miss_rate import CurveOptions, Method, MissRateCurve, miss_rate_curve
from scalemodel.rules import RULES
from scalemodel.traces import TraceFormat, read_address_trace
from scalemodel.validate import Validation, validate
from tui.charts.grid import ansi, plain
from tui.charts.quantities import UNKNOWN, share
from tui.charts.size_plot import error_chart
from tui.options.command_line import options_of
from tui.options.files import reading
from tui.options.plan import SampleOptions
from tui.options.scale import (
    ScaleDeriveOptions,
    ScaleMrcOptions,
    ScaleOpenOptions,
    ScalePredictOptions,
    ScaleValidateOptions,
    capacities_of,
    sizes_of,
)
from tui.output.files import write_folder
from tui.output.markdown import Block
from tui.output.writer import STDOUT, Answer, Canvas, emit, write_stdout
from tui.scale.answers import (
    LONGEST_NAME,
    outcome_object,
    predict_blocks,
    predict_text,
    prediction_row,
    predictions_of,
    rules_of,
    unused_options,
)
from tui.scale.sheet import default_targets, read_sheets, tables_of
from tui.terminal import tty as terminal
from tui.terminal.diagnostics import note
from tui.terminal.printable import Column, is_ascii, names, printable, shortened, table, wrapped

if TYPE_CHECKING:
    from scalemodel.from_logs import Run


def run_open(options: ScaleOpenOptions) -> None:
    """Open the app if a person can see and steer it, else predict.

    Raises
    ------
    OptionError : there is no terminal, and `--app` is given or no file is.
    """
    if terminal.is_interactive():
        _open_app(options)
        return
    why, remedy = terminal.why_no_app()
    if options.app:
        raise OptionError(f"--app: {why}", remedy=remedy)
    if not options.files:
        raise OptionError(f"{why}, and no file to predict from", remedy=f"give one, or {remedy}")
    asked = options_of(ScalePredictOptions, options)
    from tui.scale.runs import is_run, read_runs

    if all(map(is_run, options.files)):
        targets = default_targets([run.size for run in read_runs(options.files)])
        asked = replace(asked, files=(), run=options.files, target=(",".join(map(str, targets)),))
    run_predict(asked)
    note(terminal.instead_of_app("prediction", "a file by its name"), quiet=options.quiet)


def _open_app(options: ScaleOpenOptions) -> None:
    from tui.app.running import ascii_wanted, run_app
    from tui.app.scale import ScaleScreen
    from tui.app.state import Session

    # Read before the app takes the terminal, so that errors are seen.
    sources = read_sheets(options.files, options.benchmark, partial(note, quiet=options.quiet))
    session = Session(
        options_of(SampleOptions, options),
        ascii_only=ascii_wanted(options),
        scale=tables_of(sources) if sources else None,
    )
    run_app(session, mouse=not options.no_mouse, view=ScaleScreen.NAME, theme=options.theme)


def run_predict(options: ScalePredictOptions) -> None:
    """Read or take what was measured, predict each benchmark, draw it where it is one."""
    if options.run and not options.rule:
        # Reading logs takes what tables of sizes do not.
        from tui.scale.runs import answer_by_waves

        emit(answer_by_waves(options), options)
        return
    tell = partial(note, quiet=options.quiet)
    try:
        pairs = predictions_of(options, tell)
    except InputError:
        from tui.scale.runs import is_run

        for path in filter(is_run, options.files):
            raise OptionError(
                f"{path} is what a simulator printed, no table of sizes",
                remedy="give it as --run SIZE=LOG, with the SMs of that GPU, and another run beside it",
            ) from None
        raise
    for text in unused_options(options, *zip(*pairs, strict=True)):
        tell(text)
    objects = [outcome_object(*pair) for pair in pairs]
    rows = [
        {"benchmark": outcome.name, **prediction_row(measurements, each)}
        for measurements, outcome in pairs
        for each in outcome.predictions
    ]
    emit(
        Answer(
            "scale predict",
            objects[0] if len(objects) == 1 else objects,
            lambda canvas: predict_text(pairs, options, canvas),
            rows=rows,
            blocks=lambda _: predict_blocks(pairs, options),
            warnings=tuple(dict.fromkeys(each.code for _, outcome in pairs for each in outcome.warnings)),
        ),
        options,
    )


_HEIGHT = 18


def run_validate(options: ScaleValidateOptions) -> None:
    """Read the benchmarks or the runs, predict every target that was simulated, compare."""
    tell = partial(note, quiet=options.quiet)
    benchmarks: Sequence[Measurements]
    runs: Mapping[str, Sequence[Run]] | None = None
    try:
        benchmarks = read_benchmarks(
            options.files[0], scaling=options.scaling, mpki_unit=options.mpki_unit, tell=tell
        )
    except InputError:
        # Reading logs takes what a table does not.
        runs = _programs(options)
        if runs is None:
            raise
        from scalemodel.from_logs import measurements_of_runs

        benchmarks = [measurements_of_runs(name, of_one) for name, of_one in runs.items()]
    if runs is None and len(options.files) > 1:
        raise OptionError("one table is validated at a time", remedy="give one, or the logs of runs")
    validation = validate(
        benchmarks,
        simulated=sizes_of("--simulated", options.simulated) or None,
        rules=rules_of(options.rule, tuple(RULES)),
        confidence=options.confidence,
        assume_f_mem=options.assume_f_mem,
        curve_is_modelled=options.modelled_curve,
        proportional_from=options.proportional_from.value,
        runs=runs,
    )
    for text in unused_options(options, benchmarks, validation.outcomes) if runs is None else ():
        tell(text)
    scalings = tuple(dict.fromkeys(benchmark.scaling for benchmark in benchmarks))
    results = validation_results(validation)
    findings = [each for findings in validation.findings.values() for each in findings]
    emit(
        Answer(
            "scale validate",
            results,
            lambda canvas: validation_text(validation, scalings, options, canvas),
            rows=[
                {"method": method, "target": int(target), **row}
                for method, by_target in results.items()
                for target, row in by_target.items()
            ],
            blocks=lambda _: validation_blocks(validation, scalings),
            warnings=tuple(dict.fromkeys(each.code for each in findings if each.severity == "warning")),
        ),
        options,
    )


def _programs(options: ScaleValidateOptions) -> Mapping[str, Sequence[Run]] | None:
    """Return the runs of each program; None where no log is given.

    Raises
    ------
    OptionError : a table is given as well, or an option that is of tables.
    """
    from scalemodel.from_logs import programs_of
    from tui.scale.runs import is_run, logs_in, read_run

    logs: list[str] = []
    tables: list[str] = []
    for text in options.files:
        if Path(text).is_dir():
            logs += logs_in(text)
        else:
            (logs if is_run(text) else tables).append(text)
    if not logs:
        return None
    of_tables = {
        "--scaling": options.scaling,
        "--mpki-unit": options.mpki_unit,
        "--assume-f-mem": options.assume_f_mem,
        "--modelled-curve": options.modelled_curve,
        "the table": tables,
    }
    if stray := [name for name, value in of_tables.items() if value]:
        what = "runs are validated without tables, MPKI and cliffs"
        raise OptionError(what, remedy=f"leave out {stray[0]}")
    return programs_of([read_run(log)[0] for log in logs])


def validation_results(validation: Validation) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the scores by rule and target, as the contract's `scale validate` has them."""
    return {
        method: {
            str(target): asdict(score) | {"without": list(score.without)}
            for target, score in by_target.items()
        }
        for method, by_target in validation.scores.items()
    }


def validation_text(
    validation: Validation, scalings: Sequence[Scaling], options: ScaleValidateOptions, canvas: Canvas
) -> str:
    """Return the chart of the errors, the table of the scores, and what to know of them."""
    width, height = options.width or canvas.width, options.height or _HEIGHT
    grid = error_chart(validation, scalings[0].unit, width, height)
    lines: list[str] = []
    for place, block in enumerate(validation_blocks(validation, scalings)):
        if isinstance(block, str):
            lines += wrapped(printable(block), width, "  " if place else "")
        else:
            lines += [ansi(grid) if canvas.color else plain(grid), "", table(block), ""]
    return "\n".join(lines)


def validation_blocks(validation: Validation, scalings: Sequence[Scaling]) -> Iterator[Block]:
    """Yield the same without the chart."""
    benchmarks = counted(len(validation.outcomes), "benchmark")
    yield f"{' and '.join(scalings)} scaling, {benchmarks} with a measured target"
    # By target, so that the rules stand below each other.
    scores = sorted(
        (
            (target, method, score)
            for method, each in validation.scores.items()
            for target, score in each.items()
        ),
        key=lambda each: each[0],
    )
    worst = [shortened(score.worst or UNKNOWN, LONGEST_NAME) for *_, score in scores]

    def shares(key: str) -> list[str]:
        values = [getattr(score, key) for *_, score in scores]
        return [UNKNOWN if value is None else share(value) for value in values]

    yield [
        Column(scalings[0].unit, [str(target) for target, *_ in scores]),
        Column("rule", [method for _, method, _ in scores], to_right=False),
        Column("mean", shares("mean")),
        Column("max", shares("max")),
        names("worst", worst),
        Column("n", [str(score.n) for *_, score in scores]),
        Column("within", shares("within_interval")),
    ]
    yield (
        "Errors are |predicted / measured - 1|; within is the share of the intervals that hold what was "
        f"measured, meant to be {100 * validation.outcomes[0].confidence:.0f} %."
    )
    if any(check.prediction.is_beyond for check in validation.checks):
        yield (
            "Some models, targets or efficiencies are beyond the calibrated range: the intervals were set "
            "from 8 and 16 SMs up to 128 and from 4 and 8 chiplets to 16."
        )
    for method, by_target in validation.scores.items():
        for target, score in by_target.items():
            if score.without:
                yield f"{method} at {target}: no prediction of {', '.join(score.without)}."
    for name, found in validation.findings.items():
        for finding in found:
            yield f"{name}: {finding.severity}: {finding.message} To do: {finding.remedy}."


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
    """Return the factors asked for; those of the default sizes if none are."""
    factors, sizes = sizes_of("--factor", options.factor), sizes_of("--size", options.size)
    if factors and sizes:
        raise OptionError("--factor and --size are given", remedy="give one of the two")
    return factors or factors_for_sizes(target, sizes or default_sizes(target))


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
        **asdict(model.resources),
        "changes": [asdict(change) for change in model.changes],
        "unchanged": dict(model.unchanged),
        "files": [{"path": path, "content": text} for path, text in model_files(model)],
        "notes": [asdict(each) for each in model.notes],
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
        with_local=options.with_local,
        tell=lambda why: tell(f"--with-local is not used, as {why}; leave it out"),
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
