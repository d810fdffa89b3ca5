"""What is asked of an export beside its plan and its target."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, fields

from sampling.errors import OptionError
from sampling.progress import Progress
from sampling.text import Wording

#: What an exporter writes: relative path and content of each file, of large ones in pieces.
Exported = tuple[tuple[str, str | Iterable[bytes]], ...]
#: What a launch finds in the caches; WHOLE: what the program left there, for it runs as a whole.
COLD, WARM, OWN, WHOLE = "cold", "warm", "own", "whole"
_AFTER = re.compile(r"after:([1-9]\d{0,5})")


@dataclass(frozen=True, slots=True)
class ExportChoices:
    """How a plan is handed over.

    Attributes
    ----------
    shards : how many machines share the launches.
    traces : the folder of the traces that the simulator runs, to be checked against the plan; None: not
        there.
    caches : how a drawn launch finds them: `warm` (L2 filled with what the launches before left), `own` (with
        what it reads itself), `cold`, or `after:N` (N launches before it are run first, and weigh nothing).
        None: warm where the target can be told and its traces are given, else cold.
    config : the simulator's configuration, for the size of its L2; None: as large as any.
    trace_before : how many launches before each drawn one the tracer's script records too.
    drop_copies : leave out the memory copies of the traces' list.

    Raises
    ------
    OptionError : fewer than one shard, no such state of the caches, or no traces for what is made of them.
    """

    shards: int = 1
    traces: str | None = None
    caches: str | None = None
    config: str | None = None
    trace_before: int = 16
    drop_copies: bool = False
    progress: Progress | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.shards < 1:
            raise OptionError(Wording("`shards` is 1 or more, not {}", self.shards))
        if self.caches not in {None, COLD, WARM, OWN} and not self.predecessors:
            raise OptionError(Wording("`caches` is warm, own, cold or after:N, not {}", repr(self.caches)))
        if self.is_filled and self.traces is None:
            raise OptionError(Wording(f"`caches={self.caches}` is made from `traces`, and there are none"))
        if self.drop_copies and self.traces is None:
            raise OptionError(
                Wording("`drop_copies` leaves out copies that `traces` list, and there are none")
            )

    @property
    def is_filled(self) -> bool:
        """Whether the caches are filled before each launch."""
        return self.caches in {WARM, OWN}

    @property
    def in_program_order(self) -> bool:
        """Whether launches run in the program's order, for what L2 holds matters."""
        return self.is_filled or self.predecessors > 0

    @property
    def predecessors(self) -> int:
        """How many launches are run before each drawn one."""
        found = _AFTER.fullmatch(self.caches or "")
        return int(found[1]) if found else 0

    def refuse_filled(self, target: str) -> None:
        """Refuse to fill the caches of a target that cannot be told to.

        Raises
        ------
        OptionError : that is asked for.
        """
        if self.is_filled:
            raise OptionError(
                Wording(
                    f"`caches={self.caches}` means nothing to {{}}: it is not told what L2 holds", target
                ),
                remedy=Wording("give `caches=after:16`: the launches before each one are simulated first"),
            )

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
