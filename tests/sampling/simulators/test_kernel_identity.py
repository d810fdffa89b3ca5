"""Which spellings are of one kernel."""

from __future__ import annotations

import pytest

from sampling.profile import names
from sampling.simulators.kernel_identity import is_same_name, kernel_text


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


def test_a_kernel_as_a_message_names_it() -> None:
    assert kernel_text("f", (8, 1, 2), None) == "f <<<8x1x2, ?>>>"
    assert kernel_text("_Z1fi", None, (64, 1, 1)) == "f(int) <<<?, 64x1x1>>>"
