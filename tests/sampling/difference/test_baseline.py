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
@given(
    before=LAUNCHES, after=LAUNCHES, by=st.sampled_from([GroupBy.LAUNCH, GroupBy.NAME]), pools=st.booleans()
)
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
    with pytest.raises(OptionError, match="saved with `group_by=name`"):
        difference_between(kept, here)


#: What is wrong, by the way to the value that is not as it was, and what stands there.
CHANGES: dict[str, tuple[tuple[Any, ...], Any]] = {
    "another kind": (("kind",), "plan"),
    "one more key": (("user",), "me"),
    "a group less": (("recordings", 0, "groups"), []),
    "a piece less": (("recordings", 0, "piece_ns", 0), [1] * 19),
    "a text for a number": (("recordings", 0, "launches", 0), "many"),
    "no number": (("recordings", 0, "launches", 0), None),
    "below 0": (("recordings", 0, "whole", "kernel_ns", 0), -1.0),
    "no launches": (("recordings", 0, "launches", 0), 0),
    "no such iterations": (("recordings", 0, "facts"), {"source": "found", "name": "", "iterations": 3}),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_file_that_is_none_is_refused(launch_table: LaunchTables, tmp_path: Path, change: str) -> None:
    kept = make_baseline(ProfilePart(launch_table(["a", "b"], [1, 2])), Grouping())
    path, document = tmp_path / "baseline.json", json.loads(baseline_text(kept))
    (*way, last), value = CHANGES[change]
    part_of = document
    for key in way:
        part_of = part_of[key]
    part_of[last] = value
    path.write_text(json.dumps(document))
    with pytest.raises(ProfileError, match="baseline") as raised:
        read_baseline(str(path))
    assert raised.value.path == str(path)
    path.write_text(baseline_text(kept)[:-20])
    with pytest.raises(ProfileError, match="no baseline"):
        read_baseline(str(path))


def test_nothing_of_the_machine_is_in_it(tmp_path: Path) -> None:
    path = kineto_of_operators(tmp_path / "of-somebody.json", [("aten::mm", "gemm", 10)] * 4)
    text = baseline_text(make_baseline(ProfilePart(read_profile([str(path)])), Grouping()))
    assert "somebody" not in text
    assert str(tmp_path) not in text
