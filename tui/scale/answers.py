"""`scale predict` and `scale validate`: from options to questions and answers, and what is said of these.

As data, and for a person, as the app copies it, a chart, a table and words.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from sampling.text import counted
from scalemodel import inputs
from scalemodel.errors import InputError, OptionError, listed
from scalemodel.inputs import CurvePoints, ScaleQuestion, Tell, measured_above, read_questions
from scalemodel.interval import BENCHMARKS, TARGETS, TARGETS_OF_THREE, Bounds, targets_held
from scalemodel.measurements import Measurements, MpkiUnit, Scaling, measurements_of
from scalemodel.predict import Outcome, Prediction, Region, predict
from scalemodel.rules import DEFAULT_RULE, RULES
from scalemodel.validate import Validation
from tui.charts.grid import ansi, plain
from tui.charts.quantities import UNKNOWN, ratio, share
from tui.charts.size_plot import error_chart, prediction_chart
from tui.options.scale import (
    ProportionalStart,
    ScaleOptions,
    ScalePredictOptions,
    ScaleValidateOptions,
    pairs_of,
    sizes_of,
    words_of,
)
from tui.output.markdown import Block
from tui.output.writer import Canvas
from tui.terminal.printable import printable
from tui.terminal.tables import Column, names, shortened, table

Pairs = Sequence[tuple[Measurements, Outcome]]

# What one miss of the L2 fetches in the simulators that measure most scale models.
_SECTOR_BYTES = 32
_HEIGHT, _VALIDATE_HEIGHT = 16, 18
_LONGEST_NAME = 20

# What the engine asks of a curve, in the words of the command that makes one.
_CURVE_REMEDIES = {
    inputs.GIVE_COLUMNS: "give the CSV of scale mrc --capacity SIZE=BYTES, or one of size,mpki",
    inputs.GIVE_SIZES: "give scale mrc its capacities as SIZE=BYTES",
    inputs.GIVE_INSTRUCTIONS: "give scale mrc the --instructions of the trace",
}


# -- what is asked ----------------------------------------------------------------------------------------


def predictions_of(options: ScalePredictOptions, tell: Tell | None = None) -> Pairs:
    """Return what was measured of each benchmark, and what is predicted from it.

    Parameters
    ----------
    tell : is told what of a file is left out.

    Raises
    ------
    InputError : a file cannot be read, or a value in it is wrong.
    OptionError : there is nothing to predict from, or options contradict each other or a file.
    """
    return [
        (
            question.measurements,
            predict(
                question.measurements,
                question.targets,
                rules=rules_of(options.rule),
                confidence=options.confidence,
                simulated=question.simulated,
                f_mem=options.f_mem,
                assume_f_mem=options.assume_f_mem,
                curve_is_modelled=options.modelled_curve
                or (options.mpki_from is not None and question.measurements.scaling.has_cliffs),
                proportional_from=options.proportional_from.value,
            ),
        )
        for question in _questions(options, tell)
    ]


def rules_of(values: Sequence[str], default: Sequence[str] = (DEFAULT_RULE,)) -> tuple[str, ...]:
    """Return the rules' names; `all` stands for all of them."""
    named = tuple(words_of(values)) or tuple(default)
    return tuple(RULES) if "all" in named else named


def _questions(options: ScalePredictOptions, tell: Tell | None) -> tuple[ScaleQuestion, ...]:
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
    ] or [_typed(options, curve, tell)]
    for flag in ("name", "f_mem", "mpki_from"):
        if len(questions) > 1 and getattr(options, flag) is not None:
            known = ", ".join(question.measurements.name for question in questions)
            what = f"--{flag.replace('_', '-')} is of one benchmark"
            raise OptionError(what, remedy=f"name it by --benchmark: one of {known}")
    if curve is not None and any(question.measurements.curve for question in questions):
        _check_lines(curve, tell)
    return tuple(_asked(question, options, curve) for question in questions)


