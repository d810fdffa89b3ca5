"""Whole layers of a network, drawn at random; what lies outside of them is drawn launch by launch.

Who traces a network by the hook of Accel-Sim's tracer traces whole layers. How far those drawn may be off is
told by how much layers differ, not launches. (docs/methods.md, 8 Sieve, Photon, embedding, random)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sampling.errors import NotApplicableError
from sampling.methods.method import Method, Picks, Units, setting
from sampling.parallel import Progress
from sampling.reduction import GroupBy
from sampling.reduction.launch_list import LaunchList

NAME = "layers"


@dataclass(frozen=True, slots=True)
class Options:
    """How many layers are drawn."""

    draw: int = setting(3, "how many layers to draw of each family, of all iterations together", ge=1)


def pick(launches: LaunchList, options: Options, _: np.random.Generator, __: Progress | None) -> Picks:
    """Return the families of layers, and the kernel groups of what lies outside of them, as strata."""
    layers = None if launches.find_layers is None else launches.find_layers()
    if layers is None:
        raise NotApplicableError(
            "no block of launches comes three times or more in an iteration: there are no layers to draw",
            remedy="plan by joint, or select a region in which layers repeat",
        )
    blocks, launches_of = len(layers.first), layers.stop - layers.first
    unit = np.full(len(launches), -1, dtype=np.int64)
    rows = np.repeat(layers.first - (np.cumsum(launches_of) - launches_of), launches_of)
    unit[rows + np.arange(len(rows))] = np.repeat(np.arange(blocks), launches_of)
    outside = np.flatnonzero(unit < 0)
    groups, group = np.unique(launches.group[outside], return_inverse=True)
    numbers = np.bincount(layers.family)
    stratum = layers.family[unit]
    stratum[outside] = len(numbers) + group
    unit[outside] = blocks + np.arange(len(outside))
    labels = [f"(layers, family {family + 1})" for family in range(len(numbers))]
    size = np.bincount(stratum)
    row = np.sort(np.unique(stratum, return_index=True)[1])
    places = zip(layers.names, layers.step.tolist(), layers.number.tolist(), strict=True)
    samples = np.append(np.minimum(options.draw, numbers), np.zeros(len(groups), dtype=np.int64))
    return Picks(
        stratum=stratum,
        labels=(*labels, *(launches.groups[index].key for index in groups.tolist())),
        row=row,
        weight=size[stratum[row]].astype(np.float64),
        units=Units(unit, samples, tuple(places)),
    )


METHOD = Method(
    name=NAME,
    source="this project: cluster sampling of whole layers",
    description="Whole layers are drawn at random and stand for all; launches outside of layers are drawn "
    "within their kernel groups.",
    needs=("layers: a block of launches that repeats within an iteration, or names that tell them",),
    published_grouping=GroupBy.LAUNCH,
    options_type=Options,
    pick=pick,
    drawn_within=lambda _: 1,
)
