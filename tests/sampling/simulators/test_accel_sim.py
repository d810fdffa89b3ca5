"""A plan for Accel-Sim and MGPUSim: lists, the tracer's ranges, scripts run with stand-ins."""

from __future__ import annotations

import gzip
import lzma
import shlex
from pathlib import Path

import pytest
from msgspec import structs

import sampling
from sampling.errors import ProfileError
from sampling.plan.plan_file import PlanFile
from sampling.simulators.accel_sim import MOST_RANGE_CHARACTERS
from tests.packed_traces import packed
from tests.sampling.simulators.conftest import Write, launch, plan_of, program, shell, stratum

COPY = "MemcpyHtoD,0x00007f100000000{},1048576"
NAMES = dict(enumerate(("a", "b", "a", "a", "b", "c", "a", "b", "a", "a"), start=1))
MANGLED = {"a": "_Z1ai", "b": "b", "c": "_Z1cPf"}
GRID = {"a": 8, "b": 4, "c": 2}


def head(number: int, kernel: str, grid: int) -> str:
    """The start of a trace, as the tracer writes it."""
    return (
        f"-kernel name = {kernel}\n-kernel id = {number}\n-grid dim = ({grid},1,1)\n-block dim = (128,1,1)\n"
        "-shmem = 0\n-nregs = 10\n\n#traces format = PC mask\n\n#BEGIN_TB\n\nthread block = 0,0,0\n"
    )


def traces_in(folder: Path, *, context: str = "", ending: str = ".traceg", listed: bool = True) -> Path:
    """Traces of all ten launches, with a copy before each third one."""
    folder.mkdir(exist_ok=True)
    lines = []
    for number, name in NAMES.items():
        file = f"kernel-{number}{context}{ending}"
        text = head(number, MANGLED[name], GRID[name])
        content = lzma.compress(text.encode()) if ending.endswith("xz") else text.encode()
        if ending == ".tracez":
            content = packed([line for line in text.split("\n") if line.startswith(("-", "#traces"))], [])
        (folder / file).write_bytes(content)
        lines += [COPY.format(number)] if number % 3 == 1 else []
        lines.append(file)
    if listed:
        (folder / "kernelslist.g").write_text("\n".join(lines) + "\n")
    return folder


def test_copies_stand_before_the_first_launch_after_them(
    ten: PlanFile, written: Write, tmp_path: Path
) -> None:
    """Copies before kernels 1, 4, 7, 10; of 3, 5, 6, 9, 10 those are 3, 5, 9 and 10."""
    traces = str(traces_in(tmp_path / "traces"))
    assert written(ten, "accel-sim", traces=traces, caches="cold")["kernelslist.g"].splitlines() == [
        *("kernel-6.traceg", COPY.format(4), "kernel-5.traceg", COPY.format(1), "kernel-3.traceg"),
        *(COPY.format(7), "kernel-9.traceg", COPY.format(10), "kernel-10.traceg"),
    ]
    dropped = written(ten, "accel-sim", traces=traces, caches="cold", drop_copies=True)
    assert "Memcpy" not in dropped["kernelslist.g"]
    assert "Memory copies are dropped" in dropped["README.txt"]


def test_the_ranges_of_the_tracer_count_from_1(ten: PlanFile, written: Write) -> None:
    files = written(ten, "accel-sim", trace_before=0)
    assert "\n5,kernel-6,2,1.0,0,,1,1,0,0,5,0,5000,,,c\n" in files["manifest.csv"]
    assert "export DYNAMIC_KERNEL_RANGE='3 5-6 9-10'\n" in files["trace.sh"]
    assert "export DYNAMIC_KERNEL_LIMIT_START=3 DYNAMIC_KERNEL_LIMIT_END=10\n" in files["trace.sh"]
    assert "export DYNAMIC_KERNEL_RANGE=1000000\n" in files["list-kernels.sh"]
    warm = written(ten, "accel-sim", trace_before=0, caches="after:1")
    assert "export DYNAMIC_KERNEL_RANGE='2-6 8-10'\n" in warm["trace.sh"]
    before = written(ten, "accel-sim", shards=2, trace_before=1)
    assert "export DYNAMIC_KERNEL_RANGE='2-6 8-10'\n" in before["trace.sh"]
    assert "DYNAMIC_KERNEL_RANGE=1-10\n" in written(ten, "accel-sim")["trace.sh"]


