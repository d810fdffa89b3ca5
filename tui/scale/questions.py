"""From the options of `scale predict` to the questions the engine is asked, and to its answers.

And which of the options had no effect, of `scale validate` too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from scalemodel.errors import InputError, OptionError
from scalemodel.inputs import curve_file
from scalemodel.inputs.benchmark_table import Tell
from scalemodel.inputs.curve_file import CurvePoints
from scalemodel.inputs.question_file import ScaleQuestion, measured_above, read_questions
from scalemodel.measurements import Measurements, MpkiUnit, Scaling, measurements_of
from scalemodel.predict import Outcome, predict
from scalemodel.rules import DEFAULT_RULE, RULES
from tui.options.scale import ProportionalStart, ScaleOptions, ScalePredictOptions
from tui.scale.typed_values import pairs_of, sizes_of, words_of

# What one miss of the L2 fetches in the simulators that measure most scale models.
_SECTOR_BYTES = 32

Pairs = Sequence[tuple[Measurements, Outcome]]

# What the engine asks of a curve, in the words of the command that makes one.
_CURVE_REMEDIES = {
    curve_file.GIVE_COLUMNS: "give the CSV of scale mrc --capacity SIZE=BYTES, or one of size,mpki",
    curve_file.GIVE_SIZES: "give scale mrc its capacities as SIZE=BYTES",
    curve_file.GIVE_INSTRUCTIONS: "give scale mrc the --instructions of the trace",
}


def predictions_of(options: ScalePredictOptions, tell: Tell | None = None) -> Pairs:
    """Return what was measured of each benchmark, and what is predicted from it.

    Parameters
    ----------
    tell : is told what of a file is left out.

    Raises
    ------
    InputError, OptionError : see `questions_of` and `scalemodel.prediction.predict.predict`.
    """
    return [(question.measurements, _answered(question, options)) for question in questions_of(options, tell)]


def _answered(question: ScaleQuestion, options: ScalePredictOptions) -> Outcome:
    has_cliffs = question.measurements.scaling.has_cliffs
    return predict(
        question.measurements,
        question.targets,
        rules=rules_of(options.rule),
        confidence=options.confidence,
        simulated=question.simulated,
        f_mem=options.f_mem,
        assume_f_mem=options.assume_f_mem,
        curve_is_modelled=options.modelled_curve or (options.mpki_from is not None and has_cliffs),
        proportional_from=options.proportional_from.value,
    )


def rules_of(values: Sequence[str], default: Sequence[str] = (DEFAULT_RULE,)) -> tuple[str, ...]:
    """Return the rules' names; `all` stands for all of them."""
    named = tuple(words_of(values)) or tuple(default)
    return tuple(RULES) if "all" in named else named


def questions_of(options: ScalePredictOptions, tell: Tell | None = None) -> tuple[ScaleQuestion, ...]:
    """Return what is asked: a question for each benchmark.

    Raises
    ------
    InputError : a file cannot be read, or a value in it is wrong.
    OptionError : there is nothing to predict from, or options contradict each other or a file.
    """
    _check(options)
    curve = None if options.mpki_from is None else _curve(options.mpki_from, options.mpki_unit)
    questions = [
        question
        for path in options.files
        for question in read_questions(
            path,
            benchmark=options.benchmark,
            scaling=options.scaling,
            mpki_unit=options.mpki_unit,
            tell=tell,
        )
    ] or [_typed(options, curve)]
    if len(questions) > 1:
        _check_one("--name", options.name, questions)
        _check_one("--f-mem", options.f_mem, questions)
        _check_one("--mpki-from", options.mpki_from, questions)
    if curve is not None and tell is not None and any(question.measurements.curve for question in questions):
        tell_of_lines(curve, tell)
    return tuple(_asked(question, options, curve) for question in questions)


def tell_of_lines(curve: CurvePoints, tell: Tell) -> None:
    """Say where a curve counts other lines than the simulators whose MPKI may stand beside it."""
    if curve.line_bytes != _SECTOR_BYTES:
        counted = "not known" if curve.line_bytes is None else f"{curve.line_bytes} bytes"
        tell(
            f"the lines of the curve of --mpki-from are {counted}, and the MPKI beside it may be of others: "
            f"GPGPU-Sim and Accel-Sim count sectors of {_SECTOR_BYTES} bytes, as many as four a line of 128; "
            f"make the curve with scale mrc --line-bytes {_SECTOR_BYTES}, or take all MPKI from it"
        )


