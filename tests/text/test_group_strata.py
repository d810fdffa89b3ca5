"""The strata of one kernel group: against its launches one by one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sampling.plan.study import Study
from tests.drawing import in_ascii
from tui.app.planning import load_study
from tui.charts.grid import cluster_symbol, plain
from tui.options.plan import SampleOptions
from tui.text.histogram import group_histogram, group_strata, strata_grid


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
        assert sum(each.share for each in strata) == pytest.approx(1)
        for each in strata:
            its = launches[(launches >= each.low_ns) & (launches <= each.high_ns)]
            assert each.launches == len(its)
            assert each.mean_ns == pytest.approx(its.mean())
            assert each.cov == pytest.approx(its.std() / its.mean())
            assert each.share == pytest.approx(its.sum() / launches.sum())
        drawn = [each.drawn for each in strata]
        if of.samples is not None and not of.pooled[group]:
            assert sum(filter(None, drawn)) == of.samples[group]
        else:
            assert set(drawn) == {None}


@pytest.mark.parametrize("ascii_only", [False, True])
def test_the_table_has_a_row_a_stratum_with_its_symbol_and_gives_up_where_it_is_narrow(
    study: Study, ascii_only: bool
) -> None:
    grid = in_ascii(ascii_only, strata_grid, study, 0, 80)
    assert grid is not None
    head, *rows = plain(grid).split("\n")
    strata = group_strata(study, 0)
    assert head.split() == ["durations", "launches", "mean", "CoV", "drawn", "of", "its", "time"]
    assert len(rows) == len(strata)
    if len(strata) > 1:
        assert [row[0] for row in rows] == [
            in_ascii(ascii_only, cluster_symbol, place) for place in range(len(strata))
        ]
    assert plain(grid).isascii() or not ascii_only
    assert in_ascii(ascii_only, strata_grid, study, 0, 40) is None


def test_a_high_histogram_has_the_table_and_a_low_one_the_legend(study: Study) -> None:
    high, low = (plain(group_histogram(study, 0, 80, rows, log=False)) for rows in (30, 8))
    assert "of its time" in high
    assert "of its time" not in low
    narrow = group_histogram(study, 0, 40, 30, log=False)
    assert "of its time" not in plain(narrow)
    assert (narrow.height, narrow.width) == (30, 40)
