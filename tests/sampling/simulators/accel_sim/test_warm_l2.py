"""What launches leave in L2: against a cache that keeps one sector after another, and traces made by hand."""

from __future__ import annotations

import gzip
import lzma
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.errors import OptionError, ProfileError
from sampling.plan.plan_file import PlanFile
from sampling.simulators.accel_sim.warm_l2 import L2, Touched, copies, filling, l2_lines, touched_by
from sampling.simulators.exporting.choices import ExportChoices
from tests.sampling.simulators.accel_sim.test_selection import GRID, MANGLED, NAMES, head
from tests.sampling.simulators.conftest import Write

HIGH = 0x7F0000000000
ALL = (1 << 32) - 1


def trace(path: Path, *warps: list[str], number: int = 1, kernel: str = "a") -> Path:
    """A trace whose warps have these instructions, each between two that touch nothing."""
    text = head(number, MANGLED[kernel], GRID[kernel])
    for place, instructions in enumerate(warps):
        lines = [f"{0x10 + at:04x} {each}" for at, each in enumerate(instructions)]
        text += f"\nwarp = {place}\ninsts = {len(lines) + 2}\n0000 ffffffff 1 R1 MOV 0 0 \n"
        text += "\n".join([*lines, "01f0 ffffffff 0 EXIT 0 0 "]) + "\n"
    pack = {".gz": gzip.compress, ".xz": lzma.compress}.get(path.suffix, bytes)
    path.write_bytes(pack(text.encode()))
    return path


@pytest.mark.parametrize("ending", ["", ".gz", ".xz"])
def test_the_sectors_of_a_launch_by_hand(tmp_path: Path, ending: str) -> None:
    """Bases and strides, lists, differences; of stores the bytes; nothing of shared and local memory."""
    found = touched_by(
        trace(
            tmp_path / f"kernel-1.traceg{ending}",
            [
                "0000000f 1 R2 LDG.E.SYS 1 R4 4 1 0x100 32 ",
                "00000003 1 R2 LDG.E.64 1 R4 8 0 0x1000 0x101c ",
                "00000007 1 R2 LDG.E.CONSTANT.SYS 1 R4 4 2 0x2000 32 -64 ",
                "0000ffff 1 R2 LDS.U 1 R4 4 1 0x0 4 ",
                "00000001 1 R2 LDC 1 R4 4 1 0x160 0 ",
            ],
            ["000000ff 0 STG.E.SYS 2 R4 R2 4 1 0x3000 4 ", "00000001 0 STG.E.U8 2 R4 R2 1 1 0x3021 0 "],
        )
    )
    loaded = [0x100, 0x120, 0x140, 0x160, 0x1000, 0x1020, 0x1FE0, 0x2000, 0x2020]
    assert dict(zip((32 * found.sector).tolist(), found.known.tolist(), strict=True)) == {
        **dict.fromkeys(loaded, ALL),
        0x3000: ALL,
        0x3020: 0b10,
    }
    place = dict(zip((32 * found.sector).tolist(), found.place.tolist(), strict=True))
    assert place[0x100] < place[0x3000] < place[0x1000] < place[0x3020] < place[0x2000], "warps side by side"


