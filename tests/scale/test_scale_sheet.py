"""The table of a scale-model prediction: what is typed, what is wrong with it, and what it asks."""

from __future__ import annotations

import io
import os
import shlex
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalemodel.errors import OptionError
from scalemodel.inputs import ScaleQuestion
from scalemodel.measurements import MpkiUnit, Scaling, measurements_of
from scalemodel.predict import predict
from scalemodel.rules import RULES
from tui import cli
from tui.options.command_line import command_line
from tui.options.files import sample_scale_question
from tui.options.scale import ScalePredictOptions
from tui.output.writer import Canvas
from tui.scale import sheet as sheets
from tui.scale.answers import Pairs, predict_text, predictions_of
from tui.scale.sheet import (
    CELLS,
    GAP,
    HowToPredict,
    OpenTables,
    Role,
    ScaleSheet,
    SheetAnswer,
    SheetRow,
    SheetSource,
    blank_sheet,
    chart_title,
    made_up_tables,
    place_text,
    read_sheets,
    result_lines,
    result_of,
    sheet_columns,
    sheet_of,
    status_lines,
    table_title,
    words_title,
    wrong_cells,
)
from tui.terminal.printable import ascii_within

# dct of the paper: the numbers of its artifact.
DCT = ScaleSheet(
    (
        SheetRow("8", "112.7", "6.17"),
        SheetRow("16", "226.4", "6.18", "0.52"),
        SheetRow("32", "", "6.16"),
        SheetRow("64", "", "5.52"),
        SheetRow("128", "", "0.10"),
    )
)
HOW = HowToPredict()
CANVAS = Canvas(80, color=False)


def printed(line: str, width: int = 80) -> str:
    """What a command line prints on stdout in a terminal of this width."""
    program, *words = shlex.split(line)
    assert program == "kernelpoint"
    out, err = io.StringIO(), io.StringIO()
    with (
        redirect_stdout(out),
        redirect_stderr(err),
        patch.dict(os.environ, {"COLUMNS": str(width), "LANG": "en_US.UTF-8", "TERM": "xterm"}, clear=True),
    ):
        assert cli.run(words) == 0, err.getvalue()
    return out.getvalue()


def answer_of(sheet: ScaleSheet, how: HowToPredict, source: SheetSource | None = None) -> SheetAnswer:
    return sheets.answer_of(OpenTables((sheet,), (source,), how=how))


def with_role(sheet: ScaleSheet, row: int, role: Role) -> ScaleSheet:
    return sheet.spliced(row, 1, replace(sheet.rows[row], marked=role))


def pairs_of(answer: SheetAnswer) -> Pairs:
    return [(answer.measurements, answer.outcome)]


def test_dct_is_asked_as_its_command_line_asks_it() -> None:
    answer = answer_of(DCT, HOW)
    assert command_line("scale predict", answer.command) == (
        "kernelpoint scale predict --ipc 8=112.7,16=226.4 --mpki 8=6.17,16=6.18,32=6.16,64=5.52,128=0.1 "
        "--f-mem 0.52 --target 32,64,128"
    )
    outcome = answer.outcome
    # Additive: eff (1 + M (1 - 1/C)), and 1/(1 - f_mem) at the cliff.
    gain = 1 - 1 / (226.4 / 112.7 / 2)
    assert [each.ipc for each in outcome.predictions] == pytest.approx(
        [226.4 / 16 * size * factor for size, factor in ((32, 1 + gain), (64, 1 + 3 * gain))]
        + [226.4 / 16 * 128 * (1 + 6 * gain) / 0.48]
    )


def test_a_row_is_simulated_or_a_target_by_its_ipc_unless_marked() -> None:
    assert [row.role for row in DCT.rows] == [Role.SIMULATED] * 2 + [Role.TARGET] * 3
    marked = with_role(DCT.with_cell(2, "ipc", "443.2"), 2, Role.TARGET)
    assert marked.rows[2].role is Role.TARGET
    marked_answer = answer_of(marked, HOW)
    measurements, outcome = marked_answer.measurements, marked_answer.outcome
    assert outcome.models == (8, 16)
    assert measurements.ipc[32] == 443.2
    simulated = DCT.with_cell(2, "ipc", "443.2")
    assert answer_of(simulated, HOW).outcome.models == (8, 16, 32)
    curve = answer_of(with_role(DCT, 3, Role.CURVE), HOW).outcome
    assert [each.target for each in curve.predictions] == [32, 128]
    first = answer_of(with_role(DCT, 1, Role.BOTH), HOW).outcome.predictions[0]
    assert (first.target, first.note) == (16, "as simulated")


