"""Steps through all decisions: where they stop, what the strata so far cost, and decisions of the user's."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sampling.errors import OptionError
from sampling.methods.registry import method_options, split_trees_of
from sampling.plan.design import Design, make_design
from sampling.plan.split_stepper import Position, RunningTotals, SplitStepper, with_decision
from sampling.reduction.duration_counts import DurationCounts
from sampling.splitting.tree import Overrides, SplitNode, TreeGrower, Verdict
from sampling.strata.strata import bound, group_bounds
from sampling.strata.target import Target

CountsOf = Callable[..., DurationCounts]
Mixture = Callable[..., dict[str, list[int]]]

ALL: dict[str, tuple[str, tuple[str, ...], Target]] = {
    "root": ("root", (), Target()),
    "root, tight": ("root", (), Target(0.01)),
    "root as the paper": ("root", ("root.variant=paper",), Target(0.02)),
    "root as the script": ("root", ("root.variant=script",), Target(0.02)),
    "root of up to four parts": ("root", ("root.k_max=4",), Target(0.02)),
    "stem": ("stem", (), Target(0.02)),
    "allegro": ("allegro", (), Target(0.01)),
}
GROUPS = st.lists(
    st.lists(st.one_of(st.integers(0, 4), st.integers(1, 5000)), min_size=1, max_size=60),
    min_size=1,
    max_size=4,
).map(lambda groups: {f"k{index}": durations for index, durations in enumerate(groups)})


def make_stepper(counts: DurationCounts, name: str, overrides: Overrides | None = None) -> SplitStepper:
    """Return a stepper at its start."""
    method, settings_, target = ALL[name]
    return SplitStepper(counts, method, target, settings=settings_, overrides=overrides)


def trees_of(
    counts: DurationCounts, name: str, overrides: Overrides | None = None
) -> list[tuple[SplitNode, ...]]:
    """Return the whole tree of every group."""
    method, settings_, target = ALL[name]
    rule = split_trees_of(method).rule(target, method_options(method, settings_))
    decided = overrides or {}
    return [
        TreeGrower(counts, number, rule, decided.get(group.key)).run().nodes
        for number, group in enumerate(counts.groups)
    ]


def unlinked(node: SplitNode | None) -> SplitNode | None:
    """Return a node without its children, which come later."""
    return None if node is None else replace(node, left=None, right=None)


def state(stepper: SplitStepper) -> Any:
    """Return all that a stepper shows."""
    return stepper.group, stepper.nodes, stepper.pending, stepper.running


@pytest.fixture(scope="module")
def three_groups(counts_of: CountsOf, mixture: Mixture) -> DurationCounts:
    """Return mixtures of modes, with a group of one duration among them."""
    return counts_of({**mixture(3, groups=3, launches=300), "equal": [50_000] * 40})


@pytest.mark.parametrize("name", ALL)
def test_steps_are_the_decisions_of_all_trees_in_rank_order(
    name: str, counts_of: CountsOf, mixture: Mixture
) -> None:
    counts = counts_of(mixture(0, groups=3, launches=300))
    trees = trees_of(counts, name)
    stepper = make_stepper(counts, name)
    for group, decisions in enumerate(trees):
        for number in range(len(decisions) + 1):
            assert (stepper.group, stepper.steps_done) == (group, number)
            assert list(map(unlinked, stepper.nodes)) == list(map(unlinked, decisions[:number]))
            for node in stepper.nodes:
                final = decisions[node.index]
                assert node.left == final.left
                assert node.right == (
                    final.right if final.right is not None and final.right < number else None
                )
            expected = decisions[number] if number < len(decisions) else None
            assert stepper.pending == unlinked(expected)
            assert stepper.position == Position(group, None if expected is None else expected.path)
            assert stepper.at_end == (group == len(trees) - 1 and expected is None)
            if not stepper.at_end:
                assert stepper.step()
    assert not stepper.step()
    assert sum(map(len, trees)) > len(trees)


def check_equal(running: RunningTotals, design: Design) -> None:
    """Hold running figures against those of a design with normal errors, but for the rounding of sums."""
    strata, confidence = design.strata, design.target.confidence
    assert (running.strata, running.samples) == (design.strata_count, design.samples)
    assert running.sampled_duration_ns == pytest.approx(design.sampled_duration_ns, rel=1e-9)
    assert running.speedup == pytest.approx(design.speedup, rel=1e-9)
    assert running.bound == pytest.approx(bound(strata, confidence), rel=1e-6, abs=1e-12)
    worst = group_bounds(strata, confidence).max()
    assert running.worst_group_bound == pytest.approx(worst, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("name", ALL)
def test_running_figures_are_those_of_a_plan_that_keeps_what_is_undecided(
    name: str, three_groups: DurationCounts
) -> None:
    """The oracle is the method itself, told to keep every node not yet decided on."""
    counts = three_groups
    keys = [group.key for group in counts.groups]
    method, settings_, target = ALL[name]
    stepper = make_stepper(counts, name)
    trees = trees_of(counts, name)
    stops = 0
    while True:
        open_nodes = {
            node.path
            for node in trees[stepper.group][stepper.steps_done :]
            if not node.path or any(above.path == node.path[:-1] for above in stepper.nodes)
        }
        unsplit = {
            **{key: {"": Verdict.KEEP} for key in keys[stepper.group + 1 :]},
            **({keys[stepper.group]: dict.fromkeys(open_nodes, Verdict.KEEP)} if open_nodes else {}),
        }
        design = make_design(counts, method, target, 0, settings=settings_, overrides=unsplit)
        running = stepper.running
        if not stepper.at_end:
            of_group = group_bounds(design.strata, target.confidence)[stepper.group]
            if stepper.pending is None:
                # Of a group that is split to its end the bound is judged by drawing.
                assert running.group_bound >= of_group * (1 - 1e-9)
                worst = group_bounds(design.strata, target.confidence).max()
                running = replace(running, worst_group_bound=worst, group_bound=of_group)
            check_equal(running, design)
            assert running.group_bound == pytest.approx(of_group, rel=1e-6, abs=1e-12)
            if name in ("root", "root, tight"):
                assert running.group_bound <= target.epsilon * (1 + 1e-9)
        stops += 1
        if not stepper.step():
            break
    assert stops == sum(map(len, trees)) + len(trees)


@pytest.mark.parametrize("name", ["root", "root of up to four parts", "allegro"])
@given(data=st.data(), groups=GROUPS)
@settings(max_examples=25)
def test_a_step_back_undoes_a_step(
    name: str, data: st.DataObject, groups: dict[str, list[int]], counts_of: CountsOf
) -> None:
    stepper = make_stepper(counts_of(groups), name)
    history = [state(stepper)]
    for forward in data.draw(st.lists(st.booleans(), max_size=30)):
        if forward:
            moved = stepper.step()
            assert moved != (history[-1][:3] == state(stepper)[:3])
            history += [state(stepper)] if moved else []
        else:
            assert stepper.back() == (len(history) > 1)
            history = history[:-1] or history
        assert state(stepper) == history[-1]


@pytest.mark.parametrize("name", ["root", "root of up to four parts", "allegro"])
@given(data=st.data(), groups=GROUPS)
@settings(max_examples=30)
def test_every_decision_that_can_be_taken_gives_a_plan_that_has_it(
    name: str, data: st.DataObject, groups: dict[str, list[int]], counts_of: CountsOf
) -> None:
    counts = counts_of(groups)
    stepper = make_stepper(counts, name)
    for _ in range(data.draw(st.integers(1, 4))):
        stepper.enter(data.draw(st.integers(0, stepper.groups - 1)), data.draw(st.integers(0, 6)))
        nodes = [*stepper.nodes, *([] if stepper.pending is None else [stepper.pending])]
        node = data.draw(st.sampled_from(nodes))
        verdict = data.draw(st.sampled_from(Verdict))
        if verdict is Verdict.SPLIT and node.stop - node.start == 1:
            with pytest.raises(OptionError, match="all its durations are equal"):
                stepper.override(node.path, verdict)
            continue
        position = stepper.position
        stepper = make_stepper(counts, name, stepper.override(node.path, verdict))
        stepper.resume(position)
        by_path = {
            node.path: node
            for node in (*stepper.nodes, *([] if stepper.pending is None else [stepper.pending]))
        }
        assert by_path[node.path].verdict is verdict
        assert by_path[node.path].overridden
    stepper.finish()
    strata, target = stepper.design.strata, ALL[name][2]
    if name != "allegro":
        limit = target.epsilon
        assert (group_bounds(strata, target.confidence) <= limit * (1 + 1e-9)).all()


def test_a_decision_stands_last_and_drops_what_it_leaves_no_node_for() -> None:
    split, keep = Verdict.SPLIT, Verdict.KEEP
    before = {"a": {"": split, "L": split, "LR": keep, "R": keep}, "b": {"": keep}}
    text = json.dumps(before)
    assert with_decision(before, "a", "L", keep) == {"a": {"": split, "R": keep, "L": keep}, "b": {"": keep}}
    assert list(with_decision(before, "a", "L", keep)) == ["b", "a"]
    assert list(with_decision(before, "a", "L", split)["a"]) == ["", "LR", "R", "L"]
    assert with_decision(before, "a", "", keep) == {"a": {"": keep}, "b": {"": keep}}
    assert with_decision(before, "b", "LL", split)["b"] == {"": split, "LL": split}
    assert with_decision({}, "c", "", keep) == {"c": {"": keep}}
    assert json.dumps(before) == text, "what is given is left alone"


def test_groups_are_entered_and_finished(three_groups: DurationCounts) -> None:
    stepper = make_stepper(three_groups, "root")
    sizes = [len(nodes) for nodes in trees_of(three_groups, "root")]
    assert not stepper.previous_group()
    stepper.finish_group()
    assert (stepper.group, stepper.steps_done, stepper.pending) == (0, sizes[0], None)
    assert stepper.next_group()
    assert stepper.back()
    assert (stepper.group, stepper.steps_done) == (0, sizes[0])
    stepper.enter(2, 1)
    assert stepper.previous_group()
    assert stepper.next_group()
    assert (stepper.group, stepper.steps_done) == (2, 0), (
        "before the first decision, whatever was taken earlier"
    )
    stepper.enter(2, 10_000)
    assert (stepper.steps_done, stepper.pending) == (sizes[2], None)
    stepper.finish()
    assert (stepper.group, stepper.at_end, stepper.next_group(), stepper.step()) == (3, True, False, False)
