"""View 5's tables of sizes, without a screen: what is typed, what is wrong with it, and what it predicts.

Everything is frozen: every edit makes a new table. What a table predicts is what `scale predict` does of its
numbers, or of its runs: it is turned into the options of that command, so that both give the same.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sampling.errors import SamplingError
from sampling.text import counted
from scalemodel.errors import OptionError, ScaleModelError
from scalemodel.inputs import ScaleQuestion, Tell, read_questions
from scalemodel.measurements import (
    NUMBER_REMEDY,
    SIZE_REMEDY,
    WRONG_VALUE,
    Measurements,
    MpkiUnit,
    Scaling,
    wrong_ipc,
    wrong_size,
)
from scalemodel.predict import Outcome, predict
from scalemodel.rules import DEFAULT_CONFIDENCE, DEFAULT_RULE, RULES
from tui.charts.grid import LETTERS, fitted
from tui.charts.quantities import UNKNOWN
from tui.options.command_line import command_line
from tui.options.files import sample_scale_question
from tui.options.scale import ScalePredictOptions
from tui.output.writer import Canvas
from tui.scale.answers import (
    ipc_text,
    predict_text,
    prediction_row,
    predictions_of,
    signed_share,
    words_lines,
)
from tui.terminal.printable import Column, wrapped

if TYPE_CHECKING:
    from scalemodel.from_logs import Run

CELLS = ("size", "ipc", "mpki", "f_mem")
"""The columns to type in, by the names of their fields."""
ROLE, PEAK = "role", "peak"
"""What can be wrong beside the cells to type in: a row's role, and the peak of the sheet."""
_HEADINGS = {"size": "size", "ipc": "IPC", "mpki": "MPKI", "f_mem": "f_mem"}
_BLANK_ROWS = 4

ALL_RULES, WAVES = "all", "waves"
CONFIDENCES = (0.8, 0.9, 0.95)

#: What reading files raises that a person can mend.
UNREADABLE = (ScaleModelError, SamplingError)

Value = TypeVar("Value")


# -- what is typed ----------------------------------------------------------------------------------------


class Role(StrEnum):
    """What a row is there for.

    ``simulated``: a scale model. ``target``: to be predicted, and compared where it has an IPC. ``both``: a
    scale model that is asked for. ``curve``: neither; its MPKI, if there is one, is a point of the curve.
    """

    SIMULATED = "simulated"
    TARGET = "target"
    BOTH = "both"
    CURVE = "curve"


@dataclass(frozen=True, slots=True)
class SheetRow:
    """One system size, its values as typed, empty where nothing is known.

    Attributes
    ----------
    marked : its role, where the user or a file says it; None where it follows from the IPC.
    """

    size: str = ""
    ipc: str = ""
    mpki: str = ""
    f_mem: str = ""
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


@dataclass(frozen=True, slots=True)
class ScaleSheet:
    """The table of one benchmark: rows in the order shown, in which targets are predicted.

    Attributes
    ----------
    peak : peak IPC of an SM as typed, empty where it is not known.
    """

    rows: tuple[SheetRow, ...]
    name: str = ""
    scaling: Scaling = Scaling.STRONG
    mpki_unit: MpkiUnit = MpkiUnit.THREAD
    peak: str = ""

    def with_cell(self, row: int, cell: str, text: str) -> ScaleSheet:
        """Return the sheet with another text in a cell, which is one of `CELLS`."""
        change: dict[str, Any] = {cell: text.strip()}
        return self.spliced(row, 1, replace(self.rows[row], **change))

    def spliced(self, place: int, left_out: int, *rows: SheetRow) -> ScaleSheet:
        """Return the sheet with these rows in place of so many from a place on."""
        return replace(self, rows=(*self.rows[:place], *rows, *self.rows[place + left_out :]))


def blank_sheet() -> ScaleSheet:
    """Return a sheet to type in."""
    return ScaleSheet((SheetRow(),) * _BLANK_ROWS)


