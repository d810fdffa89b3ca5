"""Several files as one workload: their launches follow each other, kept apart as processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from sampling.arrays import FloatArray
from sampling.profile.named_ranges import joined_runs
from sampling.profile.profile import Batch, Column, Device, LaunchSequence, Profile, RecordingFacts, Span
from sampling.profile.range_runs import NO_RANGES, NamedRange, RangeRuns


class Workload(Profile):
    """Profiles read with one shared kernel table, presented as one.

    Process numbers stay as recorded where they differ from file to file; where two files record the same one
    (or none), processes are numbered 0, 1, 2... in the order of the files.
    """

    def __init__(self, profiles: Sequence[Profile]) -> None:
        self._profiles = tuple(profiles)
        self.format = "+".join(dict.fromkeys(profile.format for profile in profiles))
        self.files = tuple(file for profile in profiles for file in profile.files)
        self.kernels = profiles[0].kernels
        self.columns = frozenset.intersection(*(profile.columns for profile in profiles))
        self.metric_names = tuple(
            dict.fromkeys(name for profile in profiles for name in profile.metric_names)
        )
        self._process_numbers = _process_numbers(profiles)
        self.facts = _joined_facts(
            [profile.facts for profile in profiles], _devices(profiles, self._process_numbers)
        )
        sequences: list[LaunchSequence] = []
        spans: list[Span] = []
        first_id = 0
        for file_index, profile in enumerate(profiles):
            for span in profile.spans:
                handle = (file_index, span.sequence, *span.handle)
                spans.append(replace(span, sequence=len(sequences) + span.sequence, handle=handle))
            for sequence in profile.sequences:
                process = self._process_numbers[file_index, sequence.process]
                sequences.append(replace(sequence, process=process, first_id=first_id))
                first_id += sequence.launches
        self.sequences = tuple(sequences)
        self._spans = tuple(spans)

    @property
    def spans(self) -> tuple[Span, ...]:
        """All spans, in id order."""
        return self._spans

    def read(self, span: Span, columns: Sequence[Column]) -> Batch:
        """Return the columns of one span, read from the file it lies in."""
        profile, inner = self._inside(span)
        return replace(profile.read(inner, columns), span=span)

    def read_metrics(self, span: Span, names: Sequence[str]) -> Mapping[str, FloatArray]:
        """Return the metrics of one span; NaN for those that the file it lies in does not have."""
        profile, inner = self._inside(span)
        values = profile.read_metrics(inner, [name for name in names if name in profile.metric_names])
        missing = np.full(span.launches, np.nan)
        return {name: values.get(name, missing) for name in names}

    def _inside(self, span: Span) -> tuple[Profile, Span]:
        """Return the profile that a span lies in, and the span as that profile knows it."""
        file_index, sequence, *handle = span.handle
        return self._profiles[file_index], replace(span, sequence=sequence, handle=tuple(handle))

    @property
    def clocks(self) -> tuple[int, ...]:
        """The index of the file of each sequence: every file has its own clock."""
        return tuple(
            index for index, profile in enumerate(self._profiles) for _ in range(len(profile.sequences))
        )

    def named_ranges(self, text: str) -> tuple[NamedRange, ...] | None:
        """Return the ranges of all files, in their order; None where the format of one has no ranges."""
        found: list[NamedRange] = []
        sequences_before = 0
        for profile in self._profiles:
            ranges = profile.named_ranges(text)
            if ranges is None:
                return None
            found += [replace(each, sequence=sequences_before + each.sequence) for each in ranges]
            sequences_before += len(profile.sequences)
        exact = tuple(each for each in found if each.text == text)
        return exact or tuple(found)

    def range_runs(self) -> RangeRuns | None:
        """Return the ranges of all files that have any, in their order; None where no format has ranges."""
        runs = [profile.range_runs() for profile in self._profiles]
        if all(each is None for each in runs):
            return None
        sequences = [len(profile.sequences) for profile in self._profiles]
        return joined_runs([each or NO_RANGES for each in runs], sequences)

    def range_names(self, most: int) -> tuple[str, ...]:
        """Return some names of all files."""
        names = dict.fromkeys(name for profile in self._profiles for name in profile.range_names(most))
        return tuple(names)[:most]


def _process_numbers(profiles: Sequence[Profile]) -> dict[tuple[int, int], int]:
    """Return (file index, recorded process) -> the process number in the workload."""
    recorded = [
        (index, process)
        for index, profile in enumerate(profiles)
        for process in dict.fromkeys(sequence.process for sequence in profile.sequences)
    ]
    if len({process for _, process in recorded}) == len(recorded):
        return {(index, process): process for index, process in recorded}
    return {place: number for number, place in enumerate(recorded)}


def _devices(
    profiles: Sequence[Profile], process_numbers: Mapping[tuple[int, int], int]
) -> tuple[Device, ...]:
    """Return each file's GPUs for each of its processes: one number may mean another GPU in another file."""
    return tuple(
        replace(device, process=process_numbers[index, sequence.process])
        for index, profile in enumerate(profiles)
        for sequence in profile.sequences
        for device in profile.facts.devices
        if device.device == sequence.device and device.process in {None, sequence.process}
    )


def _joined_facts(facts: Sequence[RecordingFacts], devices: tuple[Device, ...]) -> RecordingFacts:
    orders = [fact.launch_order for fact in facts]
    weakest_first = ("file", "gpu-start", "correlation", "api-start")
    products = dict.fromkeys(fact.product for fact in facts if fact.product is not None)
    return RecordingFacts(
        devices=devices,
        launch_order=min(orders, key=weakest_first.index),
        api_rows_missing=sum(fact.api_rows_missing for fact in facts),
        hidden_graph_replays=sum(fact.hidden_graph_replays for fact in facts),
        product=", ".join(products) or None,
    )
