"""What an import brings with it: the engines nothing of the screen, nobody a heavy package unasked."""

from __future__ import annotations

import json
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent

SCREEN = {"tui", "textual", "rich", "typer"}
HEAVY = {"pandas", "sklearn", "scipy", "pyarrow", "dask"}

# Imports modules one after the other and notes with which of them each top-level package came.
_NOTE_IMPORTS = """
import importlib, json, sys
before, came_with = set(sys.modules), {}
for name in sys.argv[1:]:
    importlib.import_module(name)
    for package in {module.partition(".")[0] for module in set(sys.modules) - before}:
        came_with.setdefault(package, name)
print(json.dumps(came_with))
"""


def modules_of(package: str) -> list[str]:
    """Return the names of all modules of a package of this project."""
    files = sorted((PROJECT / package).rglob("*.py"))
    parts = [file.relative_to(PROJECT).with_suffix("").parts for file in files]
    return [".".join(part[:-1] if part[-1] == "__init__" else part) for part in parts]


def packages_with(*modules: str) -> dict[str, str]:
    """Return package -> the first of the modules that brings it, as a fresh interpreter finds it."""
    done = subprocess.run(
        [sys.executable, "-c", _NOTE_IMPORTS, *modules],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, str] = json.loads(done.stdout)
    return found


def unwanted(found: dict[str, str], packages: set[str]) -> dict[str, str]:
    """Return those of the packages that were brought, and by which module."""
    return {package: module for package, module in found.items() if package in packages}


@pytest.mark.parametrize("engine", ["sampling", "scalemodel"])
def test_no_module_of_an_engine_brings_the_screen_or_a_heavy_package(engine: str) -> None:
    modules = modules_of(engine)
    assert engine in modules
    found = packages_with(*modules)
    assert engine in found
    above = {"scalemodel"} - {engine}
    assert unwanted(found, SCREEN | HEAVY | above) == {}


def test_the_public_names_of_the_engine_are_imported_when_they_are_used() -> None:
    found = packages_with("sampling")
    assert {package for package in found if package not in sys.stdlib_module_names} == {"sampling"}


def test_the_command_line_starts_with_the_standard_library_and_typer() -> None:
    found = packages_with("tui.cli")
    ours = {"tui", "sampling", "scalemodel"}
    foreign = {package for package in found if package not in sys.stdlib_module_names | ours}
    assert {package for package in foreign if not package.startswith("_")} <= {"typer", "click"}


def test_commands_and_charts_do_not_bring_textual_or_a_heavy_package() -> None:
    modules = [
        name for name in modules_of("tui") if not name.startswith("tui.app") and name != "tui.__main__"
    ]
    assert "tui.commands.plan" in modules
    assert unwanted(packages_with(*modules), {"textual"} | HEAVY) == {}


def test_the_import_contracts_hold() -> None:
    pytest.importorskip("importlinter")
    run = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    done = subprocess.run(
        [sys.executable, "-c", run, "--no-cache"], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    assert "0 broken" in done.stdout


def test_no_modules_import_each_other_in_a_circle() -> None:
    """An import inside a function counts as well."""
    grimp = pytest.importorskip("grimp")
    graph = grimp.build_graph("tui", "sampling", "scalemodel", cache_dir=None)
    imports = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    # Raises CycleError, which names the modules of a circle.
    TopologicalSorter(imports).prepare()


# pyarrow imports pandas as soon as it is given a Python or numpy value to convert.
_RUN_AND_NAME_PANDAS = """
import json, sys
from tui.cli import run
for words in json.loads(sys.argv[1]):
    code = run(words)
    assert code == 0, (words, code)
    assert "pandas" not in sys.modules, words
assert "pyarrow" in sys.modules
"""


@pytest.fixture(scope="module")
def small_profiles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with profiles that take the less common ways through the readers."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = tmp_path_factory.mktemp("profiles")
    rng = np.random.default_rng(1)
    launches = 6_000
    columns = {
        "name": ["gemm", "norm"] * (launches // 2),
        "duration_ns": rng.integers(1_000, 9_000, launches).astype(np.float64),
        "process": np.arange(launches) // 100,
        "stream": pa.array([None, 7] * (launches // 2), pa.int32()),
        **{
            f"{what}_{axis}": rng.integers(1, 1 << 30, launches)
            for what in ("grid", "block")
            for axis in "xyz"
        },
    }
    pq.write_table(pa.table(columns), folder / "launches.parquet", row_group_size=4_000)
    columns["process"] = np.arange(launches) % 2
    pq.write_table(pa.table(columns), folder / "interleaved.parquet")
    tables = folder / "export"
    tables.mkdir()
    kernels = {
        "start": np.arange(launches) * 10_000,
        "end": np.arange(launches) * 10_000 + columns["duration_ns"].astype(np.int64),
        "demangledName": np.arange(launches) % 2,
        "gridX": pa.array([None, 7] * (launches // 2), pa.int32()),
    }
    pq.write_table(pa.table(kernels), tables / "CUPTI_ACTIVITY_KIND_KERNEL.parquet")
    pq.write_table(pa.table({"id": [0, 1], "value": ["gemm", "norm"]}), tables / "StringIds.parquet")
    return folder


def test_no_command_brings_pandas(small_profiles: Path, sample_data: Path, tmp_path: Path) -> None:
    trace = sample_data / "resnet50-like-gpu-trace.csv"
    separated = tmp_path / "separated.csv"
    header, *rows = trace.read_text().splitlines()
    separated.write_text("\n".join([header, *(f" {row}" for row in rows)]) + "\n")
    profiles = [small_profiles / name for name in ("launches.parquet", "interleaved.parquet", "export")]
    commands = [
        *(["sample", str(each)] for each in (*profiles, trace, separated)),
        ["convert", str(trace), "-o", str(tmp_path / "profile.parquet")],
        ["sample", str(tmp_path / "profile.parquet")],
    ]
    done = subprocess.run(
        [sys.executable, "-c", _RUN_AND_NAME_PANDAS, json.dumps(commands)],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
