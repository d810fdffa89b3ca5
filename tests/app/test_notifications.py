"""What the app says is wholly on the screen: a command of which the last word is missing is another one."""

from __future__ import annotations

from tests.app.driving import opened, screen_text, wait_for


async def test_the_end_of_what_is_said_is_on_the_screen() -> None:
    size = (60, 15)
    async with opened(None, size, view="Scale model") as (app, pilot):
        for letters in (*range(size[0] - 1, size[0] + 2), *range(2 * size[0] - 12, 2 * size[0] + 3, 3)):
            app.clear_notifications()
            text = ("abcde fghijkl m nopqrst " * 9)[: letters - 6].strip()
            app.say(f"{text} {letters:>03} END")
            await wait_for(pilot, lambda n=letters: f"{n:>03} END" in _joined(screen_text(app)), "its end")  # type: ignore[misc]


def _joined(text: str) -> str:
    return " ".join(text.split())
