"""Names of any kind in a report: they are read as they are, and mean nothing to what shows the document."""

from __future__ import annotations

import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests import rendered_latex
from tests.rendered_markdown import rendered_paragraph, rendered_tables
from tui.output import latex
from tui.output.markdown import fenced, in_markdown, table_text
from tui.report.page import prose_in_html
from tui.report.pictures import in_html
from tui.terminal.printable import Column, names, printable

NASTY = st.text(
    alphabet=st.one_of(st.sampled_from("<>&\"'`\\|*_[]#-+.~$@0 \n\x1b\u202e\ud800"), st.characters())
)


class Seen(HTMLParser):
    """What a browser takes from a document."""

    def __init__(self, document: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(document)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text += data


@given(NASTY)
@example("</p><script>alert(1)</script>")
@example('" onload="x')
@example("&lt;&#60;")
def test_a_browser_shows_the_name_and_sees_no_tag(text: str) -> None:
    seen = Seen(f'<p title="{in_html(text)}">{in_html(text)}</p>')
    assert (seen.tags, seen.text, seen.attributes) == (["p"], printable(text), [("title", printable(text))])


@given(NASTY)
def test_what_stands_between_backticks_is_code_and_nothing_else(text: str) -> None:
    seen = Seen(f"<p>{prose_in_html(text)}</p>")
    assert set(seen.tags) <= {"p", "code"}
    assert seen.text.replace("`", "") == printable(text).strip().replace("`", "")


@given(NASTY, NASTY)
@example("x\\|y", "a|b\\")
@example("`a", " ``b` ")
@example("   ", "")
@example("f<int, T&>(char*)[with T = __half]", "<script>alert(1)</script>")
@example("[x](javascript:1) ![y](z)", "@someone #1 https://a.example www.b.com a@b.com")
def test_a_name_in_a_table_reads_as_it_is(name: str, other: str) -> None:
    columns = (names("kernel", [name, other]), names("again", [other, name]))
    (cells,) = rendered_tables(table_text(columns))
    name, other = printable(name), printable(other)
    assert cells == [["kernel", "again"], [name, other], [other, name]]


@given(NASTY)
@example("a|b \\| c")
@example("<0.1 %")
@example("__init__ a_b_c _d_ ~2 *")
@example("&lt; <b> http://a.example/?b=1&c=2.")
@example("a:smile:b at::native::f $x$ #12 GH-3 user@host file.py //host")
def test_another_text_in_a_table_reads_as_it_is_but_for_the_code_in_it(text: str) -> None:
    ((heading, row),) = rendered_tables(table_text((Column(text, [text]), Column("", ["1"]))))
    assert heading[0] == row[0]
    assert row[0].replace("`", "") == printable(text).strip().replace("`", "")


@given(NASTY)
@example("1. one")
@example("# heading #")
@example("- [x](javascript:1)")
@example("===")
@example("> [!NOTE]")
@example("    code")
def test_a_paragraph_is_nothing_else(text: str) -> None:
    # A reader sees no backticks around code.
    wanted = printable(text).strip().replace("`", "")
    shown = in_markdown(text)
    assert (rendered_paragraph(shown) if shown else "").replace("`", "") == wanted


@pytest.mark.parametrize("word", ["@someone", "#12", "GH-3", "a:b:c", "$x$", "www.a.example", "a@b.com"])
def test_what_no_backslash_keeps_github_from_is_code(word: str) -> None:
    assert in_markdown(f"see ({word}).") == f"see (`{word}`)."


def test_words_that_mean_nothing_are_left_alone() -> None:
    plain = "volta_sgemm_128x64_nn: +3.99 us, 95.0 % of 1,024 (0.9 to 1.1) -> it's 'so'"
    assert in_markdown(plain) == plain


@given(st.text(alphabet="`~ab\n"))
def test_no_line_ends_a_block_before_its_end(text: str) -> None:
    first, *inside, last = fenced(text).split("\n")
    assert first == f"{last}text"
    assert inside == text.split("\n")
    assert not any(line.strip().startswith(last) for line in inside)


TYPESET = (
    "&%$#_{}~^\\<>|`\"'",
    "--x --- '' ,, <<a>> ?` !` [1] *",
    "[x]",
    "*x",
    "\\alpha $x^2$ %",
    "\u2212≤≥≠≈∞\u03bc▲▼±µ…é",
)


@given(NASTY, NASTY)
@example(*TYPESET[:2])
@example(*TYPESET[2:4])
@example(*TYPESET[4:])
def test_a_name_in_latex_reads_as_it_is(name: str, other: str) -> None:
    columns = (names("kernel", [name, other]), Column(other, [other, name], to_right=False))
    (cells,) = rendered_latex.rendered_tables(latex.page_text([name, columns, other]))
    name, other = printable(name).strip(), printable(other).strip()
    assert cells == [["kernel", other], [name, other], [other, name]]


def test_figures_in_latex_have_signs_of_their_own_and_bars_are_left_out() -> None:
    figures = {
        "-0.7": "$-$0.7",
        "0.99-1.02": "0.99--1.02",
        "(-.5 to +2 %)": r"($-$.5 to +2 \%)",
        "-": "--",
        "1e-05": "1e-05",
    }
    columns = [Column("speedup", list(figures)), Column("bars", ["=|"] * len(figures), is_bar=True)]
    head, first, rule, heading, _, *rows = latex.page_text([columns]).split("\n")
    assert (head, first, rule) == (r"% \usepackage{booktabs}", r"\begin{tabular}{r}", r"\toprule")
    assert (heading, rows[-2:]) == (r"speedup \\", [r"\bottomrule", r"\end{tabular}"])
    assert rows[:-2] == [rf"{cell} \\" for cell in figures.values()]
    assert latex.page_text(["a sentence: 5 %"]) == "% a sentence: 5 %"


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="LaTeX is not installed")
@pytest.mark.parametrize("fonts", ["OT1", "T1"])
def test_latex_sets_it(tmp_path: Path, fonts: str) -> None:
    table = latex.page_text(["of names: %", (names("kernel", TYPESET), Column("-1", ["-1"] * len(TYPESET)))])
    head = (
        rf"\documentclass{{article}}\usepackage[{fonts}]{{fontenc}}\usepackage{{booktabs}}\begin{{document}}"
    )
    (tmp_path / "table.tex").write_text(f"{head}\n{table}\n\\end{{document}}\n")
    words = ("pdflatex", "-halt-on-error", "-interaction=nonstopmode", "table.tex")
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout.decode(errors="replace")
