"""The processes that simulate the launches of a plan: what each is given to run, and what came of it.

A process works in ``launches/ID`` of a run's folder, ID being its first drawn launch. ``exit`` there is
written when it has ended; what it printed then becomes ``results/launch-ID.log`` (or ``.csv``), and why it
failed ``results/launch-ID.failed``: what is finished is told by names alone.
"""

from __future__ import annotations

import gzip
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
from sampling.plan.plan_file import PlanFile
from sampling.readers.input_file import open_input
from sampling.simulators.export import (
    informative_order,
    manifests_in,
    read_manifest,
)
from sampling.simulators.measured_run import CYCLES, MeasuredRun
from sampling.simulators.registry import read_results
from sampling.simulators.results import NOT_WANTED
from sampling.text import counted, shortened

#: What a command must name, of each simulator that is run: what it simulates.
NEEDED = {"accel-sim": "{list}", "macsim": "", "csv": "{id}"}
_LISTS = {"accel-sim": "kernelslist{}.g", "macsim": "kernel_config{}.txt"}
#: How ``timeout`` of the coreutils ends for a program that it ended.
TIMED_OUT = "124"
_TAIL = 1 << 16
_PATH = re.compile(r"\./(Kernel\d+)/trace\.txt")


@dataclass(slots=True, eq=False)
class Job:
    """A process that simulates a drawn launch, and those that run before it for the caches' sake."""

    #: Of the launch that it is called by.
    id: int
    #: (n,) of all launches in their order, `NOT_WANTED` for those that count for nothing.
    ids: IntArray
    #: Of those that count, 0-based; none where these are launches of another job once more.
    strata: frozenset[int]
    #: What the simulator is given to run; None where a command names the launch by its id.
    list: Path | None
    #: The folder of its traces.
    traces: Path | None
    #: Its working folder, and the file of its finished result.
    place: Path
    result: Path
    #: Of the launches that count, in the profile.
    duration_ns: int
    #: (n,) how each launch finds them; empty where no manifest says.
    caches: tuple[str, ...] = ()
    #: What came of it, and whether that has its name among the results; neither yet: None and "".
    measured: MeasuredRun | None = field(default=None, repr=False)
    failure: str = ""
    is_put_away: bool = False

    @property
    def has_ended(self) -> bool:
        """Whether nothing is left to run of it."""
        return self.measured is not None or bool(self.failure)

    @property
    def exit(self) -> Path:
        """The file that says how its process ended."""
        return self.place / "exit"


def jobs_of(plan: PlanFile, handed: Path, folder: Path, to: str, traces: str | None) -> list[Job]:
    """Return the jobs of an export (``handed``, of this plan), the most informative first, not yet run."""
    drawn = {launch.id: (stratum, launch) for stratum, launch in informative_order(plan)}
    order = {launch: place for place, launch in enumerate(drawn)}
    runs: list[tuple[IntArray, tuple[str, ...], Path | None, Path | None]] = []
    for path in manifests_in(handed):
        with open_input(str(path)) as file:
            manifest = read_manifest(file)
        shards = np.unique(manifest.shard).tolist()
        part = path.parent.relative_to(handed)
        for shard in shards:
            inside = manifest.shard == shard
            name = _LISTS[to].format("" if len(shards) == 1 else f"-{shard}")
            ids = np.where(manifest.is_warm_up[inside], NOT_WANTED, manifest.id[inside])
            states = tuple(np.array(manifest.caches)[inside].tolist())
            where = None if traces is None else Path(traces, part).absolute()
            runs.append((ids, states, path.parent / name, where))
    if not runs:
        runs = [(np.array([launch]), (), None, None) for launch in drawn]
    jobs: list[Job] = []
    known: set[int] = set()
    for ids, states, listed, where in runs:
        wanted = sorted(ids[ids != NOT_WANTED].tolist(), key=order.__getitem__)
        # Launches that are there already are run once more, and count for no stratum.
        is_check = wanted[0] in known
        known.update(wanted)
        name = f"{wanted[0]}{'-again' if is_check else ''}"
        jobs.append(
            Job(
                id=wanted[0],
                ids=ids,
                strata=frozenset() if is_check else frozenset(drawn[each][0] for each in wanted),
                list=listed,
                traces=where,
                place=folder / "launches" / name,
                result=folder / "results" / f"launch-{name}{'.csv' if to == 'csv' else '.log'}",
                duration_ns=sum(drawn[each][1].duration_ns or 0 for each in wanted),
                caches=states,
            )
        )
    return sorted(jobs, key=lambda job: (not job.strata, order[job.id]))


