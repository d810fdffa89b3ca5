"""What a process and device are called in labels, and the lines that explain it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sampling.text import counted

Place = tuple[int | None, int | None]

_MOST_LINES = 8


def place_names(places: Iterable[Place]) -> dict[Place, str]:
    """Return a short name for every (process, device), none where there is only one.

    It is the number of the device, or of the process, where that alone tells them apart.

    >>> place_names([(111, 0), (112, 1)]), place_names([(0, 0), (1, 0)])
    ({(111, 0): 'gpu0', (112, 1): 'gpu1'}, {(0, 0): 'p0', (1, 0): 'p1'})
    """
    known = sorted({(one, other) for one, other in places if one is not None and other is not None})
    if len(known) < 2:
        return {}
    if len({device for _, device in known}) == len(known):
        return {place: f"gpu{place[1]}" for place in known}
    if len({process for process, _ in known}) == len(known):
        return {place: f"p{place[0]}" for place in known}
    return {place: f"p{place[0]} gpu{place[1]}" for place in known}


def place_lines(names: Mapping[Place, str], devices: Mapping[Place, str] | None = None) -> list[str]:
    """Return what each name stands for, the first few of many.

    Parameters
    ----------
    devices : the model of the GPU, where it is known.
    """
    devices = devices or {}
    lines = [
        f"{name}: process {process}, device {device}"
        + (f", {devices[process, device]}" if (process, device) in devices else "")
        for (process, device), name in names.items()
    ]
    more = len(lines) - _MOST_LINES
    if more > 1:
        lines[_MOST_LINES:] = [f"and {counted(more, 'more device')}: `kernelpoint info`"]
    return lines
