"""What all tests share."""

from __future__ import annotations

import gc
import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.own_folders import PROJECT, READING, RECORDED
from tui.charts.quantities import measure_in
from tui.terminal.printable import draw_in_ascii

# Tests cluster a few hundred rows: threads would wait for one another longer than they compute.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A suite started in the background of a shell ignores interrupts, and so would the programs it starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Looking for cycles among a whole suite's objects takes a seventh of its time; rarely is often enough.
gc.set_threshold(100_000, 50, 50)

settings.register_profile("suite", deadline=None, max_examples=15, print_blob=True)
# Now and then: HYPOTHESIS_PROFILE=long, with what the sweep of `benchmarks/fuzz.py` finds.
settings.register_profile("long", deadline=None, max_examples=300, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "suite"))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return how many workers `-n auto` is: one more than cores, for tests of programs and terminals wait."""
    return 1 + len(os.sched_getaffinity(0))


@pytest.fixture(autouse=True, scope="session")
def folders_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What is kept or passing lies in no user's home and in no folder of others."""
    READING.allow(tmp_path_factory.getbasetemp())
    for name in ("HOME", "XDG_CACHE_HOME", "TMPDIR"):
        os.environ[name] = str(tmp_path_factory.mktemp(name))
    tempfile.tempdir = None


@pytest.fixture(autouse=True)
def nothing_is_read_outside(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test that reads what is neither its own nor the project's; see `tests/own_folders.py`."""
    yield
    outside, READING.outside = READING.outside, []
    is_recorded = request.path.is_relative_to(PROJECT / "tests" / "recorded")
    stray = [path for path in outside if not (is_recorded and path.is_relative_to(RECORDED))]
    assert not stray, "read outside the tests' own folders"


@pytest.fixture(autouse=True)
def any_glyph_again() -> Iterator[None]:
    """What a program draws in, and counts durations in, it settles for all of itself: over with its test."""
    yield
    draw_in_ascii(False)
    measure_in("ns")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real profiles recorded by others; not part of the project."""
    folder = RECORDED / "data"
    if not folder.is_dir():
        pytest.skip("the real profiles (shared/data beside the project) are not here")
    return folder


@pytest.fixture(scope="session")
def sample_data() -> Path:
    """The sample data that ships with the project."""
    return PROJECT / "sample_data"
