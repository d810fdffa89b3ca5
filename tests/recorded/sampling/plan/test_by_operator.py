"""Plans of one model on one vendor's GPU, judged on the other's recording."""

from __future__ import annotations

from pathlib import Path

import pytest

from sampling.plan.judge import judge_plan
from sampling.readers.registry import read_profile
from sampling.reduction import GroupBy
from sampling.reduction.grouping import Grouping
from tests.small_plans import plan_of_profile


@pytest.mark.parametrize(("one", "other", "error"), [("h100", "mi300x", 0.02), ("mi300x", "h100", 0.05)])
def test_a_plan_holds_on_the_other_vendors_gpu(
    one: str, other: str, error: float, shared_data: Path, tmp_path: Path
) -> None:
    there, here = (
        read_profile([str(shared_data / "kineto" / f"{gpu}-qwen1.5-inference.json.gz")])
        for gpu in (one, other)
    )
    plan = plan_of_profile(there, tmp_path / "plan.json", "joint", Grouping(GroupBy.OPERATOR))
    found = judge_plan(plan, here, repeats=50, by_operator=True)
    assert found.by_operator is not None
    assert min(found.by_operator.shares) > 0.69
    assert found.error < error
    assert found.redraws is not None
    assert found.redraws.error_mean < error
