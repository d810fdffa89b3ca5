"""`report`: one file that loads nothing, its charts as files, and the figures of the other commands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from sampling.text import counted
from tests.cli.conftest import JSON, Kernelpoint, counters_of, cycles_of, drawn_of, results
from tests.rendered_html import Page
from tests.rendered_markdown import rendered_tables
from tui.charts import quantities
from tui.report import page as pages_of_report
from tui.terminal.printable import printable

HOSTILE = '</td><script src="https://x.example/a.js">alert(1)</script>&`|*\x1b[31m\ufffe <T>'
NAMES = (HOSTILE, "void gemm<float, 4>(float const*, float*)", "tiny")
CHARTS = ["durations-1.svg", "durations-2.svg", "durations-3.svg", "over-the-run.svg", "trade-off.svg"]
# The default method takes seconds at one epsilon after another.
QUICK = ("--method", "root", "--seed", "3", "--confidence", "0.9")
# What fetches or runs something, and what converters of pictures do not know.
BARRED = ("script", "href", "url(", "var(", "@import", "@media", "foreignObject", "\x1b")


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three kernels, one of them with two lengths of launches, under names that want to do harm."""
    path = tmp_path_factory.mktemp("reported") / "launches.csv"
    rows = []
    for number in range(240):
        name = NAMES[number % 3].replace('"', '""')
        duration_ns = (50_000 + 97 * number, 8_000 + 40_000 * (number % 2) + number, 900 + number % 7)
        rows.append(f'"{name}",{duration_ns[number % 3]}\n')
    path.write_text("name,duration_ns\n" + "".join(rows))
    return path


@pytest.fixture(scope="module")
def text(kernelpoint: Kernelpoint, profile: Path) -> str:
    """Its report."""
    path = profile.with_name("report.html")
    found = results(kernelpoint, "report", profile, *QUICK, "-o", path, "--slowdown", "2000", "--compare")
    text = path.read_text()
    sections = Page(text).text["h2"]
    assert found == {"path": str(path), "bytes": len(text.encode()), "sections": sections, "charts": []}
    return text


def test_the_page_has_every_section_and_loads_and_runs_nothing(text: str) -> None:
    page = Page(text)
    assert page.text["h2"] == [
        *("In short", "Profile", "Findings", "Kernel groups", "Durations", "Over the run", "Plan"),
        *("Trade-off", "Methods compared", "Names in full", "To make this again"),
    ]
    page.assert_harmless()
    # Each chart says what it is and what it shows.
    assert text.count('<svg class="chart"') == text.count("<desc ") == 6
    assert any(printable(HOSTILE) in shown for shown in page.text["td"]), "a name is shown as it is"
    commands = page.text["code"][-1].splitlines()
    assert [line.split()[1] for line in commands] == ["sample", "tree", "compare"]


def test_figures_are_those_of_the_other_commands(kernelpoint: Kernelpoint, profile: Path, text: str) -> None:
    plan = results(kernelpoint, "sample", profile, *QUICK, "--slowdown", "2000")
    page = Page(text).text
    cells = page["td"]
    share, ratio, duration = quantities.share, quantities.ratio, quantities.duration
    judged = plan["judged"]
    for figures in (
        f"Simulate {plan['samples']} of 240 launches: {ratio(plan['expected_speedup'])} less",
        f"{share(plan['bound'])} of the total",
        f"estimates {duration(plan['estimate_ns'])}, {share(plan['error'])} off",
        f"mean error {share(judged['error_mean'])}, 95th percentile {share(judged['error_p95'])}",
        f"{quantities.hours(plan['machine_hours'])} of one machine",
        f"within {share(plan['promised_error'])} (90 % sure)",
    ):
        assert any(figures in said for said in page["p"]), figures
    for row in results(kernelpoint, "groups", profile, *QUICK):
        place = cells.index(duration(row["total_duration_ns"]))
        assert cells[place - 1] == share(row["share"])
        assert quantities.count(row["launches"]) in cells[place:]
    points = results(kernelpoint, "trade-off", profile, *QUICK)
    assert text.count('<circle class="fill0" r="3.5"') == len(points) - 1
    for point in points:
        assert {ratio(point["speedup"]), quantities.count(point["samples"])} <= set(cells)


def test_markdown_has_whole_tables_and_charts_as_text(
    kernelpoint: Kernelpoint, profile: Path, tmp_path: Path
) -> None:
    path = tmp_path / "report.md"
    assert kernelpoint("report", profile, *QUICK, "-o", path).code == 0
    blocks = path.read_text().split("```")
    outside, inside = "".join(blocks[::2]), "".join(blocks[1::2])
    assert any("#" in line and "|" in line for line in inside.splitlines())
    assert inside.isascii()
    groups = rendered_tables(path.read_text())[2]
    assert len({len(row) for row in groups}) == 1
    assert [row[-1] for row in groups][2:] == ["gemm", "tiny"]
    # What is shown as code stands there as it is.
    for name in NAMES:
        assert printable(name).replace("`", " ").replace("|", "\\|") in outside.replace("`", " ")


@pytest.fixture(scope="module")
def charts(kernelpoint: Kernelpoint, profile: Path) -> Path:
    folder = profile.with_name("paper") / "charts of it"
    found = results(kernelpoint, "report", profile, *QUICK, "--svg", folder)
    assert found["charts"] == [str(folder / name) for name in CHARTS]
    assert (found["path"], found["bytes"]) == (None, 0)
    assert sorted(path.name for path in folder.iterdir()) == CHARTS
    return folder


