"""A baseline in place of a recording: the same difference, nothing of who ran it; files that are none."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sampling.difference.baseline import Baseline, baseline_text, make_baseline, read_baseline
from sampling.difference.basis import difference_between
from sampling.difference.recordings import ProfilePart
from sampling.errors import OptionError, ProfileError
from sampling.profile.profile import Profile
from sampling.readers.registry import read_profile
from sampling.reduction import GroupBy
from sampling.reduction.grouping import Grouping
from tests.sampling.difference.test_basis import part, stepped
from tests.small_recordings import kineto_of_operators

LaunchTables = Callable[..., Profile]


def saved(path: Path, there: ProfilePart, grouping: Grouping | None = None) -> Baseline:
    """A baseline, written and read."""
    path.write_text(baseline_text(make_baseline(there, grouping or Grouping())))
    return read_baseline(str(path))


LAUNCHES = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(1, 3), st.integers(0, 10**6), st.integers(0, 2)),
    min_size=1,
    max_size=60,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(before=LAUNCHES, after=LAUNCHES, by=st.sampled_from([GroupBy.LAUNCH, GroupBy.NAME]), pools=st.booleans())
def test_it_compares_as_the_recording_does(
    launch_table: LaunchTables, tmp_path: Path, before: Any, after: Any, by: GroupBy, pools: bool
) -> None:
    sides = []
    for launches in (before, after):
        names, grids, lasts, devices = zip(*launches, strict=True)
        starts = [100 * place for place in range(len(names))]
        sides.append(ProfilePart(launch_table(names, lasts, grid_x=grids, device=devices, start_ns=starts)))
    grouping = Grouping(by, pools)
    kept = saved(tmp_path / "baseline.json", sides[0], grouping)
    expected = difference_between(sides[0], sides[1], grouping).summary("A", "B")
    assert difference_between(kept, sides[1], grouping).summary("A", "B") == expected
    turned = difference_between(sides[1], sides[0], grouping).summary("A", "B")
    assert difference_between(sides[1], kept, grouping).summary("A", "B") == turned


def test_steps_and_operators_are_kept(tmp_path: Path) -> None:
    here = part(*stepped([[10, 20, 30], [11, 22, 31], [12, 21, 30]], ahead=2))
    there = part(*stepped([[10, 25, 30], [11, 27, 31], [12, 26, 30], [13, 28, 31]]))
    found = difference_between(saved(tmp_path / "steps.json", here), there)
    assert found.summary("A", "B") == difference_between(here, there).summary("A", "B")
    assert found.distinct(0)[0] is None
    operators = [[("aten::mm", "volta_gemm", 100)] * 3, [("aten::mm", "ampere_gemm", 90)] * 3]
    sides = [
        ProfilePart(read_profile([str(kineto_of_operators(tmp_path / f"{number}.json", launches))]))
        for number, launches in enumerate(operators)
    ]
    found = difference_between(saved(tmp_path / "operators.json", sides[0]), sides[1])
    assert [kernel.matched_by for kernel in found.kernels] == [GroupBy.OPERATOR]
    assert found.summary("A", "B") == difference_between(*sides).summary("A", "B")


def test_another_grouping_is_refused(launch_table: LaunchTables, tmp_path: Path) -> None:
    here = ProfilePart(launch_table(["a", "b"], [1, 2]))
    kept = saved(tmp_path / "baseline.json", here, Grouping(GroupBy.NAME))
    with pytest.raises(OptionError, match="saved with group_by=name|saved with `group_by=name`"):
        difference_between(kept, here)


def broken(document: dict[str, Any], change: str) -> str:
    """The text of a baseline in which something is wrong."""
    plain = document["plain"]
    match change:
        case "not JSON":
            return json.dumps(document)[:-20]
        case "another kind":
            document["kind"] = "plan"
        case "one more key":
            document["user"] = "me"
        case "a group less":
            plain["groups"].pop()
        case "a piece less":
            plain["piece_ns"][0].pop()
        case "a text for a number":
            plain["launches"][0] = "many"
        case "no number":
            plain["launches"][0] = None
        case "below 0":
            plain["whole"]["kernel_ns"][0] = -1.0
        case "no launches":
            plain["launches"][0] = 0
        case "iterations that are not there":
            plain["iterations"] = plain["whole"]
    return json.dumps(document)


CHANGES = (
    "not JSON",
    "another kind",
    "one more key",
    "a group less",
    "a piece less",
    "a text for a number",
    "no number",
    "below 0",
    "no launches",
    "iterations that are not there",
)


@pytest.mark.parametrize("change", CHANGES)
def test_a_file_that_is_none_is_refused(launch_table: LaunchTables, tmp_path: Path, change: str) -> None:
    kept = make_baseline(ProfilePart(launch_table(["a", "b"], [1, 2])), Grouping())
    path = tmp_path / "baseline.json"
    path.write_text(broken(json.loads(baseline_text(kept)), change))
    with pytest.raises(ProfileError, match="baseline") as raised:
        read_baseline(str(path))
    assert raised.value.path == str(path)


def test_nothing_of_the_machine_is_in_it(tmp_path: Path) -> None:
    path = kineto_of_operators(tmp_path / "of-somebody.json", [("aten::mm", "gemm", 10)] * 4)
    text = baseline_text(make_baseline(ProfilePart(read_profile([str(path)])), Grouping()))
    assert "somebody" not in text
    assert str(tmp_path) not in text
