"""Plans judged on another GPU's recording, launches matched by what they compute: against sums by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from sampling.errors import AnalysisError, OptionError
from sampling.plan.by_operator import match_operators
from sampling.plan.judge import PlanJudgement, judge_plan
from sampling.plan.plan_file import PlanFile
from sampling.profile.profile import Profile
from sampling.readers.registry import read_profile
from sampling.reduction import GroupBy
from sampling.reduction.grouping import Grouping
from tests.small_plans import plan_of_profile
from tests.small_recordings import Issued, kineto_of_operators

THERE: Issued = [
    ("aten::mm", "sm90", 100),
    ("aten::sdpa", "flash", 50),
    ("aten::linear", "split", 30),
    ("aten::linear", "reduce", 10),
    ("aten::copy_", "copy", 7),
    ("", "norm", 5),
    ("aten::mm", "sm80", 110),
    ("aten::linear", "split", 30),
    ("aten::linear", "reduce", 0),
    ("aten::sdpa", "flash", 52),
    ("aten::copy_", "copy", 7),
    ("aten::copy_", "copy", 7),
]
# One operator is two kernels a call, one a single kernel; of one there are other numbers, one is not there.
HERE: Issued = [
    ("aten::mm", "Cijk", 150),
    ("aten::sdpa", "first", 20),
    ("aten::sdpa", "second", 40),
    ("aten::linear", "Cijk", 80),
    ("aten::copy_", "copy", 3),
    ("", "norm", 6),
    ("aten::mm", "Cijk", 160),
    ("aten::linear", "Cijk", 90),
    ("aten::sdpa", "first", 21),
    ("aten::sdpa", "second", 41),
    ("aten::copy_", "copy", 3),
    ("aten::sum", "sum", 9),
]
LASTING_US = [150, 60, 60, 20, 0, 6, 160, 90, 0, 62, 0, 0]


def recorded(folder: Path, name: str, launches: Issued) -> Profile:
    """A recording of these launches."""
    return read_profile([str(kineto_of_operators(folder / f"{name}.json", launches))])


def planned(folder: Path, by: GroupBy = GroupBy.OPERATOR) -> PlanFile:
    """A plan of the first recording."""
    return plan_of_profile(recorded(folder, "there", THERE), folder / "plan.json", grouping=Grouping(by))


def judged(plan: PlanFile, recording: Profile) -> PlanJudgement:
    """The plan on another recording."""
    return judge_plan(plan, recording, repeats=50, by_operator=True)


def test_calls_are_matched_in_their_order_and_shared_among_launches(tmp_path: Path) -> None:
    match = match_operators(
        planned(tmp_path), recorded(tmp_path, "there", THERE), recorded(tmp_path, "here", HERE)
    )
    assert match.durations_ns.tolist() == [1000 * us for us in LASTING_US]
    total, copies = sum(us for *_, us in THERE), 21
    assert match.shares == pytest.approx(((total - copies) / total, 608 / 623))


@pytest.mark.parametrize(("more", "share"), [(1, 1.0), (2, 1.0), (3, 0.5)])
def test_a_recording_may_begin_within_an_iteration(more: int, share: float, tmp_path: Path) -> None:
    """Up to a twentieth of an operator's launches, the first ones, are left out; of more nothing is told."""
    original: Issued = [("aten::mm", "sm90", 10)] * 38 + [("aten::add", "a", 10)] * 38
    later: Issued = (
        [("aten::mm", "Cijk", 90)] * more + [("aten::mm", "Cijk", 20)] * 38 + [("aten::add", "a", 10)] * 38
    )
    match = match_operators(
        plan_of_profile(
            recorded(tmp_path, "there", original), tmp_path / "p.json", grouping=Grouping(GroupBy.OPERATOR)
        ),
        recorded(tmp_path, "there", original),
        recorded(tmp_path, "here", later),
    )
    lasting = 20_000 if share == 1 else 0
    assert match.durations_ns.tolist() == [lasting] * 38 + [10_000] * 38
    assert match.shares[0] == share


def test_a_plan_of_operators_is_judged_on_what_is_matched(tmp_path: Path) -> None:
    plan = planned(tmp_path)
    judgement = judged(plan, recorded(tmp_path, "here", HERE))
    assert judgement.alignment is None
    assert judgement.by_operator is not None
    assert judgement.total_ns == 1000 * sum(LASTING_US)
    assert judgement.estimate_ns == pytest.approx(
        sum(launch.weight * 1000 * LASTING_US[launch.id] for launch in plan.drawn)
    )
    assert judgement.redraws is not None
    assert judgement.why_not_redrawn is None
    # On its own recording nothing needs to be matched.
    assert judged(plan, recorded(tmp_path, "there", THERE)).by_operator is None


def test_what_cannot_be_matched_says_why(tmp_path: Path) -> None:
    recording = recorded(tmp_path, "here", HERE)
    with pytest.raises(OptionError, match="by launch") as raised:
        judged(planned(tmp_path, GroupBy.LAUNCH), recording)
    assert raised.value.remedy == "make the plan with `group_by=operator`"
    plan = planned(tmp_path)
    with pytest.raises(AnalysisError, match="no operator has as many calls"):
        judged(plan, recorded(tmp_path, "other", [("aten::topk", "topk", 5)]))
    (tmp_path / "there.json").unlink()
    with pytest.raises(AnalysisError, match="its recording tells, and it is not there"):
        judged(plan, recording)
