"""View 7: two recordings kernel by kernel; what is typed, what is refused, what its command prints."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from textual.widgets import Input

from sampling.difference.baseline import baseline_text, make_baseline
from sampling.difference.comparison import Difference
from sampling.difference.recordings import ProfilePart
from sampling.errors import OptionError
from sampling.parallel import Progress
from sampling.plan.request import PlanRequest
from sampling.readers.registry import read_profile
from sampling.reduction.grouping import Grouping
from tests.app.driving import App, Running, opened, printed, screen_text, view_of, wait_for
from tests.drawing import in_ascii
from tests.small_recordings import kineto_of_steps as recording_of_steps
from tui.app import difference
from tui.app.difference import DifferenceScreen, difference_options, kernel_table
from tui.app.running import open_session
from tui.app.widgets import Table
from tui.engine.looking import found_difference
from tui.options.choices import DifferenceSort
from tui.options.look import DifferenceOptions, OpenOptions

HEAD = "name,duration_ns\n"


def recording(path: Path, durations_ns: dict[str, list[int]]) -> str:
    rows = "".join(f"{name},{ns}\n" for name, each in durations_ns.items() for ns in each)
    path.write_text(HEAD + rows, encoding="utf-8")
    return str(path)


@pytest.fixture
def before(tmp_path: Path) -> str:
    many = [1000 + n % 7 for n in range(40)]
    return recording(tmp_path / "before.csv", {"gemm": many, "norm": [500] * 3, "old": [70]})


@pytest.fixture
def after(tmp_path: Path) -> str:
    many = [1200 + n % 7 for n in range(40)]
    return recording(tmp_path / "after.csv", {"gemm": many, "norm": [500] * 3, "kernel\x1b[31m": [30]})


def found(before: str, after: str) -> Difference:
    return found_difference(DifferenceOptions(before=before, after=after), lambda *_: None)


def rows_of(before: str, after: str, width: int) -> list[str]:
    """The heading and the rows of the table without their marks."""
    listing = in_ascii(True, kernel_table, found(before, after), DifferenceSort.CHANGE)
    return in_ascii(True, listing.text, width - 2).split("\n")


async def compared(app: App, pilot: Running) -> DifferenceScreen:
    """Wait until the two are compared."""
    screen = view_of(app)
    assert isinstance(screen, DifferenceScreen)
    await wait_for(pilot, lambda: screen.command() != "" and screen.is_settled, "they are compared")
    await pilot.pause()
    return screen


@pytest.mark.parametrize(
    ("options", "typed", "said"),
    [
        (OpenOptions(), "a.csv", ("a.csv", "open.csv", None)),
        (OpenOptions(request=PlanRequest(launches="0:9")), "a.csv@5:", ("a.csv@5:", "open.csv@0:9", None)),
        (
            OpenOptions(request=PlanRequest(range="step 2", device=("1",))),
            "@step 1",
            ("open.csv@step 1", "open.csv@step 2", None),
        ),
        (OpenOptions(request=PlanRequest(range="step", launches="0:9")), "b", ("b", "open.csv@step", "0:9")),
    ],
)
def test_what_is_asked(
    options: OpenOptions, typed: str, said: tuple[str, str, str | None], tmp_path: Path
) -> None:
    (tmp_path / "open.csv").touch()
    asked = difference_options(open_session((str(tmp_path / "open.csv"),), options), typed)
    names = [name.removeprefix(f"{tmp_path}/") for name in (asked.before, asked.after)]
    assert (*names, asked.request.launches) == said
    assert (asked.request.device, asked.request.range) == (options.request.device, None)


@pytest.mark.parametrize(
    ("profiles", "typed", "said"),
    [
        (("a",), "", "the name of a file"),
        (("a",), "-@0:5", "the name of a file"),
        (("a", "b"), "c", "2 files are"),
    ],
)
def test_what_cannot_be_asked(profiles: tuple[str, ...], typed: str, said: str) -> None:
    with pytest.raises(OptionError, match=said):
        difference_options(open_session(profiles, OpenOptions()), typed)


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_the_table_keeps_the_ratio_in_every_width(before: str, after: str, width: int) -> None:
    heading, *rows = rows_of(before, after, width)
    names = [name.rstrip("v") for name in heading.split()]
    assert {"relative", "kernel"} <= set(names)
    assert "changev" in heading.split(), "what they are sorted by"
    assert ({"status", "share"} < set(names)) == (width >= 80)
    assert ("interval" in names) == (width == 200)
    assert ("launches" in names) == (width == 200)
    gemm, old, new, _ = rows
    assert "+19.9 %" in gemm
    assert ("gone" in old, "new" in new) == (True, True)
    assert "\x1b" not in new
    assert max(map(len, rows)) <= max(width, 60)


def test_shares_are_of_all_changes_without_their_signs(before: str, after: str) -> None:
    heading, *rows = rows_of(before, after, 200)
    place = heading.index(" share") + len(" share")
    shares = [row[:place].split()[-2:] for row in rows]
    # +8000 ns, -70 ns and +30 ns of 8100 ns.
    assert [" ".join(share) for share in shares] == ["+98.8 %", "-0.9 %", "+0.4 %", "0.0 %"]


async def test_its_command_prints_what_is_copied(before: str, after: str, tmp_path: Path) -> None:
    size, ascii_only = (60, 15), True
    options = OpenOptions(ascii=ascii_only, request=PlanRequest(launches="0:40", min_duration=20))
    async with opened(
        after, size, view="Difference", ascii_only=ascii_only, options=options, before=before
    ) as (app, pilot):
        screen = await compared(app, pilot)
        await pilot.press("y")
        text = app.clipboard
        await pilot.press("Y")
        assert "after.csv@0:40" in app.clipboard
        assert printed(app.clipboard, size[0], tmp_path) == text
        await pilot.press("j")
        assert screen.query_one(Table).cursor == 1
        assert "2. " in screen_text(app)
        assert "after: " in screen_text(app)
        await pilot.press("k", "x")
        assert "[x] log" in screen_text(app)


async def test_a_high_window_shows_why_the_total_changed(before: str, after: str) -> None:
    for height, is_shown in ((24, False), (40, True)):
        async with opened(after, (100, height), view="Difference", before=before) as (app, pilot):
            await compared(app, pilot)
            lines = screen_text(app).splitlines()
            at = [number for number, line in enumerate(lines) if "Why the kernel time changed" in line]
            assert bool(at) == is_shown
            if is_shown:
                rows = [line.split() for line in lines[at[0] + 1 : at[0] + 7]]
                assert [row[0] for row in rows] == ["before", "longer", "kernels", "new", "after", "─"]
            # A kernel of one side alone is one histogram.
            await pilot.press("j")
            assert "no launches" in screen_text(app)


async def test_what_an_iteration_takes_stands_first(tmp_path: Path) -> None:
    """In every window that has room; a baseline takes the place of the recording before."""
    sides = [
        recording_of_steps(tmp_path / name, lasts)
        for name, lasts in (("a.json", [60, 61, 62]), ("b.json", [80] * 4))
    ]
    baseline = tmp_path / "baseline.json"
    baseline.write_text(baseline_text(make_baseline(ProfilePart(read_profile([str(sides[0])])), Grouping())))
    for before, size in (
        (sides[0], (80, 24)),
        (baseline, (80, 24)),
        (sides[0], (150, 40)),
        (sides[0], (60, 15)),
    ):
        async with opened(str(sides[1]), size, view="Difference", before=str(before)) as (app, pilot):
            screen = await compared(app, pilot)
            lines = screen_text(app).splitlines()
            at = [
                number for number, line in enumerate(lines) if "Compared per iteration: 3 before, 4" in line
            ]
            assert bool(at) == (size[1] >= 20)
            if at:
                rows = [line.split()[0] for line in lines[at[0] + 1 : at[0] + 6]]
                assert rows == ["an", "kernel", "elapsed", "busy", "The" if size[1] < 36 else "idle"]
                assert "The GPU is idle 19.5 us less an iteration: the host's 19.5 us." in screen_text(app)
                assert at[0] < next(number for number, line in enumerate(lines) if "[7] Kernels" in line)
            assert ("before: no histogram, as a saved baseline keeps totals" in screen_text(app)) == (
                before == baseline
            )
            assert "--difference" not in screen.command()


async def test_a_wrong_file_is_said_and_can_be_corrected(before: str, after: str) -> None:
    async with opened(after) as (app, pilot):
        await pilot.press("o")
        await wait_for(pilot, lambda: isinstance(app.focused, Input), "it is asked for what is before")
        screen = view_of(app)
        assert isinstance(screen, DifferenceScreen)
        field = app.focused
        assert isinstance(field, Input)
        field.value = "none.csv"
        await pilot.press("enter")
        await wait_for(pilot, lambda: "none.csv: " in screen_text(app), "the file is not there")
        assert field.value == "none.csv", "it can be corrected"
        field.value = before
        await pilot.press("enter")
        await compared(app, pilot)
        assert app.session.before == before
        assert "+19.9 %" in screen_text(app)
        assert app.focused is screen.query_one(Table)


async def test_reading_is_cancelled(before: str, after: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = threading.Event()

    def never_ending(_: object, progress: Progress, __: object) -> None:
        try:
            while not ended.wait(0.01):
                progress(1, 4, "reading slowly")
        finally:
            ended.set()

    monkeypatch.setattr(difference, "found_difference", never_ending)
    async with opened(after, view="Difference") as (app, pilot):
        await pilot.press("o")
        field = app.focused
        assert isinstance(field, Input)
        field.value = before
        await pilot.press("enter")
        await wait_for(pilot, lambda: "reading slowly, 25 %; esc cancels" in screen_text(app), "it reads")
        await pilot.press("escape")
        await wait_for(pilot, ended.is_set, "the worker stops")
        await pilot.pause()
        assert "Nothing is compared yet" in screen_text(app)
        await pilot.press("Y")
        await wait_for(pilot, lambda: "nothing is compared yet" in screen_text(app), "why there is none")
