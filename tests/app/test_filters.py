"""Pages over a view: filters typed, stepped, refused, taken back, copied with the command; and the ranks."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.errors import OptionError
from sampling.plan.request import PlanRequest
from sampling.readers.registry import read_profile
from tests import small_recordings
from tests.app.driving import App, Running, draft_in, opened, planned, printed, screen_text, view_of, wait_for
from tui.app.filters import FiltersScreen, list_filters
from tui.app.option_form import OptionField, OptionForm, OptionInput
from tui.app.ranks import RanksScreen
from tui.app.widgets import Table
from tui.options.command_line import error_text
from tui.options.look import OpenOptions
from tui.options.plan import SampleOptions

DURATIONS_NS = {"gemm": 1000, "softmax": 500, "ncclDevKernel_AllReduce": 2000}
EACH = 20


@pytest.fixture(scope="module")
def two_devices(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Device 0 runs each kernel twenty times, device 1 the first of them alone."""
    names = [name for name in DURATIONS_NS for _ in range(EACH)] + ["gemm"] * EACH
    columns = {
        "name": names,
        "duration_ns": pa.array([DURATIONS_NS[name] for name in names], pa.int64()),
        "device": pa.array([0] * EACH * len(DURATIONS_NS) + [1] * EACH, pa.int64()),
    }
    path = tmp_path_factory.mktemp("two") / "two.parquet"
    pq.write_table(pa.table(columns), path)
    return str(path)


@pytest.fixture(autouse=True)
def nothing_binds(monkeypatch: pytest.MonkeyPatch) -> None:
    """What binds takes a plan an option, and is not what is tested here."""
    monkeypatch.setattr(App, "find_binding", lambda _: None)


async def go_to(pilot: Running, app: App, filter_: str) -> None:
    """Open the filters and put the cursor on one."""
    if not isinstance(app.screen, FiltersScreen):
        await pilot.press("F")
        await wait_for(pilot, lambda: "Kept: " in screen_text(app), "the filters")
    form = app.screen.query_one(OptionForm)
    labels = [field.label for field in form.fields]
    steps = labels.index(filter_) - labels.index(form.field.label)
    from_end = len(labels) - 1 - labels.index(filter_)
    near = ["j"] * steps or ["k"] * -steps
    await pilot.press(*min(near, ["G", *["k"] * from_end], key=len))


async def typed(pilot: Running, app: App, filter_: str, text: str) -> None:
    """Type a value."""
    await go_to(pilot, app, filter_)
    await pilot.press("enter")
    await wait_for(pilot, lambda: isinstance(app.focused, OptionInput), "the field")
    app.screen.query_one(OptionInput).value = text
    await pilot.press("enter")
    await wait_for(pilot, lambda: not app.screen.query(OptionInput), "it is taken")
    await planned(pilot, app)


async def says(pilot: Running, app: App, text: str) -> None:
    await wait_for(pilot, lambda: text in screen_text(app), text)


async def test_a_filter_is_applied_said_and_copied_with_the_command(two_devices: str, tmp_path: Path) -> None:
    async with opened(two_devices, (60, 15), ascii_only=True) as (app, pilot):
        await go_to(pilot, app, "device")
        await says(pilot, app, "Here: 0, 1.")
        await pilot.press("minus")
        # 20 launches of 1,000 ns of the 90,000 ns in all.
        await says(pilot, app, "Kept: 20 of 80 launches, 22.2 % of the time")
        assert app.session.request.device == ("1",)
        await typed(pilot, app, "device", "0, 1")
        await says(pilot, app, "Kept: all of 80 launches")
        await go_to(pilot, app, "exclude")
        await pilot.press("plus")
        await says(pilot, app, "Kept: 60 of 80 launches, 55.6 % of the time")
        assert screen_text(app).isascii()
        await pilot.press("escape")
        await wait_for(pilot, lambda: not isinstance(app.screen, FiltersScreen), "the view")
        text, command = view_of(app).pane_text().text, view_of(app).command()
    assert "--device 0,1 --exclude communication" in command
    assert printed(command, 60, tmp_path) == text


async def test_what_is_refused_is_said_at_its_row_and_the_old_plan_stays(two_devices: str) -> None:
    async with opened(two_devices) as (app, pilot):
        draft = draft_in(app)
        for filter_, text, problem in (
            ("include", "conv", "--include 'conv' leaves no launch"),
            ("exclude", "(gemm", "'(gemm' is not a regular expression (missing ), unterminated"),
        ):
            await typed(pilot, app, filter_, text)
            await says(pilot, app, f"> {filter_}".ljust(19) + f"{text} ?\n  {problem}")
            assert draft_in(app) is draft
        await says(pilot, app, "Kept: all of 80 launches")
        await pilot.press("escape")
        await wait_for(pilot, lambda: "(gemm ?" not in screen_text(app), "the value is dropped")
        assert isinstance(app.screen, FiltersScreen)
        await pilot.press("escape")
        await wait_for(pilot, lambda: not isinstance(app.screen, FiltersScreen), "the view")
        assert app.session.options == app.opened.options


