"""The engine's changes of its parameters: as typed, and as options."""

from __future__ import annotations

import shlex

import pytest

from sampling.plan.findings import Change
from sampling.reduction import GroupBy
from tui.options.command_line import change_text, changed, command_line
from tui.options.plan import SampleOptions

OPTIONS = SampleOptions(profiles=("run.sqlite",), device=("0", "1"), exclude=("sort",))


@pytest.mark.parametrize(
    ("change", "typed", "after"),
    [
        (Change("devices", "0"), "--device 0", {"device": ("0",)}),
        (Change("processes", "5,7"), "--process 5,7", {"process": ("5,7",)}),
        (Change("launches", "62:"), "--launches 62:", {"launches": "62:"}),
        (
            Change("exclude", "communication"),
            "--exclude communication",
            {"exclude": ("sort", "communication")},
        ),
        (Change("group_by", "name"), "--group-by name", {"group_by": GroupBy.NAME}),
        (Change("pool_devices"), "--pool-devices", {"pool_devices": True}),
        (Change("method", "stem"), "--method stem", {"method": "stem"}),
    ],
)
def test_a_change_is_what_is_typed(change: Change, typed: str, after: dict[str, object]) -> None:
    made = changed(OPTIONS, [change])
    assert change_text([change]) == typed
    assert {name: getattr(made, name) for name in after} == after
    words = command_line("sample", made)
    assert shlex.split(typed)[0] in shlex.split(words)


def test_several_changes() -> None:
    both = [Change("devices", "0"), Change("processes", "5")]
    assert change_text(both) == "--device 0 --process 5"
    made = changed(OPTIONS, both)
    assert (made.device, made.process, made.exclude) == (("0",), ("5",), ("sort",))
