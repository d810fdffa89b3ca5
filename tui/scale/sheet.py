"""View 5's tables of sizes, without a screen: what is typed, what is wrong with it, and what it predicts.

Everything is frozen: every edit makes a new table. A table is turned into the options of `scale predict`, so
that both predict the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from sampling.text import counted
from scalemodel import measurements as measured
from scalemodel.errors import OptionError, ScaleModelError
from scalemodel.inputs import ScaleQuestion, Tell, read_questions
from scalemodel.measurements import Measurements, MpkiUnit, Scaling
from scalemodel.predict import Outcome, predict
from scalemodel.rules import DEFAULT_CONFIDENCE, DEFAULT_RULE, RULES
from tui.charts.grid import LETTERS, fitted
from tui.charts.quantities import UNKNOWN
from tui.options.command_line import command_line
from tui.options.files import sample_scale_question
from tui.options.scale import ScalePredictOptions
from tui.output.blocks import Block, terminal_lines
from tui.output.writer import Canvas, canvas_text
from tui.scale import answers
from tui.scale.answers import ipc_text, prediction_row, predictions_of
from tui.terminal.printable import Column, wrapped

if TYPE_CHECKING:
    from scalemodel.from_logs import Run

#: The columns to type in, by the names of their fields, and what is written above them.
HEADINGS = {"size": "size", "ipc": "IPC", "mpki": "MPKI", "f_mem": "f_mem"}
CELLS = tuple(HEADINGS)
ROLE, PEAK = "role", "peak"
ALL_RULES, WAVES = "all", "waves"

Value = TypeVar("Value")


# -- what is typed ----------------------------------------------------------------------------------------


class Role(StrEnum):
    """What a row is: a scale model, a size to predict, both, or a point of the curve of MPKI alone."""

    SIMULATED = "simulated"
    TARGET = "target"
    BOTH = "both"
    CURVE = "curve"


@dataclass(frozen=True, slots=True)
class SheetRow:
    """One system size, its values as typed, empty where nothing is known."""

    size: str = ""
    ipc: str = ""
    mpki: str = ""
    f_mem: str = ""
    #: Its role, where the user or a file says it; None where it follows from the IPC.
    marked: Role | None = None

    @property
    def role(self) -> Role:
        """As marked; else a size with an IPC is simulated, and one without is asked for."""
        return self.marked or (Role.SIMULATED if self.ipc.strip() else Role.TARGET)

    @property
    def texts(self) -> Mapping[str, str]:
        """What is typed, by the names of `CELLS`."""
        return {cell: getattr(self, cell) for cell in CELLS}

    @property
    def is_blank(self) -> bool:
        """Whether nothing is typed: such a row is left out."""
        return not any(text.strip() for text in self.texts.values())

    @property
    def is_simulated(self) -> bool:
        """Whether it is a scale model."""
        return self.role in {Role.SIMULATED, Role.BOTH}

    @property
    def is_target(self) -> bool:
        """Whether it is asked for."""
        return self.role in {Role.TARGET, Role.BOTH}

    def with_next_role(self) -> SheetRow:
        """Return it with the role after its own; only what has an IPC can be simulated."""
        roles = list(Role) if self.ipc.strip() else [Role.TARGET, Role.CURVE]
        return replace(self, marked=next_of(roles, self.role))


def next_of(values: Sequence[Value], value: Value) -> Value:
    """Return the value after this one; the first after the last, and for one that is none of them."""
    return values[(values.index(value) + 1) % len(values)] if value in values else values[0]


@dataclass(frozen=True, slots=True)
class ScaleSheet:
    """The table of one benchmark: rows in the order shown, in which targets are predicted."""

    rows: tuple[SheetRow, ...] = (SheetRow(),) * 4
    name: str = ""
    scaling: Scaling = Scaling.STRONG
    mpki_unit: MpkiUnit = MpkiUnit.THREAD
    #: Peak IPC of an SM as typed, empty where it is not known.
    peak: str = ""
    #: The path it was read from, of runs what their paths share; empty where it was typed.
    file: str = ""
    #: Which one of a file of several; None where it is the only one.
    benchmark: str | None = None
    #: Simulated ones, ascending; empty for numbers.
    runs: tuple[Run, ...] = ()

    def with_cell(self, row: int, cell: str, text: str) -> ScaleSheet:
        """Return the sheet with another text in a cell, which is one of `CELLS`."""
        change: dict[str, Any] = {cell: text.strip()}
        return self.spliced(row, 1, replace(self.rows[row], **change))

    def spliced(self, place: int, left_out: int, *rows: SheetRow) -> ScaleSheet:
        """Return the sheet with these rows in place of so many from a place on."""
        return replace(self, rows=(*self.rows[:place], *rows, *self.rows[place + left_out :]))


def sheet_of(question: ScaleQuestion) -> ScaleSheet:
    """Return a question as a sheet, by ascending size, the roles marked where they would be others."""
    known, rows = question.measurements, []
    for size in sorted({*known.sizes, *question.targets}):
        ipc, mpki, f_mem = (_number_text(each.get(size)) for each in (known.ipc, known.mpki, known.f_mem))
        row = SheetRow(str(size), ipc, mpki, f_mem)
        role = Role.TARGET if size in question.targets else Role.CURVE
        if size in question.simulated:
            role = Role.BOTH if role is Role.TARGET else Role.SIMULATED
        rows.append(row if row.role is role else replace(row, marked=role))
    peak = _number_text(known.peak_ipc_per_sm)
    return ScaleSheet(tuple(rows), known.name, known.scaling, known.mpki_unit, peak)


def _number_text(value: float | None) -> str:
    """Return the shortest text that reads as this number; nothing for None."""
    return "" if value is None else repr(float(value)).removesuffix(".0")


def _number_in(text: str) -> float | None:
    return float(text) if text.strip() else None


def _size_in(row: SheetRow) -> int | None:
    """Return the size of a row, None where there is none that can be used."""
    try:
        return int(row.size) if measured.wrong_size(int(row.size)) is None else None
    except ValueError:
        return None


# -- what is wrong with it ----------------------------------------------------------------------------------


class WrongCell(NamedTuple):
    """A cell that cannot be used: its row's place, None for the peak; which of `CELLS`, `ROLE` or `PEAK`."""

    row: int | None
    cell: str
    #: Where it is and what is wrong with it, and what to do.
    place: str
    message: str
    remedy: str


