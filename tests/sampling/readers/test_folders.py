"""Folders and patterns: what is found in them, against a plain search, and where the search ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.errors import ProfileError
from sampling.readers import folders, registry
from sampling.readers.folders import files_in, matching
from sampling.readers.registry import read_profile

NAMES = st.sampled_from(["a", "b", "rank2", "rank10"])
TREES = st.recursive(st.none(), lambda inner: st.dictionaries(NAMES, inner, max_size=3), max_leaves=8)
PATTERNS = ["**/*.json", "a/**/*.json", "**/b/*.json", "*/**/rank*.json", "**/a/**/*.json", "*/*.json"]


def grow(place: Path, tree: dict[str, Any] | None) -> None:
    """Make a folder of folders and files; a leaf is a file."""
    if tree is None:
        place.with_name(f"{place.name}.json").touch()
        return
    place.mkdir()
    for name, inner in tree.items():
        grow(place / name, inner)


@given(st.dictionaries(NAMES, TREES, max_size=4))
def test_what_patterns_and_folders_find_a_plain_search_finds(
    tmp_path_factory: pytest.TempPathFactory, tree: dict[str, Any]
) -> None:
    folder = tmp_path_factory.mktemp("tree") / "run"
    grow(folder, tree)
    assert {*files_in(folder, lambda _: False)} == {*folder.glob("**/*.json")}
    for pattern in PATTERNS:
        found = matching(f"{folder}/{pattern}")
        assert len(found) == len({*found})
        assert {*map(Path, found)} == {*folder.glob(pattern)}


def test_names_stand_as_a_person_counts_and_as_they_were_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    grow(tmp_path / "run", {"rank10": None, "rank2": {"b": None}, "rank1": None, ".hidden": {"a": None}})
    (tmp_path / "run" / "again").symlink_to(tmp_path / "run")
    expected = ["run/rank1.json", "run/rank2/b.json", "run/rank10.json"]
    assert matching("run/**/*.json") == matching("**/*.json") == expected
    assert [str(each) for each in files_in("run", lambda _: False)] == ["run/again", *expected]
    assert matching("run/rank*.json") == ["run/rank1.json", "run/rank10.json"]
    assert matching("**/rank2") == ["run/rank2"]


@pytest.mark.parametrize("words", ["{}", "{}/**/*.csv"])
@pytest.mark.parametrize(
    ("shape", "said"), [("wide", "more than 20 files"), ("deep", "more than 3 levels of folders")]
)
def test_a_search_ends_before_a_file_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, shape: str, said: str
) -> None:
    monkeypatch.setattr(folders, "MOST_ENTRIES", 20)
    monkeypatch.setattr(folders, "DEEPEST", 3)
    run = tmp_path / "run"
    inner = run / "a" / "b" / "c"
    inner.mkdir(parents=True)
    for number in range(20 - 3):
        (inner / f"{number}.csv").write_text("name,duration_ns\nk,5\n")
    assert read_profile([words.format(run)]).launches == 17
    (inner / ("d" if shape == "deep" else "18.csv")).mkdir()
    if shape == "deep":
        (inner / "0.csv").unlink()
    monkeypatch.setattr(registry, "read_file", pytest.fail)
    with pytest.raises(ProfileError, match=f"run: holds {said}, too many to search"):
        read_profile([words.format(run)])
