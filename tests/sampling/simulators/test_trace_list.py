"""Lists of launches as tracers write them: stats.csv, kernelslist, kernel_names.txt."""

from __future__ import annotations

import gzip
import lzma
from pathlib import Path

import numpy as np
import pytest

from sampling.errors import ProfileError
from sampling.simulators.alignment import TraceList, read_trace_list
from sampling.simulators.measured_run import SeenKernel

STATS = (
    "kernel id, kernel mangled name, grid_dimX, grid_dimY, grid_dimZ, #blocks, block_dimX, block_dimY, "
    "block_dimZ, #threads, total_insts, total_reported_insts\n"
    "kernel-1.trace, _Z4stepPf, 4, 1, 1, 4, 128, 1, 1, 128, 1344,1344\n"
    "kernel-2.trace, _Z4lastPf, 2, 3, 1, 6, 32, 8, 1, 256, -2147,1\n"
    "kernel-3.trace, _Z4stepPf, 4, 1, 1, 4, 128, 1, 1, 128, 1344,1344\n"
)
NAMES = (
    "Kernel0 name: step(float *)\n"
    "  Grid size: (4, 1, 1), Block size: (128, 1, 1), maxBlockPerCore: 16, # of regs: 9\n"
    "Kernel1 name: last(float *)\n"
    "  Grid size: (2, 3, 1), Block size: (32, 8, 1), maxBlockPerCore: 8, # of regs: 9\n"
)
HEAD = (
    "-kernel name = {}\n-kernel id = {}\n-grid dim = ({},1,1)\n-block dim = (32,8,1)\n"
    "-shmem = 0\n\n#BEGIN_TB\n"
)


def kernels_of(found: TraceList) -> list[tuple[int, SeenKernel]]:
    return [
        (number, found.kernels[kernel])
        for number, kernel in zip(found.number.tolist(), found.kernel.tolist(), strict=True)
    ]


def test_every_launch_of_stats(tmp_path: Path) -> None:
    path = tmp_path / "stats.csv"
    path.write_text(STATS)
    found = read_trace_list(str(path))
    step = SeenKernel("_Z4stepPf", (4, 1, 1), (128, 1, 1))
    assert kernels_of(found) == [(1, step), (2, SeenKernel("_Z4lastPf", (2, 3, 1), (32, 8, 1))), (3, step)]
    assert (found.first_number, len(found.kernels)) == (1, 2)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("kernel-2.trace", "two", "row 3, column kernel id"),
        (" 2, 3, 1, 6", " 2, x, 1, 6", "row 3, column grid_dimY"),
        ("block_dimY", "dimY", "no column block_dimY"),
        (STATS[STATS.index("kernel-1") :], "", "lists no launch"),
    ],
)
def test_what_is_wrong_in_stats_is_named(tmp_path: Path, old: str, new: str, said: str) -> None:
    path = tmp_path / "stats.csv"
    path.write_text(STATS.replace(old, new, 1))
    with pytest.raises(ProfileError, match=said):
        read_trace_list(str(path))


def test_names_of_macsims_tracer_also_cut_short(tmp_path: Path) -> None:
    path = tmp_path / "kernel_names.txt"
    path.write_text(NAMES + "Kernel2 name: step(float *)\n")
    found = read_trace_list(str(path))
    assert found.first_number == 0
    assert kernels_of(found) == [
        (0, SeenKernel("step(float *)", (4, 1, 1), (128, 1, 1))),
        (1, SeenKernel("last(float *)", (2, 3, 1), (32, 8, 1))),
        (2, SeenKernel("step(float *)")),
    ]


def test_a_list_of_traces_has_what_their_heads_say(tmp_path: Path) -> None:
    (tmp_path / "kernelslist.g").write_text(
        "MemcpyHtoD,0x00007f1000000000,1048576\n# chosen\n"
        "kernel-7.traceg\nkernel-2-ctx_0x5f0a.traceg.xz\nkernel-3.trace\n"
    )
    (tmp_path / "kernel-7.traceg").write_text(HEAD.format("_Z4stepPf", 7, 4))
    packed = HEAD.format("_Z4lastPf", 2, 5).encode()
    (tmp_path / "kernel-2-ctx_0x5f0a.traceg.xz").write_bytes(lzma.compress(packed))
    (tmp_path / "kernel-3.traceg.gz").write_bytes(gzip.compress(HEAD.format("_Z4stepPf", 3, 4).encode()))
    found = read_trace_list(str(tmp_path))
    step = SeenKernel("_Z4stepPf", (4, 1, 1), (32, 8, 1))
    assert kernels_of(found) == [(7, step), (2, SeenKernel("_Z4lastPf", (5, 1, 1), (32, 8, 1))), (3, step)]
    (tmp_path / "kernel-7.traceg").unlink()
    with pytest.raises(ProfileError, match=r"row 3: kernel-7\.traceg is not there"):
        read_trace_list(str(tmp_path))
    (tmp_path / "kernel-7.traceg").write_text("hello\n")
    with pytest.raises(ProfileError, match="does not begin like a trace"):
        read_trace_list(str(tmp_path))


def test_a_folder_is_known_by_its_fullest_list(tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match=r"no stats\.csv, .* or kernelslist is there"):
        read_trace_list(str(tmp_path))
    (tmp_path / "kernelslist").write_text("kernel-1.trace\n")
    (tmp_path / "stats.csv").write_text(STATS)
    assert np.array_equal(read_trace_list(str(tmp_path)).number, [1, 2, 3])


def test_bytes_that_are_no_text_are_an_error_of_their_row(tmp_path: Path) -> None:
    path = tmp_path / "stats.csv"
    path.write_bytes(STATS.encode().replace(b"kernel-2.trace", b"\xff\xfe"))
    with pytest.raises(ProfileError, match="row 3, column kernel id"):
        read_trace_list(str(path))


@pytest.mark.parametrize("text", ["hello\n", "", "id,cycles\n1,5\n"])
def test_other_files_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "other"
    path.write_text(text)
    with pytest.raises(ProfileError, match="neither stats"):
        read_trace_list(str(path))