def sheet_of(question: ScaleQuestion) -> ScaleSheet:
    """Return a question as a sheet, by ascending size, the roles marked where they would be others."""
    measurements, rows = question.measurements, []
    for size in sorted({*measurements.sizes, *question.targets}):
        ipc, mpki, f_mem = (
            number_text(each.get(size)) for each in (measurements.ipc, measurements.mpki, measurements.f_mem)
        )
        row = SheetRow(str(size), ipc, mpki, f_mem)
        role = Role.TARGET if size in question.targets else Role.CURVE
        if size in question.simulated:
            role = Role.BOTH if role is Role.TARGET else Role.SIMULATED
        rows.append(row if row.role is role else replace(row, marked=role))
    peak = number_text(measurements.peak_ipc_per_sm)
    return ScaleSheet(tuple(rows), measurements.name, measurements.scaling, measurements.mpki_unit, peak)


def number_text(value: float | None) -> str:
    """Return the shortest text that reads as this number; nothing for None."""
    return "" if value is None else repr(float(value)).removesuffix(".0")


def next_role(row: SheetRow) -> Role:
    """Return the role after a row's own, the first after the last; only what has an IPC can be simulated."""
    return next_of(list(Role) if row.ipc.strip() else [Role.TARGET, Role.CURVE], row.role)


def next_of(values: Sequence[Value], value: Value) -> Value:
    """Return the value after this one; the first after the last, and for one that is none of them."""
    return values[(values.index(value) + 1) % len(values)] if value in values else values[0]


# -- what is wrong with it ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WrongCell:
    """A cell that cannot be used.

    Attributes
    ----------
    row : its place, None for the peak, which is of the whole sheet.
    cell : one of `CELLS`, `ROLE` or `PEAK`.
    """

    row: int | None
    cell: str
    message: str
    remedy: str


def place_text(sheet: ScaleSheet, wrong: WrongCell) -> str:
    """Return where a wrong cell is."""
    if wrong.row is None:
        return wrong.cell
    size = sheet.rows[wrong.row].size.strip()
    row = f"row {wrong.row + 1}, size {size}" if size else f"row {wrong.row + 1}"
    return f"{row}, {_HEADINGS.get(wrong.cell, wrong.cell)}"


def wrong_cells(sheet: ScaleSheet) -> tuple[WrongCell, ...]:
    """Return what is wrong, in reading order; blank rows are left out."""
    return tuple(_wrong(sheet))


def _wrong(sheet: ScaleSheet) -> Iterator[WrongCell]:
    models = [size for row in sheet.rows if row.is_simulated and (size := _size_in(row)) is not None]
    largest = max(models, default=0)
    places: dict[int, int] = {}
    for place, row in enumerate(sheet.rows):
        if row.is_blank:
            continue
        try:
            size = int(row.size)
            wrong = wrong_size(size)
        except ValueError:
            size, given = 0, f"not {row.size!r}" if row.size.strip() else "and here is none"
            wrong = f"a size is a whole number, {given}"
        if wrong is not None:
            yield WrongCell(place, "size", wrong, SIZE_REMEDY)
        elif size in places:
            message = f"size {size} is in row {places[size] + 1} already"
            yield WrongCell(place, "size", message, "keep one of the two")
        places.setdefault(size, place)
        for cell, wrong_value in WRONG_VALUE.items():
            remedy = "correct it, or empty the cell if it was not measured"
            yield from _wrong_number(place, cell, row.texts[cell], wrong_value, remedy)
        if row.is_simulated and not row.ipc.strip():
            yield WrongCell(place, "ipc", "a simulated size has no IPC", "give it, or mark the row otherwise")
        if row.is_target and wrong is None and size < largest:
            message = f"a target of {size} is below the largest simulated size, {largest}"
            yield WrongCell(place, ROLE, message, "mark it as simulated, or as a point of the curve")
    for each in _wrong_number(None, PEAK, sheet.peak, wrong_ipc, "correct it, or leave it out"):
        yield replace(each, message=f"the peak IPC of an SM: {each.message}")


