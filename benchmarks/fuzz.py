"""Broken files of every format, and every command that reads them: whatever comes, one error line.

    python benchmarks/fuzz.py --cases 20000 --seed 0 [--only TEXT] [--minutes M] [--keep FOLDER]

Every case takes a small file that this project's writers made, breaks it, and runs one command on it in a
process of its own. Reported are exit codes outside the command contract, signals, tracebacks, internal
errors, warnings on stderr and runs of more than ten seconds, each kind once with the first case that shows
it. A case is made from its seed and number alone: `--first N --cases 1` runs it again. With `--keep`, the
broken files of what is reported stay there. With TEXT, only the files with it in their name are broken.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import pickle
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

from fuzz_inputs import BROKEN, PROFILE, PROJECT, Input, write_inputs

from tests.fuzzing.changes import changed

LIMIT_SECONDS = 10
_MEMORY_BYTES = 6 << 30
_FINE = {0, 1, 2, 3, 4, 130}
_INTERNAL = re.compile(r"internal error: (.*?);? the traceback is in (\S+)")
_NUMBERS = re.compile(r"0x[0-9a-f]+|'[^']*'|\"[^\"]*\"|[-\d.,]+")


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a command ended.

    Attributes
    ----------
    code : its exit code; minus the signal that ended it.
    text : what it wrote to stderr.
    log : the traceback of an internal error, empty without one.
    """

    code: int
    text: str
    log: str
    is_hung: bool

    @property
    def fault(self) -> str | None:
        """What is wrong with it, numbers and quoted texts left out; None where nothing is."""
        if self.is_hung:
            return f"hangs for more than {LIMIT_SECONDS} s"
        if self.code < 0:
            return f"killed by {signal.Signals(-self.code).name}"
        return self._fault_told

    @property
    def _fault_told(self) -> str | None:
        internal = _INTERNAL.search(self.text)
        if internal:
            return f"internal error: {_NUMBERS.sub('_', internal[1])[:90]} @ {_place(self.log)}"
        if "Traceback (most recent call last)" in self.text:
            return f"traceback: {_NUMBERS.sub('_', self.text.strip().splitlines()[-1])[:90]}"
        if self.code not in _FINE:
            return f"exit code {self.code}"
        if re.search(r"\w+Warning: ", self.text):
            return f"warns: {_NUMBERS.sub('_', self.text.strip().splitlines()[0].split('/')[-1])[:90]}"
        return None


def _place(log: str) -> str:
    """Return the innermost line of the project in a traceback."""
    found = re.findall(r'File "[^"]*/((?:sampling|scalemodel|tui)/[^"]+)", line (\d+)', log)
    return ":".join(found[-1]) if found else "?"


def run_command(arguments: list[str], folder: Path) -> Outcome:
    """Run a command in a fork of this process, which has imported all that takes long."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        _become(arguments, folder)
    stop = time.monotonic() + LIMIT_SECONDS
    is_hung = False
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        if time.monotonic() > stop and not is_hung:
            is_hung = True
            os.kill(child, signal.SIGKILL)
        time.sleep(0.002)
    text = (folder / "stderr").read_text(errors="replace")
    log = ""
    for path in folder.glob("kernelpoint-*.log"):
        log = path.read_text(errors="replace")
    return Outcome(os.waitstatus_to_exitcode(status), text, log, is_hung)


def _become(arguments: list[str], folder: Path) -> None:
    """Run a command in place of this process and end it."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    os.chdir(folder)
    tempfile.tempdir = str(folder)
    for number, name in ((0, "/dev/null"), (1, "stdout"), (2, "stderr")):
        flags = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        os.dup2(os.open(name, flags, 0o600), number)
    code = 99
    try:
        from tui.cli import run

        code = int(run(arguments))
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 98
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def run_case(seed: int, number: int, inputs: list[Input], profile: Path, folder: Path) -> tuple[str, Outcome]:
    """Break a file as the seed and the number of the case say, and run a command on it."""
    rng = random.Random(f"{seed} {number}")
    chosen = rng.choice(inputs)
    command = rng.choice(chosen.commands)
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir()
    broken = folder / chosen.path.name
    (shutil.copytree if chosen.path.is_dir() else shutil.copy)(chosen.path, broken)
    changed(broken, rng)
    places = {BROKEN: str(broken), PROFILE: str(profile)}
    arguments = [places.get(word, word) for word in command]
    shown = " ".join({BROKEN: broken.name, PROFILE: profile.name}.get(word, word) for word in command)
    return shown, run_command(arguments, folder)


def _import_all() -> None:
    """Import what commands import in their functions: a case must not take a second for it."""
    packages = ("sampling", "scalemodel", "tui")
    modules = [
        name
        for package in packages
        for _, name, _ in walk_packages([str(PROJECT / package)], f"{package}.")
        if not name.endswith("__main__")
    ]
    for name in (
        *(each for each in modules if not each.startswith("tui.app")),
        *("numpy", "pandas", "pyarrow", "pyarrow.parquet", "pyarrow.compute", "pyarrow.csv", "msgspec"),
        *("scipy.cluster.hierarchy", "scipy.stats", "sklearn.cluster", "sklearn.naive_bayes"),
        *("sklearn.linear_model", "sklearn.neural_network", "typer", "tui.cli", "tui.parser"),
    ):
        with contextlib.suppress(ModuleNotFoundError):
            import_module(name)


def main() -> None:
    """Run the cases and say what went wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = "1"
    with tempfile.TemporaryDirectory(prefix="kernelpoint-fuzz-") as place:
        _fuzz(options, Path(place))


def _fuzz(options: argparse.Namespace, folder: Path) -> None:
    # Written by a process of its own: threads that writing starts would not live on in the forks.
    listed = folder / "inputs"
    child = os.fork()
    if child == 0:
        try:
            with (folder / "written").open("w") as sink:
                os.dup2(sink.fileno(), 1)
                listed.write_bytes(pickle.dumps(write_inputs(folder)))
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    if not listed.exists():
        raise SystemExit("the files to break could not be written")
    profile, inputs = pickle.loads(listed.read_bytes())
    inputs = [each for each in inputs if options.only in each.path.name]
    _import_all()
    faults: Counter[str] = Counter()
    first: dict[str, str] = {}
    codes: Counter[int] = Counter()
    start = time.monotonic()
    number = options.first
    for number in range(options.first, options.first + options.cases):
        shown, outcome = run_case(options.seed, number, inputs, profile, folder / "case")
        codes[outcome.code] += 1
        fault = outcome.fault
        if fault is not None:
            faults[fault] += 1
            if fault not in first:
                first[fault] = f"case {number}: {shown}"
                print(f"{fault}\n    {first[fault]}", flush=True)
                if options.keep:
                    options.keep.mkdir(exist_ok=True)
                    shutil.copytree(folder / "case", options.keep / str(number), dirs_exist_ok=True)
        if time.monotonic() - start > 60 * options.minutes:
            break
    tried = number + 1 - options.first
    print(f"\n{tried:,} cases of seed {options.seed} in {time.monotonic() - start:.0f} s")
    print("exit codes: " + ", ".join(f"{code}: {count:,}" for code, count in sorted(codes.items())))
    for fault, count in faults.most_common():
        print(f"{count:6,}  {fault}\n        {first[fault]}")
    print(f"{sum(faults.values()):,} faults of {len(faults)} kinds")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
