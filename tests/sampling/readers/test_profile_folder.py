"""A folder of profiles, one a rank, is one workload."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import pytest

from sampling.errors import ProfileError
from sampling.profile.profile import Profile
from sampling.readers.registry import read_profile
from tests import small_recordings


def table(folder: Path, name: str, launches: int = 1) -> Path:
    path = folder / name
    path.write_text("name,duration_ns\n" + "k,5\n" * launches)
    return path


def names(profile: Profile) -> list[str]:
    return [Path(file.path).name for file in profile.files]


def test_each_file_is_a_process_and_they_are_counted_as_people_count(tmp_path: Path) -> None:
    for rank in (10, 2, 1):
        table(tmp_path, f"rank{rank}.csv", rank)
    profile = read_profile([str(tmp_path)])
    assert names(profile) == ["rank1.csv", "rank2.csv", "rank10.csv"]
    assert [(each.process, each.launches) for each in profile.sequences] == [(0, 1), (1, 2), (2, 10)]
    assert profile.notes == ()
    # As if each had been given by name.
    given = read_profile([str(tmp_path / name) for name in names(profile)])
    assert profile.files == given.files
    assert profile.sequences == given.sequences


def test_what_is_no_profile_is_left_out_and_told(tmp_path: Path) -> None:
    table(tmp_path, "rank0.csv")
    table(tmp_path, "rank1.csv")
    (tmp_path / "job.log").write_text("it ran\n")
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    (tmp_path / ".hidden.csv").write_text("name,duration_ns\nk,5\n")
    (tmp_path / "gone").symlink_to("nowhere")
    deeper = tmp_path / "deeper"
    deeper.mkdir()
    table(deeper, "rank2.csv")
    profile = read_profile([str(tmp_path)])
    assert names(profile) == ["rank0.csv", "rank1.csv"]
    (note,) = profile.notes
    assert "2 profiles are read as one workload; left out: deeper, gone, job.log, other.csv (" in note


def test_one_recording_counts_once(tmp_path: Path) -> None:
    """Its report, its export and what was made of it may all lie there."""
    export = small_recordings.nsys_sqlite(tmp_path, "2023.4")
    stem = export.stem
    (tmp_path / f"{stem}.nsys-rep").write_bytes(b"NVIDIA Tegra Profiler Report 1.\n")
    shutil.copy(small_recordings.nsys_csv(tmp_path, "2023.4"), tmp_path / f"{stem}_cuda_gpu_trace.csv")
    (tmp_path / "rank1.csv.gz").write_bytes(gzip.compress(table(tmp_path, "rank1.csv").read_bytes()))
    profile = read_profile([str(tmp_path)])
    assert names(profile) == ["rank1.csv", export.name]
    (note,) = profile.notes
    assert "rank1.csv.gz" in note
    assert f"{stem}_cuda_gpu_trace.csv" in note


def test_a_damaged_profile_is_not_left_out(tmp_path: Path) -> None:
    """A workload without one of its ranks would be another one."""
    table(tmp_path, "rank0.csv")
    whole = small_recordings.nsys_sqlite(tmp_path, "2023.4")
    whole.write_bytes(whole.read_bytes()[:5000])
    with pytest.raises(ProfileError) as caught:
        read_profile([str(tmp_path)])
    assert caught.value.path == str(whole)


@pytest.mark.parametrize("content", [{}, {"a.txt": "notes\n"}, {"b.csv": "a,b\n1,2\n"}])
def test_nothing_to_read(tmp_path: Path, content: dict[str, str]) -> None:
    for name, text in content.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(ProfileError) as caught:
        read_profile([str(tmp_path)])
    assert "nothing is a profile" in caught.value.message
