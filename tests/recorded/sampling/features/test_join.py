"""Reports joined to profiles recorded by others."""

from __future__ import annotations

from pathlib import Path

import pytest

from sampling.readers.registry import read_profile
from tests.sampling.features.test_join import check_report_in_the_other_demanglers_spelling


@pytest.mark.parametrize(
    "name",
    [
        "a100-nerf-nsys2021.5.sqlite",
        "h100x2-transformer-nsys2026.2.sqlite",
        "rtx3090-gaussian-nsys2022.4.sqlite",
    ],
)
def test_a_report_in_the_other_demanglers_spelling_matches_whole(
    shared_data: Path, tmp_path: Path, name: str
) -> None:
    pytest.importorskip("cxxfilt")
    profile = read_profile([str(shared_data / "nsys-sqlite" / name)])
    check_report_in_the_other_demanglers_spelling(profile, tmp_path)
