"""Running the command line in this process and in another, and what several tests look at."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from tests.plans_once import plans_made_once
from tui import cli

PROJECT = Path(__file__).resolve().parents[2]
SETTLED = {"COLUMNS": "80", "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "LANG": "en_US.UTF-8"}
UNSETTLED = ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "GITHUB_ACTIONS", "PY_COLORS", "PYTHONWARNINGS")


@dataclass(frozen=True, slots=True)
class Run:
    """What a run left behind."""

    code: int
    stdout: bytes
    stderr: bytes

    @property
    def out(self) -> str:
        return self.stdout.decode()

    @property
    def err(self) -> str:
        return self.stderr.decode()

    @property
    def json(self) -> Any:
        """The JSON on stdout; NaN and infinity are no JSON."""
        return json.loads(self.out, parse_constant=_refuse)

    @property
    def results(self) -> Any:
        return self.json["results"]

    @property
    def jsonl(self) -> list[dict[str, Any]]:
        return [json.loads(line, parse_constant=_refuse) for line in self.out.splitlines()]

    @property
    def csv(self) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(self.out)))

    def failed(self, code: int) -> str:
        """Check the contract of a failure, and return its one line."""
        assert self.code == code, self.err
        assert self.err.count("\n") == 1, self.err
        assert self.err.endswith("\n")
        assert self.err.startswith("kernelpoint: error: ")
        assert "Traceback" not in self.err
        assert "internal error" not in self.err
        assert self.stdout == b""
        return self.err


def _refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON")


def environment(**changes: str) -> dict[str, str]:
    """Return this process's environment with what decides about the output settled."""
    kept = {name: value for name, value in os.environ.items() if name not in UNSETTLED}
    return kept | SETTLED | changes


Kernelpoint = Callable[..., Run]
JSON = ("--format", "json")


def results(kernelpoint: Kernelpoint, *words: object) -> Any:
    """Return the results of a command that must succeed."""
    run = kernelpoint(*words, *JSON)
    assert run.code == 0, run.err
    return run.results


def drawn_of(plan: Path) -> list[dict[str, Any]]:
    """Return the launches that a plan file draws."""
    return [each for stratum in json.loads(plan.read_text())["strata"] for each in stratum["launches"]]


# Two benchmarks of scale models at 8 and 16: of one the working set comes to fit between 32 and 64.
BENCHMARKS = """\
benchmark,size,ipc,mpki,f_mem
fits,8,100,6.0,
fits,16,198,6.0,0.5
fits,32,390,5.9,
fits,64,1500,0.2,
flat,8,50,1.0,
flat,16,99,1.0,
flat,32,195,1.0,
flat,64,380,1.0,
"""


@pytest.fixture(scope="session")
def kernelpoint() -> Kernelpoint:
    """Run the command line in this process; equal runs that write no file are done once."""
    done: dict[tuple[object, ...], Run] = {}

    def run(*words: object, stdin: bytes = b"", **changes: str) -> Run:
        arguments = [str(word) for word in words]
        key = (*arguments, stdin, *sorted(changes.items()))
        if key not in done or {"-o", "--output", "--overrides", "convert", "export", "baseline"} & set(
            arguments
        ):
            done[key] = _in_process(arguments, stdin, environment(**changes))
        return done[key]

    return run


def _in_process(arguments: list[str], stdin: bytes, environ: dict[str, str]) -> Run:
    out, err, inward = (
        io.TextIOWrapper(io.BytesIO(content), encoding="utf-8", newline="", write_through=True)
        for content in (b"", b"", stdin)
    )
    with (
        redirect_stdout(out),
        redirect_stderr(err),
        patch.object(sys, "stdin", inward),
        patch.dict(os.environ, environ, clear=True),
        plans_made_once(),
    ):
        code = cli.run(arguments)
    return Run(int(code), out.buffer.getvalue(), err.buffer.getvalue())


