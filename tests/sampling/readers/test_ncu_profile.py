"""Pages of Nsight Compute as profiles: times and cycles of launches, in the order of their IDs."""

from __future__ import annotations

from pathlib import Path

import pytest

import sampling
from sampling.errors import ProfileError
from sampling.profile.profile import Profile

IDENTITY = '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream"'
RAW = f'{IDENTITY},"Block Size","Grid Size","Device","CC"'
DETAILS = f'{RAW},"Section Name","Metric Name","Metric Unit","Metric Value"'
TIME, CYCLES = "gpu__time_duration.sum", "sm__cycles_elapsed.max"
INSTRUCTIONS = "smsp__inst_executed.sum"


def row(number: int, name: str, *values: object, process: int = 7, grid: str = "(4, 1, 1)") -> str:
    cells = (number, process, "app", "host", name, 1, 7, "(128, 1, 1)", grid, 0, "9.0", *values)
    return ",".join(f'"{cell}"' for cell in cells)


def raw(metrics: dict[str, str], *rows: str) -> str:
    """A raw page of metrics with their units; the program's own line stands between its rows."""
    names = "".join(f',"{name}"' for name in metrics)
    units = '"",' * 11 + ",".join(f'"{unit}"' for unit in metrics.values())
    return "\n".join(
        ["==PROF== Connected to process 7", RAW + names, units, rows[0], "epoch 1", *rows[1:], ""]
    )


def written(folder: Path, text: str, name: str = "page.csv") -> str:
    (folder / name).write_text(text)
    return str(folder / name)


def durations(profile: Profile) -> list[int]:
    return profile.load(("duration_ns",))["duration_ns"].tolist()


def names(profile: Profile) -> list[str]:
    codes = profile.load(("name",))["name"].tolist()
    return [profile.kernels.names.full(code) for code in codes]


PAGE = raw(
    {TIME: "us", CYCLES: "cycle", INSTRUCTIONS: "inst"},
    row(2, "gemm<float>(float *)", "3.5", "7,000", "640", grid="(16, 2, 1)"),
    row(0, "copy", "1.25", "2,500", "100"),
    row(1, "copy", "1.5", "3,000", "110"),
)


def test_times_are_durations_in_the_order_of_the_ids_and_metrics_are_features(tmp_path: Path) -> None:
    profile = sampling.read_profile(written(tmp_path, PAGE))
    assert (profile.format, names(profile)) == ("ncu-raw", ["copy", "copy", "gemm<float>(float *)"])
    assert durations(profile) == [1250, 1500, 3500]
    signature = profile.kernels.signature(int(profile.load(("signature",))["signature"][2]))
    assert (signature.grid, signature.block) == ((16, 2, 1), (128, 1, 1))
    assert profile.metric_names == (TIME, CYCLES, INSTRUCTIONS)
    assert profile.parts[0].metrics((INSTRUCTIONS,))[INSTRUCTIONS].tolist() == [100, 110, 640]
    assert profile.duration_unit == "ns"
    assert not profile.is_amd
    (note,) = profile.notes
    assert "by default with empty caches at the base clock" in note


def test_cycles_are_durations_where_they_are_chosen(tmp_path: Path) -> None:
    profile = sampling.read_profile(written(tmp_path, PAGE), profile_cycles=True)
    assert durations(profile) == [2500, 3000, 7000]
    assert profile.duration_unit == "cycles"
    assert f"a cycle ({CYCLES}) counts as a nanosecond" in profile.notes[0]
    made = sampling.make_plan(profile)
    sampling.write_plan(made, tmp_path / "plan.json")
    plan = sampling.read_plan(str(tmp_path / "plan.json"))
    assert plan.options.profile_cycles
    assert plan.profile.in_cycles
    assert durations(plan.read_profile([str(tmp_path / "page.csv")])) == [2500, 3000, 7000]


