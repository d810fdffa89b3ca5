"""Which methods can run, best first and those of one plan together, and which cannot."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tui.options.choices import CompareSort
from tui.text.comparison.rows import Row

#: How much a plan promises of the simulated total, best first.
KEPT, WIDER, NOTHING = range(3)


@dataclass(frozen=True, slots=True)
class Merged:
    """Methods whose plan is the same one.

    Attributes
    ----------
    row : of the first of them.
    methods : all of them, the first one first.
    """

    row: Row
    methods: tuple[str, ...]

    @property
    def label(self) -> str:
        """Their names."""
        return ", ".join(self.methods)


@dataclass(frozen=True, slots=True)
class Blocks:
    """The methods of one profile: those that can run, and the rows of those that cannot."""

    can_run: tuple[Merged, ...]
    cannot_run: tuple[Row, ...]


def promise_of(row: Row, epsilon: float) -> int:
    """Return whether a plan bounds the simulated total by epsilon, by more, or not at all."""
    bound = row["bound_with_noise"]
    if bound is None:
        return NOTHING
    return KEPT if bound <= epsilon else WIDER


def promises(rows: Sequence[Row], epsilon: float) -> dict[str, int]:
    """Return what each method promises on all of the profiles that it can run on: the least of it."""
    found: dict[str, int] = {}
    for row in rows:
        if row["applicable"]:
            found[row["method"]] = max(found.get(row["method"], KEPT), promise_of(row, epsilon))
    return found


def blocks(rows: Sequence[Row], sort: CompareSort, promise: Mapping[str, int]) -> Blocks:
    """Return the methods of one profile in order.

    Best first is by promise, then by cost: the highest speedup, which is the least sampled time, first.

    Parameters
    ----------
    promise : of each method that can run.
    """
    order: dict[CompareSort, Callable[[Row], tuple[float, ...]]] = {
        CompareSort.BEST: lambda row: (promise[row["method"]], -(row["speedup"] or 0)),
        CompareSort.SPEEDUP: lambda row: (-(row["speedup"] or 0),),
        CompareSort.ERROR: lambda row: (row["error_mean"] is None, row["error_mean"] or 0),
        CompareSort.DRAWN: lambda row: (row["samples"] or 0,),
    }
    there = [row for row in rows if row["applicable"]]
    return Blocks(
        can_run=merged(sorted(there, key=order[sort])),
        cannot_run=tuple(row for row in rows if not row["applicable"]),
    )


def merged(rows: Sequence[Row]) -> tuple[Merged, ...]:
    """Return rows of methods that can run, those of one plan as one where its first method is among them."""
    methods: dict[str, list[str]] = {row["method"]: [row["method"]] for row in rows}
    for row in rows:
        if row["same_as"] in methods:
            methods[row["same_as"]].append(row["method"])
    alone = [row for row in rows if row["same_as"] not in methods]
    return tuple(Merged(row, tuple(methods[row["method"]])) for row in alone)
