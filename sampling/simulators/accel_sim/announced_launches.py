"""The launches that GPGPU-Sim and Accel-Sim announce before they run: names, grids, blocks and numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Literal

from sampling.profile.profile import Dimensions
from sampling.simulators.accel_sim.printed_lines import (
    BLOCK_IN_HEADER,
    COPY,
    GRID_IN_HEADER,
    ID_IN_HEADER,
    LAUNCHED,
    NAME_IN_HEADER,
    PROCESSING,
    PUSHED,
)

OF_HEADER = frozenset(
    {COPY, NAME_IN_HEADER, ID_IN_HEADER, GRID_IN_HEADER, BLOCK_IN_HEADER, PROCESSING, PUSHED, LAUNCHED}
)
# More digits are no number that 64 bits hold.
_NUMBER = re.compile(rb"(?<!\d)\d{1,18}(?!\d)")
_TRACE_FILE = re.compile(rb".*kernel-(\d{1,18})(?!\d)[^/]*$")
_LOW_COPY = re.compile(rb"MemcpyHtoD,0x0*[0-9a-fA-F]{1,8},")
_PUSH = re.compile(
    rb"\s*'(?P<name>[^']*)'.*?gridDim= ?(?P<grid>\([\d, ]*\))?(?:\s*blockDim ?= ?(?P<block>\([\d, ]*\)))?"
)
_LAUNCH = re.compile(rb"(?P<name>.*) uid: ?(?P<uid>\d{1,18})(?!\d)")


@dataclass(frozen=True, slots=True)
class PrintedLaunch:
    """What is printed of a launch before it runs; None and an empty name where it is not.

    Attributes
    ----------
    trace_id : the number of its trace; None where a program is simulated.
    uid : its number in the run, from 1.
    by : whether a trace or a program's own launch announces it; empty where its announcement is missing.
    is_filled : whether copies before it have filled L2; of addresses above 32 bits the simulator fills none.
    """

    name: str = ""
    grid: Dimensions | None = None
    block: Dimensions | None = None
    trace_id: int | None = None
    uid: int | None = None
    by: Literal["trace", "program", ""] = ""
    is_filled: bool = False

    @property
    def ctas(self) -> int | None:
        """The thread blocks of its grid."""
        return None if self.grid is None else self.grid[0] * self.grid[1] * self.grid[2]


@dataclass(slots=True)
class AnnouncedLaunches:
    """The launches that have been announced and not yet ended, in order."""

    launches: list[PrintedLaunch] = field(default_factory=list)
    _are_numbered: bool = False
    _pushed: int = 0
    _trace_file: int | None = None
    _has_copy: bool = False

    def take(self, key: bytes, text: bytes) -> None:
        """Take a line whose key is one of `OF_HEADER`."""
        if key == COPY:
            self._has_copy |= _LOW_COPY.match(text) is not None
        elif key == PROCESSING:
            found = _TRACE_FILE.match(text.strip())
            self._trace_file = int(found[1]) if found else None
        elif key == NAME_IN_HEADER:
            traced = PrintedLaunch(
                _text(text), trace_id=self._trace_file, by="trace", is_filled=self._has_copy
            )
            self.launches.append(traced)
            self._trace_file, self._has_copy = None, False
        elif key == PUSHED and (pushed := _PUSH.match(text)):
            self._pushed += 1
            grid, block = (dimensions_of(pushed[part] or b"") for part in ("grid", "block"))
            name = _text(pushed["name"])
            self.launches.append(PrintedLaunch(name, grid, block, uid=self._pushed, by="program"))
        elif key == LAUNCHED and (launch := _LAUNCH.match(text)):
            self._number(_text(launch["name"]), int(launch["uid"]))
        elif self.launches:
            self._complete(key, text)

    def take_out(self, name: str, uid: int | None) -> PrintedLaunch:
        """Return a launch that has ended; one without a name is the first that was announced.

        A trace that was announced with another number is not it; programs are counted from the first launch
        that is printed, so that their numbers may be others where the beginning is missing.
        """
        fitting = [launch for launch in self.launches if name in {"", launch.name}]
        launch = next((each for each in fitting if uid is not None and each.uid == uid), None)
        launch = launch or next(
            (
                each
                for each in fitting
                if uid is None or each.by == "program" or (each.uid is None and not self._are_numbered)
            ),
            None,
        )
        if launch is None:
            return PrintedLaunch(name, uid=uid)
        self.launches.remove(launch)
        return launch

    def _number(self, name: str, uid: int) -> None:
        self._are_numbered = True
        # The last one: the line with the number of an earlier one may be missing.
        for place in range(len(self.launches) - 1, -1, -1):
            launch = self.launches[place]
            if launch.uid is None and launch.name == name:
                self.launches[place] = replace(launch, uid=uid)
                return

    def _complete(self, key: bytes, text: bytes) -> None:
        last = self.launches[-1]
        if key == ID_IN_HEADER and (number := _NUMBER.match(text)):
            self.launches[-1] = replace(last, trace_id=int(number[0]))
        elif key == GRID_IN_HEADER:
            self.launches[-1] = replace(last, grid=dimensions_of(text))
        elif key == BLOCK_IN_HEADER:
            self.launches[-1] = replace(last, block=dimensions_of(text))


def dimensions_of(text: bytes) -> Dimensions | None:
    """Return a grid or block written as (x,y,z)."""
    sizes = [int(size) for size in _NUMBER.findall(text)]
    return (sizes[0], sizes[1], sizes[2]) if len(sizes) == 3 else None


def _text(text: bytes) -> str:
    return text.strip().decode("utf-8", "replace")