def test_a_cliff_alone_makes_use_of_f_mem() -> None:
    flat = DCT.with_cell(4, "mpki", "5.5")
    assert answer_of(flat, HOW).asked.f_mem is None
    assert "f-mem-unused" not in {each.code for each in answer_of(flat, HOW).outcome.findings}
    weak = ScaleSheet(DCT.rows, scaling=Scaling.WEAK)
    assert answer_of(weak, HowToPredict(assume_f_mem=True)).asked.assume_f_mem is False
    unknown = DCT.with_cell(1, "f_mem", "")
    assert answer_of(unknown, HOW).outcome.predictions[-1].ipc is None
    assert answer_of(unknown, HowToPredict(assume_f_mem=True)).outcome.predictions[-1].ipc is not None


WRONG: dict[str, tuple[int, str, str, str, str]] = {
    "no size": (0, "size", "", "row 1, size", "whole number"),
    "a size of text": (0, "size", "eight", "row 1, size eight, size", "not 'eight'"),
    "a size of 0": (0, "size", "0", "row 1", "from 1 to"),
    "a size twice": (2, "size", "16", "row 3, size 16, size", "row 2 already"),
    "an ipc of text": (1, "ipc", "1,5", "row 2, size 16, IPC", "decimal point"),
    "an ipc of nan": (1, "ipc", "nan", "row 2, size 16, IPC", "above 0"),
    "an mpki below 0": (3, "mpki", "-1", "row 4, size 64, MPKI", "0 or more"),
    "an f_mem in per cent": (1, "f_mem", "52", "row 2, size 16, f_mem", "0.52"),
}


@pytest.mark.parametrize("case", WRONG)
def test_the_wrong_cell_is_named(case: str) -> None:
    row, cell, text, place, why = WRONG[case]
    sheet = DCT.with_cell(row, cell, text)
    (wrong,) = wrong_cells(sheet)
    assert (wrong.row, wrong.cell) == (row, cell)
    with pytest.raises(OptionError) as error:
        answer_of(sheet, HOW)
    assert str(error.value).startswith(place)
    assert why in str(error.value)
    assert error.value.remedy == wrong.remedy


@pytest.mark.parametrize(
    ("sheet", "why"),
    [
        (blank_sheet(), "no size is simulated"),
        (ScaleSheet(DCT.rows[1:]), "one size alone is simulated"),
        (ScaleSheet(DCT.rows[:2]), "no target"),
        (
            ScaleSheet((SheetRow("8", "1", marked=Role.TARGET), SheetRow("16", "2", marked=Role.TARGET))),
            "no size",
        ),
        (ScaleSheet(DCT.rows, peak="2"), "above the peak of 2"),
        (ScaleSheet(DCT.rows, scaling=Scaling.CHIPLET, peak="64"), "chiplets"),
    ],
)
def test_what_is_wrong_with_the_whole_is_said(sheet: ScaleSheet, why: str) -> None:
    assert wrong_cells(sheet) == ()
    with pytest.raises(OptionError, match=why) as error:
        answer_of(sheet, HOW)
    assert error.value.remedy is not None


def test_the_bundled_numbers_are_a_sheet_of_their_file() -> None:
    (source,) = read_sheets([str(sample_scale_question())])
    assert [(row.size, row.ipc, row.mpki, row.f_mem, row.role) for row in source.sheet.rows[:3]] == [
        ("8", "100", "6.02", "", Role.SIMULATED),
        ("16", "199", "6", "0.45", Role.SIMULATED),
        ("32", "", "5.94", "", Role.TARGET),
    ]
    answer = answer_of(source.sheet, HOW, source)
    assert answer.command == ScalePredictOptions(files=(str(sample_scale_question()),))
    edited = source.sheet.with_cell(1, "ipc", "190")
    assert answer_of(edited, HOW, source).command.files == ()
    assert answer_of(edited.with_cell(1, "ipc", "199"), HOW, source).command == answer.command


