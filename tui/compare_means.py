"""The means of a comparison over several workloads, each over the workloads that its methods apply to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sampling.comparison import Mean, mean_comparison
from tui.compare_text import ERRORS, FIGURES, MEAN_OF, Row


def mean_rows(workloads: Sequence[Sequence[Row]], mean: Mean) -> list[Row]:
    """Return a row a method and set of workloads: first over all, then over sets that some methods apply to.

    Means over different workloads do not compare. So where a method applies to some of them only, the others
    are summed up over the same ones too; of a single workload its own rows say that already.

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
    return [
        _mean_row(workloads, method, sorted(places), mean)
        for places in (everywhere, *partial)
        for method, of_method in applies.items()
        if of_method == places or (of_method > places and len(places) > 1)
    ]


def mean_notes(workloads: Sequence[Sequence[Row]], mean: Mean) -> Iterator[str]:
    """Yield why means of single methods are not given."""
    for rows in zip(*workloads, strict=True):
        method, there = rows[0]["method"], [row for row in rows if row["applicable"]]
        exact = [row["profile"] for row in there if row["error_mean"] == 0]
        if exact and mean == "geometric":
            yield (
                f"{method}: its error is 0 on {exact[0]}, so a geometric mean would be 0 whatever the others "
                "are; not given"
            )
        endless = [row["profile"] for row in there if row["speedup"] is None]
        if endless:
            yield f"{method}: it samples no time on {endless[0]}, so a mean speedup is not known"


def _mean_row(workloads: Sequence[Sequence[Row]], method: str, places: Sequence[int], mean: Mean) -> Row:
    there = [row for place in places for row in workloads[place] if row["method"] == method]
    found = mean_comparison(
        method, [row["speedup"] for row in there], [row["error_mean"] for row in there], mean
    )
    means = f"({'geometric' if mean == 'geometric' else 'harmonic'} speedup, {mean} error)"
    over = f"{MEAN_OF}{found.profiles} {means}"
    if len(places) < len(workloads):
        over = f"{MEAN_OF}{found.profiles} of {len(workloads)} {means}: " + ", ".join(
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
    }
