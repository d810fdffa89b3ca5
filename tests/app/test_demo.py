"""`demo`: something to look at in every view, and a line that says where to begin."""

from __future__ import annotations

import pytest

from tests.app.driving import screen_text, wait_for
from tui.app.app import KernelPointApp
from tui.app.state import Session
from tui.commands import demo
from tui.options.look import DemoOptions
from tui.terminal import tty


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Session:
    """What `demo` opens the app with."""
    opened: list[Session] = []
    monkeypatch.setattr(tty, "is_interactive", lambda: True)
    monkeypatch.setattr(demo, "open_app", lambda session, *_: opened.append(session))
    demo.run_demo(DemoOptions())
    return opened[0]


async def test_it_says_where_to_begin_and_has_a_difference_and_a_study(session: Session) -> None:
    app = KernelPointApp(session)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:

        async def shows(words: str) -> None:
            await wait_for(pilot, lambda: words in " ".join(screen_text(app).split()), words)

        await shows(
            "20 of 13,920 launches tell the whole run within 4.9 %: 3 shows how, e hands them to a simul"
        )
        await pilot.press("7")
        await shows("Compared per iteration: 87 before, 87 after")
        await pilot.press("8")
        await shows("2 programs, 5 configurations")
        assert "13,920 launches" not in screen_text(app), "the study is of other programs"