def test_ranges_that_one_variable_cannot_hold_are_bridged(written: Write) -> None:
    many = [launch(100_000 + 3 * place, place, "a") for place in range(20_000)]
    files = written(plan_of(stratum("a", 100_000, 1, 1, many)), "accel-sim", trace_before=0)
    (line,) = (line for line in files["trace.sh"].splitlines() if "export DYNAMIC_KERNEL_RANGE=" in line)
    ranges = shlex.split(line)[-1].partition("=")[2]
    assert len(ranges) <= MOST_RANGE_CHARACTERS < 128 * 1024 - len("DYNAMIC_KERNEL_RANGE=")
    assert "launches more are recorded" in files["README.txt"]


NEW_TRACER, OLD_TRACER = "... DYNAMIC_KERNEL_RANGE ...", "... DYNAMIC_KERNEL_LIMIT_START ..."


@pytest.mark.parametrize(
    ("tracer", "seen"), [(NEW_TRACER, "range=3 5-6 9-10 start= end="), (OLD_TRACER, "range= start=3 end=10")]
)
def test_the_program_is_started_with_the_tracer(
    ten: PlanFile, written: Write, tmp_path: Path, tracer: str, seen: str
) -> None:
    profile = structs.replace(ten.profile, total_duration_ns=4_000_000)
    written(structs.replace(ten, profile=profile), "accel-sim", trace_before=0)
    library = tmp_path / "tracer tool.so"
    library.write_text(tracer)
    traced = program(
        tmp_path / "traced",
        'echo "range=${DYNAMIC_KERNEL_RANGE:-} start=${DYNAMIC_KERNEL_LIMIT_START:-} '
        'end=${DYNAMIC_KERNEL_LIMIT_END:-}"\n'
        'echo "$CUDA_INJECTION64_PATH" "$USER_DEFINED_FOLDERS" "$ACTIVE_FROM_START" "$TRACES_FOLDER" "$@"\n'
        'echo kernel-3.trace > "$TRACES_FOLDER/kernelslist"',
    )
    post = program(tmp_path / "post", 'echo post "$@"')
    traces = tmp_path / "my traces"
    ran = shell(
        tmp_path / "out" / "trace.sh", traced, "x y", TRACER=library, TRACES=traces, POST_PROCESSING=post
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines() == [seen, f"{library} 1 1 {traces} x y", f"post {traces}/kernelslist"]
    assert ("one range alone" in ran.stderr) == (tracer == OLD_TRACER)
    assert "trace.sh: 5 launches, about 2 ms of GPU time: 0.8 to 20.0 GB as text" in ran.stderr
    assert shell(tmp_path / "out" / "trace.sh", traced).returncode != 0, "it wants the tracer"


SIMULATOR = """\
[ "$1 $3 $5" = "-trace -config -config" ] || exit 9
cat "$4" "$6"
folder=${2%/*}
grep ^kernel "$2" | while read -r name; do head -n 2 "$folder/$name" || exit 8; done
ls"""


@pytest.mark.parametrize("packed", [False, True])
def test_the_list_is_simulated_with_its_traces_beside_it(
    ten: PlanFile, written: Write, tmp_path: Path, packed: bool
) -> None:
    traces = traces_in(tmp_path / "the traces")
    if packed:
        for file in traces.glob("kernel-*.traceg"):
            file.with_name(f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes()))
            file.unlink()
    written(ten, "accel-sim", traces=str(traces), caches="cold")
    for name in ("gpgpusim.config", "trace.config", "net.icnt"):
        (tmp_path / name).write_text(f"{name}\n")
    settings = {
        "ACCELSIM": program(tmp_path / "simulator", SIMULATOR),
        "GPGPUSIM_CONFIG": tmp_path / "gpgpusim.config",
        "TRACE_CONFIG": tmp_path / "trace.config",
    }
    for _ in range(2):
        # A second time the links are there.
        ran = shell(tmp_path / "out" / "run.sh", **settings)
        assert ran.returncode == 0, ran.stderr
    out = tmp_path / "out"
    assert ran.stderr == f"then: kernelpoint estimate '{out}' '{out}'/run*/run.log\n"
    log = (tmp_path / "out" / "run" / "run.log").read_text().splitlines()
    assert log[:2] == ["gpgpusim.config", "trace.config"]
    assert [line for line in log if "id" in line] == [f"-kernel id = {number}" for number in (6, 5, 3, 9, 10)]
    assert "net.icnt" in log
    for link in (tmp_path / "out").glob("kernel-*"):
        link.unlink()
    relative = settings | {"TRACES": traces.name, "GPGPUSIM_CONFIG": "gpgpusim.config"}
    ran = shell(tmp_path / "out" / "run.sh", at=tmp_path, **relative)
    assert ran.returncode == 0, ran.stderr
    failed = shell(
        tmp_path / "out" / "run.sh", **settings | {"ACCELSIM": program(tmp_path / "bad", "exit 3")}
    )
    assert failed.returncode == 1
    assert "the simulator failed" in failed.stderr


