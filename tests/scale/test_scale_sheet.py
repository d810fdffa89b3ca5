"""The table of a scale-model prediction: what is typed, what is wrong with it, what it asks and shows."""

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

from sampling.errors import OptionError
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
from tui.scale.answers import ipc_text, predictions_of
from tui.scale.sheet import (
    CELLS,
    GAP,
    OpenTables,
    Role,
    ScaleSheet,
    SheetAnswer,
    SheetRow,
    chart_title,
    made_up_tables,
    read_sheets,
    result_lines,
    result_of,
    sheet_columns,
    sheet_of,
    status_lines,
    table_title,
    tables_of,
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
CANVAS = Canvas(80, color=False)
MADE_UP = made_up_tables()


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


def answer_of(sheet: ScaleSheet, **asked: Any) -> SheetAnswer:
    return sheets.answer_of(OpenTables((sheet,), (sheet,), **asked))


def marked(sheet: ScaleSheet, row: int, role: Role) -> ScaleSheet:
    return sheet.spliced(row, 1, replace(sheet.rows[row], marked=role))


def test_dct_is_asked_as_its_command_line_asks_it() -> None:
    answer = answer_of(DCT)
    assert command_line("scale predict", answer.command) == (
        "kernelpoint scale predict --ipc 8=112.7,16=226.4 --mpki 8=6.17,16=6.18,32=6.16,64=5.52,128=0.1 "
        "--f-mem 0.52 --target 32,64,128"
    )
    # Additive: eff (1 + M (1 - 1/C)), and 1/(1 - f_mem) at the cliff.
    gain = 1 - 1 / (226.4 / 112.7 / 2)
    assert [each.ipc for each in answer.outcome.predictions] == pytest.approx(
        [226.4 / 16 * size * factor for size, factor in ((32, 1 + gain), (64, 1 + 3 * gain))]
        + [226.4 / 16 * 128 * (1 + 6 * gain) / 0.48]
    )


def test_a_row_is_simulated_or_a_target_by_its_ipc_unless_marked() -> None:
    assert [row.role for row in DCT.rows] == [Role.SIMULATED] * 2 + [Role.TARGET] * 3
    measured = answer_of(marked(DCT.with_cell(2, "ipc", "443.2"), 2, Role.TARGET))
    assert measured.outcome.models == (8, 16)
    assert measured.measurements.ipc[32] == 443.2
    assert answer_of(DCT.with_cell(2, "ipc", "443.2")).outcome.models == (8, 16, 32)
    curve = answer_of(marked(DCT, 3, Role.CURVE)).outcome
    assert [each.target for each in curve.predictions] == [32, 128]
    first = answer_of(marked(DCT, 1, Role.BOTH)).outcome.predictions[0]
    assert (first.target, first.note) == (16, "as simulated")


def test_a_cliff_alone_makes_use_of_f_mem() -> None:
    flat = answer_of(DCT.with_cell(4, "mpki", "5.5"))
    assert flat.asked.f_mem is None
    assert "f-mem-unused" not in {each.code for each in flat.outcome.findings}
    weak = replace(DCT, scaling=Scaling.WEAK)
    assert answer_of(weak, assume_f_mem=True).asked.assume_f_mem is False
    unknown = DCT.with_cell(1, "f_mem", "")
    assert answer_of(unknown).outcome.predictions[-1].ipc is None
    assert answer_of(unknown, assume_f_mem=True).outcome.predictions[-1].ipc is not None


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
        answer_of(sheet)
    assert str(error.value).startswith(place)
    assert why in str(error.value)


@pytest.mark.parametrize(
    ("sheet", "why"),
    [
        (replace(DCT, rows=DCT.rows[1:]), "one size alone is simulated"),
        (replace(DCT, rows=DCT.rows[:2]), "no target"),
        (ScaleSheet((SheetRow("8", "1", marked=Role.TARGET), SheetRow("16"))), "no size is simulated"),
        (replace(DCT, peak="2"), "above the peak of 2"),
        (replace(DCT, scaling=Scaling.CHIPLET, peak="64"), "chiplets"),
    ],
)
def test_what_is_wrong_with_the_whole_is_said(sheet: ScaleSheet, why: str) -> None:
    assert wrong_cells(sheet) == ()
    with pytest.raises(OptionError, match=why) as error:
        answer_of(sheet)
    assert error.value.remedy is not None


def test_the_bundled_numbers_are_a_sheet_of_their_file() -> None:
    assert [(row.size, row.ipc, row.mpki, row.f_mem, row.role) for row in MADE_UP.sheet.rows[:3]] == [
        ("8", "100", "6.02", "", Role.SIMULATED),
        ("16", "199", "6", "0.45", Role.SIMULATED),
        ("32", "", "5.94", "", Role.TARGET),
    ]
    command = ScalePredictOptions(files=(str(sample_scale_question()),))
    assert sheets.answer_of(MADE_UP).command == command
    edited = typed(1, "ipc", "190")
    assert sheets.answer_of(edited).command.files == ()
    assert sheets.answer_of(typed(1, "ipc", "199", edited)).command == command


def test_every_benchmark_of_a_table_is_a_sheet(sample_data: Path) -> None:
    tables = tables_of(read_sheets([str(sample_data / "scale-model-example.csv")]))
    names = ["made-up linear", "made-up congested", "made-up cliff"]
    assert [sheet.benchmark for sheet in tables.sheets] == names
    for place, name in enumerate(names):
        answer = sheets.answer_of(replace(tables, place=place))
        text = answer.text(answer.asked, CANVAS) + "\n"
        assert printed(command_line("scale predict", answer.command)) == text
        assert printed(command_line("scale predict", answer.asked)) == text.removeprefix(f"{name}: ")


IPC = st.floats(1e-3, 1e6)
VALUES = st.tuples(
    st.none() | IPC, st.none() | st.floats(0, 100), st.none() | st.floats(0, 1, exclude_max=True)
)
SIZES = st.sampled_from([1, 2, 3, 4, 8, 12, 16, 32, 64, 100, 128])


@st.composite
def questions(draw: Any) -> ScaleQuestion:
    """Questions as files ask them: models with an IPC, targets from the largest on, anything beside."""
    by_size = draw(st.dictionaries(SIZES, VALUES, min_size=2, max_size=8))
    models = sorted(draw(st.lists(st.sampled_from(sorted(by_size)), min_size=2, max_size=4, unique=True)))
    for size in models:
        _, mpki, f_mem = by_size[size]
        by_size[size] = (draw(IPC), mpki, f_mem)
    scaling = draw(st.sampled_from(Scaling))
    measurements = measurements_of(
        *(
            [(size, values[column]) for size, values in by_size.items() if values[column] is not None]
            for column in range(3)
        ),
        peak_ipc_per_sm=draw(st.none() | st.just(1e7)) if scaling is not Scaling.CHIPLET else None,
        mpki_unit=draw(st.sampled_from(MpkiUnit)),
        scaling=scaling,
    )
    targets = st.sets(SIZES.filter(lambda size: size >= models[-1]) | st.just(256), min_size=1, max_size=4)
    return ScaleQuestion(measurements, tuple(models), tuple(sorted(draw(targets))))


HOWS = st.fixed_dictionaries(
    {
        "chosen_rule": st.sampled_from([*RULES, "all"]),
        "confidence": st.sampled_from([0.8, 0.9, 0.95]),
        "assume_f_mem": st.booleans(),
    }
)


@given(questions(), HOWS)
def test_a_sheet_asks_what_the_question_asks(question: ScaleQuestion, how: dict[str, Any]) -> None:
    """The oracle is the engine, asked directly."""
    sheet = sheet_of(question)
    assert wrong_cells(sheet) == ()
    assert answer_of(sheet, **how).outcome == predict(
        question.measurements,
        question.targets,
        rules=tuple(RULES) if how["chosen_rule"] == "all" else (how["chosen_rule"],),
        confidence=how["confidence"],
        simulated=question.simulated,
        assume_f_mem=how["assume_f_mem"] and question.measurements.scaling.has_cliffs,
    )


CELL_TEXTS = st.sampled_from(
    ["", "8", "16", "32", "64", "128", "1.5", "0.5", "100", "1e3", "0", "-1", "x", " 7 "]
)
TYPED_ROWS = st.lists(
    st.builds(SheetRow, *[CELL_TEXTS] * len(CELLS), marked=st.none() | st.sampled_from(Role)), max_size=6
)


@given(TYPED_ROWS, HOWS, st.sampled_from(["", "64", "x"]))
def test_whatever_is_typed_is_answered_or_refused_in_words(
    rows: list[SheetRow], how: dict[str, Any], peak: str
) -> None:
    sheet = ScaleSheet(tuple(rows), peak=peak)
    wrong = wrong_cells(sheet)
    assert all(each.row is None or not rows[each.row].is_blank for each in wrong)
    if wrong:
        with pytest.raises(OptionError):
            answer_of(sheet, **how)
        return
    with suppress(OptionError):  # too few models, no target, a peak that is exceeded
        answer = answer_of(sheet, **how)
        assert predictions_of(answer.asked) == [(answer.measurements, answer.outcome)]


# -- what view 5 shows of it, without an app -----------------------------------------------------------------


def table_text(tables: OpenTables, width: int = 80) -> str:
    """The table as the view draws it."""
    columns = sheet_columns(tables.sheet, result_of(tables), width)
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
    return "\n".join(result_lines(result_of(tables), width))


def status(tables: OpenTables, row: int = 0, cell: str = "size") -> str:
    """The row below the table, where there is room for all of it."""
    return status_lines(tables, result_of(tables), row, cell)[0]


def typed(row: int, cell: str, text: str, tables: OpenTables = MADE_UP) -> OpenTables:
    return tables.edited(tables.sheet.with_cell(row, cell, text))


def test_made_up_numbers_are_said_to_be_so() -> None:
    for part in (
        "[5] Made-up numbers, no real GPU",
        "[N] empty, [o] open",
        "cliff 64 to 128 SMs",
        "super-lin",
    ):
        assert part in titles(MADE_UP)
    for part in ("  16   199", "simulated", "784.2", "371.1 to 422.6"):
        assert part in table_text(MADE_UP)
    assert "the working set comes to fit" in words(MADE_UP)
    assert "j more" in titles(MADE_UP, has_more=True)
    assert "j more" not in titles(MADE_UP)


def test_what_is_wrong_is_marked_and_said() -> None:
    wrong = typed(1, "f_mem", "45")
    assert " 45!" in table_text(wrong)
    said = "row 2, size 16, f_mem: f_mem is a fraction from 0 to below 1, not 45"
    assert said in words(wrong)
    assert status(wrong).startswith(said)
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
        assert " 123.5 " in table_text(typed(4, "ipc", "123.4567891", wrong)), "what is taken may be rounded"


def test_the_benchmarks_of_a_file_follow_each_other(sample_data: Path) -> None:
    read = read_sheets([str(sample_data / "scale-model-example.csv")])
    tables = MADE_UP.with_next_rule().opened(read)
    assert "scale-model-example.csv: made-up linear" in titles(tables)
    assert "[b] 1 of 3" in titles(tables)
    assert tables.rule == "published"
    edited = typed(0, "ipc", "7", tables)
    assert "made-up congested" in titles(replace(edited, place=1))
    assert "Made-up numbers" in titles(edited.undone().undone()), "as before the file"


def test_an_ipc_has_four_digits() -> None:
    assert [ipc_text(ipc) for ipc in (0.123456, 9_999.4, 10_000, 123_456.7)] == [
        *("0.1235", "9999", "10,000", "123,457")
    ]
