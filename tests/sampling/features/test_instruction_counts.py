"""Instruction counts of all launches: where they come from, and what is said where they are wanting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from sampling.errors import NotApplicableError
from sampling.features.metric_names import instruction_counts
from sampling.profile.profile import Profile
from sampling.reduction import GroupBy
from sampling.reduction.duration_counts import count_durations
from sampling.reduction.grouping import Grouping
from sampling.reduction.launch_list import Features, LaunchList, list_launches


@pytest.fixture
def with_metrics(launch_table: Callable[..., Profile]) -> Callable[..., LaunchList]:
    """Return three launches with metrics."""

    def build(**metrics: Sequence[float]) -> LaunchList:
        profile = launch_table(["a", "b", "c"], [1, 2, 3])
        launches = list_launches(profile, count_durations(profile, Grouping(GroupBy.NAME)))
        known = {name.replace("__", " "): np.array(values, float) for name, values in metrics.items()}
        return replace(launches, features=Features(metrics=known))

    return build


def test_the_first_metric_that_all_launches_have_counts(with_metrics: Callable[..., LaunchList]) -> None:
    counts = instruction_counts(
        with_metrics(instructions=[1, np.nan, 3], Executed__Instructions=[4, 5, 6]), "sieve"
    )
    assert counts.metric == "Executed Instructions"
    assert counts.unit == "warp instructions"
    assert counts.executed.tolist() == [4, 5, 6]


def test_what_there_is_instead_is_listed(with_metrics: Callable[..., LaunchList]) -> None:
    with pytest.raises(NotApplicableError, match=r"3 of 3 have none \(there are insts, m\); give `features`"):
        instruction_counts(with_metrics(insts=[1, 2, 3], m=[1, 2, 3]), "sieve")
    many = {f"m{index}": [1, 2, 3] for index in range(900)}
    with pytest.raises(
        NotApplicableError, match=r"there are m0, m1, m2, m3, m4, m5, \.\.\. \(900 in all\)\)"
    ):
        instruction_counts(with_metrics(**many), "sieve")
    # Where they are known for some launches, their name is not what is wrong.
    with pytest.raises(NotApplicableError, match="1 of 3 have none; give"):
        instruction_counts(with_metrics(instructions=[1, np.nan, 3], m=[1, 2, 3]), "sieve")


def test_a_negative_count_is_named_with_its_launch(with_metrics: Callable[..., LaunchList]) -> None:
    with pytest.raises(NotApplicableError) as caught:
        instruction_counts(with_metrics(instructions=[1, -3, 4]), "sieve")
    assert caught.value.message == (
        "sieve needs instruction counts, and instructions of launch 1 is -3 "
        "(1 of 3 launches has such a value)"
    )
    assert caught.value.remedy == (
        "correct the value; if a counter of 32 bits overflows there, count again with one of 64"
    )
    with pytest.raises(NotApplicableError, match="2 of 3 launches have such a value"):
        instruction_counts(with_metrics(instructions=[np.inf, -3, 4]), "sieve")