def _wrong_number(
    place: int | None, cell: str, text: str, wrong_value: Callable[[float], str | None], remedy: str
) -> Iterator[WrongCell]:
    """Yield what is wrong with a cell, and what to do; nothing where nothing is, or nothing is typed."""
    try:
        value = _number_in(text)
    except ValueError:
        yield WrongCell(place, cell, f"{text!r} is not a number", NUMBER_REMEDY)
        return
    if value is not None and (wrong := wrong_value(value)) is not None:
        yield WrongCell(place, cell, wrong, remedy)


def _number_in(text: str) -> float | None:
    """Return the number of a cell, None where it is empty; raise ValueError where it is none."""
    return float(text) if text.strip() else None


def _size_in(row: SheetRow) -> int | None:
    """Return the size of a row, None where there is none that can be used."""
    try:
        return int(row.size) if wrong_size(int(row.size)) is None else None
    except ValueError:
        return None


# -- what is asked, and where it was read from ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class HowToPredict:
    """What is asked of a sheet.

    Attributes
    ----------
    rule : a name of `scalemodel.rules.RULES`, or ``all``, or of runs ``waves``, which is `DEFAULT_RULE` of
        a sheet without.
    assume_f_mem : whether to give a point where f_mem is needed and not known.
    """

    rule: str = DEFAULT_RULE
    confidence: float = DEFAULT_CONFIDENCE
    assume_f_mem: bool = False

    def with_next_rule(self, *, has_runs: bool = False) -> HowToPredict:
        """Return the same by the next rule; by all of them after the last, of runs then launch by launch."""
        rules = [*RULES, ALL_RULES, *([WAVES] if has_runs else [])]
        return replace(self, rule=next_of(rules, self.rule if self.rule in rules else DEFAULT_RULE))


@dataclass(frozen=True, slots=True)
class SheetSource:
    """Where a sheet was read from.

    Attributes
    ----------
    sheet : as it was read.
    file : its path as given; of runs what their paths share.
    benchmark : which one of a file of several; None where it is the only one.
    in_order : whether the file asks for its targets in the order of the sheet.
    runs : simulated ones, ascending; empty for numbers.
    """

    sheet: ScaleSheet
    file: str
    benchmark: str | None
    in_order: bool
    runs: tuple[Run, ...] = ()


def read_sheets(
    files: Sequence[str], benchmark: str | None = None, tell: Tell | None = None
) -> tuple[SheetSource, ...]:
    """Return a sheet for each benchmark of these files, and for each program of what simulators printed.

    Parameters
    ----------
    files : tables, TOML, logs, SIZE=LOG or folders of logs.
    benchmark : the only one of a CSV to ask for.
    tell : is told what of a file is left out.

    Raises
    ------
    InputError, ProfileError : a file cannot be read, or a value in it is wrong.
    OptionError : the benchmark is not in a CSV.
    """
    from tui.scale.runs import is_run, logs_in, read_run

    sources: list[SheetSource] = []
    logs: list[str] = []
    for file in files:
        if Path(file).is_dir() or is_run(file):
            logs += logs_in(file) if Path(file).is_dir() else [file]
            continue
        questions = read_questions(file, benchmark=benchmark, tell=tell)
        for question in questions:
            name = question.measurements.name if len(questions) > 1 or benchmark is not None else None
            in_order = all(first < second for first, second in pairwise(question.targets))
            sources.append(SheetSource(sheet_of(question), file, name, in_order))
    if logs:
        from scalemodel.from_logs import measurements_of_runs, programs_of

        for name, runs in programs_of([read_run(text)[0] for text in logs]).items():
            targets = default_targets([run.size for run in runs])
            models = tuple(run.size for run in runs if run.size not in targets)
            question = ScaleQuestion(measurements_of_runs(name, runs), models, targets)
            sources.append(SheetSource(sheet_of(question), name, None, in_order=False, runs=tuple(runs)))
    return tuple(sources)


