"""Trees that hang together: those of the last plan are not sought twice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from sampling.methods.joint.joint import METHOD, Options
from sampling.methods.method import SolvedTogether, SplitRequest
from sampling.reduction.duration_counts import DurationCounts
from sampling.splitting.tree import Verdict
from sampling.strata.target import Target

CountsOf = Callable[..., DurationCounts]
LAUNCHES = {"a": [10, 11, 12, 10, 90, 91] * 20, "b": [50, 60, 70, 400] * 30}


@pytest.fixture
def counts(counts_of: CountsOf) -> DurationCounts:
    """Two kernels, each with launches of two lengths."""
    return counts_of(LAUNCHES)


def trees() -> SolvedTogether[Options]:
    """Those of joint."""
    assert isinstance(METHOD.trees, SolvedTogether)
    return METHOD.trees


def test_the_same_plan_is_found_once(counts: DurationCounts) -> None:
    request = SplitRequest(counts=counts, target=Target(0.05), options=Options())
    assert trees().solve(replace(request)) is trees().solve(replace(request, overrides={}))


def test_another_plan_is_found_anew(counts: DurationCounts) -> None:
    request = SplitRequest(counts=counts, target=Target(0.05), options=Options())
    kept = {counts.groups[0].key: {"": Verdict.KEEP}}
    others = replace(request, target=Target(0.04)), replace(request, overrides=kept)
    for other in others:
        first = trees().solve(request)
        assert trees().solve(other) is not first
        # Only the last one is kept.
        assert trees().solve(request) is not first


def test_equal_launches_of_another_reduction_are_another_plan(counts_of: CountsOf) -> None:
    requests = [
        SplitRequest(counts=counts_of(LAUNCHES), target=Target(0.05), options=Options()) for _ in range(2)
    ]
    first, second = (trees().solve(request) for request in requests)
    assert first is not second