@pytest.mark.parametrize(
    ("context", "ending", "listed"),
    [
        ("", ".traceg", True),
        ("", ".traceg.xz", False),
        ("-ctx_0x55a1", ".traceg", False),
        ("", ".tracez", True),
        ("-ctx_0x55a1", ".tracez", False),
        ("-model.decoder.layers.12.self_attn", ".tracez", True),
    ],
)
def test_files_are_named_as_the_traces_are(
    ten: PlanFile, written: Write, tmp_path: Path, context: str, ending: str, listed: bool
) -> None:
    traces = traces_in(tmp_path / "traces", context=context, ending=ending, listed=listed)
    lines = written(ten, "accel-sim", traces=str(traces), caches="cold")["kernelslist.g"].splitlines()
    wanted = [f"kernel-{number}{context}{ending}" for number in (6, 5, 3, 9, 10)]
    assert [line for line in lines if not line.startswith("Memcpy")] == wanted


def test_traces_of_several_devices_are_taken_from_where_their_scripts_leave_them(
    written: Write, tmp_path: Path
) -> None:
    """Each script records to `traces` in its own folder, which is in that of the first export."""
    both = [launch(2, 2, "a", id=2), launch(2, 2, "a", id=12, device=1)]
    plan = plan_of(stratum("a", 12, 1, 1, both))
    recorded = written(plan, "accel-sim", trace_before=1)
    for device in (0, 1):
        part = f"process-0-device-{device}"
        assert "export '$here/..' --to accel-sim --traces '$here/..'" in recorded[f"{part}/trace.sh"]
        traces_in(tmp_path / "out" / part / "traces")
    assert "--traces . --config gpgpusim.config" in recorded["README.txt"]
    (tmp_path / "out").rename(tmp_path / "chosen")
    files = written(plan, "accel-sim", traces=str(tmp_path / "chosen"), caches="cold")
    for device in (0, 1):
        assert files[f"process-0-device-{device}/kernelslist.g"].splitlines()[-1] == "kernel-3.traceg"


def test_of_two_contexts_none_is_chosen(ten: PlanFile, written: Write, tmp_path: Path) -> None:
    traces = traces_in(tmp_path / "traces", context="-ctx_0x2", listed=False)
    (traces / "kernel-1-ctx_0x1.traceg").write_text(head(1, "other", 1))
    with pytest.raises(ProfileError, match=r"traces of 2 contexts; give the folder of one"):
        written(ten, "accel-sim", traces=str(traces))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            head(3, "b", 8),
            r"launch 2 is a\(int\) <<<8x1x1, 128x1x1>>> in the plan, and kernel-3\.traceg is b <<<8",
        ),
        (head(3, "_Z1ai", 9), r"kernel-3\.traceg is a\(int\) <<<9x1x1, 128x1x1>>>"),
        (head(4, "_Z1ai", 8), r"kernel-3\.traceg says that it is kernel id 4"),
        ("something else\n", "does not begin like a trace"),
        ("", r"kernelslist\.g names kernel-3\.traceg, which is not there"),
    ],
)
def test_traces_of_other_launches_are_refused(
    ten: PlanFile, written: Write, tmp_path: Path, text: str, words: str
) -> None:
    traces = traces_in(tmp_path / "traces")
    (traces / "kernel-3.traceg").write_text(text)
    if not text:
        (traces / "kernel-3.traceg").unlink()
    with pytest.raises(ProfileError, match=words):
        written(ten, "accel-sim", traces=str(traces))


