"""What NVBit's instr_count prints as a profile; the grammar is that of its source, no run of it is here."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sampling.errors import ProfileError
from sampling.profile.profile import Profile
from sampling.readers.registry import read_profile

BANNER = "------------- NVBit (NVidia Binary Instrumentation Tool v1.7) Loaded --------------\n"


def line(number: int, name: str, instructions: int) -> str:
    """Return a line of instr_count."""
    return (
        f"kernel {number} - {name} - #thread-blocks 8,  kernel instructions {instructions}, "
        f"total instructions {2 * instructions}\n"
    )


def read(path: Path, text: str) -> Profile:
    path.write_text(text)
    return read_profile([str(path)])


def test_lines_stand_among_the_programs_own_output(tmp_path: Path) -> None:
    text = BANNER + "step 1\n" + line(0, "_Z1fPf", 1000) + "loss 0.3 " + line(1, "g(int - 1)", 3_000_000_000)
    profile = read(tmp_path / "log", text + "\n" + line(2, "_Z1fPf", 0) + "bye")
    assert (profile.format, profile.has_durations, profile.launches) == ("nvbit-instr-count", False, 3)
    (span,) = profile.spans
    signatures = profile.read(span, ("signature",))["signature"].tolist()
    kernels = [profile.kernels.signature(code) for code in signatures]
    names = profile.kernels.names
    assert [names.full(each.name) for each in kernels] == ["_Z1fPf", "g(int - 1)", "_Z1fPf"]
    assert [names.mangled(each.name) for each in kernels[:2]] == ["_Z1fPf", None]
    # How many blocks there are does not tell the grid.
    assert {(each.grid, each.block) for each in kernels} == {(None, None)}
    counted = profile.read_metrics(span, ("instructions",))["instructions"]
    np.testing.assert_array_equal(counted, [1000, 3_000_000_000, np.nan])


def test_lines_behind_much_other_output_are_found(tmp_path: Path) -> None:
    assert read(tmp_path / "log", BANNER + "noise\n" * 20_000 + line(0, "f", 1)).launches == 1


@pytest.mark.parametrize(
    ("lines", "row", "said"),
    [
        (line(0, "f", 1) + line(2, "f", 1), 2, "kernel 2 follows kernel 0"),
        (line(0, "f", 1) + line(0, "f", 1), 2, "several processes"),
        ("noise\n" + line(1, "f", 1), 2, "the first launch is kernel 1"),
        (line(0, "f", 1) + line(1, "f", -5), 2, "the count -5 has overflowed"),
        ("kernel 0 - k - #thread-blocks 8,  kernel instructions 5\n", None, "NVBit output"),
    ],
)
def test_what_breaks_the_ids_or_counts_is_refused(
    tmp_path: Path, lines: str, row: int | None, said: str
) -> None:
    with pytest.raises(ProfileError) as caught:
        read(tmp_path / "log", lines)
    assert caught.value.row == row
    assert said in caught.value.message
    assert caught.value.remedy


@pytest.mark.parametrize("count", [2**63, -(2**63) - 1, 10**400])
def test_a_count_beyond_64_bits_is_refused(tmp_path: Path, count: int) -> None:
    with pytest.raises(ProfileError, match="too large for a count") as caught:
        read(
            tmp_path / "log",
            line(0, "f", 1) + line(1, "f", 1).replace("instructions 1,", f"instructions {count},"),
        )
    assert caught.value.row == 2
