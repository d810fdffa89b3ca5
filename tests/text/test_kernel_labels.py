"""Labels of kernel groups: what is told apart, in which order it is kept, and that they fit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from sampling.reduction.grouping import KernelGroup
from tests.drawing import in_ascii
from tui.terminal.printable import cell_width, printable, shortened
from tui.text import labels as labels_module
from tui.text.labels import KernelLabels, key_parts, place_lines, place_names

ELEMENTWISE = (
    "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<BinaryFunctor<"
    "c10::BFloat16, c10::BFloat16, c10::BFloat16, at::native::binary_internal::{}<float> > >("
    "at::TensorIteratorBase&, at::native::{} const&)::{{lambda(int)#1}}>(int, T2)"
)
COPY = (
    "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<"
    "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() const::"
    "{lambda(float)#1}>(at::TensorIteratorBase&)>(int, T2)"
)
CUTLASS = "void cutlass::Kernel2<cutlass_{}_tensorop_s{}gemm_{}_16x5_{}_align4>(T1::Params)"
TENSILE = "Cijk_{}_Bljk_SB_Bias_AS_SAV_UserArgs_MT{}_MI16x16x1_SN_LDSB0_AFC1_GRVWA{}_WG32_8_1"


def group(name: str, grid=(8, 1, 1), block=(64, 1, 1), process=0, device=0) -> KernelGroup:
    return KernelGroup(f"{name}{grid}{block}{process}{device}", name, grid, block, process, device)


def labels(names, room: int | None = None, **kwargs) -> list[str]:
    """Return the labels of groups of one shape, without it."""
    all_labels = KernelLabels([group(name, None, None) for name in names], {})
    return [all_labels.label(index, room, **kwargs) for index in range(len(names))]


def test_what_all_of_a_name_share_is_left_out() -> None:
    gemm = CUTLASS.format(80, "1688", "128x128", "nn")
    other = CUTLASS.format(80, "1688", "128x256", "nn")
    assert labels([gemm]) == ["Kernel2 cutlass_80_tensorop_s1688gemm_128x128_16x5_nn_align4"]
    for room in (20, 26, 33, 48):
        one, two = labels([gemm, other], room)
        assert "128x128" in one
        assert "128x256" in two
        assert max(len(one), len(two)) <= room


def test_a_wrapper_is_known_by_the_functor() -> None:
    mul, add = (ELEMENTWISE.format(name, name) for name in ("MulFunctor", "AddFunctor"))
    assert labels([mul, add, COPY]) == [
        "elementwise_kernel MulFunctor",
        "elementwise_kernel AddFunctor",
        "elementwise_kernel direct_copy_kernel_cuda",
    ]
    # Alone it needs nothing to be told apart, but its name says nothing either.
    assert labels([mul]) == ["elementwise_kernel MulFunctor"]
    # A name that says what it does has no arguments that are not needed.
    assert labels(["void flash_fwd_kernel<Traits<64, 128>, true>(Params)"]) == ["flash_fwd_kernel"]


def test_tiles_stay_where_a_name_has_no_room() -> None:
    names = [TENSILE.format(a, tile, 4) for a, tile in (("Alik", "64x16x32"), ("Ailk", "128x128x32"))]
    for name, tile in zip(labels(names, 24), ("MT64x16x32", "MT128x128x32"), strict=True):
        assert name.startswith("Cijk_")
        assert tile in name
    gemm = "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize{}_stage3_warpsize1x4x1_ffma_aligna4_execute_kernel"
    for room in (20, 30):
        for name, tile in zip(
            labels([gemm.format("64x256x8"), gemm.format("128x128x8")], room),
            ("64x256x8", "128x128x8"),
            strict=True,
        ):
            assert tile in name


@pytest.mark.parametrize(
    ("room", "shown"),
    [
        (6, ["cunn…d", "nccl…1"]),
        (11, ["…SoftMax…", "…AllReduce…"]),
        (16, ["cunn_SoftMax…", "nccl…AllReduce…1"]),
        (26, ["cunn_SoftMaxForward", "ncclDevKernel_AllReduce…1"]),
        (None, ["cunn_SoftMaxForward", "ncclDevKernel_AllReduce_RING_LL_1"]),
    ],
)
def test_the_work_stays_then_the_beginning_then_what_else_fits(room: int | None, shown: list[str]) -> None:
    softmax = "void (anonymous namespace)::cunn_SoftMaxForward<4, float, Epilogue>(float *)"
    assert labels([softmax, "ncclDevKernel_AllReduce_RING_LL_1(ncclDevComm*)"], room) == shown


@pytest.mark.parametrize(
    ("functor", "word"),
    [
        ("at::native::CUDAFunctor_add<float>", "add"),
        ("at::native::CUDAFunctorOnSelf_add<float>", "add"),
        ("BinaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float> >", "Mul"),
        ("at::native::tanh_backward_kernel_cuda(at::TensorIteratorBase&)::{lambda()#2}", "tanh"),
        ("at::native::launch_log_sigmoid_forward_kernel(at::TensorIteratorBase&)", "log_sigmoid"),
    ],
)
def test_what_is_done_element_by_element_is_said_at_any_width(functor: str, word: str) -> None:
    names = [
        f"void at::native::vectorized_elementwise_kernel<4, {functor}, Array<char*, {n}> >()" for n in (2, 3)
    ]
    for room in range(20, 80):
        assert all(word in label for label in labels(names, room)), room
    # A word that says more goes before it; part of another word is none.
    assert labels(["fused_add_rms_norm_of_rows_and_more"], 14) == ["fuse…rms_norm…"]
    assert labels(["void address_kernel<AddFunctor>()"]) == ["address_kernel AddFunctor"]


def test_the_word_of_the_work_is_shown_wherever_it_stands() -> None:
    (name,) = labels(["void fmha_cutlassF_f16_aligned_64x64_rf_sm80(Params)"], 20)
    assert name == "fmha_cutlassF…64x64…"
    # In the template arguments, though nothing has to be told apart.
    assert labels(["void Kernel2<Traits, fused_bmm_op<4> >(int)"], 24) == ["Kernel2 fused_bmm_op"]
    assert labels(["void gemm<A>(int)", "void gemm<B>(int)"]) == ["gemm A", "gemm B"]
    assert labels(["void Kernel2<Traits>(int)"]) == ["Kernel2 Traits"]


def test_mangled_names_are_told_apart_by_what_they_read() -> None:
    assert labels(["_Z4convILi1EEvPfiii", "_Z4convILi3EEvPfiii"]) == ["conv 1", "conv 3"]


def test_numbers_flags_and_casts_tell_apart() -> None:
    assert labels(["void k_x<(int)128, (bool)1>(int)", "void k_x<(int)64, (bool)1>(int)"]) == [
        "k_x 128",
        "k_x 64",
    ]
    assert labels(["void k_x<int=128>(int)", "void k_x<int=64>(int)"]) == ["k_x 128", "k_x 64"]
    assert labels(["void sort<1, true, false>()", "void sort<1, false, true>()"]) == [
        "sort true",
        "sort false",
    ]
    assert labels(["void t_g<Shape<64, 64, 8>>()", "void t_g<Shape<64, 8, 64>>()"]) == [
        "t_g Shape,64x64x8",
        "t_g Shape,64x8x64",
    ]
    assert labels(["void copy(int)", "void copy(float)"]) == ["copy int", "copy float"]
    assert labels(["void one::copy(int)", "void two::copy(int)"]) == ["copy one", "copy two"]


def test_shapes_stand_behind_the_name() -> None:
    groups = [
        group("f(int)", (8, 1, 1), (64, 1, 1)),
        group("f(int)", (8, 1, 1), (32, 8, 1)),
        group("f(int)", (9, 1, 1), (64, 1, 1)),
        group("g(int)", (9, 1, 1), (64, 1, 1)),
        group("g(int)", None, None),
    ]
    shown = KernelLabels(groups, {})
    assert [shown.label(index) for index in range(5)] == [
        "f 8x1x1 [64]",
        "f 8x1x1 [32x8]",
        "f 9x1x1 [64]",
        "g 9x1x1",
        "g",
    ]
    # A block that is not needed to tell groups apart gives way to the name.
    assert shown.label(2, 8) == "f 9x1x1"


def test_what_a_name_begins_with_is_shown_or_marked() -> None:
    name = "aten::_foreach_mul_ [[2048, 256], [128, 256], [256]] float"
    for room in range(9, 50):
        (label,) = labels([name], room=room)
        assert label[0] in "_…", label


def test_a_grid_is_not_cut_before_the_name() -> None:
    one = KernelLabels([group("a_long_kernel_name_of_many_words", (1024, 16, 64))], {})
    assert one.label(0, 24).endswith(" 1024x16x64")


@pytest.mark.parametrize(
    "name", ["vectorized_elementwise_kernel", "a_reduce_scatter_of_words", "s16816gemm_128x128"]
)
def test_a_grid_keeps_its_digits_and_what_is_behind_it_gives_way(name: str) -> None:
    grid = (13_107_200, 16, 64)
    groups = [group(name, grid, block, 0, device) for block in ((64, 1, 1), (32, 8, 1)) for device in (0, 1)]
    shown = KernelLabels(groups, {(0, 0): "gpu0", (0, 1): "gpu1"})
    for room in range(36, 80):
        texts = [shown.label(index, room) for index in range(4)]
        assert all(" 13107200x16x64" in text and len(text) <= room for text in texts)
        assert len(set(texts)) == 4
    assert [shown.label(index, 80) for index in (0, 3)] == [
        f"{name} 13107200x16x64 [64] gpu0",
        f"{name} 13107200x16x64 [32x8] gpu1",
    ]


def test_devices_have_short_names() -> None:
    assert place_names([(7, 1)], ranks=True) == {}
    assert place_names([(7, 0), (7, 1)], ranks=False) == {(7, 0): "gpu0", (7, 1): "gpu1"}
    assert place_names([(149, 0), (150, 0)], ranks=False) == {(149, 0): "p149", (150, 0): "p150"}
    both = place_names([(149, 0), (149, 1), (150, 0), (None, None)], ranks=False)
    assert both == {(149, 0): "p149 gpu0", (149, 1): "p149 gpu1", (150, 0): "p150 gpu0"}
    assert place_lines({(149, 1): "gpu1"}, {(149, 1): "NVIDIA H100"}) == [
        "gpu1: process 149, device 1, NVIDIA H100"
    ]
    assert place_lines({(7, 1): "rank 7", (8, 1): "rank 8"}, {(8, 1): "H100"}) == ["rank 8: H100"]
    many = place_lines({(each, each): f"gpu{each}" for each in range(64)})
    assert len(many) == 9
    assert many[-1] == "and 56 more devices: `kernelpoint info`"
    shown = KernelLabels(
        [group("f(int)", process=149, device=1), group("f(int)", process=149, device=0)], both
    )
    assert [shown.label(index) for index in range(2)] == ["f 8x1x1 p149 gpu1", "f 8x1x1 p149 gpu0"]


def test_labels_are_ascii_where_asked() -> None:
    names = [
        TENSILE.format("Alik", "64x16x32", 4),
        "void gr\N{LATIN SMALL LETTER O WITH DIAERESIS}sse<float>(int)",
    ]
    for label in in_ascii(True, labels, names, 20):
        assert label.isascii()
        assert len(label) <= 20


def test_the_same_short_text_is_numbered() -> None:
    names = [f"f_{'x' * 30}{end}" for end in ("a", "b", "c")]
    assert len(set(labels(names, 12))) == 3
    assert labels(["a f(int)", "b f(int)"]) == ["f", "f~2"]


def test_parts_of_a_key() -> None:
    parts = key_parts("f<1 <<< 2>(int) <<<8x1x1, ?>>> process 3 device 1")
    assert (parts.name, parts.grid, parts.block) == ("f<1 <<< 2>(int)", (8, 1, 1), None)
    assert (parts.process, parts.device) == (3, 1)
    assert key_parts("all launches").name == "all launches"


WORDS = ("void", "int", "at", "Mul", "Fun<f>", "<8,", "4>", "(int)", "::", "{lambda()#1}", "operator<", "->")
WORD = st.sampled_from([*WORDS, "_", "8x4"])
NAME = st.one_of(
    st.text(max_size=40),
    st.lists(WORD, max_size=12).map("".join),
    st.lists(WORD, max_size=12).map(" ".join),
    st.from_regex(
        r"(void )?(ns::){0,2}[a-z]{1,6}(_[a-z0-9]{1,5}){0,4}(<[a-z0-9]{1,4}(, [a-z0-9]{1,9}){0,4}>)?",
        fullmatch=True,
    ),
)


@settings(max_examples=100, deadline=None)
@given(st.lists(NAME, min_size=1, max_size=12, unique=True), st.integers(1, 60), st.booleans())
def test_labels_fit_and_differ(names: list[str], room: int, ascii_only: bool) -> None:
    shown = in_ascii(ascii_only, labels, names, room)
    assert shown == in_ascii(ascii_only, labels, names, room)
    assert max(map(len, shown)) <= room
    if room >= 24 and all(name.isascii() and name.isprintable() for name in names):
        assert len(set(shown)) == len(names)
    whole = labels(names)
    if all(name.isascii() and name.isprintable() for name in names):
        assert len(set(whole)) == len(names)


NUMBERED = 4
PART = st.sampled_from(["sm80", "xmma", "f32f32", "tn", "n", "128x64", "stage3", "Policy", "kernel", "ab"])
WORK = st.sampled_from(["sgemm", "bmm", "attention", "LayerNorm", "s1688gemm", "softmax"])


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.lists(PART, max_size=9), WORK, st.lists(PART, max_size=9)), max_size=9),
    st.booleans(),
)
def test_the_word_of_the_work_stays_wherever_it_has_room(
    parts: list[tuple[list[str], str, list[str]]], ascii_only: bool
) -> None:
    names = {"_".join([*before, work, *after]): work for before, work, after in parts}
    for room in (*range(8, 24), 40, 80):
        for label, work in zip(in_ascii(ascii_only, labels, names, room), names.values(), strict=True):
            assert len(label) <= room
            assert work in label or room < len(work) + 2
        if room >= 11 + NUMBERED:
            assert len(set(in_ascii(ascii_only, labels, names, room))) == len(names)


@pytest.mark.parametrize("ascii_only", [False, True])
def test_wide_letters_keep_their_columns(ascii_only: bool) -> None:
    names = [f"\u6838\u5fc3_gemm_\u5377\u79ef\u5c42_{end}" for end in ("\u4e00", "\u4e8c", "tail")]
    for room in range(4, 40):
        for name, label in zip(names, in_ascii(ascii_only, labels, names, room), strict=True):
            assert cell_len(label) <= room
            assert "gemm" in label or room < len("gemm") + 2, name


@given(st.text(max_size=30), st.integers(0, 30))
def test_a_text_is_shortened_to_its_columns(text: str, width: int) -> None:
    short = shortened(text, width)
    assert cell_width(short) <= width
    assert short == printable(text) or width <= cell_width(printable(text))


def test_each_of_many_names_is_compared_once_and_with_few(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[list[str]] = []

    def spy(names):
        compared.append(list(names))
        return name_pieces(names)

    name_pieces = labels_module.name_pieces
    monkeypatch.setattr(labels_module, "name_pieces", spy)
    monkeypatch.setattr(labels_module, "_MOST_COMPARED", 10)
    names = [f"void f_g<float, A{number}>(int)" for number in range(95)]
    assert labels(names) == [f"f_g A{number}" for number in range(95)]
    assert [name for chunk in compared for name in chunk] == names
    assert max(map(len, compared)) == 10


class Steps(Counter[str]):
    """Counts as a counter does, and how much is counted in all."""

    total_counted = 0

    def __init__(self, things: Iterable[str] = ()) -> None:
        things = list(things)
        Steps.total_counted += len(things)
        super().__init__(things)


@pytest.mark.parametrize(
    "name",
    [
        "void f<{0}, float, true>(int)",
        "void f<A{1}, B{2}, C{3}>(int)",
        "void f<{1}, {2}, {3}, float, Traits<{1}> >(int)",
    ],
)
def test_what_is_counted_grows_with_the_number_of_names_alone(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(labels_module, "Counter", Steps)
    counted = []
    for size in (100, 800):
        Steps.total_counted = 0
        names = [name.format(number, number % 10, number // 10 % 10, number // 100) for number in range(size)]
        labels_module.name_pieces(names)
        counted.append(Steps.total_counted / size)
    assert counted[1] <= 2 * counted[0]