def default_targets(sizes: Sequence[int]) -> tuple[int, ...]:
    """Return what is predicted from runs where nothing is asked: the third on, else two doublings."""
    return tuple(sizes[2:]) or (2 * sizes[-1], 4 * sizes[-1])


@dataclass(frozen=True, slots=True)
class OpenTables:
    """Sheets, one of them open; every action makes new tables.

    Attributes
    ----------
    sheets : as they are now, at least one.
    sources : where each was read from, as long as ``sheets``; None for one that was typed.
    place : of the open sheet.
    is_made_up : whether the numbers are the bundled ones, which no GPU has.
    before : the tables before the last edit; None where nothing was edited.
    """

    sheets: tuple[ScaleSheet, ...]
    sources: tuple[SheetSource | None, ...]
    place: int = 0
    how: HowToPredict = HowToPredict()
    is_made_up: bool = False
    before: OpenTables | None = None

    @property
    def sheet(self) -> ScaleSheet:
        """The open one."""
        return self.sheets[self.place]

    @property
    def source(self) -> SheetSource | None:
        """Where the open one was read from."""
        return self.sources[self.place]

    @property
    def has_runs(self) -> bool:
        """Whether the open one is of simulated runs."""
        return self.source is not None and bool(self.source.runs)

    @property
    def is_edited(self) -> bool:
        """Whether the open sheet is another than the one read; one that was typed is not."""
        return self.source is not None and self.source.sheet != self.sheet

    @property
    def rule(self) -> str:
        """The rule that is asked for: launch by launch there are runs alone."""
        return DEFAULT_RULE if self.how.rule == WAVES and not self.has_runs else self.how.rule

    def edited(self, sheet: ScaleSheet) -> OpenTables:
        """Return the tables with another sheet in the place of the open one."""
        if sheet == self.sheet:
            return self
        sheets = (*self.sheets[: self.place], sheet, *self.sheets[self.place + 1 :])
        return replace(self, sheets=sheets, before=self)

    def undone(self) -> OpenTables:
        """Return the tables before the last edit, asked as now; these where nothing was edited."""
        return self if self.before is None else replace(self.before, how=self.how)

    def opened(self, sources: Sequence[SheetSource]) -> OpenTables:
        """Return these sheets, one at least, asked as now; runs launch by launch."""
        opened = tables_of(sources)
        return replace(opened, how=opened.how if sources[0].runs else self.how, before=self)


def tables_of(sources: Sequence[SheetSource], *, is_made_up: bool = False) -> OpenTables:
    """Return these sheets, one at least, the first one open; runs are predicted launch by launch."""
    how = HowToPredict(rule=WAVES) if sources[0].runs else HowToPredict()
    sheets = tuple(source.sheet for source in sources)
    return OpenTables(sheets, tuple(sources), how=how, is_made_up=is_made_up)


@cache
def made_up_tables() -> OpenTables:
    """Return the bundled numbers."""
    return tables_of(read_sheets([str(sample_scale_question())]), is_made_up=True)


def files_typed(text: str) -> list[str]:
    """Return the files that a line names: one with blanks in its name, or several apart by blanks."""
    try:
        return [text] if Path(text).exists() else shlex.split(text)
    except ValueError:
        return [text]


# -- what it predicts ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class SheetAnswer:
    """What is predicted from a sheet.

    Attributes
    ----------
    measurements, outcome : of the sheet.
    asked : the options that gave it, with every number of the sheet.
    command : options that give the same, shorter where the sheet is as its file has it.
    words : what is said of it, in lines of a width.
    text : what the command prints.
    """

    measurements: Measurements
    outcome: Outcome
    asked: ScalePredictOptions
    command: ScalePredictOptions
    words: Callable[[int], list[str]]
    text: Callable[[ScalePredictOptions, Canvas], str]


