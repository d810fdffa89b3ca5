"""View 5's questions, without a screen: what is read, a number changed, what is predicted, how it is told.

Everything is frozen: every action makes a new value. The options of `scale predict` that ask the same stand
beside each answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from msgspec import structs

from sampling.errors import OptionError, SamplingError
from sampling.text import counted
from scalemodel.inputs import ScaleQuestion, Tell, parse_question, read_questions
from scalemodel.measurements import NUMBER_REMEDY, SIZE_REMEDY, Measurements, MpkiUnit, Scaling
from scalemodel.predict import Outcome, Prediction, predict
from scalemodel.rules import DEFAULT_CONFIDENCE, DEFAULT_RULE, LEVELS, RULES
from tui.charts.grid import LETTERS
from tui.charts.quantities import UNKNOWN
from tui.charts.size_plot import SHADE, SQUARE
from tui.options.command_line import command_line, error_text
from tui.options.files import sample_scale_question
from tui.options.scale import ScalePredictOptions
from tui.output.blocks import Block, terminal_lines
from tui.output.writer import Canvas, canvas_text
from tui.scale.answers import explain_predictions, ipc_text, predict_blocks, signed_share
from tui.terminal.printable import Column, cell_width, is_ascii, padded, wrapped

if TYPE_CHECKING:
    from scalemodel.runs import SimulatedRun

#: The numbers of a size, by the names of their fields, and what is written above them.
HEADINGS = {"size": "size", "ipc": "IPC", "mpki": "MPKI", "f_mem": "f_mem"}
CELLS = tuple(HEADINGS)
ALL_RULES, WAVES = "all", "waves"
#: What the question is called in messages of its text.
TEXT_NAME = "question.toml"

Value = TypeVar("Value")


# -- what is asked ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question, and where it comes from."""

    question: ScaleQuestion
    #: As it was read.
    original: ScaleQuestion
    #: The path it was read from, of runs what their paths share.
    file: str
    #: Which one of a file of several; None where it is the only one.
    benchmark: str | None = None
    #: Simulated ones, ascending; empty for numbers.
    runs: tuple[SimulatedRun, ...] = ()

    @property
    def measurements(self) -> Measurements:
        """What was measured."""
        return self.question.measurements

    @property
    def is_edited(self) -> bool:
        """Whether it is another question than the one that was read."""
        return self.question != self.original

    def with_question(self, question: ScaleQuestion) -> OpenQuestion:
        """Return it with another question; with another IPC it is of numbers, and no more of its runs."""
        is_of_runs = question.measurements.ipc == self.measurements.ipc
        return replace(self, question=question, runs=self.runs if is_of_runs else ())

    def with_cell(self, size: int, cell: str, text: str) -> OpenQuestion:
        """Return it with what is typed in a cell, one of `CELLS`, of a size.

        Raises OptionError: it is no number, or one out of range.
        """
        if cell == "size":
            try:
                return self.with_question(self.question.with_size(size, int(text)))
            except ValueError as error:
                raise OptionError(f"{text!r} is no whole number", remedy=SIZE_REMEDY) from error
        try:
            value = float(text) if text.strip() else None
        except ValueError as error:
            raise OptionError(f"{text!r} is not a number", remedy=NUMBER_REMEDY) from error
        return self.with_question(self.question.with_value(size, cell, value))

    def with_text(self, text: str) -> OpenQuestion:
        """Return it with the question of a TOML; ProfileError where that is wrong."""
        return self.with_question(parse_question(text, TEXT_NAME))

    def cell_text(self, size: int, cell: str) -> str:
        """Return what stands in a cell: the shortest text that reads as its number, nothing for none."""
        return str(size) if cell == "size" else _number_text(getattr(self.measurements, cell).get(size))

    def role(self, size: int) -> str:
        """Return what a size is to the prediction."""
        question = self.question
        if size in question.simulated:
            return "both" if size in question.targets else "simulated"
        if size in question.targets:
            return "measured" if size in self.measurements.ipc else "target"
        return "curve" if size in self.measurements.mpki else "unused"


