"""What is asked of an export beside its plan and its target."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, fields

from sampling.errors import OptionError
from sampling.text import Wording

#: What an exporter writes: relative path and content of each file.
Exported = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ExportChoices:
    """How a plan is handed over.

    Attributes
    ----------
    shards : how many machines share the launches.
    apart : share them out so that each runs by itself, whatever `shards` says.
    traces : the folder of the traces that the simulator runs, to be checked against the plan; None: not
        there.
    warm_up : run the launch before each drawn one first, so that it does not find cold caches.
    drop_copies : leave out the memory copies of the traces' list.

    Raises
    ------
    OptionError : fewer than one shard, or no traces of which copies could be left out.
    """

    shards: int = 1
    traces: str | None = None
    warm_up: bool = False
    drop_copies: bool = False
    apart: bool = False

    def __post_init__(self) -> None:
        if self.shards < 1:
            raise OptionError(Wording("`shards` is 1 or more, not {}", self.shards))
        if self.drop_copies and self.traces is None:
            raise OptionError(
                Wording("`drop_copies` leaves out copies that `traces` list, and there are none")
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
        for field in fields(self):
            if field.name not in taken and getattr(self, field.name) != getattr(plain, field.name):
                raise OptionError(Wording(f"`{field.name}` means nothing to {{}}", target))
