"""A plan on another recording: fingerprints, how two align, figures against counting, what is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from sampling.errors import AnalysisError
from sampling.plan.design import make_design
from sampling.plan.drawn_launches import find_drawn_launches
from sampling.plan.judge import PlanJudgement, durations_by_rank, judge_plan
from sampling.plan.other_recording import align, made_from
from sampling.plan.plan_file import PlanFile, PlannedFile, PlannedLaunch, read_plan
from sampling.profile.identity import fingerprints
from sampling.profile.profile import Profile, ProfileFile
from sampling.readers.registry import read_profile
from sampling.reduction import GroupBy
from sampling.reduction.duration_counts import count_durations
from sampling.reduction.grouping import Grouping
from sampling.reduction.region import Region
from sampling.strata.draw import draw
from sampling.strata.target import Target
from tests.small_plans import options_of, plan_of_profile, plan_of_strata, stratum

Build = Callable[..., Profile]
Columns = dict[str, Sequence[Any]]
REPEATS, SEED = 20, 3
ALL = (Grouping(), Region())


@dataclass(frozen=True)
class Program:
    """A recording as columns: two processes with two devices each, four kernels, mixed durations."""

    names: list[str]
    process: list[int]
    device: list[int]
    grid_x: list[int]
    durations_ns: list[int]

    def columns(self) -> Columns:
        ones = [1] * len(self.names)
        shape = dict.fromkeys(("grid_y", "grid_z", "block_x", "block_y", "block_z"), ones)
        return {
            "name": self.names,
            "duration_ns": self.durations_ns,
            "process": self.process,
            "device": self.device,
            "grid_x": self.grid_x,
            **shape,
        }

    def write(self, path: Path) -> Path:
        pq.write_table(pa.table(self.columns()), path, row_group_size=170)
        return path

    def elsewhere(self, factor: float = 0.5, seed: int = 5, **changes: Any) -> Program:
        """Return another run: other durations, other process numbers."""
        noise = np.random.default_rng(seed).lognormal(0, 0.1, len(self.names))
        durations = np.rint(np.array(self.durations_ns) * factor * noise).astype(int).tolist()
        process = [{10: 71, 20: 85}[number] for number in self.process]
        return replace(self, durations_ns=durations, process=process, **changes)


@pytest.fixture(scope="module")
def program() -> Program:
    rng = np.random.default_rng(11)
    process, device = np.repeat([10, 20], 600), np.tile(np.repeat([0, 1], 300), 2)
    kernel = rng.integers(0, 4, 1200)
    mean_ns = np.array([900, 5000, 40_000, 2000])[kernel] * rng.choice([1, 3], 1200)
    return Program(
        names=[("volta_gemm", "relu", "ncclKernel_AllReduce", "copy")[code] for code in kernel],
        process=process.tolist(),
        device=device.tolist(),
        grid_x=rng.integers(1, 3, 1200).tolist(),
        durations_ns=np.rint(mean_ns * rng.lognormal(0, 0.2, 1200)).astype(int).tolist(),
    )


# What was planned of a profile before, but for its path: most tests plan the same program.
_PLANS: dict[tuple[bytes, tuple[Grouping, Region], str], str] = {}


def planned(
    path: Path, folder: Path, *, selection: tuple[Grouping, Region] | None = None, method: str = "root"
) -> PlanFile:
    """Make a plan of a profile on disk with seed 1, write it, and read it back."""
    asked, target = (path.read_bytes(), selection or ALL, method), folder / "plan.json"
    if asked not in _PLANS:
        plan_of_profile(read_profile([str(path)]), target, method, *asked[1], seed=1)
        _PLANS[asked] = target.read_text()
    document = json.loads(_PLANS[asked])
    document["profile"]["files"][0]["path"] = str(path)
    target.write_text(json.dumps(document))
    return read_plan(str(target))


def judged(plan: PlanFile, path: Path, *, names_may_differ: bool = False) -> PlanJudgement:
    recording = read_profile([str(path)])
    return judge_plan(plan, recording, repeats=REPEATS, seed=SEED, names_may_differ=names_may_differ)


SELECTIONS = {
    "all": (Grouping(), Region()),
    "pooled": (Grouping(GroupBy.NAME, pool_devices=True), Region()),
    "process": (Grouping(), Region(processes=(20,))),
    "exclude": (Grouping(), Region(exclude=("communication",))),
    "together": (Grouping(), Region((0,), (20,), ("gemm", "relu"), ("relu",), (500, 1100))),
}


def chosen_rows(program: Program, region: Region) -> list[int]:
    """Return the launches of a region, by looking at each."""
    low, high = region.launches or (0, None)
    return [
        row
        for row, name in enumerate(program.names)
        if (not region.processes or program.process[row] in region.processes)
        and (not region.devices or program.device[row] in region.devices)
        and (not region.include or any(part in name for part in region.include))
        and not any(part.replace("communication", "nccl") in name for part in region.exclude)
        and (low or 0) <= row < (len(program.names) if high is None else high)
    ]


@pytest.mark.parametrize(("name", "is_here"), [*((name, True) for name in SELECTIONS), ("pooled", False)])
def test_a_plan_stands_for_the_same_launches_elsewhere(
    name: str, is_here: bool, program: Program, tmp_path: Path
) -> None:
    """Whatever the other run calls its processes, and whether or not the plan's own profile is there."""
    path, other = program.write(tmp_path / "a.parquet"), program.elsewhere()
    selection = SELECTIONS[name]
    plan = planned(path, tmp_path, selection=selection)
    if not is_here:
        path.unlink()
    judgement = judged(plan, other.write(tmp_path / "b.parquet"))
    rows = chosen_rows(program, selection[1])
    assert len(rows) == plan.launches
    assert (len(rows) < 1200) == (selection[1] != Region())
    total_ns = sum(other.durations_ns[row] for row in rows)
    estimated_ns = sum(launch.weight * other.durations_ns[launch.id] for launch in plan.drawn)
    assert judgement.total_ns == total_ns
    assert judgement.estimate_ns == pytest.approx(estimated_ns)
    assert judgement.error == pytest.approx(abs(estimated_ns / total_ns - 1))
    assert judgement.sampled_duration_ns == sum(other.durations_ns[launch.id] for launch in plan.drawn)
    assert judgement.alignment is not None
    assert judgement.alignment.renumbered == ((10, 0, 71, 0), (10, 1, 71, 1), (20, 0, 85, 0), (20, 1, 85, 1))
    assert (judgement.redraws is not None) == is_here
    assert (judgement.why_not_redrawn is None) == is_here
    assert (judgement.bound is not None) == is_here


