"""ROOT against a recursion typed from the paper: its costs are of draws with replacement, capped nowhere.

The oracle knows nothing of the engine: 2-means by trying every cut in exact fractions, the sizes of Equation
3 and of Problem 1 with their misprints corrected, the decision of section IV-C, and the final sizes without
replacement by trying every step of their common multiplier.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sampling.methods.root import Options, RootRule
from sampling.plan.design import Design, make_design
from sampling.reduction.duration_counts import DurationCounts
from sampling.splitting.tree import TreeGrower, Verdict
from sampling.strata.target import Target

CountsOf = Callable[..., DurationCounts]
Pairs = list[tuple[int, int]]

VARIANTS = ("exact", "script", "paper")
Z = NormalDist().inv_cdf(0.975)
SMALL_GROUP = st.lists(
    st.tuples(st.one_of(st.integers(0, 6), st.integers(1, 5000)), st.integers(1, 12)),
    min_size=1,
    max_size=14,
    unique_by=lambda pair: pair[0],
).map(sorted)


@dataclass(frozen=True)
class Part:
    """A run of (duration, launches) with exact mean and variance."""

    pairs: Pairs

    @property
    def size(self) -> int:
        return sum(launches for _, launches in self.pairs)

    @property
    def total(self) -> int:
        return sum(duration * launches for duration, launches in self.pairs)

    @property
    def mean(self) -> Fraction:
        return Fraction(self.total, self.size)

    @property
    def variance(self) -> Fraction:
        """Of the population."""
        squares = sum(duration * duration * launches for duration, launches in self.pairs)
        return Fraction(squares, self.size) - self.mean**2

    def halves(self) -> tuple[Part, Part]:
        """Return the two parts with the least sum of squares within, of equal ones the lowest cut."""
        size, total, best, least = self.size, self.total, 0, None
        left_size = left_total = 0
        for cut in range(1, len(self.pairs)):
            duration, launches = self.pairs[cut - 1]
            left_size, left_total = left_size + launches, left_total + duration * launches
            # Sum of squares = sum d^2 - T1^2/n1 - T2^2/n2; the first term is the same for all cuts.
            within = -Fraction(left_total**2, left_size) - Fraction(
                (total - left_total) ** 2, size - left_size
            )
            if least is None or within < least:
                best, least = cut, within
        return Part(self.pairs[:best]), Part(self.pairs[best:])


def sizes_of_problem_1(parts: Sequence[Part], epsilon: float) -> list[int]:
    """m_i = ceil( sum_j sqrt(a_j b_j) / c sqrt(b_i / a_i) ), a = mu, b = N^2 sigma^2."""
    c = (epsilon * sum(part.total for part in parts) / Z) ** 2
    a = [float(part.mean) for part in parts]
    b = [part.size**2 * float(part.variance) for part in parts]
    roots = sum(math.sqrt(a_j * b_j) for a_j, b_j in zip(a, b, strict=True))
    return [math.ceil(roots / c * math.sqrt(b_i / a_i)) if b_i else 0 for a_i, b_i in zip(a, b, strict=True)]


def size_of_equation_3(part: Part, epsilon: float) -> int:
    """m = ceil( (z sigma / (epsilon mu))^2 ), with the Gaussian assumption."""
    return math.ceil(Z**2 * float(part.variance / part.mean**2) / epsilon**2) if part.variance else 0


class PaperRoot:
    """One group's recursion: ``leaves`` with what the decision above gave each, and every decision."""

    def __init__(self, pairs: Pairs, epsilon: float, variant: str) -> None:
        self.epsilon, self.variant = epsilon, variant
        self.floor = 0 if variant == "script" else 1
        self.leaves: list[tuple[Part, int]] = []
        self.splits: set[str] = set()
        self.decisions: dict[str, tuple[int, Fraction, tuple[int, int], Fraction]] = {}
        whole = Part(pairs)
        self._visit(whole, self._alone(whole), "")

    def _alone(self, part: Part) -> int:
        return max(self.floor, size_of_equation_3(part, self.epsilon))

    def _visit(self, part: Part, allocated: int, path: str) -> None:
        m_old = self._alone(part) if self.variant == "paper" else allocated
        if len(part.pairs) > 1:
            halves = part.halves()
            m = [max(self.floor, size) for size in sizes_of_problem_1(halves, self.epsilon)]
            tau_old = m_old * part.mean
            tau_new = sum((m_i * half.mean for m_i, half in zip(m, halves, strict=True)), Fraction(0))
            self.decisions[path] = (m_old, tau_old, (m[0], m[1]), tau_new)
            if tau_new < tau_old or (self.variant == "script" and tau_new == tau_old):
                self.splits.add(path)
                self._visit(halves[0], m[0], path + "L")
                self._visit(halves[1], m[1], path + "R")
                return
        self.leaves.append((part, m_old))

    @property
    def final_sizes(self) -> list[int]:
        """Sizes drawn without replacement: of the script the decisions', else the least joint ones."""
        parts = [part for part, _ in self.leaves]
        if self.variant == "script":
            return [min(max(1, m), part.size) for part, m in self.leaves]
        return least_joint_sizes(parts, self.epsilon)


