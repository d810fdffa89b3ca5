"""Split trees: their form, every decision derived again from the definition, overrides and undo."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.errors import OptionError
from sampling.methods import allegro, root
from sampling.reduction.duration_counts import DurationCounts
from sampling.splitting.tree import SplitTree, TreeGrower, Verdict, costs_in_words, split_groups
from sampling.strata.target import Target

SEEDS = range(4)
VARIANTS = ("exact", "script", "paper")
CountsOf = Callable[..., DurationCounts]
Mixture = Callable[..., dict[str, list[int]]]

RULES = {
    **{variant: root.RootRule(Target(), root.Options(variant)) for variant in VARIANTS},  # type: ignore[arg-type]
    "of up to five parts": root.RootRule(Target(), root.Options(k_max=5)),
    "allegro": allegro.SampleCountRule(Target(), allegro.Options()),
    "allegro at 2": allegro.SampleCountRule(Target(0.01), allegro.Options(threshold=2, floor=1)),
}


@dataclass(frozen=True)
class Decision:
    """One node as docs/methods.md, 4 ROOT, defines it."""

    samples_old: int
    tau_old: float
    samples_new: tuple[int, int]
    tau_new: float
    threshold: int
    splits: bool


class Derivation:
    """ROOT written out for sorted lists of durations, with nothing of the engine but the target."""

    def __init__(self, target: Target, variant: str) -> None:
        self.epsilon, self.z = target.epsilon, target.z
        self.floor = 0 if variant == "script" else 1
        self.variant = variant
        self.decisions: dict[str, Decision | None] = {}

    def alone(self, durations: list[int]) -> int:
        """Return max(1, ceil((z sigma / (epsilon mu))^2)), drawn with replacement: however few there are."""
        mean, std = np.mean(durations), np.std(durations)
        wanted = math.ceil((self.z * std / (self.epsilon * mean)) ** 2) if std else 0
        return max(wanted, self.floor)

    def jointly(self, parts: list[list[int]]) -> list[int]:
        """Return the closed form over the parts, at least the floor."""
        budget = (self.epsilon * sum(map(sum, parts)) / self.z) ** 2
        a = [float(np.mean(part)) for part in parts]
        b = [(len(part) * float(np.std(part))) ** 2 for part in parts]
        roots = sum(math.sqrt(a_i * b_i) for a_i, b_i in zip(a, b, strict=True))
        wanted = [math.ceil(roots / budget * math.sqrt(b_i / a_i)) for a_i, b_i in zip(a, b, strict=True)]
        return [max(m, self.floor) for m in wanted]

    def decide(self, durations: list[int], samples: int, path: str = "") -> None:
        """Note the decision on a cluster that its parent gave ``samples`` samples, and on all below it."""
        self.decisions[path] = None
        distinct = sorted(set(durations))
        if len(distinct) == 1:
            return
        cuts = [
            ([d for d in durations if d <= low], [d for d in durations if d > low]) for low in distinct[:-1]
        ]
        left, right = min(cuts, key=lambda cut: sum(len(part) * np.var(part) for part in cut))
        m_old = self.alone(durations) if self.variant == "paper" else samples
        m_new = self.jointly([left, right])
        tau_old = m_old * float(np.mean(durations))
        tau_new = sum(m * float(np.mean(part)) for m, part in zip(m_new, (left, right), strict=True))
        splits = tau_new <= tau_old if self.variant == "script" else tau_new < tau_old
        self.decisions[path] = Decision(m_old, tau_old, (m_new[0], m_new[1]), tau_new, left[-1], splits)
        if splits:
            self.decide(left, m_new[0], path + "L")
            self.decide(right, m_new[1], path + "R")


def durations_of(counts: DurationCounts, start: int, stop: int) -> list[int]:
    """Return every launch's duration of some pairs."""
    return np.repeat(counts.duration_ns[start:stop], counts.count[start:stop]).tolist()


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("seed", SEEDS)
def test_every_decision_of_root_follows_from_its_definition(
    variant: str, seed: int, counts_of: CountsOf, mixture: Mixture
) -> None:
    counts = counts_of(mixture(seed))
    target = Target()
    split = 0
    for group in range(len(counts.groups)):
        durations = durations_of(counts, counts.offsets[group], counts.offsets[group + 1])
        derivation = Derivation(target, variant)
        derivation.decide(durations, derivation.alone(durations))
        tree = TreeGrower(counts, group, RULES[variant]).run()
        splits = {path for path, decision in derivation.decisions.items() if decision and decision.splits}
        assert {node.path for node in tree.nodes if node.verdict is Verdict.SPLIT} == splits
        assert [node.path for node in tree.nodes] == list(derivation.decisions)
        split += len(splits)
        for node in tree.nodes:
            decision = derivation.decisions[node.path]
            if decision is None or node.threshold_ns is None:
                continue
            assert node.samples_old == decision.samples_old
            assert node.samples_new == decision.samples_new
            assert node.threshold_ns == decision.threshold
            assert node.tau_old_ns == pytest.approx(decision.tau_old)
            assert node.tau_new_ns == pytest.approx(decision.tau_new)
    assert split > 0


