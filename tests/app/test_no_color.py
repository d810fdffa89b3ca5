"""Without colour: with NO_COLOR there is none, and what is marked is still seen."""

from __future__ import annotations

import pytest

from tests.app.driving import colours, opened, screen_text, strips_of, wait_for


async def test_no_color_wins_and_what_is_marked_is_still_seen_in_every_view(
    gpt: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with opened(gpt) as (app, pilot):

        def is_reversed(words: str) -> bool:
            parts = [part for strip in strips_of(app) for part in strip if part.style and part.style.reverse]
            return any(words in part.text for part in parts)

        for key, words, after in (
            ("1", "volta_sgemm_32x32", "j"),
            ("2", "root", ""),
            ("3", "epsilon", "j"),
            ("3", "Costs", "tab"),
            ("4", "joint", ""),
            ("5", "8", ""),
        ):
            await pilot.press(key, *after.split())
            await wait_for(pilot, lambda: is_reversed(words), f"{words} is marked")  # noqa: B023
            assert colours(app) == set()
        await pilot.press("ctrl+p")
        await wait_for(pilot, lambda: "read a CSV or TOML" in screen_text(app), "the palette")
        assert colours(app) == set()
