"""Kernel names: short forms, the published script's cut, communication kernels, and choosing one."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.errors import OptionError
from sampling.parallel import ordered_map
from sampling.profile.names import NameTable, is_communication, short_name, stem_script_name
from sampling.reduction.duration_counts import DurationCounts
from sampling.reduction.kernel_choice import choose_kernel


@pytest.mark.parametrize(
    ("full", "short"),
    [
        ("volta_sgemm_64x32_sliced1x4_tn", "volta_sgemm_64x32_sliced1x4_tn"),
        ("void splitKreduce_kernel<float, 32>(cublas::params<float>)", "splitKreduce_kernel"),
        ("void at::native::(anonymous namespace)::copy<(int)4>(int, T2)", "copy"),
        ("cudnn::winograd::generate<0, float>(cudnn::Params)", "generate"),
        ("void f<std::vector<int>>(int)", "f"),
        ("void f<(a->b)>(int)", "f"),
        ("ampere_fp16_s16816gemm<1, 2>", "ampere_fp16_s16816gemm"),
        ("", ""),
    ],
)
def test_the_short_name_is_the_functions_own(full: str, short: str) -> None:
    assert short_name(full) == short


@given(full=st.text(max_size=30))
def test_any_text_has_a_short_name(full: str) -> None:
    assert isinstance(short_name(full), str)


def test_the_published_scripts_key_merges_kernels() -> None:
    names = ["void f<(int)4>(float*)", "void f<(int)8>(float*)"]
    assert {stem_script_name(name) for name in names} == {"void f<"}
    assert stem_script_name("gemm") == "gemm"


@pytest.mark.parametrize(
    ("name", "communicates"),
    [
        ("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)", True),
        ("ncclKernel_Broadcast_RING_LL_Sum_int8_t", True),
        ("void vllm::cross_device_reduce_1stage<float>()", False),
        ("void vllm::cross_device_all_reduce<float>()", True),
        ("nvshmem_barrier", True),
        ("void one_shot_all_reduce_kernel()", True),
        ("volta_sgemm_128x64_nn", False),
        ("void reduce_kernel<512>(float)", False),
    ],
)
def test_communication_kernels_are_known_by_name(name: str, communicates: bool) -> None:
    assert is_communication(name) is communicates


def test_a_name_keeps_its_code_and_learns_its_other_forms() -> None:
    table = NameTable()
    assert table.intern(["f(int)", "g", "f(int)"]).tolist() == [0, 1, 0]
    assert (table.short(0), table.mangled(0)) == ("f", None)
    assert table.intern(["g", "f(int)"], ["gee", "eff"], [None, "_Z1fi"]).tolist() == [1, 0]
    assert (table.short(0), table.mangled(0), table.short(1)) == ("eff", "_Z1fi", "gee")
    table.intern(["f(int)"], ["other"], ["other"])
    assert (table.short(0), table.mangled(0), len(table)) == ("eff", "_Z1fi", 2)


def test_threads_that_intern_at_once_agree() -> None:
    table = NameTable()
    names = [f"k{number}" for number in range(300)]
    with ThreadPoolExecutor(4) as pool:
        codes = list(pool.map(table.intern, [names[::-1], names, names[::2], names[::3]]))
    assert len(table) == 300
    assert [table.full(code) for code in codes[1].tolist()] == names
    assert codes[0].tolist() == codes[1].tolist()[::-1]


@given(items=st.lists(st.integers(), max_size=40))
def test_results_come_in_the_order_of_the_items(items: list[int]) -> None:
    assert list(ordered_map(lambda item: item * 2, items)) == [item * 2 for item in items]


def test_an_error_in_a_thread_reaches_the_reader() -> None:
    with pytest.raises(ZeroDivisionError):
        list(ordered_map(lambda item: 1 // item, [3, 2, 1, 0, 1, 2]))


@pytest.fixture(scope="module")
def counts(counts_of: Callable[..., DurationCounts]) -> DurationCounts:
    """Return three groups, largest first: gemm_big, Gemm, relu."""
    return counts_of({"relu": [1], "gemm_big": [100], "Gemm": [10]})


@pytest.mark.parametrize(
    ("wanted", "group", "others"),
    [
        (None, 0, 0),
        ("#1", 0, 0),
        ("#3", 2, 0),
        ("relu", 2, 0),
        ("emm", 0, 1),
        ("Gemm", 1, 0),
        ("process 0", 0, 2),
        # Case counts only where a key has the text as it is written.
        ("RELU", 2, 0),
        ("GEMM", 0, 1),
    ],
)
def test_a_kernel_is_chosen_by_rank_or_text(
    wanted: str | None, group: int, others: int, counts: DurationCounts
) -> None:
    choice = choose_kernel(counts, wanted)
    assert (choice.group, choice.others) == (group, others)


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ("#0", "ranks run from #1 to #3"),
        ("#4", "ranks run from #1 to #3"),
        ("TANH", "no kernel group's key contains it"),
        ("#x", "no kernel group's key contains it"),
    ],
)
def test_a_kernel_that_is_not_there_is_refused(wanted: str, message: str, counts: DurationCounts) -> None:
    with pytest.raises(OptionError, match=message):
        choose_kernel(counts, wanted)
