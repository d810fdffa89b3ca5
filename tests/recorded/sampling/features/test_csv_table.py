"""Profiles, and what has no launches, recorded by others: neither has features."""

from __future__ import annotations

from pathlib import Path

import pytest

from sampling.errors import ProfileError
from sampling.features.reading import read_features


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("kineto-cpu-only.json.gz", "a Kineto .* trace of 30 events without a GPU kernel among them"),
        ("nsys-api-rows-but-no-kernels.sqlite", "3 CUDA API calls but no kernel launches"),
        ("nsys-six-tables.sqlite", "no CUDA tables at all: CUDA was not traced"),
    ],
)
def test_a_trace_without_launches_is_not_called_a_profile(shared_data: Path, name: str, message: str) -> None:
    with pytest.raises(ProfileError, match=message) as caught:
        read_features(str(shared_data / "not-a-profile" / name))
    assert "a profile" not in str(caught.value)
    assert "durations" not in str(caught.value)
    assert "it has no features of launches either; give a CSV of Nsight Compute" in str(caught.value)


def test_profiles_are_no_features(shared_data: Path) -> None:
    for name in ("nsys-sqlite/p2000-sort-nsys2020.4.sqlite", "kineto/tiny-capital-K-category.json.gz"):
        with pytest.raises(ProfileError, match="a profile"):
            read_features(str(shared_data / name))
    for path in sorted((shared_data / "not-a-profile").iterdir()):
        with pytest.raises(ProfileError):
            read_features(str(path))
