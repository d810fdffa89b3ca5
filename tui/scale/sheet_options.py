"""From a scale sheet to the options of `scale predict`: they ask the same, and are what is computed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from scalemodel.errors import OptionError
from scalemodel.inputs.measurement_header import Tell
from scalemodel.inputs.question_file import ScaleQuestion, read_questions
from scalemodel.measurements import MpkiUnit, Scaling
from scalemodel.prediction.rules import DEFAULT_RULE
from tui.options.scale import ScalePredictOptions
from tui.scale.questions import Pairs, predictions_of
from tui.scale.sheet import HowToPredict, ScaleSheet, SheetRow, number_text, sheet_of
from tui.scale.sheet_check import WrongCell, number_in, size_in, wrong_cells

_COLUMNS = {"ipc": "IPC", "mpki": "MPKI"}


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


def place_text(sheet: ScaleSheet, wrong: WrongCell) -> str:
    """Return where a wrong cell is."""
    if wrong.row is None:
        return wrong.cell
    size = sheet.rows[wrong.row].size.strip()
    row = f"row {wrong.row + 1}, size {size}" if size else f"row {wrong.row + 1}"
    return f"{row}, {_COLUMNS.get(wrong.cell, wrong.cell)}"


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
    known = [(row.size, number_in(getattr(row, cell))) for row in rows]
    words = [f"{int(size)}={number_text(value)}" for size, value in known if value is not None]
    return (",".join(words),) if words else ()


def _sizes(sizes: Sequence[str]) -> tuple[str, ...]:
    return (",".join(str(int(size)) for size in sizes),) if sizes else ()


def _f_mem(sheet: ScaleSheet) -> float | None:
    """Return the largest scale model's: the only one that is made use of."""
    models = [(size, row) for row in sheet.rows if row.is_simulated and (size := size_in(row)) is not None]
    return number_in(max(models, key=lambda model: model[0])[1].f_mem) if models else None
