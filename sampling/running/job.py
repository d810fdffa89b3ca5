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
from sampling.errors import ProfileError
from sampling.readers.input_file import inflated, open_input
from sampling.simulators.measured_run import CACHES, CYCLES, MeasuredRun
from sampling.simulators.registry import find_run_rules, read_results
from sampling.simulators.results import NOT_WANTED
from sampling.simulators.simulator import RunRules
from sampling.text import counted, shortened

#: How ``timeout`` of the coreutils ends for a program that it ended, and how the shell says that a signal did
_TIMED_OUT, _SIGNALLED, _TAIL_BYTES = 124, 128, 1 << 16
#: What is said of logs that end before their launches do
_CUT_SIGNS = ("the run goes on, or was killed", " printed of ")


@dataclass(slots=True, eq=False)
class Job:
    """A process that simulates a drawn launch, and those that run before it for the caches' sake."""

    id: int  #: of the launch that it is called by
    simulator: str  #: the name of the one that runs it
    ids: IntArray  #: (n,) of all launches in their order, `NOT_WANTED` for those that count for nothing
    drawn_from: frozenset[int]  #: the strata of those that count, 0-based
    is_check: bool  #: whether these are launches of another job once more, which count for no stratum
    duration_ns: int  #: of the launches that count, in the profile
    folder: Path  #: that it works in
    result: Path  #: the file of its finished result
    launch_list: Path | None  #: what the simulator is given to run; None where a command is told the id
    traces: Path  #: the folder of the traces that the list names
    caches: tuple[str, ...]  #: (n,) how each launch finds them; empty where nothing says it
    paths_from: Path = Path()  #: the folder that the command was typed for
    measured: MeasuredRun | None = field(default=None, repr=False)
    failure: str = ""

    @property
    def strata(self) -> frozenset[int]:
        """The strata that it counts for."""
        return frozenset() if self.is_check else self.drawn_from

    @property
    def drawn_ids(self) -> list[int]:
        """The ids of the launches that count."""
        ids: list[int] = self.ids[self.ids != NOT_WANTED].tolist()
        return ids

    @property
    def failed(self) -> Path:
        """The file that says why it has no result."""
        return self.result.with_suffix(".failed")

    @property
    def exit(self) -> Path:
        """The file that says how its process ended."""
        return self.folder / "exit"

    @property
    def has_ended(self) -> bool:
        """Whether nothing is left to run of it."""
        return self.measured is not None or bool(self.failure)

    @property
    def _rules(self) -> RunRules:
        return find_run_rules(self.simulator)

    def shell_line(self, words: Sequence[str], before: Sequence[str] = ()) -> str:
        """Make its folder with what the simulator looks for there; return the line that runs its command."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        if self.launch_list is not None:
            paths = self.launch_list, self.traces, self.folder
            inputs = self._rules.find_inputs(*paths, words, self.paths_from)
            for place, source in inputs.items():
                if isinstance(source, str):
                    write_whole(place, source)
                elif not place.exists():
                    _link(source, place)
        values = {
            "{list}": self.launch_list,
            "{id}": self.id,
            "{folder}": self.folder,
            "{out}": self.folder / "out",
        }
        placeholder = re.compile("|".join(map(re.escape, values)))
        words = [placeholder.sub(lambda match: str(values[match[0]]), word) for word in words]
        return (
            f"cd -- {shlex.quote(str(self.folder))} || exit; {shlex.join([*before, *words])} > run.log "
            "2> stderr.log; echo $? > exit.part; mv exit.part exit"
        )

    def read_state(self, *, has_run: bool = False) -> None:
        """Read what is on the disk of it: a finished result, a failure, or how its process, if any, ended."""
        if self.failed.exists():
            self.failure = self.failed.read_text(encoding="utf-8").strip() or "it failed"
            return
        self.failure = ""
        try:
            if self.result.exists():
                states = self._read(self.result)
                if self._rules.is_told_ids and self.measured and states != self.caches:
                    write_whole(self.result, self._row(f"{self.measured.metrics[CYCLES][0]:.17g}"))
            elif self.exit.exists():
                self._read_new()
            elif has_run:
                self.failure = "its shell was ended"
        except OSError as error:
            self.failure = f"what it wrote cannot be read ({error.strerror})"

    def _read_new(self) -> None:
        """Read what a process that has ended wrote; what was cut off is forgotten, and run again."""
        code, log = self.exit.read_text("utf-8").strip(), self.folder / "run.log"
        if code and (reason := self._why_failed(code)):
            self.failure = reason
            return
        path = log
        if self._rules.is_told_ids:
            out = self.folder / "out"
            if out.exists():
                if not out.is_file():
                    kind = "a folder" if out.is_dir() else "a pipe" if out.is_fifo() else "a device"
                    self.failure = f"out is {kind}, not a file with its cycles"
                    return
                log = out
            # Its number, the last word that it wrote, becomes a table.
            words, path = _tail(log).split(), self.folder / "run.csv"
            write_whole(path, self._row(words[-1] if words else ""))
        self._read(path)
        ends_early = any(sign in self.failure for sign in _CUT_SIGNS) or not _tail(log).endswith("\n")
        mark = self.folder.with_name(f"{self.folder.name}.cut")
        if not code or (self.failure and ends_early):
            self.failure = self.failure or "its exit code is missing"
            if not mark.exists():
                # A disk may have been full.
                mark.touch()
                shutil.rmtree(self.folder)
                self.measured, self.failure = None, ""

    def _read(self, path: Path) -> tuple[str, ...]:
        """Take a result, or why it is none; return how it says itself that launches found the caches."""
        states: tuple[str, ...] = ()
        try:
            with open_input(str(path)) as file:
                measured = read_results(file, (), self.simulator)
            states = tuple(measured.states)
            self._measure(measured)
        except ProfileError as error:
            self.failure = error.message.removeprefix(str(path)).removeprefix(": ")
        if self._rules.is_told_ids and self.failure:
            self.failure = "it gave no number of cycles"
        return states

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
            states = tuple(
                state for state, launch in zip(self.caches, self.ids, strict=False) if launch in ids
            )
            self.measured = replace(measured, number=ids, first_number=None, states=states)

    def _why_failed(self, code: str) -> str:
        """Return why a process did not end well, with the last line it printed of it; empty if it did."""
        if code == "0":
            return ""
        reason = code
        if code.isdigit():
            signalled = int(code) - _SIGNALLED
            if int(code) == _TIMED_OUT:
                reason = "it ran past the time limit"
            elif signalled in set(signal.Signals):
                reason = f"ended by {signal.Signals(signalled).name}"
            else:
                reason = f"exit code {code}"
        with suppress(OSError):
            last = _tail(self.folder / "stderr.log").strip().split("\n")[-1]
            reason += f": {shortened(last.strip(), 80)}" if last else ""
        return reason

    def put_away(self) -> None:
        """Give what came of it its name among the results, unless it has it."""
        self.result.parent.mkdir(exist_ok=True)
        if self.failure:
            write_whole(self.failed, f"{self.failure}\n")
        elif not self.result.exists():
            (self.folder / f"run{self.result.suffix}").replace(self.result)


def _link(source: Path, place: Path) -> None:
    """Link to a file or folder; a file that is packed is unpacked there. ProfileError: it is not there."""
    packed = source.with_name(f"{source.name}.gz")
    if source.exists():
        place.symlink_to(source)
    elif packed.exists():
        part = place.with_name(f"{place.name}.part")
        with inflated(packed.open("rb"), packed, "gzip") as stream, part.open("wb") as unpacked:
            shutil.copyfileobj(stream, unpacked)
        part.replace(place)
    else:
        raise ProfileError("is not there, and the simulator looks for it", path=source)


def _tail(path: Path) -> str:
    """Return the end of a file."""
    with path.open("rb") as stream:
        stream.seek(max(0, stream.seek(0, 2) - _TAIL_BYTES))
        return stream.read().decode("utf-8", "replace")


def write_whole(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    part = path.with_name(f"{path.name}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)
