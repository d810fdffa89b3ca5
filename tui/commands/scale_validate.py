"""`scale validate`: how well each rule predicts the targets of benchmarks that were simulated too."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from scalemodel.errors import InputError, OptionError
from scalemodel.inputs import read_benchmarks
from scalemodel.measurements import Measurements, Scaling
from scalemodel.rules import RULES
from scalemodel.validate import Validation, validate, validate_runs
from tui.options.scale import ScaleValidateOptions, sizes_of
from tui.output.writer import Answer, emit
from tui.scale.answers import (
    rules_of,
    unused_options,
    validation_blocks,
    validation_results,
    validation_text,
)
from tui.terminal.diagnostics import note


def run(options: ScaleValidateOptions) -> None:
    """Read the benchmarks or the runs, predict every target that was simulated, compare."""
    simulated = sizes_of("--simulated", options.simulated) or None
    rules = rules_of(options.rule, tuple(RULES))
    tell = partial(note, quiet=options.quiet)
    benchmarks: tuple[Measurements, ...] = ()
    try:
        if len(options.files) == 1:
            benchmarks = read_benchmarks(
                options.files[0], scaling=options.scaling, mpki_unit=options.mpki_unit, tell=tell
            )
    except InputError:
        # Reading logs takes what a table does not.
        validation = _of_runs(options, simulated, rules)
        if validation is None:
            raise
    else:
        validation = None if benchmarks else _of_runs(options, simulated, rules)
    scalings: tuple[Scaling, ...] = (Scaling.STRONG,)
    if validation is None:
        if not benchmarks:
            raise OptionError("one table is validated at a time", remedy="give one, or the logs of runs")
        scalings = tuple(dict.fromkeys(benchmark.scaling for benchmark in benchmarks))
        validation = validate(
            benchmarks,
            simulated=simulated,
            rules=rules,
            confidence=options.confidence,
            assume_f_mem=options.assume_f_mem,
            curve_is_modelled=options.modelled_curve,
            proportional_from=options.proportional_from.value,
        )
        for text in unused_options(options, benchmarks, validation.outcomes):
            tell(text)
    found, results = validation, validation_results(validation)
    emit(
        Answer(
            "scale validate",
            results,
            lambda canvas: validation_text(found, scalings, options, canvas),
            rows=[
                {"method": method, "target": int(target), **row}
                for method, by_target in results.items()
                for target, row in by_target.items()
            ],
            blocks=lambda _: validation_blocks(found, scalings),
            warnings=tuple(
                dict.fromkeys(
                    each.code
                    for findings in found.findings.values()
                    for each in findings
                    if each.severity == "warning"
                )
            ),
        ),
        options,
    )


def _of_runs(
    options: ScaleValidateOptions, simulated: tuple[int, ...] | None, rules: tuple[str, ...]
) -> Validation | None:
    """Return the validation of what simulators printed; None where a table is given.

    Raises
    ------
    OptionError : both are given, or an option that is of tables.
    """
    from tui.scale.runs import is_run, logs_in, read_run

    logs = [
        log
        for text in options.files
        if Path(text).is_dir() or is_run(text)
        for log in (logs_in(text) if Path(text).is_dir() else [text])
    ]
    if not logs:
        return None
    tables = [text for text in options.files if not (Path(text).is_dir() or is_run(text))]
    of_tables = {"--scaling": options.scaling, "--mpki-unit": options.mpki_unit, "table": tables}
    stray = next((name for name, value in of_tables.items() if value), None)
    if stray is not None or options.assume_f_mem or options.modelled_curve:
        what = "runs are validated without tables, MPKI and cliffs"
        raise OptionError(what, remedy=f"leave out {stray or '--assume-f-mem and --modelled-curve'}")
    from scalemodel.from_logs import programs_of

    return validate_runs(
        programs_of([read_run(log)[0] for log in logs]),
        simulated=simulated,
        rules=rules,
        confidence=options.confidence,
        proportional_from=options.proportional_from.value,
    )
