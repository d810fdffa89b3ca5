"""The commands from two small GPUs to a big one: the app, predict, validate; derive and mrc beforehand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sampling.text import counted
from scalemodel.errors import InputError, OptionError
from scalemodel.inputs import read_questions
from scalemodel.measurements import Measurements, Scaling
from scalemodel.rules import RULES
from scalemodel.validate import Validation, validate
from tui.charts.quantities import UNKNOWN, share
from tui.charts.size_plot import error_chart
from tui.options import scale
from tui.options.command_line import options_of
from tui.options.files import reading
from tui.options.plan import SampleOptions
from tui.options.scale import parse_capacities, sizes_of
from tui.output.blocks import Block
from tui.output.files import write_folder
from tui.output.writer import STDOUT, Answer, Canvas, emit, named, write_stdout
from tui.scale import answers
from tui.scale.answers import outcome_object, predict_blocks, prediction_row, predictions_of, rules_of
from tui.scale.sheet import default_targets, read_sheets, tables_of
from tui.terminal import tty as terminal
from tui.terminal.diagnostics import note
from tui.terminal.printable import Column, is_ascii, names, shortened, table

# What reads logs and traces takes more than tables of sizes do: it is imported where they are read.

if TYPE_CHECKING:
    from scalemodel.derive import ScaledModel, SharedResources, Target
    from scalemodel.from_logs import Run
    from scalemodel.miss_rate import MissRateCurve


def run_open(options: scale.ScaleOpenOptions) -> None:
    """Open the app if a person can see and steer it, else predict.

    Raises OptionError: there is neither a terminal nor a file.
    """
    if terminal.is_interactive():
        from tui.app.running import ascii_wanted, run_app
        from tui.app.scale import ScaleScreen
        from tui.app.state import Session

        # Read before the app takes the terminal, so that errors are seen.
        sheets = read_sheets(options.files, partial(note, quiet=options.quiet))
        tables = tables_of(sheets) if sheets else None
        session = Session(options_of(SampleOptions, options), ascii_only=ascii_wanted(options), scale=tables)
        run_app(session, mouse=not options.no_mouse, view=ScaleScreen.NAME)
        return
    why, remedy = terminal.why_no_app()
    if not options.files:
        raise OptionError(f"{why}, and no file to predict from", remedy=f"give one, or {remedy}")
    asked = options_of(scale.ScalePredictOptions, options)
    from tui.scale.runs import is_run, read_runs

    if all(map(is_run, options.files)):
        targets = default_targets([run.size for run in read_runs(options.files)])
        asked = replace(asked, files=(), run=options.files, target=(",".join(map(str, targets)),))
    run_predict(asked)
    note(terminal.instead_of_app("prediction", "a file by its name"), quiet=options.quiet)


def run_predict(options: scale.ScalePredictOptions) -> None:
    """Read or take what was measured, predict each benchmark, draw it where it is one."""
    if options.run and not options.rule:
        from tui.scale.runs import answer_by_waves

        emit(answer_by_waves(options), options)
        return
    try:
        pairs = predictions_of(options, partial(note, quiet=options.quiet))
    except InputError:
        from tui.scale.runs import is_run

        for path in filter(is_run, options.files):
            raise OptionError(
                f"{path} is what a simulator printed, no table of sizes",
                remedy="give it as --run SIZE=LOG, with the SMs of that GPU, and another run beside it",
            ) from None
        raise
    objects = [outcome_object(*pair) for pair in pairs]
    rows = [
        {"benchmark": outcome.name, **prediction_row(measurements, each)}
        for measurements, outcome in pairs
        for each in outcome.predictions
    ]
    answer = Answer(
        "scale predict",
        objects[0] if len(objects) == 1 else objects,
        rows=rows,
        blocks=lambda canvas: predict_blocks(pairs, options, canvas),
        warnings=tuple(dict.fromkeys(each.code for _, outcome in pairs for each in outcome.warnings)),
    )
    emit(answer, options)


# -- how well the rules predict what was measured ----------------------------------------------------------

_HEIGHT = 18


def run_validate(options: scale.ScaleValidateOptions) -> None:
    """Read the benchmarks or the runs, predict every target that was simulated, compare."""
    benchmarks, runs = _measured(options)
    validation = validate(
        benchmarks,
        simulated=sizes_of("--simulated", options.simulated) or None,
        rules=rules_of(options.rule, tuple(RULES)),
        confidence=options.confidence,
        assume_f_mem=options.assume_f_mem,
        runs=runs,
    )
    results: dict[str, dict[str, Any]] = {
        method: {
            str(target): score._asdict() | {"without": list(score.without)} for target, score in each.items()
        }
        for method, each in validation.scores.items()
    }
    scalings = tuple(dict.fromkeys(benchmark.scaling for benchmark in benchmarks))
    findings = [each for findings in validation.findings.values() for each in findings]
    answer = Answer(
        "scale validate",
        results,
        rows=[
            {"method": method, "target": int(target), **row}
            for method, each in results.items()
            for target, row in each.items()
        ],
        blocks=lambda canvas: _validation_blocks(validation, scalings, options, canvas),
        warnings=tuple(dict.fromkeys(each.code for each in findings if each.severity == "warning")),
    )
    emit(answer, options)


def _measured(
    options: scale.ScaleValidateOptions,
) -> tuple[Sequence[Measurements], Mapping[str, Sequence[Run]] | None]:
    """Return the benchmarks of a table, or of the runs of each program and these runs.

    Raises OptionError: a table is given beside another or beside logs, or an option of tables beside logs.
    """
    try:
        tell = partial(note, quiet=options.quiet)
        questions = read_questions(
            options.files[0], scaling=options.scaling, mpki_unit=options.mpki_unit, tell=tell
        )
    except InputError:
        from scalemodel.from_logs import measurements_of_runs, programs_of
        from tui.scale.runs import is_run, logs_in, read_run

        folders = [logs_in(text) if Path(text).is_dir() else [text] for text in options.files]
        logs = [text for folder in folders for text in folder if is_run(text)]
        if not logs:
            raise
        has_others = len(logs) < sum(map(len, folders))
        if has_others or options.scaling or options.mpki_unit or options.assume_f_mem:
            what = "runs are validated without tables, MPKI and cliffs"
            raise OptionError(what, remedy="give logs alone, and no option of tables") from None
        runs = programs_of([read_run(log)[0] for log in logs])
        return [measurements_of_runs(name, of_one) for name, of_one in runs.items()], runs
    if len(options.files) > 1:
        raise OptionError("one table is validated at a time", remedy="give one, or the logs of runs")
    return [question.measurements for question in questions], None


def _validation_blocks(
    validation: Validation, scalings: Sequence[Scaling], options: scale.ScaleValidateOptions, canvas: Canvas
) -> Iterator[Block]:
    """Yield the chart of the errors, the table of the scores, and what to know of them."""
    unit, benchmarks = scalings[0].unit, counted(len(validation.outcomes), "benchmark")
    yield f"{' and '.join(scalings)} scaling, {benchmarks} with a measured target"
    if not canvas.is_page:
        yield error_chart(validation, unit, options.width or canvas.width, options.height or _HEIGHT)
    yield ""
    # By target, so that the rules stand below each other.
    of_rules = [(method, *each) for method, scores in validation.scores.items() for each in scores.items()]
    of_rules.sort(key=lambda each: each[1])
    methods, targets, scores = zip(*of_rules, strict=True)
    yield [
        Column(unit, list(map(str, targets))),
        Column("rule", methods, to_right=False),
        Column("mean", [share(score.mean) for score in scores]),
        Column("max", [share(score.max) for score in scores]),
        names("worst", [shortened(score.worst or UNKNOWN, answers.LONGEST_NAME) for score in scores]),
        Column("n", [str(score.n) for score in scores]),
        Column("within", [share(score.within_interval) for score in scores]),
    ]
    yield ""
    yield (
        "Errors are |predicted / measured - 1|; within is the share of the intervals that hold what was "
        f"measured, meant to be {100 * validation.outcomes[0].confidence:.0f} %."
    )
    if any(check.prediction.is_beyond for check in validation.checks):
        yield (
            "Some models, targets or efficiencies are beyond the calibrated range: the intervals were set "
            "from 8 and 16 SMs up to 128 and from 4 and 8 chiplets to 16."
        )
    for method, target, score in of_rules:
        if score.without:
            yield f"{method} at {target}: no prediction of {', '.join(score.without)}."
    for name, found in validation.findings.items():
        for finding in found:
            yield f"{name}: {finding.severity}: {finding.message} To do: {finding.remedy}."


# -- the small GPUs to simulate ----------------------------------------------------------------------------


def run_derive(options: scale.ScaleDeriveOptions) -> None:
    """Read the target, divide it by each factor, write what the simulator reads."""
    from scalemodel.derive import default_factors, derive, read_target
    from scalemodel.from_logs import read_printed

    known = None if options.simulator_log is None else read_printed(options.simulator_log).options
    if known is not None and not known:
        what = f"{options.simulator_log} prints no configuration"
        raise OptionError(what, remedy="give what GPGPU-Sim or Accel-Sim printed from its start on")
    target = read_target(options.file, known)
    models = derive(target, sizes_of("--factor", options.factor) or default_factors(target))
    sizes = [f"{each.resources.size}-{each.resources.size_unit}" for each in models]
    files = [(f"{size}/{target.name}", each.text) for size, each in zip(sizes, models, strict=True)]
    written: list[str] = []
    if options.output is None:
        note("nothing is written without -o FOLDER", quiet=options.quiet)
    elif options.output != STDOUT:
        # The configuration may have files beside it read too.
        beside = [str(Path(options.file).parent / target.name)]
        with reading(beside if options.file != "-" else []):
            written = write_folder(Path(options.output), files, force=options.force)
    elif len(models) == 1:
        write_stdout(models[0].text)
    else:
        raise OptionError(f"there are {len(models)} files to write", remedy="name a folder with -o")
    rows = [
        {
            "factor": model.factor,
            **named(model.resources, "size", "size_unit"),
            **model.resources._asdict(),
            "changes": [{"file": target.name, **change._asdict()} for change in model.changes],
            "unchanged": dict(target.unchanged),
            "files": [{"path": place, "content": text}],
            "notes": [each._asdict() for each in model.notes],
        }
        for (place, text), model in zip(files, models, strict=True)
    ]
    answer = Answer(
        "scale derive",
        rows,
        blocks=lambda _: _models_blocks(target, models, written),
        warnings=tuple(dict.fromkeys(each.code for model in models for each in model.notes)),
    )
    emit(answer, options, to_stderr=options.output == STDOUT, redirect=False)


_RESOURCES = {
    "SMs": "sms",
    "last-level cache, MiB": "llc_bytes",
    "its slices": "llc_slices",
    "memory controllers": "memory_controllers",
    "network, GB/s": "noc_gb_per_s",
    "memory, GB/s": "dram_gb_per_s",
    "chiplets": "chiplets",
    "between chiplets, GB/s": "inter_chiplet_gb_per_s",
}


def _models_blocks(target: Target, models: Sequence[ScaledModel], written: Sequence[str]) -> Iterator[Block]:
    """Yield what is shared, what changes in each model, and the files written."""
    known = {name: key for name, key in _RESOURCES.items() if getattr(target.resources, key)}

    def column(heading: str, resources: SharedResources) -> Column:
        values = (getattr(resources, key) / (2**20 if key == "llc_bytes" else 1) for key in known.values())
        return Column(heading, [f"{value:,.6g}" for value in values])

    sizes = [f"{model.resources.size} {model.resources.size_unit}" for model in models]
    yield [
        Column("", list(known), to_right=False),
        column("target", target.resources),
        *(column(size, model.resources) for size, model in zip(sizes, models, strict=True)),
    ]
    for size, model in zip(sizes, models, strict=True):
        yield from ("", f"{size}: what changes")
        columns = [
            names("file", [target.name] * len(model.changes)),
            names("option", [change.option for change in model.changes]),
            Column("target", [change.old for change in model.changes]),
            Column("here", [change.new for change in model.changes]),
        ]
        yield columns if model.changes else "nothing"
        yield from (f"note: {each.sentence}" for each in model.notes)
    if target.unchanged:
        yield from ("", f"As in the target: {', '.join(name for name, _ in target.unchanged)}.")
    yield from ("", *written) if written else ()


# -- the miss-rate curve of a trace ------------------------------------------------------------------------

_LEAST_BAR = 8


def run_mrc(options: scale.ScaleMrcOptions) -> None:
    """Read the trace, count the misses at each capacity."""
    import numpy as np

    from scalemodel.miss_rate import DEFAULT_RATE, Method, miss_rate_curve
    from scalemodel.traces import read_address_trace

    asked = {
        "--exact": (options.exact, Method.EXACT),
        "--rate": (options.rate is not None, Method.SHARDS),
        "--statstack": (options.statstack, Method.STAT_STACK),
    }
    given = {flag: method for flag, (is_given, method) in asked.items() if is_given}
    if len(given) > 1:
        raise OptionError(f"{' and '.join(given)} are given", remedy="give one of them")
    if options.request.seed < 0:
        raise OptionError(f"--seed is 0 or more, not {options.request.seed}")
    sizes, capacities = zip(*parse_capacities(options.capacity), strict=True)
    trace = read_address_trace(options.traces, trace_format=options.source, line_bytes=options.line_bytes)
    curve = miss_rate_curve(
        trace,
        np.array(capacities, dtype=np.int64),
        np.random.default_rng(options.request.seed),
        method=next(iter(given.values()), Method.EXACT),
        rate=DEFAULT_RATE if options.rate is None else options.rate,
        unit=options.mpki_unit,
        instructions=options.instructions,
    )
    if curve.instructions is None:
        lacks = f"the trace does not say how many {curve.unit} instructions it was recorded over"
        note(f"{lacks}, so there is no MPKI; give --instructions", quiet=options.quiet)
    unknown = [None] * len(sizes)
    lists: dict[str, Any] = {"size": sizes, "capacity_bytes": capacities}
    for name, values in named(curve, "mpki", "low", "high", "miss_ratio").items():
        lists[name] = unknown if values is None else values.tolist()
    how = {"unit": curve.unit.value, "method": curve.method.value, "rate": curve.rate}
    counts = named(curve, "confidence", "accesses") | {"cold_misses": curve.counts.cold}
    counts |= named(curve, "instructions", "line_bytes")
    answer = Answer(
        "scale mrc",
        {**lists, **how, **counts},
        rows=[
            {**dict(zip(lists, values, strict=True)), **how, "line_bytes": curve.line_bytes}
            for values in zip(*lists.values(), strict=True)
        ],
        blocks=lambda canvas: _curve_blocks(curve, sizes, options.width or canvas.width, canvas),
        warnings=("instructions-unknown",) if curve.instructions is None else (),
    )
    emit(answer, options)


def _curve_blocks(
    curve: MissRateCurve, sizes: Sequence[int | None], width: int, canvas: Canvas
) -> Iterator[Block]:
    """Yield the curve as a table, with bars on a terminal; where the working set fits; how it was counted."""
    import numpy as np

    values, what = (curve.miss_ratio, "miss ratio") if curve.mpki is None else (curve.mpki, "MPKI")
    columns = [] if sizes[0] is None else [Column("size", [str(size) for size in sizes])]
    columns.append(Column("capacity", [_capacity(int(each)) for each in curve.capacity_bytes]))
    ends = {} if curve.confidence is None else named(curve, "low", "high")
    for name, each in ({what: values} | ends).items():
        if each is not None:
            columns.append(Column(name, [f"{value:.4g}" for value in each]))
    if not canvas.is_page:
        room = max(width - max(map(len, table(columns).split("\n"))) - 2, _LEAST_BAR)
        bar, most = "#" if is_ascii() else "\N{FULL BLOCK}", float(values.max()) or 1.0
        bars = [bar * round(float(value) / most * room) for value in values]
        columns.append(Column("", bars, to_right=False))
    yield from (columns, "")
    order = np.argsort(curve.capacity_bytes, kind="stable")
    capacity, misses = curve.capacity_bytes[order], curve.counts.misses[order]
    if capacity.size > 1:
        step = int(np.argmax(misses[:-1] - misses[1:]))
        fallen = 1 - misses[step + 1] / misses[step] if misses[step] else 0.0
        if fallen > 0:
            between = " and ".join(_capacity(int(each)) for each in capacity[step : step + 2])
            fits = "so much of the working set comes to fit there"
            yield f"The largest fall is between {between}, by {share(float(fallen))}: {fits}."
    unit = f"per thousand {curve.unit} instructions" if curve.mpki is not None else "per access"
    how = "all counted" if curve.method == "exact" else "estimated from reuse distances"
    if curve.confidence is not None:
        how = f"of {share(curve.rate)} of the lines, low to high is {100 * curve.confidence:.0f} %"
    first = f"{counted(curve.accesses, 'access')}, {curve.counts.cold:,.0f} of them the first to their line"
    cache = f"lines of {curve.line_bytes} bytes, least recently used, fully associative"
    yield f"Misses {unit}, {how}; {first}; {cache}."


def _capacity(capacity: int) -> str:
    for name, factor in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if capacity >= factor:
            return f"{capacity / factor:.4g} {name}"
    return f"{capacity} B"