def _number_text(value: float | None) -> str:
    return "" if value is None else repr(float(value)).removesuffix(".0")


def following(values: Sequence[Value], value: Value) -> Value:
    """Return the value after this one; the first after the last, and for one that is none of them."""
    return values[(values.index(value) + 1) % len(values)] if value in values else values[0]


def open_questions(files: Sequence[str], tell: Tell | None = None) -> tuple[OpenQuestion, ...]:
    """Return a question for each benchmark of these files, and for each program of what simulators printed.

    Parameters
    ----------
    files : tables, TOML, logs, SIZE=LOG or folders of logs.
    tell : is told what of a file is left out.

    Raises ProfileError: a file cannot be read, or a value in it is wrong.
    """
    from scalemodel.runs import default_targets, find_logs, group_programs, is_run, measure_runs, read_run

    opened: list[OpenQuestion] = []
    logs: list[str] = []
    for file in files:
        if Path(file).is_dir() or is_run(file):
            logs += find_logs(file) if Path(file).is_dir() else [file]
            continue
        questions = read_questions(file, tell=tell)
        for question in questions:
            name = question.measurements.name if len(questions) > 1 else None
            opened.append(OpenQuestion(question, question, file, name))
    programs = group_programs([read_run(text) for text in logs]) if logs else {}
    for name, runs in programs.items():
        targets = default_targets([run.size for run in runs])
        models = tuple(run.size for run in runs if run.size not in targets)
        question = ScaleQuestion(measure_runs(name, runs), models, targets)
        opened.append(OpenQuestion(question, question, name, runs=tuple(runs)))
    return tuple(opened)


@dataclass(frozen=True, slots=True)
class OpenQuestions:
    """Questions, one of them shown, and how they are answered; every action makes new ones."""

    #: One at least.
    questions: tuple[OpenQuestion, ...]
    #: Of the one shown.
    place: int = 0
    #: A name of `scalemodel.rules.RULES`, `ALL_RULES`, or `WAVES`, which runs have alone.
    chosen_rule: str = DEFAULT_RULE
    confidence: float = DEFAULT_CONFIDENCE
    #: Whether to give a point where f_mem is needed and not known.
    assume_f_mem: bool = False
    #: Whether the numbers are the bundled ones, which no GPU has.
    is_made_up: bool = False

    @property
    def shown(self) -> OpenQuestion:
        """The one shown."""
        return self.questions[self.place]

    @property
    def rule(self) -> str:
        """The rule that is asked for: launch by launch there are runs alone."""
        return DEFAULT_RULE if self.chosen_rule == WAVES and not self.shown.runs else self.chosen_rule

    def with_next_rule(self) -> OpenQuestions:
        """Return the same by the next rule; by all of them after the last, of runs then launch by launch."""
        rules = [*RULES, ALL_RULES, *([WAVES] if self.shown.runs else [])]
        return replace(self, chosen_rule=following(rules, self.rule))

    def with_next_confidence(self) -> OpenQuestions:
        """Return the same with intervals of the next level."""
        return replace(self, confidence=following([level.confidence for level in LEVELS], self.confidence))

    def with_next_benchmark(self) -> OpenQuestions:
        """Return the same with the next question shown."""
        return replace(self, place=(self.place + 1) % len(self.questions))

    def with_shown(self, question: OpenQuestion) -> OpenQuestions:
        """Return the questions with another one in the place of the one shown."""
        questions = (*self.questions[: self.place], question, *self.questions[self.place + 1 :])
        return replace(self, questions=questions)

    def with_questions(self, questions: Sequence[OpenQuestion]) -> OpenQuestions:
        """Return other questions, one at least, answered as these are; of runs launch by launch."""
        rule = WAVES if questions[0].runs else self.rule
        return replace(self, questions=tuple(questions), place=0, chosen_rule=rule, is_made_up=False)


def questions_from(questions: Sequence[OpenQuestion]) -> OpenQuestions:
    """Return these questions, one at least, the first one shown; runs are predicted launch by launch."""
    return OpenQuestions(tuple(questions)).with_questions(questions)


