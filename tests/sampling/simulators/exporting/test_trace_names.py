"""Which spellings are of one kernel."""

from __future__ import annotations

import pytest

from sampling.features import names
from sampling.simulators.exporting.trace_names import is_same_kernel, kernel_text


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
    assert is_same_kernel(planned, traced) == is_same


def test_without_a_demangler_the_functions_own_name_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names, "installed_demangler", lambda: None)
    assert is_same_kernel("ns::vecadd(float*)", "_ZN2ns6vecaddEPf")
    assert is_same_kernel("_ZN2ns6vecaddEPf", "ns::vecadd(float*)")
    assert not is_same_kernel("ns::vecsub(float*)", "_ZN2ns6vecaddEPf")
    assert not is_same_kernel("_Z1fv", "_Z1gv")


def test_a_kernel_as_a_message_names_it() -> None:
    assert kernel_text("f", (8, 1, 2), None) == "f <<<8x1x2, ?>>>"
