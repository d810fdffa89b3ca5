"""A run of a plan as records: what failed, what is still to be run, and what its results come to."""

from __future__ import annotations

from msgspec.structs import asdict

from sampling.estimation.given_up import GivenUp
from sampling.estimation.summary import EstimateSummary
from sampling.record import Fraction, Index, Record
from sampling.running.request import RunRequest, RunResult


class FailedLaunchSummary(Record, frozen=True):
    """A launch without a result, why, and which other one of its stratum was simulated for it."""

    id: Index
    why: str
    instead: Index | None


class GivenUpSummary(Record, frozen=True):
    """A kernel that the simulator never runs."""

    #: One of the launches that failed.
    id: Index
    name: str
    #: The kernel group as which it is taken to behave.
    assumed_like: str | None
    failed: list[Index]
    why: str
    #: Of the time that the plan stands for.
    share: Fraction


class RunState(Record, frozen=True):
    """A run that has no result yet."""

    failed: list[FailedLaunchSummary]
    given_up: list[GivenUpSummary]
    #: Why nothing more can be drawn, where more was wanted.
    why_no_more: str | None
    #: The script to submit.
    job_array: str | None
    #: Folders of launches that began and have not ended.
    begun: list[str]
    folder: str


class RunSummary(EstimateSummary, frozen=True):
    """What results of a run come to, as `EstimateSummary`, and how the run stands, as `RunState`."""

    failed: list[FailedLaunchSummary]
    given_up: list[GivenUpSummary]
    why_no_more: str | None
    job_array: str | None
    begun: list[str]
    folder: str


def assumed_group(kernel: GivenUp, result: RunResult, request: RunRequest) -> str | None:
    """Return the group that a kernel is taken to behave as; None where it is none."""
    is_taken = result.estimate is not None and not result.estimate.main.share_missing
    return request.assume_like if kernel.strata and is_taken else None


def run_state(result: RunResult, request: RunRequest) -> RunState:
    """Return how a run stands."""
    return RunState(
        failed=[FailedLaunchSummary.from_attributes(job) for job in result.failed],
        given_up=[
            GivenUpSummary.from_attributes(
                kernel,
                kernel.launch,
                assumed_like=assumed_group(kernel, result, request),
                failed=list(kernel.failed),
            )
            for kernel in result.given_up
        ],
        why_no_more=result.why_no_more or None,
        job_array=None if result.job_array is None else str(result.job_array[0]),
        begun=list(map(str, result.begun_folders)),
        folder=str(request.folder),
    )


def summarise_run(estimate: EstimateSummary, state: RunState) -> RunSummary:
    """Return what the results of a run come to, and how it stands."""
    return RunSummary(**asdict(estimate), **asdict(state))
