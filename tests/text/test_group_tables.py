"""The table of `groups`: whole keys where it is read on, and no wider than the terminal that shows it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.drawing import in_ascii
from tests.terminal.pseudo_terminal import Terminal
from tui.engine.studies import study_as_asked
from tui.options.look import GroupsOptions
from tui.output.writer import Canvas
from tui.text import facts
from tui.text.groups import groups_text

LONG = (
    "void tensorflow::functor::{}<Eigen::half, (int)16, Eigen::TensorMap<Eigen::Tensor<Eigen::half, {}>>>(T1)"
)
HEADINGS = ["rank", "share", "cum", "total", "launches", "mean", "CoV", "strata", "drawn", "kernel group"]


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("named") / "launches.csv"
    rows = [
        f'"{LONG.format(name, size)}",{1000 * size + repeat}\n'
        for name in ("ColumnReduceKernel", "BiasNHWCKernel")
        for size in (1, 2, 3)
        for repeat in range(9)
    ]
    path.write_text("name,duration_ns\n" + "".join(rows))
    return path


def shown(profile: Path, width: int, *, ascii_only: bool = False) -> list[str]:
    study = study_as_asked((str(profile),), GroupsOptions(method="root", quiet=True))
    rows = [facts.group_row(study, index) for index in range(len(study.counts.groups))]
    canvas = Canvas(width, color=False)
    return in_ascii(ascii_only, groups_text, study, rows, canvas).split("\n")


@pytest.mark.parametrize("ascii_only", [False, True])
@pytest.mark.parametrize("width", [40, 60, 80, 100, 120])
def test_no_line_is_wider_than_the_terminal(profile: Path, width: int, ascii_only: bool) -> None:
    lines = shown(profile, width, ascii_only=ascii_only)
    table = lines[:7]
    # Names have a dozen columns however little room there is.
    assert max(map(len, table)) <= max(width, 58)
    assert "names in full" in lines[-1]
    names = [line.split("  ")[-1] for line in table[1:]]
    assert len(set(names)) == 6
    assert not ascii_only or "".join(table).isascii()


def test_figures_make_room_for_names(profile: Path) -> None:
    heads = [shown(profile, width)[0] for width in (60, 80, 120)]
    dropped = [{word for word in HEADINGS if word not in head} for head in heads]
    assert dropped == [{"total", "strata", "cum", "CoV"}, {"total", "strata", "cum"}, set()]


def test_keys_are_whole_where_they_have_room(profile: Path) -> None:
    lines = shown(profile, 400)
    assert all(heading in lines[0] for heading in HEADINGS)
    assert all("Eigen::TensorMap<Eigen::Tensor<Eigen::half" in line for line in lines[1:7])
    assert "names in full" not in lines[-1]


def test_the_command_asks_the_terminal(profile: Path) -> None:
    terminal = Terminal("groups", str(profile), "--method", "root", "-q", TERM="xterm-256color")
    assert terminal.leave() == 0
    lines = terminal.output.decode().replace("\r", "").split("\n")
    assert 60 < max(map(len, lines)) <= 80
