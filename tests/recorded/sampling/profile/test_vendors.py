"""Whose GPU a recording is of, as its format, its tool, its devices or its kernels' names tell."""

from __future__ import annotations

from pathlib import Path

import sampling

_FOLDERS = ("kineto", "nsys-csv", "nsys-sqlite", "nvprof", "rocm", "turn4/files")
#: What names of recordings of AMD's GPUs have in them: MI100 to MI350X, rocprof.
_AMD = ("mi1", "mi2", "mi3", "rocprof")


def test_recordings_of_amd_are_told_from_those_of_nvidia(shared_data: Path) -> None:
    files = [path for folder in _FOLDERS for path in sorted((shared_data / folder).iterdir())]
    seen = {path.name: any(text in path.name for text in _AMD) for path in files}
    assert {path.name: sampling.read_profile(path).is_amd for path in files} == seen
    assert 0 < sum(seen.values()) < len(seen)