def wrong_cells(sheet: ScaleSheet) -> tuple[WrongCell, ...]:
    """Return what is wrong, in reading order; blank rows are left out."""
    sizes = [_size_in(row) for row in sheet.rows]
    largest = max((int(row.size) for row in sheet.rows if row.is_simulated and _size_in(row)), default=0)
    found = []
    for number, row in enumerate(sheet.rows):
        place = f"row {number + 1}" + (f", size {row.size.strip()}" if row.size.strip() else "")
        for cell, message, remedy in () if row.is_blank else _wrong_in(row, sizes[:number], largest):
            found.append(WrongCell(number, cell, f"{place}, {HEADINGS.get(cell, cell)}", message, remedy))
    peak = _wrong_number(PEAK, sheet.peak, measured.wrong_ipc)
    return (*found, *(WrongCell(None, cell, PEAK, *said) for cell, *said in peak))


def _wrong_in(row: SheetRow, before: Sequence[int | None], largest: int) -> Iterator[tuple[str, str, str]]:
    """Yield the cells of a row that are wrong, what is wrong with each, and what to do."""
    size = _size_in(row)
    if size is None:
        message = f"a size is a whole number from 1 to {measured.LARGEST_SIZE:,}, not {row.size!r}"
        yield "size", message, measured.SIZE_REMEDY
    elif size in before:
        yield "size", f"size {size} is in row {before.index(size) + 1} already", "keep one of the two"
    for cell, rule in measured.WRONG_VALUE.items():
        yield from _wrong_number(cell, row.texts[cell], rule)
    if row.is_simulated and not row.ipc.strip():
        yield "ipc", "a simulated size has no IPC", "give it, or mark the row otherwise"
    if row.is_target and size is not None and size < largest:
        message = f"a target of {size} is below the largest simulated size, {largest}"
        yield ROLE, message, "mark it as simulated, or as a point of the curve"


