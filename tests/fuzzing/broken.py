"""What is asserted of broken profiles."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]


def assert_read_or_refused(profiles: Iterable[Path], cases: int, *, seed: int = 0) -> None:
    """Break each profile in so many ways, all read in a process that may be killed without harm."""
    words = (*profiles, "--cases", cases, "--seed", seed)
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzzing.reading", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        cwd=PROJECT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([".", "sample_data"])},
    )
    lines = done.stdout.splitlines()
    last = lines[-1] if lines else "none"
    assert last == "all read or refused", (
        f"{last}: exit code {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
    )