def _check(options: ScalePredictOptions) -> None:
    stray = next((path for path in options.files if "=" in path and not Path(path).exists()), None)
    if stray is not None:
        what = f"{stray} belongs to no option"
        raise OptionError(what, remedy="repeat the option, or give its values by commas")
    if options.files.count("-") + (options.mpki_from == "-") > 1:
        raise OptionError("standard input (-) can be read once only")
    sources = {
        "a file": options.files,
        "--ipc or --mpki": options.ipc or (options.mpki if options.files else ()),
        "--run": options.run,
    }
    given = [name for name, values in sources.items() if values]
    if len(given) > 1:
        raise OptionError(f"{' and '.join(given)} are given", remedy="give one of the two")
    if not options.files and options.benchmark is not None:
        raise OptionError("--benchmark names one of a file", remedy="give the file")
    if not given:
        what = "nothing to predict from"
        raise OptionError(what, remedy="give a file, or --ipc SIZE=VALUE of two sizes or more")
    if options.plan is not None or options.kernels:
        what = f"--{'kernels' if options.plan is None else 'plan'} is of runs launch by launch"
        raise OptionError(what, remedy="give --run SIZE=LOG twice, and no --rule")
    if options.f_mem_from_stalls and (not options.run or options.f_mem is not None):
        what = "--f-mem-from-stalls is of the logs of --run, instead of --f-mem"
        raise OptionError(what, remedy="give --run SIZE=LOG twice, and a --rule")


def _check_lines(curve: CurvePoints, tell: Tell | None) -> None:
    """Refuse a curve of other lines than the simulators' sectors beside MPKI; tell where it does not say.

    Raises
    ------
    OptionError : it says that it is of other lines.
    """
    how = f"make the curve with scale mrc --line-bytes {_SECTOR_BYTES}, or take all MPKI from it"
    counted_in = (
        f"GPGPU-Sim and Accel-Sim count sectors of {_SECTOR_BYTES} bytes, as many as four a line of 128"
    )
    if curve.line_bytes is None and tell is not None:
        of = "the lines of the curve of --mpki-from are not known, and the MPKI beside it may be of others"
        tell(f"{of}: {counted_in}; {how}")
    elif curve.line_bytes not in {None, _SECTOR_BYTES}:
        what = (
            f"the curve of --mpki-from counts lines of {curve.line_bytes} bytes, and stands beside other MPKI"
        )
        raise OptionError(f"{what}: {counted_in}", remedy=how)


def _curve(path: str, unit: MpkiUnit | None) -> CurvePoints:
    try:
        curve = inputs.read_curve_points(path)
    except InputError as error:
        error.remedy = _CURVE_REMEDIES.get(error.remedy or "", error.remedy)
        raise
    if None not in {curve.unit, unit} and curve.unit is not unit:
        raise OptionError(f"--mpki-unit {unit}, but {path} counts per {curve.unit} instruction")
    return curve


