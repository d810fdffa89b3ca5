"""gem5: kernels in ranges, a dump a kernel by the script that stands before a configuration, statistics."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import sampling
from sampling.errors import OptionError, ProfileError
from sampling.plan.plan_file import PlanFile
from sampling.readers.input_file import open_input
from sampling.simulators.measured_run import MeasuredRun
from sampling.simulators.registry import read_results
from tests.sampling.simulators.conftest import Write, program, shell

PERIOD = 500
#: Ticks, instructions of two compute units, and kernels of each dump; the last is what gem5 dumps at its end.
DUMPS = [(7_000_000, (30, 12), 1), (1_000_000, (5, 0), 1), (0, (0, 0), 0)]


def statistics(dumps: list[tuple[int, tuple[int, int], int]], *, is_reset: bool = True) -> str:
    """The blocks of stats.txt, each with what is not read too."""
    text, last = "", 10**9
    for ticks, instructions, kernels in dumps:
        last += 2 * ticks + 1000
        lines = {
            "simSeconds": 0.01,
            "simTicks": 2 * ticks + 1000 if is_reset else last,
            "finalTick": last,
            "simFreq": 1_000_000_000_000,
            "system.clk_domain.clock": PERIOD,
            "system.cpu_clk_domain.clock": 333,
            "system.cpu1.allLatencyDist::samples": 77,
            "system.cpu1.shaderActiveTicks": ticks,
            **{f"system.cpu1.CUs{unit}.numInstrExecuted": count for unit, count in enumerate(instructions)},
            "system.cpu1.CUs0.numInstrExecutedMore": 1,
            "system.pc.south_bridge.gpu.cp.dispatcher.numKernelLaunched": kernels,
        }
        rows = (
            f"{name:<40} {value:>12}                       # What it is (Count)\n"
            for name, value in lines.items()
        )
        text += f"\n---------- Begin Simulation Statistics ----------\n{''.join(rows)}\n"
        text += "---------- End Simulation Statistics   ----------\n"
    return text


def written(folder: Path, text: str, config: str | None = "") -> Path:
    """stats.txt in a folder of gem5, with its configuration: that of a full system, or as said."""
    folder.mkdir(parents=True, exist_ok=True)
    if config is not None:
        system = "[root]\ntype=Root\nfull_system=true\n\n[system.pc.south_bridge.gpu.cp]\n"
        (folder / "config.ini").write_text(config or f"{system}target_non_blit_kernel_id=4\nwalker=x\n")
    (folder / "stats.txt").write_text(text)
    return folder / "stats.txt"


def read(path: Path, *metrics: str) -> MeasuredRun:
    with open_input(str(path)) as file:
        return read_results(file, metrics)


def test_each_dump_is_a_kernel_from_the_first_that_was_not_skipped(tmp_path: Path) -> None:
    run = read(written(tmp_path, statistics(DUMPS)))
    assert (run.number.tolist(), run.first_number) == ([4, 5], 0)
    assert run.metrics["cycles"].tolist() == [7_000_000 / PERIOD, 1_000_000 / PERIOD]
    assert run.metrics["instructions"].tolist() == [42, 5]
    assert run.clock_hz == 2e9


def test_a_shader_has_a_clock_of_its_own(tmp_path: Path) -> None:
    text = statistics(DUMPS).replace("system.cpu_clk_domain.clock", "system.cpu1.clk_domain.clock")
    assert read(written(tmp_path, text)).metrics["cycles"][0] == pytest.approx(7_000_000 / 333)


@pytest.mark.parametrize(
    ("text", "config", "message"),
    [
        (statistics([(9, (1, 1), 3)]), "", "a dump is of several kernels, copies among them"),
        (statistics(DUMPS, is_reset=False), "", "or goes on from the one before"),
        (statistics(DUMPS[-1:]), "", "has no dump of a kernel"),
        (statistics(DUMPS).replace("clk_domain", "clk"), "", "has no dump of a kernel"),
        (statistics(DUMPS), None, r"no config\.ini of a full system lies beside it"),
        (statistics(DUMPS), "full_system=false\ntarget_non_blit_kernel_id=0\n", r"no config\.ini of a full"),
        (statistics(DUMPS), "full_system=true\n", r"no config\.ini of a full system"),
    ],
)
def test_what_is_no_run_of_the_export_is_refused(
    tmp_path: Path, text: str, config: str | None, message: str
) -> None:
    with pytest.raises(ProfileError, match=message):
        read(written(tmp_path, text, config))
    with pytest.raises(OptionError, match="there is no ipc"):
        read(tmp_path / "stats.txt", "ipc")


def test_kernels_are_simulated_in_ranges_and_their_total_is_estimated(
    ten: PlanFile, written_plan: Path, tmp_path: Path
) -> None:
    """The whole way: launches 2, 4, 5, 8, 9 in three runs of a stand-in for gem5."""
    out = tmp_path / "out"
    gem5 = program(tmp_path / "gem5.opt", 'mkdir -p "$2"; for word in "$@"; do echo "$word"; done > "$2/ran"')
    ran = shell(out / "run.sh", "mi300.py", "--app", "a b", GEM5=gem5)
    assert ran.returncode == 0, ran.stderr
    runs = {path.parent.name: path.read_text().splitlines()[2:] for path in (out / "results").glob("*/ran")}
    words = [str(out / "dump-kernels.py"), "mi300.py", "--app", "a b"]
    assert runs == {
        f"kernels-{first}-{last}": [
            *words,
            f"--skip-until-gpu-kernel={first}",
            f"--exit-after-gpu-kernel={last}",
        ]
        for first, last in ((2, 2), (4, 5), (8, 9))
    }
    config = "full_system=true\ntarget_non_blit_kernel_id={}\n"
    for first, count in ((2, 1), (4, 2), (8, 2)):
        dumps = [(PERIOD * (1000 + number), (9, 9), 1) for number in range(first, first + count)]
        written(
            out / "results" / f"kernels-{first}-{first + count - 1}", statistics(dumps), config.format(first)
        )
    logs = sorted(map(str, (out / "results").glob("*/stats.txt")))
    results = sampling.read_result_files(ten, logs, manifests=[str(out / "manifest.csv")])
    assert results.ids.tolist() == [2, 4, 5, 8, 9]
    assert results.metrics["cycles"].tolist() == [1002, 1004, 1005, 1008, 1009]
    assert results.caches == ("cold", "cold", "after:1", "cold", "after:1")


@pytest.fixture
def written_plan(ten: PlanFile, written: Write, tmp_path: Path) -> Path:
    files = written(ten, "gem5")
    assert set(files) == {"run.sh", "dump-kernels.py", "manifest.csv", "README.txt"}
    assert "kernelpoint estimate . results/*/stats.txt" in files["README.txt"]
    return tmp_path / "out"


M5 = '''\
"""A stand-in for gem5's own module: two copies and two kernels, then the end."""

