"""What view 5 shows in its table, its titles and its words, without an app."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from scalemodel.measurements import MpkiUnit, Scaling
from tests.drawing import in_ascii
from tui.scale.sheet import (
    GAP,
    HowToPredict,
    OpenTables,
    Role,
    ScaleSheet,
    SheetRow,
    chart_title,
    made_up_tables,
    read_sheets,
    result_lines,
    result_of,
    settings_lines,
    sheet_columns,
    status_lines,
    table_title,
    tables_of,
    words_title,
)

MADE_UP = made_up_tables()


def table_text(tables: OpenTables, width: int = 80, *, ascii_only: bool = False) -> str:
    """The table as the view draws it."""
    result = result_of(tables)
    columns = in_ascii(ascii_only, sheet_columns, tables.sheet, result.answer, result.wrong, width)
    texts = [[column.fitted(text) for text in (column.heading, *column.cells)] for column in columns]
    return "\n".join((" " * GAP).join(row) for row in zip(*texts, strict=True))


def titles(tables: OpenTables, *, has_more: bool = False) -> str:
    """The titles of the three panes."""
    result = result_of(tables)
    each = (
        table_title(tables, None),
        chart_title(tables, result.answer),
        words_title(result.answer, len(result.wrong), has_more=has_more),
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


@pytest.mark.parametrize("width", [80, 60, 40, 20])
def test_columns_and_words_fit_where_there_is_little_room(width: int) -> None:
    # The columns to type in are never left out.
    least = max(map(len, table_text(MADE_UP, 1).splitlines()))
    assert max(map(len, table_text(MADE_UP, width).splitlines())) <= max(width, least)
    assert max(map(len, words(MADE_UP, width).splitlines())) <= width
    assert max(map(len, words(typed(1, "f_mem", "45"), width).splitlines())) <= width


def test_an_edit_is_predicted_from() -> None:
    edited = typed(1, "ipc", "120.5")
    # c = C = 120.5/100/2 < 1: eff / (1 + M (1/c - 1)) T.
    wanted = 120.5 / 16 * 32 / (1 + 1 * (200 / 120.5 - 1))
    assert f"{wanted:.4g}" in table_text(edited)
    assert "sub-linear" in titles(edited) or "super-linear" in titles(edited)
    assert "[5] Sizes, from made-up numbers" in titles(edited)


def test_an_empty_table_is_typed_in() -> None:
    empty = MADE_UP.emptied()
    assert "[5] Sizes, as typed" in titles(empty)
    rows = (SheetRow("8", "9", "6"), SheetRow("16", "18", "6", ".4"), SheetRow("32", "", "0"), SheetRow())
    filled = empty.edited(ScaleSheet(rows))
    # 18/16 of each SM, without a change; 1/(1 - 0.4) at the cliff.
    assert " 60  " in table_text(filled)
    assert "cliff 16 to 32 SMs" in titles(filled)


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
    ("ascii_only", "mark"), [(False, "0.999999\N{HORIZONTAL ELLIPSIS}!"), (True, "0.9999...!")]
)
def test_what_is_refused_stands_as_it_was_typed(ascii_only: bool, mark: str) -> None:
    wrong = typed(4, "size", "0.9999999999")
    assert "not '0.9999999999'" in words(wrong)
    assert mark in table_text(wrong, ascii_only=ascii_only).split()
    assert "  1!" not in table_text(wrong, ascii_only=ascii_only)
    assert " 123.5 " in table_text(typed(4, "ipc", "123.4567891", wrong)), "what is taken may be rounded"


def test_what_is_asked_is_said_with_its_keys() -> None:
    how = HowToPredict().with_next_rule().with_next_confidence().with_other_f_mem()
    sheet = MADE_UP.sheet.with_next_unit().with_next_scaling()
    asked = MADE_UP.edited(sheet).asked(how)
    for part in ("[r] published", "[i] 95 %", "[a] f_mem assumed", "[t] MPKI per warp", "[s] weak"):
        assert part in settings_lines(asked)[0]
    assert "no cliff" in titles(asked)
    assert (asked.sheet.scaling, asked.sheet.mpki_unit) == (Scaling.WEAK, MpkiUnit.WARP)
    undone = asked.undone()
    assert "[s] strong" in settings_lines(undone)[0]
    assert "[i] 95 %" in settings_lines(undone)[0], "what is asked is no edit"
    every = undone.asked(replace(how, rule="all"))
    assert "Chart: all rules, 95 %" in titles(every)
    assert max(map(len, settings_lines(every)[1:])) < len(settings_lines(every)[0])


def test_scalings_and_units_come_round() -> None:
    sheet, seen = MADE_UP.sheet, []
    for _ in Scaling:
        seen.append(sheet.scaling)
        sheet = sheet.with_next_scaling()
    assert seen == list(Scaling)
    assert sheet.with_next_unit().with_next_unit() == sheet == MADE_UP.sheet


def test_the_role_of_a_row_is_told() -> None:
    curve = MADE_UP.edited(MADE_UP.sheet.with_role(2, Role.CURVE))
    assert " curve" in table_text(curve)
    measured = MADE_UP.edited(MADE_UP.sheet.with_cell(2, "ipc", "395").with_role(2, Role.TARGET))
    assert "measured" in table_text(measured)
    assert "error" in table_text(measured).splitlines()[0]
    assert "unused" in table_text(curve.edited(curve.sheet.with_cell(2, "mpki", "")))


def test_a_peak_that_is_wrong_or_exceeded_is_said() -> None:
    def with_peak(text: str) -> OpenTables:
        return MADE_UP.edited(replace(MADE_UP.sheet, peak=text))

    assert "above the peak of 2" in words(with_peak("2"))
    assert "above the peak of 2" in status(with_peak("2"))
    assert "the peak IPC of an SM: 'x' is not a number" in words(with_peak("x"))
    assert "[p] peak 64" in status(with_peak("64"))
    assert "[p] no peak" in status(MADE_UP)


def test_the_benchmarks_of_a_file_follow_each_other(sample_data: Path) -> None:
    sources = read_sheets([str(sample_data / "scale-model-example.csv")])
    tables = MADE_UP.asked(HowToPredict().with_next_rule()).opened(sources)
    assert "scale-model-example.csv: made-up linear" in titles(tables)
    assert "[b] 1 of 3" in titles(tables)
    assert tables.how.rule == "published"
    edited = typed(0, "ipc", "7", tables)
    assert "made-up congested" in titles(edited.next())
    assert "made-up linear, edited" in titles(edited.next().next().next()), "still edited"
    assert "Made-up numbers" in titles(edited.undone().undone()), "as before the file"


def test_the_letters_of_all_rules_are_in_the_headings(sample_data: Path) -> None:
    tables = tables_of(read_sheets([str(sample_data / "scale-model-example.csv")])).next()
    every = tables.asked(HowToPredict(rule="all"))
    heading = table_text(every).splitlines()[0]
    assert "A predicted" in heading
    assert "A low to high" in heading
    assert "A predicted" not in table_text(tables)


def test_the_row_of_the_cursor_is_told_where_not_all_are_in_sight(tmp_path: Path) -> None:
    path = tmp_path / "many.toml"
    path.write_text("targets = [100]\n[ipc]\n" + "".join(f"{size} = {size}.5\n" for size in range(1, 21)))
    tables = tables_of(read_sheets([str(path)]))
    assert table_title(tables, 0) == ("[5] many.toml", "row 1 of 21")
    assert "row 21, size 4, size: size 4 is in row 4 already" in words(typed(20, "size", "4", tables))
