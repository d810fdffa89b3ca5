"""A drawn launch simulated in a folder of its own: what the simulator finds there, its line, its result.

The folder gets ``run.log`` and ``stderr.log``, and ``exit`` with the exit code, or why there is none, once
the process has ended.
"""

from __future__ import annotations

import re
import shlex
import shutil
import signal
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from sampling.arrays import IntArray
from sampling.errors import OptionError, ProfileError
from sampling.readers.input_file import inflated, open_input
from sampling.simulators.measured_run import CACHES, CYCLES, MeasuredRun
from sampling.simulators.registry import read_results
from sampling.simulators.results import NOT_WANTED
from sampling.text import counted, shortened

#: What a command must name, of each simulator that is run: what it simulates
NEEDED = {"accel-sim": "{list}", "macsim": "", "csv": "{id}"}
#: How ``timeout`` of the coreutils ends for a program that it ended, and how the shell says that a signal did
_TIMED_OUT, _SIGNALLED, _TAIL_BYTES = 124, 128, 1 << 16
#: What is said of logs that end before their launches do
_CUT_SIGNS = ("the run goes on, or was killed", " printed of ")


@dataclass(slots=True, eq=False)
class Job:
    """A process that simulates a drawn launch, and those that run before it for the caches' sake."""

    id: int  #: of the launch that it is called by
    ids: IntArray  #: (n,) of all launches in their order, `NOT_WANTED` for those that count for nothing
    drawn_from: frozenset[int]  #: the strata of those that count, 0-based
    is_check: bool  #: whether these are launches of another job once more, which count for no stratum
    duration_ns: int  #: of the launches that count, in the profile
    place: Path  #: its working folder
    result: Path  #: the file of its finished result
    list: Path | None  #: what the simulator is given to run; None where a command is told the id
    traces: Path  #: the folder of the traces that the list names
    caches: tuple[str, ...]  #: (n,) how each launch finds them; empty where nothing says it
    measured: MeasuredRun | None = field(default=None, repr=False)
    failure: str = ""

    @property
    def strata(self) -> frozenset[int]:
        """The strata that it counts for."""
        return frozenset() if self.is_check else self.drawn_from

    @property
    def failed(self) -> Path:
        """The file that says why it has no result."""
        return self.result.with_suffix(".failed")

    @property
    def has_ended(self) -> bool:
        """Whether nothing is left to run of it."""
        return self.measured is not None or bool(self.failure)

    def shell_line(self, words: Sequence[str], before: Sequence[str] = ()) -> str:
        """Make its folder with what the simulator looks for there; return the line that runs its command."""
        shutil.rmtree(self.place, ignore_errors=True)
        self.place.mkdir(parents=True)
        if self.list is not None:
            self._link_traces(self.list, words)
        said = {"{list}": self.list, "{id}": self.id, "{folder}": self.place, "{out}": self.place / "out"}
        stands_for = re.compile("|".join(map(re.escape, said)))
        words = [stands_for.sub(lambda found: str(said[found[0]]), word) for word in words]
        return (
            f"cd -- {shlex.quote(str(self.place))} || exit; {shlex.join([*before, *words])} > run.log "
            "2> stderr.log; echo $? > exit.part; mv exit.part exit"
        )

    def _link_traces(self, listed: Path, words: Sequence[str]) -> None:
        """Put links to the traces of a list, and to what else a simulator wants, where it looks for them."""
        text = listed.read_text(encoding="utf-8")
        if names := [name for name in text.split("\n") if name.startswith("kernel")]:
            # Accel-Sim looks for traces beside the list, and for the network where it runs.
            configs = (Path(word).parent for word in words if word.endswith(".config"))
            links = [(net, self.place / net.name) for folder in configs for net in folder.glob("*.icnt")]
            links += [(self.traces / name, listed.parent / name) for name in names]
        else:
            names = list(dict.fromkeys(re.findall(r"\./(Kernel\d+)/trace\.txt", text)))
            links = [(self.traces / name, self.place / name) for name in names]
            links.append((Path("params.in").absolute(), self.place / "params.in"))
            write_whole(self.place / "kernel_config.txt", text)
            write_whole(self.place / "trace_file_list", "1\n./kernel_config.txt\n")
        for source, link in links:
            packed = source.with_name(f"{source.name}.gz")
            if link.exists():
                continue
            if source.exists():
                link.symlink_to(source)
            elif packed.exists():
                part = link.with_name(f"{link.name}.part")
                with inflated(packed.open("rb"), packed, "gzip") as stream, part.open("wb") as unpacked:
                    shutil.copyfileobj(stream, unpacked)
                part.replace(link)
            else:
                raise ProfileError("is not there, and the simulator looks for it", path=source)

    def take(self, to: str) -> None:
        """Read what is on the disk of it: a finished result, a failure, or how its process ended."""
        if self.failed.exists():
            self.failure = self.failed.read_text(encoding="utf-8").strip() or "it failed"
            return
        path, self.failure = self.result, ""
        try:
            if path.exists():
                told = self._read(path, to)
                if to == "csv" and self.measured and told != self.caches:
                    write_whole(path, self._row(f"{self.measured.metrics[CYCLES][0]:.17g}"))
            elif (self.place / "exit").exists():
                self._take_new(to)
        except OSError as error:
            self.failure = f"what it wrote cannot be read ({error.strerror})"

    def _take_new(self, to: str) -> None:
        """Read what a process that has ended wrote; what was cut off is forgotten, and run again."""
        code, path = (self.place / "exit").read_text("utf-8").strip(), self.place / "run.log"
        out = self.place / "out"
        if code and (why := self._why_failed(code)):
            self.failure = why
            return
        if to == "csv" and out.exists():
            if not out.is_file():
                kind = "a folder" if out.is_dir() else "a pipe" if out.is_fifo() else "a device"
                self.failure = f"out is {kind}, not a file with its cycles"
                return
            path = out
        log = path
        if to == "csv":
            # Its number, the last word that it wrote, becomes a table.
            words, path = _tail(log).split(), self.place / "run.csv"
            write_whole(path, self._row(words[-1] if words else ""))
        self._read(path, to)
        ends_early = any(sign in self.failure for sign in _CUT_SIGNS) or not _tail(log).endswith("\n")
        mark = self.place.with_name(f"{self.place.name}.cut")
        if not code or (self.failure and ends_early):
            self.failure = self.failure or "its exit code is missing"
            if not mark.exists():
                # A disk may have been full.
                mark.touch()
                shutil.rmtree(self.place)
                self.measured, self.failure = None, ""

    def _read(self, path: Path, to: str) -> tuple[str, ...]:
        """Take a result, or why it is none; return how it says itself that launches found the caches."""
        told: tuple[str, ...] = ()
        try:
            with open_input(str(path)) as file:
                measured = read_results(file, (), to)
            told = tuple(measured.told)
            self._measure(measured)
        except ProfileError as error:
            self.failure = error.message.removeprefix(str(path)).removeprefix(": ")
        if to == "csv" and self.failure:
            self.failure = "it gave no number of cycles"
        return told

    def _row(self, cycles: str) -> str:
        return f"id,{CYCLES},{CACHES}\n{self.id},{cycles},{self.caches[0]}\n"

    def _measure(self, measured: MeasuredRun) -> None:
        """Take a result, whose launches are known by their order."""
        # Kernels that only fill caches may be left out where results are read.
        ids = self.ids if len(measured.number) == len(self.ids) else self.ids[self.ids != NOT_WANTED]
        if len(measured.number) != len(ids):
            launches = counted(len(measured.number), "launch", "launches")
            self.failure = f"{launches} printed of {len(self.ids)}"
        elif (lacking := (ids != NOT_WANTED) & ~(measured.metrics[CYCLES] > 0)).any():
            self.failure = measured.missing.get(int(np.argmax(lacking)), "it took 0 cycles")
        else:
            told = tuple(each for each, launch in zip(self.caches, self.ids, strict=False) if launch in ids)
            self.measured = replace(measured, number=ids, first_number=None, told=told)

    def _why_failed(self, code: str) -> str:
        """Return why a process did not end well, with the last line it printed of it; empty if it did."""
        if code == "0":
            return ""
        why = code
        if code.isdigit():
            signalled = int(code) - _SIGNALLED
            if int(code) == _TIMED_OUT:
                why = "it ran past the time limit"
            elif signalled in set(signal.Signals):
                why = f"ended by {signal.Signals(signalled).name}"
            else:
                why = f"exit code {code}"
        with suppress(OSError):
            last = _tail(self.place / "stderr.log").strip().split("\n")[-1]
            why += f": {shortened(last.strip(), 80)}" if last else ""
        return why

    def put_away(self) -> None:
        """Give what came of it its name among the results, unless it has it."""
        self.result.parent.mkdir(exist_ok=True)
        if self.failure:
            write_whole(self.failed, f"{self.failure}\n")
        elif not self.result.exists():
            (self.place / f"run{self.result.suffix}").replace(self.result)


def _tail(path: Path) -> str:
    """Return the end of a file."""
    with path.open("rb") as stream:
        stream.seek(max(0, stream.seek(0, 2) - _TAIL_BYTES))
        return stream.read().decode("utf-8", "replace")


def words_of(command: str, to: str) -> list[str]:
    """Return a command line as words that mean the same in any folder: each job runs in its own.

    Raises OptionError: it is no command line, there is no such program, or nothing tells it what to simulate.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise OptionError(f"the simulator's command line cannot be read: {error}") from error
    if NEEDED[to] not in command or not words:
        wrong = f"the simulator's command line does not say what to simulate, {NEEDED[to] or 'a program'}"
        raise OptionError(wrong, remedy="put it where the simulator takes it")
    if (program := shutil.which(words[0])) is None:
        raise OptionError(f"{words[0]}: there is no such program", remedy="give its path, or put it on PATH")
    words[0] = program
    for place, word in enumerate(words):
        # What is too long for a name is none.
        with suppress(OSError):
            words[place] = str(Path(word).absolute()) if word and Path(word).exists() else word
    return words


def write_whole(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    part = path.with_name(f"{path.name}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)
