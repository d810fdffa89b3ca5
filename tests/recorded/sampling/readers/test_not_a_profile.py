"""What others recorded that is no profile is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sampling.readers.test_input_file import refused


@pytest.mark.parametrize(
    ("file", "sentence"),
    [
        ("not-a-profile/nsys-nvtx-trace.csv", "an nsys report of something other"),
        ("not-a-profile/nsys-report-not-exported.qdrep", "an Nsight Systems report that was not exported"),
        (
            "not-a-profile/nsys-stats-skipped-report.csv",
            "an `nsys stats` output without a report in it",
        ),
        ("ncu/a100-details.csv", "an Nsight Compute CSV"),
        ("ncu/ncu2024.1-details.csv", "an Nsight Compute CSV"),
        ("ncu/ncu2024.1-raw.csv", "an Nsight Compute CSV"),
        ("published/stem-ae-figure9-casio.csv", "a CSV with the columns 'label', 'name', 'xval', 'yval'"),
        ("published", "a folder in which nothing is a profile"),
    ],
)
def test_files_of_other_formats_are_named(shared_data: Path, file: str, sentence: str) -> None:
    error = refused(shared_data / file)
    assert sentence in error.message
    assert error.remedy
