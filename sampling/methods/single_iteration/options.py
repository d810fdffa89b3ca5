"""What `single-iteration` can be told."""

from __future__ import annotations

from dataclasses import dataclass

from sampling.errors import OptionError
from sampling.methods.settings import MethodOptions, Span, setting

NAME = "single-iteration"
GIVE_IDS = f"set {NAME}.first and .last to the launch ids of one iteration, and .iterations to their number"


@dataclass(frozen=True, slots=True)
class Options(MethodOptions):
    """Which launches are the iteration, and how many there are; by range, by launch ids, or found."""

    range: str | None = setting(
        None,
        "the range that is open during an iteration; without one of that name, those whose name contains it",
        values="a name",
    )
    occurrence: int | None = setting(
        None,
        "which of the ranges, or of the iterations found, from 0; the same in each process and device; none: "
        "the first range, the second iteration found",
        span=Span(least=0),
    )
    first: int | None = setting(
        None, "the iteration's first launch id, instead of a range", span=Span(least=0)
    )
    last: int | None = setting(None, "its last launch id, which belongs to it", span=Span(least=0))
    iterations: float | None = setting(
        None,
        "how many iterations there are; none: as many as there are ranges of exactly that name, or as make "
        "up the loop that is found",
        span=Span(above=0),
    )

    def __post_init__(self) -> None:
        MethodOptions.__post_init__(self)
        if self.range is not None and (self.first, self.last) != (None, None):
            raise OptionError(f"{NAME} takes a range or launch ids, not both")
        if self.first is not None and self.last is not None and self.last < self.first:
            raise OptionError(f"{NAME}.last {self.last} is before {NAME}.first {self.first}")
