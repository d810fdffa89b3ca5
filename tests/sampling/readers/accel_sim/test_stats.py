"""Accel-Sim's stats.csv as a profile: launches with instructions, without durations.

Blanks stand after most commas, as the tracer writes them.
"""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from sampling.errors import ProfileError
from sampling.profile.profile import Profile
from sampling.readers.registry import read_profile

HEADER = (
    "kernel id, kernel mangled name, grid_dimX, grid_dimY, grid_dimZ, #blocks, block_dimX, block_dimY, "
    "block_dimZ, #threads, total_insts, total_reported_insts\n"
)

#: Name, blocks and instructions of six launches of two kernels.
LAUNCHES = (
    *(("_Z1aPf", 4, 100), ("_Z1bPf", 8, 7_000), ("_Z1aPf", 4, 100)),
    *(("_Z1bPf", 8, 10), ("_Z1bPf", 8, 7_000), ("_Z1aPf", 2, 40)),
)


def row(number: int, name: str, blocks: int, instructions: int, reported: int | None = None) -> str:
    """Return the row of a launch of blocks of 128 threads."""
    reported = instructions if reported is None else reported
    shape = f"{blocks}, 1, 1, {blocks}, 128, 1, 1, 128"
    return f"kernel-{number}.trace, {name}, {shape}, {instructions},{reported}\n"


def stats_csv(path: Path, rows: Sequence[str] | None = None) -> Path:
    """Write the rows; those of ``LAUNCHES`` where none are given."""
    rows = [row(number, *each) for number, each in enumerate(LAUNCHES, 1)] if rows is None else rows
    path.write_text(HEADER + "".join(rows))
    return path


def read(path: Path) -> Profile:
    return read_profile([str(path)])


def instructions(profile: Profile) -> list[float]:
    (span,) = profile.spans
    return profile.read_metrics(span, ("instructions",))["instructions"].tolist()


def refused(path: Path) -> ProfileError:
    with pytest.raises(ProfileError) as caught:
        read(path)
    assert caught.value.remedy
    return caught.value


def test_every_row_is_a_launch(tmp_path: Path) -> None:
    profile = read(stats_csv(tmp_path / "stats.csv"))
    assert profile.format == "accel-sim-stats"
    assert not profile.has_durations
    assert profile.launches == len(LAUNCHES)
    (span,) = profile.spans
    batch = profile.read(span, ("signature", "duration_ns"))
    assert not batch["duration_ns"].any()
    kernels = [profile.kernels.signature(code) for code in batch["signature"].tolist()]
    assert [profile.kernels.names.full(each.name) for each in kernels] == [name for name, _, _ in LAUNCHES]
    assert [each.grid for each in kernels] == [(blocks, 1, 1) for _, blocks, _ in LAUNCHES]
    assert {each.block for each in kernels} == {(128, 1, 1)}
    assert profile.kernels.names.mangled(kernels[0].name) == "_Z1aPf"
    assert instructions(profile) == [count for _, _, count in LAUNCHES]


def test_the_suffix_and_gzip_do_not_matter(tmp_path: Path) -> None:
    plain = stats_csv(tmp_path / "stats.csv")
    packed = tmp_path / "counts"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert instructions(read(packed)) == instructions(read(plain))


def test_names_of_several_contexts_are_kernels_too(tmp_path: Path) -> None:
    rows = [row(1, "_Z1aPf", 1, 5).replace(".trace", "-ctx_0x55.trace")]
    assert read(stats_csv(tmp_path / "stats.csv", rows)).launches == 1


def test_a_launch_that_was_not_traced_has_no_count(tmp_path: Path) -> None:
    rows = [row(1, "_Z1aPf", 1, 0), row(2, "_Z1aPf", 1, 9)]
    np.testing.assert_array_equal(instructions(read(stats_csv(tmp_path / "s.csv", rows))), [np.nan, 9])


@pytest.mark.parametrize(
    ("count", "reported", "column"),
    [(-2_147_483_000, -5, "total_insts"), (7, 8, "total_insts"), (7, -8, "total_reported_insts")],
)
def test_a_count_beyond_32_bits_is_an_error_with_its_place(
    tmp_path: Path, count: int, reported: int, column: str
) -> None:
    rows = [row(1, "_Z1aPf", 1, 5), row(2, "_Z1aPf", 1, count, reported)]
    error = refused(stats_csv(tmp_path / "stats.csv", rows))
    assert (error.row, error.column) == (3, column)
    assert "has overflowed" in error.message
    assert "instr_count" in str(error.remedy)


@pytest.mark.parametrize(
    ("numbers", "at", "said"),
    [
        ((2, 3), 2, "the first launch is kernel 2"),
        ((1, 3), 3, "kernel 3 follows kernel 1: what is between"),
        ((1, 2, 1), 4, "kernel 1 follows kernel 2: several"),
    ],
)
def test_ids_count_from_the_first_launch_without_a_gap(
    tmp_path: Path, numbers: tuple[int, ...], at: int, said: str
) -> None:
    error = refused(stats_csv(tmp_path / "stats.csv", [row(each, "k", 1, 5) for each in numbers]))
    assert error.row == at
    assert said in error.message


def test_damage_is_told_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "stats.csv"
    path.write_text(HEADER.replace(" total_insts,", "") + row(1, "k", 1, 5))
    assert "no column total_insts" in refused(path).message
    assert "lists no launch" in refused(stats_csv(path, [])).message
    error = refused(stats_csv(path, [row(1, "k", 1, 5), row(2, "k", 1, 5).replace(", 5,", ", five,")]))
    assert (error.row, error.column) == (3, "total_insts")
    error = refused(stats_csv(path, [row(1, "k", 1, 5), row(2, "k", 0, 5)]))
    assert (error.row, error.column) == (3, "grid_dimX")
    error = refused(stats_csv(path, [row(1, "", 1, 5)]))
    assert (error.row, error.column) == (2, "kernel mangled name")
    error = refused(stats_csv(path, [row(1, "k", 1, 5).replace("kernel-1", "first")]))
    assert (error.row, error.column) == (2, "kernel id")
    path.write_bytes((HEADER + row(1, "k", 1, 5) + row(2, "k", 1, 5)).encode()[:-30])
    assert refused(path).row == 3


def test_what_has_no_durations_does_not_mix_with_what_has(tmp_path: Path, sample_data: Path) -> None:
    counted = stats_csv(tmp_path / "stats.csv")
    timed = sample_data / "resnet50-like.sqlite"
    for paths in ((counted, timed), (timed, counted)):
        with pytest.raises(ProfileError, match="no durations") as caught:
            read_profile([str(path) for path in paths])
        assert caught.value.path == str(counted)
    assert not read_profile([str(counted), str(counted)]).has_durations


def test_a_folder_of_traces_names_its_counts(tmp_path: Path) -> None:
    (tmp_path / "kernelslist").write_text("kernel-1.trace\n")
    counted = stats_csv(tmp_path / "stats.csv")
    assert str(counted) in str(refused(tmp_path).remedy)
