"""Labels in tables of recorded kernel groups: the word that names the work and the grid stay at any width."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sampling.plan.overview import summarise_groups
from tui.app.groups import table_columns
from tui.app.planning import load_draft
from tui.options.plan import SampleOptions
from tui.output.writer import Canvas, canvas_text
from tui.text.groups import group_blocks

# Written down by reading the names of these recordings: functions that say what they do, and functors.
WORK = re.compile(
    r"gemm|nvjet|Cijk|softmax|SoftMax|layer_norm|embedding|flash|AllReduce|SendRecv|winograd|convolve|dropout|"
    r"copy_kernel|CUDAFunctor(?:OnSelf|OnOther)?_add|MulFunctor|AddFunctor|tanh_\w*kernel|sigmoid_\w*kernel|"
    r"FillFunctor|where_kernel|clamp_\w*kernel"
)
WORDS = re.compile(
    r"gemm|nvjet|cijk|softmax|layer_norm|embedding|flash|allreduce|sendrecv|winograd|convolve|dropout|copy|add|"
    r"mul|tanh|sigmoid|fill|where|clamp"
)


@pytest.mark.parametrize(
    "name",
    [
        "kineto/a100-recommendation-training.json.gz",
        "kineto/h100-qwen1.5-inference.json.gz",
        "kineto/v100-resnet50-training.json.gz",
        "nsys-sqlite/h100x2-training-overlap-nsys2026.2.sqlite",
        "nsys-sqlite/a100-nerf-nsys2021.5.sqlite",
    ],
)
def test_a_row_has_its_work_and_its_grid_at_any_width(shared_data: Path, name: str) -> None:
    draft = load_draft(SampleOptions(profiles=(str(shared_data / name),)), {}, lambda *_: None)
    survey = draft.look
    groups = [*range(min(len(survey.counts.groups), 120))]
    words = {}
    for group in groups:
        # What stands before the parameters, without scopes, as far as it names any work.
        function = re.sub(r"\w+::", "", survey.counts.groups[group].name.split(">(")[0])
        words[group] = set(WORDS.findall(" ".join(WORK.findall(function)).lower()))
    assert sum(map(bool, words.values())) > 10
    for width in (40, 60, 69, 72, 79, 80, 120, 160):
        columns = table_columns(survey, width)
        canvas = Canvas(width, color=False)
        text = canvas_text(group_blocks(survey, summarise_groups(survey, groups), canvas), canvas)
        printed = {int(rank) - 1: row for row, rank in re.findall(r"(?m)^( *#(\d+) .*)$", text)}
        for group in groups:
            grid = survey.counts.groups[group].grid
            for row in ("".join(text for text, _ in columns.row(group)), printed[group]):
                assert grid is None or f" {'x'.join(map(str, grid))}" in row, (width, row)
                assert not words[group] or any(word in row.lower() for word in words[group]), (width, row)
