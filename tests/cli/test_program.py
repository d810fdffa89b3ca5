"""What only a process of its own shows: signals, pipes, starting with -m; and what a shell completes."""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tomllib
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import IO
from unittest.mock import patch

import pytest

from sampling.methods.registry import method_names, method_options
from sampling.simulators.registry import exporter_names
from tests.cli.conftest import JSON, PROJECT, Kernelpoint, environment
from tui import __version__, cli


def test_it_starts_as_a_module(program: Kernelpoint, resnet: Path) -> None:
    run = program("--version")
    assert (run.code, run.out.count("\n")) == (0, 1)
    assert run.out.startswith(f"kernelpoint {__version__} ")
    assert program(resnet, *JSON).results["launches"] == 5600
    program("summary", "missing.sqlite").failed(3)
    program("summary", "--nonsense").failed(2)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("sample", "x.csv", "--kernel", "gemm"), "`--include REGEX` keeps the kernels of a name"),
        (("info", "x.csv", "-k", "gemm"), "`--include REGEX` keeps the kernels of a name"),
        (
            ("judge", "p.json", "x.csv", "--kernel=gemm"),
            "`--include REGEX` of `kernelpoint sample` makes a plan",
        ),
        # Here another option is meant.
        (("scale", "predict", "--kernel"), "(Possible options: --kernels, --run); try"),
    ],
)
def test_where_there_is_no_kernel_it_is_said_what_chooses_them(
    kernelpoint: Kernelpoint, words: tuple[str, ...], said: str
) -> None:
    error = kernelpoint(*words).failed(2)
    assert f"No such option: {'-k' if '-k' in words else '--kernel'}" in error
    assert said in error


def to_stdout(stdout: int | IO[bytes], *words: object) -> tuple[int, bytes]:
    """Run with this standard output, and return the code and what is said."""
    done = subprocess.run(
        [sys.executable, "-m", "tui", *map(str, words)],
        stdout=stdout,
        stderr=subprocess.PIPE,
        cwd=PROJECT,
        check=False,
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize("words", [("groups",), ("groups", "--format", "csv"), ("--help",)])
def test_a_reader_that_leaves_is_no_failure_to_talk_about(resnet: Path, words: tuple[str, ...]) -> None:
    read, write = os.pipe()
    os.close(read)
    assert to_stdout(write, *words, *([resnet] if words[0] == "groups" else []))[1] == b""
    os.close(write)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_full_disk_is_one_line(resnet: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        code, said = to_stdout(full, "groups", resnet)
    assert code == 1
    assert re.fullmatch(rb"kernelpoint: error: .*No space left on device\n", said)


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-"])
def test_closed_streams_are_no_failure(resnet: Path, closed: str) -> None:
    line = f'exec "$0" -m tui groups "$1" --format csv {closed}'
    words = ["/bin/sh", "-c", line, sys.executable, str(resnet)]
    run = subprocess.run(words, capture_output=True, cwd=PROJECT, check=False)
    assert (run.returncode, run.stderr) == (0, b"")


def test_convert_can_be_piped_into_another_command(program: Kernelpoint, resnet: Path) -> None:
    converted = program("convert", resnet, "-o", "-")
    piped = program("groups", "-", "--format", "jsonl", stdin=converted.stdout)
    assert piped.jsonl == program("groups", resnet, "--format", "jsonl").jsonl


@pytest.mark.parametrize(
    ("others", "said", "is_checkout"),
    [
        (("tui.py",), "'{}/tui.py' hides a package", True),
        (("sampling/__init__.py",), "'{}/sampling' hides a package", False),
        (("scalemodel.py", "tui/__init__.py"), "'{}/tui', '{}/scalemodel.py' hide packages", True),
        # A folder without __init__.py comes after every package, wherever it lies.
        (("sampling/notes.py",), "", False),
    ],
)
def test_packages_of_others_are_named_and_not_imported(
    tmp_path: Path, others: tuple[str, ...], said: str, is_checkout: bool
) -> None:
    """Installed, the packages lie beside the entry; of a checkout it is copied to elsewhere."""
    site = tmp_path / "site-packages"
    site.mkdir()
    shutil.copy(PROJECT / "tui" / "kernelpoint_main.py", site)
    for name in () if is_checkout else ("tui", "sampling", "scalemodel"):
        (site / name).symlink_to(PROJECT / name)
    for other in others:
        (tmp_path / other).parent.mkdir(exist_ok=True)
        (tmp_path / other).write_text("raise SystemExit('imported')")
    entry = "sys.path.remove(''); from kernelpoint_main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; {entry}", "--version"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=environment(PYTHONPATH=os.pathsep.join((".", str(site), str(PROJECT)))),
    )
    if said:
        assert (done.returncode, done.stdout) == (1, "")
        named = said.replace("{}", str(tmp_path))
        assert done.stderr.startswith(f"kernelpoint: error: {named} of kernelpoint's own; leave that folder")
        assert done.stderr.count("\n") == 1
    else:
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("kernelpoint ")


def test_the_command_begins_with_what_sees_them() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())
    assert project["project"]["scripts"] == {"kernelpoint": "kernelpoint_main:main"}
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["force-include"]["tui/kernelpoint_main.py"] == "kernelpoint_main.py"


# Sends the signal when a module is looked for, or when the results are written.
_ENDED = """
import importlib.abc, os, signal, sys

class Sender(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == {module!r}:
            {module_code}

sys.meta_path.insert(0, Sender())
sys.argv = ["kernelpoint", *sys.argv[1:]]
from tui.cli import main
main()
"""

