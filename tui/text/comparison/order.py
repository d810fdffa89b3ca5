"""Which methods can run, best first and those of one plan together, and which cannot."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tui.options.choices import CompareSort
from tui.text.comparison.rows import Row

_FIGURES = {
    CompareSort.SPEEDUP: "speedup",
    CompareSort.MEAN: "error_mean",
    CompareSort.DRAWN: "samples",
    CompareSort.STRATA: "strata",
    CompareSort.SIMULATED: "bound_with_noise",
    CompareSort.BOUND: "bound",
    CompareSort.GROUP: "group_bound",
    CompareSort.P95: "error_p95",
    CompareSort.MAX: "error_max",
    CompareSort.WITHIN: "within_epsilon",
}


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


def promises(rows: Sequence[Row], epsilon: float, confidence: float) -> dict[str, float]:
    """Return what each method promises on all of the profiles that it can run on, the worst of it.

    0 where the simulated total is bounded by epsilon and as many draws as the confidence says were within;
    else the bound, and infinity where there is none.
    """
    found: dict[str, float] = {}
    for row in rows:
        if row["applicable"]:
            bound, within = row["bound_with_noise"], row["within_epsilon"]
            if bound is None:
                bound = math.inf
            elif bound <= epsilon and (within is None or within >= confidence):
                bound = 0.0
            found[row["method"]] = max(found.get(row["method"], 0.0), bound)
    return found


def blocks(
    rows: Sequence[Row], sort: CompareSort, promise: Mapping[str, float], *, reverse: bool = False
) -> Blocks:
    """Return the methods of one profile in order.

    Best first: promises that are kept, by cost, which is the highest speedup first; the others, the smallest
    bound first; then what promises nothing, the smallest mean error first.

    Parameters
    ----------
    promise : of each method that can run, as `promises` has it.
    reverse : the worst first; methods without the figure stay last.
    """
    there = [row for row in rows if row["applicable"]]
    return Blocks(
        can_run=merged(_in_order(there, sort, promise, reverse=reverse)),
        cannot_run=tuple(row for row in rows if not row["applicable"]),
    )


def falls(sort: CompareSort, *, reverse: bool) -> bool:
    """Return whether the largest figure stands first."""
    return (sort in {CompareSort.SPEEDUP, CompareSort.WITHIN}) != reverse


def _in_order(
    rows: list[Row], sort: CompareSort, promise: Mapping[str, float], *, reverse: bool
) -> list[Row]:
    if sort is CompareSort.BEST:

        def worse(row: Row) -> tuple[float, float, float]:
            promised = promise[row["method"]]
            measured = 0 if promised < math.inf else row["error_mean"] or 0
            return promised, measured, -(row["speedup"] or 0)

        return sorted(rows, key=worse, reverse=reverse)
    if sort is CompareSort.METHOD:
        return sorted(rows, key=lambda row: str(row["method"]), reverse=reverse)
    name, sign = _FIGURES[sort], -1 if falls(sort, reverse=reverse) else 1
    return sorted(rows, key=lambda row: (row[name] is None, sign * (row[name] or 0)))


def merged(rows: Sequence[Row]) -> tuple[Merged, ...]:
    """Return rows of methods that can run, those of one plan as one where its first method is among them."""
    methods: dict[str, list[str]] = {row["method"]: [row["method"]] for row in rows}
    for row in rows:
        if row["same_as"] in methods:
            methods[row["same_as"]].append(row["method"])
    alone = [row for row in rows if row["same_as"] not in methods]
    return tuple(Merged(row, tuple(methods[row["method"]])) for row in alone)
