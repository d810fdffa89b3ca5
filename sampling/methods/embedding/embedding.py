"""Clusters of any vectors that launches have, each represented by the launch nearest to its centre.

The vectors come from elsewhere, for example from a network that learned which launches are alike.
(docs/methods.md, 8 Sieve, Photon, embedding, random)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from sampling.methods.embedding.clusterings import LEARNED_FROM, clustering, clusterings
from sampling.methods.embedding.silhouette import choose_by_silhouette
from sampling.methods.embedding.vectors import Scale, launch_vectors
from sampling.methods.method import Method, PickRequest
from sampling.methods.picks import Picks
from sampling.methods.pka.distinct_rows import DistinctRows
from sampling.methods.pka.represented_groups import (
    RepresentedGroups,
    as_picks,
    choose,
    measured_cost,
    unmet_note,
)
from sampling.methods.settings import FRACTION, MethodOptions, Span, setting
from sampling.progress import Progress
from sampling.reduction.group_by import GroupBy
from sampling.reduction.launch_list import LaunchList

# Fixed, so that the plan's seed does not move the clusters.
_SEED = 0
# Up to this mean silhouette there is "no substantial structure". [Kaufman and Rousseeuw 1990, Table 4]
_NO_STRUCTURE = 0.25


@dataclass(frozen=True, slots=True)
class Options(MethodOptions):
    """Which numbers are the vectors, and how many clusters they make."""

    k: int | None = setting(None, "so many clusters; none: as embedding.choose says", span=Span(least=1))
    choose: Literal["silhouette", "error"] = setting(
        "silhouette",
        "silhouette: as many clusters as stand apart best, by the vectors alone; error: the fewest whose "
        "representatives project the measured total, which is then no prediction",
    )
    error: float = setting(0.05, "the error of the total that embedding.choose=error asks for", span=FRACTION)
    k_max: int = setting(20, "the most clusters that are tried", span=Span(least=1))
    draw: Literal["nearest", "random"] = setting(
        "nearest",
        "nearest: the launch nearest to each centre, without an interval; random: launches drawn at random "
        "from each cluster, as many as keep epsilon, with a bound and an interval",
    )
    samples: int = setting(
        2, "the fewest launches drawn of a cluster by embedding.draw=random", span=Span(least=1)
    )
    scale: Scale = setting(
        "plain",
        "plain: vectors as they are; standard: every column to mean 0 and standard deviation 1, for numbers "
        "in different units; unit: every vector to length 1, so that directions are compared",
    )
    columns: str | None = setting(
        None,
        "the columns that are the vector; none: those of an npy file, else all metrics but times",
        values="how their names begin",
    )
    restarts: int = setting(
        5, "how often k-means starts anew, from a fixed seed, for each number of clusters", span=Span(least=1)
    )


@dataclass(frozen=True, slots=True)
class _Found:
    """Clusters, how their number came about, and what is to be said of it."""

    groups: RepresentedGroups
    details: dict[str, Any]
    notes: tuple[str, ...] = ()


def pick(request: PickRequest[Options]) -> Picks:
    """Return the clusters, and the launch nearest to the centre of each, for all launches of the cluster.

    Raises
    ------
    NotApplicableError : a launch lacks its vector.
    """
    launches, options = request.launches, request.options
    vectors = launch_vectors(launches, options.columns, options.scale)
    rows = vectors.rows
    found = _clusters(launches, rows, options, request.progress)
    notes = (*vectors.notes, *found.notes)
    if len(rows) > LEARNED_FROM:
        notes = (*notes, f"centres are learned from {LEARNED_FROM:,} launches drawn at random")
    picks = as_picks(
        launches,
        found.groups.group_of_row[rows.row_of],
        found.groups.representative,
        notes,
        {
            "k": len(found.groups),
            **found.details,
            "columns": list(vectors.columns),
            "distinct_vectors": len(rows),
        },
    )
    if options.draw == "nearest":
        return picks
    return replace(picks, details={**picks.details, "representatives": None})


def _clusters(
    launches: LaunchList, rows: DistinctRows, options: Options, progress: Progress | None
) -> _Found:
    rng = np.random.default_rng(_SEED)
    if options.k is not None:
        groups = clustering(rows, options.k, options.restarts, rng, progress)
        made = f"embedding.k={options.k}: {len(rows):,} distinct vectors make {len(groups):,} clusters"
        return _Found(groups, {"chosen_by": "k"}, (made,) if len(groups) < options.k else ())
    candidates = clusterings(rows, options.k_max, options.restarts, rng, progress)
    if options.choose == "error":
        cost = measured_cost(launches, "embedding.choose=error")
        choice = choose(candidates, cost.values, options.error)
        details = {
            "chosen_by": "error",
            "truth": cost.name,
            "projected_error": choice.error,
            "projected_errors": list(choice.errors),
        }
        return _Found(choice.groups, details, unmet_note(choice, options.error, "numbers of clusters"))
    best = choose_by_silhouette(candidates, rows, np.random.default_rng(_SEED))
    details = {
        "chosen_by": "silhouette",
        "silhouettes": list(best.silhouettes),
        "silhouettes_of_launches": best.sampled,
    }
    return _Found(best.groups, details, _shape_notes(best.groups, best.silhouettes, rows, options))


def _shape_notes(
    groups: RepresentedGroups, silhouettes: tuple[float, ...], rows: DistinctRows, options: Options
) -> tuple[str, ...]:
    """Return notes on clusters chosen by silhouette that do not stand apart, or may be too few."""
    k = len(groups)
    if k == 1:
        one = "all vectors are equal" if len(rows) == 1 else f"embedding.k_max={options.k_max}"
        return (f"{one}, so all launches are one cluster",)
    notes = []
    if silhouettes[k - 2] <= _NO_STRUCTURE:
        notes.append(
            f"the vectors hardly form clusters: their best mean silhouette is {silhouettes[k - 2]:.2f}, and "
            f"clusters are told from {_NO_STRUCTURE:g} on"
        )
    if k == options.k_max < len(rows):
        notes.append(f"the most clusters tried stand apart best: more than embedding.k_max={k} may do better")
    return tuple(notes)


METHOD = Method(
    name="embedding",
    source="this project: k-means on vectors given for the launches, for example those of GCL-Sampler",
    needs=("a vector of numbers for every launch (CSV, Parquet or npy)",),
    needs_durations=False,
    published_grouping=GroupBy.LAUNCH,
    options_type=Options,
    pick=pick,
    drawn_within=lambda options: options.samples if options.draw == "random" else None,
)