def test_every_benchmark_of_a_table_is_a_sheet(sample_data: Path) -> None:
    path = str(sample_data / "scale-model-example.csv")
    sources = read_sheets([path])
    assert [source.benchmark for source in sources] == [
        "made-up linear",
        "made-up congested",
        "made-up cliff",
    ]
    assert [row.role for row in sources[2].sheet.rows] == [Role.SIMULATED] * 2 + [Role.TARGET] * 3
    for source in sources:
        answer = answer_of(source.sheet, HOW, source)
        text = predict_text(pairs_of(answer), answer.asked, CANVAS)
        assert printed(command_line("scale predict", answer.command)) == text + "\n"
        assert printed(command_line("scale predict", answer.asked)) == text + "\n"
    (alone,) = read_sheets([path], "made-up cliff")
    assert alone == sources[2]


IPC = st.floats(1e-3, 1e6)
VALUES = st.tuples(
    st.none() | IPC, st.none() | st.floats(0, 100), st.none() | st.floats(0, 1, exclude_max=True)
)
SIZES = st.sampled_from([1, 2, 3, 4, 8, 12, 16, 32, 64, 100, 128])


@st.composite
def questions(draw: Any) -> ScaleQuestion:
    """Questions as files ask them: models with an IPC, targets from the largest on, anything beside."""
    by_size = draw(st.dictionaries(SIZES, VALUES, min_size=2, max_size=8))
    sizes = sorted(by_size)
    models = sorted(draw(st.lists(st.sampled_from(sizes), min_size=2, max_size=4, unique=True)))
    for size in models:
        _, mpki, f_mem = by_size[size]
        by_size[size] = (draw(IPC), mpki, f_mem)
    scaling = draw(st.sampled_from(Scaling))
    measurements = measurements_of(
        *(
            [(size, values[column]) for size, values in by_size.items() if values[column] is not None]
            for column in range(3)
        ),
        name=draw(st.sampled_from(["", "dct", "-odd name"])),
        peak_ipc_per_sm=draw(st.none() | st.just(1e7)) if scaling is not Scaling.CHIPLET else None,
        mpki_unit=draw(st.sampled_from(MpkiUnit)),
        scaling=scaling,
    )
    targets = draw(
        st.sets(SIZES.filter(lambda size: size >= models[-1]) | st.just(256), min_size=1, max_size=4)
    )
    return ScaleQuestion(measurements, tuple(models), tuple(sorted(targets)))


HOWS = st.builds(
    HowToPredict,
    st.sampled_from([*RULES, "all"]),
    st.sampled_from([0.8, 0.9, 0.95]),
    st.booleans(),
)


@given(questions(), HOWS)
def test_a_sheet_asks_what_the_question_asks(question: ScaleQuestion, how: HowToPredict) -> None:
    """The oracle is the engine, asked directly; words, rows and numbers are the same."""
    sheet = sheet_of(question)
    assert wrong_cells(sheet) == ()
    wanted = predict(
        question.measurements,
        question.targets,
        rules=tuple(RULES) if how.rule == "all" else (how.rule,),
        confidence=how.confidence,
        simulated=question.simulated,
        assume_f_mem=how.assume_f_mem and question.measurements.scaling.has_cliffs,
    )
    answer = answer_of(sheet, how)
    outcome = answer.outcome
    assert outcome == wanted
    assert predict_text(pairs_of(answer), answer.asked, CANVAS) == predict_text(
        [(question.measurements, wanted)], answer.asked, CANVAS
    )


CELL_TEXTS = st.sampled_from(
    ["", "8", "16", "32", "64", "128", "1.5", "0.5", "100", "1e3", "0", "-1", "x", " 7 "]
)
TYPED_ROWS = st.lists(
    st.builds(SheetRow, *[CELL_TEXTS] * len(CELLS), marked=st.none() | st.sampled_from(Role)), max_size=6
)


@given(TYPED_ROWS, HOWS, st.sampled_from(["", "64", "x"]))
def test_whatever_is_typed_is_answered_or_refused_in_words(
    rows: list[SheetRow], how: HowToPredict, peak: str
) -> None:
    sheet = ScaleSheet(tuple(rows), peak=peak)
    wrong = wrong_cells(sheet)
    for each in wrong:
        assert each.row is None or not rows[each.row].is_blank
        assert place_text(sheet, each)
    if wrong:
        with pytest.raises(OptionError):
            answer_of(sheet, how)
        return
    with suppress(OptionError):  # too few models, no target, a peak that is exceeded
        answer = answer_of(sheet, how)
        assert predictions_of(answer.asked) == pairs_of(answer)


