"""Themes: the terminal's own colours by default, others that can be read, none with NO_COLOR."""

from __future__ import annotations

import math
from itertools import combinations

import pytest
from textual.color import Color

from tests.app.driving import colours, opened, screen_text, strips_of, wait_for
from tui.app.app import KernelPointApp
from tui.app.frame.themes import LEAST_CONTRAST, LEAST_DISTANCE, app_themes, contrast, palette
from tui.app.state import Session
from tui.options.choices import Theme

OTHERS = [theme for theme in Theme if theme is not Theme.TERMINAL]


def test_all_themes_can_be_asked_for() -> None:
    assert set(Theme) == set(app_themes()) == set(KernelPointApp(Session()).available_themes)
    assert next(iter(Theme)) is Theme.TERMINAL


@pytest.mark.parametrize(
    ("one", "other", "ratio"),
    [("#000000", "#ffffff", 21.0), ("#777777", "#ffffff", 4.48), ("#ff0000", "#ff0000", 1.0)],
)
def test_contrast_is_that_of_the_standard(one: str, other: str, ratio: float) -> None:
    """The standard's own examples."""
    assert contrast(Color.parse(one), Color.parse(other)) == pytest.approx(ratio, abs=0.005)


@pytest.mark.parametrize("theme", OTHERS)
def test_six_colours_can_be_read_and_told_apart(theme: Theme) -> None:
    made = palette(theme)
    six = [Color(*made.ansi_colors[number]) for number in range(1, 7)]
    for colour in six:
        assert contrast(colour, Color(*made.background_color)) >= LEAST_CONTRAST
    for one, other in combinations(six, 2):
        assert math.dist(one.rgb, other.rgb) >= LEAST_DISTANCE
    black, yellow = (Color(*made.ansi_colors[number]) for number in (0, 3))
    assert contrast(black, yellow) >= LEAST_CONTRAST, "the mark of a warning"
    red, green = (Color(*made.ansi_colors[number]) for number in (1, 2))
    assert red.r > max(red.g, red.b)
    assert green.g > green.r


async def test_a_theme_is_chosen_while_the_app_runs(resnet: str) -> None:
    async with opened(resnet) as (app, pilot):
        own = colours(app)
        assert not any(name.startswith("#") for name in own), "the terminal's own sixteen"
        app.theme = Theme.NORD
        await wait_for(pilot, lambda: "#2e3440" in colours(app), "its background")
        assert all(name.startswith("#") for name in colours(app))
        app.theme = Theme.TERMINAL
        await wait_for(pilot, lambda: colours(app) == own, "the terminal's again")


async def test_no_color_wins_and_what_is_marked_is_still_seen_in_every_view(
    gpt: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert KernelPointApp(Session(), theme=Theme.NORD).theme == "terminal"
    async with opened(gpt) as (app, pilot):
        app.search_themes()
        await wait_for(pilot, lambda: "all themes look the same" in screen_text(app), "why not")

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
        await wait_for(pilot, lambda: "add a size below" in screen_text(app), "the palette")
        assert colours(app) == set()
