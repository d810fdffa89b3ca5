"""`scale predict`: from options to a question and its answer, as data, and as a chart, a table and words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from sampling.errors import OptionError, ProfileError
from sampling.text import joined
from scalemodel import inputs
from scalemodel.inputs import CurvePoints, ScaleQuestion, Tell, measured_above, read_questions
from scalemodel.measurements import Measurements, MpkiUnit, Scaling, collect_measurements
from scalemodel.predict import Outcome, predict
from scalemodel.rules import BENCHMARKS, DEFAULT_RULE, RULES, TARGETS, TARGETS_OF_THREE, Bounds, targets_held
from tui.charts.quantities import UNKNOWN, ratio, share
from tui.charts.size_plot import prediction_chart
from tui.options.scale import ScalePredictOptions, parse_pairs, parse_sizes, split_words
from tui.output.blocks import Block, Preformatted
from tui.output.writer import Canvas
from tui.terminal.printable import Column, names, shortened, table

Pairs = Sequence[tuple[Measurements, Outcome]]

# What one miss of the L2 fetches in the simulators that measure most scale models.
_SECTOR_BYTES = 32
_HEIGHT = 16
LONGEST_NAME = 20

# What the engine asks of a curve, in the words of the command that makes one.
_GIVE_CURVE = "give the CSV of scale mrc --capacity SIZE=BYTES, with --instructions where the trace has none"


# -- what is asked ----------------------------------------------------------------------------------------


def predict_benchmarks(options: ScalePredictOptions, tell: Tell | None = None) -> Pairs:
    """Return what was measured of each benchmark, and what is predicted from it.

    `tell`: is told what of a file is left out.

    Raises ProfileError: a file cannot be read, or a value in it is wrong; OptionError: there is nothing to
    predict from, or options contradict each other or a file.
    """
    _check(options)
    curve = None if options.mpki_from is None else _curve(options.mpki_from, options.mpki_unit)
    read_file = partial(
        read_questions,
        benchmark=options.benchmark,
        scaling=options.scaling,
        mpki_unit=options.mpki_unit,
        tell=tell,
    )
    questions = [question for path in options.files for question in read_file(path)] or [
        _typed(options, curve)
    ]
    if len(questions) > 1 and (options.f_mem is not None or curve is not None):
        flag = "--mpki-from" if options.f_mem is None else "--f-mem"
        benchmarks = ", ".join(question.measurements.name for question in questions)
        raise OptionError(
            f"{flag} is of one benchmark", remedy=f"name it by --benchmark: one of {benchmarks}"
        )
    if curve is not None and questions[0].measurements.curve:
        _check_lines(curve, tell)
    pairs = []
    for question in questions:
        measurements, simulated, targets = _asked(question, options, curve)
        outcome = predict(
            measurements,
            targets,
            rules=split_rules(options.rule),
            confidence=options.confidence,
            simulated=simulated,
            f_mem=options.f_mem,
            assume_f_mem=options.assume_f_mem,
            curve_is_modelled=curve is not None and measurements.scaling.has_cliffs,
        )
        pairs.append((measurements, outcome))
    return pairs


def split_rules(values: Sequence[str], default: Sequence[str] = (DEFAULT_RULE,)) -> tuple[str, ...]:
    """Return the rules' names; `all` stands for all of them."""
    named = tuple(split_words(values)) or tuple(default)
    return tuple(RULES) if "all" in named else named


def _check(options: ScalePredictOptions) -> None:
    stray = next((path for path in options.files if "=" in path and not Path(path).exists()), None)
    if stray is not None:
        message = f"{stray} belongs to no option"
        raise OptionError(message, remedy="repeat the option, or give its values by commas")
    if options.files.count("-") + (options.mpki_from == "-") > 1:
        raise OptionError("standard input (-) can be read once only")
    sources = {
        "a file": options.files,
        "--ipc or --mpki": options.ipc or (options.mpki if options.files else ()),
        "--run": options.run,
    }
    names = [name for name, values in sources.items() if values]
    if len(names) != 1:
        message = f"{' and '.join(names)} are given" if names else "nothing to predict from"
        raise OptionError(message, remedy="give one: a file, --ipc SIZE=VALUE or --run SIZE=LOG of two sizes")
    if options.plan is not None or options.kernels:
        message = f"--{'kernels' if options.plan is None else 'plan'} is of runs launch by launch"
        raise OptionError(message, remedy="give --run SIZE=LOG twice, and no --rule")


