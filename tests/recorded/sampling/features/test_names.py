"""Kernels of profiles recorded by others, under the spelling of another demangler."""

from __future__ import annotations

from pathlib import Path

import pytest

from sampling.readers.registry import read_profile
from tests.sampling.features.test_names import check_names_of_the_other_demangler


@pytest.mark.parametrize(
    ("name", "kernels"),
    [
        ("a100-nerf-nsys2021.5.sqlite", 116),
        ("h100x2-transformer-nsys2026.2.sqlite", 41),
        ("h100x2-training-overlap-nsys2026.2.sqlite", 27),
    ],
)
def test_every_kernel_is_found_under_the_other_demanglers_name(
    shared_data: Path, name: str, kernels: int
) -> None:
    pytest.importorskip("cxxfilt")
    profile = read_profile([str(shared_data / "nsys-sqlite" / name)])
    check_names_of_the_other_demangler(profile, kernels, kernels // 2)