@pytest.mark.parametrize("seed", SEEDS)
def test_allegro_splits_what_needs_more_than_the_threshold(
    seed: int, counts_of: CountsOf, mixture: Mixture
) -> None:
    counts = counts_of(mixture(seed))
    target = Target()
    for group in range(len(counts.groups)):
        for node in TreeGrower(counts, group, RULES["allegro"]).run().nodes:
            durations = durations_of(counts, node.start, node.stop)
            wanted = math.ceil((target.z * np.std(durations) / (target.epsilon * np.mean(durations))) ** 2)
            assert (node.verdict is Verdict.SPLIT) == (wanted > 50)
            assert node.samples_old == max(wanted, 30)


def check_form(tree: SplitTree, counts: DurationCounts) -> None:
    """Hold the nodes against the definition of a flat pre-order tree."""
    low, high = int(counts.offsets[tree.group]), int(counts.offsets[tree.group + 1])
    leaves = [(leaf.start, leaf.stop) for leaf in tree.leaves]
    assert [low, *(stop for _, stop in leaves)] == [*(start for start, _ in leaves), high]
    by_path = {node.path: node for node in tree.nodes}
    assert len(by_path) == len(tree.nodes)
    assert [node.path for node in tree.nodes] == sorted(by_path)
    for index, node in enumerate(tree.nodes):
        assert node.index == index
        assert node.depth == len(node.path)
        durations = durations_of(counts, node.start, node.stop)
        assert node.launches == len(durations)
        assert node.mean_ns == pytest.approx(np.mean(durations))
        assert node.std_ns == pytest.approx(np.std(durations))
        if node.verdict is Verdict.KEEP:
            assert (node.left, node.right) == (None, None)
            continue
        left, right = by_path[node.path + "L"], by_path[node.path + "R"]
        assert (node.left, node.right) == (left.index, right.index)
        assert left.index == index + 1
        assert (left.start, left.stop, right.stop) == (node.start, right.start, node.stop)
        assert node.threshold_ns == counts.duration_ns[left.stop - 1] < counts.duration_ns[right.start]
        if not isinstance(node.samples_new, tuple):
            pytest.fail("a node that splits keeps the sizes of its halves")


@pytest.mark.parametrize("rule", RULES)
@given(durations=st.lists(st.one_of(st.integers(0, 5), st.integers(1, 5000)), min_size=1, max_size=80))
def test_the_tree_is_flat_in_pre_order_and_its_leaves_part_the_pairs(
    rule: str, durations: list[int], counts_of: CountsOf
) -> None:
    counts = counts_of({"k": durations})
    check_form(TreeGrower(counts, 0, RULES[rule]).run(), counts)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("seed", SEEDS)