def _check_lines(curve: CurvePoints, tell: Tell | None) -> None:
    """Refuse a curve of other lines than the simulators' sectors beside MPKI; tell where it does not say."""
    if curve.line_bytes == _SECTOR_BYTES:
        return
    message = (
        f"the curve of --mpki-from counts lines of {curve.line_bytes or 'unknown'} bytes, beside other MPKI: "
        f"GPGPU-Sim and Accel-Sim count sectors of {_SECTOR_BYTES} bytes, as many as four a line of 128"
    )
    remedy = f"make the curve with scale mrc --line-bytes {_SECTOR_BYTES}, or take all MPKI from it"
    if curve.line_bytes is not None:
        raise OptionError(message, remedy=remedy)
    if tell is not None:
        tell(f"{message}; {remedy}")


def _curve(path: str, unit: MpkiUnit | None) -> CurvePoints:
    try:
        curve = inputs.read_curve_points(path)
    except ProfileError as error:
        if error.remedy != inputs.GIVE_CURVE:
            raise
        raise ProfileError(
            error.reason, path=path, row=error.row, column=error.column, remedy=_GIVE_CURVE
        ) from error
    if None not in {curve.unit, unit} and curve.unit is not unit:
        raise OptionError(f"--mpki-unit {unit}, but {path} counts per {curve.unit} instruction")
    return curve


def _typed(options: ScalePredictOptions, curve: CurvePoints | None) -> ScaleQuestion:
    """Return the question of --ipc and --mpki, or of --run; a file's curve is added later, in its unit."""
    ipc = parse_pairs("--ipc", options.ipc)
    if options.run:
        # Reading logs takes what tables of sizes do not.
        from scalemodel.runs import measure_runs, read_runs

        ipc = sorted(measure_runs("", read_runs(options.run)).ipc.items())
    unit = options.mpki_unit or (None if curve is None else curve.unit) or MpkiUnit.THREAD
    mpki, scaling = parse_pairs("--mpki", options.mpki), options.scaling or Scaling.STRONG
    measurements = collect_measurements(ipc, mpki, mpki_unit=unit, scaling=scaling)
    return ScaleQuestion(measurements, tuple(sorted(size for size, _ in ipc)), ())


def _asked(
    question: ScaleQuestion, options: ScalePredictOptions, curve: CurvePoints | None
) -> tuple[Measurements, tuple[int, ...], tuple[int, ...]]:
    """Return measurements, scale models and targets, with what the options say instead of the file."""
    measurements = question.measurements
    if curve is not None:
        unit = measurements.mpki_unit
        if measurements.curve and curve.unit not in {None, unit}:
            message = f"the MPKI given count per {unit} instruction, the curve's per {curve.unit}"
            raise OptionError(message, remedy="give all in one unit")
        mpki = collect_measurements((), (*measurements.curve, *curve.mpki)).mpki
        measurements = replace(
            measurements, mpki=mpki, mpki_unit=curve.unit or unit, mpki_bounds=curve.bounds
        )
    if options.peak_ipc_per_sm is not None:
        measurements = replace(measurements, peak_ipc_per_sm=options.peak_ipc_per_sm)
    simulated = parse_sizes("--simulated", options.simulated) or question.simulated
    targets = question.targets
    if options.simulated:
        above = tuple(size for size in targets if size > max(simulated, default=0))
        targets = above or measured_above(measurements, simulated)
    targets = parse_sizes("--target", options.target) or targets
    if not targets:
        raise OptionError("no target is given", remedy="say which GPUs are asked for: --target 32,64,128")
    return measurements, simulated, targets


