"""A run of a study as records: what failed, what is still to be run, and what its results come to."""

from __future__ import annotations

from msgspec.structs import asdict

from sampling.record import Fraction, Index, Record
from sampling.running.study_run import StudyRunResult
from sampling.study.study_file import Study
from sampling.study.summary import SpeedupSummary


class CellFailureSummary(Record, frozen=True):
    """A launch that failed on a configuration, and so left its comparison, and why."""

    program: str
    configuration: str
    id: Index
    why: str


class CellGivenUpSummary(Record, frozen=True):
    """A kernel that the simulator never runs on a configuration."""

    program: str
    configuration: str
    name: str
    failed: list[Index]
    why: str
    share: Fraction


class StudyRunSummary(SpeedupSummary, frozen=True):
    """What results of a study come to, as `SpeedupSummary`, and how its run stands."""

    failed: list[CellFailureSummary]
    given_up: list[CellGivenUpSummary]
    #: By the programs of which nothing more can be drawn, where more was wanted.
    why_no_more: dict[str, str]
    #: The script to submit.
    job_array: str | None
    #: Folders of launches that began and have not ended.
    begun: list[str]
    folder: str


def summarise_study_run(summary: SpeedupSummary, result: StudyRunResult, study: Study) -> StudyRunSummary:
    """Return what results of a study come to, and how its run stands."""
    script, begun_folders = result.job_array
    return StudyRunSummary(
        **asdict(summary),
        failed=[CellFailureSummary(*failure) for failure in result.failed],
        given_up=[
            CellGivenUpSummary.from_attributes(
                cell.kernel,
                cell.kernel.launch,
                program=cell.program,
                configuration=cell.configuration,
                failed=list(cell.kernel.failed),
            )
            for cell in result.given_up
        ],
        why_no_more=dict(result.why_no_more),
        job_array=None if script is None else str(script[0]),
        begun=list(map(str, begun_folders)),
        folder=str(study.run_folder),
    )
