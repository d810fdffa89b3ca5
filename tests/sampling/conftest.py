"""Builders of small profiles, for all tests of the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sampling.profile.launch_table import LaunchColumns, LaunchTableBuilder, find_range_runs
from sampling.profile.profile import KernelTable, Profile, ProfileFile, RecordingFacts
from sampling.reduction import GroupBy
from sampling.reduction.duration_counts import DurationCounts, count_durations
from sampling.reduction.grouping import Grouping


def _array(values: Sequence[int] | None) -> Any:
    return None if values is None else np.asarray(values, dtype=np.int64)


def _launch_table(
    names: Sequence[str],
    durations: Sequence[int],
    *,
    grid_x: Sequence[int] | None = None,
    process: Sequence[int] | None = None,
    device: Sequence[int] | None = None,
    start_ns: Sequence[int] | None = None,
    stream: Sequence[int] | None = None,
    order: Sequence[int] | None = None,
    kernels: KernelTable | None = None,
    facts: RecordingFacts | None = None,
    location: Path | None = None,
    path: str = "profile.csv",
) -> Profile:
    kernels = KernelTable() if kernels is None else kernels
    builder = LaunchTableBuilder(path, kernels)
    shape = None
    if grid_x is not None:
        x = np.asarray(grid_x, dtype=np.int64)
        shape = [x, (x > 0).astype(np.int64), (x > 0).astype(np.int64)]
    part = LaunchColumns(
        name=kernels.names.intern(list(names)),
        duration_ns=np.asarray(durations, dtype=np.int64),
        order=_array(order),
        process=_array(process),
        device=_array(device),
        grid=shape,
        block=shape,
        start_ns=_array(start_ns),
        stream=_array(stream),
    )
    builder.append(part)
    file = ProfileFile(path, location or Path(path), 0)
    return builder.finish(format_name="test", file=file, facts=facts or RecordingFacts())


def profile_of_groups(groups: Mapping[str, Sequence[int]], **more: Any) -> Profile:
    """Build a profile of kernel groups given as name -> durations, one group after the other."""
    names = [name for name, durations in groups.items() for _ in durations]
    return _launch_table(names, [int(each) for durations in groups.values() for each in durations], **more)


def profile_with_ranges(
    calls: Sequence[int],
    ranges: Sequence[tuple[str, int, int]] | None,
    *,
    names: Sequence[str] | None = None,
    durations: Sequence[int] | None = None,
    start_ns: Sequence[int] | None = None,
    device: Sequence[int] | None = None,
    kernels: KernelTable | None = None,
) -> Profile:
    """Build a profile of launches called at these times, in any order, which last as long if not given.

    Ranges are (name, start, end) on the clock of the calls; None: a format without ranges.
    """
    kernels = KernelTable() if kernels is None else kernels
    builder = LaunchTableBuilder("x", kernels)
    builder.append(
        LaunchColumns(
            name=kernels.names.intern(list(names or ["k"] * len(calls))),
            duration_ns=_array(durations or calls),
            order=_array(calls),
            device=_array(device or [0] * len(calls)),
            start_ns=_array(start_ns),
            api_start_ns=_array(calls),
        )
    )
    texts = tuple(dict.fromkeys(text for text, _, _ in ranges or ()))
    rows = [(texts.index(text), 0, low, high) for text, low, high in ranges or ()]
    events = np.array(rows, dtype=np.int64).reshape(-1, 4).T
    return builder.finish(
        format_name="test",
        file=ProfileFile("x", Path("x"), 0),
        facts=RecordingFacts(),
        ranges=None if ranges is None else lambda *issued: find_range_runs(texts, events, *issued),
    )


@pytest.fixture(scope="session")
def launch_table() -> Callable[..., Profile]:
    """Build a profile in memory from one entry a launch; grid and block are (x, 1, 1), 0 for unknown."""
    return _launch_table


@pytest.fixture(scope="session")
def counts_of() -> Callable[..., DurationCounts]:
    """Build the reduction of kernel groups given as name -> durations."""

    def build(groups: dict[str, Sequence[int]], by: GroupBy = GroupBy.NAME) -> DurationCounts:
        return count_durations(profile_of_groups(groups), Grouping(by))

    return build


@pytest.fixture(scope="session")
def mixture() -> Callable[..., dict[str, list[int]]]:
    """Build kernel groups whose durations are mixtures of lognormal modes, in nanoseconds."""

    def build(seed: int, groups: int = 6, launches: int = 400) -> dict[str, list[int]]:
        rng = np.random.default_rng(seed)
        made = {}
        for index in range(groups):
            modes = rng.lognormal(10, 1.5, size=int(rng.integers(1, 4)))
            mode = rng.integers(0, len(modes), size=int(rng.integers(2, launches)))
            spread = rng.choice([0.01, 0.1, 0.6])
            made[f"kernel{index}"] = (
                np.rint(modes[mode] * rng.lognormal(0, spread, size=len(mode))).astype(int).tolist()
            )
        return made

    return build