def test_the_first_nodes_are_the_tree_after_as_many_decisions(
    rule: str, seed: int, counts_of: CountsOf, mixture: Mixture
) -> None:
    counts = counts_of(mixture(seed, groups=1))
    whole = TreeGrower(counts, 0, RULES[rule]).run().nodes
    grower = TreeGrower(counts, 0, RULES[rule])
    for taken in range(len(whole) + 1):
        found = [(node.path, node.verdict, node.reason, node.samples_new) for node in grower.tree.nodes]
        assert found == [(node.path, node.verdict, node.reason, node.samples_new) for node in whole[:taken]]
        for node in grower.tree.nodes:
            final = whole[node.index]
            assert node.left == final.left
            assert node.right == (final.right if final.right is not None and final.right < taken else None)
        assert (grower.step() is None) == (taken == len(whole))


@given(data=st.data(), durations=st.lists(st.integers(1, 5000), min_size=1, max_size=60))
def test_undo_takes_back_exactly_the_last_decision(
    data: st.DataObject, durations: list[int], counts_of: CountsOf
) -> None:
    counts = counts_of({"k": durations})
    rule = RULES["allegro at 2"]
    grower = TreeGrower(counts, 0, rule)
    history = [grower.tree]
    for step in data.draw(st.lists(st.booleans(), max_size=40)):
        if step:
            if grower.step() is not None:
                history.append(grower.tree)
        else:
            assert grower.undo() == (len(history) > 1)
            history = history[:-1] or history
        assert grower.tree == history[-1]
    assert grower.run() == TreeGrower(counts, 0, rule).run()


def test_a_decision_may_split_into_the_number_of_parts_that_costs_least(counts_of: CountsOf) -> None:
    """Four tight modes, of which the two shortest hardly matter: three parts cost least."""
    modes = [10, 1_000, 20_000, 300_000]
    counts = counts_of({"k": [mode + step for mode in modes for step in (-1, 0, 1) for _ in range(40)]})
    tree = TreeGrower(counts, 0, RULES["of up to five parts"]).run()
    check_form(tree, counts)
    root_node = tree.nodes[0]
    target = Target()
    derivation = Derivation(target, "exact")
    durations = durations_of(counts, 0, len(counts.count))
    taus = []
    for cuts in itertools.chain.from_iterable(
        itertools.combinations(range(1, len(counts.count)), parts - 1) for parts in range(2, 6)
    ):
        bounds = [0, *cuts, len(counts.count)]
        parts = [durations_of(counts, low, high) for low, high in itertools.pairwise(bounds)]
        cost = sum(len(part) * np.var(part) for part in parts)
        sizes = derivation.jointly(parts)
        tau = sum(m * float(np.mean(part)) for m, part in zip(sizes, parts, strict=True))
        taus.append((len(parts), cost, tau))
    best_of_each_k = [
        min((row for row in taus if row[0] == k), key=lambda row: row[1])[2] for k in range(2, 6)
    ]
    assert root_node.tau_old_ns == pytest.approx(derivation.alone(durations) * np.mean(durations))
    assert root_node.tau_new_ns == pytest.approx(min(best_of_each_k))
    parts_of_best = 2 + best_of_each_k.index(min(best_of_each_k))
    assert len(root_node.samples_new or ()) == parts_of_best == 3


@pytest.fixture(scope="module")
def two_modes(counts_of: CountsOf) -> DurationCounts:
    """Return a group that ROOT splits once, and one whose durations are all equal."""
    return counts_of({"two": [100, 101, 102] * 50 + [900, 905, 910] * 50, "one": [7] * 10})


