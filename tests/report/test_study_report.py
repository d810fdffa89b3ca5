"""The page of a study: all numbers of its summary stand in it, names whole, and it loads nothing."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest

from sampling.study.summary import SpeedupSummary
from tests.rendered_html import Page
from tests.rendered_markdown import Cells, rendered_tables
from tests.small_studies import made_summary
from tui.report.page import Report, html_lines, markdown_text
from tui.report.pictures import picture_text
from tui.report.speedup_figure import speedup_figure
from tui.report.study import study_report
from tui.terminal.printable import printable

HOSTILE = '</td><script src="https://x.example/a.js">alert(1)</script>&`|*\x1b[31m\ufffe <T>'
LONG = "a program whose name has more letters than any table of a terminal has room for"
NAMES = ["gto", "l2_half"]
SUMMARY = made_summary(
    {
        HOSTILE: [(1.0123, 0.004), (0.9, 0.02)],
        LONG: [(1.2, 0.01), None],
        "picked": [(2.5, math.nan), (0.5, 0.1)],
    },
    NAMES,
)
SENTENCES = ["gto is 1.2 % faster than base (0.8 to 1.6 %).", "63 of 3,003 launches.", "All within 2.0 %."]
NOTES = ["picked: launches without `cycles`"]
COMMANDS = ["kernelpoint run study.toml", "kernelpoint speedup study.toml"]


def report(summary: SpeedupSummary = SUMMARY) -> Report:
    return study_report(summary, SENTENCES, NOTES, COMMANDS)


def page_text(summary: SpeedupSummary = SUMMARY) -> str:
    return "\n".join(html_lines(report(summary)))


def numbers(summary: SpeedupSummary) -> Iterator[str]:
    """All numbers of a summary, as a table has them."""
    for program in summary.programs:
        yield from (f"{number:,}" for number in (program.launches, program.drawn) if number is not None)
        for cell in program.cells:
            yield from (f"{number:,}" for number in (cell.launches, cell.differing, cell.missing))
            yield from (f"{cycles:,.0f}" for cycles in [cell.cycles] if cycles is not None)
            yield from (f"{value:.4f}" for value in (cell.speedup, cell.low, cell.high) if value is not None)
    if summary.means is not None:
        for mean in summary.means.geometric.values():
            yield from (f"{value:.4f}" for value in (mean.ratio, mean.low, mean.high) if value is not None)


def test_the_page_is_whole_and_loads_and_runs_nothing() -> None:
    page = Page(page_text())
    page.assert_harmless()
    assert page.text["h1"] == ["Which of gto and l2_half is faster than base?"]
    assert page.text["h2"] == [
        *("In short", "Speedups", "Means", "Every cell", "Launches", "Configurations", "What is assumed"),
        "To make this again",
    ]
    assert page.text["p"][1] == " ".join(SENTENCES)
    assert page.text["p"][-1] == NOTES[0].replace("`", "")
    assert page.text["code"][-1] == "\n".join(COMMANDS)
    assert page.document.count("<svg") == 1
    assert printable(HOSTILE) in page.text["th"]
    assert Page(page_text(made_summary({"p": [(1.1, 0.1)]}, ["gto"]))).text["h1"] == [
        "Is gto faster than base?"
    ]


@pytest.mark.parametrize("form", ["html", "md"])
def test_all_numbers_of_the_summary_stand_in_it(form: str) -> None:
    page = Page(page_text())
    cells = {*page.text["td"], *page.text["th"]}
    if form == "md":
        cells = {cell for table in markdown_tables() for row in table for cell in row}
    said = {part for cell in cells for part in (cell, *cell.split("-"))}
    assert {number for number in numbers(SUMMARY) if number not in said} <= {"1.0000"}


def markdown_tables() -> list[Cells]:
    return rendered_tables(markdown_text(report(), {}))


def test_markdown_has_whole_names_and_the_figure_as_text_or_file() -> None:
    text = markdown_text(report(), {})
    speedups, means, cells, launches, caches, options = markdown_tables()
    names = [printable(HOSTILE), LONG, "picked"]
    assert [row[0] for row in speedups] == [
        "program",
        *names,
        "geometric mean",
        "harmonic mean",
        "total work",
    ]
    assert speedups[2][1:] == ["1.2000 ±1.0 %", "-"]
    assert speedups[3][1] == "2.5000"
    assert [row[1] for row in means[1:]] == ["gto"] * 3
    assert cells[6][:4] == [LONG, "l2_half", "-", "-"]
    assert cells[6][-1] == "no results yet: out/l2_half.log"
    assert [row[0] for row in launches[1:]] == names
    assert launches[1][1:] == ["1,000", "20", "50"]
    assert caches[1:] == [[name, "warm"] for name in ("base", *NAMES)]
    assert options[1:] == [[name, "-gpgpu_scheduler", "lrr", name] for name in NAMES]
    # A row a bar; of what nobody simulated it has the line at 1 alone.
    drawn = text.split("```")[1]
    assert drawn.isascii()
    bars = [line.split()[-1] for line in drawn.strip().splitlines()[2:]]
    assert [bar == "|" for bar in bars] == [False, False, False, True, False, False, False, True]
    (figure,) = report().figures
    assert picture_text(figure) == speedup_figure(SUMMARY)
    assert "![Speedup over base](figs/speedups.svg)" in markdown_text(
        report(), {"speedups": "figs/speedups.svg"}
    )


def test_a_study_without_results_is_a_page_too() -> None:
    nothing = made_summary({"p": [None, None], "q": [None, None]}, NAMES)
    page = Page(page_text(nothing))
    assert "Means" not in page.text["h2"]
    assert "n/a" in page.text["text"]
