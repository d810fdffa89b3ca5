"""A real program in a real terminal, held from the other end."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

PROJECT = Path(__file__).resolve().parents[2]
MOST_STARTUP_BYTES = 64 * 1024
# Nothing takes nearly as long where nothing is wrong, on a loaded machine either.
PATIENCE_SECONDS = 60
_QUIET_SECONDS = 0.15
_TICKS_AT_REST = 3
ENTERED, LEFT = b"\x1b[?1049h", b"\x1b[?1049l"

# The terminal becomes the process's own, which a dropped connection then sends SIGHUP.
OWN_TERMINAL = """
import fcntl, os, sys, termios
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


class Terminal:
    """The program on a pseudo-terminal of 80x24.

    `own` makes it the controlling terminal of the program, as it is at the other end of SSH.
    """

    started: ClassVar[list[subprocess.Popen[bytes]]] = []

    def __init__(
        self,
        *arguments: str,
        program: tuple[str, ...] = ("-m", "tui"),
        size: tuple[int, int] = (80, 24),
        own: bool = False,
        **environ: str,
    ) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", *reversed(size), 0, 0))
        self.modes = termios.tcgetattr(slave)
        self.slave = slave
        self.output = b""
        self._process = subprocess.Popen(
            [sys.executable, *(("-c", OWN_TERMINAL) if own else ()), *program, *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=os.environ | {"PYTHONPATH": str(PROJECT)} | environ,
        )
        self.started.append(self._process)

    def read_until(self, wanted: bytes, *, after: int = 0) -> None:
        """Collect what the program writes, up to the bytes wanted, which stand after so many others."""
        while wanted not in self.output[after:]:
            self._read(f"{wanted!r} in {self.output[-2000:]!r}")

    def _read(self, missing: str) -> bool:
        ready, _, _ = select.select([self._master], [], [], PATIENCE_SECONDS)
        assert ready, f"silent for {PATIENCE_SECONDS} seconds; missing: {missing}"
        try:
            chunk = os.read(self._master, 65536)
        except OSError:
            return False
        self.output += chunk
        return bool(chunk)

    def press(self, keys: bytes) -> None:
        """Type."""
        os.write(self._master, keys)

    def resize(self, width: int, height: int) -> None:
        """Make the window another size."""
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        self._process.send_signal(signal.SIGWINCH)

    def settle(self) -> int:
        """Collect what is written until the program rests, and return how much there is by then."""
        give_up = time.monotonic() + PATIENCE_SECONDS
        worked, is_resting = -1, False
        while not is_resting:
            assert time.monotonic() < give_up, f"it goes on: {self.output[-500:]!r}"
            before = worked
            is_quiet = not select.select([self._master], [], [], _QUIET_SECONDS)[0]
            if not is_quiet:
                self._read("anything")
            states, worked = self._work()
            # One that waits for a processor is as silent as one with nothing to do.
            is_resting = is_quiet and before >= 0 and worked - before <= _TICKS_AT_REST and "R" not in states
        return len(self.output)

    def _work(self) -> tuple[str, int]:
        """Return the states of the program's threads, as `ps` shows them, and its processor time in ticks."""
        stats = []
        for task in Path(f"/proc/{self._process.pid}/task").iterdir():
            # A thread may end while the folder is listed.
            with suppress(FileNotFoundError, ProcessLookupError):
                stats.append((task / "stat").read_text().rpartition(")")[2].split())
        return "".join(stat[0] for stat in stats), sum(int(stat[11]) + int(stat[12]) for stat in stats)

    def send(self, number: signal.Signals) -> None:
        """Send the program a signal."""
        self._process.send_signal(number)

    def wait_for_state(self, state: str) -> None:
        """Collect what is written until the process is in a state, as `ps` shows it."""
        give_up = time.monotonic() + PATIENCE_SECONDS
        while Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()[0] != state:
            assert time.monotonic() < give_up, f"never {state}"
            if select.select([self._master], [], [], 0.05)[0]:
                self._read("anything")

    def hang_up(self) -> int:
        """Drop the connection, and return the exit code of the program, which must end by itself."""
        os.close(self.slave)
        os.close(self._master)
        try:
            return self._process.wait(timeout=PATIENCE_SECONDS)
        finally:
            self._process.kill()

    def leave(self) -> int:
        """Wait for the program's end and return its exit code."""
        modes = None
        give_up = time.monotonic() + PATIENCE_SECONDS
        while True:
            assert time.monotonic() < give_up, f"does not end:\n{self.output[-2000:]!r}"
            ready, _, _ = select.select([self._master], [], [], 0.05)
            if ready:
                self._read("the end")
            elif self._process.poll() is not None:
                modes = termios.tcgetattr(self.slave)
                break
        os.close(self.slave)
        os.close(self._master)
        assert modes == self.modes, "the terminal's modes are as before"
        return self._process.returncode

    @classmethod
    def end_all(cls) -> None:
        """Kill what still runs: a test that fails leaves its program where it was, stopped perhaps."""
        while cls.started:
            process = cls.started.pop()
            process.kill()
            process.wait()

    @property
    def after(self) -> str:
        """What is written once the app has given the screen back."""
        rest = self.output.rpartition(LEFT)[2].decode()
        return re.sub(r"\x1b\[[0-9;?<>=]*[a-zA-Z]|\x1b\][^\x07]*\x07", "", rest).replace("\r", "").strip()
