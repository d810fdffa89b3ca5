"""Address traces: text, binary, CSV and Accel-Sim's, against the accesses they were written from."""

from __future__ import annotations

import gzip
import lzma
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.errors import OptionError, ProfileError
from sampling.readers import input_file
from scalemodel.accesses import AddressTrace
from scalemodel.traces import TraceFormat, read_address_trace

LINE = 128


def written(folder: Path, content: str | bytes, name: str = "trace") -> str:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


def lines_in(folder: Path, content: str | bytes, **options: object) -> list[int]:
    trace = read_address_trace([written(folder, content)], **options)  # type: ignore[arg-type]
    found: list[int] = trace.line.tolist()
    return found


def refusal(folder: Path, content: str | bytes, **options: object) -> ProfileError:
    with pytest.raises(ProfileError) as refused:
        lines_in(folder, content, **options)
    return refused.value


# ---------------------------------------------------------------------------------------------------- text


def test_text_is_decimal_or_hexadecimal_with_comments(tmp_path: Path) -> None:
    content = "# a trace\n\n0x80\n255  # inline\n\t0XFf00\r\n   # alone\n0\n18446744073709551615\n"
    expected = [1, 1, 0xFF00 // LINE, 0]
    assert lines_in(tmp_path, content.replace("18446744073709551615\n", "")) == expected
    assert lines_in(tmp_path, "0xffffffffffffffff") == [(2**64 - 1) // LINE]
    assert lines_in(tmp_path, "9999999999999999999") == [9999999999999999999 // LINE]


@pytest.mark.parametrize(
    ("content", "row"),
    [
        ("1\n2\nthree\n4\n", 3),
        ("1\n\n# c\n2 3\n", 4),
        ("1\n0x\n", 2),
        ("1\n0x12345678901234567\n", 2),
        ("1\n99999999999999999999\n", 2),
    ],
)
def test_text_that_is_no_address_is_refused_with_its_row(tmp_path: Path, content: str, row: int) -> None:
    error = refusal(tmp_path, content)
    assert (error.row, error.remedy is not None) == (row, True)


# -------------------------------------------------------------------------------------------------- binary


def test_binary_addresses_of_64_and_32_bits(tmp_path: Path) -> None:
    for trace_format, width in ((TraceFormat.BINARY, 8), (TraceFormat.BINARY_32, 4)):
        addresses = np.array([0, 127, 128, 2**32 - 1], dtype=f"<u{width}").tobytes()
        assert lines_in(tmp_path, addresses, trace_format=trace_format) == [0, 0, 1, 2**25 - 1]
        error = refusal(tmp_path, bytes(13), trace_format=trace_format)
        assert f"its bytes, 13, are no whole number of {width}-byte addresses" in error.message


# ----------------------------------------------------------------------------------------------------- CSV


def test_csv_reads_the_columns_by_name(tmp_path: Path) -> None:
    content = "warp,Address , size,what\n0,0x80,4,load\n1, 250 ,16,store\n2,0,300,load\n"
    assert lines_in(tmp_path, content) == [1, 1, 2, 0, 1, 2]
    assert lines_in(tmp_path, "address\n128\n0x100\n") == [1, 2]
    assert lines_in(tmp_path, '\ufeff"address"\n"128"\n') == [1]


@pytest.mark.parametrize(
    ("content", "row", "column"),
    [
        ("address,size\n1,4\nx,4\n", 3, "address"),
        ("address,size\n1,0\n", 2, "size"),
        ("address,size\n1,4\n0xffffffffffffffff,2\n", 3, "size"),
        ("address,size\n1,4\n1\n", 3, None),
        ("address\n1\n\n", 3, "address"),
    ],
)
def test_csv_that_is_wrong_is_refused_with_its_place(
    tmp_path: Path, content: str, row: int, column: str | None
) -> None:
    error = refusal(tmp_path, content)
    assert (error.row, error.column) == (row, column)


# ----------------------------------------------------------------------------------------------- Accel-Sim

HEADER = """-kernel name = _Z6vecAddPdS_S_i
-kernel id = 1
-grid dim = (2,1,1)
-block dim = (64,1,1)
-shmem = 0
-nregs = 12
-binary version = 70
-cuda stream id = 0
-shmem base_addr = 0x00007f8125000000
-local mem base_addr = 0x00007f8123000000
-nvbit version = 1.5.5
-accelsim tracer version = {version}
-enable lineinfo = {lineinfo}

#traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width ...
"""
SHARED, LOCAL = 0x7F8125000000, 0x7F8123000000
ALL = 0xFFFFFFFF


def kernel(*blocks: list[list[str]], version: int = 5, lineinfo: int = 0, cluster: bool = False) -> str:
    """A trace of thread blocks of warps of instruction lines."""
    text = [HEADER.format(version=version, lineinfo=lineinfo)]
    for number, warps in enumerate(blocks):
        text += ["", "#BEGIN_TB", "", f"thread block = {number},0,0"]
        if cluster:
            text += ["cluster id = 0,0,0", "cluster cta = 0,0,0", "cluster rank = 0"]
        for warp, instructions in enumerate(warps):
            text += [
                "",
                f"warp = {warp}",
                f"insts = {len(instructions)}",
                *(f"{one} " for one in instructions),
            ]
        text += ["", "#END_TB"]
    return "\n".join(text) + "\n"


def load(address: int, opcode: str = "LDG.E.SYS", mask: int = ALL, width: int = 4, stride: int = 4) -> str:
    return f"0010 {mask:08x} 1 R2 {opcode} 1 R4 {width} 1 {address:#x} {stride} 0"


MOVE = "0000 ffffffff 1 R1 MOV 0 0 0"


def trace_in(folder: Path, content: str, **options: object) -> AddressTrace:
    return read_address_trace([written(folder, content)], **options)  # type: ignore[arg-type]


def test_only_global_memory_counts(tmp_path: Path) -> None:
    instructions = [
        load(0x100, "LDS"),
        load(0x200, "ATOMS.ADD"),
        load(0x300, "LDSM.16.M88.4"),
        load(0x400, "CCTL.IVALL"),
        load(0x500, "LDL"),
        load(LOCAL + 0x80, "ST.E"),
        load(SHARED + 0x80, "LD.E"),
        load(SHARED + (1 << 24) - 128, "LD.E"),
        load(SHARED + (1 << 24), "LD.E"),
        load(0x600, "RED.E.ADD.F32.FTZ.RN.STRONG.GPU"),
        load(0x700, "ATOMG.E.ADD"),
        load(0x800, "LDGSTS.E.BYPASS.128"),
        load(LOCAL, "LDG.E"),
        load(0x900, "LDG.E", mask=0),
        load(0xA00, "LD.E.64"),
    ]
    counted = [SHARED + (1 << 24), 0x600, 0x700, 0x800, LOCAL, 0xA00]
    content = kernel([instructions])
    trace = trace_in(tmp_path, content)
    assert trace.line.tolist() == [address // LINE for address in counted]
    assert trace.warp_instructions == len(instructions)


def test_the_header_says_what_comes_first_on_a_line(tmp_path: Path) -> None:
    with_source_line = [f"17 {one}" for one in (MOVE, load(0x80))]
    assert lines_in(tmp_path, kernel([with_source_line], lineinfo=1)) == [1]
    old = [f"0 0 0 1 {one}" for one in (MOVE, load(0x80))]
    assert lines_in(tmp_path, kernel([old], version=2)) == [1]
    assert lines_in(tmp_path, kernel([old]).replace("-accelsim tracer version = 5\n", "")) == [1]
    newer = [f"{load(0x80)} 0 NoVal"]
    assert lines_in(tmp_path, kernel([newer], version=6, cluster=True)) == [1]


@dataclass(frozen=True)
class Instruction:
    opcode: str
    mask: int
    addresses: tuple[int, ...]

    def __str__(self) -> str:
        return f"0010 {self.mask:08x} 1 R2 {self.opcode} 2 R4 R5 {self.fields}"

    @property
    def fields(self) -> str:
        if self.opcode == "FADD":
            return "0 0"
        steps = [after - before for before, after in zip(self.addresses, self.addresses[1:], strict=False)]
        is_run = "01" not in f"{self.mask:b}".rstrip("0")
        if is_run and len(set(steps)) <= 1:
            return f"4 1 {self.addresses[0] if self.addresses else 0:#x} {steps[0] if steps else 0} 0"
        if self.mask % 3:
            return f"4 2 {self.addresses[0]:#x} {' '.join(map(str, steps))} 0"
        return f"4 0 {' '.join(f'0x{address:016x}' for address in self.addresses)} 0"


@st.composite
def instructions(draw: st.DrawFn) -> Instruction:
    opcode = draw(st.sampled_from(["LDG.E", "STG.E.SYS", "LDS", "FADD"]))
    run = ((1 << draw(st.integers(0, 32))) - 1) << draw(st.integers(0, 31)) & ALL
    mask = draw(st.one_of(st.just(ALL), st.just(run), st.integers(0, ALL)))
    base, stride = 4 * draw(st.integers(2**20, 2**45)), 4 * draw(st.integers(-40, 40))
    apart = draw(st.one_of(st.just(0), st.integers(0, 2**32)))
    rng = np.random.default_rng(apart)
    noise = 4 * rng.integers(-50, 50, 32) * (apart > 0)
    addresses = [base + stride * rank + int(noise[rank]) for rank in range(mask.bit_count())]
    return Instruction(opcode, mask, tuple(addresses))


@given(
    st.lists(st.lists(st.lists(instructions(), max_size=6), max_size=3), min_size=1, max_size=3), st.data()
)
def test_any_kernel_is_read_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, blocks: list[list[list[Instruction]]], data: st.DataObject
) -> None:
    """Read in small pieces or at once: each instruction in its turn, each of its lines once, ascending."""
    warps = [warp for block in blocks for warp in block]
    expected = [
        line
        for turn in range(max(map(len, warps), default=0))
        for warp in warps
        if turn < len(warp) and warp[turn].opcode in {"LDG.E", "STG.E.SYS"}
        for line in sorted({address // LINE for address in warp[turn].addresses})
    ]
    executed = [one for warp in warps for one in warp]
    content = kernel(*[[[str(one) for one in warp] for warp in block] for block in blocks])
    path = written(tmp_path_factory.mktemp("kernel"), content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(input_file, "PIECE_BYTES", data.draw(st.sampled_from([64, 1000, 1 << 20])))
        if not expected:
            with pytest.raises(ProfileError, match="no access"):
                read_address_trace([path])
            return
        trace = read_address_trace([path])
    assert trace.line.tolist() == expected
    assert trace.warp_instructions == len(executed)
    assert trace.thread_instructions == sum(one.mask.bit_count() for one in executed)


def test_kernels_follow_each_other_in_the_order_given(tmp_path: Path) -> None:
    one = written(tmp_path, kernel([[load(0x80)]]), "kernel-1.traceg")
    two = written(tmp_path, lzma.compress(kernel([[load(0x100), MOVE]]).encode()), "kernel-2.traceg.xz")
    trace = read_address_trace([two, one, two])
    assert trace.line.tolist() == [2, 1, 2]
    assert (trace.warp_instructions, trace.thread_instructions) == (5, 5 * 32)
    text = written(tmp_path, "0x180\n", "text")
    mixed = read_address_trace([one, text])
    assert mixed.line.tolist() == [1, 3]
    assert (mixed.warp_instructions, mixed.thread_instructions) == (None, None)


GOOD = kernel([[MOVE, load(0x80)], [MOVE]])


def changed(old: str, new: str) -> str:
    assert GOOD.count(old) >= 1
    return GOOD.replace(old, new, 1)


def row_of(text: str, what: str) -> int:
    return next(row for row, line in enumerate(text.splitlines(), start=1) if what in line)


LOAD = load(0x80)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (LOAD, LOAD.replace("LDG.E.SYS", "LDX.E"), "memory instruction is not read"),
        (LOAD, LOAD.replace("LDG.E.SYS", "UTMALDG.2D"), "tensor memory accelerator"),
        (LOAD, LOAD.replace(" 4 1 0x80", " 4 3 0x80"), "form of the addresses"),
        (LOAD, LOAD.replace(" 4 1 0x80", " 4 1 0xzz"), "the address, or the difference to it, is no number"),
        (LOAD, LOAD.replace("0x80 4", "0x80 4.5"), "the difference to it, is no number"),
        (LOAD, LOAD.replace("ffffffff", "1ffffffff"), "mask is not one of 32"),
        (LOAD, LOAD.replace("ffffffff", "fffffffb"), "no run"),
        (LOAD, LOAD.replace("0010 ", "zz10 "), "program counter"),
        (LOAD, LOAD.replace(" 1 R2", " 9999 R2"), "number of destinations"),
        (LOAD, "0010 ffffffff 1", "ends early"),
        (LOAD, load(0x80, mask=0x7).replace(" 1 0x80 4 0", " 0 0x80 0x84"), "ends early"),
        (
            LOAD,
            load(0x80, mask=0x7).replace(" 1 0x80 4 0", " 2 0x80 4 x"),
            "the difference to it, is no number",
        ),
        ("insts = 2", "insts = 1", "outside of a warp, or more than it announces"),
        ("insts = 2", "insts = 3", "1 instructions less than it announces"),
        ("#END_TB", "#BEGIN_TB", "out of place"),
        ("#END_TB", "#END_TB\n" + LOAD, "outside of a warp"),
        ("tracer version = 5", "tracer version = five", "no value"),
    ],
)
def test_what_breaks_the_grammar_is_refused_with_its_row(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    content = changed(old, new)
    error = refusal(tmp_path, content)
    assert error.row is not None
    assert message in error.message
    if new.startswith(LOAD[:5]) and new != LOAD:
        assert error.row == row_of(content, new)


# --------------------------------------------------------------------------------------- files of all kinds


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress])
@pytest.mark.parametrize("start", ["", "address\n"])
def test_a_compressed_file_that_is_cut_short_is_refused(tmp_path: Path, compress: object, start: str) -> None:
    assert callable(compress)
    numbers = np.random.default_rng(0).integers(0, 2**40, 15_000)
    whole = compress((start + "\n".join(map(str, numbers.tolist()))).encode())
    assert "cut short or damaged" in refusal(tmp_path, whole[: len(whole) // 2]).message


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress])
def test_a_compressed_file_that_inflates_without_end_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compress: Callable[[bytes], bytes]
) -> None:
    content = b"0x80\n" + b"\n" * (24 << 20)
    assert lines_in(tmp_path, compress(content)) == [1], "less than what harms anybody"
    monkeypatch.setattr(input_file, "HARMLESS_BYTES", 1 << 20)
    assert "inflates without end" in refusal(tmp_path, compress(content)).message
    regular = "".join(f"{number}\n" for number in range(300_000))
    assert len(lines_in(tmp_path, compress(regular.encode()))) == 300_000


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"hello world\n", "known format"),
        (b"\x28\xb5\x2f\xfd\x00\x01", "zstd"),
        (b"kernel-1.traceg\nkernel-2.traceg\n", "is not there"),
        (b"MemcpyHtoD,0x00007efe7b500000,2052\nkernel-1.traceg\n", "is not there"),
    ],
)
def test_what_is_no_trace_is_refused_with_a_remedy(tmp_path: Path, content: bytes, message: str) -> None:
    error = refusal(tmp_path, content)
    assert message in error.message
    assert error.remedy is not None


