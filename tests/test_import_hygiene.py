"""What an import brings with it: the engines nothing of the screen, nobody a heavy package unasked."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent

SCREEN = {"tui", "textual", "rich", "typer"}
HEAVY = {
    "pandas",
    "sklearn",
    "scipy",
    "pyarrow",
    "adbc_driver_sqlite",
    "adbc_driver_manager",
    "msgspec",
    "dask",
}

# Its classes are msgspec's, so it is imported where they are needed, by no module as it loads.
MADE_OF_HEAVY = {"sampling.readers.kineto_events"}

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
    modules = [name for name in modules_of(engine) if name not in MADE_OF_HEAVY]
    assert engine in modules
    found = packages_with(*modules)
    assert engine in found
    other = {"sampling", "scalemodel"} - {engine}
    assert unwanted(found, SCREEN | HEAVY | other) == {}


def test_the_command_line_starts_with_the_standard_library_and_typer() -> None:
    found = packages_with("tui.cli")
    ours = {"tui", "sampling", "scalemodel"}
    foreign = {package for package in found if package not in sys.stdlib_module_names | ours}
    assert {package for package in foreign if not package.startswith("_")} <= {"typer", "click"}


def test_commands_and_charts_do_not_bring_textual_or_a_heavy_package() -> None:
    modules = [
        name for name in modules_of("tui") if not name.startswith("tui.app") and name != "tui.__main__"
    ]
    assert "tui.commands.sample" in modules
    assert unwanted(packages_with(*modules), {"textual"} | HEAVY) == {}


def test_the_import_contracts_hold() -> None:
    pytest.importorskip("importlinter")
    run = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    done = subprocess.run(
        [sys.executable, "-c", run, "--no-cache"], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    assert "0 broken" in done.stdout