calls = []
copied, ran, skipped = "GPU Blit Kernel Completed", "GPU Kernel Completed", "Skipping GPU Kernel"
causes = [copied, ran, skipped, ran, "end"]


class Event:
    def __init__(self, cause):
        self.getCause = lambda: cause


def simulate(*ticks):
    calls.append(("simulate", *ticks))
    return Event(causes.pop(0))


class stats:
    dump = staticmethod(lambda: calls.append("dump"))
    reset = staticmethod(lambda: calls.append("reset"))
'''
CONFIG = """\
import sys
import beside
import m5

assert __name__ == "__m5_main__"
print(sys.argv, __file__ == sys.argv[0], beside.there)
while m5.simulate(5).getCause() != "end":
    pass
print([call for call in m5.calls if isinstance(call, str)])
"""


def test_the_script_dumps_after_each_kernel_and_leaves_copies_out(written_plan: Path, tmp_path: Path) -> None:
    configs = tmp_path / "configs"
    configs.mkdir()
    (configs / "mi300.py").write_text(CONFIG)
    (configs / "beside.py").write_text("there = 1\n")
    (tmp_path / "m5.py").write_text(M5)
    gem5 = program(tmp_path / "gem5.opt", f'shift 2; PYTHONPATH="{tmp_path}" exec "{sys.executable}" "$@"')
    ran = shell(written_plan / "run.sh", configs / "mi300.py", "--app", "x", GEM5=gem5)
    assert ran.returncode == 0, ran.stderr
    words = [
        str(configs / "mi300.py"),
        "--app",
        "x",
        "--skip-until-gpu-kernel=2",
        "--exit-after-gpu-kernel=2",
    ]
    assert ran.stdout.splitlines()[:2] == [
        f"{words} True 1",
        "['reset', 'dump', 'reset', 'dump', 'reset']",
    ]
