"""The ranks of a distributed run beside each other: who computes longest, who waits, who stands for all."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.parallel import Progress
from sampling.profile.names import is_communication
from sampling.profile.profile import DeviceTime, LaunchSequence, Part, Profile
from sampling.record import Amount, Count, Fraction, Index, Nanoseconds, Record
from sampling.reduction import GroupBy
from sampling.reduction.duration_counts import DurationCounts, count_durations, counted_launches
from sampling.reduction.grouping import Grouping
from sampling.reduction.region import Region, selected_sequences
from sampling.reduction.timeline import device_times

# Kernels in which two ranks meet: the shortest of more than two ranks would be another pair's.
_PAIRWISE = ("sendrecv", "send_recv")


@dataclass(frozen=True, slots=True)
class RankTime:
    """The selected launches of one rank: of one process on one device."""

    sequence: LaunchSequence
    launches: int
    #: The sum of all durations, and those of collective communication among them.
    kernel_ns: int
    communication_ns: int
    #: The part of communication that is waiting for other ranks; None where no collective has a counterpart.
    waiting_ns: int | None
    #: From its first launch to its last, and the share of that in which a kernel runs, and the share of its
    #: communication during which it also computes; None where starts are not recorded, or none communicates.
    elapsed_ns: int | None
    busy_share: float | None
    overlap_share: float | None
    #: What the total of all ranks is off by if this one stands for each of them, as a fraction, signed; and
    #: the most that the total of any choice of kernels can be off by, as a fraction of the total.
    error: float
    error_by_kernel: float

    @property
    def compute_ns(self) -> int:
        """Kernel time outside communication."""
        return self.kernel_ns - self.communication_ns


@dataclass(frozen=True, slots=True)
class RankTimes:
    """All ranks, in id order."""

    ranks: tuple[RankTime, ...]
    #: Which launches count, and how many and how long they are.
    counts: DurationCounts
    #: The share of communication time in collectives that have a counterpart on every rank.
    matched_share: float
    #: Ranks of the run of which there is no profile: waiting is then the least that it can be.
    missing: int = 0

    @property
    def slowest(self) -> RankTime:
        """The rank that computes longest: the others wait for it."""
        return max(self.ranks, key=lambda rank: rank.compute_ns)

    @property
    def median_compute_ns(self) -> float:
        """What a rank in the middle computes."""
        return float(np.median([rank.compute_ns for rank in self.ranks]))

    @property
    def best(self) -> RankTime:
        """The rank that stands best for all: whose kernels' times are nearest to the mean rank's."""
        return min(self.ranks, key=lambda rank: rank.error_by_kernel)


class RankSummary(Record, frozen=True):
    """What one rank does, beside the others; see `RankTime`."""

    process: Index
    rank: Index | None
    device: Index
    launches: Count
    kernel_ns: Nanoseconds
    compute_ns: Nanoseconds
    communication_ns: Nanoseconds
    waiting_ns: Nanoseconds | None
    #: Its time outside communication over that of a rank in the middle.
    compute_over_median: Amount | None
    elapsed_ns: Nanoseconds | None
    busy_share: Fraction | None
    overlap_share: Fraction | None
    error_for_all: float
    error_by_kernel: Amount


def summarise_ranks(times: RankTimes) -> list[RankSummary]:
    """Return the ranks, in id order."""
    median_ns = times.median_compute_ns
    return [
        RankSummary.from_attributes(
            rank,
            rank.sequence,
            launches=rank.launches,
            compute_over_median=rank.compute_ns / median_ns if median_ns else None,
            error_for_all=rank.error,
        )
        for rank in times.ranks
    ]


def rank_times(profile: Profile, region: Region, progress: Progress | None = None) -> RankTimes:
    """Return what the launches of a region are on each rank, and how well each rank stands for all.

    With t_kr the time of the kernels of name k on rank r of R, and T_k their sum over ranks, rank r in the
    place of all is off by sum_k (R t_kr - T_k) / sum_k T_k; sum_k |R t_kr - T_k| / sum_k T_k bounds the error
    of any choice of kernels.

    A collective ends everywhere when the last rank has come to it: its shortest duration over the ranks is
    the transfer, what is beyond that is waiting (as the multi-rank collective report of AMD's TraceLens has
    it). The n-th launch of a collective kernel is taken for the same collective on all ranks, where all that
    have its name have equally many; sends and receives, in which two ranks meet, where there are only two.

    Raises EmptySelectionError, NotApplicableError: as `count_durations`.
    """
    counts = count_durations(profile, Grouping(GroupBy.NAME), region, progress)
    communicates = np.array([is_communication(group.name) for group in counts.groups])
    sequences = selected_sequences(profile, counts.selected)
    missing = max((profile.facts.world_size or 0) - len(profile.sequences), 0)
    waits = communicates
    if len(profile.sequences) + missing > 2:
        names = [group.name.lower() for group in counts.groups]
        waits = communicates & [not any(word in name for word in _PAIRWISE) for name in names]
    waiting_ns, matched_ns = _waiting(profile, counts, waits, progress)
    busy = _by_sequence(device_times(profile, _launches(profile, counts, None), progress))
    computing = _by_sequence(device_times(profile, _launches(profile, counts, ~communicates), progress))
    talking = _by_sequence(device_times(profile, _launches(profile, counts, communicates), progress))

    place_of = {(sequence.process, sequence.device): place for place, sequence in enumerate(sequences)}
    rank_of = np.array([place_of[group.process or 0, group.device or 0] for group in counts.groups])
    time_ns = counts.group_duration_ns
    signed, apart = _errors(counts, rank_of, len(sequences))
    ranks = []
    for place, sequence in enumerate(sequences):
        rows = rank_of == place
        if not rows.any():
            continue
        total, compute, talk = (times.get(sequence) for times in (busy, computing, talking))
        alone_ns = 0 if total is None else total.busy_ns - (compute.busy_ns if compute else 0)
        ranks.append(
            RankTime(
                sequence,
                launches=int(counts.group_launches[rows].sum()),
                kernel_ns=int(time_ns[rows].sum()),
                communication_ns=int(time_ns[rows & communicates].sum()),
                waiting_ns=waiting_ns.get(profile.sequences.index(sequence)) if waiting_ns else None,
                elapsed_ns=total.span_ns if total else None,
                busy_share=total.busy_share if total else None,
                overlap_share=1 - alone_ns / talk.busy_ns if talk and talk.busy_ns else None,
                error=float(signed[place]),
                error_by_kernel=float(apart[place]),
            )
        )
    all_talk_ns = int(time_ns[communicates].sum())
    return RankTimes(tuple(ranks), counts, matched_ns / all_talk_ns if all_talk_ns else 0.0, missing)


def _errors(counts: DurationCounts, rank_of: IntArray, ranks: int) -> FloatArray:
    """Return (2, r) what each rank in the place of all is off by: signed, and kernel by kernel."""
    time_ns = counts.group_duration_ns.astype(np.float64)
    names, kernel_of = np.unique([group.name for group in counts.groups], return_inverse=True)
    present = np.unique(rank_of)
    of_kernel_ns = np.bincount(kernel_of, time_ns, len(names))
    own_ns = np.bincount(rank_of, time_ns, ranks)
    # A kernel that a rank does not have is off by all of it, one that it has by what its time says.
    has_ns = np.bincount(rank_of, of_kernel_ns[kernel_of], ranks)
    off_ns = np.bincount(rank_of, np.abs(len(present) * time_ns - of_kernel_ns[kernel_of]), ranks)
    total_ns = float(time_ns.sum())
    return np.stack([len(present) * own_ns - total_ns, off_ns + total_ns - has_ns]) / max(total_ns, 1.0)


def _waiting(
    profile: Profile, counts: DurationCounts, collective: BoolArray, progress: Progress | None
) -> tuple[dict[int, int], int]:
    """Return what sequences wait in groups (g,) of collectives, and the time of all with a counterpart."""
    durations: dict[str, dict[int, list[IntArray]]] = defaultdict(lambda: defaultdict(list))
    if collective.any():
        for part, group, table in counted_launches(profile, counts, ("duration_ns",), progress):
            duration_ns = table["duration_ns"].astype(np.int64, copy=False)
            for group_index in np.unique(group[collective[group]]).tolist():
                durations[counts.groups[group_index].name][part.sequence].append(
                    duration_ns[group == group_index]
                )
    waiting_ns: dict[int, int] = {}
    matched_ns = 0
    for of_sequences in durations.values():
        launches_ns = [np.concatenate(durations) for durations in of_sequences.values()]
        if len(launches_ns) < 2 or len({len(durations) for durations in launches_ns}) > 1:
            continue
        beside_ns = np.stack(launches_ns)
        waits_ns = (beside_ns - beside_ns.min(axis=0)).sum(axis=1)
        matched_ns += int(beside_ns.sum())
        for sequence, own_ns in zip(of_sequences, waits_ns.tolist(), strict=True):
            waiting_ns[sequence] = waiting_ns.get(sequence, 0) + own_ns
    return waiting_ns, matched_ns


def _launches(profile: Profile, counts: DurationCounts, groups: BoolArray | None) -> tuple[Part, ...]:
    """Return the launches that a reduction counts, or those of some of its groups (g,)."""
    if groups is None or groups.all():
        return tuple(part for part, _, _ in counted_launches(profile, counts, ()))
    if not groups.any():
        return ()
    parts = (part.narrowed(groups[group]) for part, group, _ in counted_launches(profile, counts, ()))
    return tuple(part for part in parts if part is not None)


def _by_sequence(times: tuple[DeviceTime, ...]) -> dict[LaunchSequence, DeviceTime]:
    return {time.sequence: time for time in times}
