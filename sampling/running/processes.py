"""Processes that simulate, each in a session of its own: none outlives the run that started it.

However this program ends, a pipe that it alone holds open is closed then; in each session a watcher waits for
that and ends the session. Should the watcher have been killed too, the next run ends what is left: a file
``pid`` in the folder of the launch has the session's number, and, for numbers are given again, when its first
process started and since which boot of the machine that is counted.
"""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import time
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path

_PID, _PROC, _BOOT = "pid", Path("/proc"), Path("/proc/sys/kernel/random/boot_id")
#: What processes have to end after each signal: together shorter than the second that the program has itself
_SIGNALS = ((signal.SIGTERM, 0.5), (signal.SIGKILL, 0.2))
_POLL_SECONDS = 0.01
# The shell keeps the pipe from what it runs, and the watcher from outliving that.
_WATCHED = "exec 3<&0 </dev/null; (read -r _ <&3; kill -KILL 0) & exec 3<&-; {}; kill -KILL $!"
_FULL, _PROBE_BYTES = {errno.ENOSPC, errno.EDQUOT}, 1 << 16


def start(line: str, folder: Path) -> subprocess.Popen[bytes]:
    """Run a line of the shell, and note in the folder which session that is."""
    process = subprocess.Popen(  # noqa: S603
        ["/bin/sh", "-c", _WATCHED.format(line)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    if (stat := _stat(process.pid)) is not None:
        (folder / _PID).write_text(f"{process.pid} {stat[1]} {_boot()}\n")
    return process


def close(process: subprocess.Popen[bytes]) -> None:
    """Let go of a process that has ended; what it left in its session, if it was killed itself, ends too."""
    if process.stdin is not None:
        process.stdin.close()


def end(processes: Collection[subprocess.Popen[bytes]]) -> None:
    """End processes and all that they started; what they began is begun anew the next time."""
    for number, seconds in _SIGNALS:
        until = time.monotonic() + seconds
        for process in processes:
            # Also what a process that has ended itself left in its group.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, number)
        for process in processes:
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0.01, until - time.monotonic()))
    for process in processes:
        close(process)


def end_left(folders: Iterable[Path]) -> None:
    """End what an earlier run started in these folders and is still at work."""
    began: dict[int, int] = {}
    for folder in folders:
        with suppress(OSError, ValueError):
            session, ticks, boot = (folder / _PID).read_text().split()
            if boot == _boot():
                began[int(session)] = int(ticks)
    for number, seconds in _SIGNALS:
        until = time.monotonic() + seconds
        left = _members(began)
        for pid in left:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)
        while left and time.monotonic() < until:
            time.sleep(_POLL_SECONDS)
            left = _members(began)


def _members(began: dict[int, int]) -> list[int]:
    """Return the processes of sessions, by when the first process of each started."""
    if not began:
        return []
    stats = {int(path.name): _stat(int(path.name)) for path in _PROC.glob("[0-9]*")}
    alive = {pid: stat for pid, stat in stats.items() if stat is not None}
    # A session whose number another has by now began later.
    ours = {session for session, ticks in began.items() if alive.get(session, (session, ticks))[1] == ticks}
    return [pid for pid, (session, ticks) in alive.items() if session in ours and ticks >= began[session]]


def _stat(pid: int) -> tuple[int, int] | None:
    """Return a process's session and when it started, in ticks since the boot; None where it has ended."""
    try:
        # The name before the bracket may hold anything.
        words = (_PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()
        return None if words[0] in {b"Z", b"X"} else (int(words[3]), int(words[19]))
    except (OSError, IndexError, ValueError):
        return None


def _boot() -> str:
    try:
        return _BOOT.read_text().strip()
    except OSError:
        return "unknown"


def is_full(folder: Path) -> bool:
    """Return whether no more can be written into a folder, so that what was just written may be cut off."""
    probe = folder / "space"
    try:
        probe.write_bytes(b"\0" * _PROBE_BYTES)
    except OSError as error:
        return error.errno in _FULL
    finally:
        with suppress(OSError):
            probe.unlink()
    return False
