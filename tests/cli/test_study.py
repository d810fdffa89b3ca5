"""A study in a script: written from plans and configurations, compared, told where something is missing."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from sampling.estimation.configurations import expected_half_width
from sampling.plan.plan_file import read_plan
from tests.cli.conftest import JSON, Kernelpoint, drawn_of, results
from tests.rendered_html import Page

PROGRAMS = ("large", "small")
GAINS = {"base": 1.0, "gto": 1.03, "slow": 0.96, "alike": 1.0}
Study = Callable[..., Path]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def plans(
    kernelpoint: Kernelpoint, resnet: Path, resnet_csv: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    folder = tmp_path_factory.mktemp("plans")
    for name, profile in (("large", resnet), ("small", resnet_csv)):
        words = ("sample", profile, "--for", "speedups", "--judge", 0, "-o", folder / f"{name}.json")
        assert kernelpoint(*words).code == 0
    return folder


@pytest.fixture
def study(plans: Path, tmp_path: Path) -> Study:
    """Write a study of both programs on four configurations, and the results of its cells."""

    def write(
        *left_out: tuple[str, str], head: str = "", programs: tuple[str, ...] = ("large", "small")
    ) -> Path:
        lines = [head, *(f"[configurations.{name}]" for name in GAINS)]
        for program in PROGRAMS:
            lines += [f"[programs.{program}]", f"plan = '{plans / program}.json'"]
            lines += ["results = 'out/{configuration}/{program}.csv'"]
            for number, (name, gain) in enumerate(GAINS.items()):
                random = np.random.default_rng((number, len(program)))
                noise = 0.0 if name in ("base", "alike") else 0.004
                rows = [
                    f"{launch['id']},{3 * launch['duration_ns'] / gain * random.lognormal(0, noise)!r},warm"
                    for launch in drawn_of(plans / f"{program}.json")
                ]
                path = tmp_path / "out" / name / f"{program}.csv"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.unlink(missing_ok=True)
                if (program, name) not in left_out:
                    path.write_text("\n".join(["id,cycles,caches", *rows, ""]))
        place = tmp_path / "study.toml"
        place.write_text("\n".join([*lines, ""]))
        return place

    return write


def test_the_means_are_told_first_and_every_cell_below(kernelpoint: Kernelpoint, study: Study) -> None:
    path = study()
    run = kernelpoint("speedup", path)
    assert run.code == 0, run.err
    said = " ".join(run.out.split())
    first = said.partition(" program ")[0]
    assert first.startswith("slow is "), "the largest"
    assert "gto is " in first
    assert " % faster than base (" in first
    assert " % slower than base (" in first
    assert "alike and base are the same within 0.5 %, in the geometric mean. " in first
    assert first.endswith("launches, 2 programs, 95 % for all together.")
    rows = [line.split() for line in run.out.splitlines()]
    assert ["program", "slow", "gto", "alike"] in rows, "as they are told"
    found = results(kernelpoint, "speedup", path)
    for program in found["programs"]:
        (cells,) = [row for row in rows if row[:1] == [program["name"]] and row[2][0] in "±+"]
        (slow,) = (cell for cell in program["cells"] if cell["configuration"] == "slow")
        assert cells[1] == f"{slow['speedup']:.4f}"
    for kind, words in (
        ("geometric", "geometric mean"),
        ("harmonic", "harmonic mean"),
        ("total", "total work"),
    ):
        (line,) = [line for line in run.out.splitlines() if line.startswith(words) and "±" in line]
        assert f"{found['means'][kind]['gto']['ratio']:.4f}" in line
    assert kernelpoint("speedup", path, "--ascii").out.isascii()


def test_data_are_rows_a_cell_and_means_by_name(kernelpoint: Kernelpoint, study: Study) -> None:
    path = study()
    found = results(kernelpoint, "speedup", path)
    rows = kernelpoint("speedup", path, "--format", "csv").csv
    assert [(row["program"], row["configuration"]) for row in rows] == [
        (program, name) for program in ("large", "small") for name in GAINS
    ]
    for name, gain in (("gto", 1.03), ("slow", 0.96)):
        ratios = [float(row["speedup"]) for row in rows if row["configuration"] == name]
        mean = found["means"]["geometric"][name]
        assert mean["ratio"] == pytest.approx(math.sqrt(math.prod(ratios)))
        assert mean["low"] < gain < mean["high"]
    pairs = results(kernelpoint, "speedup", path, "--all-pairs")["programs"][0]["cells"]
    assert len(pairs) == 1 + 6
    groups = results(kernelpoint, "speedup", path, "--groups")["groups"]
    assert {row["program"] for row in groups} == {"large", "small"}
    assert "Kernels of small that gain and lose most:" in kernelpoint("speedup", path, "--groups").out


def test_the_figure_has_a_place_for_every_cell_and_the_mean(kernelpoint: Kernelpoint, study: Study) -> None:
    path = study(("small", "gto"))
    figure = path.with_name("figure.svg")
    assert kernelpoint("speedup", path, "--svg", figure).code == 4
    titles = [element.text or "" for element in ET.fromstring(figure.read_text()).iter(f"{SVG}title")]
    assert titles[0] == "Speedup over base"
    programs = [title.partition(":")[0] for title in titles[1:]]
    assert programs == [
        f"{name}, {one}" for name in (*PROGRAMS, "geomean") for one in ("gto", "slow", "alike")
    ]
    assert [title.partition(": ")[2] == "no speedup" for title in titles[1:]] == [
        *(False, False, False),
        *(True, False, False),
        *(True, False, False),
    ]


def test_a_report_is_a_page_of_the_study(
    kernelpoint: Kernelpoint, study: Study, plans: Path, resnet: Path
) -> None:
    path = study(head="[study]\ntarget = 0.2")
    page = path.with_name("page.html")
    found = results(kernelpoint, "report", path, "-o", page, "--svg", path.parent / "figures")
    assert found["charts"] == [str(path.parent / "figures" / "speedups.svg")]
    shown = Page(page.read_text())
    shown.assert_harmless()
    assert shown.text["h1"] == ["Which of gto, slow and alike is faster than base?"]
    answer = " ".join(kernelpoint("speedup", path).out.partition("\n\n")[0].split())
    assert answer == shown.text["p"][1].replace("All within", "all within").removesuffix(".")
    assert shown.text["code"][-1].splitlines() == [
        f"kernelpoint speedup {path}",
        f"kernelpoint report {path} --svg {path.parent / 'figures'} -o {page}",
    ]
    found = results(kernelpoint, "speedup", path)
    cells = {*shown.text["td"], *shown.text["th"]}
    for cell in (cell for program in found["programs"] for cell in program["cells"][1:]):
        assert {f"{cell['speedup']:.4f}", f"{cell['low']:.4f}-{cell['high']:.4f}"} <= cells
    # Its gate is that of `speedup`; a cell without results is in it.
    assert (
        "not within the 0.1 % asked for" in kernelpoint("report", path, "-o", page, "--target", "0.001").err
    )
    study(("small", "gto"))
    assert kernelpoint("report", path, "-o", page).code == 0
    assert "No results yet of 1 of 8 cells" in Page(page.read_text()).text["p"][1]
    for words, said in (
        (("--compare",), "--compare is of a profile, not of a study"),
        (("--epsilon", "0.1"), "--epsilon is of a profile, not of a study"),
        ((resnet,), "a report is of one study"),
        (("--svg", plans / "large.json" / "x"), "large.json"),
    ):
        assert said in kernelpoint("report", path, *words, "-o", page).failed(2)


def test_a_cell_without_results_is_named_and_leaves_with_4(kernelpoint: Kernelpoint, study: Study) -> None:
    path = study(("small", "gto"))
    run = kernelpoint("speedup", path)
    assert run.code == 4
    assert "incomplete: no results yet of 1 of 8 cells" in run.err
    said = " ".join(run.out.split())
    assert "which the means wait for: gto on small (out/gto/small.csv)" in said
    assert run.out.splitlines()[-1] == f"Next: kernelpoint run {path}"
    found = kernelpoint("speedup", path, *JSON).results
    assert set(found["means"]["geometric"]) == {"slow", "alike"}


def test_targets_and_gates_are_those_of_all_cells(kernelpoint: Kernelpoint, study: Study) -> None:
    path = study(head="[study]\ntarget = 0.001")
    run = kernelpoint("speedup", path)
    assert (run.code, "error: not within the 0.1 % asked for: " in run.err) == (4, True)
    run = kernelpoint("speedup", path, "--target", "0.2")
    assert run.code == 0
    assert "all within 20.0 % as asked for" in run.out
    run = kernelpoint("speedup", path, "--target", "0.2", "--fail-slower", "0.02")
    error = run.err
    assert run.code == 4
    assert "slower than base by more than 2.0 %: slow 3.9 % on large (3.4 to 4.4 %)" in error
    assert "% in the geometric mean" in error
    assert kernelpoint("speedup", path, "--target", "0.2", "--fail-slower", "0.2").code == 0


def test_what_a_study_says_itself_is_not_said_again(
    kernelpoint: Kernelpoint, study: Study, plans: Path
) -> None:
    path = study()
    assert "says itself where results are" in kernelpoint("speedup", path, "base=x.csv").failed(2)
    assert "kernelpoint run" in kernelpoint("speedup", path, "--top-up", path.parent / "more.json").failed(2)
    assert "give BASE=RESULTS" in kernelpoint("speedup", plans / "large.json").failed(2)
    path.write_text("[configurations.a]\n[configurations.b]\n[programs.p]\nplna = 'x'\n")
    error = kernelpoint("speedup", path).failed(3)
    assert f"{path}, row 4, key plna: " in error


def test_a_new_study_is_read_back_and_says_what_to_expect(
    kernelpoint: Kernelpoint, plans: Path, tmp_path: Path
) -> None:
    for name in ("base", "gto"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "gpgpusim.config").touch()
    configurations = [f"{name}={tmp_path / name / 'gpgpusim.config'}" for name in ("base", "gto")]
    place = tmp_path / "study.toml"
    words = ("study", "new", plans / "large.json", plans / "small.json", *configurations, "-o", place)
    found = results(kernelpoint, *words)
    half_widths = [expected_half_width(read_plan(str(plans / f"{name}.json"))) for name in ("large", "small")]
    assert [program["expected_interval"] for program in found["programs"]] == half_widths
    assert found["expected_geometric_interval"] == pytest.approx(math.hypot(*half_widths) / 2)  # type: ignore[arg-type]
    # What `sample` says of the same plan.
    text = place.read_text()
    assert 'config = "base/gpgpusim.config"  # for' in text
    assert "exists" in kernelpoint(*words).failed(2)
    said = " ".join(kernelpoint(*words, "--force").out.split())
    assert said.endswith(f"Next: kernelpoint run {place}")
    assert "on large and " in said
    assert "; the geometric mean within " in said
    assert "no results yet of 4 of 4 cells" in kernelpoint("speedup", place).err
    to_stdout = kernelpoint(*words[:-2], "-o", "-")
    assert "[programs.small]" in to_stdout.out
    assert "two are compared" in kernelpoint(*words[:-3], "-o", tmp_path / "x.toml").failed(2)
    assert "no plan is named" in kernelpoint(
        "study", "new", *configurations, "-o", tmp_path / "x.toml"
    ).failed(2)
    missing = kernelpoint("study", "new", plans / "large.json", "a=b", "c=d", "-o", tmp_path / "x.toml")
    assert "there is no file 'b'" in missing.failed(2)


def test_the_precision_to_expect_is_that_which_sample_says(
    kernelpoint: Kernelpoint, resnet: Path, plans: Path
) -> None:
    words = ("sample", resnet, "--for", "speedups", "--judge", 0)
    expected = results(kernelpoint, *words)["expected_speedup_interval"]
    assert expected_half_width(read_plan(str(plans / "large.json"))) == pytest.approx(expected, rel=1e-9)
    document = json.loads((plans / "large.json").read_text())
    assert document["options"]["min_samples"] == 2