def least_joint_sizes(parts: Sequence[Part], epsilon: float) -> list[int]:
    """m_i = clip(ceil(sqrt(theta b_i / a_i)), 1, N_i), b = N^2 S^2, at the least theta within the budget.

    m_i reaches k where theta = k^2 a_i / b_i: these are all thetas that matter.
    """
    c = (epsilon * sum(part.total for part in parts) / Z) ** 2
    b = [part.size**3 * part.variance / (part.size - 1) if part.size > 1 else Fraction(0) for part in parts]
    steps = [
        [k * k * part.mean / b_i for k in range(1, part.size + 1)] if b_i else []
        for part, b_i in zip(parts, b, strict=True)
    ]

    def sizes(theta: Fraction) -> list[int]:
        return [
            min(bisect_left(of_part, theta), part.size - 1) + 1 if of_part else 1
            for of_part, part in zip(steps, parts, strict=True)
        ]

    def within(m: list[int]) -> bool:
        left = (
            b_i * (Fraction(1, m_i) - Fraction(1, p.size)) for b_i, m_i, p in zip(b, m, parts, strict=True)
        )
        return float(sum(left, Fraction(0))) <= c

    thetas = sorted({Fraction(0), *(theta for of_part in steps for theta in of_part)})
    # The variance never rises with theta.
    return sizes(thetas[bisect_left(thetas, True, key=lambda theta: within(sizes(theta)))])


def pairs_of(counts: DurationCounts, group: int) -> Pairs:
    durations_ns, launches = counts.group_pairs(group)
    return list(zip(durations_ns.tolist(), launches.tolist(), strict=True))


def planned(counts: DurationCounts, epsilon: float, variant: str) -> Design:
    return make_design(counts, "root", Target(epsilon), 0, settings=(f"root.variant={variant}",))


def check_against_the_paper(counts: DurationCounts, epsilon: float, variant: str) -> None:
    """Hold strata, sizes and, decision by decision, the trees of all groups against the oracle."""
    strata = planned(counts, epsilon, variant).strata
    rule = RootRule(Target(epsilon), Options(variant))  # type: ignore[arg-type]
    for group in range(len(counts.groups)):
        oracle = PaperRoot(pairs_of(counts, group), epsilon, variant)
        rows = np.flatnonzero(strata.group == group)
        assert strata.launches[rows].tolist() == [part.size for part, _ in oracle.leaves]
        assert strata.samples[rows].tolist() == oracle.final_sizes
        for node in TreeGrower(counts, group, rule).run().nodes:
            assert (node.verdict is Verdict.SPLIT) == (node.path in oracle.splits)
            if node.threshold_ns is None:
                continue
            m_old, tau_old, m_new, tau_new = oracle.decisions[node.path]
            assert (node.samples_old, node.samples_new) == (m_old, m_new)
            assert node.tau_old_ns == pytest.approx(float(tau_old))
            assert node.tau_new_ns == pytest.approx(float(tau_new))


def reduced(counts_of: CountsOf, groups: list[Pairs]) -> DurationCounts:
    return counts_of(
        {
            f"k{index}": [duration for duration, launches in pairs for _ in range(launches)]
            for index, pairs in enumerate(groups)
        }
    )


@pytest.mark.parametrize("variant", VARIANTS)
@given(
    groups=st.lists(SMALL_GROUP, min_size=1, max_size=3),
    epsilon=st.sampled_from([0.003, 0.01, 0.05, 0.2, 0.5]),
)
@example(groups=[[(1, 2), (2, 2), (3, 2), (4, 2)]], epsilon=0.05)
@example(groups=[[(1, 1), (3, 1)]], epsilon=0.5)
def test_root_is_what_the_paper_says(
    variant: str, groups: list[Pairs], epsilon: float, counts_of: CountsOf
) -> None:
    check_against_the_paper(reduced(counts_of, groups), epsilon, variant)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_scattered_group_is_split_where_both_halves_need_more_than_they_have(
    variant: str, counts_of: CountsOf
) -> None:
    """1, 2, 3, 4 ns, two launches each: by Eq. 3 m = 308; 39 and 26 for the halves, then none has spread."""
    counts = reduced(counts_of, [[(1, 2), (2, 2), (3, 2), (4, 2)]])
    design = planned(counts, 0.05, variant)
    assert design.strata.launches.tolist() == [2, 2, 2, 2]
    assert design.strata.samples.tolist() == [1, 1, 1, 1]
    assert design.speedup == 2.0
    rule = RootRule(Target(), Options(variant))  # type: ignore[arg-type]
    first, *_ = TreeGrower(counts, 0, rule).run().nodes
    assert (first.samples_old, first.samples_new) == (308, (39, 26))
    assert first.reason == (
        "39 + 26 samples cost 150 ns, 308 of the whole 770 ns: less "
        "(priced with replacement, so beyond the launches there are)"
    )
