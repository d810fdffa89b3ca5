"""`report`: one file that loads nothing, with the figures that the other commands give."""

from __future__ import annotations

from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from sampling.methods.registry import method_names
from tests.rendered_markdown import rendered_tables
from tui.charts import quantities
from tui.report import page as pages
from tui.report.content import method_words
from tui.terminal.printable import printable

Kernelpoint = Callable[..., Any]

HOSTILE = '</td><script src="https://x.example/a.js">alert(1)</script>&`|*\x1b[31m <T>'
NAMES = (HOSTILE, "void gemm<float, 4>(float const*, float*)", "tiny")
# The default method takes seconds at one epsilon after another.
QUICK = ("--method", "root")
VOID = {"meta", "br", "rect", "path", "circle", "polyline"}
# What makes a browser fetch or run something.
ACTIVE_TAGS = {"script", "link", "img", "image", "iframe", "object", "embed", "use", "base", "form", "a"}
ACTIVE_ATTRIBUTES = {"src", "href", "xlink:href", "srcset", "action", "data", "style"}


class Page(HTMLParser):
    """A page's tags, attributes and the text of its headings and cells; fails where tags do not nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.ids: list[str] = []
        self.text: dict[str, list[str]] = {}
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.ids += [value or "" for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)
            self.text.setdefault(tag, []).append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        for tag in set(self.open):
            self.text[tag][-1] += data


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
def page(kernelpoint: Kernelpoint, profile: Path) -> str:
    """Its report."""
    path = profile.with_name("report.html")
    asked = ("--slowdown", "2000", "--compare", "--format", "json")
    run = kernelpoint("report", profile, *QUICK, "-o", path, *asked)
    assert run.code == 0, run.err
    text = path.read_text()
    sections = Page(text).text["h2"]
    assert run.results == {"path": str(path), "bytes": len(text.encode()), "sections": sections, "charts": []}
    return text


def test_the_page_has_every_section_and_its_tags_nest(page: str) -> None:
    seen = Page(page)
    assert seen.text["h2"] == [
        *(
            "In short",
            "Profile",
            "Findings",
            "Kernel groups",
            "Durations",
            "Over the run",
            "Plan",
            "Trade-off",
        ),
        *("Methods compared", "Names in full", "To make this again"),
    ]
    assert len(seen.ids) == len(set(seen.ids))
    # Each chart says what it is and what it shows.
    assert page.count('<svg class="chart"') == page.count("<desc ") == 6
    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page


def test_the_page_loads_and_runs_nothing(page: str) -> None:
    seen = Page(page)
    assert not seen.tags & ACTIVE_TAGS
    assert not seen.attributes & ACTIVE_ATTRIBUTES
    assert not any(name.startswith("on") for name in seen.attributes)
    style = seen.text["style"][0]
    assert "url(" not in style
    assert "@import" not in style
    assert "default-src 'none'" in page
    assert "\x1b" not in page


def test_a_name_is_shown_as_it_is(page: str) -> None:
    shown = HOSTILE.replace("\x1b", "\\x1b")
    assert any(shown in text for text in Page(page).text["td"])


def test_figures_are_those_of_sample(kernelpoint: Kernelpoint, profile: Path, page: str) -> None:
    plan = kernelpoint("sample", profile, *QUICK, "--slowdown", "2000", "--format", "json").results
    seen = Page(page).text
    share, ratio, judged = quantities.share, quantities.ratio, plan["judged"]
    for said in (
        f"Simulate {plan['samples']} of 240 launches: {ratio(plan['speedup'])} less",
        f"{share(plan['bound'])} of the total",
        f"estimates {quantities.duration(plan['estimate_ns'])}, {share(plan['error'])} off",
        f"mean error {share(judged['error_mean'])}, 95th percentile {share(judged['error_p95'])}",
        f"{quantities.hours(plan['machine_hours'])} of one machine",
        plan["promise"],
    ):
        assert any(said in text for text in seen["p"]), said


def test_groups_and_curve_are_those_of_their_commands(
    kernelpoint: Kernelpoint, profile: Path, page: str
) -> None:
    cells = Page(page).text["td"]
    for row in kernelpoint("groups", profile, *QUICK, "--format", "json").results:
        place = cells.index(quantities.duration(row["total_duration_ns"]))
        assert cells[place - 1] == quantities.share(row["share"])
        assert quantities.count(row["launches"]) in cells[place:]
    points = kernelpoint("trade-off", profile, *QUICK, "--format", "json").results
    assert page.count('<circle class="fill0" r="3.5"') == len(points) - 1
    for point in points:
        assert {quantities.ratio(point["speedup"]), quantities.count(point["samples"])} <= set(cells)


@pytest.mark.parametrize("suffix", ["html", "md"])
def test_the_same_profile_gives_the_same_bytes(
    kernelpoint: Kernelpoint, profile: Path, tmp_path: Path, suffix: str
) -> None:
    written = []
    for name in ("first", "second"):
        path = tmp_path / f"{name}.{suffix}"
        run = kernelpoint("report", profile, *QUICK, "-o", path)
        assert run.code == 0, run.err
        assert run.out.startswith(f"{path}: 10 sections, ")
        written.append(path.read_bytes())
    assert written[0] == written[1]


def test_markdown_has_whole_tables_and_charts_as_text(
    kernelpoint: Kernelpoint, profile: Path, tmp_path: Path
) -> None:
    path = tmp_path / "report.md"
    assert kernelpoint("report", profile, *QUICK, "-o", path).code == 0
    outside, inside, is_in = [], [], False
    for line in path.read_text().splitlines():
        if line.startswith("```"):
            is_in = not is_in
        else:
            (inside if is_in else outside).append(line)
    assert not is_in
    assert "duration" in "\n".join(outside)
    assert any("#" in line and "|" in line for line in inside)
    assert "\n".join(inside).isascii()
    groups = rendered_tables(path.read_text())[2]
    assert len({len(row) for row in groups}) == 1
    assert [row[-1] for row in groups][2:] == ["gemm", "tiny"]
    # What is shown as code stands there as it is.
    assert all(f" {printable(name)} <<<" in "\n".join(outside).replace("`", " ") for name in NAMES[1:])
    assert printable(HOSTILE).replace("`", " ").replace("|", "\\|") in "\n".join(outside).replace("`", " ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "report needs -o FILE.html or -o FILE.md"),
        (("-o", "{}/report.pdf"), "ends in .html or .md, not .pdf"),
        (("-o", "{}/report"), "this has no suffix"),
        (("-o", "-"), "this has no suffix"),
        (("-o", "{}/report.html", "--top", "0"), "--top is 1 or more"),
    ],
)
def test_another_name_is_refused_before_anything_is_read(
    kernelpoint: Kernelpoint, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    filled = [word.replace("{}", str(tmp_path)) for word in words]
    assert said in kernelpoint("report", tmp_path / "missing.csv", *filled).failed(2)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_left_half_written(
    kernelpoint: Kernelpoint, profile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "report.html"
    path.write_text("the last one")

    def fails(*_: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setitem(pages._WRITERS, ".html", fails)
    run = kernelpoint("report", profile, "--method", "random", "-o", path, "--force")
    assert "No space left on device" in run.failed(1)
    assert "no such folder" in kernelpoint("report", profile, "-o", tmp_path / "no" / "x.md").failed(1)
    assert [each.read_text() for each in tmp_path.iterdir()] == ["the last one"]


def test_every_method_is_told_in_words() -> None:
    for name in method_names():
        assert method_words(name).endswith(".")