@dataclass(frozen=True, slots=True, eq=False)
class SheetResult:
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

    Raises
    ------
    OptionError : a cell is wrong, or nothing can be predicted from the sheet.
    """
    sheet, source = tables.sheet, tables.source
    for wrong in wrong_cells(sheet):
        raise OptionError(f"{place_text(sheet, wrong)}: {wrong.message}", remedy=wrong.remedy)
    rows = [row for row in sheet.rows if not row.is_blank]
    models = [int(row.size) for row in rows if row.is_simulated]
    targets = [int(row.size) for row in rows if row.is_target]
    if len(models) < 2 and tables.rule != WAVES:
        what = f"{'one size alone is' if models else 'no size is'} simulated, which shows no trend"
        raise OptionError(what, remedy="type the IPC of two simulated sizes or more")
    if not targets:
        raise OptionError("no target is given", remedy="type the size of the system to predict")
    if source is not None and tables.rule == WAVES:
        return _answer_of_runs(rows, targets, source)
    asked = _options(tables, rows, models, targets)
    pairs = predictions_of(asked)
    # The largest scale model's f_mem is the only one that is made use of.
    f_mem = _number_in(next(row.f_mem for row in rows if int(row.size) == max(models)))
    if f_mem is not None and pairs[0][1].cliff is not None:
        asked = replace(asked, f_mem=f_mem)
        pairs = predictions_of(asked)
    command = asked
    if source is not None and source.in_order and source.sheet == sheet:
        command = ScalePredictOptions(
            files=(source.file,),
            benchmark=source.benchmark,
            rule=asked.rule,
            confidence=asked.confidence,
            assume_f_mem=asked.assume_f_mem,
        )
    return SheetAnswer(
        *pairs[0],
        asked,
        command,
        lambda width: words_lines(pairs, asked, width),
        lambda options, canvas: predict_text(pairs, options, canvas),
    )


def _options(
    tables: OpenTables, rows: Sequence[SheetRow], models: Sequence[int], targets: Sequence[int]
) -> ScalePredictOptions:
    """Return all that the open sheet says but f_mem."""
    sheet, how = tables.sheet, tables.how

    def pairs(cell: str) -> tuple[str, ...]:
        known = [(int(row.size), _number_in(row.texts[cell])) for row in rows]
        return _by_commas(f"{size}={number_text(value)}" for size, value in known if value is not None)

    measured = [int(row.size) for row in rows if row.ipc.strip()]
    return ScalePredictOptions(
        name=sheet.name or None,
        ipc=pairs("ipc"),
        mpki=pairs("mpki"),
        simulated=() if models == measured else _by_commas(models),
        target=_by_commas(targets),
        peak_ipc_per_sm=_number_in(sheet.peak),
        scaling=None if sheet.scaling is Scaling.STRONG else sheet.scaling,
        mpki_unit=None if sheet.mpki_unit is MpkiUnit.THREAD else sheet.mpki_unit,
        rule=() if tables.rule == DEFAULT_RULE else (tables.rule,),
        confidence=how.confidence,
        # Where there are no cliffs there is nothing to assume it for.
        assume_f_mem=how.assume_f_mem and sheet.scaling.has_cliffs,
    )


def _by_commas(words: Iterator[str] | Sequence[int]) -> tuple[str, ...]:
    joined = ",".join(map(str, words))
    return (joined,) if joined else ()


def _answer_of_runs(rows: Sequence[SheetRow], targets: Sequence[int], source: SheetSource) -> SheetAnswer:
    """Return what the runs predict launch by launch at the sheet's targets."""
    from scalemodel.from_logs import measurements_of_runs, predicted_by_waves
    from tui.scale.runs import larger_gpus, runs_lines, runs_text

    as_read = {(row.size, row.ipc) for row in source.sheet.rows if row.ipc}
    if not {(row.size, row.ipc) for row in rows if row.ipc} <= as_read:
        what = "launch by launch there are the runs as they were read alone"
        raise OptionError(what, remedy="undo the edit, or take a rule for numbers by r")
    sizes = {int(row.size) for row in rows if row.ipc}
    runs = [run for run in source.runs if run.size in sizes]
    predictions = tuple(predicted_by_waves(runs, target) for target in targets)
    measurements = measurements_of_runs(source.sheet.name, runs)
    models = sorted(size for size in sizes if size < max(targets))[:2] if len(sizes) > 2 else None
    outcome = predict(measurements, [max(sizes, default=1) * 2], simulated=models)
    found = larger_gpus(runs, targets)
    words = tuple(f"{run.size}={run.path}" for run in runs)
    asked = ScalePredictOptions(run=words, target=_by_commas(targets))
    return SheetAnswer(
        measurements,
        replace(outcome, predictions=predictions, cliff=None, findings=()),
        asked,
        asked,
        lambda width: runs_lines(found, width),
        lambda options, canvas: runs_text(found, options, canvas),
    )