@pytest.fixture(scope="session")
def program() -> Callable[..., Run]:
    """Run the command line as a program of its own."""

    def run(*words: object, stdin: bytes = b"", **changes: str) -> Run:
        done = subprocess.run(
            [sys.executable, "-m", "tui", *map(str, words)],
            input=stdin,
            capture_output=True,
            cwd=PROJECT,
            env=environment(**changes),
            timeout=120,
            check=False,
        )
        return Run(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture(scope="session")
def resnet(sample_data: Path) -> Path:
    """A profile of 34 kernel groups."""
    return sample_data / "resnet50-like.sqlite"


@pytest.fixture(scope="session")
def resnet_csv(sample_data: Path) -> Path:
    """The same launches as nsys prints them."""
    return sample_data / "resnet50-like-gpu-trace.csv"


@pytest.fixture(scope="session")
def gpt2(sample_data: Path) -> Path:
    """Another profile, of the PyTorch profiler."""
    return sample_data / "gpt2-like.json.gz"


@pytest.fixture(scope="session")
def plan_file(kernelpoint: Kernelpoint, resnet: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plan of the resnet sample with all defaults."""
    path = tmp_path_factory.mktemp("plan") / "plan.json"
    assert kernelpoint("sample", resnet, "-o", path).code == 0
    return path


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def counts(tmp_path: Path) -> Path:
    """An instruction count for every launch of the resnet sample, by launch id."""
    path = tmp_path / "counts.csv"
    path.write_text("id,instructions\n" + "".join(f"{index},{index % 7 + 1}\n" for index in range(5600)))
    return path


def tracer_names(gpu_trace: Path) -> str:
    """What MacSim's tracer lists of the kernels of an nsys trace, but the third one, which it missed."""
    table = gpu_trace.read_text().partition("\n")[2]
    rows = [row for row in csv.DictReader(io.StringIO(table)) if row["GrdX"]]
    return "".join(
        f"Kernel{number} name: {row['Name']}\n  Grid size: ({row['GrdX']}, {row['GrdY']}, {row['GrdZ']}), "
        f"Block size: ({row['BlkX']}, {row['BlkY']}, {row['BlkZ']}), maxBlockPerCore: 16\n"
        for number, row in enumerate(rows[:2] + rows[3:])
    )


def cycles_of(plan: Path, table: Path, *, spread: int = 1, instructions: bool = False) -> Path:
    """Write three cycles for each nanosecond of a plan's launches, more or fewer by their ids."""
    rows = [("id", "cycles", "instructions")]
    for each in drawn_of(plan):
        cycles = each["duration_ns"] * (300 + spread * (each["id"] * 7919 % 21 - 10)) // 100
        rows.append((each["id"], cycles, each["duration_ns"]))
    table.write_text("".join(",".join(map(str, row[: 3 if instructions else 2])) + "\n" for row in rows))
    return table


def counters_of(plan: Path, table: Path) -> Path:
    """Write what Nsight Compute counts of a plan's launches, more or fewer by their ids."""
    rows = [
        (
            "id",
            "gpu__time_duration.sum",
            "dram__bytes.sum",
            "sm__sass_thread_inst_executed_op_ffma_pred_on.sum",
            "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
            "sm__throughput.avg.pct_of_peak_sustained_elapsed",
        )
    ]
    for each in drawn_of(plan):
        ns, number = each["duration_ns"], each["id"]
        shares = 50 + number % 37, 50 + number % 29
        rows.append((number, ns, ns * (400 + number % 7), ns * (3000 + number % 11), *shares))
    table.write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
    return table


def write_inputs(folder: Path, gpu_trace: Path) -> None:
    """Write what commands read beside profiles, plans and results."""
    rows = "".join(f"{cycle},5000,3,4,8\n" for cycle in range(500, 30_001, 500))
    contents = {
        "benchmarks.csv": BENCHMARKS,
        "target.toml": "[gpu]\nsms = 64\nllc_mib = 16\nllc_slices = 16\nmemory_controllers = 8\n",
        "trace.txt": "".join(f"{128 * (access % 3000):#x}\n" for access in range(9000)),
        "intervals.csv": f"cycle,instructions,ctas,ctas_per_sm,sms\n{rows}",
        "base.config": "",
        "other.config": "",
        "kernel_names.txt": tracer_names(gpu_trace),
    }
    for name, content in contents.items():
        (folder / name).write_text(content)


@pytest.fixture(scope="session")
def command_lines(
    resnet: Path, resnet_csv: Path, plan_file: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Sequence[object]]:
    """Every command with arguments that make it succeed."""
    folder = tmp_path_factory.mktemp("products")
    write_inputs(folder, resnet_csv)
    benchmarks = folder / "benchmarks.csv"
    return {
        "open": ("open", resnet),
        "summary": ("summary", resnet),
        "info": ("info", resnet),
        "groups": ("groups", resnet, "--plan"),
        "ranges": ("ranges", resnet),
        "layers": ("layers", resnet),
        "ranks": ("ranks", resnet),
        "histogram": ("histogram", resnet, "--kernel", "#9"),
        "timeline": ("timeline", resnet, "--kernel", "#9", "--bins", "5"),
        "tree": ("tree", resnet, "--kernel", "#9"),
        "sample": ("sample", resnet, "--judge", "20"),
        "trade-off": ("trade-off", resnet, "--epsilons", "0.01,0.05,0.2"),
        "compare": ("compare", resnet, "--repeats", "5"),
        "judge": ("judge", plan_file, resnet, "--repeats", "20"),
        "difference": ("difference", f"{resnet}@:2800", f"{resnet}@2800:"),
        "baseline save": ("baseline", "save", folder / "baseline.json", resnet),
        "align": ("align", plan_file, folder / "kernel_names.txt"),
        "estimate": ("estimate", plan_file, cycles_of(plan_file, folder / "cycles.csv", instructions=True)),
        "speedup": (
            *("speedup", plan_file, f"base={cycles_of(plan_file, folder / 'base.csv')}"),
            f"other={cycles_of(plan_file, folder / 'other.csv', spread=2)}",
        ),
        "roofline": (
            *("roofline", plan_file, counters_of(plan_file, folder / "counters.csv")),
            *("--peak", "9T,600G"),
        ),
        "study new": (
            *("study", "new", plan_file, f"base={folder / 'base.config'}"),
            *(f"other={folder / 'other.config'}", "-o", folder / "study.toml", "--force"),
        ),
        # By the method that is quickest at one epsilon after another.
        "report": ("report", resnet, "--method", "random", "-o", folder / "report.html"),
        "methods": ("methods",),
        "schema": ("schema", "scale", "predict"),
        "mcp": ("mcp",),
        "export": ("export", plan_file, "--to", "csv", "-o", folder / "export", "--force"),
        "run": (
            *("run", plan_file, "--to", "csv", "--simulator", "expr {id} + 1000", "--jobs", "4"),
            *("-o", folder / "run"),
        ),
        "project": ("project", folder / "intervals.csv"),
        "convert": ("convert", resnet, "-o", folder / "converted.parquet"),
        "demo": ("demo",),
        "scale open": ("scale", PROJECT / "sample_data" / "scale-model-example.toml"),
        "scale predict": ("scale", "predict", benchmarks, "--benchmark", "fits", "--rule", "all"),
        "scale validate": ("scale", "validate", benchmarks),
        "scale derive": ("scale", "derive", folder / "target.toml", "--factor", "4,8"),
        "scale mrc": (
            *("scale", "mrc", folder / "trace.txt", "--capacity", "8=256KiB,16=512KiB"),
            *("--instructions", "100000"),
        ),
    }
