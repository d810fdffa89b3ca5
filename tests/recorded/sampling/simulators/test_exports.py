"""Plans of real runs handed to the simulators that made them: the same traces, by the same numbers."""

from __future__ import annotations

import csv
import gzip
import io
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

import sampling
from sampling.plan.plan_file import PlanFile
from sampling.simulators.export import ExportChoices
from sampling.simulators.measured_run import is_same_name
from sampling.simulators.registry import export_plan
from tests.recorded.sampling.simulators.test_simulator_runs import launches_of
from tests.sampling.simulators import plain_l2

_KERNEL = re.compile(r"kernel-(\d+)\.traceg")


@pytest.fixture
def plan_of(tmp_path: Path, runs: Path) -> Callable[..., PlanFile]:
    """Return a plan of the profile that one simulated run stands for."""

    def plan(run: str, **asked: object) -> PlanFile:
        profile = sampling.read_profile(runs / f"{run}.gpu-trace.csv")
        path = tmp_path / "plan.json"
        sampling.write_plan(sampling.make_plan(profile, sampling.PlanRequest(**asked)), path)  # type: ignore[arg-type]
        return sampling.read_plan(path)

    return plan


def kernels(text: str) -> list[int]:
    return [int(found[1]) for line in text.splitlines() if (found := _KERNEL.fullmatch(line))]


@pytest.mark.parametrize("caches", ["cold", "after:1"])
def test_a_list_names_the_traces_of_the_launches(
    runs: Path, plan_of: Callable[..., PlanFile], caches: str
) -> None:
    """The simulator's own table of that run counts launches from 1, as traces are numbered."""
    plan = plan_of("trace-8", method="random", set=("random.launches=6",))
    files = dict(export_plan(plan, "accel-sim", ExportChoices(traces=str(runs / "traces"), caches=caches)))
    listed = kernels(files["kernelslist.g"])
    simulated = launches_of(runs / "trace-8.launches.csv")
    drawn = {each.id: each for each in plan.drawn}
    manifest = list(csv.DictReader(io.StringIO(files["manifest.csv"])))
    assert [f"kernel-{number}" for number in listed] == [row["simulator_id"] for row in manifest]
    weighed = 0.0
    for number, row in zip(listed, manifest, strict=True):
        assert (runs / "traces" / f"kernel-{number}.traceg.gz").is_file() or (
            runs / "traces" / f"kernel-{number}.traceg"
        ).is_file()
        if row["warm_up"] == "0":
            launch = drawn.pop(int(row["id"]))
            assert launch.name == simulated[number]["kernel"]
            assert launch.duration_ns == int(simulated[number]["cycles"])
            weighed += float(row["weight"])
    assert not drawn
    assert weighed == 24
    copies = [line for line in files["kernelslist.g"].splitlines() if line.startswith("MemcpyHtoD")]
    assert copies == [
        line for line in (runs / "traces" / "kernelslist.g").read_text().splitlines() if "Memcpy" in line
    ]


def test_what_is_left_in_l2_of_real_traces(
    runs: Path, plan_of: Callable[..., PlanFile], tmp_path: Path
) -> None:
    """As an L2 that is written plainly holds it; the copies of the program are above 4 GiB and do nothing."""
    plan = plan_of("trace-8", method="random", set=("random.launches=6",))
    texts = []
    for number in range(1, 25):
        file = runs / "traces" / f"kernel-{number}.traceg"
        packed = file.with_name(f"{file.name}.gz")
        data = file.read_bytes() if file.exists() else gzip.decompress(packed.read_bytes())
        texts.append((file.name, data.decode()))
    files = dict(export_plan(plan, "accel-sim", ExportChoices(traces=str(runs / "traces"))))
    drawn = {f"kernel-{launch.id + 1}.traceg" for launch in plan.drawn}
    assert str(files["kernelslist.g"]).splitlines() == plain_l2.list_of(texts, drawn)
    assert drawn < set(files), "each is written anew, with low addresses"


def test_kernels_for_macsim_are_written_as_those_that_it_ran(
    runs: Path, plan_of: Callable[..., PlanFile]
) -> None:
    plan = plan_of("trace-8", method="random", set=("random.launches=24",))
    text = dict(export_plan(plan, "macsim"))["kernel_config.txt"]
    by_hand = (runs / "macsim-sel" / "kc_one.txt").read_text()
    lines = text.splitlines(keepends=True)
    assert "".join([*lines[:3], "./Kernel2/trace.txt\n"]) == by_hand
    assert "./Kernel2/trace.txt\n" in lines


@pytest.mark.parametrize(
    ("name", "kernels_there"),
    [
        ("h100x2-transformer-nsys2026.2", 41),
        ("h100x2-training-overlap-nsys2026.2", 27),
        ("a100-nerf-nsys2021.5", 116),
        ("a40-a100-cutlass-nsys2023.2", 1),
    ],
)
def test_a_name_is_that_of_its_own_mangled_form_alone(
    shared_data: Path, name: str, kernels_there: int
) -> None:
    """Nsight Systems recorded both spellings of each kernel; a tracer writes the mangled one."""
    path = shared_data / "nsys-sqlite" / f"{name}.sqlite"
    with closing(sqlite3.connect(f"file:{path}?immutable=1", uri=True)) as recording:
        both = recording.execute(
            "SELECT DISTINCT d.value, m.value FROM CUPTI_ACTIVITY_KIND_KERNEL k"
            " JOIN StringIds d ON d.id = k.demangledName JOIN StringIds m ON m.id = k.mangledName"
        ).fetchall()
    assert len(both) == kernels_there
    for place, (planned, _) in enumerate(both):
        assert [is_same_name(planned, mangled) is not False for _, mangled in both] == [
            other == place for other in range(len(both))
        ]
