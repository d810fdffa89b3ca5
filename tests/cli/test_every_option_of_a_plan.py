"""Every option of a plan is in its file, and is opened, saved and copied as a command with it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sampling.plan import request
from sampling.plan.plan import drawn_plan, find_planned_launches, plan_document
from sampling.plan.plan_file import PlanFile, read_plan
from sampling.plan.request import PlanRequest
from tests.cli.conftest import Kernelpoint
from tui.app.planning import load_draft
from tui.engine.drafts import load_overrides
from tui.engine.plan_files import open_plan, options_of_plan
from tui.options.command_line import command_line, options_of
from tui.options.look import OpenOptions
from tui.options.plan import SampleOptions

Prepared = tuple[tuple[object, ...], dict[str, object]]
"""The profiles, and what is asked of the plan besides."""


@pytest.fixture
def prepared(resnet: Path, counts: Path, sample_data: Path, kernelpoint: Kernelpoint, tmp_path: Path) -> Any:
    """By the name of an option: profiles, and what is asked of a plan, that option among it."""
    rows = "".join(f"kernel {row % 3},{5 + row % 7}\n" for row in range(60))
    ranks = [tmp_path / f"run-{rank}.csv" for rank in "12"]
    for rank in ranks:
        rank.write_text("name,duration_ns\n" + rows)
    table = tmp_path / "table.csv"
    table.write_text("Kernel Name,Dur\n" + rows)
    key = kernelpoint("groups", resnet, "--format", "json").results[0]["key"]
    decisions = tmp_path / "decisions.json"
    decisions.write_text(json.dumps({"overrides": [{"key": key, "path": "", "decision": "split"}]}))
    german = tmp_path / "german.csv"
    german.write_text("id;instructions\n" + "".join(f"{row};1.{row % 9}00,5\n" for row in range(5600)))
    by_counts = {"features": (str(counts),), "cost": "instructions", "epsilon": 0.02}
    special: dict[str, Prepared] = {
        "range": ((sample_data / "gpt2-like.json.gz",), {"range": "ProfilerStep#3"}),
        "columns": ((table,), {"columns": "name=Kernel Name,duration_ns=Dur:us"}),
        "rank_regex": (tuple(ranks), {"rank_regex": r"run-(\d)"}),
        "process": ((resnet,), {"process": ("4242",)}),
        "features": ((resnet,), by_counts),
        "cost": ((resnet,), by_counts),
        "number_locale": (
            (resnet,),
            {"features": (str(german),), "cost": "instructions", "number_locale": "de_DE"},
        ),
        "overrides": ((resnet,), {"method": "root", "overrides": str(decisions)}),
    }
    plain: dict[str, object] = {
        "seed": 3,
        "group_by": "name",
        "pool_devices": True,
        "each_rank": True,
        "device": ("0",),
        "include": ("gemm|winograd",),
        "exclude": ("communication", "relu"),
        "launches": "100:3000",
        "time": "0:60000000",
        "min_duration": 5000,
        "partial": True,
        "keep_overlong": True,
        "profile_cycles": True,
        "epsilon": 0.02,
        "confidence": 0.9,
        "group_epsilon": None,
        "min_samples": 3,
        "noise_floor": 0.1,
        "kernel_spread": 0.2,
        "pool": False,
        "set": ("root.k_max=3",),
        "method": "root",
    }
    return special | {name: ((resnet,), {name: value}) for name, value in plain.items()}


def as_made(plan: PlanFile) -> tuple[object, ...]:
    return plan.options, plan.strata, plan.overrides


# `layers` is written as a method and its setting.
@pytest.mark.parametrize("name", [name for name in request.NAMES if name != "layers"])
def test_it_is_opened_saved_and_copied_with_it(
    kernelpoint: Kernelpoint,
    prepared: dict[str, Prepared],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    paths, values = prepared[name]
    asked: Any = PlanRequest(**values)  # type: ignore[arg-type]
    assert getattr(asked, name) != request.default(name), "the option is given"
    profiles = tuple(map(str, paths))
    sampled = SampleOptions(profiles=profiles, request=asked, output="made.json", judge=0)
    run = kernelpoint(*shlex.split(command_line("sample", sampled))[1:])
    assert run.code == 0, run.err
    plan = read_plan("made.json")

    opened = open_plan("made.json")
    shown = options_of_plan(opened, OpenOptions())
    if name == "overrides":
        assert (plan.options.overrides, shown.request.overrides) == (None, "made.json")
        assert len(plan.overrides) == 1
    else:
        assert getattr(plan.options, name) == getattr(shown.request, name) == getattr(asked, name)
    options = options_of(SampleOptions, shown)

    overrides = load_overrides(options.request.overrides, options.request.method, quiet=True)
    draft = load_draft(options, overrides or {}, _unheard)
    drawn = drawn_plan(draft.counts, draft.design, options.request.seed)
    saved = plan_document(draft, drawn, find_planned_launches(draft, drawn))
    assert as_made(saved) == as_made(plan)

    copied = command_line("sample", replace(options, output="copied.json", judge=0))
    assert request.flags(name)[0] in shlex.split(copied)
    assert kernelpoint(*shlex.split(copied)[1:]).code == 0
    assert as_made(read_plan("copied.json")) == as_made(plan)


def _unheard(*_: object) -> None:
    """Progress that nobody looks at."""


def test_a_plan_by_a_cost_is_shown_as_it_was_made(
    kernelpoint: Callable[..., Any], resnet: Path, counts: Path, tmp_path: Path
) -> None:
    plan = tmp_path / "e.json"
    words = ("sample", resnet, "--features", counts, "--cost", "instructions", "--epsilon", "0.02")
    assert kernelpoint(*words, "-o", plan).code == 0
    shown = kernelpoint("open", plan, "--format", "json").results["plan"]
    assert shown["samples"] == len(read_plan(str(plan)).drawn)
