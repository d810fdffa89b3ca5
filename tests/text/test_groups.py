"""Kernel groups: their table is no wider than the terminal; one group's strata, against its launches."""

from __future__ import annotations

import pytest

from sampling.plan.draft import Draft
from sampling.plan.overview import summarise_groups
from sampling.plan.request import PlanRequest
from tests.drawing import in_ascii
from tui.engine.drafts import draft_from_options
from tui.options.look import GroupsOptions
from tui.output.writer import Canvas, canvas_text
from tui.text.groups import group_blocks

LONG = (
    "void tensorflow::functor::{}<Eigen::half, (int)16, Eigen::TensorMap<Eigen::Tensor<Eigen::half, {}>>>(T1)"
)
HEADINGS = {"rank", "share", "cum", "total", "launches", "mean", "CoV", "strata", "drawn", "kernel group"}


@pytest.fixture(scope="module")
def long_names(tmp_path_factory: pytest.TempPathFactory) -> Draft:
    path = tmp_path_factory.mktemp("named") / "launches.csv"
    rows = [
        f'"{LONG.format(name, size)}",{1000 * size + repeat}\n'
        for name in ("ColumnReduceKernel", "BiasNHWCKernel")
        for size in (1, 2, 3)
        for repeat in range(9)
    ]
    path.write_text("name,duration_ns\n" + "".join(rows))
    return draft_from_options((str(path),), GroupsOptions(quiet=True, request=PlanRequest(method="root")))


def shown(draft: Draft, width: int) -> list[str]:
    rows = summarise_groups(draft)
    canvas = Canvas(width, color=False)
    return canvas_text(group_blocks(draft, rows, canvas), canvas).split("\n")


@pytest.mark.parametrize("ascii_only", [False, True])
@pytest.mark.parametrize(
    ("width", "dropped"),
    [
        (40, {"total", "strata", "cum", "CoV", "mean", "drawn", "launches"}),
        (80, {"total", "strata", "cum"}),
        (120, set()),
    ],
)
def test_figures_make_room_for_names_that_differ(
    long_names: Draft, width: int, dropped: set[str], ascii_only: bool
) -> None:
    table = in_ascii(ascii_only, shown, long_names, width)
    assert {word for word in HEADINGS if word not in table[0]} == dropped
    assert max(map(len, table[:7])) <= width
    assert len({line.split("  ")[-1] for line in table[1:7]}) == 6
    assert "names in full" in table[-1]
    assert not ascii_only or "".join(table).isascii()


def test_keys_are_whole_where_they_have_room(long_names: Draft) -> None:
    lines = shown(long_names, 400)
    assert all(heading in lines[0] for heading in HEADINGS)
    assert all("Eigen::TensorMap<Eigen::Tensor<Eigen::half" in line for line in lines[1:7])
    assert "names in full" not in lines[-1]
