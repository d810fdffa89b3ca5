"""The app in this process, in a terminal that is the same everywhere."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import textual.app
import textual.pilot

from sampling.plan.comparison import Comparison, MethodComparison, plan_key
from sampling.profile.profile import Profile
from sampling.progress import Progress
from sampling.readers.tables.column_map import ColumnMap
from tests.plans_once import plans_made_once
from tests.settled_terminal import gpt, no_program_outlives_its_test, plain_terminal, resnet
from tests.terminal.pseudo_terminal import PATIENCE_SECONDS
from tui.app import planning
from tui.app.compare import comparing
from tui.app.compare.comparing import THREAD

__all__ = ["gpt", "no_program_outlives_its_test", "plain_terminal", "resnet"]


async def _loop_is_idle(min_sleep: float = 0.0, max_sleep: float = 1.0) -> None:
    """Wait until the app's own thread has nothing to do."""
    give_up = time.monotonic() + max_sleep
    while time.monotonic() < give_up:
        busy = time.thread_time()
        await asyncio.sleep(max(_PAUSE_SECONDS, min_sleep))
        if time.thread_time() - busy < _PAUSE_SECONDS / 10:
            return


@pytest.fixture(autouse=True)
def keys_wait_for_the_app_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Textual waits twice a key until the whole process is idle, up to a second each while a thread plans."""
    for module in (textual.app, textual.pilot):
        monkeypatch.setattr(module, "wait_for_idle", _loop_is_idle)


@pytest.fixture(autouse=True)
def no_comparison_outlives_its_test() -> Iterator[None]:
    """A method that nobody waits for any more may still be under way when the app has gone."""
    yield
    for thread in threading.enumerate():
        if thread.name == THREAD:
            thread.join(PATIENCE_SECONDS)


_PAUSE_SECONDS = 0.01
_READ: dict[tuple[str, ...], Profile] = {}
_COMPARED: dict[tuple[object, ...], Comparison] = {}
_FIRST: dict[tuple[object, ...], str] = {}


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
def plans_are_made_once() -> Iterator[None]:
    """Views make dozens of plans, the same in most tests; what they are is tested elsewhere."""
    with plans_made_once():
        yield


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
            compared = self._comparison.compare(method, grouping)
            if compared.design is not None:
                # Methods before it may be of a comparison that was cancelled, unknown to this one.
                first = _FIRST.setdefault((*self._key, grouping, plan_key(compared.design)), method)
                compared = replace(compared, same_as=None if first == method else first)
            _COMPARED[key] = compared
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
