"""Jobs as processes of this machine: who has ended is told at once, and who runs too long is ended."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from sampling.running.job import Job
from sampling.running.local import LocalProcesses


def job(folder: Path, name: str) -> Job:
    place = folder / name
    place.mkdir()
    return Job(
        id=0,
        simulator="csv",
        ids=np.array([0]),
        drawn_from=frozenset({0}),
        is_check=False,
        duration_ns=1,
        folder=place,
        result=folder / f"{name}.csv",
        launch_list=None,
        traces=folder,
        caches=("cold",),
    )


def test_those_that_have_ended_are_returned_and_the_others_run_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    processes = LocalProcesses(None)
    slow, quick = job(tmp_path, "slow"), job(tmp_path, "quick")
    processes.start(slow, "sleep 60")
    processes.start(quick, f"touch {tmp_path}/touched")

    def refuse(_: float) -> None:
        raise AssertionError("it asks again and again")

    with monkeypatch.context() as patched:
        patched.setattr(time, "sleep", refuse)
        assert processes.wait() == [quick]
    assert (tmp_path / "touched").exists()
    assert list(processes) == [slow]
    processes.end()
    # An end that came meanwhile is no reason to wait on.
    assert processes.wait() == [slow]
    assert processes.wait() == []


def test_what_runs_too_long_is_ended_and_says_so(tmp_path: Path) -> None:
    processes = LocalProcesses(0.2)
    long = job(tmp_path, "long")
    began = time.monotonic()
    processes.start(long, "sleep 60")
    assert processes.wait() == [long]
    assert time.monotonic() - began < 30
    assert long.exit.read_text() == "ran past 0.2 s\n"
    assert len(processes) == 0
