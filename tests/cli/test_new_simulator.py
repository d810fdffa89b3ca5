"""A simulator is one record: a module with it and a line of the registry, and every command knows it."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import PROJECT, Run, environment

MODULE = '''\
"""ToySim, which nobody has: it runs the launches of a list, and prints what each took."""

import re
from functools import partial

import numpy as np

from sampling.projection import IntervalLog
from sampling.simulators.exporter import export_parts
from sampling.simulators.measured_run import MeasuredRun, SeenKernel, TraceList
from sampling.simulators.simulator import (
    Exporter, IntervalReader, ResultsReader, RunRules, Simulator, TraceListReader
)

_TOOK = re.compile(rb"^toysim: launch (\\d+) took (\\d+) cycles$", re.MULTILINE)


def _write(to):
    for suffix, shard in to.part.files():
        to.files[f"launches{suffix}.toy"] = "".join(f"{step.ordinal}\\n" for step in shard)
    to.called |= {step.ordinal: step.ordinal for step in to.part.steps}


def _read_results(file, metrics):
    with file.open() as stream:
        rows = np.array(_TOOK.findall(stream.read())).astype(np.int64)
    return MeasuredRun(file.path, rows[:, 0], 0, {"cycles": rows[:, 1].astype(np.float64)})


def _read_list(file):
    with file.open() as stream:
        names = stream.read().decode().split()[1:]
    return TraceList.from_rows(file.path, 0, [*enumerate(map(SeenKernel, names))])


def _read_intervals(files):
    cycle = np.arange(1, 9) * 1000
    return (IntervalLog("toy", cycle, np.full(8, 500), np.ones(8, dtype=np.int64)),)


SIMULATOR = Simulator(
    name="toysim",
    title="ToySim",
    exporter=Exporter(
        note="launches count from 0",
        takes=frozenset({"shards", "apart", "caches"}),
        export=partial(export_parts, write=_write),
        page="Run toysim on launches.toy.\\n",
    ),
    results=ResultsReader(lambda head: _TOOK.search(head) is not None, _read_results),
    intervals=IntervalReader(lambda head: head.startswith(b"toy log"), _read_intervals, form="ToySim's log"),
    trace_list=TraceListReader(
        ("toy.list",), lambda head: head.startswith(b"toy list"), _read_list, form="toy.list of ToySim's"
    ),
    run=RunRules(placeholder="{list}", example="toysim {list}", list_name="launches{}.toy"),
)
'''
SCRIPT = """\
#!/bin/sh
while read -r number; do
  echo "toysim: launch $number took $((1000 + number % 3 * 5000)) cycles"
done < "$1"
"""
KERNELS = ("copy", "gemm", "reduce")

Command = Callable[..., Run]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the packages with one module and one line more, and a profile and a simulator beside them."""
    folder = tmp_path_factory.mktemp("copy")
    for package in ("sampling", "scalemodel", "tui"):
        shutil.copytree(PROJECT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    simulators = folder / "sampling" / "simulators"
    (simulators / "toysim.py").write_text(MODULE)
    registry = simulators / "registry.py"
    before = registry.read_text()
    after = re.sub(
        r"^_SIMULATORS = \{\n", '\\g<0>    "toysim": "toysim.SIMULATOR",\n', before, flags=re.MULTILINE
    )
    assert len(after.splitlines()) == len(before.splitlines()) + 1
    registry.write_text(after)
    rows = (f"{KERNELS[each % 3]},{1000 + each % 3 * 5000 + each % 7}\n" for each in range(120))
    (folder / "profile.csv").write_text("name,duration_ns\n" + "".join(rows))
    script = folder / "toysim"
    script.write_text(SCRIPT)
    script.chmod(0o755)
    return folder


@pytest.fixture(scope="module")
def command(folder: Path) -> Command:
    """Run a command of the copy."""

    def run(*words: str) -> Run:
        done = subprocess.run(
            [sys.executable, "-m", "tui", *words],
            cwd=folder,
            env=environment(COLUMNS="200"),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        return Run(done.returncode, done.stdout, done.stderr)

    assert run("sample", "profile.csv", "-o", "plan.json").code == 0
    return run


def test_it_is_exported_run_and_estimated(command: Command, folder: Path) -> None:
    made = command("export", "plan.json", "--to", "toysim", "--format", "json", "-o", "made")
    assert made.code == 0, made.err
    launches = (folder / "made" / "launches.toy").read_text().split()
    assert len(launches) == made.results["launches"]
    page = (folder / "made" / "README.txt").read_text()
    assert "for ToySim.\n\nlaunches count from 0.\n" in page
    assert "Run toysim on launches.toy." in page
    words = ("--to", "toysim", "--simulator", "./toysim {list}", "--format", "json", "--accept-cold")
    ran = command("run", "plan.json", *words, "--target", "0.2", "-o", "run")
    assert ran.code == 0, ran.err
    (cycles,) = [each for each in ran.results["metrics"] if each["metric"] == "cycles"]
    assert cycles["low"] < sum(1000 + each % 3 * 5000 for each in range(120)) < cycles["high"]
    # What it prints is known by its content, by the numbers of the manifest.
    log = subprocess.run(["./toysim", "made/launches.toy"], cwd=folder, capture_output=True, check=True)
    (folder / "run.log").write_bytes(log.stdout)
    estimate = command("estimate", "made", "run.log")
    assert estimate.code == 0, estimate.err
    assert estimate.out.startswith("COLD ")
    assert "neither what ToySim, Accel-Sim" in command("estimate", "made", "toysim").failed(3)
    assert "toysim {list}" in command("run", "plan.json", "--to", "toysim").failed(2)


def test_its_trace_list_and_its_logs_are_read(command: Command, folder: Path) -> None:
    traces = folder / "traces"
    traces.mkdir()
    (traces / "toy.list").write_text("toy list\n" + "".join(f"{KERNELS[each % 3]}\n" for each in range(120)))
    aligned = command("align", "plan.json", "traces", "--format", "json")
    assert aligned.code == 0, aligned.err
    assert aligned.results["matched"] == 120
    (folder / "kernel.log").write_text("toy log\n")
    projected = command("project", "kernel.log", "--format", "json")
    assert projected.code == 0, projected.err
    assert projected.results[0]["kernel"] == "toy"


@pytest.mark.parametrize("name", ["export", "run", "estimate", "project"])
def test_the_help_names_it(command: Command, name: str) -> None:
    assert "toysim" in command(name, "--help").out


def test_what_takes_no_simulator_works_as_before(command: Command, folder: Path) -> None:
    commands = (
        ["methods"],
        ["sample", "profile.csv"],
        ["compare", "profile.csv", "--repeats", "2", "--methods", "joint,random"],
        ["report", "profile.csv", "-o", "report.md"],
    )
    code = (
        "import json, sys; from tui.cli import run; print([run(words) for words in json.loads(sys.argv[1])])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps(commands)],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.endswith("[0, 0, 0, 0]\n"), f"{done.stderr}\n{shlex.join(map(str, commands))}"
