"""Which launches are run, in which order, on which machine; and as which ranges."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from sampling.errors import OptionError
from sampling.plan.plan_file import PlanFile
from sampling.simulators.accel_sim import bridged
from sampling.simulators.export import (
    ExportChoices,
    Shard,
    Step,
    check_chances,
    checkable,
    checks,
    informative_order,
    merged,
    range_text,
    run_parts,
    shared_out,
    simulated,
)
from tests.sampling.simulators.conftest import launch, plan_of, stratum


def ids(shard: Shard) -> list[int]:
    return [step.id for step in shard]


def run(plan: PlanFile, **choices: Any) -> list[list[int]]:
    (part,) = run_parts(plan, ExportChoices(**choices))
    return [ids(shard) for shard in part.shards]


def test_one_of_each_stratum_by_its_share_of_the_variance_then_seconds(ten: PlanFile) -> None:
    """36 x (10^2 + 5^2) = 4,500 of a; 9 x (1 + 50^2) = 22,509 of b; 1 x 250^2 = 62,500 of c."""
    assert run(ten) == [[5, 4, 2, 8, 9]]


def test_without_noise_the_spread_alone_tells_and_equal_shares_go_by_time(ten: PlanFile) -> None:
    """3,600 of a; 9 of b; 0 of c."""
    plan = plan_of(*ten.strata, noise_floor=0.0)
    assert run(plan) == [[2, 4, 5, 8, 9]]
    census = [stratum(name, 1, ns, 0, [launch(ns, 0, name)]) for name, ns in (("p", 7), ("q", 9))]
    assert run(plan_of(*census, noise_floor=0.0)) == [[9, 7]]


def test_a_pooled_stratum_also_brings_what_its_kernels_differ_by(ten: PlanFile) -> None:
    """9 x (1 + 50^2 + 0.3^2 (1,000^2 + 1)) = 832,510 of b: before c, which comes first otherwise."""
    a, b, c = ten.strata
    assert run(plan_of(a, structs.replace(b, pooled=True), c)) == [[4, 5, 2, 8, 9]]


SIZES = st.lists(st.tuples(st.integers(1, 6), st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=6)


def drawn_plan(sizes: list[tuple[int, int, int]], seed: int) -> PlanFile:
    strata, first = [], 0
    for index, (count, mean, std) in enumerate(sizes):
        launches = [launch(first + place, place, f"k{index}") for place in range(count)]
        strata.append(stratum(f"k{index}", count, mean, std, launches))
        first += count
    return plan_of(*strata, method="root", seed=seed)


@given(sizes=SIZES, seed=st.integers(0, 5))
def test_every_prefix_has_as_many_of_each_stratum_as_there_are(
    sizes: list[tuple[int, int, int]], seed: int
) -> None:
    plan = drawn_plan(sizes, seed)
    order = informative_order(plan)
    assert sorted(each.id for _, each in order) == [each.id for each in plan.drawn]
    taken = [0] * len(sizes)
    for index, each in order:
        assert each in plan.strata[index].launches
        # No stratum gets another launch while one that has launches left has fewer.
        left = [count for count, (most, _, _) in zip(taken, sizes, strict=True) if count < most]
        assert taken[index] == min(left)
        taken[index] += 1


def test_within_a_stratum_the_order_is_random_and_the_seeds() -> None:
    """The first of a stratum would else always be one of the start of the run."""
    firsts = [informative_order(drawn_plan([(6, 1, 1)], seed))[0][1].id for seed in range(60)]
    assert set(firsts) == set(range(6))
    assert run(drawn_plan([(6, 1, 1)], 3)) == run(drawn_plan([(6, 1, 1)], 3))


def test_a_warm_up_runs_before_each_launch_and_none_before_the_first_of_all(ten: PlanFile) -> None:
    """4 warms up 5, and 8 warms up 9; 3 and 7 are run for 4 and 8 alone, 1 for 2."""
    (part,) = run_parts(ten, ExportChoices(caches="after:1"))
    assert ids(part.steps) == [1, 2, 3, 4, 5, 7, 8, 9]
    assert [step.id for step in part.steps if step.launch is None] == [1, 3, 7]
    first = plan_of(stratum("a", 2, 1, 0, [launch(0, 0, "a")]))
    assert run(first, caches="after:1") == [[0]]


@pytest.mark.parametrize(
    ("choices", "beside"),
    [({}, 0), ({"caches": "after:1"}, 3), ({"shards": 2}, 0)],
)
def test_what_runs_for_the_caches_sake_is_in_the_speedup(
    ten: PlanFile, choices: dict[str, Any], beside: int
) -> None:
    drawn_ns = sum(each.duration_ns or 0 for each in ten.drawn)
    found = simulated(ten, ExportChoices(**choices))
    assert (found.launches, found.beside) == (5, beside)
    mean_ns = ten.total_duration_ns / ten.launches
    assert found.speedup == pytest.approx(ten.total_duration_ns / (drawn_ns + beside * mean_ns))


def test_a_launch_that_is_checked_runs_twice_and_its_predecessors_once(ten: PlanFile) -> None:
    found = simulated(ten, ExportChoices(caches="cold", cold_check=9))
    drawn_ns = sum(each.duration_ns or 0 for each in ten.drawn)
    # All five are checked; of the ten launches 0, 1, 3, 6 and 7 run before them.
    assert (found.launches, found.beside) == (5, 5 + 5)
    before_ns = 5 * ten.total_duration_ns / ten.launches
    assert found.speedup == pytest.approx(ten.total_duration_ns / (2 * drawn_ns + before_ns))


@given(sizes=SIZES, before=st.integers(0, 4), data=st.data())
def test_shards_have_every_launch_once_and_those_before_each_its_launch(
    sizes: list[tuple[int, int, int]], before: int, data: st.DataObject
) -> None:
    full = drawn_plan(sizes, 0)
    kept = [
        stratum(each.key, each.size, each.mean_ns, each.std_ns, some)
        for each in full.strata
        if (some := [one for one in each.launches if data.draw(st.booleans())])
    ]
    if not kept:
        return
    plan = plan_of(*kept, method="root")
    caches = f"after:{before}" if before else "cold"
    (whole,) = run_parts(plan, ExportChoices(caches=caches))
    shards = data.draw(st.integers(1, 3))
    try:
        (part,) = run_parts(plan, ExportChoices(shards=shards, caches=caches))
    except OptionError:
        assert shards > 1
        return
    assert len(part.shards) == shards
    assert sorted(ids(part.steps)) == sorted(ids(whole.steps))
    drawn = [step.id for step in part.steps if step.launch is not None]
    assert sorted(drawn) == [each.id for each in plan.drawn]
    for shard in part.shards:
        assert shard
        for place, step in enumerate(shard):
            if step.launch is not None:
                first = max(0, step.id - before)
                those = shard[place - (step.id - first) : place]
                assert [each.id for each in those] == list(range(first, step.id))
    assert (len(whole.steps) > len(plan.drawn)) <= before


@given(
    lengths=st.lists(st.integers(0, 30), min_size=2, max_size=7),
    shards=st.integers(2, 3),
)
def test_the_longest_shard_is_within_grahams_bound_of_the_best(lengths: list[int], shards: int) -> None:
    """Longest first to the least loaded: at most 4/3 - 1/(3K) of the best [Graham 1969, theorem 2]."""
    if len(lengths) < shards:
        return
    bundles = [
        (Step(place, place, launch(place, 0, "k", duration_ns=ns), 0),) for place, ns in enumerate(lengths)
    ]
    got = max(sum(lengths[step.id] for step in shard) for shard in shared_out(bundles, shards))
    best = min(
        max(
            sum(ns for ns, own in zip(lengths, owner, strict=True) if own == shard) for shard in range(shards)
        )
        for owner in product(range(shards), repeat=len(lengths))
    )
    assert best <= got <= best * (4 / 3 - 1 / (3 * shards)) + 1e-9


def test_shards_by_hand(ten: PlanFile) -> None:
    """5,000 of c alone against 1,000 of b and 300 of a."""
    assert run(ten, shards=2) == [[5], [4, 2, 8, 9]]
    with pytest.raises(OptionError, match="`shards=6`: there are 5 runs to share out"):
        run(ten, shards=6)
    with pytest.raises(OptionError, match="`shards` is 1 or more"):
        ExportChoices(shards=0)


def test_each_process_and_device_is_a_part_of_its_own() -> None:
    plan = plan_of(
        stratum("a", 9, 1, 1, [launch(2, 0, "a", id=7, process=3, device=1), launch(1, 0, "a")]),
    )
    parts = run_parts(plan, ExportChoices(caches="after:1"))
    assert [(part.process, part.device, part.folder) for part in parts] == [
        (0, 0, "process-0-device-0/"),
        (3, 1, "process-3-device-1/"),
    ]
    assert [[(step.id, step.ordinal) for step in part.steps] for part in parts] == [
        [(0, 0), (1, 1)],
        [(6, 1), (7, 2)],
    ]


def test_what_belongs_together_stays_on_one_machine(ten: PlanFile) -> None:
    (part,) = run_parts(ten, ExportChoices(shards=3), together=lambda each: each.name)
    assert sorted(map(ids, part.shards)) == [[2, 8, 9], [4], [5]]


def test_what_is_checked_is_drawn_by_the_time_it_stands_for(ten: PlanFile) -> None:
    """5,000 of 8,600 ns are c's, 3,000 b's: both are certain, and 8 and 9 of a share the third with 2."""
    chance = dict(zip([each.id for each in checkable(ten)], check_chances(checkable(ten), 3), strict=True))
    assert chance == pytest.approx({2: 1 / 3, 4: 1, 5: 1, 8: 1 / 3, 9: 1 / 3})
    seeds = 300
    drawn = [
        [step.id for each in checks(plan_of(*ten.strata, seed=seed), 3).values() for step in each]
        for seed in range(seeds)
    ]
    assert all(len(set(each)) == len(each) == 3 for each in drawn)
    for launch_id, expected in chance.items():
        share = sum(launch_id in each for each in drawn) / seeds
        assert share == pytest.approx(expected, abs=0.1)
    everything = checks(ten, 99)
    assert [step.id for step in everything[0, 0]] == [2, 4, 5, 8, 9]
    assert checks(ten, 0) == {}


def test_the_first_launch_of_a_device_starts_cold_in_the_program_too() -> None:
    plan = plan_of(stratum("a", 3, 1, 0, [launch(0, 0, "a"), launch(1, 1, "a"), launch(2, 2, "a")]))
    assert [step.id for step in checks(plan, 99)[0, 0]] == [1, 2]


@pytest.mark.parametrize(("apart", "shards"), [(False, [[5, 4, 2, 8, 9]]), (True, [[5], [4], [2], [8], [9]])])
def test_what_is_checked_runs_by_itself_after_those_before_it(
    ten: PlanFile, apart: bool, shards: list[list[int]]
) -> None:
    """Among those that start cold its own data would lie in L2."""
    (part,) = run_parts(ten, ExportChoices(apart=apart, cold_check=99))
    assert [ids(shard) for shard in part.shards] == [*shards, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]]
    assert [step.id for step in part.shards[-1] if step.is_check] == [2, 4, 5, 8, 9]
    assert all(step.launch is not None and not step.is_check for shard in part.shards[:-1] for step in shard)


def numbers_of(text: str) -> list[int]:
    """The numbers that a tracer takes a text for: blank-separated N and A-B, both ends in it."""
    numbers: list[int] = []
    for token in text.split():
        first, _, last = token.partition("-")
        numbers += range(int(first), int(last or first) + 1)
    return numbers


def text_of(numbers: list[int]) -> str:
    return " ".join(map(range_text, merged(numbers)))


@pytest.mark.parametrize(
    ("numbers", "text"),
    [([5], "5"), ([5, 6], "5-6"), ([9, 1, 2, 3, 7, 2], "1-3 7 9"), ([0, 2, 4], "0 2 4"), ([], "")],
)
def test_ranges_by_hand(numbers: list[int], text: str) -> None:
    assert text_of(numbers) == text


@given(st.lists(st.integers(0, 60)))
def test_a_text_read_back_has_the_numbers(numbers: list[int]) -> None:
    assert numbers_of(text_of(numbers)) == sorted(set(numbers))
    ranges = merged(numbers)
    assert all(after[0] - before[1] > 1 for before, after in pairwise(ranges))


@given(st.sets(st.integers(0, 2000), min_size=1, max_size=200), st.integers(9, 200))
def test_bridges_keep_all_numbers_and_the_text_short(numbers: set[int], most: int) -> None:
    ranges = bridged(merged(numbers), most)
    text = " ".join(map(range_text, ranges))
    assert len(text) <= most
    assert numbers <= set(numbers_of(text))
    if len(text_of(sorted(numbers))) <= most:
        assert ranges == merged(numbers)


def test_the_smallest_gaps_are_bridged() -> None:
    ranges = merged([10, 11, 50, 51, 53, 54, 90, 91])
    assert bridged(ranges, 23) == ranges
    assert bridged(ranges, 22) == [(10, 11), (50, 54), (90, 91)]


def test_ten_thousand_ranges_are_bridged_soon() -> None:
    ranges = merged(range(0, 3_000_000, 30))
    made = bridged(ranges, 100_000)
    assert sum(len(range_text(each)) + 1 for each in made) - 1 <= 100_000
    assert made[0][0] == 0
    assert made[-1][1] == 2_999_970
