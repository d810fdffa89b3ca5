"""A run as job arrays of Slurm: what is still to be simulated becomes a script, a task a launch."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from sampling.errors import OptionError
from sampling.running.job import Job, write_whole
from sampling.running.loop import Loop
from sampling.running.request import RunRequest, RunResult, Watch
from sampling.simulators.exporter import template


def write_job_array(request: RunRequest, watch: Watch) -> RunResult:
    """Take what a job array left, and write one for what is still to be simulated; run nothing.

    Raises what `run` raises; OptionError too where a line of the array would be two.
    """
    request.check()
    loop = Loop(request, watch)
    for label, text in (("folder", str(loop.folder.path)), ("command", shlex.join(request.words))):
        if "\n" in text:
            wrong = (
                f"a job array has a line for each launch, and the {label} has a line break in it: {text!r}"
            )
            raise OptionError(wrong, remedy="give another, or run it without a job array")
    with loop.opened():
        if loop.is_met():
            return loop.result()
        if not loop.pending():
            loop.grow()
        # The folder of one that has begun is in use, or was left by a task that was killed.
        begun_folders = tuple(job.folder for job in loop.pending() if (job.folder / "run.log").exists())
        waiting = [job for job in loop.pending() if job.folder not in begun_folders]
        script = (_write_script(request, loop.folder.path, waiting), len(waiting)) if waiting else None
        return loop.result(script, begun_folders)


def _write_script(request: RunRequest, folder: Path, jobs: Sequence[Job]) -> Path:
    """Write the script that simulates these jobs, a task each, and return it."""
    limit, script, tasks = request.timeout_seconds, folder / "slurm.sh", folder / "jobs.txt"
    timeout = [] if limit is None else ["timeout", "-k", "10", f"{limit:g}"]
    write_whole(tasks, "".join(f"{job.shell_line(request.words, timeout)}\n" for job in jobs))
    at_once = f"%{request.processes}" if request.processes > 1 else ""
    values = {"jobs": len(jobs), "at_once": at_once, "list": shlex.quote(str(tasks))}
    write_whole(script, template("run-slurm.sh", **values))
    return script