def _wrong_number(
    cell: str, text: str, rule: Callable[[float], str | None]
) -> Iterator[tuple[str, str, str]]:
    try:
        wrong = rule(float(text)) if text.strip() else None
    except ValueError:
        yield cell, f"{text!r} is not a number", measured.NUMBER_REMEDY
    else:
        if wrong is not None:
            yield cell, wrong, "correct it, or empty it if it is not known"


# -- the open tables ---------------------------------------------------------------------------------------


def read_sheets(files: Sequence[str], tell: Tell | None = None) -> tuple[ScaleSheet, ...]:
    """Return a sheet for each benchmark of these files, and for each program of what simulators printed.

    Parameters
    ----------
    files : tables, TOML, logs, SIZE=LOG or folders of logs.
    tell : is told what of a file is left out.

    Raises InputError, ProfileError: a file cannot be read, or a value in it is wrong.
    """
    from tui.scale.runs import is_run, logs_in, read_run

    sheets: list[ScaleSheet] = []
    logs: list[str] = []
    for file in files:
        if Path(file).is_dir() or is_run(file):
            logs += logs_in(file) if Path(file).is_dir() else [file]
            continue
        questions = read_questions(file, tell=tell)
        for question in questions:
            name = question.measurements.name if len(questions) > 1 else None
            sheets.append(replace(sheet_of(question), file=file, benchmark=name))
    if logs:
        from scalemodel.from_logs import measurements_of_runs, programs_of

        for name, runs in programs_of([read_run(text)[0] for text in logs]).items():
            targets = default_targets([run.size for run in runs])
            models = tuple(run.size for run in runs if run.size not in targets)
            question = ScaleQuestion(measurements_of_runs(name, runs), models, targets)
            sheets.append(replace(sheet_of(question), file=name, runs=tuple(runs)))
    return tuple(sheets)


def default_targets(sizes: Sequence[int]) -> tuple[int, ...]:
    """Return what is predicted from runs where nothing is asked: the third on, else two doublings."""
    return tuple(sizes[2:]) or (2 * sizes[-1], 4 * sizes[-1])


@dataclass(frozen=True, slots=True)
class OpenTables:
    """Sheets, one of them open, and what is asked of them; every action makes new tables."""

    #: As they are now, one at least, and as they were read or begun.
    sheets: tuple[ScaleSheet, ...] = (ScaleSheet(),)
    originals: tuple[ScaleSheet, ...] = (ScaleSheet(),)
    #: Of the open sheet.
    place: int = 0
    #: A name of `scalemodel.rules.RULES`, `ALL_RULES`, or `WAVES`, which runs have alone.
    chosen_rule: str = DEFAULT_RULE
    confidence: float = DEFAULT_CONFIDENCE
    #: Whether to give a point where f_mem is needed and not known.
    assume_f_mem: bool = False
    #: Whether the numbers are the bundled ones, which no GPU has.
    is_made_up: bool = False
    #: The tables before the last edit; None where nothing was edited.
    before: OpenTables | None = None

    @property
    def sheet(self) -> ScaleSheet:
        """The open one."""
        return self.sheets[self.place]

    @property
    def is_edited(self) -> bool:
        """Whether the open sheet is another than the one read; one that was typed is not."""
        return bool(self.sheet.file) and self.sheet != self.originals[self.place]

    @property
    def rule(self) -> str:
        """The rule that is asked for: launch by launch there are runs alone."""
        return DEFAULT_RULE if self.chosen_rule == WAVES and not self.sheet.runs else self.chosen_rule

    def with_next_rule(self) -> OpenTables:
        """Return the same by the next rule; by all of them after the last, of runs then launch by launch."""
        rules = [*RULES, ALL_RULES, *([WAVES] if self.sheet.runs else [])]
        return replace(self, chosen_rule=next_of(rules, self.rule))

    def edited(self, sheet: ScaleSheet) -> OpenTables:
        """Return the tables with another sheet in the place of the open one."""
        if sheet == self.sheet:
            return self
        sheets = (*self.sheets[: self.place], sheet, *self.sheets[self.place + 1 :])
        return replace(self, sheets=sheets, before=self)

    def undone(self) -> OpenTables:
        """Return the tables before the last edit, asked as now; these where nothing was edited."""
        if self.before is None:
            return self
        asked = {name: getattr(self, name) for name in ("chosen_rule", "confidence", "assume_f_mem")}
        return replace(self.before, **asked)

    def opened(self, sheets: Sequence[ScaleSheet]) -> OpenTables:
        """Return these sheets, one at least, asked as now; runs launch by launch."""
        rule, opened = WAVES if sheets[0].runs else self.rule, tuple(sheets)
        return replace(
            self, sheets=opened, originals=opened, place=0, chosen_rule=rule, is_made_up=False, before=self
        )


