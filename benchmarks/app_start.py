"""The app on a pseudo-terminal: how soon it paints, is browsable and answers a key, and the bytes it writes.

    python benchmarks/app_start.py                 the sample data, and a million synthetic launches
    python benchmarks/app_start.py FILE...         these profiles

Every run is a process of its own on a terminal of 80x24; seconds are medians, from the start of the process
or from the key, and in brackets the fastest. A terminal at the other end of a network adds its own delay.
"""

from __future__ import annotations

import fcntl
import os
import platform
import pty
import select
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from dataclasses import dataclass
from pathlib import Path

from synthetic_profile import write_profile

PROJECT = Path(__file__).resolve().parent.parent
REPEATS = 10
KEYS = 5
ROWS, COLUMNS = 24, 80
QUIET_SECONDS = 0.3
PATIENCE_SECONDS = 60
FOOTER = b"Command"


@dataclass(frozen=True, slots=True)
class Figures:
    """One run: seconds from the start of the process, seconds a key takes, bytes written."""

    painted: float
    browsable: float
    key: float
    bytes_at_start: int
    bytes_a_key: float


class Program:
    """The app on a terminal, as a person would start it."""

    def __init__(self, path: str) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self.output = b""
        self.started = time.perf_counter()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tui", path],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=PROJECT,
            env=os.environ | {"TERM": "xterm-256color", "LANG": "C.UTF-8"},
        )
        os.close(slave)

    @property
    def process(self) -> int:
        """Its id."""
        return self._process.pid

    def read(self, patience: float) -> bool:
        """Collect what is written; False where nothing comes any more."""
        ready, _, _ = select.select([self._master], [], [], patience)
        if not ready:
            return False
        try:
            chunk = os.read(self._master, 65536)
        except OSError:  # how Linux says that the other end has gone
            return False
        self.output += chunk
        return bool(chunk)

    def seconds_until(self, *wanted: bytes, after: int = 0) -> float:
        """Return the time since the start at which all of these are written."""
        while not all(text in self.output[after:] for text in wanted):
            if not self.read(PATIENCE_SECONDS):
                raise SystemExit(f"never written: {wanted}\n{self.output[-2000:]!r}")
        return time.perf_counter() - self.started

    def settle(self) -> int:
        """Wait until nothing more is drawn, and return the bytes written so far."""
        while self.read(QUIET_SECONDS):
            pass
        return len(self.output)

    def press(self, key: bytes) -> None:
        """Type."""
        os.write(self._master, key)

    def leave(self) -> None:
        """Quit, and wait."""
        self.press(b"q")
        while self.read(PATIENCE_SECONDS):
            pass
        self._process.wait()
        os.close(self._master)


def measured(path: str) -> Figures:
    """Start the app on a profile, press cursor-down a few times, leave."""
    program = Program(path)
    painted = program.seconds_until(b"Reading ")
    browsable = program.seconds_until(b"#1 ", FOOTER)
    at_start = before = program.settle()
    seconds = []
    for number in range(KEYS):
        # Down and up again, for a profile may have two groups only.
        key, rank = (b"j", 2) if number % 2 == 0 else (b"k", 1)
        pressed = time.perf_counter() - program.started
        program.press(key)
        # The title over the histogram is drawn with it.
        seconds.append(program.seconds_until(f"[tab] #{rank} ".encode(), after=before) - pressed)
        before = program.settle()
    program.leave()
    return Figures(painted, browsable, statistics.median(seconds), at_start, (before - at_start) / KEYS)


def report(path: str) -> None:
    """Print the medians of a profile, and in brackets the fastest: what the machine does when it is quiet."""
    runs = [measured(path) for _ in range(REPEATS)]
    columns = [[getattr(run, name) for run in runs] for name in ("painted", "browsable", "key")]
    seconds = "  ".join(f"{statistics.median(column):6.3f} ({min(column):.3f})" for column in columns)
    bytes_at_start = max(run.bytes_at_start for run in runs)
    bytes_a_key = max(run.bytes_a_key for run in runs)
    print(f"{Path(path).name:<24} {seconds}  {bytes_at_start:>14,} {bytes_a_key:>11,.0f}")


def main(paths: list[str]) -> None:
    """Print a row a profile."""
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    print(
        f"{'profile':<24} {'first paint s':>14}  {'browsable s':>14}  {'key s':>14}  "
        f"{'bytes at start':>14} {'bytes a key':>11}"
    )
    for path in paths:
        report(path)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(sys.argv[1:])
    else:
        with tempfile.TemporaryDirectory() as folder:
            million = Path(folder) / "1M.parquet"
            write_profile(million, 1_000_000)
            main([str(PROJECT / "sample_data" / "resnet50-like.sqlite"), str(million)])
