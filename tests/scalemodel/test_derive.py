"""Proportional scaling from a TOML of ours: the paper's tables, factors, sizes, wrong files."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalemodel.derive import (
    PAPER_SIZES,
    ScaledModel,
    SharedResources,
    Target,
    TargetConfig,
    WholeResource,
    common_factors,
    derive,
    factors_for_sizes,
    read_target,
)
from scalemodel.errors import InputError, OptionError

MIB = 2**20

TABLE_ONE_TARGET = """\
# The paper's target [Table I, Table III].
[gpu]
sms = 128
llc_mib = 34             # in all
llc_slices = 32
memory_controllers = 16
noc_gb_per_s = 2696
dram_gb_per_s = 2_320

[per_sm]
clock_mhz = 1000
warps = 48
l1_kib = 48              # 6 ways
sms = "not the SMs of [gpu]"
"""

TABLE_FIVE_TARGET = """\
[gpu]
chiplets = 16
sms = 64
llc_mib = 18
llc_slices = 64
memory_controllers = 8
noc_gb_per_s = 1700
dram_gb_per_s = 1200
inter_chiplet_gb_per_s = 900
"""

# factor, SMs, LLC in MB, slices, NoC in GB/s, memory in GB/s, memory controllers: as printed, but for the two
# cells of the row of 16 SMs that contradict the rest of the table (358 and 337 are printed).
TABLE_ONE = [
    (1, 128, 34, 32, 2696, 2320, 16),
    (2, 64, 17, 16, 1348, 1160, 8),
    (4, 32, 8.5, 8, 674, 580, 4),
    (8, 16, 4.25, 4, 337, 290, 2),
    (16, 8, 2.125, 2, 168.5, 145, 1),
]


def target(text: str = TABLE_ONE_TARGET) -> Target:
    return TargetConfig(text, "target.toml")


def model(text: str, factor: int) -> ScaledModel:
    return derive(target(text), [factor])[0]


@pytest.mark.parametrize(("factor", "sms", "llc", "slices", "noc", "dram", "controllers"), TABLE_ONE)
def test_table_one(
    factor: int, sms: int, llc: float, slices: int, noc: float, dram: float, controllers: int
) -> None:
    scaled = model(TABLE_ONE_TARGET, factor)
    assert scaled.factor == factor
    assert scaled.resources == SharedResources(sms, int(llc * MIB), slices, controllers, noc, dram)
    assert scaled.resources.dram_gb_per_s == 145 * controllers
    assert dict(scaled.unchanged) == {
        "clock_mhz": "1000",
        "warps": "48",
        "l1_kib": "48",
        "sms": "not the SMs of [gpu]",
    }


@pytest.mark.parametrize(("factor", "chiplets"), [(1, 16), (2, 8), (4, 4)])
def test_the_chiplets_of_table_five(factor: int, chiplets: int) -> None:
    scaled = model(TABLE_FIVE_TARGET, factor)
    assert scaled.resources == SharedResources(
        sms=64 * chiplets,
        llc_bytes=18 * MIB * chiplets,
        llc_slices=64 * chiplets,
        memory_controllers=8 * chiplets,
        noc_gb_per_s=1700 * chiplets,
        dram_gb_per_s=1200 * chiplets,
        chiplets=chiplets,
        inter_chiplet_gb_per_s=900 * chiplets,
    )
    assert (scaled.resources.size, scaled.resources.size_unit) == (chiplets, "chiplets")


def test_only_the_number_of_chiplets_is_changed_in_the_file() -> None:
    scaled = model(TABLE_FIVE_TARGET, 4)
    assert scaled.text == TABLE_FIVE_TARGET.replace("chiplets = 16", "chiplets = 4")
    assert [(one.option, one.old, one.new) for one in scaled.changes] == [("chiplets", "16", "4")]


def test_the_changes_are_listed_and_all_else_stays() -> None:
    scaled = model(TABLE_ONE_TARGET, 16)
    assert [(one.file, one.option, one.old, one.new) for one in scaled.changes] == [
        ("target.toml", "sms", "128", "8"),
        ("target.toml", "llc_mib", "34", "2.125"),
        ("target.toml", "llc_slices", "32", "2"),
        ("target.toml", "memory_controllers", "16", "1"),
        ("target.toml", "noc_gb_per_s", "2696", "168.5"),
        ("target.toml", "dram_gb_per_s", "2320", "145"),
    ]
    assert scaled.files == (("target.toml", scaled.text),)
    assert (
        scaled.text
        == """\
