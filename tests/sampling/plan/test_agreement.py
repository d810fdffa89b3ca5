"""A plan that somebody edited by hand: what does not agree with the rest is refused, with its place."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sampling.errors import PlanFileError
from sampling.plan.plan_file import read_plan
from sampling.profile.profile import Profile
from tests.small_plans import UNPOOLED, plan_of_profile

Document = dict[str, Any]


@pytest.fixture(scope="module")
def plan_text(launch_table: Callable[..., Profile], tmp_path_factory: pytest.TempPathFactory) -> str:
    """A plan of two processes and four kernels, two launches of each drawn."""
    rng = np.random.default_rng(3)
    names = rng.choice(["gemm", "copy"], 200).tolist()
    process = np.repeat([4, 9], 100)
    durations = rng.integers(1000, 1100, 200) * (1 + 9 * (np.array(names) == "gemm"))
    profile = launch_table(names, durations.tolist(), process=process, location=Path(__file__))
    path = tmp_path_factory.mktemp("plan") / "plan.json"
    plan = plan_of_profile(profile, path, "joint", target=replace(UNPOOLED, epsilon=0.5, group_epsilon=None))
    assert {len(stratum.launches) for stratum in plan.strata} == {2}
    return path.read_text()


def stratum(plan: Document, number: int) -> Document:
    entry: Document = plan["strata"][number]
    return entry


def launch(plan: Document, number: int = 0, place: int = 0) -> Document:
    entry: Document = stratum(plan, number)["launches"][place]
    return entry


def drawn_again(plan: Document) -> None:
    """The first launch of a stratum stands in another one too, in place of one of its own."""
    second = stratum(plan, 1)
    copied = dict(launch(plan), weight=launch(plan, 1)["weight"])
    second["launches"][0] = copied
    second.update(low_ns=0, high_ns=10**6)


def moved(plan: Document) -> None:
    """A launch to another process, by all but its id."""
    launch(plan).update(process=13 - launch(plan)["process"])


def as_one_more(plan: Document) -> None:
    stratum(plan, 2)["size"] += 1
    for entry in stratum(plan, 2)["launches"]:
        entry["weight"] = stratum(plan, 2)["size"] / 2


def shared_unevenly(plan: Document) -> None:
    """The weights of a stratum still add up to its size."""
    launch(plan, 3)["weight"] += 5
    launch(plan, 3, 1)["weight"] -= 5


LAUNCH = r"stratum 0 \(.*\), launch \d+, "
DISAGREEING: dict[str, tuple[Callable[[Document], object], str]] = {
    "a launch in two strata": (drawn_again, r"stratum 1 \(.*\), launch \d+, id: \d+ stands there twice"),
    "a launch listed twice": (
        lambda plan: stratum(plan, 0)["launches"].append(launch(plan)),
        r"stratum 0 \(.*\), samples: 2 ",
    ),
    "a launch left out": (
        lambda plan: stratum(plan, 1)["launches"].pop(),
        r"stratum 1 \(.*\), samples: 2 ",
    ),
    "a duration beyond its stratum": (
        lambda plan: launch(plan).update(duration_ns=stratum(plan, 0)["high_ns"] + 1),
        rf"{LAUNCH}duration_ns: \d+ is not within",
    ),
    "a duration below its stratum": (
        lambda plan: launch(plan).update(duration_ns=1),
        f"{LAUNCH}duration_ns: 1 ",
    ),
    "another id": (
        lambda plan: launch(plan).update(id=launch(plan)["id"] + 1),
        rf"{LAUNCH}ordinal: \d+ is not",
    ),
    "an id beyond all": (lambda plan: launch(plan).update(id=200), f"{LAUNCH}id: 200 is beyond"),
    "another process": (moved, rf"{LAUNCH}process: \d+ is not where"),
    "another device": (lambda plan: launch(plan).update(device=3), f"{LAUNCH}device: 3 is not where"),
    "another weight": (lambda plan: launch(plan).update(weight=1e9), f"{LAUNCH}weight: 1000000000.0 "),
    "weights that add up": (shared_unevenly, r"stratum 3 \(.*\), launch \d+, weight: "),
    "another size": (lambda plan: stratum(plan, 2).update(size=7), r"stratum 2 \(.*\), launch \d+, weight: "),
    "a size and its weights": (as_one_more, "strata, size: 201 together do not hold its 200 launches"),
    "another mean": (
        lambda plan: stratum(plan, 1).update(mean_ns=stratum(plan, 1)["mean_ns"] * 1.001),
        "strata, mean_ns: .* ns by size and mean are not the .* ns of all",
    ),
    "a mean beyond its durations": (
        lambda plan: stratum(plan, 1).update(mean_ns=1.0),
        r"stratum 1 \(.*\), mean_ns: 1.0 is not within",
    ),
    "a spread that its durations do not have": (
        lambda plan: stratum(plan, 0).update(std_ns=1e7),
        r"stratum 0 \(.*\), std_ns: 10000000.0 is more",
    ),
    "durations the wrong way round": (
        lambda plan: stratum(plan, 0).update(low_ns=stratum(plan, 0)["high_ns"] + 1),
        r"stratum 0 \(.*\), low_ns: \d+ is above",
    ),
    "more samples than launches": (
        lambda plan: stratum(plan, 0).update(samples=10**6),
        r"stratum 0 \(.*\), samples: 1000000 ",
    ),
    "no samples": (lambda plan: stratum(plan, 0).update(samples=0), r"stratum 0 \(.*\), samples: 0 "),
    "no launches": (lambda plan: stratum(plan, 0).update(launches=[]), r"stratum 0 \(.*\), samples: 2 "),
    "another total": (
        lambda plan: plan["profile"].update(total_duration_ns=plan["profile"]["total_duration_ns"] * 2),
        "strata, mean_ns: ",
    ),
    "fewer launches than stand there": (
        lambda plan: plan["profile"].update(launches=150),
        "strata, size: 200 together do not hold its 150 launches",
    ),
    "files of other launches": (
        lambda plan: plan["profile"]["files"][0].update(launches=9),
        "profile, launches: .* 9 in its files, 200 in its sequences",
    ),
    "another name": (lambda plan: launch(plan).update(name="other"), f"{LAUNCH}name: other is not that of"),
    "another grid": (lambda plan: launch(plan).update(grid=[9, 9, 9]), rf"{LAUNCH}grid: \(9, 9, 9\) or its"),
    "another key": (
        lambda plan: stratum(plan, 0).update(key="f <<<?, ?>>> process 4 device 0"),
        f"{LAUNCH}name: .* is not that of its stratum's key",
    ),
    "an occurrence beyond its place": (
        lambda plan: launch(plan).update(occurrence=10**6),
        f"{LAUNCH}occurrence: 1000000 is more",
    ),
    "a pool that is none": (
        lambda plan: stratum(plan, 0).update(key="(pooled kernels) process 4 device 0"),
        "stratum 0 ",
    ),
    "other launches filtered": (
        lambda plan: plan["options"].update(launches="0:1"),
        r"launch \d+, id: \d+ is not among the launches of its options",
    ),
    "another process filtered": (
        lambda plan: plan["options"].update(process=["10:20"]),
        "launch .*, process: [49] is not among",
    ),
    "another least duration": (
        lambda plan: plan["options"].update(min_duration=10**6),
        "launch .*, duration_ns: .* is less than the least",
    ),
    "a simulated launch that nothing draws": (
        lambda plan: plan.update(simulated=[10**6]),
        "simulated: launch 1000000 is in no stratum",
    ),
    "a field misspelt": (
        lambda plan: plan["options"].update(noise_flor=0.5),
        r"unknown field `noise_flor` - at `\$\.options`",
    ),
    "no schema": (lambda plan: plan.pop("schema"), "no plan: it has no schema"),
    "no kind": (lambda plan: plan.pop("kind"), "no plan: it has no kind"),
    "a node decided twice": (
        lambda plan: plan.update(
            overrides=[{"key": "k", "path": "", "decision": decision} for decision in ("split", "keep")]
        ),
        r"overrides\[1\]: the root of 'k' is decided twice; keep one of them: split or keep",
    ),
}


@pytest.mark.parametrize("what", DISAGREEING)
def test_what_does_not_agree_is_refused_with_its_place(plan_text: str, tmp_path: Path, what: str) -> None:
    change, place = DISAGREEING[what]
    document = json.loads(plan_text)
    change(document)
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(document))
    with pytest.raises(PlanFileError, match=place) as refused:
        read_plan(str(path))
    assert str(refused.value).startswith(f"{path}: ")


def test_a_key_twice_in_an_object_is_refused(plan_text: str, tmp_path: Path) -> None:
    """JSON would take the second one."""
    path = tmp_path / "plan.json"
    path.write_text(plan_text.replace('"weight":', '"weight":7,"weight":', 1))
    with pytest.raises(PlanFileError, match="'weight' stands twice in one object"):
        read_plan(str(path))


def test_half_a_character_is_kept_as_it_is(plan_text: str, tmp_path: Path) -> None:
    """Names are cut by bytes, and paths are bytes."""
    document = json.loads(plan_text)
    stratum(document, 0)["key"] = "cut \ud800 <<<?, ?>>> process 4 device 0"
    for launch in stratum(document, 0)["launches"]:
        launch["name"] = "cut \ud800"
    document["profile"]["files"][0]["path"] = "\udc80.csv"
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(document))
    plan = read_plan(str(path))
    assert "cut \ud800" in {launch.name for launch in plan.drawn}
    path.write_text(plan.text(), encoding="utf-8")
    assert read_plan(str(path)) == plan


def test_a_device_is_no_plan() -> None:
    with pytest.raises(PlanFileError, match="/dev/zero: a device, which has no end"):
        read_plan("/dev/zero")