def tables_of(sheets: Sequence[ScaleSheet]) -> OpenTables:
    """Return these sheets, one at least, the first one open; runs are predicted launch by launch."""
    return replace(OpenTables().opened(sheets), before=None)


@cache
def made_up_tables() -> OpenTables:
    """Return the bundled numbers."""
    return replace(tables_of(read_sheets([str(sample_scale_question())])), is_made_up=True)


# -- what it predicts ----------------------------------------------------------------------------------------


class SheetAnswer(NamedTuple):
    """What is predicted from a sheet."""

    measurements: Measurements
    outcome: Outcome
    #: Options that gave it, with every number; and that give it, shorter where the sheet is as in its file.
    asked: ScalePredictOptions
    command: ScalePredictOptions
    #: What is said of it beside the table and the chart; what the command prints.
    said: tuple[Block, ...]
    blocks: Callable[[ScalePredictOptions, Canvas], Iterable[Block]]

    def text(self, options: ScalePredictOptions, canvas: Canvas) -> str:
        """Return what the command prints with these options."""
        return canvas_text(self.blocks(options, canvas), canvas)


class SheetResult(NamedTuple):
    """What the open sheet predicts, or why it predicts nothing, and the cells that are wrong."""

    answer: SheetAnswer | None = None
    problem: ScaleModelError | None = None
    wrong: tuple[WrongCell, ...] = ()


def result_of(tables: OpenTables) -> SheetResult:
    """Predict from the open sheet; it takes a millisecond or two."""
    wrong = wrong_cells(tables.sheet)
    try:
        return SheetResult(answer_of(tables), None, wrong)
    except ScaleModelError as error:
        return SheetResult(None, error, wrong)


