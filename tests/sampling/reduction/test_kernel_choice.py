"""A kernel group is found by the label that a table shows, where that leaves no doubt which one it is."""

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
def test_a_shown_label_finds_its_group_or_is_refused_and_never_finds_another(
    groups: list[KernelGroup], room: int | None, ascii_only: bool
) -> None:
    shown = labels(groups)
    for index in range(len(groups)):
        label = in_ascii(ascii_only, shown.label, index, room)
        assert choose_kernel(groups, f"#{index + 1} {label}")[0] == index
        found = meant(groups, label)
        if isinstance(found, str):
            # In little room what differs may be left out; several may have what is left then.
            assert "is the label of several" in found
        else:
            assert found[0] == index or found[1]


def meant(groups: list[KernelGroup], label: str) -> tuple[int, int] | str:
    """What a label is taken for, or why it is refused."""
    try:
        return choose_kernel(groups, label)
    except OptionError as error:
        return str(error)


@pytest.mark.parametrize(
    ("wanted", "rank"),
    [
        ("volta_sgemm_64x32\N{HORIZONTAL ELLIPSIS}1x4_tn 8x4x3", 1),
        ("volta_sgemm..32x128..tn 8x4x3", 3),
        ("vectorized.. CUDAFunctor_add,Half 8x4x3", 5),
        ("#5 vectorized.. CUDAFunctor_add,Half 8x4x3", 5),
        ("#5", 5),
        ("#11 relu", 11),
        ("relu 8x4x3", 11),
        ("_Z4convILi1EEvPf", 13),
    ],
)
def test_examples(wanted: str, rank: int) -> None:
    groups = [group(name, 8) for name in (*NAMES, "void conv<1>(float*)")]
    assert choose_kernel(groups, wanted) == (rank - 1, 0)


def test_words_of_a_label_are_whole_unless_letters_are_left_out() -> None:
    groups = [group(name, 8) for name in ("my_relu", "relu", "relu_backward")]
    assert choose_kernel(groups, "relu 8x4x3") == (1, 0)
    assert choose_kernel(groups, "my..relu 8x4x3 [64]") == (0, 0)
    assert choose_kernel(groups, "relu..ward 8x4x3") == (2, 0)


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ("vectorized.. 8x4x3", "is the label of several kernel groups: #4, #5, #6"),
        ("#4 relu", "#4 is void at::native::vectorized_elementwise_kernel"),
        ("volta_sgem_64x32", "no kernel group's key contains it"),
        ("relu 99x4x3", "no kernel group's key contains it"),
        ("..", "no kernel group's key contains it"),
        ("8x4x4", "no kernel group's key contains it"),
        ("gpu0", "no kernel group's key contains it"),
        ("", None),
    ],
)
def test_what_is_in_doubt_is_refused(wanted: str, said: str | None) -> None:
    groups = [group(name, 8) for name in NAMES]
    if said is None:
        assert choose_kernel(groups, wanted)[0] == 0
        return
    with pytest.raises(OptionError) as refused:
        choose_kernel(groups, wanted)
    assert said in f"{refused.value}"
