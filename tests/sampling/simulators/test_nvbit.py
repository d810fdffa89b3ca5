"""A plan for NVBit's tools: ranges from 0, the end not in them."""

from __future__ import annotations

from pathlib import Path

from sampling.plan.plan_file import PlanFile
from tests.sampling.simulators.conftest import Write, program, shell


def test_the_ranges_by_hand(ten: PlanFile, written: Write) -> None:
    """Launches 2, 4, 5, 8, 9."""
    files = written(ten, "nvbit")
    assert files["ranges.txt"] == "2 3\n4 6\n8 10\n"
    assert "START_GRID_NUM=2 END_GRID_NUM=10" in files["README.txt"]
    sharded = written(ten, "nvbit", shards=2)
    assert (sharded["ranges-1.txt"], sharded["ranges-2.txt"]) == ("5 6\n", "2 3\n4 5\n8 10\n")


def test_the_program_is_run_once_a_range(ten: PlanFile, written: Write, tmp_path: Path) -> None:
    written(ten, "nvbit")
    (tmp_path / "count.so").touch()
    counted = program(
        tmp_path / "counted", 'cat; echo "$START_GRID_NUM $END_GRID_NUM ${CUDA_INJECTION64_PATH##*/} $1"'
    )
    ran = shell(tmp_path / "out" / "run.sh", counted, "x y", TOOL=tmp_path / "count.so")
    assert ran.returncode == 0, ran.stderr
    results = tmp_path / "out" / "results"
    assert {file.name: file.read_text() for file in results.iterdir()} == {
        "launches-2-3.txt": "2 3 count.so x y\n",
        "launches-4-6.txt": "4 6 count.so x y\n",
        "launches-8-10.txt": "8 10 count.so x y\n",
    }