@cache
def made_up_questions() -> OpenQuestions:
    """Return the bundled numbers."""
    return replace(questions_from(open_questions([str(sample_scale_question())])), is_made_up=True)


# -- what is predicted ------------------------------------------------------------------------------------


class ScaleAnswer(NamedTuple):
    """What is predicted."""

    measurements: Measurements
    outcome: Outcome
    #: What the command is given that predicts the same.
    command: ScalePredictOptions
    #: What is said of it beside the table and the chart; what the command prints.
    words: tuple[Block, ...]
    blocks: Callable[[ScalePredictOptions, Canvas], Iterable[Block]]

    def text(self, options: ScalePredictOptions, canvas: Canvas) -> str:
        """Return what the command prints with these options."""
        return canvas_text(self.blocks(options, canvas), canvas)


def answer(questions: OpenQuestions) -> ScaleAnswer | SamplingError:
    """Return what is predicted, or why nothing is; it takes a millisecond or two."""
    try:
        return answer_question(questions)
    except SamplingError as error:
        return error


def answer_question(questions: OpenQuestions) -> ScaleAnswer:
    """Return what `scale predict` predicts from the numbers shown, or from their runs.

    Raises OptionError: nothing can be predicted from them.
    """
    current = questions.shown
    _, simulated, targets = current.question
    if not targets:
        raise OptionError("no target is given", remedy="name the sizes to predict: E, targets = [32]")
    if questions.rule == WAVES:
        return _answer_by_waves(current)
    is_of_file = not current.runs and not current.is_edited
    measurements = current.measurements if is_of_file else replace(current.measurements, name="")
    outcome = predict(
        measurements,
        targets,
        rules=tuple(RULES) if questions.rule == ALL_RULES else (questions.rule,),
        confidence=questions.confidence,
        simulated=simulated,
        # Where there are no cliffs there is nothing to assume it for.
        assume_f_mem=questions.assume_f_mem and measurements.scaling.has_cliffs,
    )
    command = ScalePredictOptions(
        rule=() if questions.rule == DEFAULT_RULE else (questions.rule,),
        confidence=questions.confidence,
        assume_f_mem=questions.assume_f_mem and measurements.scaling.has_cliffs,
        **(_file_options(current) if is_of_file else _number_options(current.question, outcome)),
    )
    pairs = [(measurements, outcome)]
    words = tuple(explain_predictions(pairs, command))
    return ScaleAnswer(measurements, outcome, command, words, partial(predict_blocks, pairs))


def _file_options(current: OpenQuestion) -> dict[str, Any]:
    return {"files": (current.file,), "benchmark": current.benchmark}


def _number_options(question: ScaleQuestion, outcome: Outcome) -> dict[str, Any]:
    """Return the options that give every number; f_mem where a cliff makes use of it alone."""
    measurements, simulated, targets = question
    f_mem = None if outcome.cliff is None else measurements.f_mem.get(max(simulated))
    return {
        "ipc": _joined(f"{size}={_number_text(value)}" for size, value in sorted(measurements.ipc.items())),
        "mpki": _joined(f"{size}={_number_text(value)}" for size, value in measurements.curve),
        "simulated": () if set(measurements.ipc) == set(simulated) else _joined(simulated),
        "target": _joined(targets),
        "f_mem": f_mem,
        "peak_ipc_per_sm": measurements.peak_ipc_per_sm,
        "scaling": None if measurements.scaling is Scaling.STRONG else measurements.scaling,
        "mpki_unit": None if measurements.mpki_unit is MpkiUnit.THREAD else measurements.mpki_unit,
    }


def _joined(words: Iterable[str | int]) -> tuple[str, ...]:
    joined = ",".join(map(str, words))
    return (joined,) if joined else ()


