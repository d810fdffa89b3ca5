"""Kernel names under the spellings of different demanglers, and which kernel of a profile they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sampling.features.names import bare_spelling, common_spelling, reconcile_names
from sampling.profile.names import NameTable, demangled
from sampling.profile.profile import Profile
from sampling.readers.registry import read_profile
from tests import small_recordings

# The kernel of PyTorch as nsys 2026.2 and as the GNU demangler print it.
NSYS = (
    "void at::native::vectorized_elementwise_kernel<(int)4, "
    "at::native::rsqrt_kernel_cuda(at::TensorIteratorBase &)::[lambda() (instance 2)]::operator ()() const::"
    "[lambda(float) (instance 1)], std::array<char *, (unsigned long)2>>(int, T2, T3)"
)
GNU = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::rsqrt_kernel_cuda(at::TensorIteratorBase&)"
    "::{lambda()#2}::operator()() const::{lambda(float)#1}, std::array<char*, 2ul> >(int, "
    "at::native::rsqrt_kernel_cuda(at::TensorIteratorBase&)::{lambda()#2}::operator()() const::"
    "{lambda(float)#1}, std::array<char*, 2ul>)"
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("f<(int)4, (bool)1>(int)", "f<4, true>(int)"),
        ("f<(unsigned long)2, (int)-1>()", "f<2ul, -1>()"),
        ("f<int=4, bool=0>()", "f<(int)4, false>()"),
        ("<unnamed>::f(char *)", "(anonymous namespace)::f(char*)"),
        ("f<A<B<int> > >()", "f<A<B<int>>>()"),
        ("f<const A<const B>, int>(const T1 *)", "f<A<B const> const, int>(T1 const*)"),
        ("f(const unsigned int &)", "f(unsigned int const&)"),
        ("f<(ns::Kind)2>()", "f<2>()"),
        ("f<A::[lambda(int) (instance 3)]>()", "f<A::{lambda(int)#3}>()"),
        ("f(int) [clone .kd]", "f(int)"),
        ("f<std::__1::array<int, 3>>()", "f<std::array<int, 3u> >()"),
        ("f<void (*)(const T *)>()", "f<void (*)(T const*)>()"),
    ],
)
def test_spellings_of_one_kernel_are_one(one: str, other: str) -> None:
    assert common_spelling(one) == common_spelling(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("f<float>()", "f<double>()"),
        ("f<const float>()", "f<float>()"),
        ("f<const T *>()", "f<T *const>()"),
        ("f<4>()", "f<8>()"),
        ("f<A, B>()", "f<A<B>>()"),
        ("a::f()", "f()"),
        ("a::f()", "b::f()"),
        ("f<g<1>>()", "f<g<2>>()"),
        ("f<unsigned int>()", "f<int>()"),
        ("f<A::{lambda()#1}>()", "f<A::{lambda()#2}>()"),
    ],
)
def test_different_kernels_stay_different(one: str, other: str) -> None:
    assert common_spelling(one) != common_spelling(other)
    assert bare_spelling(one) != bare_spelling(other)


def test_parameters_and_return_types_do_not_count_in_the_bare_spelling() -> None:
    assert common_spelling(NSYS) != common_spelling(GNU)
    assert bare_spelling(NSYS) == bare_spelling(GNU)
    for whole, bare in (
        ("const float * ns::f<int>(T1)", "ns::f<int>"),
        ("void ns::f<void g<int>(T1)::[lambda() (instance 1)]>(T2)", "ns::f<g<int>::{lambda()#1}>"),
        ("f", "f"),
    ):
        assert bare_spelling(whole).replace(" ", "") == bare
    assert bare_spelling("bool operator<(A, B)") == bare_spelling("operator< (A, B)")


def table(*names: str | tuple[str, str]) -> NameTable:
    """Return a table of full names, or of full and mangled ones."""
    pairs = [name if isinstance(name, tuple) else (name, None) for name in names]
    made = NameTable()
    made.intern([full for full, _ in pairs], None, [mangled for _, mangled in pairs])
    return made


def codes(names: NameTable, *others: str) -> list[int]:
    """Return the kernel of each name."""
    found, _ = reconcile_names(names, np.ones(len(names), dtype=np.bool_), others)
    return found.tolist()


def test_a_mangled_file_fits_a_profile_without_mangled_names_and_the_other_way_round() -> None:
    pytest.importorskip("cxxfilt")
    mangled = "_ZN12_GLOBAL__N_13fooILi4EEEvPKf"
    assert codes(table("void <unnamed>::foo<(int)4>(const float *)"), mangled) == [0]
    assert codes(table("void <unnamed>::foo<(int)4>(const float *)", mangled), mangled) == [1]
    assert codes(
        table(("recorded under another reading", mangled)), "void <unnamed>::foo<4>(float const*)"
    ) == [0]


def test_what_could_be_either_of_two_kernels_is_left_unmatched() -> None:
    found, unclear = reconcile_names(
        table("f<(int)4>()", "f<(long)4>()"), np.ones(2, dtype=np.bool_), ["f<4>()"]
    )
    assert (found.tolist(), unclear) == ([-1], ("f<4>()",))
    # Two kernels of the file, one of the profile: the file has one that the profile does not.
    assert codes(table("f<(int)4>()"), "f<(int)4>()", "f<(long)4>()") == [0, -1]
    assert codes(table("void f<int>(T1)"), "void f<int>(int)", "void f<int>(long)") == [-1, -1]
    assert codes(table("void f<int>(T1)"), "void f<int>(int)") == [0]


def check_names_of_the_other_demangler(profile: Profile, kernels: int, differing: int) -> None:
    """Find every kernel of a profile under the name that the C++ library's demangler gives it."""
    profile.load(("name",))
    names = profile.kernels.names
    full = [names.full(code) for code in range(len(names))]
    mangled = [names.mangled(code) or "" for code in range(len(names))]
    assert len(full) == kernels
    other = [demangled(text) or text for text in mangled]
    assert sum(one != another for one, another in zip(full, other, strict=True)) > differing
    # With what the profile recorded of the mangled names, and by the spelling alone.
    everything = list(range(kernels))
    assert codes(names, *other) == everything
    assert codes(table(*full), *other) == everything
    assert codes(table(*full), *mangled) == everything


@pytest.mark.parametrize("version", ["2022.4", "2023.4", "2026.2"])
def test_every_kernel_of_a_small_profile_is_found_under_the_other_demanglers_name(
    tmp_path: Path, version: str
) -> None:
    pytest.importorskip("cxxfilt")
    profile = read_profile([str(small_recordings.nsys_sqlite(tmp_path, version))])
    check_names_of_the_other_demangler(profile, small_recordings.NAMES, small_recordings.NAMES // 2)
