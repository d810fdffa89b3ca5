"""No simulator outlives its run: not one that is killed, nor one whose watcher was killed as well."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sampling.running.processes import end, end_left, is_full, start
from tests.cli.conftest import PROJECT

#: A shell that has a child of its own; neither heeds SIGTERM
STUBBORN = "trap '' TERM; cd {}; sleep 60 & echo $! > child; wait"

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are told by /proc")


def is_alive(pid: int) -> bool:
    status = Path(f"/proc/{pid}/status")
    # Where nobody waits for orphans a dead one stays listed.
    return status.exists() and "State:\tZ" not in status.read_text()


def wait_for(what: Callable[[], object]) -> None:
    deadline = time.monotonic() + 20
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def child_in(folder: Path) -> int:
    path = folder / "child"
    wait_for(lambda: path.exists() and path.read_text().strip())
    return int(path.read_text())


def test_what_was_started_ends_with_a_program_that_is_killed(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from sampling.running.processes import start; "
        "process = start(sys.argv[1], Path(sys.argv[2])); time.sleep(60)"
    )
    words = (code, STUBBORN.format(tmp_path), str(tmp_path))
    program = subprocess.Popen([sys.executable, "-c", *words], cwd=PROJECT)
    child = child_in(tmp_path)
    assert is_alive(child)
    program.kill()
    program.wait()
    wait_for(lambda: not is_alive(child))


def test_what_is_left_is_found_again_and_ended(tmp_path: Path) -> None:
    process = start(STUBBORN.format(tmp_path), tmp_path)
    child = child_in(tmp_path)
    # The first process may have been killed alone.
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert is_alive(child)
    end_left([tmp_path, tmp_path / "none"])
    wait_for(lambda: not is_alive(child))
    end([process])


@pytest.mark.parametrize("changed", ["start", "boot", "garbled"])
def test_a_number_that_was_given_again_is_left_alone(tmp_path: Path, changed: str) -> None:
    process = start(STUBBORN.format(tmp_path), tmp_path)
    child = child_in(tmp_path)
    pid, began, boot = (tmp_path / "pid").read_text().split()
    texts = {"start": f"{pid} {int(began) - 1} {boot}", "boot": f"{pid} {began} another", "garbled": pid}
    (tmp_path / "pid").write_text(texts[changed])
    end_left([tmp_path])
    assert is_alive(child)
    end([process])
    wait_for(lambda: not is_alive(child))


def test_a_disk_is_full_where_nothing_more_can_be_written(tmp_path: Path) -> None:
    assert not is_full(tmp_path)
    (tmp_path / "space").symlink_to("/dev/full")
    assert is_full(tmp_path)
    assert not list(tmp_path.iterdir())