def _answer_by_waves(current: OpenQuestion) -> ScaleAnswer:
    """Return what the runs predict launch by launch."""
    from scalemodel.runs import measure_runs
    from scalemodel.waves import predict_ipc, predict_larger_gpus
    from tui.scale.runs import runs_blocks

    runs, targets = current.runs, current.question.targets
    measurements = measure_runs(current.measurements.name, runs)
    sizes = measurements.simulated_sizes
    models = [size for size in sizes if size < max(targets)][:2] if len(sizes) > 2 else None
    outcome = predict(measurements, [2 * max(sizes)], simulated=models)
    predictions = tuple(predict_ipc(runs, target).beside(measurements.ipc.get(target)) for target in targets)
    outcome = structs.replace(outcome, predictions=predictions, cliff=None, findings=())
    larger = predict_larger_gpus(runs, targets)
    words = tuple(f"{run.size}={run.path}" for run in runs)
    command = ScalePredictOptions(run=words, target=_joined(targets))
    blocks = lambda options, _: runs_blocks(larger, kernels=options.kernels)  # noqa: E731
    return ScaleAnswer(measurements, outcome, command, tuple(runs_blocks(larger, kernels=True)), blocks)


# -- the table --------------------------------------------------------------------------------------------

GAP = 2
_MOST_DIGITS = 9
_DROPPED_FIRST = ("low to high", "error", "predicted")


class SizeColumn(Column):
    """One column: a text a size, none wider than the width, in terminal cells."""

    @property
    def width(self) -> int:
        """Of the heading and the widest cell."""
        return max(map(cell_width, (self.heading, *self.cells)))

    def fitted(self, text: str) -> str:
        """Return the heading or a cell, as wide as the column."""
        return padded(text, self.width, to_right=self.to_right)


def size_columns(current: OpenQuestion, answer: ScaleAnswer | None, width: int) -> list[SizeColumn]:
    """Return the columns that fit in `width` cells: the numbers first, by the order of `CELLS`.

    Of several rules the first one's predictions are shown, with its letter in the chart.
    """
    sizes, by_target, letter = current.question.sizes, dict[int, Prediction](), ""
    predictions = () if answer is None else answer.outcome.predictions
    for prediction in predictions:
        by_target.setdefault(prediction.target, prediction)
    if len(predictions) > len(by_target):
        letter = f"{LETTERS[0]} "
    columns = [
        SizeColumn(heading, [_short(current.cell_text(size, cell)) for size in sizes])
        for cell, heading in HEADINGS.items()
    ]
    columns.append(SizeColumn("role", [current.role(size) for size in sizes], to_right=False))
    targets = [by_target.get(size) if size in current.question.targets else None for size in sizes]
    texts = {
        "predicted": [
            UNKNOWN if prediction is None or prediction.ipc is None else ipc_text(prediction.ipc)
            for prediction in targets
        ],
        "low to high": ["" if prediction is None else _interval_text(prediction) for prediction in targets],
        "error": [
            "" if prediction is None or prediction.error is None else signed_share(prediction.error)
            for prediction in targets
        ],
    }
    for row, size in enumerate(sizes):
        if size not in current.question.targets:
            texts["predicted"][row] = ""
    columns += [SizeColumn(f"{letter}{name}", cells) for name, cells in texts.items() if any(cells)]
    for heading in _DROPPED_FIRST:
        if sum(column.width + GAP for column in columns) - GAP <= width:
            break
        columns = [column for column in columns if not column.heading.endswith(heading)]
    return columns


def _short(text: str) -> str:
    return text if len(text) <= _MOST_DIGITS else f"{float(text):.4g}"


def _interval_text(prediction: Prediction) -> str:
    if prediction.low is None:
        return ""
    low = ipc_text(prediction.low)
    return f"from {low}" if prediction.high is None else f"{low} to {ipc_text(prediction.high)}"


# -- what is said beside it -------------------------------------------------------------------------------

Title = tuple[str, ...]
"""The name of a pane, and what stands at the right end of its row, the longest form first."""