# -- what a prediction says --------------------------------------------------------------------------


def predict_blocks(pairs: Pairs, options: ScalePredictOptions, canvas: Canvas) -> Iterator[Block]:
    """Yield what `scale predict` says: of one benchmark a chart, the table, words."""
    measurements, outcome = pairs[0]
    if len(pairs) == 1:
        *smaller, largest = map(str, outcome.models)
        name = f"{shortened(outcome.name, LONGEST_NAME)}: " if outcome.name else ""
        sizes = f"{', '.join(smaller)} and {largest} {measurements.scaling.unit}"
        yield f"{name}{measurements.scaling} scaling, {sizes} simulated"
        if not canvas.is_page:
            height = options.height or _HEIGHT
            yield from (prediction_chart(measurements, outcome, options.width or canvas.width, height), "")
    columns = _columns(pairs)
    yield columns if canvas.is_page else Preformatted(table(columns, gap=" "))
    yield from explain_predictions(pairs, options)
    if len(pairs) > 1:
        yield "--benchmark NAME draws one of them."


def explain_predictions(pairs: Pairs, options: ScalePredictOptions) -> Iterator[str]:
    """Yield the notes of the predictions, what was found, and how all was predicted."""
    # Of many benchmarks the predictions have too many notes; those of one text are said together.
    targets_of: dict[tuple[str, str], list[int]] = {}
    for prediction in pairs[0][1].predictions if len(pairs) == 1 else ():
        if prediction.note:
            targets_of.setdefault((prediction.method, prediction.note), []).append(prediction.target)
    for (method, note), targets in targets_of.items():
        yield f"{', '.join(map(str, targets))} {method}: {note}"
    yield ""
    for _, outcome in pairs:
        name = f"{outcome.name}: " if len(pairs) > 1 else ""
        yield f"{name}{outcome.classification.scaling}: {outcome.classification.reason}."
        for finding in outcome.findings:
            yield f"{name}{finding.severity}: {finding.message} To do: {finding.remedy}."
    yield ""
    yield from _explained(pairs, options)


def ipc_text(value: float) -> str:
    """Return an IPC to four digits, whole from 10,000 on."""
    return f"{value:,.0f}" if value >= 10_000 else f"{value:.4g}"


def signed_share(error: float) -> str:
    """Return an error as a share with its sign."""
    return ("+" if error > 0 else "-" if error < 0 else "") + share(abs(error))


def _columns(pairs: Pairs) -> list[Column]:
    predictions = [prediction for _, outcome in pairs for prediction in outcome.predictions]

    def figures(key: str, form: Callable[[float], str] = ipc_text) -> Column:
        values = (getattr(prediction, key) for prediction in predictions)
        heading = "IPC" if key == "ipc" else key
        return Column(heading, [UNKNOWN if value is None else form(value) for value in values])

    columns = [
        Column("target", [str(prediction.target) for prediction in predictions]),
        Column("rule", [prediction.method for prediction in predictions], to_right=False),
        *map(figures, ("ipc", "low", "high")),
    ]
    if any(prediction.measured is not None for prediction in predictions):
        columns += [figures("measured"), figures("error", signed_share)]
    if len(pairs) == 1:
        regions = [prediction.region.value for prediction in predictions]
        return [*columns, Column("region", regions, to_right=False)]
    kinds = [
        "beyond calibration" if prediction.is_beyond else prediction.bounds.removeprefix("interval ")
        for prediction in predictions
    ]
    if len(set(kinds)) > 1:
        columns.append(Column("low to high is", kinds, to_right=False))
    benchmarks = [shortened(outcome.name, LONGEST_NAME) for _, outcome in pairs for _ in outcome.predictions]
    return [names("benchmark", benchmarks), *columns]


