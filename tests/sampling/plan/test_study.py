"""A study asks each question once: which launches the region keeps, and what a design's bounds are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from pathlib import Path

import pytest

from sampling.plan.comparison import MethodComparison
from sampling.plan.plan import drawn_plan, find_planned_launches
from sampling.plan.study import MethodChoice, study, study_again
from sampling.profile.profile import Column, Profile, Source, Table
from sampling.reduction import GroupBy
from sampling.reduction.grouping import Grouping
from sampling.reduction.region import Region, selected_parts
from sampling.strata.target import Target

LAUNCHES = 300
WINDOW = Region(time_ns=(2_000, 25_000))


class CountedProfile(Profile):
    """A profile that counts how often each of its columns is read."""

    reads: Counter[Column]


class CountedSource:
    """Loads from another source, and counts."""

    def __init__(self, inner: Source, reads: Counter[Column]) -> None:
        self._inner, self._reads, self.metrics = inner, reads, inner.metrics

    def load(self, rows: slice, columns: Sequence[Column]) -> Table:
        self._reads.update(columns)
        return self._inner.load(rows, columns)


@pytest.fixture
def counted(launch_table: Callable[..., Profile]) -> CountedProfile:
    names = [f"kernel{index % 4}" for index in range(LAUNCHES)]
    durations = [100 + 7 * (index % 23) for index in range(LAUNCHES)]
    starts = [100 * index for index in range(LAUNCHES)]
    made = launch_table(names, durations, start_ns=starts)
    reads: Counter[Column] = Counter()
    made.parts = tuple(replace(part, source=CountedSource(part.source, reads)) for part in made.parts)
    counted = CountedProfile(**{each.name: getattr(made, each.name) for each in fields(made)})
    counted.reads = reads
    return counted


def reads_of_starts(profile: CountedProfile, work: Callable[[], object]) -> int:
    """Return how often the starts were read for some work."""
    before = profile.reads["start_ns"]
    work()
    return profile.reads["start_ns"] - before


@pytest.mark.parametrize("method", ["root", "first-instructions"])
def test_a_window_of_time_is_looked_for_once(method: str, counted: CountedProfile, tmp_path: Path) -> None:
    """Once to reduce, to look for overlap, to list or draw the launches, and to find them again."""
    for_selection = reads_of_starts(counted, lambda: selected_parts(counted, WINDOW))
    assert for_selection > 0
    instructions = tmp_path / "instructions.csv"
    instructions.write_text("id,instructions\n" + "".join(f"{index},5\n" for index in range(LAUNCHES)))
    files = (str(instructions),) if method == "first-instructions" else ()
    choice = MethodChoice(method, feature_paths=files)

    def work() -> None:
        found = study(counted, Grouping(), WINDOW, Target(), choice)
        again = study_again(found, Target(epsilon=0.02), choice)
        for each in (found, again):
            plan = drawn_plan(each.counts, each.design, 0)
            launches = find_planned_launches(each, plan)
            assert all(20 <= launch.id < 250 for launch in launches)

    # The overlap of kernels is told by their starts as well.
    assert reads_of_starts(counted, work) == for_selection + len(counted.parts)


def test_methods_of_several_groupings_are_compared_on_one_selection(counted: CountedProfile) -> None:
    for_selection = reads_of_starts(counted, lambda: selected_parts(counted, WINDOW))

    def work() -> None:
        compared = MethodComparison(counted, WINDOW, Target(), repeats=1, seed=0)
        for by in (GroupBy.LAUNCH, GroupBy.NAME):
            assert compared.compare("root", Grouping(by)).design is not None
            assert compared.counts(Grouping(by)).launches == 230

    assert reads_of_starts(counted, work) == for_selection
