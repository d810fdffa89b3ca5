"""Jobs that run as processes of this machine."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from sampling.errors import AnalysisError
from sampling.running.job import Job, write_whole
from sampling.running.processes import close, end, is_full, start

_MOMENT_SECONDS = 0.01


class LocalProcesses:
    """The processes of jobs that run now, each of them ended after so many seconds."""

    def __init__(self, limit_seconds: float | None) -> None:
        self._limit_seconds = limit_seconds
        # The process of each job, and when it began.
        self._running: dict[Job, tuple[subprocess.Popen[bytes], float]] = {}
        self._has_ended = threading.Event()
        # Since when jobs run, and the profile's time of those that ended since: how long others may take.
        self._began, self._ended_ns = 0.0, 0

    def __len__(self) -> int:
        """Return how many run."""
        return len(self._running)

    def __contains__(self, job: Job) -> bool:
        """Return whether a job runs."""
        return job in self._running

    def __iter__(self) -> Iterator[Job]:
        """Yield those that run, in the order of their start."""
        return iter(self._running)

    def start(self, job: Job, line: str) -> None:
        """Run a job's line of the shell."""
        self._began = self._began or time.monotonic()
        process = start(line, job.folder)
        self._running[job] = process, time.monotonic()
        threading.Thread(target=self._tell_end, args=(process,), daemon=True).start()

    def _tell_end(self, process: subprocess.Popen[bytes]) -> None:
        process.wait()
        self._has_ended.set()

    def collect(self, folder: Path) -> list[Job]:
        """Wait for jobs to end, read what they wrote, and return them.

        Raises AnalysisError: the disk where the folder lies is full, and what they wrote is run again.
        """
        jobs = self.wait()
        if is_full(folder):
            self.end()
            for job in (*jobs, *self):
                job.exit.unlink(missing_ok=True)
            raise AnalysisError(
                f"no room is left where {folder} lies: what launch {jobs[0].id} printed may be cut off",
                remedy="make room; the same command goes on",
            )
        for job in jobs:
            job.read_state(has_run=True)
            self._ended_ns += job.duration_ns if job.has_ended else 0
        return jobs

    def seconds_left(self, jobs: Iterable[Job]) -> float | None:
        """Return how long jobs may take that have not ended, by those that have; None where nothing tells."""
        pace = self._ended_ns / max(time.monotonic() - self._began, 1e-9)
        left_ns = sum(job.duration_ns for job in jobs)
        return left_ns / pace if pace and left_ns else None

    def wait(self) -> list[Job]:
        """Wait until a job has ended or run too long, which ends it; return those that did."""
        jobs: list[Job] = []
        while not jobs and self._running:
            if self._has_ended.wait(self._seconds_left()):
                # Those that end together are taken together, for each look at a run estimates its total.
                self._has_ended.clear()
                self._has_ended.wait(_MOMENT_SECONDS)
            # Whatever ends from here on wakes the next wait.
            self._has_ended.clear()
            for job, (process, began) in list(self._running.items()):
                if process.poll() is None:
                    limit = self._limit_seconds
                    if limit is None or time.monotonic() - began <= limit:
                        continue
                    end([process])
                    write_whole(job.exit, f"ran past {limit:g} s\n")
                close(process)
                del self._running[job]
                jobs.append(job)
        return jobs

    def _seconds_left(self) -> float | None:
        """Return the time until the first job has run too long; None without a limit."""
        if self._limit_seconds is None:
            return None
        first = min(began for _, began in self._running.values())
        return max(0.0, first + self._limit_seconds - time.monotonic())

    def end(self) -> None:
        """End all that run; what they began is begun anew the next time."""
        end([process for process, _ in self._running.values()])
