"""What view 5 works on: the tables that were read or typed, which one is open, and what it predicts.

What a table predicts is what `scale predict` does of its numbers: a table is turned into the options of that
command, so that both give the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

from scalemodel.errors import OptionError
from scalemodel.inputs.benchmark_table import Tell
from scalemodel.inputs.question_file import ScaleQuestion, read_questions
from scalemodel.interval import DEFAULT_CONFIDENCE
from scalemodel.measurements import MpkiUnit, Scaling
from scalemodel.rules import DEFAULT_RULE, RULES
from tui.engine.bundled import sample_scale_question
from tui.options.scale import ScalePredictOptions
from tui.scale.questions import Pairs, predictions_of
from tui.scale.sheet import (
    ScaleSheet,
    SheetRow,
    blank_sheet,
    next_of,
    number_in,
    number_text,
    place_text,
    sheet_of,
    size_in,
    wrong_cells,
)

ALL_RULES = "all"
CONFIDENCES = (0.8, 0.9, 0.95)


@dataclass(frozen=True, slots=True)
class HowToPredict:
    """What is asked of a sheet.

    Attributes
    ----------
    rule : a name of `scalemodel.prediction.rules.RULES`, or ``all``.
    confidence : one of `CONFIDENCES`.
    assume_f_mem : whether to give a point where f_mem is needed and not known.
    """

    rule: str = DEFAULT_RULE
    confidence: float = DEFAULT_CONFIDENCE
    assume_f_mem: bool = False

    def with_next_rule(self) -> HowToPredict:
        """Return the same by the next rule; by all of them after the last."""
        return replace(self, rule=next_of([*RULES, ALL_RULES], self.rule))

    def with_next_confidence(self) -> HowToPredict:
        """Return the same at the next level, the least after the greatest."""
        return replace(self, confidence=next_of(CONFIDENCES, self.confidence))

    def with_other_f_mem(self) -> HowToPredict:
        """Return the same with f_mem assumed where it was not, and the other way round."""
        return replace(self, assume_f_mem=not self.assume_f_mem)


@dataclass(frozen=True, slots=True)
class SheetSource:
    """Where a sheet was read from.

    Attributes
    ----------
    sheet : as it was read.
    file : its path as given.
    benchmark : which one of a file of several; None where it is the only one.
    in_order : whether the file asks for its targets in the order of the sheet.
    """

    sheet: ScaleSheet
    file: str
    benchmark: str | None
    in_order: bool


@dataclass(frozen=True, slots=True)
class SheetAnswer:
    """What is predicted from a sheet.

    Attributes
    ----------
    pairs : the sheet's measurements and the outcome, one pair.
    asked : the options that gave it, with every number of the sheet.
    command : options that give the same, shorter where the sheet is as its file has it.
    """

    pairs: Pairs
    asked: ScalePredictOptions
    command: ScalePredictOptions


@dataclass(frozen=True, slots=True)
class OpenTables:
    """Sheets, one of them open; every action makes new tables.

    Attributes
    ----------
    sheets : as they are now, at least one.
    sources : where each was read from, as long as ``sheets``; None for one that was typed.
    place : of the open sheet.
    how : what is asked of it.
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
    def is_edited(self) -> bool:
        """Whether the open sheet is another than the one read; one that was typed is not."""
        return self.source is not None and self.source.sheet != self.sheet

    def answer(self) -> SheetAnswer:
        """Return what is predicted from the open sheet.

        Raises
        ------
        OptionError : see `answer_of`.
        """
        return answer_of(self.sheet, self.how, self.source)

    def edited(self, sheet: ScaleSheet) -> OpenTables:
        """Return the tables with another sheet in the place of the open one."""
        if sheet == self.sheet:
            return self
        sheets = (*self.sheets[: self.place], sheet, *self.sheets[self.place + 1 :])
        return replace(self, sheets=sheets, before=self)

    def emptied(self) -> OpenTables:
        """Return a blank sheet alone."""
        return OpenTables((blank_sheet(),), (None,), how=self.how, before=self)

    def undone(self) -> OpenTables:
        """Return the tables before the last edit, asked as now; these where nothing was edited."""
        return self if self.before is None else replace(self.before, how=self.how)

    def next(self) -> OpenTables:
        """Return the tables with the next sheet open, the first after the last."""
        return replace(self, place=(self.place + 1) % len(self.sheets))

    def asked(self, how: HowToPredict) -> OpenTables:
        """Return the tables with something else asked."""
        return replace(self, how=how)

    def opened(self, sources: Sequence[SheetSource]) -> OpenTables:
        """Return these sheets, one at least, asked as now."""
        return replace(tables_of(sources), how=self.how, before=self)


def tables_of(sources: Sequence[SheetSource], *, is_made_up: bool = False) -> OpenTables:
    """Return these sheets, one at least, the first one open."""
    return OpenTables(tuple(source.sheet for source in sources), tuple(sources), is_made_up=is_made_up)