# Each example runs the whole command line.


# -- what view 5 shows of it, without an app -----------------------------------------------------------------

MADE_UP = made_up_tables()


def table_text(tables: OpenTables, width: int = 80) -> str:
    """The table as the view draws it."""
    result = result_of(tables)
    columns = sheet_columns(tables.sheet, result, width)
    texts = [[column.fitted(text) for text in (column.heading, *column.cells)] for column in columns]
    return "\n".join((" " * GAP).join(row) for row in zip(*texts, strict=True))


def titles(tables: OpenTables, *, has_more: bool = False) -> str:
    """The titles of the three panes."""
    result = result_of(tables)
    each = (
        table_title(tables, None),
        chart_title(tables, result.answer),
        words_title(result, has_more=has_more),
    )
    return "\n".join("  ".join(title) for title in each)


def words(tables: OpenTables, width: int = 80) -> str:
    """The words below."""
    return "\n".join(result_lines(tables.sheet, result_of(tables), width))


def status(tables: OpenTables, row: int = 0, cell: str = "size") -> str:
    """The row below the table, where there is room for all of it."""
    return status_lines(tables, result_of(tables), row, cell)[0]


def typed(row: int, cell: str, text: str, tables: OpenTables = MADE_UP) -> OpenTables:
    return tables.edited(tables.sheet.with_cell(row, cell, text))


def test_made_up_numbers_are_said_to_be_so() -> None:
    assert "[5] Made-up numbers, no real GPU" in titles(MADE_UP)
    assert "[N] empty, [o] open" in titles(MADE_UP)
    assert "cliff 64 to 128 SMs" in titles(MADE_UP)
    assert "[f] In words: super-linear" in titles(MADE_UP)
    assert "  16   199" in table_text(MADE_UP)
    assert "simulated" in table_text(MADE_UP)
    assert "784.2" in table_text(MADE_UP)
    assert "371.1 to 422.6" in table_text(MADE_UP)
    assert "the working set comes to fit" in words(MADE_UP)
    assert "j more" in titles(MADE_UP, has_more=True)
    assert "j more" not in titles(MADE_UP)


def test_what_is_wrong_is_marked_and_said() -> None:
    wrong = typed(1, "f_mem", "45")
    assert " 45!" in table_text(wrong)
    said = "row 2, size 16, f_mem: f_mem is a fraction from 0 to below 1, not 45"
    assert said in words(wrong)
    assert status(wrong).startswith(said)
    assert "as a fraction 45 % is 0.45" in words(wrong, 120)
    assert "1 wrong cell" in titles(wrong)
    assert "Chart: no prediction" in titles(wrong)
    assert "784.2" not in table_text(wrong)
    both = typed(0, "mpki", "x", wrong)
    assert "2 wrong cells" in titles(both)
    assert "row 1, size 8, MPKI: 'x' is not a number" in status(both, 0, "mpki"), "that of the cursor"
    assert "row 2, size 16, f_mem: f_mem" in status(both, 1, "f_mem"), "that of the cursor"
    assert "784.2" in table_text(both.undone().undone())


@pytest.mark.parametrize(
    ("only", "mark"), [(False, "0.999999\N{HORIZONTAL ELLIPSIS}!"), (True, "0.9999...!")]
)
def test_what_is_refused_stands_as_it_was_typed(only: bool, mark: str) -> None:
    wrong = typed(4, "size", "0.9999999999")
    assert "not '0.9999999999'" in words(wrong)
    with ascii_within(only):
        assert mark in table_text(wrong).split()
        assert "  1!" not in table_text(wrong)
    assert " 123.5 " in table_text(typed(4, "ipc", "123.4567891", wrong)), "what is taken may be rounded"


def test_the_benchmarks_of_a_file_follow_each_other(sample_data: Path) -> None:
    sources = read_sheets([str(sample_data / "scale-model-example.csv")])
    tables = replace(MADE_UP, how=HowToPredict().with_next_rule()).opened(sources)
    assert "scale-model-example.csv: made-up linear" in titles(tables)
    assert "[b] 1 of 3" in titles(tables)
    assert tables.how.rule == "published"
    edited = typed(0, "ipc", "7", tables)
    assert "made-up congested" in titles(replace(edited, place=1))
    assert "Made-up numbers" in titles(edited.undone().undone()), "as before the file"
