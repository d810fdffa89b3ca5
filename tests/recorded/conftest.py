"""What is read of recorded files by more than one test, read once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from sampling.features.reading import FeatureRows, read_features


@pytest.fixture(scope="session")
def ncu_page(shared_data: Path) -> Callable[[str], FeatureRows]:
    """Return a page of Nsight Compute by its file name."""

    @cache
    def page(name: str) -> FeatureRows:
        return read_features(str(shared_data / "ncu" / name))

    return page


@pytest.fixture(scope="session")
def runs(shared_data: Path) -> Path:
    """Return the folder of real simulators' runs."""
    folder = shared_data / "sim"
    if not folder.is_dir():
        pytest.skip("the simulators' runs (shared/data/sim beside the project) are not here")
    return folder