_WRITING = """
import os, signal, sys
from pathlib import Path

whole = Path.write_text

def write_text(self, *words, **more):
    done = whole(self, *words, **more)
    if self.name.startswith("."):
        {code}
    return done

Path.write_text = write_text
from tui.cli import main
main()
"""


def ended_by(code: str, *words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, words)],
        capture_output=True,
        text=True,
        cwd=PROJECT,
        env=environment(),
        timeout=120,
        check=False,
        preexec_fn=_as_in_the_foreground,
    )


def _as_in_the_foreground() -> None:
    # A shell in the background leaves SIGINT ignored, nohup SIGHUP, and Python would keep them so.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def sent(name: str) -> str:
    return f"os.kill(os.getpid(), signal.{name})"


_JUDGING = """
import os, signal
from sampling.plan import judge

def judge_design(*_):
    os.kill(os.getpid(), signal.SIGINT)

judge.judge_design = judge_design
from tui.cli import main
main()
"""


def test_an_interruption_is_130_and_one_line(resnet: Path, tmp_path: Path) -> None:
    ended = ended_by(_JUDGING, "compare", resnet, "--repeats", "9", "-o", tmp_path / "table")
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "kernelpoint: interrupted\n")
    assert not any(tmp_path.iterdir())


_SWALLOWED = f"try: {sent('SIGINT')}\n            except KeyboardInterrupt: raise ImportError('broken')"


@pytest.mark.parametrize(
    ("module", "what"),
    [
        *((each, sent("SIGINT")) for each in ("tui.program", "sampling.errors", "typer", "tui.parser")),
        *((each, _SWALLOWED) for each in ("numpy", "tui.text.profile")),
    ],
    ids=str,
)
def test_an_interruption_while_the_program_is_imported(module: str, what: str, resnet: Path) -> None:
    """Even where an import turns it into another error."""
    ended = ended_by(_ENDED.format(module=module, module_code=what), "info", resnet)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "kernelpoint: interrupted\n")


def test_an_interruption_that_a_finalizer_swallows_ends_the_program_all_the_same(
    resnet: Path, tmp_path: Path
) -> None:
    class_code = f"type('Held', (), {{'__del__': lambda _: {sent('SIGINT')}}})()"
    ended = ended_by(_WRITING.format(code=class_code), "sample", resnet, "-o", tmp_path / "plan.json")
    assert (ended.returncode, ended.stderr.splitlines()[-1]) == (130, "kernelpoint: interrupted")
    assert "Traceback" not in ended.stderr
    assert {path.name for path in tmp_path.iterdir()} <= {"plan.json"}


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_another_signal_leaves_nothing_half_made(name: str, resnet: Path, tmp_path: Path) -> None:
    """The program dies by the signal, as if nobody had listened: a shell says 143 and 129."""
    ended = ended_by(_WRITING.format(code=sent(name)), "sample", resnet, "-o", tmp_path / "plan.json")
    # Where undoing takes long it is ended by force, with the code that a shell gives such a death.
    assert ended.returncode in {-getattr(signal, name), 128 + getattr(signal, name)}
    assert "Traceback" not in ended.stderr
    assert list(tmp_path.iterdir()) == []


def asked(**environ: str) -> list[str]:
    """The lines that the program answers with; nothing on stderr."""
    out, err = io.StringIO(), io.StringIO()
    with patch.dict(os.environ, environ), redirect_stdout(out), redirect_stderr(err), suppress(SystemExit):
        cli.run([])
    assert err.getvalue() == ""
    return out.getvalue().split()


def offered(line: str) -> list[str]:
    """What bash is offered at the end of a line."""
    words = shlex.split(line)
    cursor = len(words) - (not line.endswith(" "))
    return asked(_KERNELPOINT_COMPLETE="complete_bash", COMP_WORDS="\n".join(words), COMP_CWORD=str(cursor))


def settings(*methods: str) -> list[str]:
    """The options of these methods, as they are typed."""
    return [f"{name}.{option}=" for name in methods for option in method_options(name).__dataclass_fields__]


OFFERED = {
    "sample --method ": list(method_names()),
    "tree run.sqlite -m s": ["stem", "sieve", "single-iteration"],
    "compare --methods root,ste": ["root,stem"],
    "sample --method pks --set ": settings("pks"),
    "sample --set root.": settings("root"),
    "sample --set ": settings(*method_names()),
    "export plan.json --to ": list(exporter_names()),
    "sample --format js": ["json", "jsonl"],
}


@pytest.mark.parametrize("line", OFFERED)
def test_what_is_offered(line: str) -> None:
    assert offered(f"kernelpoint {line}") == OFFERED[line]


def test_zsh_and_fish(program: Kernelpoint) -> None:
    typed = "kernelpoint sample --method st"
    zsh = asked(_KERNELPOINT_COMPLETE="complete_zsh", _TYPER_COMPLETE_ARGS=typed)
    assert '"stem"' in " ".join(zsh)
    fish = program(
        _KERNELPOINT_COMPLETE="complete_fish",
        _TYPER_COMPLETE_FISH_ACTION="get-args",
        _TYPER_COMPLETE_ARGS="kernelpoint sample --method r",
    )
    assert (fish.out.split(), fish.err) == (["root", "random"], "")


def test_half_typed_quotes_offer_nothing_and_break_nothing() -> None:
    environ = {"_KERNELPOINT_COMPLETE": "complete_bash", "COMP_CWORD": "3"}
    assert asked(COMP_WORDS="kernelpoint\nsample\n'--me", **environ) == []
