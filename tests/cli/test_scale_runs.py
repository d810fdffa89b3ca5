"""`scale predict --run`: from what a simulator printed on two GPUs to a larger one."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from scalemodel.errors import OptionError
from tests.cli.conftest import JSON, Kernelpoint, results
from tests.sampling.readers.test_simulator_log import BANNER, block
from tui.options.command_line import command_line
from tui.output.writer import Canvas
from tui.scale.sheet import answer_of, farewell, made_up_tables, read_sheets, tables_of

#: Name, blocks, and cycles at 8, 16 and 32 SMs, which are 100 + 50 a wave, and of a kernel of one block.
LAUNCHES = [
    ("_Z3bigPf", 128, (900, 500, 300)),
    ("_Z3onePf", 1, (40, 40, 40)),
    ("_Z3bigPf", 128, (900, 500, 300)),
]


def log_of(place: int, launches: list[tuple[str, int, tuple[int, ...]]] = LAUNCHES) -> str:
    text = BANNER
    for number, (name, blocks, cycles) in enumerate(launches, start=1):
        text += f"-kernel name = {name}\n-kernel id = {number}\n"
        text += f"-grid dim = ({blocks},1,1)\n-block dim = (32,1,1)\n"
        text += block(name, str(number), cycles[place], 1000 * blocks)
    return text


@pytest.fixture
def logs(tmp_path: Path) -> dict[int, Path]:
    paths = {size: tmp_path / f"{size}.log" for size in (8, 16, 32)}
    for place, path in enumerate(paths.values()):
        path.write_text(log_of(place))
    return paths


def test_two_logs_give_a_larger_gpu_launch_by_launch(kernelpoint: Kernelpoint, logs: dict[int, Path]) -> None:
    words = [word for size, path in logs.items() for word in ("--run", f"{size}={path}")]
    run = kernelpoint("scale", "predict", *words, "--target", "32,128", "--kernels", *JSON)
    assert run.code == 0, run.err
    near, far = run.results["predictions"]
    assert (near["cycles"], near["measured"], near["error"]) == (640, 640, 0)
    assert (near["low"], near["high"]) == (pytest.approx(576), pytest.approx(704))
    assert near["ipc"] == pytest.approx(257_000 / 640)
    # From 16 and 32: one wave of 128 SMs is 150, and the one block stays; two doublings further.
    assert (far["from"], far["cycles"], far["scale_error"]) == ([16, 32], 340, pytest.approx(0.2))
    assert [(row["kernel"], row["launches"], row["limit"]) for row in run.results["kernels"]] == [
        ("_Z3bigPf", 2, "its waves get fewer"),
        ("_Z3onePf", 1, "too few thread blocks"),
    ]
    shown = kernelpoint("scale", "predict", *words, "--target", "32").out
    assert shown.startswith("32 SMs: 640 cycles, 576 to 704, launch by launch from 8 and 16 SMs")
    assert "--kernels gives a row" in shown


def test_the_drawn_launches_of_a_plan_are_enough(
    kernelpoint: Kernelpoint, logs: dict[int, Path], tmp_path: Path
) -> None:
    plan = tmp_path / "plan.json"
    assert kernelpoint("sample", logs[8], "--judge", "0", "-o", plan).code == 0
    words = ["--run", f"8={logs[8]}", "--run", f"16={logs[16]}", "--target", "32"]
    run = kernelpoint("scale", "predict", "--plan", plan, *words, "--kernels", *JSON)
    assert run.code == 0, run.err
    (found,) = run.results["predictions"]
    assert found["cycles"] == pytest.approx(640)
    assert found["sampling_error"] is not None
    # Each stands for the launches that it was drawn for.
    assert [(row["launches"], row["cycles"]) for row in run.results["kernels"]] == [(2, 600), (1, 40)]
    assert found["low"] <= 576.1
    assert found["high"] >= 703.9


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--run", "8={8}", "--run", "16={16}"), "--target 32,64,128"),
        (("--run", "8={8}", "--target", "32"), "there is one; give --run SIZE=LOG"),
        (("--run", "8={8}", "--run", "8={16}", "--target", "32"), "two runs are of 8 SMs"),
        (("--run", "x={8}", "--target", "32"), "is not SIZE=LOG"),
        (("--run", "{8}", "--target", "32"), "prints no configuration, so its number of SMs is not known"),
        (("{8}",), "give it as --run SIZE=LOG"),
        (("--run", "8={8}", "--run", "16={16}", "--mpki", "16=9"), "--mpki is of the rules for whole runs"),
        (("--run", "8={8}", "--run", "16={16}", "--rule", "linear", "--kernels"), "--kernels is of runs"),
        (("--run", "8={8}", "--rule", "linear", "--ipc", "8=1"), "--ipc or --mpki and --run are given"),
    ],
)
def test_what_is_missing_is_named(
    kernelpoint: Kernelpoint, logs: dict[int, Path], words: tuple[str, ...], said: str
) -> None:
    filled = [word.replace("{8}", str(logs[8])).replace("{16}", str(logs[16])) for word in words]
    run = kernelpoint("scale", "predict", *filled)
    assert run.code == 2
    assert said in run.err


CONFIGURATION = """
-gpgpu_n_clusters {sms} # clusters
-gpgpu_n_cores_per_cluster 1
-gpgpu_clock_domains 1132.0:1132.0:1132.0:850.0
-gpgpu_shader_registers 65536
"""


def printed_log(place: int, sms: int) -> str:
    """A log that prints its configuration, and what its schedulers waited for."""
    stalls = "Stall:100\tW0_Idle:100\tW0_Scoreboard:200\tW1:0\tW32:100\n"
    return BANNER + CONFIGURATION.format(sms=sms) + log_of(place)[len(BANNER) :] + stalls


@pytest.fixture
def printed(logs: dict[int, Path]) -> dict[int, Path]:
    for place, (size, path) in enumerate(logs.items()):
        path.write_text(printed_log(place, size))
    return logs


REFUSED = {
    "another clock: -gpgpu_clock_domains is 1000.0:1132.0": ("1132.0:1132.0", "1000.0:1132.0"),
    "other resources of an SM, a slice or a launch: -gpgpu_shader": ("registers 65536", "registers 32768"),
    "the configuration it prints has 12 SMs, not 16": ("clusters 16", "clusters 12"),
    "another program: none of its kernels": ("_Z3", "_Z4"),
    "launch 2 is _Z3bigPf (64, 1, 1), and _Z3bigPf (128": ("= 3\n-grid dim = (128", "= 3\n-grid dim = (64"),
}


@pytest.mark.parametrize("said", REFUSED)
def test_runs_that_do_not_belong_together_are_refused_by_name(
    kernelpoint: Kernelpoint, printed: dict[int, Path], said: str
) -> None:
    old, new = REFUSED[said]
    text = printed[16].read_text()
    assert old in text
    printed[16].write_text(text.replace(old, new))
    words = ("scale", "predict", "--run", printed[8], "--run", f"16={printed[16]}", "--target", "32")
    assert said in kernelpoint(*words).failed(3)
    printed[16].write_text(text[: text.rindex("kernel_name")])
    cut = kernelpoint(*words, "--seed", "1").failed(3)
    assert "cut off: its last launch has begun and not ended" in cut


def test_sizes_are_read_from_the_configuration(kernelpoint: Kernelpoint, printed: dict[int, Path]) -> None:
    words = [word for path in printed.values() for word in ("--run", path)]
    found = results(kernelpoint, "scale", "predict", *words, "--target", "32")
    assert [each["size"] for each in found["runs"]] == [8, 16, 32]
    assert found["predictions"][0]["error"] == 0
    assert kernelpoint("scale", "open", *printed.values()).out.startswith("32 SMs: 640 cycles")


def test_a_table_is_a_run_and_a_rule_takes_the_whole(
    kernelpoint: Kernelpoint, printed: dict[int, Path], tmp_path: Path
) -> None:
    table = tmp_path / "16.csv"
    grids = ((128, 1, 1), (1, 1, 1), (128, 1, 1))
    rows = [
        f'{row},{name},"{grid}",{cycles[1]},{1000 * blocks}\n'
        for row, ((name, blocks, cycles), grid) in enumerate(zip(LAUNCHES, grids, strict=True))
    ]
    table.write_text("id,name,grid,cycles,instructions\n" + "".join(rows))
    asked = ("scale", "predict", "--run", printed[8], "--run", f"16={table}", "--target", "32")
    run = kernelpoint(*asked, *JSON)
    assert run.code == 0, run.err
    assert run.results["predictions"][0]["cycles"] == 640
    (row,) = kernelpoint(*asked, "--rule", "linear", *JSON).results["predictions"]
    # IPC of the whole: 257,000 over 1,840 and 1,040 cycles.
    assert row["ipc"] == pytest.approx(257_000 * (3 / 1040 - 2 / 1840))
    assert "a table does not say" in kernelpoint(*asked[:5], table, "--target", "32").failed(2)


def test_validate_takes_folders_of_runs(kernelpoint: Kernelpoint, printed: dict[int, Path]) -> None:
    folder = printed[8].parent
    results = kernelpoint("scale", "validate", folder, "--rule", "additive", *JSON).results
    assert list(results) == ["waves", "additive"]
    assert results["waves"]["32"]["max"] == pytest.approx(0)
    assert results["additive"]["32"]["max"] > 0.02
    assert kernelpoint("scale", "validate", folder, *JSON).json["warnings"] == []
    (folder / "alone.log").write_text(printed_log(0, 8).replace("_Z3", "_Z4"))
    again = kernelpoint("scale", "validate", folder, "--rule", "additive")
    assert "/alone.log: note: No IPC above the scale models" in again.out
    (folder / "empty").mkdir()
    assert "has no log of a simulator" in kernelpoint("scale", "validate", folder / "empty").failed(2)
    assert "without tables" in kernelpoint("scale", "validate", folder, "--scaling", "weak").failed(2)


def test_view_5_holds_runs(kernelpoint: Kernelpoint, printed: dict[int, Path]) -> None:
    tables = tables_of(read_sheets([str(printed[8]), str(printed[16])]))
    answer = answer_of(tables)
    measurements, outcome = answer.measurements, answer.outcome
    assert [row.size for row in tables.sheet.rows] == ["8", "16", "32", "64"]
    assert [each.method for each in outcome.predictions] == ["waves"] * 2
    assert outcome.predictions[0].ipc == pytest.approx(257_000 / 640)
    assert measurements.simulated_sizes == (8, 16)
    assert answer.command.run == (f"8={printed[8]}", f"16={printed[16]}")
    assert any("too few thread blocks" in line for line in answer.words(80))
    line = shlex.split(command_line("scale predict", answer.command))
    shown = kernelpoint(*line[1:], "--width", "80").out
    assert shown == answer.text(answer.asked, Canvas(80, color=False)) + "\n"
    assert farewell(tables) == f"64 SMs: IPC {257_000 / 440:.4g} by waves\n{shlex.join(line)}"
    by_rule = replace(tables, how=tables.how.with_next_rule(has_runs=True))
    assert answer_of(by_rule).outcome.predictions[0].method == "additive"
    edited = tables.edited(tables.sheet.with_cell(0, "ipc", "1"))
    with pytest.raises(OptionError, match="the runs as they were read alone"):
        answer_of(edited)
    assert replace(made_up_tables(), how=tables.how).rule == "additive"