def launches_of_strata(program: Program, plan: PlanFile, keys: Sequence[str]) -> list[list[int]]:
    """Return the launches of each stratum: of its group, as long as it says, by looking at each."""
    return [
        [
            row
            for row, (key, duration) in enumerate(zip(keys, program.durations_ns, strict=True))
            if key == stratum.key and stratum.low_ns <= duration <= stratum.high_ns
        ]
        for stratum in plan.strata
    ]


def test_redraws_come_from_the_strata_of_the_plans_own_profile(program: Program, tmp_path: Path) -> None:
    """The mean error of many draws, beside drawing launch ids from each stratum with `choice`."""
    path, other = program.write(tmp_path / "a.parquet"), program.elsewhere(seed=8)
    selection = (Grouping(GroupBy.NAME, pool_devices=True), Region())
    plan = planned(path, tmp_path, selection=selection)
    recording = read_profile([str(other.write(tmp_path / "b.parquet"))])
    judgement = judge_plan(plan, recording, repeats=2000, seed=0)
    assert judgement.redraws is not None
    strata = launches_of_strata(program, plan, program.names)
    assert [len(rows) for rows in strata] == [stratum.size for stratum in plan.strata]
    durations = np.array(other.durations_ns)
    total_ns, rng = durations.sum(), np.random.default_rng(1)
    errors = []
    for _ in range(2000):
        drawn = [
            durations[rng.choice(rows, stratum.samples, replace=False)].mean() * stratum.size
            for rows, stratum in zip(strata, plan.strata, strict=True)
        ]
        errors.append(abs(sum(drawn) / total_ns - 1))
    assert judgement.redraws.repeats == 2000
    assert judgement.redraws.error_mean == pytest.approx(np.mean(errors), rel=0.06)
    assert judgement.redraws.error_p95 == pytest.approx(np.quantile(errors, 0.95), rel=0.08)
    expected_ns = sum(
        stratum.samples * durations[rows].mean() for rows, stratum in zip(strata, plan.strata, strict=True)
    )
    assert judgement.expected_speedup == pytest.approx(total_ns / expected_ns)


