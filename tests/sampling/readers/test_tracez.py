"""Packed traces of Accel-Sim are the text that they were packed from; damage is told, not read over."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from sampling.errors import ProfileError
from sampling.readers.input_file import open_input
from tests.packed_traces import Blocks, packed

HEAD = [
    "-kernel name = _Z4fillPf",
    "-kernel id = 1",
    "-grid dim = (2,1,1)",
    "-block dim = (64,1,1)",
    "-accelsim tracer version = 5",
    "#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [mem_addresses]",
]
LINE = "{:04x} ffffffff 1 R1 IADD3 1 R1 0 0"


def expected(blocks: Blocks) -> list[str]:
    """The lines of the trace as text, but for empty ones."""
    lines = list(HEAD)
    for place, cluster, warps in blocks:
        lines += ["#BEGIN_TB", "thread block = {},{},{}".format(*place)]
        if any(cluster):
            lines.append("cluster id = {},{},{}".format(*cluster[:3]))
            lines += ["cluster cta = {},{},{}".format(*cluster[3:6]), f"cluster rank = {cluster[6]}"]
        for number, warp in enumerate(warps):
            lines += [f"warp = {number}", f"insts = {len(warp)}", *warp]
        lines.append("#END_TB")
    return lines


def text_of(path: Path) -> list[str]:
    with open_input(str(path)) as file:
        assert file.compression == "tracez"
        with file.open() as stream:
            return [line for line in stream.read().decode().split("\n") if line]


_WARPS = st.lists(st.lists(st.integers(0, 1 << 15).map(LINE.format), max_size=9), min_size=1, max_size=4)
_PLACES = st.tuples(*[st.integers(0, 70_000)] * 3)
_BLOCKS = st.lists(st.tuples(_PLACES, st.tuples(*[st.integers(0, 3)] * 7), _WARPS), max_size=4)


@given(blocks=_BLOCKS, chunk=st.integers(1, 5))
def test_a_packed_trace_is_the_text_it_was_packed_from(
    tmp_path_factory: pytest.TempPathFactory, blocks: Blocks, chunk: int
) -> None:
    path = tmp_path_factory.mktemp("packed") / "kernel-1.tracez"
    path.write_bytes(packed(HEAD, blocks, chunk))
    assert text_of(path) == expected(blocks)


def test_chunks_may_have_a_dictionary(tmp_path: Path) -> None:
    warps = [[LINE.format(16 * place + warp) for place in range(40)] for warp in range(8)]
    samples = ["".join(f"{line}\n" for line in warp).encode() for warp in warps] * 20
    dictionary = zstandard.train_dictionary(1 << 10, samples).as_bytes()
    path = tmp_path / "kernel-1.tracez"
    blocks: Blocks = [((0, 0, 0), (0,) * 7, warps)]
    path.write_bytes(packed(HEAD, blocks, 8, dictionary))
    assert text_of(path) == expected(blocks)


@pytest.mark.parametrize("kept", [0.05, 0.4, 0.7, 0.99])
def test_one_that_is_cut_off_is_refused(tmp_path: Path, kept: float) -> None:
    warps = [[LINE.format(place) for place in range(60)] for _ in range(4)]
    content = packed(HEAD, [((0, 0, 0), (0,) * 7, warps)], 4)
    # The head is text; without its zero byte it would be a text without instructions.
    size = max(content.index(b"\0") + 1, int(kept * len(content)))
    path = tmp_path / "kernel-1.tracez"
    path.write_bytes(content[:size])
    with pytest.raises(ProfileError, match="the tracez data is cut short or damaged") as error:
        text_of(path)
    assert str(path) in str(error.value)


@pytest.mark.parametrize("place", [-12, -30, -80])
def test_damage_in_the_index_is_told(tmp_path: Path, place: int) -> None:
    warps = [[LINE.format(place) for place in range(60)] for _ in range(4)]
    content = bytearray(packed(HEAD, [((0, 0, 0), (0,) * 7, warps)], 4))
    content[place : place + 4] = b"\xff" * 4
    path = tmp_path / "kernel-1.tracez"
    path.write_bytes(bytes(content))
    with pytest.raises(ProfileError, match="the tracez data is cut short or damaged"):
        text_of(path)


def test_a_chunk_of_more_or_fewer_lines_than_the_index_has_is_told(tmp_path: Path) -> None:
    content = packed(HEAD, [((0, 0, 0), (0,) * 7, [[LINE.format(0), LINE.format(1)]])], 2)
    place = int.from_bytes(content[-8:], "little")
    # Of the only warp: instructions, chunks, place, and the instructions of its chunk.
    warp = place + 4 + 44
    changed = content[:warp] + struct.pack("<I", 3) + content[warp + 4 : warp + 16] + struct.pack("<I", 3)
    path = tmp_path / "kernel-1.tracez"
    path.write_bytes(changed + content[warp + 20 :])
    with pytest.raises(ProfileError, match="a warp is not where the index has it"):
        text_of(path)
