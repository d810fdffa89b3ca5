"""The bundled study: its traces are those that were simulated, and its profiles and results are of them."""

from __future__ import annotations

import csv
import json
from hashlib import sha256
from pathlib import Path

import pytest
from study_traces import PROGRAMS, write_traces

from tui.program import run

# Of the list and the first six traces, one or more of each kernel.
TRACES = {"stencil": "3df648ffce90aec1", "layers": "563e5140f3c5efa2"}
CONFIGURATIONS = ("base", "gto", "l1lat30", "dram150", "l2lat120")


@pytest.fixture
def study(sample_data: Path) -> Path:
    """The folder of the study."""
    return sample_data / "study"


@pytest.mark.parametrize("program", PROGRAMS)
def test_traces_are_those_that_were_simulated(program: str, tmp_path: Path) -> None:
    write_traces(program, tmp_path, 6)
    written = b"".join(path.read_bytes() for path in sorted(tmp_path.iterdir()))
    assert sha256(written).hexdigest()[:16] == TRACES[program]


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_profile_has_the_launches_of_the_program(program: str, study: Path) -> None:
    lines = (study / f"{program}.csv").read_text(encoding="utf-8").splitlines()[1:]
    recorded = [(row["Name"], (int(row["GrdX"]), int(row["GrdY"]))) for row in csv.DictReader(lines)]
    assert recorded == [(launch.kernel[0], launch.grid) for launch in PROGRAMS[program]()]


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_page_has_the_speedups_that_are_said(
    program: str, study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = [f"{name}={study / 'out' / name / f'{program}.log.gz'}" for name in CONFIGURATIONS]
    words = ["speedup", str(study / f"{program}.plan.json"), *results, "--format", "json", "--quiet"]
    assert run(words) == 0
    page = (study / "README.md").read_text(encoding="utf-8")
    for pair in json.loads(capsys.readouterr().out)["results"]["programs"][0]["cells"][1:]:
        row = next(
            line for line in page.splitlines() if line.startswith(f"| {program} | {pair['configuration']} |")
        )
        said, true = row.split(" | ")[3], float(row.split(" | ")[2])
        assert said == f"{pair['speedup']:.3f} ({pair['low']:.3f} to {pair['high']:.3f})"
        assert pair["low"] <= true <= pair["high"], row
