"""Real profiles, broken: each is read or refused in one sentence, in bounded time and memory."""

from __future__ import annotations

from pathlib import Path

from tests.fuzzing.reading import assert_read_or_refused

# The smaller of each format; the others are of the same programs, and only take longer.
_FILES = (
    "nsys-sqlite/a40-a100-cutlass-nsys2023.2.sqlite",
    "nsys-sqlite/cuda-graphs-nsys2023.4.sqlite",
    "nsys-parquetdir",
    "nsys-csv/cloverleaf_gpu_trace.csv",
    "nsys-csv/p2000-sort-gputrace-nsys2020.4.csv",
    "kineto/mi250-minitoy-no-grid.json.gz",
    "kineto/tiny-capital-K-category.json.gz",
)


def test_what_is_broken_is_read_or_refused(shared_data: Path) -> None:
    assert_read_or_refused((shared_data / name for name in _FILES), 20)
