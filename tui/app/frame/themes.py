"""Themes: the sixteen colours that everything is drawn in, the terminal's own or those of a Textual theme.

The styles of the app and of its charts name the terminal's colours. A theme gives each of them another
value, so that what is green stays green, and clusters that differ in colour differ in every theme.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from itertools import chain

from rich.terminal_theme import TerminalTheme
from textual.color import Color
from textual.theme import BUILTIN_THEMES, Theme

from tui.options.choices import Theme as ThemeName

LEAST_CONTRAST = 3.0
"""Of a colour to the background (WCAG 2.1, 1.4.11: for graphics and large letters)."""

LEAST_DISTANCE = 30.0
"""Between two of the six colours, as points of red, green and blue from 0 to 255."""

_HUES = {"red": 0.0, "green": 0.33, "yellow": 0.13, "cyan": 0.5, "blue": 0.6, "magenta": 0.83}
"""Where on the circle each of the six stands, from 0 to 1."""
_LEAST_SATURATION = 0.15
_STEPS = 20


def app_themes() -> dict[str, Theme]:
    """Return the themes by name: the terminal's own colours, then Textual's that bring theirs."""
    own = replace(BUILTIN_THEMES["ansi-dark"], name=ThemeName.TERMINAL)
    return {own.name: own, **{name: theme for name, theme in BUILTIN_THEMES.items() if not theme.ansi}}


@cache
def palette(name: str) -> TerminalTheme:
    """Return a theme's background, foreground and sixteen colours.

    Red, green and yellow are its error, success and warning; cyan, blue and magenta those of its other
    colours that have about this hue. A colour it lacks, or has twice, is made with the strength of the
    others. All are moved away from the background until they can be read.
    """
    colours = BUILTIN_THEMES[name].to_color_system().generate()
    background, foreground = Color.parse(colours["background"]), Color.parse(colours["foreground"])
    found = _six(colours, background, foreground)
    black, white = Color(0, 0, 0), Color(255, 255, 255)
    normal = [found[each] for each in ("red", "green", "yellow", "blue", "magenta", "cyan")]
    grey = background.blend(foreground, 0.5)
    return TerminalTheme(
        background.rgb,
        foreground.rgb,
        [each.rgb for each in (black, *normal, white, grey)],
        [each.rgb for each in (*normal, white)],
    )


def _six(colours: dict[str, str], background: Color, foreground: Color) -> dict[str, Color]:
    """Return the six colours by their names."""
    own = [Color.parse(colours[each]) for each in ("primary", "secondary", "accent")]
    meant = {"red": colours["error"], "green": colours["success"], "yellow": colours["warning"]}
    found: dict[str, Color] = {}
    for name, hue in _HUES.items():
        if name in meant:
            choices = [Color.parse(meant[name])]
        else:
            choices = sorted((each for each in own if _is_of(each, hue)), key=lambda each: _apart(each, hue))
        readable = (_readable(each, background, foreground) for each in chain(choices, _made(own, hue)))
        found[name] = next(each for each in readable if _is_new(each, found))
    return found


def _made(own: list[Color], hue: float) -> Iterator[Color]:
    """Yield a colour of a hue, as strong and as light as a theme's own; then of hues ever further on."""
    saturation = max(sorted(each.hsl.s for each in own)[1], 0.4)
    lightness = sorted(each.hsl.l for each in own)[1]
    for step in range(_STEPS):
        yield Color.from_hsl((hue + step / _STEPS) % 1, saturation, lightness)


def _readable(colour: Color, background: Color, foreground: Color) -> Color:
    """Return the colour, moved towards the foreground until it stands out from the background."""
    moved = (colour.blend(foreground, step / _STEPS) for step in range(_STEPS + 1))
    return next((each for each in moved if contrast(each, background) >= LEAST_CONTRAST), foreground)


def contrast(one: Color, other: Color) -> float:
    """Return the contrast ratio of two colours, 1 to 21 (WCAG 2.1, relative luminance)."""
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: Color) -> float:
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour.normalized
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _is_new(colour: Color, found: dict[str, Color]) -> bool:
    return all(math.dist(colour.rgb, other.rgb) >= LEAST_DISTANCE for other in found.values())


def _is_of(colour: Color, hue: float) -> bool:
    """Return whether a colour is no grey and nearer to this hue than to the others."""
    return colour.hsl.s >= _LEAST_SATURATION and min(_HUES.values(), key=partial(_apart, colour)) == hue


def _apart(colour: Color, hue: float) -> float:
    """Return how far a colour's hue is from another one, round the circle."""
    way = abs(colour.hsl.h - hue)
    return min(way, 1 - way)
