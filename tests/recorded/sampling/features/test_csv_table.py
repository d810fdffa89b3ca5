"""Profiles, and what has no launches, recorded by others: neither has features."""

from __future__ import annotations

from pathlib import Path

import pytest

from sampling.errors import ProfileError
from sampling.features.reading import read_features


def test_neither_a_profile_nor_a_trace_without_launches_has_features(shared_data: Path) -> None:
    profiles = ("nsys-sqlite/p2000-sort-nsys2020.4.sqlite", "kineto/tiny-capital-K-category.json.gz")
    for path in [shared_data / name for name in profiles] + sorted((shared_data / "not-a-profile").iterdir()):
        with pytest.raises(ProfileError, match="no features of launches") as caught:
            read_features(str(path))
        assert caught.value.remedy
