"""Reports joined to profiles recorded by others."""

from __future__ import annotations

from pathlib import Path

import pytest

from sampling.profile.names import demangled
from sampling.readers.registry import read_profile
from tests.sampling.features.test_join import equal, joined, raw_page


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
    signature = profile.load(["signature"])["signature"]
    names = profile.kernels.names
    rows = []
    for sequence in profile.sequences:
        for launch in range(sequence.first_id, sequence.first_id + sequence.launches):
            known = profile.kernels.signature(int(signature[launch]))
            spelt = demangled(names.mangled(known.name) or "") or names.full(known.name)
            rows.append(
                (sequence.process + 5000, sequence.device, spelt, str(known.grid), str(known.block), launch)
            )
    features, (report,) = joined(profile, raw_page(tmp_path, rows))
    assert report.matched == len(rows)
    equal(features.metrics["m"], list(range(profile.launches)))
