"""Means of a method over several profiles, beside those of the others over the same ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sampling.plan.comparison import Mean, mean_comparison
from tui.text.comparison.rows import ERRORS, FIGURES, NotedRows, Row

MEAN_OF = "mean of "
"""What the ``profile`` of a mean starts with."""


def mean_rows(workloads: Sequence[Sequence[Row]], mean: Mean) -> NotedRows:
    """Return a row a method and set of workloads: over all workloads, then over smaller sets of them.

    Means over different workloads cannot be compared. So where a method applies to some workloads only, the
    other methods get a mean over the same ones too; for a single workload its own rows already say that.

    Parameters
    ----------
    workloads : the rows of each, the same methods in the same order.
    """
    applies = {
        rows[0]["method"]: frozenset(place for place, row in enumerate(rows) if row["applicable"])
        for rows in zip(*workloads, strict=True)
    }
    everywhere = frozenset(range(len(workloads)))
    partial = sorted({places for places in applies.values() if places} - {everywhere}, key=sorted)
    summed = [
        (method, places)
        for places in (everywhere, *partial)
        for method, of_method in applies.items()
        if of_method == places or (of_method > places and len(places) > 1)
    ]
    means = NotedRows([], [])
    for method, places in summed:
        there = [row for place in sorted(places) for row in workloads[place] if row["method"] == method]
        row = _mean_row(there, len(workloads), mean)
        means.rows.append(row)
        is_one_of_several = sum(each == method for each, _ in summed) > 1
        means.notes.extend(_why_none(row, there, f" over {len(there)}" if is_one_of_several else ""))
    return means


def _why_none(mean: Row, there: Sequence[Row], which: str) -> Iterator[str]:
    """Yield why values of a mean are not given.

    Parameters
    ----------
    there : the rows that were averaged.
    which : names the mean, where the method has several.
    """
    method = mean["method"]
    if mean["error_mean"] is None:
        exact = next(row["profile"] for row in there if row["error_mean"] == 0)
        yield (
            f"{method}: its error is 0 on {exact}, so a geometric mean{which} would be 0 whatever the others "
            "are; not given"
        )
    if mean["speedup"] is None:
        endless = next(row["profile"] for row in there if row["speedup"] is None)
        yield f"{method}: it samples no time on {endless}, so a mean speedup{which} is not known"


def _mean_row(there: Sequence[Row], workloads: int, mean: Mean) -> Row:
    method, same_as = there[0]["method"], {row["same_as"] for row in there}
    found = mean_comparison(
        method, [row["speedup"] for row in there], [row["error_mean"] for row in there], mean
    )
    means = f"({'geometric' if mean == 'geometric' else 'harmonic'} speedup, {mean} error)"
    over = f"{MEAN_OF}{found.profiles} {means}"
    if found.profiles < workloads:
        over = f"{MEAN_OF}{found.profiles} of {workloads} {means}: " + ", ".join(
            row["profile"] for row in there
        )
    return {
        "profile": over,
        "method": method,
        "applicable": True,
        "reason": None,
        **dict.fromkeys((*FIGURES, *ERRORS)),
        "speedup": found.speedup,
        "error_mean": found.error,
        "seconds": sum(row["seconds"] for row in there),
        "bound_with_noise": None,
        "same_as": same_as.pop() if len(same_as) == 1 else None,
    }
