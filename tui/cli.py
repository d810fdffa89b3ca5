"""The program's entry: arguments in, exit code out, every failure one line."""

from __future__ import annotations

import os
import sys
from difflib import get_close_matches
from pathlib import Path

from tui import diagnostics
from tui.diagnostics import ExitCode
from tui.registry import COMMANDS

_NOT_A_PROFILE = {"--help", "-h", "--version", "--install-completion", "--show-completion"}


def main() -> None:
    """Run the program and exit."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run the program on these arguments and return its exit code."""
    try:
        return _dispatched(_with_command(arguments))
    except KeyboardInterrupt:
        diagnostics.note("interrupted")
        return ExitCode.INTERRUPT
    except BrokenPipeError:
        # The reader has gone: nothing is left to say, and Python must not try to flush either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.ANALYSIS
    except Exception as error:
        usage = getattr(error, "format_message", None)
        if usage is None:
            return diagnostics.exit_code_of(error)
        diagnostics.fail(f"{usage()} Try `kernelpoint {arguments[0]} --help`.")
        return ExitCode.USAGE


def _with_command(arguments: list[str]) -> list[str]:
    """Put `open` before a first word that is no command: it is a profile, or an option of `open`."""
    if not arguments or arguments[0] in COMMANDS or arguments[0] in _NOT_A_PROFILE:
        return arguments
    first = arguments[0]
    close = get_close_matches(first, COMMANDS, 1)
    if close and not Path(first).exists():
        diagnostics.note(f"there is no file {first!r}; did you mean `kernelpoint {close[0]}`?")
    return ["open", *arguments]


def _dispatched(arguments: list[str]) -> int:
    from tui.parser import build

    # Typer leaves a process in a completion run; else it returns the code of an Exit, or None.
    code = build()(arguments, standalone_mode=False, prog_name=diagnostics.PROGRAM)
    return int(code or ExitCode.OK)


if __name__ == "__main__":
    main()
