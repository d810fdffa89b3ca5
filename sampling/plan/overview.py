"""What a draft shows of a profile, as records: its files and devices, its findings, its kernel groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from msgspec import UNSET, UnsetType

from sampling.arrays import BoolArray, IntArray
from sampling.plan.draft import Draft, Survey
from sampling.plan.findings import FindingRecord
from sampling.profile.names import shares_by_kind
from sampling.profile.profile import LaunchOrder
from sampling.record import Amount, Count, Dimensions, Fraction, Index, Nanoseconds, Record
from sampling.reduction.duration_counts import DurationCounts
from sampling.reduction.idle import CopyTime, IdleTime


class DeviceUse(Record, frozen=True):
    """The launches of one process on one device; what the profile does not say is None."""

    process: Index
    #: In a distributed run.
    rank: Index | None
    device: Index
    name: str | None
    sm_count: Count | None
    launches: Count
    #: Sum of all durations, and time during which at least one kernel runs.
    kernel_ns: Nanoseconds | None
    busy_ns: Nanoseconds | None
    #: From the first start to the last end, and why no kernel runs for a part of it.
    span_ns: Nanoseconds | None
    idle: IdleTime | None
    #: The share of kernel time that is hidden behind other kernels.
    overlap_share: Fraction | None


class FileLaunches(Record, frozen=True):
    """A file of a profile, and how many launches it has."""

    path: str
    launches: Index


class ProfileInfo(Record, frozen=True):
    """What is in a profile, and what to watch out for."""

    format: str
    files: list[FileLaunches]
    #: The recording tool and its version.
    product: str | None
    launch_order: LaunchOrder
    launches: Count
    names: Count
    kernel_groups: Count
    total_duration_ns: Nanoseconds
    devices: list[DeviceUse]
    processes: Count
    #: Counted apart for every process and device; None where they are not recorded.
    streams: Count | None
    #: From the first start to the last end.
    span_ns: Nanoseconds | None
    #: Of each device the share of its span in which a kernel runs.
    busy: list[Fraction]
    #: Why the busiest device is idle; None without starts.
    idle: IdleTime | None
    #: Memory copies and sets; None where the format has none.
    copies: list[CopyTime] | None
    #: The share of the time of each kind of work.
    kinds: dict[str, Fraction]
    findings: list[FindingRecord]


class GroupSummary(Record, frozen=True):
    """A kernel group; what its launches do not share is None."""

    #: 1 for the group of the most time.
    rank: Count
    key: str
    name: str
    grid: Dimensions | None
    block: Dimensions | None
    process: Index | None
    device: Index | None
    launches: Count
    total_duration_ns: Nanoseconds
    #: Of the time of all groups.
    share: Fraction
    mean_ns: Amount
    std_ns: Amount
    #: The coefficient of variation of the durations; None where their mean is 0.
    cov: Amount | None
    min_ns: Nanoseconds
    max_ns: Nanoseconds
    #: Its strata, and the launches drawn of it; None where they are not its own.
    #: Not there where nothing was planned.
    clusters: Count | UnsetType | None = UNSET
    samples: Index | UnsetType | None = UNSET
    pooled: bool | UnsetType = UNSET


_GROUP_FIGURES = GroupSummary.__struct_fields__[7:15]


class GroupHistogramCluster(Record, frozen=True):
    """Launches of a stratum of a kernel group, in each bin of its histogram."""

    low_ns: Nanoseconds
    high_ns: Nanoseconds
    launches: Index
    counts: list[Index]


class GroupHistogram(Record, frozen=True):
    """The durations of a kernel group: a bin holds those from an edge up to, not with, the next."""

    key: str
    rank: Count
    edges_ns: list[Nanoseconds]
    counts: list[Index]
    clusters: list[GroupHistogramCluster]


def profile_info(draft: Draft) -> ProfileInfo:
    """Return what is in a profile, and the findings on it."""
    profile, counts = draft.profile, draft.counts
    return ProfileInfo.from_attributes(
        counts,
        profile.facts,
        profile,
        launches=counts.launches,
        files=[FileLaunches(file.path, file.launches) for file in profile.files],
        kernel_groups=len(counts.groups),
        devices=device_uses(draft),
        processes=len({sequence.process for sequence in draft.sequences}),
        streams=_count_streams(draft),
        span_ns=draft.span_ns,
        busy=busy_shares(draft),
        idle=busiest_idle(draft),
        copies=draft.copies,
        kinds=kind_shares(draft),
        findings=[finding.record for finding in draft.findings],
    )


def _count_streams(draft: Draft) -> int | None:
    if "stream" not in draft.profile.columns:
        return None
    streams: set[tuple[int, int]] = set()
    for part in draft.counted:
        numbers = np.unique(part.load(("stream",))["stream"]).tolist()
        streams |= {(part.sequence, number) for number in numbers}
    return len(streams)


def device_uses(survey: Survey) -> list[DeviceUse]:
    """Return every process and device that launches kernels."""
    described = {(device.process, device.device): device for device in survey.profile.facts.devices}
    times = {time.sequence: time for time in survey.device_times}
    uses = []
    for sequence in survey.sequences:
        place, time = (sequence.process, sequence.device), times.get(sequence)
        device = described.get(place) or described.get((None, sequence.device))
        uses.append(
            DeviceUse(
                process=sequence.process,
                rank=sequence.rank,
                device=sequence.device,
                name=None if device is None else device.name,
                sm_count=None if device is None else device.sm_count,
                launches=survey.launches_of_sequences[sequence],
                kernel_ns=None if time is None else time.kernel_ns,
                busy_ns=None if time is None else time.busy_ns,
                span_ns=None if time is None else time.span_ns,
                idle=survey.idle.get(sequence),
                overlap_share=None if time is None else time.overlap_share,
            )
        )
    return uses


def device_name(draft: Draft) -> str | None:
    """Return the names of the devices used, None where the profile does not name them."""
    return ", ".join(dict.fromkeys(use.name for use in device_uses(draft) if use.name)) or None


# Told anew at every step of a plan, of the same launches.
_KINDS: WeakKeyDictionary[DurationCounts, dict[str, float]] = WeakKeyDictionary()


def kind_shares(draft: Draft) -> dict[str, float]:
    """Return the share of the time of each kind of work, the largest first."""
    counts = draft.counts
    if counts not in _KINDS:
        names = [group.name for group in counts.groups]
        _KINDS[counts] = shares_by_kind(names, counts.group_duration_ns.tolist())
    return _KINDS[counts]


def busy_shares(draft: Draft) -> list[float]:
    """Return of each device the share of its span in which a kernel runs; none where starts are not known."""
    return [time.busy_share for time in draft.device_times if time.span_ns]


def busiest_idle(survey: Survey) -> IdleTime | None:
    """Return why the device of the most busy time is idle; None where it was not looked at."""
    busiest = max(survey.device_times, key=lambda time: time.busy_ns, default=None)
    return None if busiest is None else survey.idle.get(busiest.sequence)


def summarise_groups(survey: Survey, groups: Sequence[int] | None = None) -> list[GroupSummary]:
    """Return kernel groups: those of these indices (rank - 1), in their order; all by rank by default."""
    statistics = survey.groups
    indices = range(len(survey.counts.groups)) if groups is None else groups
    positions = np.asarray(indices, dtype=np.int64)
    columns = [getattr(statistics, name)[positions].tolist() for name in _GROUP_FIGURES]
    # Nothing is said of strata where nothing was planned.
    planned: list[list[Any]] = [[UNSET] * len(positions)] * 3
    if survey.design is not None:
        is_pooled = statistics.pooled[positions]
        own = (
            _own_counts(values, positions, ~is_pooled) for values in (statistics.clusters, statistics.samples)
        )
        planned = [*own, is_pooled.tolist()]
    summaries = []
    for index, *row in zip(indices, *columns, *planned, strict=True):
        figures = dict(zip((*_GROUP_FIGURES, "clusters", "samples", "pooled"), row, strict=True))
        figures["cov"] = figures["cov"] if figures["mean_ns"] else None
        group = survey.counts.groups[index]
        place = group.key, group.name, group.grid, group.block, group.process, group.device
        summaries.append(GroupSummary(index + 1, *place, **figures))
    return summaries


def _own_counts(values: IntArray | None, groups: IntArray, has_own: BoolArray) -> list[Any]:
    """Return the numbers of groups that have some of their own, None for a pool's and where none has."""
    if values is None:
        return [None] * len(groups)
    numbers = zip(values[groups].tolist(), has_own.tolist(), strict=True)
    return [number if is_own else None for number, is_own in numbers]


def summarise_histogram(
    survey: Survey,
    group: int,
    clusters: Sequence[tuple[int, int]],
    edges_ns: IntArray,
    cluster_counts: IntArray,
) -> GroupHistogram:
    """Return the durations of a kernel group in bins.

    ``clusters`` (c,) are the shortest and longest duration of each stratum, ``cluster_counts`` (c, bins) its
    launches in each bin.
    """
    return GroupHistogram(
        key=survey.counts.groups[group].key,
        rank=group + 1,
        edges_ns=edges_ns.tolist(),
        counts=cluster_counts.sum(axis=0).tolist(),
        clusters=[
            GroupHistogramCluster(low_ns, high_ns, int(counts.sum()), counts.tolist())
            for (low_ns, high_ns), counts in zip(clusters, cluster_counts, strict=True)
        ],
    )
