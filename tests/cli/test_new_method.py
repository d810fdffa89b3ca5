"""A method that somebody adds is its module, with all that is said of it, and a line of the registry."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import PROJECT, environment

_MODULE = '''
"""Every launch of a group has the same chance."""

from dataclasses import dataclass, replace

from sampling.methods.baselines import RANDOM
from sampling.methods.method import (StrataRequest, setting)
from sampling.reduction import GroupBy
from sampling.strata.strata import Strata


@dataclass(frozen=True, slots=True)
class Options:
    """How many launches are drawn."""

    launches: int = setting(9, "draw exactly this many", ge=1)


def stratify(request: StrataRequest) -> Strata:
    """Draw from all launches alike."""
    assert RANDOM.stratify is not None
    options = RANDOM.options_type(launches=request.options.launches)
    return RANDOM.stratify(replace(request, options=options))


METHOD = replace(
    RANDOM,
    name="uniform",
    source="a test",
    description="Nine launches stand for all.",
    published_grouping=GroupBy.NAME,
    options_type=Options,
    stratify=stratify,
    sized_like=None,
)
'''
_REGISTRY_LINE = '    "uniform": "uniform.METHOD",\n'


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the program with one method more, and a plan that it made."""
    root = tmp_path_factory.mktemp("tree")
    for package in ("sampling", "scalemodel", "tui"):
        shutil.copytree(PROJECT / package, root / package, ignore=shutil.ignore_patterns("__pycache__"))
    methods = root / "sampling" / "methods"
    (methods / "uniform.py").write_text(_MODULE)
    registry = methods / "registry.py"
    head, end, rest = registry.read_text().partition('"embedding": "embedding.METHOD",\n')
    registry.write_text(head + end + _REGISTRY_LINE + rest)
    (root / "profile.csv").write_text(
        "name,duration_ns\n" + "".join(f"k{row % 3},{1000 + row % 7}\n" for row in range(60))
    )
    assert _run(root, "sample", "profile.csv", "-m", "uniform", "-o", "plan.json").returncode == 0
    return root


def _run(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    changes = {"PYTHONPATH": str(root), "XDG_CACHE_HOME": str(root / "cache")}
    return subprocess.run(
        [sys.executable, "-m", "tui", *words],
        cwd=root,
        env=environment(**changes),
        text=True,
        capture_output=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("methods", "uniform: a test uniform.launches=9"),
        ("summary profile.csv -m uniform", "uniform"),
        ("sample profile.csv -m uniform --set uniform.launches=4", "Simulate 4 of 60 launches"),
        ("compare profile.csv --methods uniform,joint", "uniform"),
        ("judge plan.json profile.csv", "its 9 launches stand for"),
        ("export plan.json --to csv -o chosen", "chosen"),
        ("run plan.json --to csv --simulator 'expr {id} + 1000' -o out", "cycles"),
        ("open plan.json", "uniform"),
    ],
)
def test_every_command_takes_it(tree: Path, command: str, answer: str) -> None:
    run = _run(tree, *shlex.split(command))
    assert run.returncode == 0, run.stderr
    assert answer in " ".join(run.stdout.split())


def test_a_report_says_what_it_does(tree: Path) -> None:
    run = _run(tree, "report", "profile.csv", "-m", "uniform", "-o", "report.md")
    assert run.returncode == 0, run.stderr
    assert "Method: uniform (a test). Nine launches stand for all." in (tree / "report.md").read_text()


def test_its_options_are_checked(tree: Path) -> None:
    run = _run(tree, "sample", "profile.csv", "-m", "uniform", "--set", "uniform.launches=0")
    assert run.returncode == 2
    assert "uniform.launches" in run.stderr
    plan = json.loads((tree / "plan.json").read_text())
    assert plan["options"]["method"] == "uniform"