@cache
def made_up_tables() -> OpenTables:
    """Return the bundled numbers."""
    return tables_of(read_sheets([str(sample_scale_question())]), is_made_up=True)


def read_sheets(
    files: Sequence[str], benchmark: str | None = None, tell: Tell | None = None
) -> tuple[SheetSource, ...]:
    """Return a sheet for each benchmark of these files.

    Parameters
    ----------
    benchmark : the only one of a CSV to ask for.
    tell : is told what of a file is left out.

    Raises
    ------
    InputError : a file cannot be read, or a value in it is wrong.
    OptionError : the benchmark is not in a CSV.
    """
    return tuple(
        source
        for file in files
        for source in _sources(
            file, read_questions(file, benchmark=benchmark, tell=tell), is_named=benchmark is not None
        )
    )


def answer_of(sheet: ScaleSheet, how: HowToPredict, source: SheetSource | None = None) -> SheetAnswer:
    """Return what `scale predict` predicts from the numbers of a sheet.

    f_mem is given where a cliff makes use of it only: else it would be said that it is of no use.

    Parameters
    ----------
    source : of the sheet, as it was before it was edited.

    Raises
    ------
    OptionError : a cell is wrong, or nothing can be predicted from the sheet.
    """
    asked = _numbers(sheet, how)
    pairs = predictions_of(asked)
    f_mem = _f_mem(sheet)
    if f_mem is not None and pairs[0][1].cliff is not None:
        asked = replace(asked, f_mem=f_mem)
        pairs = predictions_of(asked)
    command = asked
    if source is not None and source.in_order and source.sheet == sheet:
        command = _with_how(
            ScalePredictOptions(files=(source.file,), benchmark=source.benchmark), how, sheet.scaling
        )
    return SheetAnswer(pairs, asked, command)


def _sources(file: str, questions: Sequence[ScaleQuestion], *, is_named: bool) -> Iterator[SheetSource]:
    for question in questions:
        name = question.measurements.name if len(questions) > 1 or is_named else None
        in_order = all(first < second for first, second in pairwise(question.targets))
        yield SheetSource(sheet_of(question), file, name, in_order)


def _numbers(sheet: ScaleSheet, how: HowToPredict) -> ScalePredictOptions:
    """Return all that the sheet says but f_mem."""
    wrong = next(iter(wrong_cells(sheet)), None)
    if wrong is not None:
        raise OptionError(f"{place_text(sheet, wrong)}: {wrong.message}", remedy=wrong.remedy)
    rows = [row for row in sheet.rows if not row.is_blank]
    simulated = [row.size for row in rows if row.is_simulated]
    measured = [row.size for row in rows if row.ipc.strip()]
    if len(simulated) < 2:
        count = "one size alone is" if simulated else "no size is"
        raise OptionError(
            f"{count} simulated, which shows no trend", remedy="type the IPC of two simulated sizes or more"
        )
    options = ScalePredictOptions(
        name=sheet.name or None,
        ipc=_pairs(rows, "ipc"),
        mpki=_pairs(rows, "mpki"),
        simulated=() if simulated == measured else _sizes(simulated),
        target=_sizes([row.size for row in rows if row.is_target]),
        peak_ipc_per_sm=number_in(sheet.peak),
        scaling=None if sheet.scaling is Scaling.STRONG else sheet.scaling,
        mpki_unit=None if sheet.mpki_unit is MpkiUnit.THREAD else sheet.mpki_unit,
    )
    return _with_how(options, how, sheet.scaling)


def _with_how(options: ScalePredictOptions, how: HowToPredict, scaling: Scaling) -> ScalePredictOptions:
    return replace(
        options,
        rule=() if how.rule == DEFAULT_RULE else (how.rule,),
        confidence=how.confidence,
        # Where there are no cliffs there is nothing to assume it for.
        assume_f_mem=how.assume_f_mem and scaling.has_cliffs,
    )


def _pairs(rows: Sequence[SheetRow], cell: str) -> tuple[str, ...]:
    """Return the values of a column as one SIZE=VALUE,SIZE=VALUE, numbers as short as they can be."""
    known = [(row.size, number_in(row.texts[cell])) for row in rows]
    words = [f"{int(size)}={number_text(value)}" for size, value in known if value is not None]
    return (",".join(words),) if words else ()


def _sizes(sizes: Sequence[str]) -> tuple[str, ...]:
    return (",".join(str(int(size)) for size in sizes),) if sizes else ()


def _f_mem(sheet: ScaleSheet) -> float | None:
    """Return the largest scale model's: the only one that is made use of."""
    models = [(size, row) for row in sheet.rows if row.is_simulated and (size := size_in(row)) is not None]
    return number_in(max(models, key=lambda model: model[0])[1].f_mem) if models else None
