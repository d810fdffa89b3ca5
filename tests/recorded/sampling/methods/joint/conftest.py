"""Recorded profiles as the method joint sees them, each read once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from sampling.profile.profile import Profile
from sampling.readers.registry import read_profile
from sampling.reduction.duration_counts import DurationCounts, count_durations
from sampling.reduction.group_by import GroupBy
from sampling.reduction.grouping import Grouping


@pytest.fixture(scope="session")
def reduced(shared_data: Path) -> Callable[[str, GroupBy], DurationCounts]:
    """Return the reduction of a profile."""

    @cache
    def profile_of(name: str) -> Profile:
        return read_profile([str(shared_data / name)])

    @cache
    def counts_of(name: str, by: GroupBy) -> DurationCounts:
        return count_durations(profile_of(name), Grouping(by))

    return counts_of