@pytest.mark.parametrize("name", CHARTS)
def test_a_picture_stands_alone(charts: Path, name: str) -> None:
    text = (charts / name).read_text()
    picture = ET.fromstring(text)
    width, height = (float(picture.attrib[each]) for each in ("width", "height"))
    assert picture.attrib["viewBox"] == f"0 0 {width:g} {height:g}"
    drawn = text.split("<style>")[1]
    harmless = drawn.replace("&lt;script", "").replace("&lt;/script", "").replace("x.example/a.js", "")
    assert [word for word in BARRED if word in harmless] == []
    # All that is written stands within the picture: letters are at most as wide as they are high.
    svg = "{http://www.w3.org/2000/svg}"
    for group in picture.iter(f"{svg}g"):
        x, y = map(float, group.attrib["transform"].removeprefix("translate(").removesuffix(")").split())
        words = group.find(f"{svg}text")
        assert words is not None
        assert 0 <= x <= x + 6.8 * len(words.text or "") <= width
        assert y + 12 <= height
    said = {"over-the-run.svg": "drawn by the plan", "trade-off.svg": "epsilon 0.05"}.get(name, "")
    assert said in "".join(picture.itertext())


def test_the_same_profile_gives_the_same_bytes(
    kernelpoint: Kernelpoint, profile: Path, charts: Path, tmp_path: Path
) -> None:
    again = tmp_path / "again"
    for suffix in ("html", "md"):
        pages = [tmp_path / f"{name}.{suffix}" for name in ("first", "second")]
        for page in pages:
            run = kernelpoint("report", profile, *QUICK, "--svg", again, "-o", page)
            assert run.out.startswith(f"{page}: 10 sections, ")
        assert pages[0].read_bytes() == pages[1].read_bytes()
    for name in CHARTS:
        assert (again / name).read_bytes() == (charts / name).read_bytes()
        # Markdown shows the files by their place, and what is in a file is not there as text again.
        assert f"](again/{name})" in pages[0].read_text()
    assert "launch of the group" not in pages[0].read_text()


def test_all_files_are_written_or_none(
    kernelpoint: Kernelpoint, profile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(figure: Any) -> str:
        if figure.name == "trade-off":
            raise OSError(28, "No space left on device")
        return "<svg/>"

    monkeypatch.setattr(pages_of_report, "picture_text", fails)
    words = ("report", profile, *QUICK, "-o", tmp_path / "report.html", "--svg", tmp_path / "charts")
    assert "No space left on device" in kernelpoint(*words).failed(1)
    assert list(tmp_path.iterdir()) == []


def section(path: Path, title: str) -> str:
    """A section of a Markdown report, without the marks that keep its words from meaning things."""
    text = path.read_text().split(f"## {title}\n")[1].split("\n## ")[0]
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", text)


def test_results_are_totalled_as_estimate_does(kernelpoint: Kernelpoint, profile: Path, here: Path) -> None:
    plan, page, larger = here / "plan.json", here / "report.md", here / "larger.json"
    assert kernelpoint("sample", profile, *QUICK, "-o", plan).code == 0
    table = cycles_of(plan, here / "cycles.csv", spread=10)
    words = ("report", profile, *QUICK, "--judge", "0", "--results", table, "-o", page)
    assert kernelpoint(*words).code == 0
    known = results(kernelpoint, "estimate", plan, table, "--groups")
    shown, total = section(page, "Simulated"), known["metrics"][0]
    assert f"{total['total']:,.0f}, within " in shown
    assert f"({total['low']:,.0f} to {total['high']:,.0f}; 90 % sure)" in shown
    for group in known["groups"]:
        shares = [quantities.share(group[f"{name}_share"]) for name in ("simulated", "profiled")]
        assert f"| {shares[0]} | {shares[1]} | {group['per_ns']:.4g} |" in shown
    # A clock sets it beside the GPU, in short and with each kernel.
    assert kernelpoint(*words, "--clock", "2.5GHz").code == 0
    assert "the simulated GPU takes " in section(page, "Simulated")
    assert "| against GPU | longer |" in section(page, "Simulated")
    assert "The simulated GPU takes " in page.read_text()
    # A target says what to run next, and exits like `estimate`.
    run = kernelpoint(*words, "--target", "0.001")
    assert (run.code, run.err.count("\n")) == (4, 1)
    assert "not within the 0.1 % asked for" in run.err
    known = kernelpoint("estimate", plan, table, "--target", "0.001", "--top-up", larger, *JSON).results
    shown = section(page, "Simulated")
    assert f"next: {counted(len(known['next']), 'launch', 'launches')}, " in shown
    assert f"| {known['next'][0]['id']} |" in shown
    # Results of a larger plan need that plan, which no options make.
    assert kernelpoint(*words, "--plan", larger).code in {0, 4}
    shown = section(page, "Simulated")
    assert f"from {len(drawn_of(plan))} of " in shown
    assert f"The plan is that of `{larger}`." in shown


def test_counters_have_their_roofline_in_the_report(
    kernelpoint: Kernelpoint, profile: Path, here: Path
) -> None:
    plan, page, charts = here / "counted.json", here / "counted.html", here / "charts"
    words = ("sample", profile, *QUICK, "--judge", "0", "-o", plan)
    assert kernelpoint(*words).code == 0
    counters = counters_of(plan, here / "counters.csv")
    kernelpoint("report", profile, *QUICK, "--judge", "0", "--results", counters, "-o", page, "--svg", charts)
    assert "Performance over arithmetic intensity" in page.read_text()
    assert "FLOP/byte" in (charts / "roofline.svg").read_text()
    assert kernelpoint("roofline", plan, counters).code == 0
