"""L2 filled with dirty lines in the order of time, against an L2 written plainly; for which Accel-Sim."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.errors import ProfileError
from sampling.estimation.caches import describe_caches
from sampling.plan.plan_file import PlanFile
from sampling.simulators.caches import L2, Fill, Filled, Lines, touched
from sampling.simulators.filling import write_kernel
from sampling.simulators.results import read_result_files
from tests.packed_traces import packed
from tests.sampling.simulators import plain_l2
from tests.sampling.simulators.conftest import Write, printed
from tests.sampling.simulators.test_l2 import HIGH, access, load, store, written_traces

LINE = st.integers(0, 12)


def near(opcode: str, line: int, sector: int, lanes: int) -> str:
    """An access to one sector of a line."""
    return access(opcode, (1 << lanes) - 1, f"1 0x{128 * line + 32 * sector + HIGH:x} 4")


ACCESS = st.builds(
    near,
    st.sampled_from(["LDG.E", "STG.E", "ATOMG.E.ADD"]),
    LINE,
    st.integers(0, 3),
    st.sampled_from([2, 8]),
)
#: Thread blocks of warps of accesses.
GRID = st.lists(st.lists(st.lists(ACCESS, max_size=4), min_size=1, max_size=3), min_size=1, max_size=4)


def grid_trace(blocks: list[list[list[str]]]) -> str:
    """A trace of thread blocks of two warps' size."""
    text = "-kernel name = k\n-kernel id = 1\n-block dim = (64,1,1)\n-nregs = 16\n-shmem = 0\n"
    text += "-accelsim tracer version = 5\n\n#traces format = PC mask\n"
    for number, warps in enumerate(blocks):
        text += f"\n#BEGIN_TB\n\nthread block = {number},0,0\n"
        for warp, lines in enumerate(warps):
            text += f"\nwarp = {warp}\ninsts = {len(lines)}\n" + "".join(f"{line}\n" for line in lines)
        text += "\n#END_TB\n"
    return text


