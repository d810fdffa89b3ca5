"""A kernel group is found by the label that a table shows, or it is said that several fit."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sampling.errors import OptionError
from sampling.reduction.grouping import KernelGroup, choose_kernel
from tests.drawing import in_ascii
from tui.text.labels import KernelLabels, place_names

SGEMM = "volta_sgemm_{}_sliced1x4_tn"
ADD = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<{}>, "
    "at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<{}>)"
)
CUTLASS = "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_{}_16x5_{}_align4>(T1::Params)"
NAMES = [
    *(SGEMM.format(tile) for tile in ("64x32", "128x32", "32x128")),
    *(ADD.format(kind, kind) for kind in ("float", "c10::Half", "double")),
    *(CUTLASS.format(tile, form) for tile in ("128x64", "64x128") for form in ("nn", "tn")),
    "relu",
    "Relu_backward",
]


def group(name: str, grid: int, block: int = 64, device: int = 0) -> KernelGroup:
    where = f"process {7 + device} device {device}"
    key = f"{name} <<<{grid}x4x3, {block}x1x1>>> {where}"
    return KernelGroup(key, name, (grid, 4, 3), (block, 1, 1), 7 + device, device)


def labels(groups: list[KernelGroup]) -> KernelLabels:
    return KernelLabels(groups, place_names((each.process, each.device) for each in groups))


ANY_GROUPS = st.lists(
    st.tuples(
        st.sampled_from(NAMES), st.sampled_from([8, 16]), st.sampled_from([64, 128]), st.integers(0, 1)
    ),
    min_size=1,
    max_size=14,
    unique=True,
).map(lambda rows: [group(*row) for row in rows])


@settings(max_examples=40)
@given(ANY_GROUPS, st.sampled_from([None, 28, 32, 48, 64]), st.booleans())
def test_a_shown_label_finds_its_group_or_says_that_it_fits_others(
    groups: list[KernelGroup], room: int | None, ascii_only: bool
) -> None:
    shown = labels(groups)
    for index in range(len(groups)):
        label = in_ascii(ascii_only, shown.label, index, room)
        assert choose_kernel(groups, f"#{index + 1} {label}")[0] == index
        # In little room what differs may be left out; several may have what is left then.
        found, others = choose_kernel(groups, label)
        assert found == index or others


@pytest.mark.parametrize(
    ("wanted", "rank"),
    [
        ("volta_sgemm_64x32\N{HORIZONTAL ELLIPSIS}1x4_tn 8x4x3", 1),
        ("volta_sgemm..32x128..tn 8x4x3", 3),
        ("vectorized.. CUDAFunctor_add,Half 8x4x3", 5),
        ("#5 vectorized.. CUDAFunctor_add,Half 8x4x3", 5),
        ("#5", 5),
        ("#11 relu", 11),
        ("_Z4convILi1EEvPf", 13),
    ],
)
def test_examples(wanted: str, rank: int) -> None:
    groups = [group(name, 8) for name in (*NAMES, "void conv<1>(float*)")]
    assert choose_kernel(groups, wanted) == (rank - 1, 0)


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ("#4 relu", "#4 is void at::native::vectorized_elementwise_kernel"),
        ("#99", "ranks run from #1 to #"),
        ("volta_sgem_64x32", "no kernel group's key contains it"),
        ("relu 99x4x3", "no kernel group's key contains it"),
        ("..", "no kernel group's key contains it"),
    ],
)
def test_what_fits_nothing_is_refused(wanted: str, said: str) -> None:
    with pytest.raises(OptionError) as refused:
        choose_kernel([group(name, 8) for name in NAMES], wanted)
    assert said in f"{refused.value}"
