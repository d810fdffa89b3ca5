"""Themes: the sixteen colours that everything is drawn in, the terminal's own or those of a Textual theme."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

from rich.terminal_theme import TerminalTheme
from textual._ansi_theme import ALABASTER, MONOKAI
from textual.color import Color
from textual.theme import BUILTIN_THEMES, Theme

from tui.options.choices import Theme as ThemeName

LEAST_CONTRAST = 3.0
"""Of a colour to the background (WCAG 2.1, 1.4.11: for graphics and large letters)."""
LEAST_DISTANCE = 30.0
"""Between two of the six colours, as points of red, green and blue from 0 to 255."""
_ROLES = ("error", "success", "warning", "primary", "secondary", "accent")
"""Of a theme's own colours: red, green, yellow, blue, magenta, cyan."""
_STEPS = 20


def app_themes() -> dict[str, Theme]:
    """Return the themes by name: the terminal's own colours, then Textual's that bring theirs."""
    own = replace(BUILTIN_THEMES["ansi-dark"], name=ThemeName.TERMINAL)
    return {own.name: own, **{name: theme for name, theme in BUILTIN_THEMES.items() if not theme.ansi}}


@cache
def palette(name: str) -> TerminalTheme:
    """Return a theme's background, foreground and sixteen colours.

    A colour of the theme that it has twice gives way to Textual's usual one; all are moved away from the
    background until they can be read.
    """
    colours = BUILTIN_THEMES[name].to_color_system().generate()
    background, foreground = Color.parse(colours["background"]), Color.parse(colours["foreground"])
    usual = (MONOKAI if BUILTIN_THEMES[name].dark else ALABASTER).ansi_colors
    six: list[Color] = []
    for place, role in enumerate(_ROLES, start=1):
        wanted = (Color.parse(colours[role]), Color(*usual[place]), Color(*usual[place + 8]))
        readable = [_readable(colour, background, foreground) for colour in wanted]
        far = (each for each in readable if all(math.dist(each.rgb, o.rgb) >= LEAST_DISTANCE for o in six))
        six.append(next(far, readable[1]))
    black, white, grey = (0, 0, 0), (255, 255, 255), background.blend(foreground, 0.5).rgb
    rgb = [each.rgb for each in six]
    return TerminalTheme(background.rgb, foreground.rgb, [black, *rgb, white, grey], [*rgb, white])


def _readable(colour: Color, background: Color, foreground: Color) -> Color:
    """Return the colour, moved towards the foreground until it stands out from the background."""
    moved = (colour.blend(foreground, step / _STEPS) for step in range(_STEPS + 1))
    return next((each for each in moved if contrast(each, background) >= LEAST_CONTRAST), foreground)


def contrast(one: Color, other: Color) -> float:
    """Return the contrast ratio of two colours, 1 to 21 (WCAG 2.1, relative luminance)."""

    def luminance(colour: Color) -> float:
        linear = (
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour.normalized
        )
        return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)