def answer_of(tables: OpenTables) -> SheetAnswer:
    """Return what `scale predict` predicts from the numbers of the open sheet, or from its runs.

    f_mem is given where a cliff makes use of it only: else it would be said that it is of no use.

    Raises OptionError: a cell is wrong, or nothing can be predicted from the sheet.
    """
    sheet = tables.sheet
    for wrong in wrong_cells(sheet):
        raise OptionError(f"{wrong.place}: {wrong.message}", remedy=wrong.remedy)
    rows = [row for row in sheet.rows if not row.is_blank]
    models = [int(row.size) for row in rows if row.is_simulated]
    targets = [int(row.size) for row in rows if row.is_target]
    if not targets:
        raise OptionError("no target is given", remedy="type the size of the system to predict")
    if tables.rule == WAVES:
        return _answer_of_runs(rows, targets, tables)
    if len(models) < 2:
        what = f"{'one size alone is' if models else 'no size is'} simulated, which shows no trend"
        raise OptionError(what, remedy="type the IPC of two simulated sizes or more")

    def pairs_of(cell: str) -> tuple[str, ...]:
        known = [(int(row.size), _number_in(row.texts[cell])) for row in rows]
        return _by_commas(f"{size}={_number_text(value)}" for size, value in known if value is not None)

    asked = ScalePredictOptions(
        ipc=pairs_of("ipc"),
        mpki=pairs_of("mpki"),
        simulated=() if all(row.is_simulated for row in rows if row.ipc) else _by_commas(models),
        target=_by_commas(targets),
        peak_ipc_per_sm=_number_in(sheet.peak),
        scaling=None if sheet.scaling is Scaling.STRONG else sheet.scaling,
        mpki_unit=None if sheet.mpki_unit is MpkiUnit.THREAD else sheet.mpki_unit,
        rule=() if tables.rule == DEFAULT_RULE else (tables.rule,),
        confidence=tables.confidence,
        # Where there are no cliffs there is nothing to assume it for.
        assume_f_mem=tables.assume_f_mem and sheet.scaling.has_cliffs,
    )
    pairs = predictions_of(asked)
    # The largest scale model's f_mem is the only one that is made use of.
    f_mem = _number_in(next(row.f_mem for row in rows if int(row.size) == max(models)))
    if f_mem is not None and pairs[0][1].cliff is not None:
        asked = replace(asked, f_mem=f_mem)
        pairs = predictions_of(asked)
    command = asked
    if sheet.file and not sheet.runs and not tables.is_edited:
        kept = {name: getattr(asked, name) for name in ("rule", "confidence", "assume_f_mem")}
        command = replace(ScalePredictOptions(files=(sheet.file,), benchmark=sheet.benchmark), **kept)
        pairs = [(replace(of, name=sheet.name), replace(found, name=sheet.name)) for of, found in pairs]
    said = tuple(answers.words_of_predictions(pairs, asked))
    return SheetAnswer(*pairs[0], asked, command, said, partial(answers.predict_blocks, pairs))


def _by_commas(words: Iterable[str | int]) -> tuple[str, ...]:
    joined = ",".join(map(str, words))
    return (joined,) if joined else ()


def _answer_of_runs(rows: Sequence[SheetRow], targets: Sequence[int], tables: OpenTables) -> SheetAnswer:
    """Return what the runs predict launch by launch at the sheet's targets."""
    from scalemodel.from_logs import measurements_of_runs, predicted_by_waves
    from tui.scale.runs import larger_gpus, runs_blocks

    kept = {(row.size, row.ipc) for row in rows if row.ipc}
    if not kept <= {(row.size, row.ipc) for row in tables.originals[tables.place].rows}:
        what = "launch by launch there are the runs as they were read alone"
        raise OptionError(what, remedy="undo the edit, or take a rule for numbers by r")
    sizes = {int(size) for size, _ in kept}
    runs = [run for run in tables.sheet.runs if run.size in sizes]
    measurements = measurements_of_runs(tables.sheet.name, runs)
    models = sorted(size for size in sizes if size < max(targets))[:2] if len(sizes) > 2 else None
    outcome = predict(measurements, [max(sizes, default=1) * 2], simulated=models)
    predictions = tuple(predicted_by_waves(runs, target) for target in targets)
    outcome = replace(outcome, predictions=predictions, cliff=None, findings=())
    found = larger_gpus(runs, targets)
    words = tuple(f"{run.size}={run.path}" for run in runs)
    asked = ScalePredictOptions(run=words, target=_by_commas(targets))
    said = tuple(runs_blocks(found, kernels=True))
    blocks = lambda options, _: runs_blocks(found, kernels=options.kernels)  # noqa: E731
    return SheetAnswer(measurements, outcome, asked, asked, said, blocks)


# -- the columns of the table --------------------------------------------------------------------------------