def plainly(launches: list[list[tuple[int, int]]], most: int) -> list[int]:
    """The same of launches that touch (sector, bytes) one after another, at the end of the last."""
    lines: OrderedDict[int, list[int]] = OrderedDict()
    known: dict[int, int] = {}
    for number, touches in enumerate(launches):
        for sector, bytes_ in touches:
            lines.setdefault(sector // 4, [0])[0] = number
            lines.move_to_end(sector // 4)
            known[sector] = known.get(sector, 0) | bytes_
            if len(lines) > most:
                gone, _ = lines.popitem(last=False)
                known = {each: what for each, what in known.items() if each // 4 != gone}
    readable = [sector for sector, what in known.items() if what == ALL]
    return sorted(readable, key=lambda sector: (lines[sector // 4][0], sector))


TOUCHES = st.lists(st.tuples(st.integers(0, 60), st.sampled_from([ALL, 0xFFFF, 0xFFFF0000])), max_size=12)


@given(launches=st.lists(TOUCHES, min_size=1, max_size=6))
def test_what_is_left_is_what_a_plain_cache_keeps(launches: list[list[tuple[int, int]]]) -> None:
    """With room for all, partly written sectors too; with less, of whole ones the lines are the youngest."""
    for most in (100, 3):
        given_bytes = launches if most == 100 else [[(each, ALL) for each, _ in some] for some in launches]
        cache = L2(most)
        for number, touches in enumerate(given_bytes):
            last: dict[int, tuple[int, int]] = {}
            for place, (sector, known) in enumerate(touches):
                last[sector] = (last.get(sector, (0, 0))[0] | known, place)
            rows = sorted((sector, *what) for sector, what in last.items())
            columns = np.array(rows, dtype=np.int64).reshape(-1, 3).T
            cache.run(number, Touched(columns[0], columns[1].astype(np.uint64), columns[2]))
        left = cache.sectors().tolist()
        if most == 100:
            assert left == plainly(given_bytes, most)
        else:
            # A line that was dropped in between may know of sectors that were touched before.
            assert {each // 4 for each in left} == {each // 4 for each in plainly(given_bytes, most)}


def test_neighbours_are_one_copy_and_gaps_are_kept() -> None:
    assert copies(np.array([8, 9, 11, (HIGH >> 5) + 2])) == [
        "MemcpyHtoD,0x0000000000000100,64",
        "MemcpyHtoD,0x0000000000000160,32",
        "MemcpyHtoD,0x0000000000000040,32",
    ]


def test_the_size_of_l2_is_that_of_the_configuration(tmp_path: Path) -> None:
    config = tmp_path / "gpgpusim.config"
    config.write_text(
        "-gpgpu_n_mem 16\n-gpgpu_n_sub_partition_per_mchannel 2\n#-gpgpu_n_mem 99\n"
        "-gpgpu_cache:dl2 S:32:128:24,L:B:m:L:P,A:192:4,32:0,32\n"
    )
    assert l2_lines(str(config)) * 128 == 3 << 20
    config.write_text("-gpgpu_n_mem 16\n")
    with pytest.raises(ProfileError, match="does not say how large L2 is"):
        l2_lines(str(config))


def test_addresses_that_the_simulator_takes_for_one_are_refused(tmp_path: Path) -> None:
    file = trace(tmp_path / "kernel-1.traceg", ["00000003 1 R2 LDG.E 1 R4 4 0 0x100000040 0x200000040 "])
    with pytest.raises(ProfileError, match="takes the two for one") as error:
        list(filling([(1, file)], [1], 100))
    assert "`caches=after:16`" in str(error.value.remedy)


def test_a_damaged_instruction_is_named(tmp_path: Path) -> None:
    file = trace(tmp_path / "kernel-1.traceg", ["0000000f 1 R2 LDG.E 1 R4 4 0 0x100 0xzz 0x1 0x2 "])
    with pytest.raises(ProfileError, match="has a line that is no instruction: '0010 0000000f"):
        touched_by(file)


def warm_traces(folder: Path, *, base: int) -> Path:
    """Ten launches, of which each loads the sector that bears its number, and stores the next one whole."""
    folder.mkdir()
    for number, kernel in NAMES.items():
        at = base + 0x1000 * number
        load, store = f"1 R2 LDG.E 1 R4 4 1 0x{at:x} 4 ", f"0 STG.E 2 R4 R2 4 1 0x{at + 0x800:x} 4 "
        trace(
            folder / f"kernel-{number}.traceg",
            [f"000000ff {load}", f"000000ff {store}"],
            number=number,
            kernel=kernel,
        )
    return folder


def test_an_export_with_traces_is_warm(ten: PlanFile, written: Write, tmp_path: Path) -> None:
    """In the order of the program, each launch after copies of what all before it touched."""
    traces = warm_traces(tmp_path / "traces", base=HIGH)
    files = written(ten, "accel-sim", traces=str(traces), caches=None)
    lines = files["kernelslist.g"].splitlines()
    assert [line for line in lines if line.startswith("kernel")] == [
        f"kernel-{number}.traceg" for number in (3, 5, 6, 9, 10)
    ]
    assert lines[:4] == [f"MemcpyHtoD,0x{0x1000 * n + at:016x},32" for n in (1, 2) for at in (0, 0x800)]
    assert lines.index("kernel-5.traceg") - lines.index("kernel-3.traceg") == 1 + 2 * 4
    assert "0x7f" not in files["kernel-3.traceg"]
    assert " 4 1 0x00003000 4 " in files["kernel-3.traceg"]
    assert {row.split(",")[5] for row in files["manifest.csv"].splitlines()[1:]} == {"warm"}
    assert "fill L2 with what the launches before left there" in files["README.txt"]


def test_traces_below_4_gib_are_used_as_they_are(ten: PlanFile, written: Write, tmp_path: Path) -> None:
    traces = warm_traces(tmp_path / "traces", base=0)
    files = written(ten, "accel-sim", traces=str(traces), caches="own")
    assert not any(name.endswith(".traceg") for name in files)
    assert files["kernelslist.g"].splitlines()[:2] == ["MemcpyHtoD,0x0000000000003000,32", "kernel-3.traceg"]
    assert {row.split(",")[5] for row in files["manifest.csv"].splitlines()[1:]} == {"own"}


def test_launches_before_that_are_not_traced_are_asked_for(
    ten: PlanFile, written: Write, tmp_path: Path
) -> None:
    traces = warm_traces(tmp_path / "traces", base=0)
    (traces / "kernel-4.traceg").unlink()
    with pytest.raises(ProfileError, match="kernel-4 is not traced, and what it left in L2 kernel-5 finds"):
        written(ten, "accel-sim", traces=str(traces), caches=None)


@pytest.mark.parametrize("caches", ["hot", "after:", "after:0", "after:-1", "warm "])
def test_other_states_of_the_caches_are_refused(caches: str) -> None:
    with pytest.raises(OptionError, match="`caches` is warm, own, cold or after:N"):
        ExportChoices(traces="traces", caches=caches)


@pytest.mark.parametrize("target", ["macsim", "mgpusim"])
def test_what_cannot_be_told_what_l2_holds_is_not_filled(ten: PlanFile, written: Write, target: str) -> None:
    with pytest.raises(OptionError, match=f"`caches=warm` means nothing to {target}"):
        written(ten, target, traces="traces", caches="warm")