@pytest.mark.parametrize(
    "metric",
    ["sm__cycles_elapsed.max", "gpc__cycles_elapsed.avg", "sm__cycles_elapsed.avg", "Elapsed Cycles"],
)
def test_cycles_are_durations_where_there_is_no_time(tmp_path: Path, metric: str) -> None:
    """Accel-Sim's run_hw.py measures averages of cycles, and no time."""
    page = raw({metric: "cycle"}, row(0, "a", "99.6"), row(1, "b", "200"))
    profile = sampling.read_profile(written(tmp_path, page))
    assert durations(profile) == [100, 200]
    assert f"no durations: a cycle ({metric}) counts as a nanosecond" in profile.notes[0]


def test_a_details_page_in_its_own_units(tmp_path: Path) -> None:
    sections = [
        ("Duration", "msecond", "2"),
        ("Elapsed Cycles", "cycle", "2,400"),
        ("Memory Busy", "%", "50"),
    ]
    rows = [row(number, "k", "Speed Of Light", *cells) for number in (0, 1) for cells in sections]
    rows.insert(3, row(0, "k", "SpeedOfLight", "", "", ""))
    profile = sampling.read_profile(written(tmp_path, "\n".join([DETAILS, *rows, ""])))
    assert durations(profile) == [2_000_000, 2_000_000]
    assert set(profile.metric_names) == {"Duration", "Elapsed Cycles", "Memory Busy"}
    assert durations(sampling.read_profile(written(tmp_path, PAGE), profile_cycles=True))[0] == 2500


def test_processes_are_apart_and_a_launch_without_a_duration_is_left_out(tmp_path: Path) -> None:
    page = raw(
        {TIME: "ns", "m": ""},
        row(0, "a", "10", "1", process=9),
        row(0, "b", "n/a", "2", process=8),
        row(1, "c", "30", "3", process=8),
    )
    profile = sampling.read_profile(written(tmp_path, page))
    assert [(part.process, part.launches) for part in profile.sequences] == [(8, 1), (9, 1)]
    assert (names(profile), durations(profile)) == (["c", "a"], [30, 10])
    assert profile.facts.rows_left_out == 1
    assert "row 6" in str(profile.facts.first_left_out)
    assert TIME in str(profile.facts.first_left_out)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            raw({INSTRUCTIONS: "inst"}, row(0, "k", "5")),
            f"without {TIME} or {CYCLES}: features, not a profile",
        ),
        # Without a unit it is not known how long that is.
        (raw({TIME: ""}, row(0, "k", "5")), f"without {TIME} or {CYCLES}"),
        (
            raw({TIME: "ns"}, row(0, "k", "n/a")),
            f"without {TIME} or {CYCLES}",
        ),
        (
            raw({TIME: "ns"}, row(0, "k", "-5")),
            "row 4, column gpu__time_duration.sum: a launch has no duration",
        ),
        (
            raw({TIME: "us"}, row(0, "k", "31,5")),
            r"row 4, column .*'31,5' is not a number.*number_locale=de_DE",
        ),
        (PAGE.replace('"Kernel Name"', '"Kernel"'), "without a column Kernel Name"),
    ],
)
def test_wrong_pages_are_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ProfileError, match=message):
        sampling.read_profile(written(tmp_path, text))


def test_a_page_in_german_is_read_as_the_user_says(tmp_path: Path) -> None:
    from sampling.plan.request import PlanRequest
    from sampling.readers.registry import read_profile

    path = written(tmp_path, raw({TIME: "us"}, row(0, "k", "1.031,5")))
    options = PlanRequest(number_locale="de_DE").read_options
    assert durations(read_profile([path], options=options)) == [1_031_500]


def test_beside_a_profile_a_page_is_there_for_its_metrics(tmp_path: Path) -> None:
    written(tmp_path, PAGE)
    assert sampling.read_profile(tmp_path).format == "ncu-raw"
    written(tmp_path, "name,duration_ns\nk,5\n", "run.csv")
    profile = sampling.read_profile(tmp_path)
    assert (profile.format, durations(profile)) == ("csv", [5])
    assert "left out: page.csv" in profile.notes[0]
