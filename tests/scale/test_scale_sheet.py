"""The table of a scale-model prediction: what is typed, what is wrong with it, and what it asks."""

from __future__ import annotations

import io
import os
import shlex
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from scalemodel.errors import InputError, OptionError
from scalemodel.inputs import ScaleQuestion
from scalemodel.measurements import MpkiUnit, Scaling, measurements_of
from scalemodel.predict import predict
from scalemodel.rules import RULES
from tui import cli
from tui.engine.bundled import sample_scale_question
from tui.options.command_line import command_line
from tui.options.scale import ScalePredictOptions
from tui.output.writer import Canvas
from tui.scale.answers import predict_text, predictions_of
from tui.scale.sheet import (
    CELLS,
    ROLE,
    HowToPredict,
    Role,
    ScaleSheet,
    SheetRow,
    answer_of,
    blank_sheet,
    farewell,
    made_up_tables,
    next_role,
    number_text,
    place_text,
    read_sheets,
    sheet_of,
    wrong_cells,
)

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


def test_dct_is_asked_as_its_command_line_asks_it() -> None:
    answer = answer_of(DCT, HOW)
    assert command_line("scale predict", answer.command) == (
        "kernelpoint scale predict --ipc 8=112.7,16=226.4 --mpki 8=6.17,16=6.18,32=6.16,64=5.52,128=0.1 "
        "--f-mem 0.52 --target 32,64,128"
    )
    ((_, outcome),) = answer.pairs
    # Additive: eff (1 + M (1 - 1/C)), and 1/(1 - f_mem) at the cliff.
    gain = 1 - 1 / (226.4 / 112.7 / 2)
    assert [each.ipc for each in outcome.predictions] == pytest.approx(
        [226.4 / 16 * size * factor for size, factor in ((32, 1 + gain), (64, 1 + 3 * gain))]
        + [226.4 / 16 * 128 * (1 + 6 * gain) / 0.48]
    )


def test_a_row_is_simulated_or_a_target_by_its_ipc_unless_marked() -> None:
    assert [row.role for row in DCT.rows] == [Role.SIMULATED] * 2 + [Role.TARGET] * 3
    marked = DCT.with_cell(2, "ipc", "443.2").with_role(2, Role.TARGET)
    assert marked.rows[2].role is Role.TARGET
    ((measurements, outcome),) = answer_of(marked, HOW).pairs
    assert outcome.models == (8, 16)
    assert measurements.ipc_at(32) == 443.2
    simulated = DCT.with_cell(2, "ipc", "443.2")
    assert answer_of(simulated, HOW).pairs[0][1].models == (8, 16, 32)
    curve = answer_of(DCT.with_role(3, Role.CURVE), HOW).pairs[0][1]
    assert [each.target for each in curve.predictions] == [32, 128]
    first = answer_of(DCT.with_role(1, Role.BOTH), HOW).pairs[0][1].predictions[0]
    assert (first.target, first.note) == (16, "as simulated")


def test_roles_rules_and_levels_come_round() -> None:
    row, seen = SheetRow("8", "1"), []
    for _ in Role:
        seen.append(row.role)
        row = SheetRow("8", "1", marked=next_role(row))
    assert set(seen) == set(Role)
    assert row.role is seen[0]
    unmeasured = SheetRow("32", marked=Role.SIMULATED)
    assert next_role(unmeasured) is Role.TARGET
    assert next_role(SheetRow("32")) is Role.CURVE
    assert next_role(SheetRow("32", marked=Role.CURVE)) is Role.TARGET
    how, rules = HOW, []
    for _ in range(len(RULES) + 1):
        rules.append(how.rule)
        how = how.with_next_rule()
    assert rules == [*RULES, "all"]
    assert how == HOW
    levels = [HowToPredict(confidence=level).with_next_confidence() for level in (0.8, 0.9, 0.95)]
    assert [level.confidence for level in levels] == [0.9, 0.95, 0.8]
    assert HOW.with_other_f_mem() == HowToPredict(assume_f_mem=True)


def test_rows_come_and_go() -> None:
    longer = DCT.with_new_row(2)
    assert [row.size for row in longer.rows] == ["8", "16", "", "32", "64", "128"]
    assert answer_of(longer, HOW).pairs == answer_of(DCT, HOW).pairs
    assert longer.without_row(2) == DCT
    assert [row.size for row in DCT.without_row(4).rows] == ["8", "16", "32", "64"]
    assert DCT.with_cell(0, "ipc", " 7 ").rows[0].ipc == "7"
    assert DCT.rows[0].ipc == "112.7"


def test_a_cliff_alone_makes_use_of_f_mem() -> None:
    flat = DCT.with_cell(4, "mpki", "5.5")
    assert answer_of(flat, HOW).asked.f_mem is None
    assert "f-mem-unused" not in {each.code for each in answer_of(flat, HOW).pairs[0][1].findings}
    weak = ScaleSheet(DCT.rows, scaling=Scaling.WEAK)
    assert answer_of(weak, HowToPredict(assume_f_mem=True)).asked.assume_f_mem is False
    unknown = DCT.with_cell(1, "f_mem", "")
    assert answer_of(unknown, HOW).pairs[0][1].predictions[-1].ipc is None
    assert answer_of(unknown, HowToPredict(assume_f_mem=True)).pairs[0][1].predictions[-1].ipc is not None