async def test_u_brings_back_what_the_command_line_gave(two_devices: str) -> None:
    given_ = OpenOptions(request=PlanRequest(exclude=("soft",), epsilon=0.1))
    async with opened(two_devices, options=given_) as (app, pilot):
        await go_to(pilot, app, "group-by")
        # The time of all launches is not known: the share is of what nobody has counted.
        await says(pilot, app, "Kept: 60 of 80 launches, 80.0 us of kernel time, in 2 kernel groups")
        await pilot.press("j", "plus")
        await wait_for(pilot, lambda: draft_in(app).request.pool_devices, "devices are pooled")
        await says(pilot, app, "in 2 kernel groups")
        await typed(pilot, app, "exclude", "")
        await says(pilot, app, "Kept: all of 80 launches, in 3 kernel groups")
        app.plan(app.session.options.with_request(epsilon=0.2))
        await planned(pilot, app)
        await pilot.press("u")
        await says(pilot, app, "Kept: 60 of 80 launches, 88.9 % of the time")
        assert app.session.options == app.opened.options.with_request(epsilon=0.2)
        await planned(pilot, app)
        await pilot.press("u")
        await says(pilot, app, "the filters are as they were given")


async def test_ranges_are_stepped_through(tmp_path: Path) -> None:
    small = str(small_recordings.nsys_sqlite(tmp_path, "2023.4"))
    async with opened(small) as (app, pilot):
        await go_to(pilot, app, "range")
        screen = app.screen
        assert isinstance(screen, FiltersScreen)
        await wait_for(pilot, lambda: len(screen.names) > 1, "the names")
        await pilot.press("plus")
        await wait_for(pilot, lambda: app.session.request.range == small_recordings.RANGE, "the range")
        await planned(pilot, app)
        await says(pilot, app, "Kept: ")


WRONG = (
    ("exclude", "'gemm", 'exclude: "\'gemm" has a quotation mark without a second one; write it as "\'"'),
    ("device", "x", "device x: numbers are meant, or A:B for A up to, not with, B"),
    ("launches", "9:2", "launches 9:2: ids as A:B, A: or :B are meant, counted from 0, A below B"),
    ("min_duration", "5us", "min-duration: '5us' is no whole number; give nanoseconds, as 5000"),
    ("min_duration", "0", "min-duration is 1 or more, not 0"),
    ("features", "none.csv", "features: 'none.csv' is no file that is there"),
)


def field_of(profile: str, name: str) -> OptionField:
    rows = list_filters(read_profile((profile,)), [None])
    return next(field for field, _ in rows if field.name == name)


@pytest.mark.parametrize(("name", "text", "problem"), WRONG)
def test_what_means_nothing_is_refused_before_anything_is_counted(
    name: str, text: str, problem: str, two_devices: str
) -> None:
    field = field_of(two_devices, name)
    with pytest.raises(OptionError) as refused:
        field.taken(SampleOptions(), text)
    assert error_text(refused.value) == problem


@given(patterns=st.lists(st.text(min_size=1).map(re.escape), max_size=4))
def test_regular_expressions_are_typed_as_they_are_shown(two_devices: str, patterns: list[str]) -> None:
    field, options = (
        field_of(two_devices, "exclude"),
        SampleOptions(request=PlanRequest(exclude=tuple(patterns))),
    )
    assert field.taken(SampleOptions(), field.text(options)) == options


def test_backslashes_are_the_expressions_own_and_quotes_hold_blanks_together(two_devices: str) -> None:
    taken = field_of(two_devices, "include").taken(SampleOptions(), r"\d+x\d+ 'void gemm|#'")
    assert taken.request.include == (r"\d+x\d+", "void gemm|#")


@pytest.mark.parametrize(
    ("name", "before", "by", "after"),
    [
        ("device", (), 1, ("0",)),
        ("device", ("0",), 1, ("1",)),
        ("device", ("1",), 1, ()),
        ("device", (), -1, ("1",)),
        ("process", (), 1, None),
        ("min_duration", None, 1, 1000),
        ("min_duration", 1000, 1, 2000),
        ("min_duration", 1500, -1, 1000),
        ("exclude", ("gemm",), 1, ("gemm", "communication")),
        ("exclude", ("gemm", "communication"), 1, None),
        ("exclude", ("gemm", "communication"), -1, ("gemm",)),
        ("range", None, 1, None),
    ],
)
def test_steps_go_round_or_end(two_devices: str, name: str, before: object, by: int, after: object) -> None:
    options = SampleOptions().with_request(**{name: before})
    stepped = field_of(two_devices, name).stepped(options, by)
    assert (None if stepped is None else getattr(stepped.request, name)) == after


@pytest.mark.parametrize("each_rank", [False, True])
async def test_the_header_counts_the_groups_that_are_listed(two_devices: str, *, each_rank: bool) -> None:
    options = OpenOptions(request=PlanRequest(each_rank=each_rank))
    async with opened(two_devices, (120, 40), options=options) as (app, pilot):
        await planned(pilot, app)
        listed = len(app.screen.query_one(Table).keys)
        assert listed == (4 if each_rank else 3)
        holding = 3 if each_rank else 2
        assert f", {listed} groups, {holding} hold 80 %" in screen_text(app)
        await go_to(pilot, app, "group-by")
        await says(pilot, app, f"in {listed} kernel groups")


async def test_ranks_are_those_of_the_filters(two_devices: str) -> None:
    given_ = OpenOptions(request=PlanRequest(device=("1",)))
    async with opened(two_devices, options=given_) as (app, pilot):
        await pilot.press("P")
        await says(pilot, app, "process 0 gpu1")
        assert "Selection: 20 of 80 launches" in screen_text(app)
        assert "There is one rank" in screen_text(app)
        await pilot.press("P")
        await wait_for(pilot, lambda: not isinstance(app.screen, RanksScreen), "the view")
