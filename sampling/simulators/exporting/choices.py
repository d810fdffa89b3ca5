"""What is asked of an export beside its plan and its target."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, fields, replace
from typing import IO

from sampling.errors import OptionError
from sampling.progress import Progress
from sampling.text import Wording

#: Relative path and content of a file; of a large one what writes it.
Content = str | Callable[[IO[bytes]], None]
Exported = tuple[tuple[str, Content], ...]

#: So many launches are simulated before one that checks what cold caches cost.
PREDECESSORS = 16
#: One pair tells no spread.
FEWEST_PAIRS = 2
#: L2 is filled before each drawn launch: with what those before left, by copies or by a kernel of loads, or
#: with what the launch itself will load.
FILLED = ("warm", "loads", "own")
_AFTER = re.compile(r"after:([1-9]\d{0,5})")


@dataclass(frozen=True, slots=True)
class ExportChoices:
    """How a plan is handed over.

    Attributes
    ----------
    shards : how many machines share the launches.
    apart : share them out so that each runs by itself, whatever `shards` says.
    traces : the folder of the traces that the simulator runs, to be checked against the plan; None: not
        there.
    caches : what a drawn launch finds in the caches: one of `FILLED`, ``cold``, or ``after:N``, where the N
        launches before it are simulated first and count for nothing; None: as warm as the target can be made.
    cold_check : so many of the drawn launches, which start cold, are simulated a second time, after
        `PREDECESSORS` others.
    config : the simulator's configuration, which says how large L2 is.
    trace_before : so many launches before each drawn one are recorded too.
    drop_copies : leave out the memory copies of the traces' list.
    progress : of reading the traces.

    Raises
    ------
    OptionError : fewer than one shard, no such way to fill the caches, no traces where they are needed, a
        check of caches that are not cold, or of one launch.
    """

    shards: int = 1
    traces: str | None = None
    caches: str | None = None
    cold_check: int = 0
    config: str | None = None
    trace_before: int = 16
    drop_copies: bool = False
    apart: bool = False
    progress: Progress | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.shards < 1:
            raise OptionError(Wording("`shards` is 1 or more, not {}", self.shards))
        if self.drop_copies and self.traces is None:
            raise OptionError(
                Wording("`drop_copies` leaves out copies that `traces` list, and there are none")
            )

        if self.caches not in {None, "cold", *FILLED} and not self.predecessors:
            raise OptionError(
                Wording(f"`caches` is {', '.join(FILLED)}, cold or after:N, not {{}}", self.caches)
            )
        if self.caches in FILLED and self.traces is None:
            raise OptionError(
                Wording(f"`caches={self.caches}` reads what launches touch in `traces`, and there are none")
            )
        if self.cold_check and self.caches not in {None, "cold"}:
            raise OptionError(
                Wording("`cold_check` is of launches that start cold, not of `caches={}`", self.caches)
            )
        if self.cold_check and self.cold_check < FEWEST_PAIRS:
            raise OptionError(
                Wording("`cold_check` takes {} launches or more: one tells no spread", FEWEST_PAIRS)
            )
        if self.config is not None and (self.traces is None or self.caches not in {None, *FILLED}):
            raise OptionError(Wording("`config` says how much of L2 is filled, and nothing is filled"))

    @property
    def predecessors(self) -> int:
        """How many launches are simulated before each drawn one."""
        found = _AFTER.fullmatch(self.caches or "")
        return int(found[1]) if found else 0

    def without_filling(self, target: str) -> ExportChoices:
        """Return the choices for a target whose caches nothing fills but launches that are simulated.

        Raises
        ------
        OptionError : another way is chosen.
        """
        if self.caches in FILLED:
            raise OptionError(
                Wording(f"nothing can fill the caches of {target} but launches: `caches={self.caches}`"),
                remedy=Wording("give `caches=after:4` or `caches=cold`"),
            )
        return replace(self, caches=self.caches or "cold")

    def refuse_others(self, taken: Collection[str], target: str) -> None:
        """Refuse what has no meaning for a target.

        Parameters
        ----------
        taken : the choices that mean something to it.

        Raises
        ------
        OptionError : another one is made.
        """
        plain = ExportChoices()
        for each in fields(self):
            if (
                each.compare
                and each.name not in taken
                and getattr(self, each.name) != getattr(plain, each.name)
            ):
                raise OptionError(Wording(f"`{each.name}` means nothing to {{}}", target))
