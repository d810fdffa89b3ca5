"""Broken profiles of every format: each is read or refused in one sentence, in bounded time and memory."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.readers import registry
from sampling.readers.input_file import open_input
from tests.fuzzing.reading import assert_read_or_refused, read_whole
from tests.fuzzing.small_profiles import NAMES, write_profiles

# Of each format, some 200 in all; `benchmarks/fuzz.py` breaks thousands.
_CASES = 11


@pytest.fixture(scope="session")
def small_profiles(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return a small profile of each format by its name."""

    @cache
    def written() -> dict[str, Path]:
        return {path.name: path for path in write_profiles(tmp_path_factory.mktemp("small"))}

    return written()


def test_every_reader_has_a_profile_to_break(small_profiles: dict[str, Path]) -> None:
    assert sorted(small_profiles) == sorted(NAMES)
    read = set()
    for path in small_profiles.values():
        # A list of traces stands for its folder.
        listed = path / "kernelslist.g"
        with open_input(str(listed if listed.exists() else path)) as file:
            reader = registry.find_reader(file)
            others = (import_module(name) for name in registry.MODULES)
            # What the registry looks for first hides no reader.
            assert reader is next(other for other in others if other.recognise(file)), path.name
        assert reader is not None
        read.add(reader.__name__)  # type: ignore[attr-defined]
    # A report is read by its own program; what that writes is a SQLite export.
    assert read == set(registry.MODULES) - {"sampling.readers.nsys_report"}


@pytest.mark.parametrize("part", range(3))
def test_what_is_broken_is_read_or_refused(part: int, small_profiles: dict[str, Path]) -> None:
    assert_read_or_refused((small_profiles[name] for name in NAMES[part::3]), _CASES)


_NUMBERS = st.integers().map(str) | st.floats().map(repr) | st.decimals().map(str)
_CELLS = st.text(max_size=12) | _NUMBERS | st.sampled_from(["", '"', "1ns", "(1 1 1)", "-", "None", "0x1f"])


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith((".csv", ".txt"))])
@given(changes=st.lists(st.tuples(st.integers(0, 39), st.integers(0, 21), _CELLS), min_size=1, max_size=6))
def test_cells_of_any_text_are_read_or_refused(
    name: str, changes: list[tuple[int, int, str]], small_profiles: dict[str, Path]
) -> None:
    """Any cell of any row, the header's too, replaced by any text."""
    whole = small_profiles[name]
    parted_by = "," if name.endswith(".csv") else "  "
    lines = [line.split(parted_by) for line in whole.read_text().splitlines()]
    for row, column, cell in changes:
        cells = lines[row % len(lines)]
        cells[column % len(cells)] = cell
    broken = whole.with_name(f"changed-{name}")
    broken.write_bytes("\n".join(map(parted_by.join, lines)).encode("utf-8", "surrogatepass"))
    assert read_whole(broken) is None
