"""Names of any kind in a report: they are read as they are, and mean nothing to what shows the document."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from hypothesis import example, given
from hypothesis import strategies as st

from tui.report.escaping import fenced, in_html, in_markdown, prose_in_html
from tui.terminal.printable import printable

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
    assert seen.text.replace("`", "") == printable(text).replace("`", "")


@given(NASTY)
@example("1. one")
@example("a|b")
@example("# heading")
@example("- [x](javascript:1)")
def test_markdown_means_nothing_by_it(text: str) -> None:
    shown = in_markdown(text)
    assert "\n" not in shown
    # A backslash before punctuation stands for the punctuation alone (CommonMark 2.4).
    assert re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", shown) == printable(text).strip()
    left = re.sub(r"\\[!-/:-@\[-`{-~]", "", shown)
    assert not set(left) & set("\\`*_[]<>|~&$@")
    assert "://" not in shown
    assert not re.match(r"[#+=-]|\d+[.)](\s|$)", shown)


@given(st.text(alphabet="`~ab\n"))
def test_no_line_ends_a_block_before_its_end(text: str) -> None:
    first, *inside, last = fenced(text).split("\n")
    assert first == f"{last}text"
    assert inside == text.split("\n")
    assert not any(line.strip().startswith(last) for line in inside)
