"""What launches leave in L2, against an L2 written plainly; and how exports fill it."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.errors import OptionError, ProfileError
from sampling.plan.plan_file import PlanFile
from sampling.readers import input_file
from sampling.simulators.caches import L2, Fill, Filled, read_l2, touched
from sampling.simulators.export import ExportChoices
from sampling.simulators.filling import copies
from tests.sampling.simulators import plain_l2
from tests.sampling.simulators.conftest import Write

NAMES = dict(enumerate("abaabcabaa", start=1))
GRID = {"a": 8, "b": 4, "c": 2}
HIGH = 0x7FA600000000


def trace(number: int, accesses: list[str], *, head: str = "") -> str:
    """A trace of one warp; launch 3 and 5, of ids 2 and 4, are among those that `ten` draws."""
    name = NAMES[number]
    instructions = ["0000 ffffffff 1 R1 IMAD.MOV.U32 2 R255 R255 0 ", *accesses]
    kernel = {"a": "a(int)"}.get(name, name)
    return (
        f"-kernel name = {kernel}\n-kernel id = {number}\n-grid dim = ({GRID[name]},1,1)\n"
        f"-block dim = (128,1,1)\n-binary version = 70\n-cuda stream id = 0\n{head}"
        "-accelsim tracer version = 3\n\n#traces format = threadblock_x PC mask\n\n"
        f"#BEGIN_TB\n\nthread block = 0,0,0\n\nwarp = 0\ninsts = {len(instructions)}\n"
        + "".join(f"{line}\n" for line in instructions)
        + "\n#END_TB\n\n"
    )


def access(opcode: str, mask: int, words: str) -> str:
    """A line of a trace: loads have a destination, stores a source more."""
    registers = "0 {} 2 R2 R4" if opcode.startswith("ST") else "1 R5 {} 1 R2"
    return f"00c0 {mask:08x} {registers.format(opcode)} 4 {words} "


def load(address: int, lanes: int = 32) -> str:
    return access("LDG.E.SYS", (1 << lanes) - 1, f"1 0x{address:x} 4")


def store(address: int, lanes: int = 32) -> str:
    return access("STG.E.SYS", (1 << lanes) - 1, f"1 0x{address:x} 4")


def written_traces(folder: Path, accesses: dict[int, list[str]]) -> list[tuple[str, str]]:
    """Traces of all ten launches; return each name with its text."""
    folder.mkdir(exist_ok=True)
    texts = [(f"kernel-{number}.traceg", trace(number, accesses.get(number, []))) for number in NAMES]
    for name, text in texts:
        (folder / name).write_text(text)
    return texts


OPCODES = st.sampled_from(
    [
        "LDG.E.SYS",
        "STG.E.SYS",
        "LDG.E.128.SYS",
        "STG.E.64",
        "STG.E.U8",
        "ATOMG.E.ADD",
        "RED.E.ADD.64",
        "LDS.U",
    ]
)
ADDRESS = st.integers(0, 1500).map(lambda at: HIGH + at)


@st.composite
def made_up(draw: st.DrawFn, least_stride: int) -> str:
    mask = draw(st.integers(0, 7) | st.sampled_from([0xFFFFFFFF, 0xFF00]))
    lanes, mode = mask.bit_count(), draw(st.integers(0, 2))
    first = draw(ADDRESS)
    if mode == 0:
        listed = draw(st.lists(ADDRESS, min_size=lanes, max_size=lanes))
        words = "".join(f" 0x{each:016x}" for each in listed)
    elif mode == 1:
        words = f" 0x{first:x} {draw(st.integers(least_stride, 40))}"
    else:
        steps = draw(st.lists(st.integers(-40, 40), min_size=max(lanes - 1, 0), max_size=max(lanes - 1, 0)))
        words = "".join([f" 0x{first:x}", *(f" {each}" for each in steps)])
    return access(draw(OPCODES), mask, f"{mode}{words}" if lanes else "1 0x0 0")


#: Lanes are touched at once; only where the last lines alone are kept does their order tell.
LAUNCHES = st.tuples(st.lists(made_up(-40), max_size=12), st.just(1000)) | st.tuples(
    st.lists(made_up(0), max_size=12), st.sampled_from([1, 2, 3])
)


@given(launch=LAUNCHES, block=st.sampled_from([100, 1 << 22]))
def test_what_is_left_is_what_a_plain_l2_holds(
    launch: tuple[list[str], int], block: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Of lines that were dropped meanwhile only which ones are there: their sectors may be known better."""
    file = tmp_path_factory.mktemp("trace") / "kernel-1.traceg"
    lines, most = launch
    text = trace(1, lines)
    file.write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(input_file, "PIECE_BYTES", block)
        held: plain_l2.Held = OrderedDict()
        plain_l2.run(held, 0, text, most)
        found, pages, _ = touched(file, L2(most))
    assert found.number.tolist() == sorted(held)
    if most == 1000:
        fills = {
            "all": (Fill.of(found, evicts=False), plain_l2.copies(held)),
            "own": (Fill.of_reads(found, found), plain_l2.copies(held, own=True)),
        }
        for fill, expected in fills.values():
            assert copies(Filled({0: fill}, frozenset(), 0, True, False), 0) == expected
        dirty = [[sector for sector in range(4) if mask >> sector & 1] for mask in found.stored.tolist()]
        assert dirty == [sorted(sector % 4 for sector in held[number].dirty) for number in sorted(held)]
    assert all(page << 12 <= each * 128 for page, each in zip(pages.tolist()[:1], sorted(held), strict=False))


