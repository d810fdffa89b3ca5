"""The program's entry. It imports next to nothing: from here on an interruption is one line and a code."""

from __future__ import annotations

# Built in; `signal` itself brings modules that take longer to import than all else here.
import _signal  # type: ignore[import-not-found]
import os
import sys
from types import FrameType


def main() -> None:
    """Run the program and exit."""
    if _signal.getsignal(_signal.SIGINT) is not _signal.SIG_IGN:
        _signal.signal(_signal.SIGINT, _end_at_once)
    from tui.terminal import interruption

    interruption.listen()
    from tui import program

    sys.exit(interruption.settled(program.run_in_terminal(sys.argv[1:])))


def _end_at_once(_: int, __: FrameType | None) -> None:
    # Nothing is begun yet, and nothing imported that could say it.
    os.write(2, b"kernelpoint: interrupted\n")
    os._exit(130)


def run(arguments: list[str]) -> int:
    """Run the program on these arguments, in a process of somebody else's, and return its exit code."""
    from tui import program

    return program.run(arguments)


if __name__ == "__main__":
    main()
