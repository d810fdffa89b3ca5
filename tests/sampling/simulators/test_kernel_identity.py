"""Which spellings are of one kernel."""

from __future__ import annotations

import pytest

from sampling.plan.plan_file import PlannedLaunch
from sampling.profile import names
from sampling.simulators.measured_run import SeenKernel, is_same_name, kernels_apart


@pytest.mark.parametrize(
    ("planned", "traced", "is_same"),
    [
        ("_Z6vecaddPKfS0_Pfi", "_Z6vecaddPKfS0_Pfi", True),
        ("vecadd(const float *, const float *, float *, int)", "_Z6vecaddPKfS0_Pfi", True),
        ("vecadd", "_Z6vecaddPKfS0_Pfi", True),
        ("_Z6vecaddPKfS0_Pfi", "vecadd(float const*, float const*, float*, int)", True),
        ("gather(int)", "_Z6vecaddPKfS0_Pfi", False),
        ("add", "_Z6vecaddPKfS0_Pfi", False),
        ("void f<(int)4>(float *)", "_Z1fILi4EEvPf", True),
        ("void f<(int)8>(float *)", "_Z1fILi4EEvPf", False),
        ("f", "_Z1fILi4EEvPf", True),
        ("void f<4>(float*)", "void f<(int)4>(float *)", True),
        ("memset", "memset", True),
        ("memset", "memcpy", False),
    ],
)
def test_spellings(planned: str, traced: str, is_same: bool) -> None:
    assert is_same_name(planned, traced) is is_same


def test_without_a_demangler_the_functions_own_name_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names, "installed_demangler", lambda: None)
    is_same_name.cache_clear()
    assert is_same_name("ns::vecadd(float*)", "_ZN2ns6vecaddEPf") is None
    assert is_same_name("_ZN2ns6vecaddEPf", "ns::vecadd(float*)") is None
    assert is_same_name("ns::vecsub(float*)", "_ZN2ns6vecaddEPf") is False
    assert is_same_name("_Z1fv", "_Z1gv") is False
    is_same_name.cache_clear()


@pytest.mark.parametrize(
    ("seen", "planned_text", "seen_text"),
    [
        (SeenKernel("f", (8, 1, 2)), "f <<<4x1x1, 64x1x1>>>", "f <<<8x1x2, ?>>>"),
        (SeenKernel(warps=9), "f <<<4x1x1, 64x1x1>>> of 8 warps", "a kernel of 9 warps"),
    ],
)
def test_two_kernels_as_a_message_names_them(seen: SeenKernel, planned_text: str, seen_text: str) -> None:
    planned = PlannedLaunch(3, 0, 0, 3, "f", (4, 1, 1), (64, 1, 1), 0, 1.0, 5)
    assert kernels_apart(planned, seen) == (planned_text, seen_text)


def test_names_that_differ_in_their_middle_alone_are_shown_apart() -> None:
    name = "void " + "a" * 90 + "<{}>" + "b" * 90
    planned = PlannedLaunch(3, 0, 0, 3, name.format("int"), None, None, 0, 1.0, 5)
    one, other = kernels_apart(planned, SeenKernel(name.format("long")))
    assert "<int>" in one
    assert "<long>" in other
