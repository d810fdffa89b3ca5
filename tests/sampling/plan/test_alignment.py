"""Fingerprints of recordings, and how two of them align: what always holds, and where they part."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict
from hashlib import blake2b

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.errors import AnalysisError
from sampling.plan.other_recording import align
from sampling.plan.plan_file import PlanFile
from sampling.profile.identity import fingerprints
from sampling.profile.profile import Profile
from tests.small_plans import options_of, plan_of_strata, stratum

Build = Callable[..., Profile]
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
    (found,) = fingerprints(launch_table(names, [1] * launches, grid_x=grid_x))
    assert found.launches == launches
    assert found.digest == digest_one_by_one(names, grid_x, piece_launches)


def test_a_fingerprint_stays_what_it_is(launch_table: Build) -> None:
    """Plan files hold it: another value here means that plans already written align with nothing."""
    (found,) = fingerprints(launch_table(["void f<int>(int)", "µ"], [5, 6], grid_x=[8, 0]))
    assert asdict(found) == {"process": 0, "device": 0, "launches": 2, "digest": "c4bcffcc6a5d0463"}


def recorded(original: Profile) -> PlanFile:
    """Return what a plan file knows of a recording."""
    of_all = stratum("k", original.launches, 1.0, 0.0, ())
    return plan_of_strata([of_all], options_of(), sequences=fingerprints(original))


def parting(known: PlanFile, here: Profile, original: Profile | None = None, **how: bool) -> str:
    """Return what is said of two recordings that do not align."""
    with pytest.raises(AnalysisError) as caught:
        align(known, here, original, **how)
    return str(caught.value)


def kernel(name: str) -> str:
    return f"'{name}' grid unknown block unknown"


def test_the_same_launches_align_whatever_their_numbers(launch_table: Build) -> None:
    device = [0] * 300 + [1] * 300
    original = launch_table(CYCLE, range(600), process=[0] * 300 + [5] * 300, device=device)
    other = launch_table(CYCLE, [3] * 600, process=[7] * 300 + [8] * 300, device=device)
    for there in (original, None):
        found = align(recorded(original), other, there)
        assert found.renumbered == ((0, 0, 7, 0), (5, 1, 8, 1))
        assert found.launches_differing == 0
        assert align(recorded(original), original, there).renumbered == ()


def test_an_inserted_launch_is_named(launch_table: Build) -> None:
    original = launch_table(CYCLE, [1] * 600)
    longer = launch_table([*CYCLE[:298], "new", *CYCLE[298:]], [1] * 601)
    said = "has 601 launches here, 600 in the plan's recording; "
    named = f"{said}launch 298 is {kernel('new')} here, {kernel(CYCLE[298])} in the plan"
    assert named in parting(recorded(original), longer, original)
    assert f"{said}where they part, only the recording" in parting(recorded(original), longer)


def test_the_sequence_that_parts_is_named(launch_table: Build) -> None:
    """Ids run through the sequences, so launch 5 of the second one is launch 305."""
    process = [1] * 300 + [2] * 300
    original = launch_table(CYCLE, [1] * 600, process=process)
    other = launch_table([*CYCLE[:305], "new", *CYCLE[306:]], [1] * 600, process=[1] * 300 + [9] * 300)
    said = parting(recorded(original), other, original)
    assert said.startswith("process 9 device 0 (process 2 device 0 in the plan): launch 305 is 'new'")
    assert "give `names_may_differ`" in said


def test_by_order_only_numbers_of_launches_count(launch_table: Build) -> None:
    names = list(CYCLE)
    for place in (0, 7, 8, 599):
        names[place] = "new"
    original, other = launch_table(CYCLE, [1] * 600), launch_table(names, [1] * 600)
    found = align(recorded(original), other, original, names_may_differ=True)
    assert found.launches_differing == 4
    assert align(recorded(original), other, names_may_differ=True).launches_differing is None
    assert align(recorded(original), original, names_may_differ=True).launches_differing == 0
    shorter = launch_table(names[:-1], [1] * 599)
    assert "launch 0 is 'new' grid" in parting(recorded(original), shorter, original)
    for is_here in (True, False):
        said = parting(recorded(original), shorter, original if is_here else None, names_may_differ=True)
        assert said == (
            "process 0 device 0 has 599 launches here, 600 in the plan's recording; record the same program "
            "again with the same input and settings, or make a plan of this recording"
        )


@given(
    kernels=st.lists(st.sampled_from(KERNELS), min_size=1, max_size=20),
    other=st.lists(st.sampled_from(KERNELS), min_size=1, max_size=20),
)
def test_the_first_difference_is_the_one_a_loop_finds(
    kernels: list[str], other: list[str], launch_table: Build
) -> None:
    original, here = (launch_table(names, [1] * len(names)) for names in (kernels, other))
    known = recorded(original)
    if kernels == other:
        assert align(known, here).launches_differing == 0
        return
    pairs = zip(kernels, other, strict=False)
    expected = next(
        (place for place, (one, two) in enumerate(pairs) if one != two), min(len(kernels), len(other))
    )
    found = re.search(r"launch (\d+) is", parting(known, here, original))
    assert found is not None
    assert int(found.group(1)) == expected
