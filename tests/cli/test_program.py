"""What only a process of its own shows: interruption, pipes, import cost, and being started with -m."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import environment
from tui.version import __version__

Run = Any
Program = Callable[..., Run]

PROJECT = Path(__file__).resolve().parents[2]


def start(*words: object, **streams: Any) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, *map(str, words)], cwd=PROJECT, **streams)


def test_it_starts_as_a_module(program: Program, resnet: Path) -> None:
    run = program("--version")
    assert run.code == 0
    assert run.out.startswith(f"kernelpoint {__version__} ")
    assert run.out.count("\n") == 1
    run = program(resnet, "--format", "json")
    assert run.code == 0
    assert run.results["launches"] == 5600


def test_failures_are_one_line_here_too(program: Program) -> None:
    program("summary", "missing.sqlite").failed(3)
    program("summary", "--nonsense").failed(2)


def test_help_and_version_import_no_heavy_package() -> None:
    heavy = {"numpy", "pandas", "textual", "pyarrow", "scipy", "sklearn", "adbc_driver_sqlite", "msgspec"}
    code = (
        "import sys\nfrom tui import cli\n"
        "for words in (['--version'], ['--help'], ['sample', '--help']): assert cli.run(words) == 0\n"
        f"print(sorted({heavy!r} & sys.modules.keys()), file=sys.stderr)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=PROJECT, check=True)
    assert run.stderr.decode() == "[]\n"


def test_a_small_sqlite_profile_is_summed_up_without_textual_or_pandas(resnet: Path) -> None:
    heavy = {"pandas", "textual", "scipy", "sklearn"}
    code = (
        "import sys\nfrom tui import cli\n"
        f"assert cli.run(['summary', {str(resnet)!r}]) == 0\n"
        f"print(sorted({heavy!r} & sys.modules.keys()), file=sys.stderr)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=PROJECT, check=True)
    assert run.stderr.decode() == "[]\n"


_INTERRUPTED = """
import os, signal, sys
from sampling.plan import judge

whole = judge.judge_design

def interrupted(*arguments):
    os.kill(os.getpid(), signal.SIGINT)
    return whole(*arguments)

judge.judge_design = interrupted
from tui.cli import main
main()
"""


def test_an_interruption_is_130_and_one_line(resnet: Path, tmp_path: Path) -> None:
    target = tmp_path / "table"
    words = ("compare", resnet, "--repeats", "100000", "-o", target)
    run = start(
        "-c",
        _INTERRUPTED,
        *words,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A shell that starts this in the background leaves SIGINT ignored, and Python would keep it so.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    out, err = run.communicate(timeout=60)
    assert run.returncode == 130
    assert out == b""
    assert err == b"kernelpoint: interrupted\n"
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("form", ["table", "csv"])
def test_a_reader_that_leaves_is_no_failure_to_talk_about(resnet: Path, form: str) -> None:
    read, write = os.pipe()
    os.close(read)
    run = start("-m", "tui", "groups", resnet, "--format", form, stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    _, err = run.communicate(timeout=60)
    assert err == b""


def test_a_reader_of_help_may_leave() -> None:
    read, write = os.pipe()
    os.close(read)
    run = start("-m", "tui", "--help", stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    _, err = run.communicate(timeout=60)
    assert err == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_full_disk_is_one_line(resnet: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        run = start("-m", "tui", "groups", resnet, stdout=full, stderr=subprocess.PIPE)
        _, err = run.communicate(timeout=60)
    assert run.returncode == 1
    assert re.fullmatch(rb"kernelpoint: error: .*No space left on device\n", err)


def test_closed_streams_are_no_failure(resnet: Path) -> None:
    for closed in (">&-", "2>&-", "<&-"):
        line = f'exec "$0" -m tui groups "$1" --format csv {closed}'
        run = subprocess.run(
            ["/bin/sh", "-c", line, sys.executable, str(resnet)],
            capture_output=True,
            cwd=PROJECT,
            check=False,
        )
        assert run.returncode == 0, run.stderr.decode()
        assert run.stderr == b""


def test_convert_can_be_piped_into_another_command(program: Program, resnet: Path) -> None:
    converted = program("convert", resnet, "-o", "-")
    assert converted.code == 0
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
