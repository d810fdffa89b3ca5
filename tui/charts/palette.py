"""What the styles of a grid look like: the terminal's own 16 colours, so that the user's theme holds."""

from __future__ import annotations

from tui.charts.grid import AXIS, HEADING, MARKER, PROPOSED, SELECTED

# Neighbours in this order differ in hue and in lightness, also for colour-blind eyes.
CLUSTER_COLOURS = (("cyan", 36), ("yellow", 33), ("magenta", 35), ("green", 32), ("blue", 34), ("red", 31))

_NAMED = {
    MARKER: ("bold", "1"),
    AXIS: ("dim", "2"),
    PROPOSED: ("bold red", "1;31"),
    HEADING: ("bold", "1"),
    SELECTED: ("reverse", "7"),
}


def style_name(style: int) -> str:
    """The style in Rich's and Textual's words, empty where it is the terminal's default."""
    if 0 <= style < MARKER:
        return CLUSTER_COLOURS[style % len(CLUSTER_COLOURS)][0]
    return _NAMED[style][0] if style in _NAMED else ""


def ansi_code(style: int) -> str:
    """The style as the parameter of an SGR escape sequence, empty where it is the terminal's default."""
    if 0 <= style < MARKER:
        return str(CLUSTER_COLOURS[style % len(CLUSTER_COLOURS)][1])
    return _NAMED[style][1] if style in _NAMED else ""