def _explained(pairs: Pairs, options: ScalePredictOptions) -> Iterator[str]:
    """Yield what a cliff gains, of one benchmark that has one and an f_mem; the rules; the intervals."""
    measurements, outcome = pairs[0]
    f_mem = measurements.f_mem.get(outcome.models[-1]) if options.f_mem is None else options.f_mem
    if len(pairs) == 1 and outcome.cliff is not None and f_mem is not None:
        yield f"At the cliff IPC gains {ratio(1 / (1 - f_mem))}, 1/(1 - f_mem) of f_mem {f_mem:.3g}."
    for method in dict.fromkeys(prediction.method for prediction in outcome.predictions):
        yield f"Rule {method}: {RULES[method].source}."
    predictions = [prediction for _, result in pairs for prediction in result.predictions]
    rows = [prediction for prediction in predictions if prediction.bounds is not Bounds.SIMULATED]
    kinds = sorted({row.bounds for row in rows} - {Bounds.NONE}, key=[*Bounds].index)
    for kind in kinds:
        of_kind = [row for row in rows if row.bounds is kind]
        scope = f" of {len(of_kind)} of the {len(rows)} predictions"
        if len(pairs) == 1:
            sizes = joined(dict.fromkeys(row.target for row in of_kind))
            scope = f" at {sizes} {measurements.scaling.unit}"
        methods = dict.fromkeys(row.method for row in of_kind)
        yield f"Low to high{scope if len(kinds) > 1 else ''} {_interval(kind, list(methods), pairs)}"
    if any(row.is_beyond for row in rows):
        yield (
            "Beyond the calibrated range, for other models, larger targets or efficiencies that change more "
            "than those, low to high is extrapolated, and what it holds is not known."
        )
    if baselines := dict.fromkeys(row.method for row in rows if RULES[row.method].is_baseline):
        yield f"{', '.join(baselines)}: no interval, as none was calibrated for baselines."


def _interval(kind: Bounds, methods: Sequence[str], pairs: Pairs) -> str:
    """Return what low to high is of predictions of one kind; a bracket of a known f_mem is widened."""
    confidence = pairs[0][1].confidence
    level = f"{100 * confidence:.0f} %"
    if kind is Bounds.BRACKET:
        bracketed = [
            outcome
            for _, outcome in pairs
            if any(prediction.bounds is kind for prediction in outcome.predictions)
        ]
        unknown = [
            any(finding.code == "f-mem-missing" for finding in outcome.findings) for outcome in bracketed
        ]
        widened = f"widened either way as an interval of {level} is"
        if not any(unknown):
            bracket = f"nothing of what the cliff gains, or all of it, {widened}"
        else:
            condition = "" if all(unknown) else f", where f_mem is known {widened}"
            bracket = f"what the cliff gains at least and at most{condition}"
        return f"is a bracket, no interval: {bracket}."
    if kind is Bounds.NOT_CALIBRATED:
        return (
            f"is twice as wide as the interval of {level}, as a cliff lies between the models; what it holds "
            "was not calibrated."
        )
    is_of_three = kind is Bounds.BACK_CAST
    counts_by_method = {
        method: str(targets_held(method, confidence, of_three=is_of_three)) for method in methods
    }
    counts = joined(
        count if len(counts_by_method) == 1 else f"{count} by {method}"
        for method, count in counts_by_method.items()
    )
    meant = f"is an interval meant to hold {level} of the targets"
    if not is_of_three:
        return (
            f"{meant}. It was set by the public benchmarks, from 8 and 16 SMs up to 128 and from 4 and 8 "
            f"chiplets to 16, and tried on no others; of {TARGETS} targets of {BENCHMARKS} of them it holds "
            f"{counts}."
        )
    back_casts = pairs[0][1].back_cast.items() if len(pairs) == 1 else ()
    errors = [
        f"{method} {share(back)}" for method, back in back_casts if back is not None and method in methods
    ]
    by = f": {', '.join(errors)}" if errors else ""
    return (
        f"{meant}, from how well each model is predicted by those before it{by}. Of {TARGETS_OF_THREE} "
        "targets of the public benchmarks, from 8, 16 and 32 SMs up to 128, it holds "
        f"{counts}; it was tried on no others."
    )
