"""The program: arguments in, exit code out, every failure one line."""

from __future__ import annotations

import gc
import io
import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path

from sampling.errors import OptionError, ProfileError
from tui.registry import ALIASES, FIRST_WORDS, SECOND_WORDS, command_named, versions
from tui.terminal import diagnostics, interruption
from tui.terminal import tty as terminal
from tui.terminal.diagnostics import ExitCode

_NOT_A_PROFILE = {"--help", "-h", "--version", "--install-completion", "--show-completion"}


def run_in_terminal(arguments: list[str]) -> int:
    """Run the program where stdout and stderr are its own, and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        # A kernel name or path that the terminal's encoding lacks is shown escaped, never an error.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    # A plan of 100,000 kernel groups makes millions of objects, none of them in a cycle: by default Python
    # would spend half of the time looking for one.
    gc.set_threshold(100_000, 50, 50)
    for name in ("stdout", "stderr"):
        # Somewhere to write where the parent closed it.
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - open to the end
    if _is_ascii_wanted(arguments) and isinstance(sys.stderr, io.TextIOWrapper):
        # Notes, errors and the app are for people alone; stdout may be given data, which stay what they are.
        sys.stderr.reconfigure(encoding="ascii", errors="backslashreplace")
    return run(arguments)


def run(arguments: list[str]) -> int:
    """Run the program on these arguments and return its exit code."""
    if _is_ascii_wanted(arguments):
        # Typer draws its help with boxes, unless it is told before it is imported.
        os.environ.setdefault("TYPER_USE_RICH", "0")
    try:
        return _dispatched(_with_command(arguments))
    except KeyboardInterrupt:
        return _interrupted()
    except BrokenPipeError:
        # The reader has gone: nothing is left to say, and Python must not try to flush either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.ANALYSIS
    except Exception as error:
        if interruption.came():
            # Libraries make other errors of an interruption, as of an import that is broken off.
            return _interrupted()
        usage = getattr(error, "format_message", None)
        if usage is None:
            # It brings the options of all commands, which `--help` does without.
            from tui.options.command_line import error_text

            return diagnostics.error_exit_code(error, error_text(error))
        # A parser's message without its full stop, and without the mark of the library below it.
        message = usage().rstrip(".").replace("Value error, ", "")
        if of_kernels := _of_kernels(error):
            # Options spelt like it choose no kernels.
            message, meant = message.partition(" (")[0], of_kernels
        else:
            meant = _meant(message) or f"try `{_help_for(arguments)}`"
        diagnostics.fail(f"{message}; {meant}")
        return ExitCode.USAGE


def _interrupted() -> int:
    with suppress(OSError, ValueError):
        sys.stdout.flush()
    if interruption.came():
        interruption.tell()
    else:
        diagnostics.note("interrupted")
    return ExitCode.INTERRUPT


def _is_ascii_wanted(arguments: list[str]) -> bool:
    return terminal.ascii_only("--ascii" in arguments, os.environ, getattr(sys.stdout, "encoding", None))


def _with_command(arguments: list[str]) -> list[str]:
    """Put `open` before a first word that is no command: it is a profile, or an option of `open`.

    Another word for a command becomes the command's own. Of `scale` it is the second word; without a terminal
    `scale` alone stays, for it is the family's help, and so does what reads like a command of it misspelt,
    for the parser knows which one is near.

    Raises ProfileError: there is no such profile, and it reads like a command misspelt.
    """
    if not arguments:
        return arguments
    first, words = arguments[0], arguments[1:]
    if first in _NOT_A_PROFILE:
        return [argument for argument in arguments if argument != "--ascii"]
    if first == "scale":
        from tui.options.scale import with_flags_repeated

        if not words:
            words = ["open"] if terminal.is_interactive() else []
        elif words[0] not in (*SECOND_WORDS["scale"], "--help", "-h") and not _is_misspelt(words[0]):
            _check_order(words, SECOND_WORDS["scale"], f"{diagnostics.PROGRAM} scale")
            words = ["open", *words]
        return ["scale", *with_flags_repeated(words)]
    if first in ALIASES:
        return [ALIASES[first], *words]
    if first in FIRST_WORDS:
        return arguments
    _check_order(arguments, FIRST_WORDS, diagnostics.PROGRAM)
    if (close := get_close_matches(first, FIRST_WORDS, 1)) and _is_misspelt(first):
        remedy = f"did you mean `{diagnostics.PROGRAM} {close[0]}`?"
        raise ProfileError("neither a command nor a file", path=first, remedy=remedy)
    return ["open", *arguments]


def _check_order(words: list[str], commands: Sequence[str], before: str) -> None:
    """Raise OptionError if an option stands before the command it is meant for; `before` was typed first."""
    later = next((word for word in words[1:] if word in commands), None)
    if words[0].startswith("-") and later is not None and not Path(later).exists():
        remedy = f"options follow it: `{before} {later} {words[0]} ...`"
        raise OptionError(f"{words[0]} stands before the command", remedy=remedy)


def _is_misspelt(text: str) -> bool:
    """Return whether a word that is no command cannot be a file or an option either."""
    return not text.startswith("-") and not {".", "/", os.sep} & set(text) and not Path(text).exists()


def _meant(message: str) -> str | None:
    """Return which of the words that a parser's message lists may be meant; None where none is near."""
    match = re.search(r"'([^']*)' is not one of ('.*')$", message)
    close = get_close_matches(match[1].lower(), re.findall(r"'([^']*)'", match[2]), 1) if match else []
    return f"did you mean {close[0]!r}?" if close else None


def _of_kernels(error: Exception) -> str | None:
    """Return what chooses kernels where a command has no --kernel; None where another option is meant."""
    if getattr(error, "option_name", None) not in {"--kernel", "-k"}:
        return None
    parameters = error.ctx.command.params  # type: ignore[attr-defined]
    if any("--include" in parameter.opts for parameter in parameters):
        return "`--include REGEX` keeps the kernels of a name"
    if any(parameter.name == "plan" and parameter.param_type_name == "argument" for parameter in parameters):
        return "`--include REGEX` of `kernelpoint sample` makes a plan of the kernels of a name"
    return None


def _help_for(arguments: list[str]) -> str:
    """Return the command that explains what these arguments could be."""
    first = arguments[0]
    if first.startswith("-"):
        return f"{diagnostics.PROGRAM} --help"
    completed = _with_command(arguments)
    return f"{diagnostics.PROGRAM} {command_named(completed) or completed[0]} --help"


def _dispatched(arguments: list[str]) -> int:
    if arguments == ["--version"]:
        # Typer, and what writes answers, take three times as long to import.
        sys.stdout.write(f"{versions()}\n")
        sys.stdout.flush()
        return ExitCode.OK
    from tui.parser import parser_of

    # In a completion run the words are in the environment: bash has them there, or another shell.
    shells = (os.environ.get(name, "") for name in ("COMP_WORDS", "_TYPER_COMPLETE_ARGS"))
    words = next(filter(None, shells), "").split()[1:] if "_KERNELPOINT_COMPLETE" in os.environ else arguments
    parser = parser_of(command_named(words))
    # Typer leaves a process in a completion run; else it returns the code of an Exit, or None. It makes an
    # Exit of an interruption too, without a word.
    code = int(parser(arguments, standalone_mode=False, prog_name=diagnostics.PROGRAM) or ExitCode.OK)
    if code == ExitCode.INTERRUPT:
        raise KeyboardInterrupt
    return code