def words_of(command: str, to: str) -> list[str]:
    """Return a command line as words that mean the same in any folder."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise OptionError(f"the simulator's command line cannot be read: {error}") from error
    if NEEDED[to] not in command or not words:
        raise OptionError(
            f"the simulator's command line does not say what to simulate, {NEEDED[to] or 'a program'}",
            remedy=f"put {NEEDED[to]} where the simulator takes it" if NEEDED[to] else None,
        )
    program = shutil.which(words[0])
    if program is None:
        raise OptionError(f"{words[0]}: there is no such program", remedy="give its path, or put it on PATH")
    # A job runs in a folder of its own, for simulators write files where they are.
    words[0] = str(Path(program).absolute())
    for place, word in enumerate(words[1:], start=1):
        # What is too long for a name is none.
        with suppress(OSError):
            if word and Path(word).exists():
                words[place] = str(Path(word).absolute())
    return words


def prepare(job: Job, to: str, words: Sequence[str]) -> list[str]:
    """Make a job's folder with what the simulator looks for there, and return its command line."""
    shutil.rmtree(job.place, ignore_errors=True)
    job.place.mkdir(parents=True)
    if job.list is not None and job.traces is not None:
        if to == "accel-sim":
            _link_traces(job.list, job.traces)
            for config in (Path(word) for word in words if word.endswith(".config")):
                for net in config.parent.glob("*.icnt"):
                    _link(net, job.place / net.name)
        else:
            # MacSim runs in a folder with links to the traces of a list, and the parameters of this one.
            parameters = Path("params.in").absolute()
            if not parameters.is_file():
                raise OptionError(
                    "MacSim takes its parameters from params.in, which is not in this folder",
                    remedy="go to the folder of the params.in to simulate",
                )
            _link(parameters, job.place / "params.in")
            text = job.list.read_text(encoding="utf-8")
            for name in set(_PATH.findall(text)):
                _link(job.traces / name, job.place / name)
            (job.place / "kernel_config.txt").write_text(text, encoding="utf-8")
            (job.place / "trace_file_list").write_text("1\n./kernel_config.txt\n", encoding="utf-8")
    said = {"{list}": job.list, "{id}": job.id, "{folder}": job.place, "{out}": job.place / "out"}
    stands_for = re.compile("|".join(map(re.escape, said)))
    return [stands_for.sub(lambda found: str(said[found[0]]), word) for word in words]


def _link_traces(listed: Path, traces: Path) -> None:
    """Put the traces of a list beside it, where Accel-Sim looks for them: links, or unpacked."""
    for name in listed.read_text(encoding="utf-8").split("\n"):
        beside, source = listed.parent / name, traces / name
        packed = source.with_name(f"{name}.gz")
        if not name.startswith("kernel") or beside.exists():
            continue
        if source.exists():
            _link(source, beside)
        elif packed.exists():
            part = beside.with_name(f"{name}.part")
            with gzip.open(packed) as stream, part.open("wb") as unpacked:
                shutil.copyfileobj(stream, unpacked)
            part.replace(beside)
        else:
            raise ProfileError(f"{name} is not there", path=traces, remedy="give the folder of the traces")


def _link(source: Path, link: Path) -> None:
    # Another job may have made it.
    with suppress(FileExistsError):
        link.symlink_to(source)


def take_result(job: Job, to: str) -> None:
    """Read what is on the disk of a job: a finished result, a failure, or how its process ended."""
    failed = job.result.with_suffix(".failed")
    job.is_put_away = job.result.exists() or failed.exists()
    if job.result.exists():
        _read(job, to, job.result)
    elif failed.exists():
        job.failure = failed.read_text(encoding="utf-8").strip() or "it failed"
    elif job.exit.exists():
        code = job.exit.read_text(encoding="utf-8").strip()
        if code != "0":
            job.failure = _why_failed(job, code)
            return
        result = job.place / "run.log"
        if to == "csv":
            # Its number, the last word that it wrote, becomes a table.
            out = job.place / "out"
            words = (out if out.exists() else result).read_text("utf-8", "replace").split()
            result = result.with_suffix(".csv")
            result.write_text(f"id,{CYCLES}\n{job.id},{words[-1] if words else ''}\n", encoding="utf-8")
        _read(job, to, result)


def put_away(job: Job) -> None:
    """Give what came of a job its name among the results."""
    job.is_put_away = True
    job.result.parent.mkdir(exist_ok=True)
    if job.failure:
        job.result.with_suffix(".failed").write_text(f"{job.failure}\n", encoding="utf-8")
    else:
        (job.place / f"run{job.result.suffix}").replace(job.result)


def _read(job: Job, to: str, path: Path) -> None:
    """Take over a job's result, or why it is none."""
    try:
        with open_input(str(path)) as file:
            measured = read_results(file, (), to)
    except ProfileError as error:
        what = error.message.removeprefix(str(path)).removeprefix(": ")
        job.failure = "it gave no number of cycles" if to == "csv" else what
        return
    drawn = job.ids[job.ids != NOT_WANTED]
    # Kernels that only fill caches may be left out where results are read.
    ids = job.ids if len(measured.number) == len(job.ids) else drawn
    if len(measured.number) != len(ids):
        job.failure = f"{counted(len(measured.number), 'launch', 'launches')} printed of {len(job.ids)}"
        return
    lacking = np.flatnonzero((ids != NOT_WANTED) & ~(measured.metrics[CYCLES] > 0)).tolist()
    if lacking:
        job.failure = measured.missing.get(lacking[0], "it took 0 cycles")
        return
    told = [each for each, launch in zip(job.caches, job.ids, strict=False) if launch in ids]
    job.measured = replace(measured, number=ids, first_number=None, told=tuple(told))


def _why_failed(job: Job, code: str) -> str:
    """Return why a process that did not end well ended, in words."""
    why = f"exit code {code}" if code.lstrip("-").isdigit() else code
    if code == TIMED_OUT:
        why = "it ran past the time limit"
    if code.startswith("-"):
        why = f"ended by {signal.Signals(int(code[1:])).name}"
    tails = []
    for name in ("run.log", "stderr.log"):
        with suppress(OSError), (job.place / name).open("rb") as stream:
            stream.seek(max(0, stream.seek(0, 2) - _TAIL))
            tails.append(stream.read())
    if tails and b"deadlock detected" in tails[0]:
        why += ", a deadlock"
    last = tails[1].decode("utf-8", "replace").strip().split("\n")[-1] if len(tails) > 1 else ""
    return f"{why}: {shortened(last.strip(), 80)}" if last else why
