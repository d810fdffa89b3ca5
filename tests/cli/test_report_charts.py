"""`report --svg`: each chart as a file of its own, that a paper can take as it is."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from tui.report import page

Kernelpoint = Callable[..., Any]

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "</text><script>alert(1)</script>&`|*\x1b[31m\ufffe <T>"
CHARTS = ["durations-1.svg", "durations-2.svg", "over-the-run.svg", "trade-off.svg"]
# The default method takes seconds at one epsilon after another.
QUICK = ("--method", "root", "--judge", "0")
# Attributes and elements that load or run something, and what converters to PDF do not know.
BARRED = ("script", "href", "url(", "var(", "@import", "@media", "foreignObject", "\x1b")


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("charted") / "launches.csv"
    quoted = HOSTILE.replace('"', '""')
    rows = [f'"{quoted}",{50_000 + 970 * (number % 7)}\ntiny,{900 + number % 5}\n' for number in range(120)]
    path.write_text("name,duration_ns\n" + "".join(rows))
    return path


@pytest.fixture(scope="module")
def charts(kernelpoint: Kernelpoint, profile: Path) -> Path:
    folder = profile.with_name("paper") / "charts of it"
    run = kernelpoint("report", profile, *QUICK, "--svg", folder, "--format", "json")
    assert run.code == 0, run.err
    assert run.results["charts"] == [str(folder / name) for name in CHARTS]
    assert (run.results["path"], run.results["bytes"]) == (None, 0)
    return folder


def test_names_are_the_same_for_any_profile(charts: Path) -> None:
    assert sorted(path.name for path in charts.iterdir()) == CHARTS


@pytest.mark.parametrize("name", CHARTS)
def test_a_picture_stands_alone(charts: Path, name: str) -> None:
    text = (charts / name).read_text()
    picture = ET.fromstring(text)
    assert picture.tag == f"{SVG}svg"
    width, height = (float(picture.attrib[each]) for each in ("width", "height"))
    assert picture.attrib["viewBox"] == f"0 0 {width:g} {height:g}"
    drawn = text.split("<style>")[1]
    assert [word for word in BARRED if word in drawn.replace("&lt;script&gt;", "")] == []
    # All that is written stands within the picture: letters are at most as wide as they are high.
    for group in picture.iter(f"{SVG}g"):
        x, y = map(float, group.attrib["transform"].removeprefix("translate(").removesuffix(")").split())
        words = group.find(f"{SVG}text")
        assert words is not None
        assert 0 <= x <= x + 6.8 * len(words.text or "") <= width
        assert y + 12 <= height


def test_the_legend_is_in_the_picture(charts: Path) -> None:
    said = "".join(ET.parse(charts / "over-the-run.svg").getroot().itertext())
    assert "drawn by the plan" in said
    assert "epsilon 0.05" in "".join(ET.parse(charts / "trade-off.svg").getroot().itertext())


def test_markdown_shows_the_files_by_their_place(
    kernelpoint: Kernelpoint, profile: Path, charts: Path
) -> None:
    path = profile.with_name("report.md")
    run = kernelpoint("report", profile, *QUICK, "-o", path, "--svg", charts)
    assert run.code == 0, run.err
    text = path.read_text()
    for name in CHARTS:
        assert f"](paper/charts%20of%20it/{name})" in text
    # What is in a file is not there as text again.
    assert "launch of the group" not in text


def test_the_same_profile_gives_the_same_pictures(
    kernelpoint: Kernelpoint, profile: Path, charts: Path, tmp_path: Path
) -> None:
    assert kernelpoint("report", profile, *QUICK, "--svg", tmp_path).code == 0
    for name in CHARTS:
        assert (tmp_path / name).read_bytes() == (charts / name).read_bytes()


def test_all_files_are_written_or_none(
    kernelpoint: Kernelpoint, profile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report, folder = tmp_path / "report.html", tmp_path / "charts"

    def fails(figure: Any) -> str:
        if figure.name == "trade-off":
            raise OSError(28, "No space left on device")
        return "<svg/>"

    monkeypatch.setattr(page, "picture_text", fails)
    run = kernelpoint("report", profile, *QUICK, "-o", report, "--svg", folder)
    assert "No space left on device" in run.failed(1)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("folder", "code", "said"),
    [
        ("taken", 2, "taken is a file, a folder is meant"),
        ("taken/below", 2, "taken is a file, a folder is meant"),
        ("closed/charts", 1, "nothing can be written there"),
    ],
)
def test_a_folder_that_cannot_be_is_refused_before_anything_is_read(
    kernelpoint: Kernelpoint, tmp_path: Path, folder: str, code: int, said: str
) -> None:
    if folder.startswith("closed") and os.geteuid() == 0:
        pytest.skip("the superuser writes anywhere")
    (tmp_path / "taken").write_text("")
    (tmp_path / "closed").mkdir(mode=0o500)
    run = kernelpoint("report", tmp_path / "missing.csv", "--svg", tmp_path / folder)
    assert said in run.failed(code)


def test_what_the_command_reads_is_not_written_over(kernelpoint: Kernelpoint, tmp_path: Path) -> None:
    profile = tmp_path / "trade-off.svg"
    profile.write_text("name,duration_ns\n" + "a,5\na,6\nb,9\n" * 5)
    before = profile.read_bytes()
    assert "what the command reads" in kernelpoint("report", profile, *QUICK, "--svg", tmp_path).failed(2)
    assert profile.read_bytes() == before
