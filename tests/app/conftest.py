"""The app in this process, in a terminal that is the same everywhere."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest
import textual.pilot
from textual.keys import _character_to_key
from textual.widgets import Input

from sampling.parallel import Progress
from sampling.plan.comparison import Comparison, MethodComparison, plan_key
from sampling.profile.profile import Profile
from tests import small_recordings
from tests.fuzzing.keys import press_at_once
from tests.plans_once import plans_made_once
from tests.settled_terminal import gpt, no_program_outlives_its_test, plain_terminal, resnet
from tui.app import app as app_module
from tui.app import compare, planning
from tui.app.app import KernelPointApp

__all__ = ["gpt", "no_program_outlives_its_test", "plain_terminal", "resnet"]


async def _loop_is_idle(min_sleep: float = 0.0, max_sleep: float = 1.0) -> None:
    """Wait until nothing is left to do in the app's own thread, nor soon will be."""
    loop: Any = asyncio.get_running_loop()
    give_up = loop.time() + max_sleep
    while loop.time() < give_up:
        await asyncio.sleep(0)
        if not loop._ready:
            due = min((each.when() for each in loop._scheduled if not each.cancelled()), default=math.inf)
            if due - loop.time() > _SOON_SECONDS:
                return
            await asyncio.sleep(max(due - loop.time(), 0))


async def _press_keys(app: KernelPointApp, keys: Iterable[str]) -> None:
    """Press keys, each once the one before is handled: but for letters in a field and equal steps."""
    pressed = list(keys)
    for key, following in zip_longest(pressed, pressed[1:]):
        press_at_once(app, [key if key.isalnum() or len(key) > 1 else _character_to_key(key)])
        is_typed = len(key) == 1 and isinstance(app.focused, Input)
        if following is None or not (is_typed or key == following in _STEPS):
            await _loop_is_idle()
            while app.is_running and not app._keys.is_resting:
                await asyncio.sleep(0.001)
                await _loop_is_idle()
            if any(not worker.is_finished for worker in app.workers):
                # What takes a moment is there before the next key, as it is where a person presses it.
                await asyncio.sleep(_SOON_SECONDS)
                await _loop_is_idle()


@pytest.fixture(autouse=True)
def keys_wait_for_the_app_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Textual waits twice a key until the whole process is idle, up to a second each while a thread plans."""
    monkeypatch.setattr(textual.pilot, "wait_for_idle", _loop_is_idle)
    monkeypatch.setattr(KernelPointApp, "_press_keys", _press_keys)
    monkeypatch.setattr(app_module, "_LONGEST_SECONDS", 0.3)


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A recording of 168 launches, of which plans are made in milliseconds."""
    return str(small_recordings.nsys_sqlite(tmp_path_factory.mktemp("small"), "2023.4"))


# A frame is drawn by then.
_SOON_SECONDS = 0.02
_STEPS = {"j", "k", "up", "down", "left", "right", "backspace"}
_READ: dict[tuple[str, ...], Profile] = {}
_COMPARED: dict[tuple[object, ...], Comparison] = {}
_FIRST: dict[tuple[object, ...], str] = {}


@pytest.fixture(autouse=True)
def samples_are_read_once(monkeypatch: pytest.MonkeyPatch, sample_data: Path, small: str) -> None:
    """Reading the sample profiles is tested elsewhere, and most tests here begin with it."""
    read = planning.open_profile

    def open_profile(names: tuple[str, ...], *asked: Any, **more: Any) -> Profile:
        if any(Path(name).parent != sample_data and name != small for name in names):
            return read(names, *asked, **more)
        if names not in _READ:
            _READ[names] = read(names, *asked, **more)
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

    def compare(self, method: str) -> Comparison:
        key = (*self._key, method)
        if key not in _COMPARED:
            compared = self._comparison.compare(method)
            if compared.design is not None:
                # Methods before it may be of a comparison that was cancelled, unknown to this one.
                first = _FIRST.setdefault(
                    (*self._key, self._comparison.grouping(method), plan_key(compared.design)), method
                )
                compared = replace(compared, same_as=None if first == method else first)
            _COMPARED[key] = compared
        return _COMPARED[key]


@pytest.fixture(autouse=True)
def methods_are_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a comparison finds is tested against the command; here most tests need only that it ends."""
    real = compare.comparison_of

    def comparison_of(profile: Profile, paths: Any, options: Any, progress: Progress) -> Any:
        comparison = real(profile, paths, options, progress)
        # Only profiles that stay in memory can be told apart by their identity.
        if options.request.features or not any(profile is known for known in _READ.values()):
            return comparison
        return ComparedOnce(comparison, (id(profile), options))

    monkeypatch.setattr(compare, "comparison_of", comparison_of)
