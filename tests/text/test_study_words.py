"""What a study's sentences tell first stands first in its tables; a configuration is told by its options."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from sampling.study.comparison import StudySpeedups, compare_study
from sampling.study.study_file import read_study
from tests.study_files import write_plans, write_study
from tui.text.study import answer_text, comparisons, pair_changes, table_rows

Made = Callable[..., Path]


@pytest.fixture(scope="module")
def bundled(sample_data: Path) -> StudySpeedups:
    return compare_study(read_study(str(sample_data / "study" / "study.toml")))


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_plans(tmp_path_factory.mktemp("programs"))


@pytest.fixture
def made(plans: Path, tmp_path: Path) -> Made:
    return partial(write_study, plans, tmp_path)


def test_what_sentences_tell_first_is_the_first_column(bundled: StudySpeedups) -> None:
    labels, rows = table_rows(bundled)
    text = answer_text(bundled)
    assert labels == sorted(labels, key=lambda name: text.index(f"{name} is "))
    assert sorted(labels) == sorted(bundled.configurations[1:])
    # The winner, the loser, and two that are not told apart, the larger change first.
    assert labels == ["l2lat120", "l1lat30", "dram150", "gto"]
    assert comparisons(bundled) == [("base", name) for name in labels]
    (means,) = (cells for name, cells in rows if name == "geometric mean")
    assert [cell.ratio for cell in means] == [bundled.means[name].geometric.ratio for name in labels]


def test_a_configuration_without_a_mean_is_the_last_column(made: Made) -> None:
    missing = compare_study(read_study(str(made({("two", "lat")}))))
    assert table_rows(missing)[0] == ["gto", "lat"]
    assert table_rows(compare_study(read_study(str(made()))))[0] == ["lat", "gto"], "10 %, 5 % and 3 % slower"


def test_options_that_differ_say_what_a_configuration_is(bundled: StudySpeedups, made: Made) -> None:
    assert pair_changes(bundled) == {
        ("base", "gto"): "-gpgpu_scheduler gto instead of lrr",
        ("base", "l1lat30"): "-gpgpu_l1_latency 30 instead of 20",
        ("base", "dram150"): "-dram_latency 150 instead of 100",
        ("base", "l2lat120"): "-gpgpu_l2_rop_latency 120 instead of 160",
    }
    assert pair_changes(compare_study(read_study(str(made())))) == {}, "a table of cycles prints no options"