@given(
    launches=st.lists(GRID, min_size=1, max_size=4),
    most=st.sampled_from([3, 6, 100]),
    at_once=st.integers(1, 4),
)
def test_lines_their_order_and_what_is_dirty_are_those_of_a_plain_l2(
    launches: list[list[list[list[str]]]], most: int, at_once: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """What is known of lines that came back is exact only where nothing was dropped within a launch."""
    folder = tmp_path_factory.mktemp("traces")
    l2 = L2(most, sms=at_once)
    held: plain_l2.Held = OrderedDict()
    state = Lines.touched(*[np.zeros(0, dtype=np.int64)] * 4)
    has_returned = False
    for number, blocks in enumerate(launches):
        file = folder / f"kernel-{number}.traceg"
        file.write_text(grid_trace(blocks))
        has_dropped = plain_l2.run(held, number, file.read_text(), most, at_once)
        launch = touched(file, l2).lines
        after = state.then([replace(launch, last=launch.last + (number << 32))], most)
        assert (after.dropped > state.dropped) >= (has_dropped and not has_returned)
        state, has_returned = after, has_returned or has_dropped
        assert state.number[np.argsort(state.last)].tolist() == list(held)
        if not has_returned:
            dirty = [[sector for sector in range(4) if mask >> sector & 1] for mask in state.stored.tolist()]
            assert dirty == [sorted(sector % 4 for sector in held[line].dirty) for line in sorted(held)]
            known = {
                (line * 4 + sector): mask
                for line, masks in zip(state.number.tolist(), state.known_bytes.tolist(), strict=True)
                for sector, mask in enumerate(masks)
                if mask
            }
            assert known == {
                sector: sum(1 << byte for byte in known)
                for line in held.values()
                for sector, known in line.known.items()
            }


def executed(kernel: str) -> list[tuple[str, list[int]]]:
    """The instructions of a kernel that fills L2, instruction i of all warps before i + 1 of any."""
    warps = [part.split("\n")[2:] for part in kernel.split("\nwarp = ")[1:]]
    turns = max(map(len, warps))
    lines = [warp[turn].split() for turn in range(turns) for warp in warps if turn < len(warp)]
    found = []
    for words in (words for words in lines if len(words) > 5 and "EXIT" not in words):
        at = 3 + int(words[2])
        lanes = int(words[1], 16).bit_count()
        start = at + 4 + int(words[at + 1])
        assert words[start - 1] == "0"
        found.append((words[at], [int(word, 16) for word in words[start : start + lanes]]))
    return found


@pytest.mark.parametrize("by_copies", [True, False])
def test_the_kernel_makes_l2_dirty_in_the_order_of_time(tmp_path: Path, by_copies: bool) -> None:
    """Lines in a random order: some dirty, some half known, the others clean."""
    random = np.random.default_rng(5)
    number = np.sort(random.choice(1 << 20, 3000, replace=False)) + (HIGH >> 7)
    stored = np.where(random.random(3000) < 0.5, random.integers(0, 16, 3000), 0).astype(np.uint8)
    is_part = (random.random((3000, 4)) < 0.2) & (stored[:, None] >> np.arange(4) & 1 > 0)
    known = np.where(is_part, 0xFF00, 2**32 - 1).astype(np.uint32)
    lines = Lines(number, random.permutation(3000), known, np.full(3000, 15, dtype=np.uint8), stored)
    filled = Filled({4: Fill.of(lines, evicts=True)}, frozenset(), 0, by_copies, False)
    file = tmp_path / "kernel-1000000005.traceg"
    with file.open("wb") as stream:
        write_kernel({}, filled, 4, stream)
    base = 0 if by_copies else HIGH >> 32 << 32
    words: dict[int, set[int]] = {}
    last: dict[int, int] = {}
    loaded = set()
    for place, (opcode, addresses) in enumerate(executed(file.read_text())):
        for address in addresses:
            last[address >> 7] = place
            if opcode.startswith("LDG"):
                loaded.add(address >> 5)
            else:
                width = 16 if ".128" in opcode else 4
                words.setdefault(address >> 5, set()).update(range(address % 32, address % 32 + width))
    sectors = (number[:, None] * 4 + np.arange(4)) - (HIGH >> 32 << 27) + (base >> 5)
    is_dirty = stored[:, None] >> np.arange(4) & 1 > 0
    assert words == {
        int(sector): set(range(8, 16)) if part else set(range(32))
        for sector, part in zip(sectors[is_dirty].tolist(), is_part[is_dirty].tolist(), strict=True)
    }
    is_clean = ~is_dirty.any(axis=1)
    clean = sectors[is_clean, :1] if by_copies else sectors[~is_dirty]
    assert loaded == set(clean.ravel().tolist())
    places = np.array([last[line] for line in sectors[np.argsort(lines.last), 0] >> 2])
    assert len(last) == 3000
    # A batch waits for as many lanes as a warp has.
    assert (places[200:] >= places[:-200]).all()


SMALL = "-gpgpu_n_mem 1\n-gpgpu_n_sub_partition_per_mchannel 2\n-gpgpu_cache:dl2 S:1:128:2,L:B:m:L:P\n"


def exported(plan: PlanFile, written: Write, tmp_path: Path, **choices: object) -> dict[str, str]:
    """Export a plan with an L2 of four lines; launch 2 stores to two of them, launch 3 reads two others."""
    accesses = {
        1: [load(HIGH)],
        2: [store(HIGH + 128), store(HIGH + 256)],
        3: [load(HIGH + 512), load(HIGH + 640)],
    }
    accesses |= {number: [load(HIGH + 512)] for number in range(4, 11)}
    written_traces(tmp_path / "traces", accesses)
    (tmp_path / "small.config").write_text(SMALL)
    return written(plan, "accel-sim", traces=str(tmp_path / "traces"), **choices)


def test_a_kernel_runs_where_a_launch_evicts_what_was_stored(
    ten: PlanFile, written: Write, tmp_path: Path
) -> None:
    """Ids 2, 4, 5, 8 and 9 are drawn; 4 and 5 follow each other, as do 8 and 9, and evict nothing."""
    files = exported(ten, written, tmp_path, config=str(tmp_path / "small.config"))
    lines = files["kernelslist.g"].splitlines()
    assert lines[:6] == [
        "MemcpyHtoD,0x0000000000000000,128",
        "MemcpyHtoD,0x0000000000000080,256",
        "kernel-1000000003.traceg",
        "kernel-3.traceg",
        *(line for line in lines[4:6] if line.startswith("Memcpy")),
    ]
    assert [line for line in lines if line.startswith("kernel")] == [
        *("kernel-1000000003.traceg", "kernel-3.traceg", "kernel-5.traceg", "kernel-6.traceg"),
        *("kernel-9.traceg", "kernel-10.traceg"),
    ]
    assert lines[lines.index("kernel-5.traceg") + 1] == "kernel-6.traceg", "nothing is between them"
    assert lines[-1] == "kernel-10.traceg"
    assert lines[-2] == "kernel-9.traceg"
    rows = files["manifest.csv"].splitlines()
    assert rows[0].endswith(",name")
    assert rows[1].startswith("2,kernel-1000000003,,0,1,,1,1,")
    assert rows[2].startswith("2,kernel-3,0,2.0,0,warm,1,2,")
    page = files["README.txt"].replace("\n", " ")
    assert (
        "Before 1 launch that evict what others stored, a kernel of the launch's number + 1,000,000" in page
    )
    kernel = (tmp_path / "out" / "kernel-1000000003.traceg").read_text()
    stores = [addresses for opcode, addresses in executed(kernel) if opcode == "STG.E.128.SYS"]
    assert stores == [[*range(128, 384, 16)]]
    # Of the clean line one sector, only to renew its age.
    assert [addresses for opcode, addresses in executed(kernel) if opcode.startswith("LDG")] == [[0]]


def test_by_loads_the_kernel_loads_all_that_is_clean(ten: PlanFile, written: Write, tmp_path: Path) -> None:
    files = exported(ten, written, tmp_path, config=str(tmp_path / "small.config"), caches="loads")
    assert "Memcpy" not in files["kernelslist.g"]
    kernel = executed((tmp_path / "out" / "kernel-1000000003.traceg").read_text())
    assert [addresses for opcode, addresses in kernel if opcode.startswith("LDG")] == [
        [HIGH, HIGH + 32, HIGH + 64, HIGH + 96]
    ]
    assert {opcode for opcode, _ in kernel} == {"LDG.E.STRONG.GPU", "STG.E.128.SYS"}


@pytest.mark.parametrize(("caches", "percent"), [("warm", 67), ("loads", 67), ("own", 0)])
def test_without_a_size_of_l2_how_much_was_dirty_is_said(
    ten: PlanFile, written: Write, tmp_path: Path, caches: str, percent: int
) -> None:
    """Two of three lines are; of those that drawn launches alone leave none is."""
    files = exported(ten, written, tmp_path, caches=caches)
    assert "kernel-1000000003" not in files["kernelslist.g"] or caches == "loads"
    page = files["README.txt"].replace("\n", " ")
    assert ("nothing says how large L2 is" in page) == bool(percent)
    header, *rows = (line.split(",") for line in files["manifest.csv"].splitlines())
    assert ("dirty_percent" in header) == bool(percent)
    log = tmp_path / "run.log"
    a, b, c = (("a(int)", (8, 1, 1)), ("b", (4, 1, 1)), ("c", (2, 1, 1)))
    ran = zip((3, 5, 6, 9, 10), (a, b, c, a, a), range(101, 106), strict=True)
    log.write_text(printed(*ran, threads="128,1,1"))
    found = read_result_files(ten, [str(log)], manifests=[str(tmp_path / "out" / "manifest.csv")])
    said = describe_caches(ten, found).said
    if percent:
        assert {row[0]: row[-1] for row in rows if row[header.index("stratum")]}["2"] == str(percent)
        assert found.dirty_percent[2] == percent
        assert "% was dirty and began clean: where launches evict it, a total of these is too low" in said
    else:
        assert "dirty" not in said


NEW_LOG = (
    "GPGPU-Sim: Configuration options:\n\n-gpgpu_n_mem 40 # memory\n-gpgpu_n_chiplet_partition 1 # parts\n"
)
OLD_LOG = "GPGPU-Sim: Configuration options:\n\n-gpgpu_n_mem 16 # memory\n-gpgpu_perf_sim_memcpy 1 # copies\n"
SAID = {
    "none": "Nothing tells whether this is for Accel-Sim 2.0 (--simulator-log LOG, of any run, does)",
    "old": "The log is of an Accel-Sim before 2.0, which keeps 32 bits",
    "new": "The log is of Accel-Sim 2.0, which keeps whole addresses",
    "packed": "Packed traces are for Accel-Sim 2.0, which keeps whole addresses",
}


@pytest.mark.parametrize("simulator", list(SAID))
def test_what_tells_the_simulator_decides_on_addresses(
    ten: PlanFile, written: Write, tmp_path: Path, simulator: str
) -> None:
    traces = tmp_path / "traces"
    texts = written_traces(traces, {1: [load(HIGH)], 2: [], 3: [load(HIGH + 128)]})
    names = [name for name, _ in texts]
    if simulator == "packed":
        names = [name.replace("traceg", "tracez") for name in names]
        for name, text in texts:
            (traces / name).unlink()
            head = [line for line in text.split("\n") if line.startswith(("-", "#traces"))]
            lines = [line for line in text.split("\n") if line.startswith("00")]
            content = packed(head, [((0, 0, 0), (0,) * 7, [lines])])
            (traces / name.replace("traceg", "tracez")).write_bytes(content)
    copy = f"MemcpyHtoD,0x{HIGH + 0x4000:016x},64"
    (traces / "kernelslist.g").write_text("\n".join([copy, *names]) + "\n")
    choices = {"traces": str(traces)}
    if simulator in ("old", "new"):
        (tmp_path / "run.log").write_text(NEW_LOG if simulator == "new" else OLD_LOG)
        choices["simulator_log"] = str(tmp_path / "run.log")
    files = written(ten, "accel-sim", **choices)
    lines = files["kernelslist.g"].splitlines()
    is_new = simulator in ("new", "packed")
    assert lines[: 2 + is_new] == [
        f"MemcpyHtoD,0x{HIGH if is_new else 0:016x},128",
        *([copy] if is_new else []),
        names[2],
    ]
    assert (tmp_path / "out" / names[2]).exists() == (not is_new), "whole addresses need no other trace"
    assert SAID[simulator] in files["README.txt"].replace("\n", " ")


def test_a_log_without_options_tells_nothing(ten: PlanFile, written: Write, tmp_path: Path) -> None:
    written_traces(tmp_path / "traces", {})
    (tmp_path / "run.log").write_text("hello\n")
    with pytest.raises(ProfileError, match=r"run\.log: has no configuration"):
        written(ten, "accel-sim", traces=str(tmp_path / "traces"), simulator_log=str(tmp_path / "run.log"))


def test_addresses_that_are_not_shortened_are_refused(ten: PlanFile, written: Write, tmp_path: Path) -> None:
    bare = access("LDG.E", 1, f"0 {HIGH:x}")
    written_traces(tmp_path / "traces", {3: [bare]})
    choices = {"traces": str(tmp_path / "traces")}
    with pytest.raises(
        ProfileError, match=r"kernel-3\.traceg: addresses of bulk copies, and those without 0x"
    ):
        written(ten, "accel-sim", **choices)
    (tmp_path / "run.log").write_text(NEW_LOG)
    files = written(ten, "accel-sim", **choices, simulator_log=str(tmp_path / "run.log"))
    assert "kernel-3.traceg" in files["kernelslist.g"]
    assert not (tmp_path / "out" / "kernel-3.traceg").exists()


@pytest.mark.parametrize(
    ("options", "state"), [("", "cold"), ("-gpgpu_n_chiplet_partition 1 # parts\n", "warm")]
)
def test_in_a_log_of_the_new_one_copies_of_all_addresses_fill(
    ten: PlanFile, tmp_path: Path, options: str, state: str
) -> None:
    text = options + printed((3, ("a(int)", (8, 1, 1)), 101), threads="128,1,1")
    high, before = "MemcpyHtoD,0x00007f1000000040,32", "Processing kernel traces/kernel-3.traceg"
    log = tmp_path / "run.log"
    log.write_text(text.replace(before, f"launching memcpy command : {high}\n{before}"))
    assert read_result_files(ten, [str(log)]).caches == (state,)
