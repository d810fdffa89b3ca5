"""Results back to the launches of a plan."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from sampling.errors import ProfileError
from sampling.simulators.measured_run import is_same_name
from sampling.simulators.results import SimulatedLaunches, read_result_files
from tests.sampling.simulators.conftest import printed
from tests.small_plans import plan_of

STEP, LAST = ("_Z4stepPf", (4, 1, 1)), ("_Z4lastPf", (2, 1, 1))


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., list[str]]:
    def write(*texts: str) -> list[str]:
        paths = [tmp_path / f"run-{number}.log" for number in range(len(texts))]
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text)
        return [str(path) for path in paths]

    return write


Written = Callable[..., list[str]]


def cycles_of(found: SimulatedLaunches) -> dict[int, float]:
    return dict(zip(found.ids.tolist(), found.metrics["cycles"].tolist(), strict=True))


def test_trace_numbers_are_ids_counted_from_1_in_gzip_without_an_end_too(tmp_path: Path) -> None:
    plan = plan_of([(3, *STEP), (8, *LAST)], whole=20)
    path = tmp_path / "run.log.gz"
    text = printed((4, STEP, 100), (9, LAST, 50)).encode()
    for content in (text, gzip.compress(text), gzip.compress(text + bytes(1000), mtime=0)[:-9]):
        path.write_bytes(content)
        found = read_result_files(plan, [str(path)])
        assert cycles_of(found) == {3: 100, 8: 50}
        assert found.metrics["instructions"].tolist() == [100, 50]
        assert found.notes == ()


def test_a_launch_without_a_number_is_left_out(written: Written) -> None:
    text = printed((4, STEP, 100), (9, LAST, 50))
    plan = plan_of([(3, *STEP), (8, *LAST)], whole=20)
    found = read_result_files(plan, written(text[text.index("kernel_name") :]))
    assert cycles_of(found) == {8: 50}
    assert found.notes[1] == "1 launch of the plan is not in the results: 3"
    with pytest.raises(ProfileError, match="which launch is which"):
        read_result_files(plan, written(printed((4, STEP, 100)).partition("kernel_launch")[2]))


def test_a_launch_that_was_cut_is_a_gap_until_it_is_whole(written: Written) -> None:
    plan = plan_of([(3, *STEP), (8, *LAST)], whole=20)
    whole = printed((4, STEP, 100), (9, LAST, 50))
    killed = whole[: whole.rindex("gpu_sim_cycle")]
    found = read_result_files(plan, written(killed))
    assert found.ids.tolist() == [3, 8]
    assert np.isnan(found.metrics["cycles"]).tolist() == [False, True]
    assert "1 launch (8): the output ends before it does" in found.notes[0]
    again = read_result_files(plan, written(killed, printed((9, LAST, 50))))
    assert cycles_of(again) == {3: 100, 8: 50}


@pytest.mark.parametrize(
    ("launches", "said"),
    [
        (
            [(4, LAST, 100)],
            r"3 is step\(float\*\) <<<4x1x1, 32x8x1>>> in the plan, and number 4 there is last\(float\*\)",
        ),
        ([(4, ("_Z4stepPf", (5, 1, 1)), 100)], "in the plan, and number 4 there is"),
        ([(5, STEP, 100)], "none of the plan's 2 launches"),
        ([(4, STEP, 100), (21, STEP, 100)], "a launch 21, and the plan's profile 20 launches"),
        ([(4, STEP, 100), (4, STEP, 100)], "launch 3 is there twice"),
        ([(0, STEP, 100)], "numbered from 1"),
    ],
)
def test_results_of_another_plan_are_refused(
    written: Written, launches: list[tuple[int, tuple[str, tuple[int, int, int]], int]], said: str
) -> None:
    plan = plan_of([(3, *STEP), (8, *LAST)], whole=20)
    with pytest.raises(ProfileError, match=said):
        read_result_files(plan, written(printed(*launches)))


def test_results_have_the_clock_that_all_logs_print(written: Written) -> None:
    plan = plan_of([(3, *STEP), (8, *LAST)], whole=20)
    clock = "-gpgpu_clock_domains {}:1132.0:1132.0:850.0 # in MHz\n"
    first, second = printed((4, STEP, 100)), printed((9, LAST, 50))
    for domains, hz in ((("", ""), None), ((1132, 1132), 1132e6), ((1132, ""), 1132e6), ((1132, 1200), None)):
        texts = [
            f"{clock.format(core) if core else ''}{log}"
            for core, log in zip(domains, (first, second), strict=True)
        ]
        found = read_result_files(plan, written(*texts))
        assert found.clock_hz == hz
        several = "the results are of several clocks (1132, 1200 MHz), so that their cycles are no time"
        assert (several in found.notes) is (domains == (1132, 1200))


def test_a_csv_has_launch_ids(written: Written) -> None:
    plan = plan_of([(3, *STEP), (8, *LAST)], whole=20)
    found = read_result_files(plan, written("id,cycles,misses\n3,10,1\n8,20,2\n5,1,1\n"), metrics=("misses",))
    assert found.ids.tolist() == [3, 8]
    assert {name: each.tolist() for name, each in found.metrics.items()} == {
        "cycles": [10, 20],
        "misses": [1, 2],
    }


MANIFEST = (
    "id,simulator_id,stratum,weight,warm_up,shard,order,name\n"
    "7,kernel-8,,0,1,1,1,\n8,kernel-9,0,5.0,0,1,2,_Z4lastPf\n"
    "3,kernel-4,0,5.0,0,1,4,_Z4stepPf\n2,kernel-3,,0,1,1,3,\n"
    "8,kernel-9-model.layers.12,,0,1,2,1,\n9,kernel-10-ctx_0x5f,1,2.0,0,2,2,_Z4stepPf\n"
)


@pytest.fixture
def manifest(tmp_path: Path) -> str:
    path = tmp_path / "manifest.csv"
    path.write_text(MANIFEST)
    return str(path)


def test_warm_ups_of_a_manifest_count_for_nothing(written: Written, manifest: str) -> None:
    """Launch 8 is drawn in the first shard and runs once more in the second, before launch 9."""
    plan = plan_of([(3, *STEP), (8, *LAST), (9, *STEP)], whole=20)
    first = printed((8, STEP, 1), (9, LAST, 50), (3, STEP, 1), (4, STEP, 100))
    second = printed((9, LAST, 77), (10, STEP, 30))
    found = read_result_files(plan, written(first, second), manifests=[manifest])
    assert cycles_of(found) == {3: 100, 8: 50, 9: 30}
    with pytest.raises(ProfileError, match="launch 8 is there twice"):
        read_result_files(plan, written(first, second))
    # Killed within its first kernel, a run is still known by what it has begun.
    cut = read_result_files(
        plan, written(second[: second.rindex("kernel_name")], first), manifests=[manifest]
    )
    assert cycles_of(cut)[8] == 50


def test_a_run_of_another_order_than_the_manifests_is_refused_where_it_matters(
    written: Written, manifest: str
) -> None:
    plan = plan_of([(3, *STEP), (8, *LAST), (9, *STEP)], whole=20)
    assert cycles_of(
        read_result_files(plan, written(printed((4, STEP, 5), (10, STEP, 6))), manifests=[manifest])
    ) == {3: 5, 9: 6}
    with pytest.raises(ProfileError, match="launch 9 is a warm-up too"):
        read_result_files(plan, written(printed((4, STEP, 5), (9, LAST, 6))), manifests=[manifest])
    with pytest.raises(ProfileError, match="are not those of"):
        read_result_files(plan, written(printed((14, STEP, 5))), manifests=[manifest])


def test_processes_that_launch_the_same_are_told_apart_by_their_manifests(
    written: Written, tmp_path: Path
) -> None:
    """Launch 3 of process 7 and launch 13 of process 8 are both the fourth of their process."""
    one, other = plan_of([(3, *STEP)], whole=10), plan_of([(13, *STEP)], process=8, first_id=10, whole=10)
    sequences = one.profile.sequences + other.profile.sequences
    profile = structs.replace(one.profile, sequences=sequences)
    plan = structs.replace(one, strata=one.strata + other.strata, profile=profile)
    manifests = [tmp_path / name for name in ("one.csv", "other.csv")]
    for path, launch in zip(manifests, (3, 13), strict=True):
        path.write_text(f"id,simulator_id\n{launch},kernel-4\n")
    paths, lists = written(printed((4, STEP, 50)), printed((4, STEP, 90))), [str(path) for path in manifests]
    assert cycles_of(read_result_files(plan, paths, manifests=lists)) == {3: 50, 13: 90}
    assert cycles_of(read_result_files(plan, paths[::-1], manifests=lists)) == {3: 90, 13: 50}
    with pytest.raises(ProfileError, match="can be 2 different ones"):
        read_result_files(plan, paths[:1], manifests=lists)
    with pytest.raises(ProfileError, match="2 processes and devices"):
        read_result_files(plan, paths)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("simulator_id", "number", "no column simulator_id"),
        ("8,kernel-9", "x,kernel-9", "row 3"),
        ("shard", "caches", "row 2, column caches"),
    ],
)
def test_a_manifest_that_is_none_is_refused(
    written: Written, tmp_path: Path, old: str, new: str, said: str
) -> None:
    path = tmp_path / "manifest.csv"
    path.write_text(MANIFEST.replace(old, new, 1))
    with pytest.raises(ProfileError, match=said):
        read_result_files(plan_of([(3, *STEP)]), written(printed((4, STEP, 5))), manifests=[str(path)])


@given(st.data())
def test_any_part_of_a_plan_simulated_in_any_order_has_its_own_cycles(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """The cycles of a launch are 10 times its id + 1, whatever file and place it is in."""
    ids = data.draw(st.lists(st.integers(0, 60), min_size=1, max_size=12, unique=True))
    run = data.draw(st.permutations(sorted({*ids, *data.draw(st.sets(st.integers(0, 60), max_size=8))})))
    cut = data.draw(st.integers(0, len(run)))
    folder = tmp_path_factory.mktemp("runs")
    paths = []
    for number, part in enumerate((run[:cut], run[cut:])):
        if part:
            path = folder / str(number)
            path.write_text(printed(*((each + 1, STEP, 10 * each + 1) for each in part)))
            paths.append(str(path))
    found = read_result_files(plan_of([(each, *STEP) for each in sorted(ids)], whole=61), paths)
    assert cycles_of(found) == {each: 10 * each + 1 for each in sorted(ids)}
    assert len(found.notes) == (len(run) > len(ids))


@pytest.mark.parametrize(
    ("planned", "traced", "is_same"),
    [
        ("vecadd(const float *, const float *, float *, int)", "_Z6vecaddPKfS0_Pfi", True),
        ("vecadd", "_Z6vecaddPKfS0_Pfi", True),
        ("_Z6vecaddPKfS0_Pfi", "vecadd(float const*, float const*, float*, int)", True),
        ("add", "_Z6vecaddPKfS0_Pfi", False),
        ("void f<(int)4>(float *)", "_Z1fILi4EEvPf", True),
        ("void f<(int)8>(float *)", "_Z1fILi4EEvPf", False),
        ("f", "_Z1fILi4EEvPf", True),
        ("void f<4>(float*)", "void f<(int)4>(float *)", True),
        ("memset", "memcpy", False),
    ],
)
def test_spellings(planned: str, traced: str, is_same: bool) -> None:
    assert is_same_name(planned, traced) is is_same
