"""The commands from two small GPUs to a big one: the app, predict, validate; derive and mrc beforehand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import to_builtins

from sampling.errors import OptionError, ProfileError
from scalemodel.inputs import read_questions
from scalemodel.measurements import Measurements
from scalemodel.rules import RULES
from scalemodel.validate import validate
from tui.options import scale
from tui.options.command_line import options_of
from tui.options.files import reading
from tui.options.plan import SampleOptions
from tui.options.scale import parse_capacities, parse_sizes
from tui.output.files import write_folder
from tui.output.writer import STDOUT, CommandResult, emit, write_stdout
from tui.scale.answers import predict_benchmarks, predict_blocks, split_rules
from tui.scale.tables import curve_blocks, models_blocks, validation_blocks
from tui.terminal import tty as terminal
from tui.terminal.diagnostics import note

# What reads logs and traces takes more than tables of sizes do: it is imported where they are read.

if TYPE_CHECKING:
    from scalemodel.runs import SimulatedRun


def run_open(options: scale.ScaleOpenOptions) -> None:
    """Open the app if a person can see and steer it, else predict.

    Raises OptionError: there is neither a terminal nor a file.
    """
    if terminal.is_interactive():
        from tui.app.running import ascii_wanted, run_app
        from tui.app.scale import ScaleScreen
        from tui.app.state import Session
        from tui.scale.questions import open_questions, questions_from

        # Read before the app takes the terminal, so that errors are seen.
        questions = open_questions(options.files, partial(note, quiet=options.quiet))
        scale_questions = questions_from(questions) if questions else None
        session = Session(
            options_of(SampleOptions, options), ascii_only=ascii_wanted(options), scale=scale_questions
        )
        run_app(session, mouse=not options.no_mouse, view=ScaleScreen.NAME)
        return
    reason, remedy = terminal.why_no_app()
    if not options.files:
        raise OptionError(f"{reason}, and no file to predict from", remedy=f"give one, or {remedy}")
    predict_options = options_of(scale.ScalePredictOptions, options)
    from scalemodel.runs import default_targets, is_run, read_runs

    if all(map(is_run, options.files)):
        targets = default_targets([run.size for run in read_runs(options.files)])
        predict_options = replace(
            predict_options, files=(), run=options.files, target=(",".join(map(str, targets)),)
        )
    run_predict(predict_options)
    note(terminal.instead_of_app("prediction", "a file by its name"), quiet=options.quiet)


def run_predict(options: scale.ScalePredictOptions) -> None:
    """Read or take what was measured, predict each benchmark, draw it where it is one."""
    if options.run and not options.rule:
        from tui.scale.runs import answer_by_waves

        emit(answer_by_waves(options), options)
        return
    try:
        pairs = predict_benchmarks(options, partial(note, quiet=options.quiet))
    except ProfileError:
        from scalemodel.runs import is_run

        for path in filter(is_run, options.files):
            raise OptionError(
                f"{path} is what a simulator printed, no table of sizes",
                remedy="give it as --run SIZE=LOG, with the SMs of that GPU, and another run beside it",
            ) from None
        raise
    outcomes = [outcome for _, outcome in pairs]
    result = CommandResult(
        "scale predict",
        outcomes[0] if len(outcomes) == 1 else outcomes,
        rows=[
            {"benchmark": outcome.name} | to_builtins(prediction)
            for outcome in outcomes
            for prediction in outcome.predictions
        ],
        blocks=lambda canvas: predict_blocks(pairs, options, canvas),
        warnings=tuple(dict.fromkeys(finding.code for outcome in outcomes for finding in outcome.warnings)),
    )
    emit(result, options)


# -- how well the rules predict what was measured ----------------------------------------------------------


def run_validate(options: scale.ScaleValidateOptions) -> None:
    """Read the benchmarks or the runs, predict every target that was simulated, compare."""
    benchmarks, runs = _measured(options)
    validation = validate(
        benchmarks,
        simulated=parse_sizes("--simulated", options.simulated) or None,
        rules=split_rules(options.rule, tuple(RULES)),
        confidence=options.confidence,
        assume_f_mem=options.assume_f_mem,
        runs=runs,
    )
    scalings = tuple(dict.fromkeys(benchmark.scaling for benchmark in benchmarks))
    findings = [finding for findings in validation.findings.values() for finding in findings]
    result = CommandResult(
        "scale validate",
        {
            method: {str(target): score for target, score in scores.items()}
            for method, scores in validation.scores.items()
        },
        rows=[
            {"method": method, "target": target} | to_builtins(score)
            for method, scores in validation.scores.items()
            for target, score in scores.items()
        ],
        blocks=lambda canvas: validation_blocks(validation, scalings, options, canvas),
        warnings=tuple(dict.fromkeys(finding.code for finding in findings if finding.severity == "warning")),
    )
    emit(result, options)


def _measured(
    options: scale.ScaleValidateOptions,
) -> tuple[Sequence[Measurements], Mapping[str, Sequence[SimulatedRun]] | None]:
    """Return the benchmarks of a table, or of the runs of each program and these runs.

    Raises OptionError: a table is given beside another or beside logs, or an option of tables beside logs.
    """
    try:
        tell = partial(note, quiet=options.quiet)
        questions = read_questions(
            options.files[0], scaling=options.scaling, mpki_unit=options.mpki_unit, tell=tell
        )
    except ProfileError:
        from scalemodel.runs import find_logs, group_programs, is_run, measure_runs, read_run

        folders = [find_logs(text) if Path(text).is_dir() else [text] for text in options.files]
        logs = [text for folder in folders for text in folder if is_run(text)]
        if not logs:
            raise
        has_others = len(logs) < sum(map(len, folders))
        if has_others or options.scaling or options.mpki_unit or options.assume_f_mem:
            message = "runs are validated without tables, MPKI and cliffs"
            raise OptionError(message, remedy="give logs alone, and no option of tables") from None
        runs = group_programs([read_run(log) for log in logs])
        return [measure_runs(name, of_one) for name, of_one in runs.items()], runs
    if len(options.files) > 1:
        raise OptionError("one table is validated at a time", remedy="give one, or the logs of runs")
    return [question.measurements for question in questions], None


# -- the small GPUs to simulate ----------------------------------------------------------------------------


def run_derive(options: scale.ScaleDeriveOptions) -> None:
    """Read the target, divide it by each factor, write what the simulator reads."""
    from scalemodel.derive import default_factors, derive, read_target
    from scalemodel.runs import read_configuration

    configuration = None if options.simulator_log is None else read_configuration(options.simulator_log)
    if configuration is not None and not configuration:
        message = f"{options.simulator_log} prints no configuration"
        raise OptionError(message, remedy="give what GPGPU-Sim or Accel-Sim printed from its start on")
    target = read_target(options.file, configuration)
    models = derive(target, parse_sizes("--factor", options.factor) or default_factors(target))
    records = [target.record(model) for model in models]
    files = [(file.path, file.content) for record in records for file in record.files]
    paths: list[str] = []
    if options.output is None:
        note("nothing is written without -o FOLDER", quiet=options.quiet)
    elif options.output != STDOUT:
        # The configuration may have files beside it read too.
        neighbours = [str(Path(options.file).parent / target.name)]
        with reading(neighbours if options.file != "-" else []):
            paths = write_folder(Path(options.output), files, force=options.force)
    elif len(models) == 1:
        write_stdout(models[0].text)
    else:
        raise OptionError(f"there are {len(models)} files to write", remedy="name a folder with -o")
    result = CommandResult(
        "scale derive",
        records,
        blocks=lambda _: models_blocks(target, models, paths),
        warnings=tuple(
            dict.fromkeys(note_of_model.code for model in models for note_of_model in model.notes)
        ),
    )
    emit(result, options, to_stderr=options.output == STDOUT, redirect=False)


# -- the miss-rate curve of a trace ------------------------------------------------------------------------


def run_mrc(options: scale.ScaleMrcOptions) -> None:
    """Read the trace, count the misses at each capacity."""
    import numpy as np

    from scalemodel.miss_rate import DEFAULT_RATE, Method, miss_rate_curve
    from scalemodel.traces import read_address_trace

    flags = {
        "--exact": (options.exact, Method.EXACT),
        "--rate": (options.rate is not None, Method.SHARDS),
        "--statstack": (options.statstack, Method.STAT_STACK),
    }
    methods = {flag: method for flag, (is_given, method) in flags.items() if is_given}
    if len(methods) > 1:
        raise OptionError(f"{' and '.join(methods)} are given", remedy="give one of them")
    if options.request.seed < 0:
        raise OptionError(f"--seed is 0 or more, not {options.request.seed}")
    sizes, capacities = zip(*parse_capacities(options.capacity), strict=True)
    trace = read_address_trace(options.traces, trace_format=options.source, line_bytes=options.line_bytes)
    curve = miss_rate_curve(
        trace,
        np.array(capacities, dtype=np.int64),
        np.random.default_rng(options.request.seed),
        method=next(iter(methods.values()), Method.EXACT),
        rate=DEFAULT_RATE if options.rate is None else options.rate,
        unit=options.mpki_unit,
        instructions=options.instructions,
    )
    if curve.instructions is None:
        lacks = f"the trace does not say how many {curve.unit} instructions it was recorded over"
        note(f"{lacks}, so there is no MPKI; give --instructions", quiet=options.quiet)
    record = curve.record(sizes)
    result = CommandResult(
        "scale mrc",
        record,
        rows=record.points,
        blocks=lambda canvas: curve_blocks(curve, sizes, options.width or canvas.width, canvas),
        warnings=("instructions-unknown",) if curve.instructions is None else (),
    )
    emit(result, options)
