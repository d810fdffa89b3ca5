"""A study read from its file: every cell, what is missing, and means that agree with sums by hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from sampling.errors import AnalysisError, ProfileError
from sampling.estimation.configurations import compare_configurations, read_configurations
from sampling.estimation.speedup import Verdict
from sampling.plan.plan_file import read_plan
from sampling.study.comparison import compare_study
from sampling.study.study_file import read_study, study_text
from sampling.study.summary import summarise_study
from tests.study_files import CONFIGURATIONS, GAINS, write_plans, write_study

Made = Callable[..., Path]


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_plans(tmp_path_factory.mktemp("programs"))


@pytest.fixture
def made(plans: Path, tmp_path: Path) -> Made:
    return partial(write_study, plans, tmp_path)


def test_cells_are_those_of_their_plans_and_means_those_of_the_cells(made: Made) -> None:
    path = made()
    study = compare_study(read_study(str(path)))
    assert study.configurations == CONFIGURATIONS
    assert study.missing == []
    ratios: dict[str, list[float]] = {name: [] for name in GAINS}
    totals: dict[str, list[float]] = {name: [] for name in CONFIGURATIONS}
    for program in study.programs:
        assert program.plan is not None
        assert program.speedups is not None
        files = {name: [str(path.parent / "out" / name / f"{program.name}.csv")] for name in CONFIGURATIONS}
        plan = read_plan(program.plan.path or "")
        alone = compare_configurations(plan, read_configurations(plan, files))
        assert [(one.low, one.high) for one in program.speedups.speedups] == [
            (one.low, one.high) for one in alone.speedups
        ]
        for one in alone.speedups:
            ratios[one.name].append(one.ratio)
        for name in CONFIGURATIONS:
            totals[name].append(alone.by_name[name].estimate.main.total)
    for name, values in ratios.items():
        means = study.means[name]
        assert means.geometric.ratio == pytest.approx(math.prod(values) ** (1 / 3))
        assert means.harmonic.ratio == pytest.approx(3 / sum(1 / value for value in values))
        assert means.total.ratio == pytest.approx(sum(totals["base"]) / sum(totals[name]))
        truth = math.prod(GAINS[name]) ** (1 / 3)
        assert means.geometric.low < truth < means.geometric.high
    assert study.verdict(study.means["gto"].geometric) is Verdict.FASTER
    assert study.verdict(study.means["lat"].geometric) is Verdict.SLOWER


def test_what_is_missing_is_named_and_leaves_its_means_out(made: Made) -> None:
    path = made({("two", "lat"), ("three", "base")})
    study = compare_study(read_study(str(path)))
    places = [("two", "lat", "out/lat/two.csv"), ("three", "base", "out/base/three.csv")]
    assert study.missing == places
    assert study.means == {}
    assert not study.is_within(0.5)
    summary = summarise_study(study)
    remarks = {
        (program.name, cell.configuration): cell.remark
        for program in summary.programs
        for cell in program.cells
    }
    assert remarks["two", "lat"] == "no results yet: out/lat/two.csv"
    assert remarks["three", "gto"] == "no results of base to compare it with"
    assert remarks["one", "gto"] is None
    only_one = compare_study(read_study(str(made({("two", "lat")}))))
    (tmp,) = [path.parent / "out" / "lat" / "two.csv"]
    assert not tmp.exists()
    # Results of the base are there again.
    assert set(only_one.means) == {"gto"}


def test_the_base_that_the_file_names_comes_first(made: Made) -> None:
    study = compare_study(read_study(str(made(head='[study]\nbase = "gto"\nsame_within = 0.1\n'))))
    assert study.base == "gto"
    assert study.same_within == 0.1
    assert set(study.means) == {"base", "lat"}
    assert study.verdict(study.means["base"].geometric) is Verdict.SAME


def test_programs_whose_launches_found_caches_otherwise_are_told_by_name(made: Made, tmp_path: Path) -> None:
    path = made()
    place = tmp_path / "out" / "gto" / "two.csv"
    place.write_text(place.read_text().replace("warm", "cold"))
    with pytest.raises(AnalysisError, match=r"^two: gto and base are not compared"):
        compare_study(read_study(str(path)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[configurations.a]\n[programs.p]\nplan='p'\n", "1 configuration, where at least two"),
        ("[configurations.a]\n[configurations.b]\n[programs]\n", "no program"),
        ("[configurations.a]\n[configurations.b]\n[programs.p]\n", "programs.p: no plan"),
        (
            "[configurations.a]\n[configurations.b]\n[programs.p]\nplan='p'\nprofile='q'\n",
            "programs.p: both a plan and a profile",
        ),
        (
            "[study]\nbase='c'\n[configurations.a]\n[configurations.b]\n[programs.p]\nplan='p'\n",
            "study.base: c is no",
        ),
        (
            "[configurations.a]\n[configurations.b]\n[programs.p]\nplan='p'\nresults='x'\n",
            "programs.p.results: it does not say which configuration",
        ),
        ("[study]\ntarget = 2\n", "key study.target"),
        ("[configurations.'a/b']\n[configurations.b]\n[programs.p]\nplan='p'\n", "a/b"),
        ("[configurations.a]\nfast = 1\n", "unknown field"),
        ("[configurations\n", "not a TOML"),
    ],
)
def test_files_that_are_no_study(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(text)
    with pytest.raises(ProfileError) as caught:
        read_study(str(path))
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_file_that_is_written_is_read_as_what_it_was_written_of(tmp_path: Path) -> None:
    simulator = "sim -config {config} -trace {list}"
    configurations = {"base": "b/gpgpusim.config", "strange 'name'": 'c/"quoted".config'}
    path = tmp_path / "study.toml"
    path.write_text(study_text({"bfs": "plans/bfs.json"}, configurations, simulator))
    study = read_study(str(path))
    assert list(study.configurations) == list(configurations)
    assert [one.config for one in study.configurations.values()] == list(configurations.values())
    assert study.configurations["base"].simulator == "sim -config b/gpgpusim.config -trace {list}"
    assert study.programs["bfs"].plan == "plans/bfs.json"
    assert study.plan_path("bfs") is None
    assert study.result_files("bfs", "base") == []
