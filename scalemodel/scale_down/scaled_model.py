"""Proportional scaling: the scale models of a target GPU.

Source: GPU scale-model simulation, sections II, III and V-D, Tables I, III and V (docs/methods.md, 10 Scale
model). What the SMs share (last-level cache, on-chip network, memory bandwidth, memory controllers) is
divided by the same factor F as their number; what belongs to one SM, and every clock, stays. Of a GPU of
chiplets the number of chiplets is divided; each stays as it is, and so does its link, so the network between
them shrinks with their number (section VII-D).

Table I contradicts its own rule in two cells of the row of 16 SMs: it prints 358 GB/s of network and 337 GB/s
of memory bandwidth, where a half of the row of 32 SMs is 337 and 290 (two controllers of 145 GB/s each). It
has 32 slices in 34 MB; Table III has 64. The rule is followed here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from scalemodel.errors import OptionError, listed

#: The sizes the paper simulates: SMs of a monolithic GPU, and chiplets.
PAPER_SIZES = {"SMs": (8, 16), "chiplets": (4, 8)}


@dataclass(frozen=True, slots=True)
class SharedResources:
    """What is scaled; totals over the whole GPU.

    Attributes
    ----------
    sms : streaming multiprocessors.
    llc_bytes, llc_slices : capacity of the last-level cache, and the slices it comes in.
    memory_controllers : each with its own channel to memory.
    noc_gb_per_s : bandwidth of the on-chip network, 10^9 bytes a second; None where unknown. Of a GPU of
        chiplets the sum over their own networks.
    dram_gb_per_s : bandwidth of memory, 10^9 bytes a second; None where unknown.
    chiplets : None for a monolithic GPU.
    inter_chiplet_gb_per_s : the sum of the chiplets' links; None where unknown, or there are none.
    """

    sms: int
    llc_bytes: int
    llc_slices: int
    memory_controllers: int
    noc_gb_per_s: float | None = None
    dram_gb_per_s: float | None = None
    chiplets: int | None = None
    inter_chiplet_gb_per_s: float | None = None

    @property
    def size(self) -> int:
        """What the scale-model rules count a GPU's size in: chiplets where there are any, else SMs."""
        return self.sms if self.chiplets is None else self.chiplets

    @property
    def size_unit(self) -> str:
        """What :attr:`size` counts."""
        return "SMs" if self.chiplets is None else "chiplets"

    def divided(self, factor: int) -> SharedResources:
        """Return the resources of the scale model; the factor divides those that come in whole units."""
        return SharedResources(
            sms=self.sms // factor,
            llc_bytes=self.llc_bytes // factor,
            llc_slices=self.llc_slices // factor,
            memory_controllers=self.memory_controllers // factor,
            noc_gb_per_s=_share(self.noc_gb_per_s, factor),
            dram_gb_per_s=_share(self.dram_gb_per_s, factor),
            chiplets=None if self.chiplets is None else self.chiplets // factor,
            inter_chiplet_gb_per_s=_share(self.inter_chiplet_gb_per_s, factor),
        )


def _share(bandwidth: float | None, factor: int) -> float | None:
    return None if bandwidth is None else bandwidth / factor


@dataclass(frozen=True, slots=True)
class WholeResource:
    """Something of which a scale model must have a whole number.

    Attributes
    ----------
    count : how many the target has.
    name : what they are, in the plural.
    """

    count: int
    name: str


@dataclass(frozen=True, slots=True)
class Change:
    """One value that differs from the target's: the file's name, the option or key, old and new value."""

    file: str
    option: str
    old: str
    new: str


class NoteCode(StrEnum):
    """What to know of a scale model before it is simulated."""

    INDEXING = "partition-indexing-changed"
    DECODING = "channels-decoded-differently"
    NETWORK = "network-file-not-scaled"


@dataclass(frozen=True, slots=True)
class Note:
    """One thing to know of a scale model."""

    code: NoteCode
    sentence: str


@dataclass(frozen=True, slots=True)
class ScaledModel:
    """A scale model.

    Attributes
    ----------
    factor : how many times smaller than the target; 1 is the target itself, with no change.
    resources : what was scaled.
    unchanged : name and value of what one SM has, one slice or one channel, and of the clocks, as the file
        states them.
    changes : the values that differ from the target's files.
    files : (name, content) of the configuration, which comes first, and of the files it names that change.
    notes : what to know before it is simulated.
    """

    factor: int
    resources: SharedResources
    unchanged: tuple[tuple[str, str], ...]
    changes: tuple[Change, ...]
    files: tuple[tuple[str, str], ...]
    notes: tuple[Note, ...] = ()

    @property
    def text(self) -> str:
        """The configuration."""
        return self.files[0][1]


class Target(Protocol):
    """A target configuration, whatever the file it was read from."""

    @property
    def resources(self) -> SharedResources:
        """What the SMs share."""

    @property
    def whole_resources(self) -> tuple[WholeResource, ...]:
        """What a factor must divide."""

    def scaled(self, factor: int) -> ScaledModel:
        """Return the scale model; the factor is one that divides all of them."""


def derive(target: Target, factors: Iterable[int]) -> tuple[ScaledModel, ...]:
    """Return the scale model of each factor, in the order given, each once.

    Raises
    ------
    OptionError : a factor is below 1, or does not divide a resource.
    InputError : the target's files cannot express the scale model.
    """
    wanted = tuple(dict.fromkeys(factors))
    for factor in wanted:
        check_factor(target.whole_resources, factor)
    return tuple(target.scaled(factor) for factor in wanted)


def common_factors(resources: Sequence[WholeResource]) -> tuple[int, ...]:
    """Return the factors that divide all resources, ascending from 1."""
    divisor = math.gcd(*(resource.count for resource in resources))
    low = [factor for factor in range(1, math.isqrt(divisor) + 1) if divisor % factor == 0]
    return tuple(sorted({*low, *(divisor // factor for factor in low)}))


def check_factor(resources: Sequence[WholeResource], factor: int) -> None:
    """Raise OptionError if the factor is below 1 or does not divide a resource; name those that do."""
    if factor < 1:
        raise OptionError(f"a factor is 1 or more, not {factor}", remedy=_which_do(resources))
    left_over = [f"the {one.count:,} {one.name}" for one in resources if one.count % factor]
    if left_over:
        raise OptionError(
            f"a factor of {factor} does not divide {listed(left_over)}", remedy=_which_do(resources)
        )


def _which_do(resources: Sequence[WholeResource]) -> str:
    factors = [str(factor) for factor in common_factors(resources) if factor > 1]
    if not factors:
        return "no factor above 1 divides every shared resource"
    if len(factors) == 1:
        return f"the one factor that divides every shared resource is {factors[0]}"
    return f"the factors that divide every shared resource are {listed(factors)}"


def factors_for_sizes(target: Target, sizes: Iterable[int]) -> tuple[int, ...]:
    """Return the factor of the scale model of each size, in SMs or, of a GPU of chiplets, in chiplets.

    ``PAPER_SIZES[target.resources.size_unit]`` are the paper's.

    Raises
    ------
    OptionError : a size is not the target's divided by a factor that divides every resource.
    """
    size, unit = target.resources.size, target.resources.size_unit
    factor_of = {size // factor: factor for factor in common_factors(target.whole_resources)}
    factors = []
    for wanted in sizes:
        if wanted not in factor_of:
            raise OptionError(
                f"no scale model of {wanted} {unit} can be derived from {size:,}",
                remedy=f"the sizes are {listed([str(one) for one in sorted(factor_of)])}",
            )
        factors.append(factor_of[wanted])
    return tuple(factors)
