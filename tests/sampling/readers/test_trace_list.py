"""Lists of traces as profiles: by what Nsight Compute measured, row by row, or by their instructions."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest

import sampling
from sampling.errors import ProfileError
from tests.packed_traces import packed
from tests.sampling.readers.test_ncu_profile import CYCLES, TIME, durations, raw, row

KERNELS = {
    1: ("_Z4copyPf", 4, 3),
    2: ("_Z4gemmIfEvPT_", 16, 5),
    4: ("_Z4copyPf", 4, 2),
    7: ("_Z4gemmIfEvPT_", 16, 1),
}
"""Name, blocks of the grid, and instructions of each of its two warps, by the number of the trace."""
MEASURED = {1: "copy(float *)", 2: "void gemm<float>(T1 *)", 4: "copy(float *)", 7: "void gemm<float>(T1 *)"}
LINE = "0000 ffffffff 1 R1 MOV 0 0 0 "


def head(number: int) -> list[str]:
    name, blocks, _ = KERNELS[number]
    return [
        *(f"-kernel name = {name}", f"-kernel id = {number}", f"-grid dim = ({blocks},1,1)"),
        *("-block dim = (128,1,1)", "#traces format = PC mask dest_num"),
    ]


def text(number: int) -> bytes:
    count = KERNELS[number][2]
    warps = "".join(f"warp = {warp}\ninsts = {count}\n" + f"{LINE}\n" * count + "\n" for warp in (0, 1))
    body = f"\n#BEGIN_TB\n\nthread block = 0,0,0\n\n{warps}#END_TB\n"
    return ("\n".join(head(number)) + "\n" + body).encode()


def traces(folder: Path, ending: str = ".traceg", context: str = "") -> Path:
    """A list of four traces, of which others were left out, with a copy before the second."""
    folder.mkdir(parents=True)
    lines = []
    for number, (_, _, count) in KERNELS.items():
        lines += ["MemcpyHtoD,0x00007f1000000000,1024"] if number == 2 else []
        lines.append(f"kernel-{number}{context}{ending}")
        content = text(number)
        if ending == ".tracez":
            content = packed(head(number), [((0, 0, 0), (0,) * 7, [[LINE] * count] * 2)])
        (folder / lines[-1]).write_bytes(lzma.compress(content) if ending.endswith("xz") else content)
    (folder / "kernelslist.g").write_text("\n".join(lines) + "\n")
    return folder


def measured(**changed: str) -> str:
    """A page with a row a trace, whose IDs have the gaps of what was left out."""
    rows = [
        row(number - 1, MEASURED[number], str(100 * number), str(77), grid=f"({KERNELS[number][1]}, 1, 1)")
        for number in KERNELS
    ]
    page = raw({TIME: "us", CYCLES: "cycle"}, *rows)
    for old, new in changed.items():
        page = page.replace(old, new)
    return page


@pytest.mark.parametrize("nested", ["", "traces", "traces/traces"])
def test_what_was_measured_lies_beside_the_list_or_above_its_folders(tmp_path: Path, nested: str) -> None:
    folder = tmp_path / "args"
    traces(folder / nested)
    (folder / "26.10.20.csv.nsight").write_text(measured())
    (folder / "run.sh").write_text("#!/bin/sh\n")
    profile = sampling.read_profile(folder)
    assert (profile.format, profile.launches) == ("accel-sim-traces", 4)
    assert durations(profile) == [100_000, 200_000, 400_000, 700_000]
    assert profile.metric_names == (TIME, CYCLES)
    assert profile.duration_unit == "ns"
    first = profile.kernels.signature(int(profile.load(("signature",))["signature"][1]))
    assert (first.grid, first.block) == ((16, 1, 1), (128, 1, 1))
    # Names are those of the traces, which the simulator prints.
    assert profile.kernels.names.full(first.name) == "_Z4gemmIfEvPT_"
    assert profile.notes[0].endswith("26.10.20.csv.nsight, row by row")
    assert profile.files[0].path == str(folder / nested / "kernelslist.g")


def test_of_several_pages_the_one_with_most_metrics_counts(tmp_path: Path) -> None:
    """run_hw.py writes one of all metrics, and one of cycles for each time that it measures them."""
    folder = traces(tmp_path / "traces")
    (tmp_path / "a.csv.gpc__cycles_elapsed.0").write_text(
        raw({CYCLES: "cycle"}, *(row(number, "copy", "5") for number in range(9)))
    )
    (tmp_path / "a.csv.nsight").write_text(measured())
    profile = sampling.read_profile(folder)
    assert durations(profile) == [100_000, 200_000, 400_000, 700_000]
    assert durations(sampling.read_profile(folder, profile_cycles=True)) == [77] * 4


@pytest.mark.parametrize(
    ("ending", "context"),
    [(".traceg", ""), (".traceg.xz", ""), (".tracez", "-ctx_0x55a1"), (".tracez", "-model.layers.12.attn")],
)
def test_instructions_stand_for_time_where_nothing_was_measured(
    tmp_path: Path, ending: str, context: str
) -> None:
    folder = traces(tmp_path / "traces", ending, context)
    profile = sampling.read_profile(folder)
    assert durations(profile) == [6, 10, 4, 2]
    assert profile.duration_unit == "instructions"
    assert profile.metric_names == ("instructions",)
    assert profile.notes == (f"{folder / 'kernelslist.g'}: no durations: instructions stand for time",)
    # A launch that stats.csv does not count counts itself.
    shapes = [f"{what}_dim{axis}" for what in ("grid", "block") for axis in "XYZ"]
    titles = ("kernel id", "kernel mangled name", *shapes, "total_insts", "total_reported_insts")
    counts = {1: ("_Z4copyPf", 60), 3: ("_Z4copyPf", 9), 4: ("_Z4copyPf", 0), 7: ("_Z4gemmIfEvPT_", 20)}
    rows = (
        f"kernel-{number}.trace, {name}, 4,1,1,64,1,1,{count},{count}"
        for number, (name, count) in counts.items()
    )
    (folder / "stats.csv").write_text("\n".join([", ".join(titles), *rows, ""]))
    assert durations(sampling.read_profile(folder)) == [60, 10, 4, 20]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {'"copy(float *)"': '"move(float *)"'},
            r"row 4: move\(float \*\) is another kernel.* than kernel-1\.traceg: copy",
        ),
        (
            {'"(16, 1, 1)"': '"(17, 1, 1)"'},
            r"row 6: .*gemm.* is another kernel, grid or block than kernel-2\.traceg",
        ),
        ({'"400"': '"n/a"'}, r"row 7, column gpu__time_duration.sum: a launch has no duration"),
        (
            {"epoch 1\n": row(9, "copy(float *)", "1", "2", grid="(4, 1, 1)") + "\n"},
            "has 5 rows for a list of 4 traces",
        ),
        (
            {f'"{TIME}"': '"a"', f'"{CYCLES}"': '"b"'},
            "without gpu__time_duration.sum or sm__cycles_elapsed.max",
        ),
    ],
)
def test_what_was_measured_of_other_launches_is_refused(
    tmp_path: Path, change: dict[str, str], message: str
) -> None:
    folder = traces(tmp_path / "traces")
    (folder / "page.csv").write_text(measured(**change))
    with pytest.raises(ProfileError, match=message):
        sampling.read_profile(folder)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("kernelslist.g", b"kernel-1.traceg\nkernel-9.traceg\n", r"row 2: kernel-9\.traceg is not there"),
        ("kernelslist.g", b"MemcpyHtoD,0x7f00,64\n", "lists no launch"),
        ("kernel-2.traceg", b"nothing\n", "does not begin like a trace"),
        ("kernel-2.traceg", text(2).split(b"warp")[0], "does not count its instructions"),
        ("kernel-2.traceg", text(2).replace(b"(16,1,1)", b"16 blocks"), "grid dim '16 blocks' is not"),
    ],
)
def test_wrong_lists_and_traces_are_refused(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    folder = traces(tmp_path / "traces")
    (folder / name).write_bytes(content)
    with pytest.raises(ProfileError, match=message):
        sampling.read_profile(folder)


def test_a_packed_trace_that_is_cut_short_does_not_count(tmp_path: Path) -> None:
    folder = traces(tmp_path / "traces", ".tracez")
    path = folder / "kernel-2.tracez"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ProfileError, match=r"kernel-2\.tracez: cannot be read"):
        sampling.read_profile(folder)


def test_a_plan_of_a_list_with_gaps_takes_its_traces_in_their_order(tmp_path: Path) -> None:
    """Of kernels that look alike only the place in the list tells which is which."""
    folder = traces(tmp_path / "set" / "traces")
    request = sampling.PlanRequest(method="random", set=("random.launches=4",))
    made = sampling.make_plan(sampling.read_profile(tmp_path / "set"), request)
    sampling.write_plan(made, tmp_path / "plan.json")
    plan = sampling.read_plan(str(tmp_path / "plan.json"))
    from sampling.simulators.export import ExportChoices
    from sampling.simulators.registry import export_plan

    third = next(launch for launch in plan.drawn if launch.id == 2)
    only = sampling.read_plan(str(tmp_path / "plan.json"))
    from msgspec import structs

    only = structs.replace(plan, strata=(structs.replace(plan.strata[0], launches=(third,)),))
    (folder / "kernel-3.traceg").write_bytes(text(1).replace(b"id = 1", b"id = 3"))
    files = dict(export_plan(only, "accel-sim", ExportChoices(traces=str(tmp_path / "set"), caches="cold")))
    assert str(files["kernelslist.g"]).splitlines()[-1] == "kernel-4.traceg"
    assert ",kernel-4," in str(files["manifest.csv"])
