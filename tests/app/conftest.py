"""The app in this process, in a terminal that is the same everywhere."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from sampling.plan import binding, study, trade_off
from sampling.plan import design as designs
from sampling.plan.comparison import Comparison, MethodComparison
from sampling.profile.profile import Profile
from sampling.progress import Progress
from sampling.readers.tables.column_map import ColumnMap
from sampling.reduction import duration_counts
from sampling.reduction.duration_counts import DurationCounts
from tests.settled_terminal import gpt, no_program_outlives_its_test, plain_terminal, resnet
from tests.terminal.pseudo_terminal import PATIENCE_SECONDS
from tui.app import planning
from tui.app.compare import comparing
from tui.app.compare.comparing import THREAD

__all__ = ["gpt", "no_program_outlives_its_test", "plain_terminal", "resnet"]


@pytest.fixture(autouse=True)
def no_comparison_outlives_its_test() -> Iterator[None]:
    """A method that nobody waits for any more may still be under way when the app has gone."""
    yield
    for thread in threading.enumerate():
        if thread.name == THREAD:
            thread.join(PATIENCE_SECONDS)


_READ: dict[tuple[str, ...], Profile] = {}
_REDUCED: dict[tuple[object, ...], DurationCounts] = {}
_DESIGNED: dict[tuple[object, ...], designs.Design] = {}
_COMPARED: dict[tuple[object, ...], Comparison] = {}


@pytest.fixture(autouse=True)
def samples_are_read_once(monkeypatch: pytest.MonkeyPatch, sample_data: Path) -> None:
    """Reading the sample profiles is tested elsewhere, and most tests here begin with it."""
    read = planning.open_profile

    def open_profile(
        profiles: Sequence[str], progress: Progress, columns: ColumnMap | None = None
    ) -> Profile:
        names = tuple(profiles)
        if any(Path(name).parent != sample_data for name in names):
            return read(names, progress, columns)
        if names not in _READ:
            _READ[names] = read(names, progress)
        return _READ[names]

    monkeypatch.setattr(planning, "open_profile", open_profile)


@pytest.fixture(autouse=True)
def plans_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Views make dozens of plans of a sample, the same in most tests; what they are is tested elsewhere."""
    reduce, design = duration_counts.count_durations, designs.make_design

    def count_durations(profile: Profile, *given: Any, **named: Any) -> DurationCounts:
        # Only what stays in memory can be told apart by its identity.
        if not any(profile is known for known in _READ.values()):
            return reduce(profile, *given, **named)
        grouping, region = given[:2]
        key = (id(profile), grouping, region)
        if key not in _REDUCED:
            _REDUCED[key] = reduce(profile, *given, **named)
        return _REDUCED[key]

    def make_design(counts: DurationCounts, *given: Any, **named: Any) -> designs.Design:
        if not any(counts is known for known in _REDUCED.values()):
            return design(counts, *given, **named)
        asked = {name: value for name, value in named.items() if name != "progress"}
        key = (id(counts), repr((given, sorted(asked.items()))))
        if key not in _DESIGNED:
            _DESIGNED[key] = design(counts, *given, **named)
        return _DESIGNED[key]

    for module in (study, binding):
        monkeypatch.setattr(module, "count_durations", count_durations)
    for module in (study, binding, trade_off):
        monkeypatch.setattr(module, "make_design", make_design)


class ComparedOnce:
    """A comparison that designs and judges a method's plan once for equal options."""

    def __init__(self, comparison: MethodComparison, key: tuple[object, ...]) -> None:
        self._comparison, self._key = comparison, key

    @property
    def reports(self) -> Any:
        return self._comparison.reports

    def compare(self, method: str, grouping: Any) -> Comparison:
        key = (*self._key, method)
        if key not in _COMPARED:
            _COMPARED[key] = self._comparison.compare(method, grouping)
        return _COMPARED[key]


@pytest.fixture(autouse=True)
def methods_are_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a comparison finds is tested against the command; here most tests need only that it ends."""
    compare = comparing.comparison_of

    def comparison_of(profile: Profile, paths: Any, options: Any, progress: Progress) -> Any:
        comparison = compare(profile, paths, options, progress)
        # Only profiles that stay in memory can be told apart by their identity.
        if options.features or not any(profile is known for known in _READ.values()):
            return comparison
        return ComparedOnce(comparison, (id(profile), options))

    monkeypatch.setattr(comparing, "comparison_of", comparison_of)
