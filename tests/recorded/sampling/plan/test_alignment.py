"""Recordings by others: of one run in two formats, and of one model on two vendors' GPUs."""

from __future__ import annotations

from pathlib import Path

from sampling.plan.other_recording import align
from sampling.readers.registry import read_profile
from tests.sampling.plan.test_other_recording import parting, recorded


def test_recordings_of_one_run_align(shared_data: Path) -> None:
    """The SQLite export knows its process, the CSV does not; both have the same 8,190 launches."""
    sqlite = read_profile([str(shared_data / "nsys-sqlite/rtx3090-gaussian-nsys2022.4.sqlite")])
    csv = read_profile([str(shared_data / "nsys-csv/rtx3090-gaussian-gputrace-nsys2022.4.csv")])
    found = align(recorded(sqlite), csv)
    assert found.renumbered == ((11357, 0, 0, 0),)
    assert found.launches_differing == 0


def test_recordings_on_two_vendors_gpus_part_at_once(shared_data: Path) -> None:
    h100, mi300x = (
        read_profile([str(shared_data / "kineto" / f"{gpu}-qwen1.5-inference.json.gz")])
        for gpu in ("h100", "mi300x")
    )
    counts = "1,516 launches here, 1,465 in the plan's recording; "
    said = parting(recorded(h100), mi300x, h100)
    assert f"{counts}launch 0 is " in said
    assert "CatArrayBatchedCopy" in said
    assert "vectorized_elementwise_kernel" in said
    assert len(said) < 650
    assert f"{counts}record the" in parting(recorded(h100), mi300x, h100, names_may_differ=True)