def test_a_kept_root_is_the_whole_tree(two_modes: DurationCounts) -> None:
    rule = RULES["exact"]
    assert len(TreeGrower(two_modes, 0, rule).run().nodes) > 1
    tree = TreeGrower(two_modes, 0, rule, {"": Verdict.KEEP}).run()
    (node,) = tree.nodes
    assert node.verdict is Verdict.KEEP
    assert node.overridden
    assert "decided by the user" in node.reason
    assert "split" in node.reason
    check_form(tree, two_modes)


def test_a_split_where_the_rule_keeps_is_made(two_modes: DurationCounts) -> None:
    rule = RULES["exact"]
    leaf = TreeGrower(two_modes, 0, rule).run().leaves[0]
    tree = TreeGrower(two_modes, 0, rule, {leaf.path: Verdict.SPLIT}).run()
    check_form(tree, two_modes)
    overridden = [node.path for node in tree.nodes if node.overridden]
    assert overridden == [leaf.path]
    assert len(tree.leaves) == len(TreeGrower(two_modes, 0, rule).run().leaves) + 1


def test_overrides_reach_the_strata(two_modes: DurationCounts) -> None:
    key = two_modes.groups[0].key
    whole, _ = split_groups(two_modes, RULES["exact"], {key: {"": Verdict.KEEP}})
    assert whole.group.tolist() == [0, 1]
    more, _ = split_groups(two_modes, RULES["exact"], {key: {"": Verdict.SPLIT, "L": Verdict.SPLIT}})
    assert more.group.tolist() == [0, 0, 0, 1]


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"LLLLL": Verdict.KEEP}, r"has no node 'LLLLL' to override"),
        ({"": Verdict.KEEP, "L": Verdict.SPLIT}, r"has no node 'L' to override"),
    ],
)
def test_an_override_of_no_node_is_refused(
    overrides: dict[str, Verdict], message: str, two_modes: DurationCounts
) -> None:
    with pytest.raises(OptionError, match=message):
        TreeGrower(two_modes, 0, RULES["exact"], overrides).run()


def test_equal_durations_cannot_be_split(two_modes: DurationCounts) -> None:
    with pytest.raises(OptionError, match=r"node '' cannot be split: all its durations are equal .*#2: 'one"):
        TreeGrower(two_modes, 1, RULES["exact"], {"": Verdict.SPLIT}).run()


def test_an_override_of_no_group_is_refused(two_modes: DurationCounts) -> None:
    with pytest.raises(OptionError, match=r"names a kernel group that is not in this profile \('three'\)"):
        split_groups(two_modes, RULES["exact"], {"three": {"": Verdict.KEEP}})


@pytest.mark.parametrize("name", RULES)
@given(
    groups=st.lists(st.lists(st.integers(0, 3000), min_size=1, max_size=80), min_size=1, max_size=4),
)
def test_groups_split_at_once_are_split_as_one_by_one(
    name: str, groups: list[list[int]], counts_of: CountsOf
) -> None:
    counts = counts_of({f"k{index}": durations for index, durations in enumerate(groups)})
    clusters, samples = split_groups(counts, RULES[name])
    leaves = sorted(
        (leaf.start, leaf.stop, leaf.samples_old)
        for group in range(len(counts.groups))
        for leaf in TreeGrower(counts, group, RULES[name]).run().leaves
    )
    found = zip(clusters.start.tolist(), clusters.stop.tolist(), samples.tolist(), strict=True)
    assert list(found) == leaves


@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        (1200.0, 900.0, ("1,200 ns", "900 ns")),
        (686_647.4, 686_647.2, ("686,647.4 ns", "686,647.2 ns")),
        (686_647.1234, 686_647.1231, ("686,647.1234 ns", "686,647.1231 ns")),
        (5.0, 5.0, ("5 ns", "5 ns")),
        (5.0, 5.0 + 1e-12, ("5 ns", "5 ns")),
    ],
)
def test_they_have_the_digits_that_tell_them_apart(one: float, other: float, words: tuple[str, str]) -> None:
    assert costs_in_words(one, other) == words