GAP = 2
WRONG_MARK = "!"
_MOST_TYPED = 9
_IPCS = ("ipc", "low", "high")
_DROPPED_FIRST = ("low to high", "error", "predicted")


class SheetColumn(Column):
    """One column: a text a row, none wider than the width, in terminal cells."""

    @property
    def width(self) -> int:
        """Of the heading and the widest cell."""
        return max(map(len, (self.heading, *self.cells)))

    def fitted(self, text: str) -> str:
        """Return the heading or a cell, as wide as the column."""
        return text.rjust(self.width) if self.to_right else text.ljust(self.width)


def sheet_columns(sheet: ScaleSheet, result: SheetResult, width: int) -> list[SheetColumn]:
    """Return the columns that fit in `width` cells: those to type in first, by the order of `CELLS`.

    Wrong cells are marked with a sign that follows their text. Of several rules the first one's predictions
    are shown, with its letter in the chart.
    """
    marked = {(each.row, each.cell) for each in result.wrong}
    letter, found = "", dict[int, Mapping[str, Any]]()
    if (answer := result.answer) is not None:
        for prediction in answer.outcome.predictions:
            found.setdefault(prediction.target, prediction_row(answer.measurements, prediction))
        if len(answer.outcome.predictions) > len(found):
            letter = f"{LETTERS[0]} "
    cells: dict[str, list[str]] = {name: [] for name in (*CELLS, ROLE, *_DROPPED_FIRST)}
    for place, row in enumerate(sheet.rows):
        for cell, text in row.texts.items():
            # A wrong text is shown as it was typed: rounded, it might look right.
            if (place, cell) in marked:
                cells[cell].append(fitted(text, _MOST_TYPED) + WRONG_MARK)
            else:
                is_short = len(text) <= _MOST_TYPED
                cells[cell].append(f"{text if is_short else f'{_number_in(text):.4g}'[:_MOST_TYPED]} ")
        role = "measured" if row.role is Role.TARGET and row.ipc else row.role.value
        role = "unused" if row.role is Role.CURVE and not row.mpki else role
        cells[ROLE].append("" if row.is_blank else role + WRONG_MARK * ((place, ROLE) in marked))
        asked = row.is_target and not row.is_blank
        said = found.get(_size_in(row) or 0, {}) if asked else {}
        ipc, low, high = (None if (value := said.get(key)) is None else ipc_text(value) for key in _IPCS)
        cells["predicted"].append((ipc or UNKNOWN) if asked else "")
        cells["low to high"].append(f"{low} to {high}" if high else f"from {low}" if low else "")
        cells["error"].append("" if (off := said.get("error")) is None else answers.signed_share(off))
    columns = [SheetColumn(f"{heading} ", cells[cell]) for cell, heading in HEADINGS.items()]
    columns.append(SheetColumn(ROLE, cells[ROLE], to_right=False))
    predicted = ("predicted", "low to high", *(["error"] if any(cells["error"]) else []))
    columns += [SheetColumn(f"{letter}{name}", cells[name]) for name in predicted]
    for heading in _DROPPED_FIRST:
        if sum(column.width + GAP for column in columns) - GAP <= width:
            break
        columns = [column for column in columns if not column.heading.endswith(heading)]
    return columns


# -- what is said beside it ----------------------------------------------------------------------------------

Title = tuple[str, str]
"""The name of a pane, and what stands at the right end of its row."""


def table_title(tables: OpenTables, row: int | None) -> Title:
    """Return what is open, and which of how many; the row is the cursor's, if not all rows are in sight."""
    sheet, several = tables.sheet, len(tables.sheets)
    right = [] if row is None else [f"row {row + 1} of {len(sheet.rows)}"]
    right += [f"[b] {tables.place + 1} of {several}"] if several > 1 else []
    if not sheet.file:
        return "[5] Sizes, as typed", ", ".join(right)
    if tables.is_made_up:
        made_up = "Sizes, from made-up numbers" if tables.is_edited else "Made-up numbers, no real GPU"
        return f"[5] {made_up}", ", ".join(right or ["[N] empty", "[o] open"])
    file = counted(len(sheet.runs), "run") if sheet.runs else Path(sheet.file).name
    name = f": {sheet.name}" if sheet.name else ""
    return f"[5] {file}{name}{', edited' * tables.is_edited}", ", ".join(right)


