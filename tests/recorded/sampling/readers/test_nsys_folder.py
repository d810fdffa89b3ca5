"""An nsys folder export, recorded by others."""

from __future__ import annotations

from pathlib import Path

from tests.sampling.readers import test_nsys_sqlite as plain_sql
from tests.sampling.readers.test_nsys_folder import columns, read


def test_a_parquetdir_is_the_same_as_the_sqlite_export(shared_data: Path) -> None:
    profile = read(shared_data / "nsys-parquetdir")
    assert profile.format == "nsys-parquetdir"
    same = plain_sql.read(shared_data / "nsys-sqlite" / "cuda-graphs-nsys2023.4.sqlite")
    assert profile.launches == 24
    assert len(profile.kernels.names) == 2
    assert sum(columns(profile)[1]) == 3775788
    assert columns(profile) == columns(same)
    assert profile.sequences == same.sequences
    assert profile.facts == same.facts