def test_files_that_are_not_there_are_refused(tmp_path: Path) -> None:
    for path, message in (
        (tmp_path / "none", "no such file or folder; check the path"),
        (tmp_path, "is a folder without traces"),
    ):
        with pytest.raises(ProfileError, match=message):
            read_address_trace([str(path)])
    with pytest.raises(OptionError, match="no trace"):
        read_address_trace([])


def test_a_list_of_kernels_or_their_folder_stands_for_its_traces(tmp_path: Path) -> None:
    for number in (1, 2, 10):
        text = KERNEL.replace("0x7f0000000000", f"{0x7F0000000000 + LINE * number:#x}")
        (tmp_path / f"kernel-{number}.traceg.gz").write_bytes(gzip.compress(text.encode()))
    expected = [(0x7F0000000000 >> 7) + number for number in (1, 2, 10)]
    assert read_address_trace([str(tmp_path)]).line.tolist() == expected, "by number, not by name"
    chosen = tmp_path / "kernelslist.g"
    chosen.write_text("MemcpyHtoD,0x00007f0000000000,64\n#kernel-1.traceg\nkernel-10.traceg\nkernel-2.traceg")
    trace = read_address_trace([str(chosen)])
    assert trace.line.tolist() == [expected[2], expected[1]]
    assert trace.thread_instructions == 64
    assert read_address_trace([str(tmp_path)]).line.tolist() == trace.line.tolist()


KERNEL = """-kernel name = a
-accelsim tracer version = 3
#BEGIN_TB
thread block = 0,0,0
warp = 0
insts = 1
0000 ffffffff 1 R1 LDG.E 1 R2 4 1 0x7f0000000000 4
#END_TB
"""


def test_an_empty_file_is_no_instruction_trace(tmp_path: Path) -> None:
    assert "is empty" in refusal(tmp_path, b"", trace_format=TraceFormat.ACCEL_SIM).message