def chart_title(tables: OpenTables, answer: SheetAnswer | None) -> Title:
    """Return which rule is drawn, and where the cliff is."""
    if answer is None or tables.rule == WAVES:
        return f"[tab] Chart: {'no prediction' if answer is None else 'launch by launch'}", ""
    cliff, unit = answer.outcome.cliff, answer.measurements.scaling.unit
    where = "no cliff" if cliff is None else f"cliff {cliff.smaller} to {cliff.larger} {unit}"
    return f"[tab] Chart: {_rule_and_level(tables, ', ')}", where


def words_title(result: SheetResult, *, has_more: bool) -> Title:
    """Return how much there is to read, of what is found or wrong, and whether there is more below."""
    numbers, title = [(len(result.wrong), "wrong cell")], "[f] What is wrong"
    if result.answer is not None:
        outcome = result.answer.outcome
        warnings = len(outcome.warnings)
        numbers = [(warnings, "warning"), (len(outcome.findings) - warnings, "note")]
        title = f"[f] In words: {outcome.classification.scaling}"
    counts = [counted(number, what) for number, what in numbers if number]
    return title, ", ".join(counts + ["j more"] * has_more)


def status_lines(tables: OpenTables, result: SheetResult, row: int, cell: str) -> list[str]:
    """Return what is wrong with the cell under the cursor, else with another; else what is asked.

    It is said in the longest form first.
    """
    for wrong in sorted(result.wrong, key=lambda each: (each.row, each.cell) != (row, cell)):
        said = f"{wrong.place}: {wrong.message}"
        return [f"{said}; {wrong.remedy}", said, wrong.message]
    if result.problem is not None:
        return [str(result.problem), result.problem.message]
    sheet = tables.sheet
    if tables.rule == WAVES:
        return [f"[r] {WAVES}, launch by launch from the two largest runs below each target", f"[r] {WAVES}"]
    asked = f"[s] {sheet.scaling}  [r] {_rule_and_level(tables, '  [i] ')}"
    f_mem = "assumed" if tables.assume_f_mem else "as known"
    peak = f"peak {sheet.peak}" if sheet.peak else "no peak"
    return [f"{asked}  [t] per {sheet.mpki_unit}  [a] f_mem {f_mem}  [p] {peak}", asked]


def _rule_and_level(tables: OpenTables, between: str) -> str:
    rule = "all rules" if tables.rule == ALL_RULES else tables.rule
    return f"{rule}{between}{100 * tables.confidence:.0f} %"


def result_lines(result: SheetResult, width: int) -> list[str]:
    """Return the words about a prediction, or all that is wrong, in lines of a width."""
    if result.answer is not None:
        return "\n".join(terminal_lines(result.answer.said, width)).split("\n")
    said = [f"{each.place}: {each.message}; {each.remedy}." for each in result.wrong]
    return [line for text in said or [f"{result.problem}."] for line in wrapped(text, width, "  ")]


def farewell(tables: OpenTables) -> str | None:
    """Return the largest target's prediction and the command that gives it; None of numbers as bundled."""
    answer = None if tables.is_made_up and not tables.is_edited else result_of(tables).answer
    if answer is None:
        # A wrong cell has been said beside the table.
        return None
    line = command_line("scale predict", answer.command)
    last = max(answer.outcome.predictions, key=lambda each: each.target)
    if last.ipc is None:
        return line
    unit = answer.measurements.scaling.unit
    return f"{last.target} {unit}: IPC {last.ipc:.4g} by {last.method}\n{line}"
