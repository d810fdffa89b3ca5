"""One iteration, and what it stands for."""

from __future__ import annotations

from dataclasses import dataclass

from sampling.arrays import IntArray


@dataclass(frozen=True, slots=True)
class Iteration:
    """The iteration of one process and device, or the one given by launch ids.

    Attributes
    ----------
    start, stop : its rows of the launch list.
    missing : how many of its launches are not selected.
    iterations : how many it stands for.
    stands_for : rows of the launches it stands for; None: all of the list.
    label : what it is, in words.
    """

    start: int
    stop: int
    missing: int
    iterations: float
    stands_for: IntArray | None
    label: str
