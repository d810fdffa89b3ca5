"""How much the layers of a network are alike, and how far one, or some drawn at random, are off for all."""

from __future__ import annotations

import numpy as np

from sampling.record import Amount, Count, Fraction, Index, Record
from sampling.reduction.layers import Layers, LayerSource
from sampling.strata.draw import DRAWS
from sampling.strata.satterthwaite import student_t
from sampling.strata.strata import finite_population_factor


class LayerFamily(Record, frozen=True):
    """Layers that resemble each other; errors are of the time of all of them, as fractions of it."""

    #: Of one iteration on one process and device, and of all.
    layers: Count
    all_layers: Count
    #: Of most layers, and the fewest and the most launches of one.
    launches: Count
    least_launches: Count
    most_launches: Count
    #: The mean time of a layer, of the first ones and of the last, and its coefficient of variation.
    mean_ns: float
    first_ns: float
    last_ns: float
    cv: Amount
    #: Of the time of the iterations that have them.
    share: Fraction
    #: Of one layer times all: the first one, the one in the middle, the mean of all, and the worst one.
    first_error: Amount
    middle_error: Amount
    mean_error: Amount
    worst_error: Amount
    #: Of so many drawn at random: the error that 95 of 100 draws stay within, the half-width of the interval
    #: that they show by themselves, in the root mean square, and the share of draws of which that holds.
    draws: Count
    drawn_error: Amount
    half_width: Amount
    coverage: Fraction


class LayerSummary(Record, frozen=True):
    """The layers of the launches of a region, and what of the time they are."""

    #: What tells them; None where there are none.
    source: LayerSource | None = None
    #: The iterations that have them, None: the run; and what these are called, "" where they were found.
    iterations: Count | None = None
    iteration_name: str = ""
    #: What the program calls the first one of each family, "" where layers have no names.
    names: tuple[str, ...] = ()
    confidence: Fraction = 0.95
    families: tuple[LayerFamily, ...] = ()
    #: Launches in none, of how many, and their share of the time.
    launches_outside: Index = 0
    all_launches: Index = 0
    share_outside: Fraction = 0.0


def summarise_layers(layers: Layers | None, draws: int = 3, confidence: float = 0.95) -> LayerSummary:
    """Return the figures of each family, for so many layers drawn."""
    if layers is None:
        return LayerSummary(confidence=confidence)
    numbers, first = np.unique(layers.family, return_index=True)
    total_ns, inside = int(layers.duration_ns.sum()), int((layers.stop - layers.first).sum())
    facts = layers.iterations
    return LayerSummary(
        source=layers.source,
        iterations=None if facts is None else len(np.unique(layers.step)),
        iteration_name="" if facts is None else facts.name,
        names=tuple(layers.names[index] for index in first.tolist()),
        confidence=confidence,
        families=tuple(_family(layers, number, draws, confidence) for number in numbers.tolist()),
        launches_outside=len(layers.ids) - inside,
        all_launches=len(layers.ids),
        share_outside=1 - int(layers.time_ns.sum()) / max(total_ns, 1),
    )


def _family(layers: Layers, family: int, draws: int, confidence: float) -> LayerFamily:
    """Return the figures of a family.

    The half-width is t s sqrt(1/m - 1/N), t of m - 1 degrees of freedom, s^2 the variance of the m layers
    drawn; all of it over the mean. (docs/methods.md, 8 Sieve, Photon, embedding, random)
    """
    rows = layers.family == family
    time_ns, launches, number = layers.time_ns[rows], (layers.stop - layers.first)[rows], layers.number[rows]
    mean_ns, numbers = max(float(time_ns.mean()), 1.0), np.unique(number)
    relative, count = time_ns / mean_ns, len(time_ns)
    error, draws = np.abs(relative - 1), max(min(draws, count), 2)
    rng = np.random.default_rng(0)
    drawn = np.array([rng.choice(relative, draws, replace=False) for _ in range(DRAWS)])
    drawn_error = np.abs(drawn.mean(axis=1) - 1)
    left = finite_population_factor(np.array([draws]), np.array([count]))
    half_width = student_t(confidence, draws - 1.0) * drawn.std(axis=1, ddof=1) * np.sqrt(left)
    return LayerFamily(
        layers=len(numbers),
        all_layers=count,
        launches=int(np.bincount(launches).argmax()),
        least_launches=int(launches.min()),
        most_launches=int(launches.max()),
        mean_ns=float(time_ns.mean()),
        first_ns=float(time_ns[number == numbers[0]].mean()),
        last_ns=float(time_ns[number == numbers[-1]].mean()),
        cv=float(relative.std()),
        share=int(time_ns.sum()) / max(int(layers.duration_ns[layers.in_step].sum()), 1),
        first_error=float(error[0]),
        middle_error=float(error[number == numbers[len(numbers) // 2]][0]),
        mean_error=float(error.mean()),
        worst_error=float(error.max()),
        draws=draws,
        drawn_error=float(np.quantile(drawn_error, confidence)),
        half_width=float(np.sqrt((half_width**2).mean())),
        # Of all layers nothing is left, but for rounding.
        coverage=float((drawn_error <= half_width + 1e-9).mean()),
    )
