"""Plans of recordings by others, judged on other recordings of theirs."""

from __future__ import annotations

from pathlib import Path

import pytest

from sampling.plan.judge import judge_plan
from sampling.plan.other_recording import align
from sampling.readers.registry import read_profile
from sampling.reduction import GroupBy
from sampling.reduction.grouping import Grouping
from tests.sampling.plan.test_other_recording import parting, recorded
from tests.small_plans import plan_of_profile


def test_recordings_of_one_run_align(shared_data: Path) -> None:
    """The SQLite export knows its process, the CSV does not; both have the same 8,190 launches."""
    sqlite = read_profile([str(shared_data / "nsys-sqlite/rtx3090-gaussian-nsys2022.4.sqlite")])
    csv = read_profile([str(shared_data / "nsys-csv/rtx3090-gaussian-gputrace-nsys2022.4.csv")])
    found = align(recorded(sqlite), csv)
    assert found.renumbered == ((11357, 0, 0, 0),)
    assert found.launches_differing == 0


def test_recordings_on_two_vendors_gpus_part_at_once(shared_data: Path) -> None:
    h100, mi300x = (
        read_profile([str(shared_data / "kineto" / f"{gpu}-qwen1.5-inference.json.gz")])
        for gpu in ("h100", "mi300x")
    )
    counts = "1,516 launches here, 1,465 in the plan's recording; "
    said = parting(recorded(h100), mi300x, h100)
    assert f"{counts}launch 0 is " in said
    assert "CatArrayBatchedCopy" in said
    assert "vectorized_elementwise_kernel" in said
    assert len(said) < 650
    assert f"{counts}record the" in parting(recorded(h100), mi300x, h100, names_may_differ=True)


@pytest.mark.parametrize(("one", "other", "error"), [("h100", "mi300x", 0.02), ("mi300x", "h100", 0.03)])
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
    assert min(found.by_operator.shares) > 0.98
    assert found.error < error
    assert found.redraws is not None
    assert found.redraws.error_mean < error
