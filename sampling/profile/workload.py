"""Profiles of several files as one workload: whose launches they are, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise

from sampling.profile.activity import join_activities
from sampling.profile.named_ranges import JoinedRanges, RangeSource
from sampling.profile.profile import (
    Activity,
    Device,
    LaunchSequence,
    Part,
    Profile,
    RecordingFacts,
    first_and_last_start,
)


def join_profiles(profiles: Sequence[Profile], owners: Sequence[int | str | None] = ()) -> Profile:
    """Return profiles that were read with one kernel table as one; their launches follow each other.

    ``owners`` are the processes that each profile is of: a rank of a distributed run, or a name; None where
    that is not known. Recordings of one owner after another are one run of it. Processes are numbered by rank
    where every profile has one process and a known rank. Else their numbers stay as recorded where they
    differ from file to file; where two files record the same one (or none), processes are numbered 0, 1, 2...
    in the order of the files. Each file's GPUs are told for each of its processes: one number may mean
    another GPU in another file.
    """
    profiles, owners, continues = _order_recordings(profiles, owners or [None] * len(profiles))
    first_recordings = [index for index, goes_on in enumerate(continues) if not goes_on]
    recorded = dict.fromkeys(
        (index, sequence.process) for index in first_recordings for sequence in profiles[index].sequences
    )
    are_distinct = len({process for _, process in recorded}) == len(recorded)
    numbers = {place: place[1] if are_distinct else number for number, place in enumerate(recorded)}
    ranks = [rank for index in first_recordings if isinstance(rank := owners[index], int)]
    if are_ranks := len(recorded) == len(first_recordings) == len({*ranks}):
        numbers = dict(zip(recorded, ranks, strict=True))
    sequences: list[LaunchSequence] = []
    parts: list[Part] = []
    clocks: list[int] = []
    devices: list[Device] = []
    ranges: list[tuple[RangeSource | None, int, int]] = []
    activities: list[tuple[Callable[[], Activity] | None, int, int]] = []
    first_id = 0
    for index, profile in enumerate(profiles):
        before = len(sequences) - continues[index]
        # Its launches are counted from here in the sequence that it goes on with.
        ranges.append((profile.ranges, before, sequences[-1].launches if continues[index] else 0))
        activities.append((profile.activity_reader, before, profile.launches))
        for part in profile.parts:
            place, first = before + part.sequence, first_id + part.first_id
            parts.append(replace(part, sequence=place, first_id=first))
        if continues[index]:
            longer = sequences[-1].launches + profile.launches
            sequences[-1] = replace(sequences[-1], launches=longer)
        for sequence in () if continues[index] else profile.sequences:
            process, first = numbers[index, sequence.process], first_id + sequence.first_id
            is_rank = are_ranks or (are_distinct and sequence.is_rank)
            sequences.append(replace(sequence, process=process, first_id=first, is_rank=is_rank))
            clocks.append(index)
            devices += [
                replace(device, process=process)
                for device in profile.facts.devices
                if device.device == sequence.device and device.process in {None, sequence.process}
            ]
        first_id += profile.launches
    have_ranges = [profile.ranges is not None for profile in profiles]
    return Profile(
        format="+".join(dict.fromkeys(profile.format for profile in profiles)),
        files=tuple(file for profile in profiles for file in profile.files),
        kernels=profiles[0].kernels,
        sequences=tuple(sequences),
        parts=tuple(parts),
        columns=frozenset.intersection(*(profile.columns for profile in profiles)),
        facts=_join_facts(profiles, tuple(devices)),
        metric_names=tuple(dict.fromkeys(name for profile in profiles for name in profile.metric_names)),
        ranges=JoinedRanges(tuple(ranges)) if any(have_ranges) else None,
        lacks_ranges=not all(have_ranges),
        activity_reader=partial(join_activities, activities) if any(part[0] for part in activities) else None,
        clocks=tuple(clocks),
    )


def _join_facts(profiles: Sequence[Profile], devices: tuple[Device, ...]) -> RecordingFacts:
    """Return the facts of several recordings as those of one, with these devices."""
    weakest_first = ("file", "gpu-start", "correlation", "api-start")
    facts = [profile.facts for profile in profiles]
    rows = (
        f"{profile.files[0].path}, {profile.facts.first_left_out}"
        for profile in profiles
        if profile.facts.first_left_out
    )
    return RecordingFacts(
        devices=devices,
        launch_order=min((fact.launch_order for fact in facts), key=weakest_first.index),
        api_rows_missing=sum(fact.api_rows_missing for fact in facts),
        hidden_graph_replays=sum(fact.hidden_graph_replays for fact in facts),
        merged_ranks=sum(fact.merged_ranks for fact in facts),
        replays=sum(fact.replays for fact in facts),
        launch_calls=sum(fact.launch_calls for fact in facts),
        calls_without_kernel=sum(fact.calls_without_kernel for fact in facts),
        rows_left_out=sum(fact.rows_left_out for fact in facts),
        first_left_out=next(rows, None),
        without_start=sum(fact.without_start for fact in facts),
        overlong=sum(fact.overlong for fact in facts),
        overlong_ns=sum(fact.overlong_ns for fact in facts),
        first_overlong=next((fact.first_overlong for fact in facts if fact.first_overlong), None),
        keeps_overlong=any(fact.keeps_overlong for fact in facts),
        product=", ".join(dict.fromkeys(fact.product for fact in facts if fact.product)) or None,
        world_size=max((fact.world_size or 0 for fact in facts), default=0) or None,
    )


def _order_recordings(
    profiles: Sequence[Profile], owners: Sequence[int | str | None]
) -> tuple[Sequence[Profile], Sequence[int | str | None], list[bool]]:
    """Return profiles with those of one owner after each other, and which go on where the last one ended.

    Two recordings are one run where they are of one process on one device, and the first one's launches
    started before the second one's. Profiles of several processes, or without start times, stay as given.
    """
    apart = [False] * len(profiles)
    are_comparable = all(
        len(profile.sequences) == 1 and "start_ns" in profile.columns for profile in profiles
    )
    if None in owners or len({*owners}) == len(owners) or not are_comparable:
        return profiles, owners, apart
    starts_ns = [_first_and_last_start(profile) for profile in profiles]
    place = {owner: index for index, owner in reversed([*enumerate(owners)])}
    order = sorted(range(len(profiles)), key=lambda index: (place[owners[index]], starts_ns[index]))
    continues = [False]
    for before, after in pairwise(order):
        continues.append(owners[before] == owners[after])
        devices = {profiles[index].sequences[0].device for index in (before, after)}
        if continues[-1] and (len(devices) > 1 or starts_ns[before][1] > starts_ns[after][0]):
            return profiles, owners, apart
    return [profiles[index] for index in order], [owners[index] for index in order], continues


def _first_and_last_start(profile: Profile) -> tuple[int, int]:
    """Return when the first and the last launch start, nanoseconds."""
    first, last = zip(*profile.map(first_and_last_start, profile.parts), strict=True)
    return min(first), max(last)