def _typed(options: ScalePredictOptions, curve: CurvePoints | None, tell: Tell | None) -> ScaleQuestion:
    """Return the question of --ipc and --mpki, or of --run; a file's curve is added later, in its unit."""
    unit = options.mpki_unit or (None if curve is None else curve.unit)
    ipc, f_mem = pairs_of("--ipc", options.ipc), list[tuple[int, float]]()
    if options.run:
        # Reading logs takes what tables of sizes do not.
        from scalemodel.from_logs import measurements_of_runs
        from tui.scale.runs import read_runs

        whole = measurements_of_runs("", read_runs(options.run), f_mem_from_stalls=options.f_mem_from_stalls)
        ipc = [(size, value) for size in whole.sizes if (value := whole.ipc_at(size)) is not None]
        f_mem = [(size, value) for size in whole.sizes if (value := whole.f_mem_at(size)) is not None]
        if f_mem and tell is not None:
            tell(
                f"f_mem of {f_mem[-1][0]} SMs is {f_mem[-1][1]:.3g}, W0_Scoreboard over all of the log's "
                "last line Stall: cycles of schedulers in which all warps wait for a register, of arithmetic "
                "too, so it is too large"
            )
    measurements = measurements_of(
        ipc,
        pairs_of("--mpki", options.mpki),
        f_mem,
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
    targets = question.targets
    if options.simulated:
        above = tuple(size for size in targets if size > max(simulated, default=0))
        targets = above or measured_above(measurements, simulated)
    targets = sizes_of("--target", options.target) or targets
    if not targets:
        raise OptionError("no target is given", remedy="say which GPUs are asked for: --target 32,64,128")
    return ScaleQuestion(measurements, simulated, targets)


def _with_curve(measurements: Measurements, curve: CurvePoints) -> Measurements:
    if measurements.curve and curve.unit not in {None, measurements.mpki_unit}:
        unit = measurements.mpki_unit
        what = f"the MPKI given count per {unit} instruction, the curve's per {curve.unit}"
        raise OptionError(what, remedy="give all in one unit")
    ipc, f_mem = (
        [(size, value) for size, value in zip(measurements.sizes, column, strict=True) if value is not None]
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


# -- what a prediction says: data ---------------------------------------------------------------------------


def prediction_row(measurements: Measurements, prediction: Prediction) -> dict[str, Any]:
    """Return a prediction, beside what was measured; the error is predicted / measured - 1."""
    is_model = prediction.region is Region.LARGEST
    measured = None if is_model else measurements.ipc_at(prediction.target)
    has_both = measured is not None and prediction.ipc is not None
    return {
        "target": prediction.target,
        "method": prediction.method,
        "ipc": prediction.ipc,
        "low": prediction.low,
        "high": prediction.high,
        "region": prediction.region.value,
        "note": prediction.note,
        "bounds": prediction.bounds.value,
        "measured": measured,
        "error": prediction.ipc / measured - 1 if has_both and prediction.ipc and measured else None,
    }


def outcome_object(measurements: Measurements, outcome: Outcome) -> dict[str, Any]:
    """Return all that was found of a benchmark."""
    cliff = None
    if outcome.cliff is not None:
        keys = ("smaller", "larger", "mpki_smaller", "mpki_larger", "ratio")
        cliff = {key: getattr(outcome.cliff, key) for key in keys}
    return {
        "benchmark": outcome.name,
        "scaling": measurements.scaling.value,
        "simulated": [{"size": size, "ipc": measurements.ipc_at(size)} for size in outcome.models],
        "mpki_unit": measurements.mpki_unit.value,
        "confidence": outcome.confidence,
        "cliff": cliff,
        "predictions": [prediction_row(measurements, each) for each in outcome.predictions],
        "correction": outcome.correction,
        "back_cast": dict(outcome.back_cast),
        "classification": {
            "scaling": outcome.classification.scaling.value,
            "reason": outcome.classification.reason,
        },
        "findings": [asdict(finding) for finding in outcome.findings],
    }


# -- what a prediction says: words --------------------------------------------------------------------------


def predict_text(pairs: Pairs, options: ScalePredictOptions, canvas: Canvas) -> str:
    """Return chart, table and words, without a line end: what `scale predict` prints with these options."""
    width = options.width or canvas.width
    lines: list[str] = []
    if len(pairs) == 1:
        lines += textwrap.wrap(_heading(pairs), width)
        grid = prediction_chart(*pairs[0], width, options.height or _HEIGHT)
        lines += [ansi(grid) if canvas.color else plain(grid), ""]
    lines.append(table(_columns(pairs), gap=" "))
    if len(pairs) == 1:
        lines += _wrapped(_notes(pairs[0][1]), width, "  ")
    lines += ["", *_wrapped(_found(pairs), width, "  "), "", *_wrapped(_explained(pairs, options), width)]
    return "\n".join([*lines, "--benchmark NAME draws one of them."] if len(pairs) > 1 else lines)


def predict_blocks(pairs: Pairs, options: ScalePredictOptions) -> Iterator[Block]:
    """Yield the same without the chart."""
    if len(pairs) == 1:
        yield _heading(pairs)
    yield _columns(pairs)
    if len(pairs) == 1:
        yield from _notes(pairs[0][1])
    yield from _found(pairs)
    yield from _explained(pairs, options)


def words_lines(pairs: Pairs, options: ScalePredictOptions, width: int) -> list[str]:
    """Return the words of one benchmark alone, what concerns all of it first, in lines of this width."""
    parts = (
        _wrapped(_found(pairs), width, "  "),
        _wrapped(_notes(pairs[0][1]), width, "  "),
        _wrapped(_explained(pairs, options), width),
    )
    return [line for lines in parts if lines for line in (*lines, "")][:-1]


def _wrapped(texts: Iterable[str], width: int, indent: str = "") -> list[str]:
    return [
        line
        for text in texts
        for line in textwrap.wrap(printable(text), width, subsequent_indent=indent, break_on_hyphens=False)
    ]


def _heading(pairs: Pairs) -> str:
    """Return of one benchmark what was simulated."""
    measurements, outcome = pairs[0]
    *smaller, largest = map(str, outcome.models)
    name = shortened(outcome.name, _LONGEST_NAME)
    sizes = f"{', '.join(smaller)} and {largest} {measurements.scaling.unit}"
    heading = f"{measurements.scaling} scaling, {sizes} simulated"
    return f"{name}: {heading}" if name else heading


def _found(pairs: Pairs) -> Iterator[str]:
    """Yield of each benchmark its class and what was found."""
    for _, outcome in pairs:
        name = f"{outcome.name}: " if len(pairs) > 1 else ""
        yield f"{name}{outcome.classification.scaling}: {outcome.classification.reason}."
        for each in outcome.findings:
            yield f"{name}{each.severity}: {each.message} To do: {each.remedy}."


def _notes(outcome: Outcome) -> Iterator[str]:
    """Yield the predictions' own notes, those of one text together."""
    targets_of: dict[tuple[str, str], list[int]] = {}
    for each in outcome.predictions:
        if each.note:
            targets_of.setdefault((each.method, each.note), []).append(each.target)
    for (method, note), targets in targets_of.items():
        yield f"{', '.join(map(str, targets))} {method}: {note}"


def _explained(pairs: Pairs, options: ScalePredictOptions) -> Iterator[str]:
    """Yield what a cliff gains, of one benchmark that has one and an f_mem; the rules; the intervals."""
    measurements, outcome = pairs[0]
    f_mem = measurements.f_mem_at(outcome.models[-1]) if options.f_mem is None else options.f_mem
    if len(pairs) == 1 and outcome.cliff is not None and f_mem is not None:
        yield f"At the cliff IPC gains {ratio(1 / (1 - f_mem))}, 1/(1 - f_mem) of f_mem {f_mem:.3g}."
    for method in dict.fromkeys(each.method for each in outcome.predictions):
        yield f"Rule {method}: {RULES[method].source}."
    yield from _intervals(pairs)


def ipc_text(value: float) -> str:
    """Return an IPC to four digits, whole from 10,000 on."""
    return f"{value:,.0f}" if value >= 10_000 else f"{value:.4g}"


def signed_share(error: float) -> str:
    """Return an error as a share with its sign."""
    return ("+" if error > 0 else "-" if error < 0 else "") + share(abs(error))


def _columns(pairs: Pairs) -> list[Column]:
    rows = [
        (outcome.name, each, prediction_row(measurements, each))
        for measurements, outcome in pairs
        for each in outcome.predictions
    ]

    def shown(key: str, form: Callable[[float], str] = ipc_text) -> list[str]:
        return [UNKNOWN if row[key] is None else form(row[key]) for _, _, row in rows]

    columns = [
        Column("target", [str(each.target) for _, each, _ in rows]),
        Column("rule", [each.method for _, each, _ in rows], to_right=False),
        Column("IPC", shown("ipc")),
        Column("low", shown("low")),
        Column("high", shown("high")),
    ]
    if len(pairs) > 1:
        short = [shortened(name, _LONGEST_NAME) for name, _, _ in rows]
        columns.insert(0, names("benchmark", short))
    if any(row["measured"] is not None for _, _, row in rows):
        columns += [Column("measured", shown("measured")), Column("error", shown("error", signed_share))]
    kinds = [_kind(each) for _, each, _ in rows]
    if len(pairs) == 1:
        columns.append(Column("region", [each.region.value for _, each, _ in rows], to_right=False))
    elif set(kinds) - {"interval", Bounds.NONE.value}:
        # The notes of many benchmarks would be too many.
        columns.append(Column("low to high is", kinds, to_right=False))
    return columns


def _kind(prediction: Prediction) -> str:
    """Return in a word or two what low and high of a prediction are."""
    if prediction.bounds not in {Bounds.INTERVAL, Bounds.BACK_CAST}:
        return prediction.bounds.value.removeprefix("interval ")
    return "beyond calibration" if prediction.is_beyond else "interval"


def _intervals(pairs: Pairs) -> Iterator[str]:
    """Yield what low to high is of each kind of rows, then which rules have none."""
    rows = [
        each for _, outcome in pairs for each in outcome.predictions if each.bounds is not Bounds.SIMULATED
    ]
    kinds = [kind for kind in Bounds if kind is not Bounds.NONE and any(row.bounds is kind for row in rows)]
    for kind in kinds:
        of_kind = [row for row in rows if row.bounds is kind]
        yield _interval(kind, of_kind, "" if len(kinds) == 1 else _where(of_kind, rows, pairs), pairs)
    if any(each.is_beyond for each in rows):
        yield (
            "Beyond the calibrated range, for other models, larger targets or efficiencies that change more "
            "than those, low to high is extrapolated, and what it holds is not known."
        )
    baselines = dict.fromkeys(each.method for each in rows if RULES[each.method].is_baseline)
    if baselines:
        yield f"{', '.join(baselines)}: no interval, as none was calibrated for baselines."


def _where(of_kind: Sequence[Prediction], rows: Sequence[Prediction], pairs: Pairs) -> str:
    """Return which rows these are: by their targets, or of several benchmarks how many."""
    if len(pairs) > 1:
        return f" of {len(of_kind)} of the {len(rows)} predictions"
    methods = dict.fromkeys(each.method for each in of_kind)
    with_bounds = {each.method for each in rows if each.bounds is not Bounds.NONE}
    by = f" by {listed(list(methods))}" if set(methods) != with_bounds else ""
    targets = dict.fromkeys(str(each.target) for each in of_kind)
    return f" at {listed(list(targets))} {pairs[0][0].scaling.unit}{by}"


def _interval(kind: Bounds, of_kind: Sequence[Prediction], where: str, pairs: Pairs) -> str:
    outcome = pairs[0][1]
    level = f"{100 * outcome.confidence:.0f} %"
    if kind is Bounds.BRACKET:
        return f"Low to high{where} is a bracket, no interval: {_between(pairs, level)}."
    if kind is Bounds.NOT_CALIBRATED:
        return (
            f"Low to high{where} is twice as wide as the interval of {level}, as a cliff lies between the "
            "models; what it holds was not calibrated."
        )
    is_of_three = kind is Bounds.BACK_CAST
    methods = list(dict.fromkeys(each.method for each in of_kind))
    held = {each: targets_held(each, outcome.confidence, of_three=is_of_three) for each in methods}
    counts = listed([f"{count} by {method}" for method, count in held.items()])
    counts = str(held[methods[0]]) if len(methods) == 1 else counts
    meant = f"Low to high{where} is an interval meant to hold {level} of the targets"
    if not is_of_three:
        return (
            f"{meant}. It was set by the public benchmarks, from 8 and 16 SMs up to 128 and from 4 and 8 "
            f"chiplets to 16, and tried on no others; of {TARGETS} targets of {BENCHMARKS} of them it holds "
            f"{counts}."
        )
    errors = [
        f"{method} {share(back)}"
        for method, back in outcome.back_cast.items()
        if back is not None and method in methods
    ]
    back_casts = f": {', '.join(errors)}" if errors and len(pairs) == 1 else ""
    return (
        f"{meant}, from how well each model is predicted by those before it{back_casts}. Of "
        f"{TARGETS_OF_THREE} targets of the public benchmarks, from 8, 16 and 32 SMs up to 128, it holds "
        f"{counts}; it was tried on no others."
    )


def _between(pairs: Pairs, level: str) -> str:
    """Return what a bracket's ends are: those of a known f_mem are widened as an interval is."""
    gains = "what the cliff gains at least and at most"
    widened = f"widened either way as an interval of {level} is"
    is_known = {
        all(finding.code != "f-mem-missing" for finding in outcome.findings)
        for _, outcome in pairs
        if any(each.bounds is Bounds.BRACKET for each in outcome.predictions)
    }
    if is_known == {True}:
        return f"nothing of what the cliff gains, or all of it, {widened}"
    return f"{gains}, where f_mem is known {widened}" if True in is_known else gains


# -- how well the rules predict -----------------------------------------------------------------------------


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
    """Return the chart of the errors, the table of the scores, and what to know of them.

    Parameters
    ----------
    scalings : of the benchmarks, each once.
    """
    width, height = options.width or canvas.width, options.height or _VALIDATE_HEIGHT
    heading, columns, *rest = validation_blocks(validation, scalings)
    grid = error_chart(validation, scalings[0].unit, width, height)
    words = [each for each in rest if isinstance(each, str)]
    lines = [
        *(textwrap.wrap(heading, width) if isinstance(heading, str) else ()),
        ansi(grid) if canvas.color else plain(grid),
        "",
        "" if isinstance(columns, str) else table(columns),
        "",
        *_wrapped(words, width, "  "),
    ]
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
    worst = [shortened(score.worst or UNKNOWN, _LONGEST_NAME) for *_, score in scores]

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