@given(
    launches=st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3), st.integers(0, 1)), min_size=1),
    by=st.sampled_from([GroupBy.LAUNCH, GroupBy.NAME]),
    excluded=st.sampled_from([(), ("c",)]),
    wide=st.booleans(),
)
def test_ranks_go_by_group_duration_and_id(
    launches: list[tuple[str, int, int]],
    by: GroupBy,
    excluded: tuple[str, ...],
    wide: bool,
    launch_table: Build,
) -> None:
    """Also where durations are too long to be packed beside their group."""
    launches = sorted([*launches, ("a", 1, 0)], key=lambda launch: launch[2])
    names, durations, device = map(list, zip(*launches, strict=True))
    unit = 2**41 if wide else 1
    profile = launch_table(names, [unit * duration for duration in durations], device=device)
    counts = count_durations(profile, Grouping(by, pool_devices=True), Region(exclude=excluded))
    elsewhere = np.arange(len(names)) + 1000
    rank = {group.name: place for place, group in enumerate(counts.groups)}
    expected = sorted(
        (rank[name], duration, row)
        for row, (name, duration) in enumerate(zip(names, durations, strict=True))
        if name not in excluded
    )
    by_rank = durations_by_rank(profile, counts, elsewhere)
    assert by_rank.tolist() == [1000 + row for _, _, row in expected]
    # What a draw calls its launch by leads to the launch that the second pass finds.
    design = make_design(counts, "random", Target(), 0)
    sample = draw(counts, design.strata, 0)
    at_rank = by_rank[counts.launches_before[sample.pair] + sample.occurrence] - 1000
    assert at_rank.tolist() == find_drawn_launches(profile, counts, sample).id.tolist()


def test_a_part_of_a_recording_that_is_gone_is_refused(program: Program, tmp_path: Path) -> None:
    path = program.write(tmp_path / "a.parquet")
    plan = planned(path, tmp_path, selection=(Grouping(), Region(devices=(1,))))
    path.unlink()
    with pytest.raises(AnalysisError, match=r"which of 1,200 here is not known; put .*a\.parquet"):
        judged(plan, program.elsewhere().write(tmp_path / "b.parquet"))


def test_the_files_of_a_plan_in_another_order_are_refused(program: Program, tmp_path: Path) -> None:
    plan = planned(program.write(tmp_path / "a.parquet"), tmp_path)
    files = tuple(PlannedFile(f"old{digest}", digest, 1) for digest in "xyzy")
    plan = structs.replace(plan, profile=structs.replace(plan.profile, files=files))
    assert not made_from(of_files("yxzy"), plan)
    with pytest.raises(AnalysisError, match="in another order; give them as oldx oldy oldz oldy"):
        judge_plan(plan, of_files("yxzy"))
    assert made_from(of_files("xyzy"), plan)


def of_files(digests: str) -> Any:
    """A profile as far as its files go."""
    return SimpleNamespace(files=[ProfileFile("f", Path("f"), 1, digest) for digest in digests])


MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15
KERNELS = ("a", "b", "c")
CYCLE = [KERNELS[index % 3] for index in range(600)]


def mixed(value: int) -> int:
    """Return SplitMix64's finaliser of a number, by Python's own integers."""
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & MASK
    return value ^ (value >> 31)


def kernel_hash(name: str, x: int) -> int:
    """Return the hash of a kernel launched as by the `launch_table` fixture: grid and block are (x, 1, 1)."""
    value = int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "little")
    ones = int(x > 0)
    for dimension in (x, ones, ones, x, ones, ones):
        value = mixed((value + dimension * GOLDEN) & MASK)
    return value


def digest_one_by_one(names: Sequence[str], grid_x: Sequence[int], piece_launches: int) -> str:
    """A launch counts by its place within its piece, times the multiplier of the piece; 1 for the first."""
    digest = 0
    for ordinal, (name, x) in enumerate(zip(names, grid_x, strict=True)):
        piece, place = divmod(ordinal, piece_launches)
        of_place, of_piece = (mixed(((number + 1) * GOLDEN) & MASK) | 1 for number in (place, piece))
        digest = (digest + kernel_hash(name, x) * of_place * (of_piece if piece else 1)) & MASK
    return f"{digest:016x}"


