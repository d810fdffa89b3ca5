"""A terminal that places no cursor, as `TERM=dumb` says of itself, gets no full screen but words."""

from __future__ import annotations

import pytest

from tests.terminal.pseudo_terminal import ENTERED, Terminal

WHY = "kernelpoint: TERM={} has no full screen, so this is the {}; to open the app, set TERM to what"


def test_the_summary_is_printed_instead_and_a_line_says_why(gpt: str) -> None:
    terminal = Terminal(gpt, "--method", "root", TERM="unknown")
    assert terminal.leave() == 0
    assert ENTERED not in terminal.output
    shown = terminal.output.decode()
    assert WHY.format("unknown", "summary") in shown
    assert shown.count("kernelpoint: ") == 1
    assert "13,920 launches" in shown


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("open", "--app", "{}"), "--app: TERM=dumb has no full screen; set TERM to what the terminal is"),
        (
            ("scale", "open"),
            "TERM=dumb has no full screen, and no file to predict from; give one, or set TERM",
        ),
    ],
)
def test_where_nothing_can_be_printed_instead_it_is_an_error_of_usage(
    gpt: str, words: tuple[str, ...], said: str
) -> None:
    terminal = Terminal(*(word.replace("{}", gpt) for word in words), TERM="dumb")
    assert terminal.leave() == 2
    assert ENTERED not in terminal.output
    assert said in terminal.output.decode()
