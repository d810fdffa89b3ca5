"""What is kept of recorded files is what is read of them, whatever their format."""

from __future__ import annotations

from pathlib import Path

import pytest

from sampling.errors import SamplingError
from sampling.profile.profile import Profile
from sampling.readers import cache
from sampling.readers.registry import read_profile
from tests.sampling.readers.test_cache import told

FOLDERS = (
    "kineto",
    "nsys-csv",
    "nsys-parquetdir",
    "nsys-sqlite",
    "nvprof",
    "rocm",
    "sim",
    "turn4/cases",
    "turn4/files",
)


@pytest.mark.parametrize("name", FOLDERS)
def test_what_is_kept_is_what_was_read(
    name: str, shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = shared_data / name
    if not folder.is_dir():
        pytest.skip(f"the real profiles (shared/data/{name} beside the project) are not here")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(cache, "LEAST_BYTES", 0)
    found: list[Profile | None] = []
    kept = cache._load
    monkeypatch.setattr(cache, "_load", lambda name: (found.append(kept(name)), found[-1])[1])
    same = 0
    is_export = (folder / "StringIds.parquet").exists()
    for path in [folder] if is_export else sorted(filter(Path.is_file, folder.rglob("*"))):
        try:
            fresh = read_profile([str(path)])
        except SamplingError:
            continue
        read_profile([str(path)], cache=True)
        again = read_profile([str(path)], cache=True)
        assert found[-1] is not None, path
        assert repr(told(again)[1:]) == repr(told(fresh)[1:]), path
        assert (again.facts, again.notes, again.sequences) == (fresh.facts, fresh.notes, fresh.sequences)
        same += 1
    assert same