@pytest.mark.parametrize("launches", [1, 2, 7, 8, 49])
@pytest.mark.parametrize("piece_launches", [7, 1 << 20])
def test_a_fingerprint_is_the_sum_its_docstring_says(
    launches: int, piece_launches: int, launch_table: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sampling.profile.identity.PIECE_LAUNCHES", piece_launches)
    rng = np.random.default_rng(launches)
    names = [f"kernel{code}" for code in rng.integers(0, 5, launches)]
    grid_x = rng.integers(0, 4, launches).tolist()
    progress: list[tuple[int, int, str]] = []
    profile = launch_table(names, [1] * launches, grid_x=grid_x)
    (fingerprint,) = fingerprints(profile, lambda *message: progress.append(message))
    assert (fingerprint.launches, progress) == (launches, [(1, 1, "comparing launches")])
    assert fingerprint.digest == digest_one_by_one(names, grid_x, piece_launches)


def test_a_fingerprint_stays_what_it_is(launch_table: Build) -> None:
    """Plan files hold it: another value here means that plans already written align with nothing."""
    (fingerprint,) = fingerprints(launch_table(["void f<int>(int)", "µ"], [5, 6], grid_x=[8, 0]))
    assert asdict(fingerprint) == {"process": 0, "device": 0, "launches": 2, "digest": "c4bcffcc6a5d0463"}


def recorded(original: Profile, *launches: PlannedLaunch) -> PlanFile:
    """Return what a plan file knows of a recording."""
    of_all = stratum("k", original.launches, 1.0, 0.0, launches)
    return plan_of_strata([of_all], options_of(), sequences=fingerprints(original))


def drawn_launch(launch_id: int, name: str) -> PlannedLaunch:
    """Return a launch of CYCLE as a plan has it: every third launch is the same kernel."""
    return PlannedLaunch(launch_id, 0, 0, launch_id, name, None, None, launch_id // 3, 1.0, 1)


def parting(plan: PlanFile, profile: Profile, original: Profile | None = None, **options: bool) -> str:
    """Return what is said of two recordings that do not align."""
    with pytest.raises(AnalysisError) as caught:
        align(plan, profile, original, **options)
    return str(caught.value)


def kernel(name: str) -> str:
    return f"'{name}' grid unknown block unknown"


def test_the_same_launches_align_whatever_their_numbers(launch_table: Build) -> None:
    device = [0] * 300 + [1] * 300
    original = launch_table(CYCLE, range(600), process=[0] * 300 + [5] * 300, device=device)
    renumbered = launch_table(CYCLE, [3] * 600, process=[7] * 300 + [8] * 300, device=device)
    for recording in (original, None):
        alignment = align(recorded(original), renumbered, recording)
        assert alignment.renumbered == ((0, 0, 7, 0), (5, 1, 8, 1))
        assert alignment.launches_differing == 0
        assert align(recorded(original), original, recording).renumbered == ()


def test_an_inserted_launch_is_named(launch_table: Build) -> None:
    original = launch_table(CYCLE, [1] * 600)
    longer = launch_table([*CYCLE[:298], "new", *CYCLE[298:]], [1] * 601)
    message = "has 601 launches here, 600 in the plan's recording; "
    named = f"{message}launch 298 is {kernel('new')} here, {kernel(CYCLE[298])} in the plan"
    assert named in parting(recorded(original), longer, original)
    assert f"{message}they part at launches" in parting(recorded(original), longer)
    assert named in parting(recorded(original, drawn_launch(298, CYCLE[298])), longer)


def test_the_sequence_that_parts_is_named(launch_table: Build) -> None:
    """Ids run through the sequences, so launch 5 of the second one is launch 305."""
    process = [1] * 300 + [2] * 300
    original = launch_table(CYCLE, [1] * 600, process=process)
    changed = launch_table([*CYCLE[:305], "new", *CYCLE[306:]], [1] * 600, process=[1] * 300 + [9] * 300)
    message = parting(recorded(original), changed, original)
    assert message.startswith("process 9 device 0 (process 2 device 0 in the plan): launch 305 is 'new'")
    assert "give `names_may_differ`" in message


def test_by_order_only_numbers_of_launches_count(launch_table: Build) -> None:
    names = list(CYCLE)
    for place in (0, 7, 8, 599):
        names[place] = "new"
    original, renamed = launch_table(CYCLE, [1] * 600), launch_table(names, [1] * 600)
    alignment = align(recorded(original), renamed, original, names_may_differ=True)
    assert alignment.launches_differing == 4
    assert align(recorded(original), renamed, names_may_differ=True).launches_differing is None
    assert align(recorded(original), original, names_may_differ=True).launches_differing == 0
    shorter = launch_table(names[:-1], [1] * 599)
    assert "launch 0 is 'new' grid" in parting(recorded(original), shorter, original)
    for is_here in (True, False):
        message = parting(recorded(original), shorter, original if is_here else None, names_may_differ=True)
        assert message == (
            "process 0 device 0 has 599 launches here, 600 in the plan's recording; record the same program "
            "again with the same input and settings, or make a plan of this recording; if it is of another "
            "GPU, make the plan by operator, and match by it: `kernelpoint judge --align operator`"
        )


@given(
    kernels=st.lists(st.sampled_from(KERNELS), min_size=1, max_size=20),
    other=st.lists(st.sampled_from(KERNELS), min_size=1, max_size=20),
)
def test_the_first_difference_is_the_one_a_loop_finds(
    kernels: list[str], other: list[str], launch_table: Build
) -> None:
    original, profile = (launch_table(names, [1] * len(names)) for names in (kernels, other))
    plan = recorded(original)
    if kernels == other:
        assert align(plan, profile).launches_differing == 0
        return
    pairs = zip(kernels, other, strict=False)
    expected = next(
        (place for place, (kernel, two) in enumerate(pairs) if kernel != two), min(len(kernels), len(other))
    )
    match = re.search(r"launch (\d+) is", parting(plan, profile, original))
    assert match is not None
    assert int(match.group(1)) == expected