def table_title(questions: OpenQuestions, row: int | None) -> Title:
    """Return what is open, and which of how many; the row is the cursor's, if not all rows are in sight."""
    current, several = questions.shown, len(questions.questions)
    right = [] if row is None else [f"row {row + 1} of {len(current.question.sizes)}"]
    right += [f"[b] {questions.place + 1} of {several}"] if several > 1 else []
    if questions.is_made_up:
        made_up = "Sizes, from made-up numbers" if current.is_edited else "Made-up numbers, no real GPU"
        return f"[5] {made_up}", ", ".join(right or ["[E] edit, [o] open"])
    file = counted(len(current.runs), "run") if current.runs else Path(current.file).name
    name = f": {current.measurements.name}" if current.measurements.name else ""
    return f"[5] {file}{name}{', edited' * current.is_edited}", ", ".join(right)


def chart_title(questions: OpenQuestions, answer: ScaleAnswer | None) -> Title:
    """Return what is drawn by which rule, what its glyphs are, and where the cliff is."""
    if answer is None or questions.rule == WAVES:
        return f"[tab] Chart: {'no prediction' if answer is None else 'launch by launch'}", ""
    cliff, unit = answer.outcome.cliff, answer.measurements.scaling.unit
    shade = SHADE[is_ascii()]
    place = "no cliff" if cliff is None else f"{shade} cliff {cliff.smaller} to {cliff.larger} {unit}"
    title = f"[tab] IPC per {unit.removesuffix('s')}: {_rule_and_level(questions, ', ')}"
    return title, f"{SQUARE[is_ascii()]} simulated, {place}", place


def words_title(answer: ScaleAnswer | None, *, has_more: bool) -> Title:
    """Return how much there is to read of what is found, and whether there is more below."""
    counts: list[str] = []
    title = "[tab] What is wrong"
    if answer is not None:
        outcome = answer.outcome
        warnings = len(outcome.warnings)
        numbers = [(warnings, "warning"), (len(outcome.findings) - warnings, "note")]
        counts = [counted(number, noun) for number, noun in numbers if number]
        title = f"[tab] In words: {outcome.classification.scaling}"
    return title, ", ".join(counts + ["j more"] * has_more)


def status_lines(questions: OpenQuestions, answer: ScaleAnswer | SamplingError) -> list[str]:
    """Return how the question is answered, or why it is not; the longest form first."""
    if isinstance(answer, SamplingError):
        return [error_text(answer), answer.message]
    if questions.rule == WAVES:
        return [f"[r] {WAVES}, launch by launch from the two largest runs below each target", f"[r] {WAVES}"]
    measurements = questions.shown.measurements
    method = f"[r] {_rule_and_level(questions, '  [i] ')}"
    f_mem = "assumed" if questions.assume_f_mem else "as known"
    peak = "no peak" if measurements.peak_ipc_per_sm is None else f"peak {measurements.peak_ipc_per_sm:g}"
    longest = f"{method}  [a] f_mem {f_mem}  {measurements.scaling} scaling"
    return [f"{longest}, per {measurements.mpki_unit}, {peak}", longest, method]


def _rule_and_level(questions: OpenQuestions, between: str) -> str:
    rule = "all rules" if questions.rule == ALL_RULES else questions.rule
    return f"{rule}{between}{100 * questions.confidence:.0f} %"


def answer_lines(answer: ScaleAnswer | SamplingError, width: int) -> list[str]:
    """Return the words about a prediction, or what is wrong, in lines of a width."""
    if isinstance(answer, SamplingError):
        return wrapped(f"{error_text(answer)}.", width, "  ")
    return "\n".join(terminal_lines(answer.words, width)).split("\n")


def farewell(questions: OpenQuestions) -> str | None:
    """Return the largest target's prediction and the command that gives it; None of numbers as bundled."""
    if questions.is_made_up and not questions.shown.is_edited:
        return None
    result = answer(questions)
    if isinstance(result, SamplingError):
        # It has been said beside the table.
        return None
    line = command_line("scale predict", result.command)
    last = max(result.outcome.predictions, key=lambda prediction: prediction.target)
    if last.ipc is None:
        return line
    unit = result.measurements.scaling.unit
    return f"{last.target} {unit}: IPC {last.ipc:.4g} by {last.method}\n{line}"
