"""The commands that predict a big GPU from two small ones: the app, one prediction, many validated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sampling.text import counted
from scalemodel.errors import InputError, OptionError
from scalemodel.inputs import read_benchmarks
from scalemodel.measurements import Measurements, Scaling
from scalemodel.rules import RULES
from scalemodel.validate import Validation, validate
from tui.charts.grid import ansi, plain
from tui.charts.quantities import UNKNOWN, share
from tui.charts.size_plot import error_chart
from tui.options.command_line import options_of
from tui.options.plan import SampleOptions
from tui.options.scale import (
    ScaleOpenOptions,
    ScalePredictOptions,
    ScaleValidateOptions,
    sizes_of,
)
from tui.output.markdown import Block
from tui.output.writer import Answer, Canvas, emit
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
from tui.terminal.printable import Column, names, printable, shortened, table, wrapped

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
            str(target): score._asdict() | {"without": list(score.without)}
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
