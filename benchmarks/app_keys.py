"""How soon the app answers in each view: opening it, and its keys, on a pseudo-terminal of 80x24.

    python benchmarks/app_keys.py                  a million synthetic launches, and 60,000 kernel groups
    python benchmarks/app_keys.py FILE...          these profiles

A view has answered when what a key asks for is written; milliseconds are medians of five, and in brackets the
slowest. The view is at rest before each key, so nothing else is computed meanwhile, except in view 3, whose
trade-off goes on. A terminal at the other end of a network adds its own delay.
"""

from __future__ import annotations

import os
import platform
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from app_start import FOOTER, QUIET_SECONDS, Program
from synthetic_profile import write_many_groups, write_profile

REPEATS = 5
NAMES = {b"\r": "enter", b"\t": "tab", b"\x1b": "esc"}


@dataclass(frozen=True, slots=True)
class ViewKeys:
    """A view, what is there once it has answered, and keys to press in it.

    Attributes
    ----------
    key : opens it.
    shown : is written when it is open.
    pressed : pairs of keys that undo each other, or a key twice.
    rests : whether the app comes to rest in it, so that the last byte written tells when a key is answered.
    """

    key: bytes
    name: str
    shown: bytes
    pressed: tuple[tuple[bytes, bytes], ...]
    rests: bool = True


VIEWS = (
    ViewKeys(b"1", "Groups", b"[1]", ((b"j", b"k"), (b"G", b"g"), (b"s", b"s"), (b"x", b"x"))),
    ViewKeys(b"2", "Split tree", b"proposed", ((b"]", b"["), (b"}", b"{"), (b"x", b"x"))),
    ViewKeys(b"3", "Plan", b"this draw", (), rests=False),
    ViewKeys(b"6", "Timeline", b"[6]", ((b"j", b"k"), (b"+", b"-"), (b"t", b"t"), (b"x", b"x"))),
)


def answered(program: Program, key: bytes, shown: bytes | None = None) -> float:
    """Return the milliseconds from a key to the text it shows, or to the last byte before all is quiet."""
    before = len(program.output)
    pressed = last = time.perf_counter()
    program.press(key)
    if shown is not None:
        program.seconds_until(shown, after=before)
        return (time.perf_counter() - pressed) * 1e3
    while program.read(QUIET_SECONDS):
        last = time.perf_counter()
    return (last - pressed) * 1e3


def opened(path: str) -> Program:
    """Start the app on a profile, and wait until its first view is at rest."""
    program = Program(path)
    program.seconds_until(b"#1 ", FOOTER)
    time.sleep(1)
    program.settle()
    return program


def measured(path: str) -> dict[str, list[float]]:
    """Return the milliseconds of opening each view and of each pair of its keys."""
    times: dict[str, list[float]] = {}
    for _ in range(REPEATS):
        program = opened(path)
        for view in VIEWS:
            if view.key != b"1":
                times.setdefault(f"{view.name} opens", []).append(answered(program, view.key, view.shown))
            if view.rests:
                program.settle()
            for pair in view.pressed:
                name = " ".join(NAMES.get(key, key.decode()) for key in dict.fromkeys(pair))
                times.setdefault(f"{view.name} {name}", []).extend(answered(program, key) for key in pair)
        program.leave()
    return times


def main(paths: list[str]) -> None:
    """Print a row a key of each profile."""
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    for path in paths:
        print(f"\n{Path(path).name}")
        for name, milliseconds in measured(path).items():
            print(f"  {name:<20} {statistics.median(milliseconds):6.0f} ms ({max(milliseconds):.0f})")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(sys.argv[1:])
    else:
        with tempfile.TemporaryDirectory() as folder:
            million, groups = Path(folder) / "1M.parquet", Path(folder) / "60k-groups.parquet"
            write_profile(million, 1_000_000)
            write_many_groups(groups, 60_000)
            main([str(million), str(groups)])