def test_a_folder_without_traces_is_refused(ten: PlanFile, written: Write, tmp_path: Path) -> None:
    (tmp_path / "kernelslist").write_text("kernel-1.trace\n")
    with pytest.raises(ProfileError, match=r"has no kernelslist\.g and no kernel-N\.traceg"):
        written(ten, "accel-sim", traces=str(tmp_path))
    with pytest.raises(ProfileError, match="no such file or folder; check the path"):
        written(ten, "accel-sim", traces=str(tmp_path / "none"))


HEAD = (
    "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),"
    "Bytes (MB),Throughput (MBps),SrcMemKd,DstMemKd,Device,Ctx,Strm,Name"
)


def test_a_tracer_that_skips_launches_is_aligned_with_the_profile(written: Write, tmp_path: Path) -> None:
    """It saw all but the first, and counts the others from 1."""
    spelled = {"a": "a(int)", "b": "b", "c": "c(float*)"}
    rows = [
        f"{100 * number},{10},{number},{GRID[name]},1,1,128,1,1,16,0,0,,,,,GPU (0),1,7,{spelled[name]}"
        for number, name in NAMES.items()
    ]
    profile = tmp_path / "gpu-trace.csv"
    profile.write_text("\n".join([HEAD, *rows]))
    request = sampling.PlanRequest(method="random", set=("random.launches=10",))
    made = sampling.make_plan(sampling.read_profile(profile), request)
    sampling.write_plan(made, tmp_path / "plan.json")
    plan = sampling.read_plan(tmp_path / "plan.json")
    traces = tmp_path / "traces"
    traces.mkdir()
    for number, name in list(NAMES.items())[1:]:
        text = head(number - 1, MANGLED[name], GRID[name])
        (traces / f"kernel-{number - 1}.traceg").write_text(text)
    (traces / "kernelslist.g").write_text("".join(f"kernel-{number}.traceg\n" for number in range(1, 10)))
    with pytest.raises(ProfileError, match="launch 0 was skipped by the tracer and is not among the 9"):
        written(plan, "accel-sim", traces=str(traces), caches="cold")
    (stratum_of_all,) = plan.strata
    others = tuple(each for each in stratum_of_all.launches if each.id)
    seen = structs.replace(plan, strata=(structs.replace(stratum_of_all, launches=others),))
    files = written(seen, "accel-sim", traces=str(traces))
    assert files["kernelslist.g"].splitlines() == [f"kernel-{number}.traceg" for number in range(1, 10)]
    rows = files["manifest.csv"].splitlines()[1:]
    assert [row.split(",")[:2] for row in rows] == [[f"{each}", f"kernel-{each}"] for each in range(1, 10)]


def test_mgpusim_runs_a_folder_with_its_list_and_these_traces(
    ten: PlanFile, written: Write, tmp_path: Path
) -> None:
    traces = str(traces_in(tmp_path / "traces"))
    sharded = written(ten, "mgpusim", shards=2, traces=traces)
    assert sharded["run-1/kernelslist.g"].splitlines() == [COPY.format(1), COPY.format(4), "kernel-6.traceg"]
    files = written(ten, "mgpusim", traces=traces, drop_copies=True)
    assert files["run/kernelslist.g"] == (
        "kernel-6.traceg\nkernel-5.traceg\nkernel-3.traceg\nkernel-9.traceg\nkernel-10.traceg\n"
    )
    simulator = program(tmp_path / "nvidia", '[ "$1" = -trace-dir ] && cat "$2"/kernel-3.traceg && ls "$2"')
    ran = shell(tmp_path / "out" / "run.sh", MGPUSIM=simulator)
    assert ran.returncode == 0, ran.stderr
    log = (tmp_path / "out" / "run" / "run.log").read_text()
    assert "-kernel id = 3\n" in log
    assert "kernelslist.g" in log
