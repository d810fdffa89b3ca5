"""A run as job arrays of Slurm: what is still to be simulated becomes a script, a task a launch."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from sampling.errors import OptionError
from sampling.running.job import Job, write_whole
from sampling.running.loop import Loop
from sampling.running.request import RunRequest, RunResult, Watch
from sampling.simulators.exporter import template


class JobArray(NamedTuple):
    """What is left to run, as a job array."""

    #: The script to submit, and how many launches it simulates; None where nothing is left to submit.
    script: tuple[Path, int] | None
    #: Folders of launches that began and have not ended.
    begun_folders: tuple[Path, ...]


#: Nothing is left to run
NO_ARRAY = JobArray(None, ())


def write_job_array(request: RunRequest, watch: Watch) -> RunResult:
    """Take what a job array left, and write one for what is still to be simulated; run nothing.

    Raises what `run` raises; OptionError too where a line of the array would be two.
    """
    request.check()
    loop = Loop(request, watch)
    refuse_line_breaks({"folder": str(loop.folder.path), "command": shlex.join(request.words)})
    with loop.opened():
        if loop.is_met():
            return loop.result()
        if not loop.pending():
            loop.grow()
        tasks = [(job, request.words) for job in loop.pending()]
        return loop.result(*make_array(loop.folder.path, tasks, request.processes, request.timeout_seconds))


def refuse_line_breaks(texts: Mapping[str, str]) -> None:
    """Raise OptionError where a text that stands in each line of an array has a line break in it."""
    for label, text in texts.items():
        if "\n" in text:
            wrong = (
                f"a job array has a line for each launch, and the {label} has a line break in it: {text!r}"
            )
            raise OptionError(wrong, remedy="give another, or run it without a job array")


def make_array(
    folder: Path,
    tasks: Iterable[tuple[Job, Sequence[str]]],
    at_once: int,
    timeout_seconds: float | None,
) -> JobArray:
    """Write the script that simulates jobs with the words of their commands, a task each, into a folder."""
    tasks = list(tasks)
    # The folder of one that has begun is in use, or was left by a task that was killed.
    begun_folders = tuple(job.folder for job, _ in tasks if (job.folder / "run.log").exists())
    waiting = [(job, words) for job, words in tasks if job.folder not in begun_folders]
    if not waiting:
        return JobArray(None, begun_folders)
    script, listing = folder / "slurm.sh", folder / "jobs.txt"
    timeout = [] if timeout_seconds is None else ["timeout", "-k", "10", f"{timeout_seconds:g}"]
    write_whole(listing, "".join(f"{job.shell_line(words, timeout)}\n" for job, words in waiting))
    limit = f"%{at_once}" if at_once > 1 else ""
    values = {"jobs": len(waiting), "at_once": limit, "list": shlex.quote(str(listing))}
    write_whole(script, template("run-slurm.sh", **values))
    return JobArray((script, len(waiting)), begun_folders)
