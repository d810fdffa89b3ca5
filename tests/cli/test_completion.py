"""What a shell is offered at the tab key, asked as the scripts of bash, zsh and fish ask it."""

from __future__ import annotations

import io
import os
import shlex
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from unittest.mock import patch

import pytest

from sampling.methods.registry import method_names, method_options
from sampling.simulators.registry import exporter_names
from tui import cli, completion

PROJECT = Path(__file__).resolve().parents[2]


PROGRAM = (sys.executable, "-m", "tui")


def asked(**environ: str) -> list[str]:
    """The lines that the program answers with; nothing on stderr."""
    out, err = io.StringIO(), io.StringIO()
    with patch.dict(os.environ, environ), redirect_stdout(out), redirect_stderr(err), suppress(SystemExit):
        cli.run([])
    assert err.getvalue() == ""
    return out.getvalue().split()


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A loaded machine may take longer to read a profile than a person waits at the tab key."""
    monkeypatch.setattr(completion, "_MOST_SECONDS", 60)


def offered(line: str) -> list[str]:
    """What bash is offered at the end of a line."""
    words = shlex.split(line)
    cursor = len(words) - (not line.endswith(" "))
    return asked(_KERNELPOINT_COMPLETE="complete_bash", COMP_WORDS="\n".join(words), COMP_CWORD=str(cursor))


def test_methods() -> None:
    assert offered("kernelpoint sample --method ") == list(method_names())
    assert offered("kernelpoint tree run.sqlite -m s") == ["stem", "sieve", "single-iteration"]
    assert offered("kernelpoint compare --methods root,ste") == ["root,stem"]


def test_a_profile_in_place_of_a_command_has_the_options_of_open() -> None:
    assert offered("kernelpoint run.sqlite --method ro") == ["root"]
    assert offered("kernelpoint diff a b --fail-a") == ["--fail-above"]


def test_options_of_the_method_that_is_named() -> None:
    assert offered("kernelpoint sample --method pks --set ") == [f"pks.{name}=" for name in names("pks")]
    assert offered("kernelpoint sample --set root.") == [f"root.{name}=" for name in names("root")]
    every = offered("kernelpoint sample --set ")
    assert every == [f"{method}.{name}=" for method in method_names() for name in names(method)]


def names(method: str) -> list[str]:
    """The names of a method's options."""
    return list(method_options(method).__dataclass_fields__)


def test_exporters_and_choices() -> None:
    assert offered("kernelpoint export plan.json --to ") == list(exporter_names())
    assert offered("kernelpoint sample --format js") == ["json", "jsonl"]


@pytest.mark.parametrize("form", ["resnet50-like.sqlite", "resnet50-like-gpu-trace.csv"])
def test_kernels_of_the_profile_that_is_named(sample_data: Path, form: str) -> None:
    line = f"kernelpoint histogram {shlex.quote(str(sample_data / form))} --kernel"
    every = offered(f"{line} ")
    # By the sample's own script.
    assert {"explicit_convolve_sgemm", "volta_sgemm_128x64_nn", "max_pool_forward_nchw"} < set(every)
    assert len(every) == len(set(every))
    assert offered(f"{line} volta_sgemm_128") == [
        name for name in every if name.startswith("volta_sgemm_128")
    ]


@pytest.mark.parametrize("profile", ["missing.sqlite", "README.md", ""])
def test_no_kernels_of_what_cannot_be_read(profile: str) -> None:
    assert offered(f"kernelpoint histogram {profile} --kernel ") == []


def test_zsh_and_fish() -> None:
    zsh = asked(
        _KERNELPOINT_COMPLETE="complete_zsh", _TYPER_COMPLETE_ARGS="kernelpoint run.sqlite --method st"
    )
    assert '"stem"' in " ".join(zsh)
    fish = subprocess.run(
        PROGRAM,
        env=os.environ
        | {"PYTHONPATH": str(PROJECT)}
        | {
            "_KERNELPOINT_COMPLETE": "complete_fish",
            "_TYPER_COMPLETE_FISH_ACTION": "get-args",
            "_TYPER_COMPLETE_ARGS": "kernelpoint sample --method r",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert (fish.stdout.split(), fish.stderr) == (["root", "random"], "")


def test_half_typed_quotes_offer_nothing_and_break_nothing() -> None:
    environ = {"_KERNELPOINT_COMPLETE": "complete_bash", "COMP_CWORD": "3"}
    assert asked(COMP_WORDS="kernelpoint\nsample\n'--me", **environ) == []