def unused_options(
    options: ScaleOptions, benchmarks: Sequence[Measurements], outcomes: Sequence[Outcome]
) -> Iterator[str]:
    """Yield a sentence for each option that no benchmark made use of."""
    if options.mpki_unit is not None and not any(benchmark.curve for benchmark in benchmarks):
        yield "--mpki-unit is not used, as there is no MPKI; leave it out"
    found = {finding.code for outcome in outcomes for finding in outcome.findings}
    if options.assume_f_mem and "f-mem-missing" not in found:
        has_cliff = any(outcome.cliff is not None for outcome in outcomes)
        why = "f_mem is known" if has_cliff else "there is no cliff on the way to the targets"
        yield f"--assume-f-mem is not used, as {why}; leave it out"
    rules = {each.method for outcome in outcomes for each in outcome.predictions}
    if options.proportional_from is not ProportionalStart.SMALLEST and "proportional" not in rules:
        yield "--proportional-from is not used, as the rule proportional is not asked for; leave it out"


def _check(options: ScalePredictOptions) -> None:
    stray = next((path for path in options.files if "=" in path and not Path(path).exists()), None)
    if stray is not None:
        raise OptionError(
            f"{stray} belongs to no option", remedy="repeat the option, or give its values by commas"
        )
    if options.files.count("-") + (options.mpki_from == "-") > 1:
        raise OptionError("standard input (-) can be read once only")
    if options.files and (options.ipc or options.mpki):
        raise OptionError("a file and --ipc or --mpki are given", remedy="give one of the two")
    if not options.files and options.benchmark is not None:
        raise OptionError("--benchmark names one of a file", remedy="give the file")
    if not options.files and not options.ipc:
        raise OptionError(
            "nothing to predict from", remedy="give a file, or --ipc SIZE=VALUE of two sizes or more"
        )


def _check_one(flag: str, value: object, questions: Sequence[ScaleQuestion]) -> None:
    if value is not None:
        names = ", ".join(question.measurements.name for question in questions)
        raise OptionError(f"{flag} is of one benchmark", remedy=f"name it by --benchmark: one of {names}")


def _curve(path: str, unit: MpkiUnit | None) -> CurvePoints:
    try:
        curve = curve_file.read_curve_points(path)
    except InputError as error:
        error.remedy = _CURVE_REMEDIES.get(error.remedy or "", error.remedy)
        raise
    if None not in {curve.unit, unit} and curve.unit is not unit:
        raise OptionError(f"--mpki-unit {unit}, but {path} counts per {curve.unit} instruction")
    return curve


def _typed(options: ScalePredictOptions, curve: CurvePoints | None) -> ScaleQuestion:
    """Return the question of --ipc and --mpki; the curve of a file is added later, in its unit."""
    ipc = pairs_of("--ipc", options.ipc)
    unit = options.mpki_unit or (None if curve is None else curve.unit)
    measurements = measurements_of(
        ipc,
        pairs_of("--mpki", options.mpki),
        mpki_unit=unit or MpkiUnit.THREAD,
        scaling=options.scaling or Scaling.STRONG,
    )
    return ScaleQuestion(measurements, tuple(sorted(size for size, _ in ipc)), ())


def _asked(question: ScaleQuestion, options: ScalePredictOptions, curve: CurvePoints | None) -> ScaleQuestion:
    """Return the question with what the options say instead of the file."""
    measurements = question.measurements if curve is None else _with_curve(question.measurements, curve)
    if options.name is not None:
        measurements = replace(measurements, name=options.name)
    if options.peak_ipc_per_sm is not None:
        measurements = replace(measurements, peak_ipc_per_sm=options.peak_ipc_per_sm)
    simulated = sizes_of("--simulated", options.simulated) or question.simulated
    largest = max(simulated, default=0)
    targets = question.targets
    if options.simulated:
        above = tuple(size for size in targets if size > largest)
        targets = above or measured_above(measurements, simulated)
    return ScaleQuestion(measurements, simulated, sizes_of("--target", options.target) or targets)


def _with_curve(measurements: Measurements, curve: CurvePoints) -> Measurements:
    if measurements.curve and curve.unit not in {None, measurements.mpki_unit}:
        raise OptionError(
            f"the MPKI given count per {measurements.mpki_unit} instruction, the curve's per {curve.unit}",
            remedy="give all in one unit",
        )
    sizes = measurements.sizes
    ipc, f_mem = (
        [(size, value) for size, value in zip(sizes, column, strict=True) if value is not None]
        for column in (measurements.ipc, measurements.f_mem)
    )
    both = measurements_of(
        ipc,
        (*measurements.curve, *curve.mpki),
        f_mem,
        name=measurements.name,
        peak_ipc_per_sm=measurements.peak_ipc_per_sm,
        mpki_unit=curve.unit or measurements.mpki_unit,
        scaling=measurements.scaling,
    )
    return replace(both, mpki_bounds=curve.bounds)