def test_the_list_fills_what_the_launches_before_left(ten: PlanFile, written: Write, tmp_path: Path) -> None:
    """1 loads 128 bytes, 2 stores to 16 of them and to 32 bytes elsewhere, 3 and 5 are drawn."""
    accesses = {1: [load(HIGH)], 2: [store(HIGH, 4), store(HIGH + 4096, 9)], 3: [load(HIGH + 128)]}
    texts = written_traces(tmp_path / "traces", accesses)
    lines = written(ten, "accel-sim", traces=str(tmp_path / "traces"))["kernelslist.g"].splitlines()
    first = ["MemcpyHtoD,0x0000000000000000,128", "MemcpyHtoD,0x0000000000001000,32"]
    assert lines[:3] == [*first, "kernel-3.traceg"]
    assert lines[3:7] == [*first, "MemcpyHtoD,0x0000000000000080,128", "kernel-5.traceg"]
    drawn = {f"kernel-{number}.traceg" for number in (3, 5, 6, 9, 10)}
    assert lines == plain_l2.list_of(texts, drawn)
    assert " 1 0x00000080 4 \n" in (tmp_path / "out" / "kernel-3.traceg").read_text()
    assert not (tmp_path / "out" / "kernel-5.traceg").exists(), "it has no address to shorten"


def test_the_programs_own_copies_fill_l2_below_4_gib(ten: PlanFile, written: Write, tmp_path: Path) -> None:
    texts = written_traces(tmp_path / "traces", {})
    lines = [f"MemcpyHtoD,0x{address:016x},64" for address in (0x2000, 2**32 - 32, HIGH)]
    listed = [*lines, "MemcpyHtoD,what,64", *(name for name, _ in texts)]
    (tmp_path / "traces" / "kernelslist.g").write_text("\n".join(listed))
    made = written(ten, "accel-sim", traces=str(tmp_path / "traces"))["kernelslist.g"]
    assert made.splitlines()[:2] == [lines[0], "kernel-3.traceg"]


def test_the_configuration_says_how_much_l2_holds(ten: PlanFile, written: Write, tmp_path: Path) -> None:
    config = tmp_path / "gpgpusim.config"
    config.write_text(
        "-gpgpu_n_mem 1\n-gpgpu_n_sub_partition_per_mchannel 2\n-gpgpu_cache:dl2 S:1:128:2,L:B:m:L:P\n"
    )
    accesses = {number: [load(HIGH + 128 * number)] for number in NAMES}
    texts = written_traces(tmp_path / "traces", accesses)
    made = written(ten, "accel-sim", traces=str(tmp_path / "traces"), config=str(config))["kernelslist.g"]
    drawn = {f"kernel-{number}.traceg" for number in (3, 5, 6, 9, 10)}
    assert made.splitlines() == plain_l2.list_of(texts, drawn, most=4)


CONFIG = "-gpgpu_n_mem 16\n-gpgpu_n_sub_partition_per_mchannel 2\n-gpgpu_cache:dl2 S:32:128:24,L:B:m:L:P\n"


def test_the_size_of_l2(tmp_path: Path) -> None:
    """16 x 2 x 32 x 24 lines are the 3 MiB of a V100's half."""
    config = tmp_path / "gpgpusim.config"
    config.write_text(CONFIG)
    assert read_l2(str(config), by_copies=True) == L2(24_576)
    for text, refused in (
        ("-gpgpu_n_mem 16\n", "has no -gpgpu_cache:dl2"),
        (f"{CONFIG}-gpgpu_flush_l2_cache 1\n", "empties L2 after each launch"),
        (f"{CONFIG}-gpgpu_perf_sim_memcpy 0\n", "copies do not fill L2"),
    ):
        config.write_text(text)
        with pytest.raises((OptionError, ProfileError), match=refused):
            read_l2(str(config), by_copies=True)


def test_pages_that_are_one_in_32_bits_are_refused(ten: PlanFile, written: Write, tmp_path: Path) -> None:
    before = [load(HIGH + at) for at in range(-8192, 8192, 128)]
    written_traces(tmp_path / "traces", {2: before, 3: [load(HIGH + 2**32)]})
    choices = {"traces": str(tmp_path / "traces")}
    with pytest.raises(ProfileError, match=r"1 page of the program .*0x7fa600000000, 0x7fa700000000.*loads"):
        written(ten, "accel-sim", **choices)
    assert "Memcpy" not in written(ten, "accel-sim", **choices, caches="loads")["kernelslist.g"]


