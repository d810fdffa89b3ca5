"""Accesses of traces of tracer version 6, against lines that are read word after word."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sampling.errors import ProfileError
from sampling.readers import input_file
from sampling.readers.accel_sim_traces import trace_head
from sampling.simulators.caches import touched
from sampling.simulators.memory_instructions import READS, WRITES
from sampling.simulators.trace_accesses import TraceReader, blocks
from scalemodel.traces import read_address_trace
from tests.trace_lines import Access, lines, parse, trace_of

WARPS = st.lists(st.lists(lines(), max_size=6), min_size=1, max_size=5)
Touch = tuple[int, int, int, int, int, int]


def in_file_order(warps: list[list[str]]) -> list[tuple[int, int, list[Access]]]:
    """Thread block, the warp's place in the file, and what its lines say."""
    placed = [(cta, warp) for cta in range(2) for warp in warps[cta::2]]
    return [(cta, place, [parse(line) for line in warp]) for place, (cta, warp) in enumerate(placed)]


def touches(warps: list[list[str]]) -> list[Touch]:
    """Sector, bytes known, kind, thread block, warp and loads before of each touch, byte by byte."""
    found = []
    for cta, warp, accesses in in_file_order(warps):
        loads = 0
        for access in accesses:
            if not access.addresses or not (access.is_load or access.is_store):
                continue
            kind = READS * access.is_load | WRITES * access.is_store
            known: dict[int, int] = {}
            for address in access.addresses:
                for byte in range(address, address + access.bytes_each):
                    mask = 0xFFFFFFFF if access.is_load else 1 << byte % 32
                    known[byte // 32] = known.get(byte // 32, 0) | mask
            found += [(sector, known[sector], kind, cta, warp, loads) for sector in known]
            loads += access.is_load
    return found


# A list of addresses without 0x before a value that has it.
BARE = "0040 ffffffff 1 R2 LDG.E.128 2 UR4 R5 4 0" + " 7fa600000000" * 32 + " 0 Val 1 ff 1 0x7fa600000000"


@given(warps=WARPS, block=st.sampled_from([100, 500, 1 << 22]))
@example(warps=[[BARE]], block=500)
def test_what_blocks_of_a_trace_touch_is_what_its_lines_say(
    warps: list[list[str]], block: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A sector that several lanes touch may be there more than once; what is known of it is of them all."""
    file = tmp_path_factory.mktemp("trace") / "kernel-1.traceg"
    file.write_text(trace_of(warps))
    reader = TraceReader(file, trace_head(file))
    found: dict[tuple[int, ...], int] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(input_file, "PIECE_BYTES", block)
        for piece in blocks(file):
            for sector, known, *where in zip(
                *(column.tolist() for column in reader.read(piece)), strict=True
            ):
                key = (sector, *where)
                found[key] = found.get(key, 0) | known
    expected: dict[tuple[int, ...], int] = {}
    for sector, known, *where in touches(warps):
        expected[sector, *where] = expected.get((sector, *where), 0) | known
    assert found == expected


@given(warps=WARPS)
def test_the_miss_rate_curve_sees_them_in_turns(
    warps: list[list[str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.mktemp("trace") / "kernel-1.traceg"
    file.write_text(trace_of(warps))
    in_turns = [accesses for _, _, accesses in in_file_order(warps)]
    expected = []
    for turn in range(6):
        for access in (accesses[turn] for accesses in in_turns if turn < len(accesses)):
            if access.is_load or access.is_store or access.is_prefetch:
                # The printed width, which the simulator takes for bulk copies alone.
                width = access.bytes_each if "." in access.opcode and access.opcode[0] == "U" else 4
                spans = ((address, address + width - 1) for address in access.addresses)
                expected += sorted({end // 128 for span in spans for end in span})
    if not expected:
        with pytest.raises(ProfileError, match="no access"):
            read_address_trace([str(file)])
        return
    trace = read_address_trace([str(file)])
    assert trace.line.tolist() == expected
    assert trace.warp_instructions == sum(map(len, warps))


GOOD = "0040 ffffffff 1 R2 LDG.E 2 UR4 R5 4 1 0x80 4 0 0 NoVal"


@pytest.mark.parametrize(
    "line",
    [
        "0040 ffffffff 1 R2 UTMALDG.2D 2 UR4 R5 32 3f8 0 64 0 3 3 7fa6 7fa6 NoVal",
        "0040 ffffffff 1 R2 UTMALDG.2D 2 UR4 R5 32 3f8 0 64 0 5 1 7fa6 0 0 NoVal",
        "0040 ffffffff 1 R2 UTMASTG.2D 2 UR4 R5 32 4 7fa6 4 1 2 0 NoVal",
        "0040 ffffffff 1 R2 UTMASTG.2D 2 UR4 R5 0 0 1 7fa6 0 0 NoVal",
        "0040 ffffffff 1 R2 LDX.E 2 UR4 R5 4 1 80 4 0 0 NoVal",
        "0040 00000003 1 R2 LDG.E 2 UR4 R5 4 0 7fa6",
        "0040 00000003 1 R2 LDG.E 2 UR4 R5 4 0 7fa6 what 0 0 NoVal",
        "0040 ffffffff 1 R2 STG.E",
        "0040 ffffffff 1 R2 LDG",
    ],
)
@pytest.mark.parametrize("block", [60, 1 << 22])
def test_what_cannot_be_read_is_refused_by_file_and_line(
    tmp_path: Path, line: str, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "kernel-1.traceg"
    text = trace_of([[GOOD, GOOD, line, GOOD], [GOOD]])
    file.write_text(text)
    row = text.split("\n").index(f"{line} ") + 1
    monkeypatch.setattr(input_file, "PIECE_BYTES", block)
    with pytest.raises(ProfileError, match="cannot be read") as refused:
        touched(file)
    assert (refused.value.row, str(refused.value.path)) == (row, str(file))
