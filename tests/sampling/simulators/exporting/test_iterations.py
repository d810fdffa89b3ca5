"""How often a kernel was launched before a drawn launch, whatever its sizes."""

from __future__ import annotations

import dataclasses
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sampling
from sampling.plan.plan_file import PlanFile
from sampling.simulators.rocprofv3 import iterations
from tests.sampling.simulators.conftest import launch, plan_of, stratum

HEADER = (
    "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),"
    "Bytes (MB),Throughput (MBps),SrcMemKd,DstMemKd,Device,Ctx,Strm,Name\n"
)


def of_launches(folder: Path, kernels: list[tuple[str, int]], devices: int = 1) -> PlanFile:
    """A plan of a profile with these names and grids, on devices in turn, in which all launches are drawn."""
    path = folder / "trace.csv"
    lines = [
        f"{1000 * place},{10 + place},{place},{grid},1,1,64,1,1,32,0.000,0.000,,,,,"
        f'GPU ({place % devices}),1,7,"{name}"\n'
        for place, (name, grid) in enumerate(kernels)
    ]
    path.write_text(HEADER + "".join(lines))
    made = sampling.make_plan(
        sampling.read_profile(path), method="random", settings=[f"random.launches={len(kernels)}"]
    )
    target = folder / "plan.json"
    sampling.write_plan(made, str(target))
    return sampling.read_plan(str(target))


def test_sizes_of_one_kernel_are_counted_together_from_the_profile(tmp_path: Path) -> None:
    kernels = [("f", 1), ("f", 2), ("g", 1), ("f", 1), ("f", 2), ("g", 9), ("f", 3), ("h", 1), ("f", 1)]
    plan = of_launches(tmp_path, kernels)
    seen: Counter[str] = Counter()
    wanted = {}
    for launch_id, (name, _) in enumerate(kernels):
        seen[name] += 1
        wanted[launch_id] = seen[name]
    assert iterations(plan) == (wanted, "")
    (tmp_path / "trace.csv").unlink()
    known, why_not = iterations(plan)
    assert known == {}
    assert "is not there" in why_not


def single(name: str, ordinal: int, occurrence: int, grid: int) -> PlanFile:
    each = launch(ordinal, occurrence, name, grid=(grid, 1, 1))
    key = f"{name} <<<{grid}x1x1, 128x1x1>>> process 0 device 0"
    return plan_of(stratum(key, 5, 1, 1, [each]), method="root")


def test_a_kernel_of_one_size_needs_no_profile() -> None:
    f, g, other_g = (single(*each).strata[0] for each in (("f", 7, 3, 1), ("g", 2, 0, 1), ("g", 3, 0, 2)))
    assert iterations(plan_of(f, g, method="root")) == ({7: 4, 2: 1}, "")
    known, why_not = iterations(plan_of(f, g, other_g, method="root"))
    assert known == {7: 4}
    assert why_not


def test_a_plan_that_may_leave_sizes_out_says_nothing() -> None:
    """A filter, picks that are not random, and strata of several kernels hide sizes that were launched."""
    (f,) = single("f", 7, 3, 1).strata
    assert iterations(plan_of(f, method="pks"))[0] == {}
    assert iterations(plan_of(f, method="root", exclude=["x"]))[0] == {}
    assert iterations(plan_of(f, method="root", group_by="name"))[0] == {}
    pooled = dataclasses.replace(f, key="pooled process 0 device 0")
    assert iterations(plan_of(f, pooled, method="root"))[0] == {}


@given(
    kernels=st.lists(st.tuples(st.sampled_from("fg"), st.integers(1, 2)), min_size=4, max_size=20),
    devices=st.integers(1, 2),
)
def test_any_order_of_sizes(
    tmp_path_factory: pytest.TempPathFactory, kernels: list[tuple[str, int]], devices: int
) -> None:
    plan = of_launches(tmp_path_factory.mktemp("profile"), kernels, devices)
    found, why_not = iterations(plan)
    assert not why_not
    assert len(plan.drawn) == len(kernels)
    for each in plan.drawn:
        names = [name for name, _ in kernels[each.device :: devices]]
        assert found[each.id] == names[: each.ordinal + 1].count(each.name)