@pytest.mark.parametrize(("shared", "local"), [(0x44000000, 0x46000000), (0x46000000, 0x44000000)])
def test_a_generic_access_is_global_where_the_simulator_takes_it_for_one(
    tmp_path: Path, shared: int, local: int
) -> None:
    """Shared memory lies between the two bases, local in the 16 KiB from the second on."""
    head = f"-shmem base_addr = 0x{HIGH + shared:016x}\n-local mem base_addr = 0x{HIGH + local:016x}\n"
    places = [HIGH, HIGH + 0x45000000, HIGH + local + 128, HIGH + local + 0x4000]
    lines = [access("LD.E.SYS", 1, f"1 0x{each:x} 0") for each in places]
    file = tmp_path / "kernel-1.traceg"
    file.write_text(trace(1, lines, head=head))
    is_global = [True, shared > local, False, True]
    expected = [each for each, kept in zip(places, is_global, strict=True) if kept]
    assert (touched(file).lines.number << 7).tolist() == sorted(expected)
    file.write_text(trace(1, lines))
    assert not len(touched(file).lines.number), "without the bases the simulator takes all for shared"


def test_launches_before_that_were_not_traced_are_asked_for(
    ten: PlanFile, written: Write, tmp_path: Path
) -> None:
    traces = tmp_path / "traces"
    written_traces(traces, {number: [load(HIGH)] for number in NAMES})
    for number in (1, 2, 7, 8):
        (traces / f"kernel-{number}.traceg").unlink()
    with pytest.raises(ProfileError, match=r"none of the 2 launches before launch 2 was traced.*trace\.sh"):
        written(ten, "accel-sim", traces=str(traces))
    own = written(ten, "accel-sim", traces=str(traces), caches="own")
    assert own["kernelslist.g"].splitlines()[:2] == ["MemcpyHtoD,0x0000000000000000,128", "kernel-3.traceg"]
    assert ",own," in own["manifest.csv"]
    (traces / "kernel-2.traceg").write_text(trace(2, []))
    page = written(ten, "accel-sim", traces=str(traces))["README.txt"]
    assert "Of 3 launches just before drawn ones there is no trace" in page


def test_a_kernel_of_loads_fills_l2(ten: PlanFile, written: Write, tmp_path: Path) -> None:
    """What it touches is what was left; it weighs nothing, and has a number of its own."""
    accesses = {1: [load(HIGH)], 2: [store(HIGH + 4096, 8), load(HIGH + 2**33, 1)]}
    written_traces(tmp_path / "traces", accesses)
    files = written(ten, "accel-sim", traces=str(tmp_path / "traces"), caches="loads")
    assert files["kernelslist.g"].splitlines()[:2] == ["kernel-1000000003.traceg", "kernel-3.traceg"]
    loads = tmp_path / "out" / "kernel-1000000003.traceg"
    assert "-kernel id = 1000000003\n" in loads.read_text()
    first, count = Fill.of(touched(loads).lines, evicts=False).runs
    assert first.tolist() == [HIGH >> 5, HIGH + 4096 >> 5, HIGH + 2**33 >> 5]
    assert count.tolist() == [4, 1, 1]
    rows = files["manifest.csv"].splitlines()
    assert rows[1].startswith("2,kernel-1000000003,,0,1,,1,1,")
    assert rows[2].startswith("2,kernel-3,0,2.0,0,loads,1,2,")
    assert not (tmp_path / "out" / "kernel-3.traceg").exists()


@pytest.mark.parametrize(
    "line",
    [
        "00c0 ffffffff 1 R5 LDG.E 1 R2 4 3 0x10 4 ",
        "00c0 00000007 1 R5 LDG.E 1 R2 4 0 0x10 ",
        "00c0 00000007 9 R5 LDG.E 1 R2 4 1 0x10 4 ",
        "00c0 00000007 1 R5 LDG.E 1 R2 4 2 0x10 4",
    ],
)
def test_an_access_that_is_cut_off_is_named(tmp_path: Path, line: str) -> None:
    file = tmp_path / "kernel-1.traceg"
    file.write_text(trace(1, [line]))
    with pytest.raises(ProfileError, match=r"kernel-1\.traceg, row 18: an access to memory cannot be read"):
        touched(file)
    file.write_text(trace(1, [], head="-shmem base_addr = 0x7f0x\n"))
    with pytest.raises(ProfileError, match="its head cannot be read"):
        touched(file)


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        ({"caches": "hot"}, "`caches` is warm, loads, own, cold or after:N, not hot"),
        ({"caches": "warm"}, "`caches=warm` reads what launches touch in `traces`"),
        ({"cold_check": 1}, "`cold_check` takes 2 launches or more"),
        ({"cold_check": 6, "caches": "after:16"}, "launches that start cold, not of `caches=after:16`"),
    ],
)
def test_ways_that_are_none_are_refused(choices: dict[str, object], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        ExportChoices(**choices)  # type: ignore[arg-type]
