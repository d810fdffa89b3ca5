"""Ends the program by a signal at random moments, and counts how it went and what it left behind.

    python benchmarks/signals.py --trials 100 PROFILE

Of each signal so many starts of ``sample PROFILE -o FOLDER/plan.json`` are ended at a random moment between
the start and somewhat after the usual end. An interruption before Python has read the first line of the
program is Python's own, and counted apart: ``--until`` bounds the moments to the start of the program.
"""

from __future__ import annotations

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)


def main() -> None:
    """Try, count, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("profile", type=Path)
    parser.add_argument("--trials", type=int, default=100, help="of each signal")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--until", type=float, help="seconds after the start of the latest signal")
    parser.add_argument("--program", default=f"{sys.executable} -m tui", help="what is started")
    options = parser.parse_args()
    command = [*options.program.split(), "sample", str(options.profile.resolve()), "-o"]
    rng = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "plan.json"
        began = time.monotonic()
        subprocess.run([*command, str(target)], capture_output=True, check=True)
        until = options.until or 1.1 * (time.monotonic() - began)
        for number in _SIGNALS:
            print(f"{number.name}, {options.trials} times in the first {until:.2f} s")
            counts: Counter[str] = Counter()
            most = 0
            for _ in range(options.trials):
                outcome = _trial(command, target, number, rng.uniform(0, until))
                left = [path for path in Path(folder).iterdir() if path.name.startswith(".")]
                most = max(most, len(left))
                if number is not signal.SIGKILL and left:
                    outcome += ", a temporary file left"
                    left[0].unlink()
                counts[outcome] += 1
            for outcome, times in counts.most_common():
                print(f"  {times:4d}  {outcome}")
            if number is signal.SIGKILL:
                print(f"  at most {most} temporary files at once in the folder")


def _trial(command: list[str], target: Path, number: signal.Signals, after_seconds: float) -> str:
    """Start the program, send it the signal, and say how it ended."""
    target.unlink(missing_ok=True)
    with subprocess.Popen(
        [*command, str(target)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        # Where this itself runs in the background, its children would begin with SIGINT ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    ) as started:
        time.sleep(after_seconds)
        started.send_signal(number)
        error = started.communicate()[1].decode()
    return f"exit {started.returncode}, {_said(error)}"


def _said(error: str) -> str:
    if not error:
        return "silent"
    if "Traceback" not in error:
        return error.splitlines()[-1]
    # Of Python itself no line is in a file of the program's.
    is_ours = "/tui/" in error or "/sampling/" in error
    return "a traceback" if is_ours else "a traceback of Python's own start or end"


if __name__ == "__main__":
    main()