# -- the columns of the table --------------------------------------------------------------------------------

GAP = 2
WRONG_MARK = "!"
_MOST_TYPED = 9
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

    Wrong cells are marked with a sign that follows their text.
    """
    marked = {(each.row, each.cell) for each in result.wrong}

    def typed(place: int, row: SheetRow, cell: str) -> str:
        text = row.texts[cell]
        # A wrong text is shown as it was typed: rounded, it might look right.
        if (place, cell) in marked:
            return fitted(text, _MOST_TYPED) + WRONG_MARK
        return (text if len(text) <= _MOST_TYPED else f"{_number_in(text):.4g}"[:_MOST_TYPED]) + " "

    def role(place: int, row: SheetRow) -> str:
        shown = row.role.value
        if row.role is Role.CURVE and not row.mpki:
            shown = "unused"
        if row.role is Role.TARGET and row.ipc:
            shown = "measured"
        return ("" if row.is_blank else shown) + (WRONG_MARK if (place, ROLE) in marked else "")

    rows = list(enumerate(sheet.rows))
    columns = [
        SheetColumn(f"{_HEADINGS[cell]} ", [typed(place, row, cell) for place, row in rows]) for cell in CELLS
    ]
    columns.append(SheetColumn("role", [role(place, row) for place, row in rows], to_right=False))
    columns += _predicted(sheet, result.answer)
    for heading in _DROPPED_FIRST:
        if sum(column.width + GAP for column in columns) - GAP <= width:
            break
        columns = [column for column in columns if not column.heading.endswith(heading)]
    return columns


def _predicted(sheet: ScaleSheet, answer: SheetAnswer | None) -> Iterator[SheetColumn]:
    """Yield what the first rule says of each row, its interval, and its error where that is known.

    Where there are several rules, the headings have the letter of the first, as the chart has it.
    """
    found: dict[int, Mapping[str, float | None]] = {}
    mark = ""
    if answer is not None:
        for prediction in answer.outcome.predictions:
            found.setdefault(prediction.target, prediction_row(answer.measurements, prediction))
        if len({prediction.method for prediction in answer.outcome.predictions}) > 1:
            mark = f"{LETTERS[0]} "
    points, ranges, errors = [], [], []
    for row in sheet.rows:
        asked = row.is_target and not row.is_blank
        said = found.get(_size_in(row) or 0, {}) if asked else {}
        ipc, low, high, error = (said.get(key) for key in ("ipc", "low", "high", "error"))
        points.append("" if not asked else UNKNOWN if ipc is None else ipc_text(ipc))
        upper = "" if high is None else f" to {ipc_text(high)}"
        ranges.append("" if low is None else f"{ipc_text(low)}{upper}" if upper else f"from {ipc_text(low)}")
        errors.append("" if error is None else signed_share(error))
    yield SheetColumn(f"{mark}predicted", points)
    yield SheetColumn(f"{mark}low to high", ranges)
    if any(errors):
        yield SheetColumn(f"{mark}error", errors)


# -- what is said beside it ----------------------------------------------------------------------------------

Title = tuple[str, str]
"""The name of a pane, and what stands at the right end of its row."""


def table_title(tables: OpenTables, row: int | None) -> Title:
    """Return what is open, and which of how many; the row is the cursor's, if not all rows are in sight."""
    rows, sheets = len(tables.sheet.rows), len(tables.sheets)
    right = [] if row is None else [f"row {row + 1} of {rows}"]
    right += [f"[b] {tables.place + 1} of {sheets}"] if sheets > 1 else []
    source, name = tables.source, tables.sheet.name
    if source is None:
        return "[5] Sizes, as typed", ", ".join(right)
    if tables.is_made_up:
        made_up = "Sizes, from made-up numbers" if tables.is_edited else "Made-up numbers, no real GPU"
        return f"[5] {made_up}", ", ".join(right or ["[N] empty", "[o] open"])
    file = counted(len(source.runs), "run") if source.runs else Path(source.file).name
    return f"[5] {file}{name and ': '}{name}{', edited' * tables.is_edited}", ", ".join(right)