# The paper's target [Table I, Table III].
[gpu]
sms = 8
llc_mib = 2.125             # in all
llc_slices = 2
memory_controllers = 1
noc_gb_per_s = 168.5
dram_gb_per_s = 145

[per_sm]
clock_mhz = 1000
warps = 48
l1_kib = 48              # 6 ways
sms = "not the SMs of [gpu]"
"""
    )


def test_a_factor_of_one_is_the_target_itself() -> None:
    scaled = model(TABLE_ONE_TARGET, 1)
    assert (scaled.text, scaled.changes) == (TABLE_ONE_TARGET, ())


def test_several_factors_in_their_order_each_once() -> None:
    assert [one.factor for one in derive(target(), [4, 16, 4, 2])] == [4, 16, 2]


def test_a_factor_that_does_not_divide_is_refused_with_those_that_do() -> None:
    with pytest.raises(OptionError) as raised:
        derive(target(), [2, 32])
    assert str(raised.value) == (
        "a factor of 32 does not divide the 16 memory controllers;"
        " the factors that divide every shared resource are 2, 4, 8 and 16"
    )


def test_all_resources_that_a_factor_does_not_divide_are_named() -> None:
    with pytest.raises(OptionError) as raised:
        derive(target(), [3])
    assert raised.value.message == (
        "a factor of 3 does not divide the 128 SMs, the 35,651,584 bytes of last-level cache,"
        " the 32 slices of last-level cache and the 16 memory controllers"
    )


def test_a_factor_larger_than_the_number_of_chiplets_is_refused() -> None:
    with pytest.raises(OptionError, match=r"32 does not divide the 16 chiplets; .* are 2, 4, 8 and 16"):
        derive(target(TABLE_FIVE_TARGET), [32])


@pytest.mark.parametrize("factor", [0, -2])
def test_a_factor_below_one_is_refused(factor: int) -> None:
    with pytest.raises(OptionError, match=rf"a factor is 1 or more, not {factor}; the factors"):
        derive(target(), [factor])


@pytest.mark.parametrize(
    ("controllers", "remedy"),
    [
        (15, "no factor above 1 divides every shared resource"),
        (6, "the one factor that divides every shared resource is 2"),
    ],
)
def test_targets_with_hardly_a_factor(controllers: int, remedy: str) -> None:
    text = TABLE_ONE_TARGET.replace("memory_controllers = 16", f"memory_controllers = {controllers}")
    with pytest.raises(OptionError) as raised:
        derive(target(text), [4])
    assert raised.value.remedy == remedy


@given(st.lists(st.integers(1, 3000), min_size=1, max_size=4))
def test_common_factors_are_those_that_leave_nothing_over(counts: list[int]) -> None:
    resources = [WholeResource(count, "things") for count in counts]
    wanted = [one for one in range(1, min(counts) + 1) if not any(count % one for count in counts)]
    assert list(common_factors(resources)) == wanted


@pytest.mark.parametrize(
    ("text", "sizes", "factors"),
    [
        (TABLE_ONE_TARGET, PAPER_SIZES["SMs"], (16, 8)),
        (TABLE_ONE_TARGET, (128, 32), (1, 4)),
        (TABLE_FIVE_TARGET, PAPER_SIZES["chiplets"], (4, 2)),
    ],
)
def test_factors_for_sizes(text: str, sizes: tuple[int, ...], factors: tuple[int, ...]) -> None:
    assert factors_for_sizes(target(text), sizes) == factors
    assert tuple(one.resources.size for one in derive(target(text), factors)) == sizes


@pytest.mark.parametrize("size", [12, 4, 256, 0])
def test_a_size_that_cannot_be_derived_is_refused_with_those_that_can(size: int) -> None:
    with pytest.raises(OptionError) as raised:
        factors_for_sizes(target(), [size])
    assert str(raised.value) == (
        f"no scale model of {size} SMs can be derived from 128; the sizes are 8, 16, 32, 64 and 128"
    )


@st.composite
def targets(draw: st.DrawFn) -> tuple[str, int, int]:
    """Draw a target and two factors whose product divides it."""
    first, second = draw(st.integers(1, 12)), draw(st.integers(1, 12))
    whole = [first * second * draw(st.integers(1, 40)) for _ in range(4)]
    bandwidths = [draw(st.floats(0.5, 1e6)) for _ in range(2)]
    spaces = draw(st.sampled_from(["", " ", "   "]))
    keys = ("sms", "llc_mib", "llc_slices", "memory_controllers", "noc_gb_per_s", "dram_gb_per_s")
    lines = [f"{key}{spaces}={spaces}{value}" for key, value in zip(keys, [*whole, *bandwidths], strict=True)]
    end = draw(st.sampled_from(["\n", "\r\n"]))
    return (
        end.join(["# a target", "[gpu]", *draw(st.permutations(lines)), "", "[per_sm]", "n = 3", ""]),
        (first),
        second,
    )


@given(targets())
def test_scaled_and_multiplied_back_is_the_target(drawn: tuple[str, int, int]) -> None:
    text, factor, _ = drawn
    before, after = target(text).resources, model(text, factor).resources
    for name in ("sms", "llc_bytes", "llc_slices", "memory_controllers"):
        assert getattr(after, name) * factor == getattr(before, name)
    for name in ("noc_gb_per_s", "dram_gb_per_s"):
        assert getattr(after, name) * factor == pytest.approx(getattr(before, name), rel=1e-15)


@given(targets())
def test_one_factor_after_the_other_is_their_product(drawn: tuple[str, int, int]) -> None:
    text, first, second = drawn
    once, twice = model(text, first * second), model(model(text, first).text, second)
    for name in ("sms", "llc_bytes", "llc_slices", "memory_controllers"):
        assert getattr(twice.resources, name) == getattr(once.resources, name)
    for name in ("noc_gb_per_s", "dram_gb_per_s"):
        assert getattr(twice.resources, name) == pytest.approx(getattr(once.resources, name), rel=1e-14)


@given(targets())
def test_the_file_of_a_scale_model_states_its_resources(drawn: tuple[str, int, int]) -> None:
    text, factor, _ = drawn
    scaled = model(text, factor)
    assert target(scaled.text).resources == scaled.resources
    assert scaled.text.count("\r") == text.count("\r")
    assert tomllib.loads(scaled.text)["per_sm"] == {"n": 3}


@given(targets(), st.integers(2, 50))
def test_a_factor_is_refused_exactly_where_it_leaves_something_over(
    drawn: tuple[str, int, int], factor: int
) -> None:
    text = drawn[0]
    gpu = tomllib.loads(text)["gpu"]
    counts = [gpu["sms"], gpu["llc_mib"] * MIB, gpu["llc_slices"], gpu["memory_controllers"]]
    if any(count % factor for count in counts):
        with pytest.raises(OptionError, match=f"a factor of {factor} does not divide the"):
            model(text, factor)
    else:
        assert model(text, factor).resources.sms == gpu["sms"] // factor


def test_what_is_not_stated_stays_unknown() -> None:
    text = "[gpu]\nsms = 4\nllc_mib = 0.5\nllc_slices = 2\nmemory_controllers = 2\n"
    assert model(text, 2).resources == SharedResources(2, MIB // 4, 1, 1)


WRONG = [
    ("[gpu]\nsms = 4\n", None, None, "[gpu] lacks llc_mib, llc_slices, memory_controllers"),
    ("# a GPU\n", None, None, "[gpu] lacks sms, llc_mib"),
    ("", None, None, "the file is empty"),
    (TABLE_ONE_TARGET.replace("llc_slices", "llc_slice"), 5, None, "there is no key of [gpu] 'llc_slice'"),
    (TABLE_ONE_TARGET.replace("[per_sm]", "[per_sms]"), 10, None, "there is no table 'per_sms'"),
    (TABLE_ONE_TARGET.replace("sms = 128", "sms = 128.0"), 3, "sms", "128.0 is not a whole number"),
    (TABLE_ONE_TARGET.replace("sms = 128", "sms = true"), 3, "sms", "True is not a number above 0"),
    (TABLE_ONE_TARGET.replace("sms = 128", "sms = '128'"), 3, "sms", "'128' is not a number above 0"),
    (TABLE_ONE_TARGET.replace("2696", "0"), 7, "noc_gb_per_s", "0 is not a number above 0"),
    (TABLE_ONE_TARGET.replace("2696", "nan"), 7, "noc_gb_per_s", "nan is not a number above 0"),
    (TABLE_ONE_TARGET.replace("2696", "inf"), 7, "noc_gb_per_s", "inf is not a number above 0"),
    (TABLE_ONE_TARGET.replace("34 ", "0.1 "), 4, "llc_mib", "0.1 is not a whole number of bytes"),
    (TABLE_ONE_TARGET.replace("34 ", "34,0 "), 4, None, "not a TOML: "),
    (
        TABLE_ONE_TARGET.replace("noc_gb", "inter_chiplet_gb"),
        7,
        None,
        "inter_chiplet_gb_per_s is of a GPU of chiplets",
    ),
    ("gpu = 3", None, None, "gpu and per_sm are tables"),
    ("a line of a log\n", 1, None, "not a TOML: expected '=' after a key in a key/value pair at column 3"),
    (
        TABLE_ONE_TARGET.replace("sms = 128", "sms = 128\nl1_kib = 48"),
        4,
        None,
        "there is no key of [gpu] 'l1_kib'",
    ),
]


@pytest.mark.parametrize(("text", "row", "key", "message"), WRONG)
def test_wrong_files(tmp_path: Path, text: str, row: int | None, key: str | None, message: str) -> None:
    path = tmp_path / "target.toml"
    path.write_text(text)
    with pytest.raises(InputError) as raised:
        read_target(path)
    place = str(path) + (f", row {row}" if row else "") + (f", key {key}" if key else "")
    assert raised.value.message.startswith(f"{place}: {message}")
    assert (raised.value.place.row, raised.value.place.key) == (row, key)
    assert raised.value.remedy


def test_a_name_that_is_of_each_sm_alone_is_sent_to_its_table(tmp_path: Path) -> None:
    path = tmp_path / "target.toml"
    path.write_text(TABLE_ONE_TARGET.replace("sms = 128", "sms = 128\nl1_kib = 48"))
    with pytest.raises(InputError, match=r"belongs to \[per_sm\]"):
        read_target(path)
    path.write_text(TABLE_ONE_TARGET.replace("llc_slices", "llc_slice"))
    with pytest.raises(InputError, match="did you mean 'llc_slices'"):
        read_target(path)


def test_a_broken_file_of_another_name_may_be_either(tmp_path: Path) -> None:
    path = tmp_path / "target.config"
    path.write_text("a line of a log\n")
    with pytest.raises(InputError, match=r"neither a gpgpusim\.config nor a TOML") as raised:
        read_target(path)
    assert raised.value.place.row == 1


def test_any_name_may_stand_in_per_sm(tmp_path: Path) -> None:
    path = tmp_path / "target.toml"
    path.write_text(TABLE_ONE_TARGET + "memory_controller = 1")
    assert read_target(path).resources.memory_controllers == 16


def test_the_nearest_key_is_named() -> None:
    with pytest.raises(InputError, match=r"did you mean 'memory_controllers'\?"):
        target(TABLE_ONE_TARGET.replace("memory_controllers", "memory_controller"))


@pytest.mark.parametrize(
    "text",
    [
        "gpu = {sms = 4, llc_mib = 1, llc_slices = 2, memory_controllers = 2}\n",
        '[gpu]\n"sms" = 4\nllc_mib = 1\nllc_slices = 2\nmemory_controllers = 2\n',
    ],
)
def test_a_file_whose_values_cannot_be_replaced_is_refused(text: str) -> None:
    assert model(text, 1).text == text
    with pytest.raises(InputError, match="cannot be replaced as they are written; write the table"):
        model(text, 2)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_target(tmp_path / "nowhere.toml")
    with pytest.raises(InputError, match="cannot be read"):
        read_target(tmp_path)
    path = tmp_path / "binary"
    path.write_bytes(b"\x1f\x8b\x08\xff\xfe")
    with pytest.raises(InputError, match="gzip data is cut short or damaged"):
        read_target(path)
    path.write_bytes(b"\x89PNG\r\n\x1a\n")
    with pytest.raises(InputError, match=r"not text in UTF-8; give a gpgpusim.config or a TOML"):
        read_target(path)