def test_how_to_predict_is_asked() -> None:
    answer = answer_of(DCT, HowToPredict("all", 0.8))
    assert {each.method for each in answer.pairs[0][1].predictions} == set(RULES)
    assert "--rule all --confidence 0.8" in command_line("scale predict", answer.command)
    first = answer.pairs[0][1].predictions[0]
    assert first.high is not None
    assert first.ipc is not None
    assert first.high / first.ipc == pytest.approx(2.718281828**0.037)
    chiplets = ScaleSheet(DCT.rows, "x y", Scaling.CHIPLET, MpkiUnit.WARP)
    line = command_line("scale predict", answer_of(chiplets, HOW).command)
    assert "--scaling chiplet --mpki-unit warp --name 'x y'" in line
    peak = command_line("scale predict", answer_of(ScaleSheet(DCT.rows, peak="64"), HOW).command)
    assert "--peak-ipc-per-sm 64 " in peak


WRONG: dict[str, tuple[int, str, str, str, str]] = {
    "no size": (0, "size", "", "row 1, size", "whole number"),
    "a size of text": (0, "size", "eight", "row 1, size eight, size", "not 'eight'"),
    "a size of 8.5": (0, "size", "8.5", "row 1", "whole number"),
    "a size of 0": (0, "size", "0", "row 1", "from 1 to"),
    "a size twice": (2, "size", "16", "row 3, size 16, size", "row 2 already"),
    "an ipc of text": (1, "ipc", "1,5", "row 2, size 16, IPC", "decimal point"),
    "an ipc of 0": (1, "ipc", "0", "row 2, size 16, IPC", "above 0"),
    "an ipc of nan": (1, "ipc", "nan", "row 2, size 16, IPC", "above 0"),
    "an mpki below 0": (3, "mpki", "-1", "row 4, size 64, MPKI", "0 or more"),
    "an mpki that is infinite": (3, "mpki", "inf", "row 4, size 64, MPKI", "0 or more"),
    "an f_mem in per cent": (1, "f_mem", "52", "row 2, size 16, f_mem", "0.52"),
    "an f_mem of a target": (4, "f_mem", "x", "row 5, size 128, f_mem", "not a number"),
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


def test_all_wrong_cells_are_found_in_reading_order() -> None:
    sheet = DCT.with_cell(0, "ipc", "x").with_cell(2, "mpki", "y").with_cell(2, "size", "z")
    assert [(wrong.row, wrong.cell) for wrong in wrong_cells(sheet)] == [(0, "ipc"), (2, "size"), (2, "mpki")]
    assert wrong_cells(blank_sheet()) == ()


def test_a_role_that_cannot_be_is_named() -> None:
    (wrong,) = wrong_cells(DCT.with_role(0, Role.TARGET).with_cell(2, "ipc", "443"))
    assert (wrong.row, wrong.cell) == (0, ROLE)
    assert "below the largest simulated size, 32" in wrong.message
    (wrong,) = wrong_cells(DCT.with_role(4, Role.SIMULATED).with_role(2, Role.CURVE).with_role(3, Role.CURVE))
    assert (wrong.row, wrong.cell) == (4, "ipc")
    assert "no IPC" in wrong.message


@pytest.mark.parametrize("peak", ["x", "0", "-1", "inf"])
def test_a_wrong_peak_is_named(peak: str) -> None:
    sheet = ScaleSheet(DCT.rows, peak=peak)
    (wrong,) = wrong_cells(sheet)
    assert wrong.row is None
    assert place_text(sheet, wrong) == "peak"
    with pytest.raises(OptionError, match="peak"):
        answer_of(sheet, HOW)


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
        text = predict_text(answer.pairs, answer.asked, CANVAS)
        assert printed(command_line("scale predict", answer.command)) == text + "\n"
        assert printed(command_line("scale predict", answer.asked)) == text + "\n"
    (alone,) = read_sheets([path], "made-up cliff")
    assert alone == sources[2]


def test_a_file_whose_targets_descend_is_asked_by_its_numbers(tmp_path: Path) -> None:
    path = tmp_path / "descending.toml"
    path.write_text("targets = [64, 32]\n[ipc]\n8 = 10\n16 = 20\n")
    (source,) = read_sheets([str(path)])
    assert answer_of(source.sheet, HOW, source).command.files == ()


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_sheets([str(tmp_path / "nothing.csv")])


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
    ((_, outcome),) = answer.pairs
    assert outcome == wanted
    assert predict_text(answer.pairs, answer.asked, CANVAS) == predict_text(
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
        assert predictions_of(answer.asked) == answer.pairs


# Each example runs the whole command line.
@settings(max_examples=20)
@given(questions(), HOWS)
def test_the_command_line_prints_what_the_sheet_says(question: ScaleQuestion, how: HowToPredict) -> None:
    answer = answer_of(sheet_of(question), how)
    assume(len(answer.pairs[0][1].predictions) < 30)
    line = command_line("scale predict", answer.command)
    assert printed(line, 60) == predict_text(answer.pairs, answer.asked, Canvas(60, False, False)) + "\n"


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_reads_back(value: float) -> None:
    assert float(number_text(value)) == value


def test_leaving_says_the_largest_target_and_its_command() -> None:
    tables = made_up_tables()
    assert farewell(tables) is None
    edited = tables.edited(tables.sheet.with_cell(0, "ipc", "101"))
    line = farewell(edited)
    assert line is not None
    assert line.startswith("128 SMs: IPC ")
    assert "\nkernelpoint scale predict " in line
    assert "8=101" in line
    assert farewell(tables.edited(tables.sheet.with_cell(0, "ipc", "fast"))) is None