def chart_title(tables: OpenTables, answer: SheetAnswer | None) -> Title:
    """Return which rule is drawn, and where the cliff is."""
    if answer is None or tables.rule == WAVES:
        return f"[tab] Chart: {'no prediction' if answer is None else 'launch by launch'}", ""
    cliff, unit = answer.outcome.cliff, answer.measurements.scaling.unit
    where = "no cliff" if cliff is None else f"cliff {cliff.smaller} to {cliff.larger} {unit}"
    return f"[tab] Chart: {_rule(tables)}, {_level(tables)}", where


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
    here = [each for each in result.wrong if (each.row, each.cell) == (row, cell)]
    for wrong in (*here, *result.wrong):
        place = place_text(tables.sheet, wrong)
        return [f"{place}: {wrong.message}; {wrong.remedy}", f"{place}: {wrong.message}", wrong.message]
    if result.problem is not None:
        return [str(result.problem), result.problem.message]
    sheet, rule = tables.sheet, f"[r] {_rule(tables)}"
    if tables.rule == WAVES:
        return [f"{rule}, launch by launch from the two largest runs below each target", rule]
    scaling, level = f"[s] {sheet.scaling}", f"[i] {_level(tables)}"
    f_mem = f"[a] f_mem {'assumed' if tables.how.assume_f_mem else 'as known'}"
    rest = (rule, level, f_mem, f"[p] peak {sheet.peak}" if sheet.peak else "[p] no peak")
    forms = (
        (f"{scaling} scaling", f"[t] MPKI per {sheet.mpki_unit}", *rest),
        (scaling, f"[t] MPKI per {sheet.mpki_unit}", *rest),
        (scaling, f"[t] per {sheet.mpki_unit}", *rest),
        (scaling, rule, level, f_mem),
        (scaling, rule, level),
    )
    return ["  ".join(form) for form in forms]


def result_lines(sheet: ScaleSheet, result: SheetResult, width: int) -> list[str]:
    """Return the words about a prediction, or all that is wrong, in lines of a width."""
    if result.answer is not None:
        return result.answer.words(width)
    said = [f"{place_text(sheet, each)}: {each.message}; {each.remedy}." for each in result.wrong]
    return [line for text in said or [f"{result.problem}."] for line in wrapped(text, width, "  ")]


def _rule(tables: OpenTables) -> str:
    return "all rules" if tables.rule == ALL_RULES else tables.rule


def _level(tables: OpenTables) -> str:
    return f"{100 * tables.how.confidence:.0f} %"


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
