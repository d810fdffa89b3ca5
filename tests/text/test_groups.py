"""Kernel groups: their table is no wider than the terminal; one group's strata, against its launches."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sampling.plan.study import Study
from tests.drawing import in_ascii
from tui.app.planning import load_study
from tui.charts.grid import cluster_symbol, plain
from tui.engine.studies import study_as_asked
from tui.options.look import GroupsOptions
from tui.options.plan import SampleOptions
from tui.output.writer import Canvas, canvas_text
from tui.text.groups import group_blocks, group_histogram, group_row, group_strata, strata_grid

LONG = (
    "void tensorflow::functor::{}<Eigen::half, (int)16, Eigen::TensorMap<Eigen::Tensor<Eigen::half, {}>>>(T1)"
)
HEADINGS = {"rank", "share", "cum", "total", "launches", "mean", "CoV", "strata", "drawn", "kernel group"}


@pytest.fixture(scope="module")
def long_names(tmp_path_factory: pytest.TempPathFactory) -> Study:
    path = tmp_path_factory.mktemp("named") / "launches.csv"
    rows = [
        f'"{LONG.format(name, size)}",{1000 * size + repeat}\n'
        for name in ("ColumnReduceKernel", "BiasNHWCKernel")
        for size in (1, 2, 3)
        for repeat in range(9)
    ]
    path.write_text("name,duration_ns\n" + "".join(rows))
    return study_as_asked((str(path),), GroupsOptions(method="root", quiet=True))


def shown(study: Study, width: int) -> list[str]:
    rows = [group_row(study, index) for index in range(len(study.counts.groups))]
    canvas = Canvas(width, color=False)
    return canvas_text(group_blocks(study, rows, canvas), canvas).split("\n")


@pytest.mark.parametrize("ascii_only", [False, True])
@pytest.mark.parametrize(
    ("width", "dropped"),
    [(40, {"total", "strata", "cum", "CoV"}), (80, {"total", "strata", "cum"}), (120, set())],
)
def test_figures_make_room_for_names_that_differ(
    long_names: Study, width: int, dropped: set[str], ascii_only: bool
) -> None:
    table = in_ascii(ascii_only, shown, long_names, width)
    assert {word for word in HEADINGS if word not in table[0]} == dropped
    # Names have a dozen columns however little room there is.
    assert max(map(len, table[:7])) <= max(width, 58)
    assert len({line.split("  ")[-1] for line in table[1:7]}) == 6
    assert "names in full" in table[-1]
    assert not ascii_only or "".join(table).isascii()


def test_keys_are_whole_where_they_have_room(long_names: Study) -> None:
    lines = shown(long_names, 400)
    assert all(heading in lines[0] for heading in HEADINGS)
    assert all("Eigen::TensorMap<Eigen::Tensor<Eigen::half" in line for line in lines[1:7])
    assert "names in full" not in lines[-1]


@pytest.fixture(scope="module", params=["joint", "root", "random", "single-iteration"])
def study(request: pytest.FixtureRequest, sample_data: Path) -> Study:
    options = SampleOptions(profiles=(str(sample_data / "gpt2-like.json.gz"),), method=request.param)
    return load_study(options, {}, lambda *_: None)


def test_strata_have_all_launches_of_their_group_and_the_figures_of_those(study: Study) -> None:
    of = study.groups
    for group in range(len(study.counts.groups)):
        launches = np.repeat(*study.counts.group_pairs(group))
        strata = group_strata(study, group)
        assert sum(each.launches for each in strata) == len(launches)
        for each in strata:
            its = launches[(launches >= each.low_ns) & (launches <= each.high_ns)]
            assert each.launches == len(its)
            assert each.mean_ns == pytest.approx(its.mean())
            assert each.cov == pytest.approx(its.std() / its.mean())
            assert each.share == pytest.approx(its.sum() / launches.sum())
        counted = [each.drawn for each in strata]
        if of.samples is not None and not of.pooled[group]:
            assert sum(filter(None, counted)) == of.samples[group]
        else:
            assert set(counted) == {None}


def test_a_high_histogram_has_a_table_of_the_strata_and_a_low_or_narrow_one_none(study: Study) -> None:
    for ascii_only in (False, True):
        head, *rows = plain(in_ascii(ascii_only, strata_grid, study, 0, 80)).split("\n")
        strata = group_strata(study, 0)
        assert head.split() == ["durations", "launches", "mean", "CoV", "drawn", "of", "its", "time"]
        symbols = [in_ascii(ascii_only, cluster_symbol, place) for place in range(len(strata))]
        assert len(rows) == len(strata)
        assert len(strata) == 1 or [row[0] for row in rows] == symbols
    high, low, narrow = (
        plain(group_histogram(study, 0, width, height, log=False))
        for width, height in ((80, 30), (80, 8), (40, 30))
    )
    assert ("of its time" in high, "of its time" in low, "of its time" in narrow) == (True, False, False)
