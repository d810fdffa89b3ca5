"""Proportional scaling: the paper's tables, a `gpgpusim.config` as its simulator reads it, wrong files.

The configurations are written from the simulator's grammar, in the manner of its tested ones. What the
simulator would read is found by a second reader that goes through the text line by line.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.errors import OptionError, ProfileError
from scalemodel.derive import (
    ScaledModel,
    SharedResources,
    Target,
    config_target,
    default_factors,
    derive,
    read_target,
    toml_target,
)

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
    return toml_target(text, "target.toml")


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
    assert dict(target().unchanged) == {
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


def test_the_changes_are_listed_and_all_else_stays() -> None:
    scaled = model(TABLE_ONE_TARGET, 16)
    assert [(one.option, one.old, one.new) for one in scaled.changes] == [
        ("sms", "128", "8"),
        ("llc_mib", "34", "2.125"),
        ("llc_slices", "32", "2"),
        ("memory_controllers", "16", "1"),
        ("noc_gb_per_s", "2696", "168.5"),
        ("dram_gb_per_s", "2320", "145"),
    ]
    wanted = TABLE_ONE_TARGET
    for change in scaled.changes:
        old = f"{change.option} = {'2_320' if change.old == '2320' else change.old}"
        wanted = wanted.replace(old, f"{change.option} = {change.new}", 1)
    assert scaled.text == wanted


@pytest.mark.parametrize(
    ("text", "factors", "sizes"),
    [
        (TABLE_ONE_TARGET, (16, 8), (8, 16)),
        (TABLE_FIVE_TARGET, (4, 2), (4, 8)),
        (TABLE_ONE_TARGET.replace("sms = 128", "sms = 80"), (8, 4), (10, 20)),
    ],
)
def test_the_papers_sizes_or_those_next_to_them(
    text: str, factors: tuple[int, ...], sizes: tuple[int, ...]
) -> None:
    assert default_factors(target(text)) == factors
    assert tuple(one.resources.size for one in derive(target(text), factors)) == sizes


@st.composite
def targets(draw: st.DrawFn) -> tuple[str, int]:
    """Draw a target and a factor that divides it."""
    factor = draw(st.integers(1, 144))
    whole = [factor * draw(st.integers(1, 40)) for _ in range(4)]
    bandwidths = [draw(st.floats(0.5, 1e6)) for _ in range(2)]
    spaces = draw(st.sampled_from(["", " ", "   "]))
    keys = ("sms", "llc_mib", "llc_slices", "memory_controllers", "noc_gb_per_s", "dram_gb_per_s")
    lines = [f"{key}{spaces}={spaces}{value}" for key, value in zip(keys, [*whole, *bandwidths], strict=True)]
    end = draw(st.sampled_from(["\n", "\r\n"]))
    return end.join(
        ["# a target", "[gpu]", *draw(st.permutations(lines)), "", "[per_sm]", "n = 3", ""]
    ), factor


@given(targets())
def test_the_file_of_a_scale_model_states_its_resources(drawn: tuple[str, int]) -> None:
    text, factor = drawn
    scaled = model(text, factor)
    assert target(scaled.text).resources == scaled.resources
    assert scaled.text.count("\r") == text.count("\r")
    assert tomllib.loads(scaled.text)["per_sm"] == {"n": 3}


WRONG = [
    ("[gpu]\nsms = 4\n", 1, "llc_mib"),
    ("", None, "empty"),
    (TABLE_ONE_TARGET.replace("llc_slices", "llc_slice"), 5, "unknown field llc_slice"),
    (TABLE_ONE_TARGET.replace("[per_sm]", "[per_sms]"), 10, "unknown field per_sms"),
    (TABLE_ONE_TARGET.replace("sms = 128", "sms = 128.0"), 3, "key gpu.sms"),
    (TABLE_ONE_TARGET.replace("2696", "0"), 7, "key gpu.noc_gb_per_s"),
    (TABLE_ONE_TARGET.replace("2696", "nan"), 7, "key gpu.noc_gb_per_s"),
    (TABLE_ONE_TARGET.replace("34 ", "0.1 "), None, "llc_mib: 0.1 is not a whole number of bytes"),
    (TABLE_ONE_TARGET.replace("34 ", "34,0 "), 4, "not a TOML: "),
    (TABLE_ONE_TARGET.replace("noc_gb", "inter_chiplet_gb"), None, "is of a GPU of chiplets"),
    ("gpu = 3", 1, "key gpu"),
]


@pytest.mark.parametrize(("text", "row", "message"), WRONG)
def test_wrong_files(tmp_path: Path, text: str, row: int | None, message: str) -> None:
    path = tmp_path / "target.toml"
    path.write_text(text)
    with pytest.raises(ProfileError) as raised:
        read_target(str(path))
    assert str(raised.value).startswith(str(path))
    assert message in str(raised.value)
    assert raised.value.row == row
    assert raised.value.remedy


@pytest.mark.parametrize(
    "text",
    [
        "gpu = {sms = 4, llc_mib = 1, llc_slices = 2, memory_controllers = 2}\n",
        '[gpu]\n"sms" = 4\nllc_mib = 1\nllc_slices = 2\nmemory_controllers = 2\n',
    ],
)
def test_a_file_whose_values_cannot_be_replaced_is_refused(text: str) -> None:
    assert model(text, 1).text == text
    with pytest.raises(ProfileError, match="cannot be replaced as they are written; write the table"):
        model(text, 2)


# -- a gpgpusim.config ---------------------------------------------------------------------------------------

# A GPU in the manner of Volta: 80 SMs, 32 channels of HBM, two slices each of 96 KiB.
VOLTA = """\
# Written from the tool's grammar; 80 SMs
-gpgpu_ptx_force_max_capability 70\x20

-gpgpu_n_clusters 80
-gpgpu_n_cores_per_cluster 1
-gpgpu_n_mem 32
-gpgpu_n_sub_partition_per_mchannel 2\x20

#-gpgpu_clock_domains <Core Clock>:<Interconnect Clock>:<L2 Clock>:<DRAM Clock>
-gpgpu_clock_domains 1132.0:1132.0:1132.0:850.0
# boost mode
# -gpgpu_clock_domains 1628.0:1628.0:1628.0:850.0

-gpgpu_shader_core_pipeline 2048:32\x20
-gpgpu_cache:dl1  S:4:128:64,L:T:m:L:L,A:512:8,16:0,32
-gpgpu_cache:dl2 S:32:128:24,L:B:m:L:P,A:192:4,32:0,32
-gpgpu_memory_partition_indexing 2
-network_mode 2
-icnt_flit_size 40

-gpgpu_dram_buswidth 16
-dram_data_command_freq_ratio 2  # HBM is DDR
-gpgpu_mem_addr_mapping dramid@8;00000000.00000000.00000000.00000000.0000RRRR.RRRRRRRR.RBBBCCCB.CCCSSSSS
-gpgpu_dram_timing_opt "nbk=16:CCD=1:RRD=3:RCD=12:RAS=28:RP=12:RC=40:
                        CL=12:WL=2:CDLR=3:WR=10:nbkgrp=4:CCDL=2:RTPL=3"
-visualizer_enabled 0
#-trace_enabled 1"""


def simulator_reads(text: str) -> dict[str, str]:
    """Return option -> value as the simulator's parser would: no comments, words, the last one counts."""
    words = " ".join(line.partition("#")[0] for line in text.split("\n")).split()
    options: dict[str, str] = {}
    while words:
        name = words.pop(0)
        value = words.pop(0)
        while value.startswith('"') and not (len(value) > 1 and value.endswith('"')):
            value += f" {words.pop(0)}"
        options[name] = value.strip('"')
    return options


def config(text: str) -> Target:
    return config_target(text, "nowhere/gpgpusim.config")


def config_model(text: str, factor: int) -> ScaledModel:
    return derive(config(text), [factor])[0]


def listed(scaled: ScaledModel) -> list[tuple[str, str, str]]:
    return [(one.option, one.old, one.new) for one in scaled.changes]


def codes(scaled: ScaledModel) -> list[str]:
    return [note.code for note in scaled.notes]


@pytest.mark.parametrize(
    ("channels", "slices", "factor", "indexing", "new"),
    [
        (32, 2, 4, 2, None),  # 16 slices
        (32, 2, 8, 2, 1),  # 8 slices: no polynomial; 4 channels
        (24, 2, 2, 2, None),  # 12 channels, hashed as 16: 32 slices, then modulo
        (24, 2, 4, 2, None),  # 6 channels, hashed as 8: 16 slices
        (24, 2, 8, 2, 0),  # 3 channels, hashed as 4: 8 slices; no power of two
        (40, 2, 2, 6, 0),  # 40 slices are 8 x 5
        (32, 2, 16, 0, None),
        (32, 2, 16, 4, None),
    ],
)
def test_a_hash_the_simulator_does_not_have_is_replaced(
    channels: int, slices: int, factor: int, indexing: int, new: int | None
) -> None:
    text = (
        VOLTA.replace("-gpgpu_n_mem 32", f"-gpgpu_n_mem {channels}")
        .replace("mchannel 2", f"mchannel {slices}")
        .replace("partition_indexing 2", f"partition_indexing {indexing}")
    )
    scaled = config_model(text, factor)
    read = simulator_reads(scaled.text)
    assert read["-gpgpu_memory_partition_indexing"] == str(indexing if new is None else new)
    assert ("partition-indexing-changed" in codes(scaled)) == (new is not None)
    change = ("-gpgpu_memory_partition_indexing", str(indexing), str(new))
    assert (change in listed(scaled)) == (new is not None)


def test_a_mapping_of_single_channel_bits_cannot_be_scaled() -> None:
    text = re.sub(
        r"dramid@8;.*", "00000000.00000000.00000000.00000000.RRRRRRRR.RRRRRBBB.BCCCDDDD.DCCSSSSS", VOLTA
    )
    assert config_model(text, 1).text == text
    with pytest.raises(ProfileError, match=r"row 23: -gpgpu_mem_addr_mapping names .*; write it as dramid@"):
        config_model(text, 2)


def chiplets(parts: int, clusters: int = 132, channels: int = 40) -> str:
    return (
        VOLTA.replace("-gpgpu_n_clusters 80", f"-gpgpu_n_clusters {clusters}")
        .replace("-gpgpu_n_mem 32", f"-gpgpu_n_mem {channels}\n-gpgpu_n_chiplet_partition {parts}")
        .replace("indexing 2", "indexing 0")
    )


def test_each_part_of_a_die_is_divided() -> None:
    assert config_model(chiplets(1), 4).resources.sms == 33
    assert simulator_reads(config_model(chiplets(2), 2).text)["-gpgpu_n_chiplet_partition"] == "2"
    with pytest.raises(
        OptionError,
        match=r"66 SM clusters in each of 2 chiplet partitions \(-gpgpu_n_clusters\); give one of 1 and 2,",
    ):
        config_model(chiplets(2), 4)


# The grammar


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("-gpgpu_n_mem 32", "-gpgpu_n_mem 99 # not this\n-gpgpu_n_mem 32"),
        ("-gpgpu_n_mem 32", "-gpgpu_n_mem\n\t32# channels"),
        ("-gpgpu_n_mem 32", '-gpgpu_n_mem "32" -gpgpu_flush_l1_cache 1'),
        ("-gpgpu_n_mem 32\n", "-gpgpu_n_mem 32\r\n"),
        ("-visualizer_enabled 0", "-visualizer_enabled -1"),
        ("S:32:128:24", "32:128:24"),
    ],
)
def test_ways_to_write_the_same(old: str, new: str) -> None:
    text = VOLTA.replace(old, new)
    assert config(text).resources == config(VOLTA).resources
    scaled = config_model(text, 2)
    assert simulator_reads(scaled.text) == {
        **simulator_reads(text),
        "-gpgpu_n_clusters": "40",
        "-gpgpu_n_mem": "16",
    }


@pytest.mark.parametrize(
    ("old", "new", "below", "message"),
    [
        *(
            (f"-gpgpu_{option}", "", None, f"-gpgpu_{option.partition(' ')[0]} is missing")
            for option in ("n_mem 32", "n_clusters 80", "n_cores_per_cluster 1")
        ),
        ("-gpgpu_cache:dl2 S", "-gpgpu_cache:dl3 S", None, "-gpgpu_cache:dl2 is ''"),
        *(
            ("n_mem 32", f"n_mem {wrong}", 0, f"-gpgpu_n_mem is '{wrong[:9]}")
            for wrong in ("many", "0", "3.5", "040", "9" * 5000, "")
        ),
        ("n_mem 32", "n_mem\n\n-1", 2, "-gpgpu_n_mem is '-1', not a whole number from 1"),
        ("buswidth 16", "buswidth wide", 0, "-gpgpu_dram_buswidth is 'wide', not a whole number"),
        ("S:32:128:24,", "S:32:128,", 0, "-gpgpu_cache:dl2 is 'S:32:128,L:B:m:L:P,A:192:4,32:0,32', which"),
        ("-gpgpu_n_mem 32", "-gpgpu_n_mem 32 64", 0, "'64' is neither an option nor the value of one"),
        ("# boost mode", "-config more.config", 0, "-config reads another file"),
    ],
)
def test_wrong_configurations(tmp_path: Path, old: str, new: str, below: int | None, message: str) -> None:
    """The row is that of what was changed, or below it."""
    row = None if below is None else VOLTA.count("\n", 0, VOLTA.index(old)) + 1 + below
    path = tmp_path / "gpgpusim.config"
    path.write_text(VOLTA.replace(old, new))
    with pytest.raises(ProfileError) as raised:
        read_target(str(path))
    assert raised.value.message.startswith(f"{path}" + (f", row {row}" if row else "") + f": {message}")
    assert raised.value.row == row
    assert raised.value.remedy


# Properties


@st.composite
def configurations(draw: st.DrawFn) -> tuple[str, int]:
    """Draw a configuration in some order and spacing, and a factor that divides it."""
    factor = 2 ** draw(st.integers(0, 6))
    options = {
        "-gpgpu_n_clusters": factor * draw(st.integers(1, 9)),
        "-gpgpu_n_cores_per_cluster": draw(st.integers(1, 3)),
        "-gpgpu_n_mem": factor * 2 ** draw(st.integers(0, 3)),
        "-gpgpu_n_sub_partition_per_mchannel": draw(st.sampled_from([1, 2, 4])),
        "-gpgpu_cache:dl2": f"S:{draw(st.integers(1, 99))}:128:16,L:B:m:L:P,A:192:4,32:0,32",
        "-gpgpu_memory_partition_indexing": draw(st.sampled_from([0, 1, 2, 4])),
        "-network_mode": 2,
        "-gpgpu_clock_domains": "1000:1000:1000:850.5",
        "-gpgpu_mem_addr_mapping": "dramid@8;RRRR.BBBB",
    }
    end = draw(st.sampled_from(["\n", "\r\n"]))
    gap = st.sampled_from([" ", "\t", "  ", end])
    tail = st.sampled_from([end, f" {end}", f" # -gpgpu_n_mem 3{end}", f"#{end}{end}", "  "])
    names = draw(st.permutations(list(options)))
    parts = [f"{name}{draw(gap)}{options[name]}{draw(tail)}" for name in names]
    return f"# 80 SMs, é{end}{''.join(parts)}", factor


@given(configurations())
def test_the_simulator_reads_only_what_is_listed_otherwise(drawn: tuple[str, int]) -> None:
    text, factor = drawn
    before, after = simulator_reads(text), simulator_reads(config_model(text, factor).text)
    changed = {(name, before[name], after[name]) for name in before if before[name] != after[name]}
    assert changed == set(listed(config_model(text, factor)))
    assert list(before) == list(after)
    for name in ("-gpgpu_n_clusters", "-gpgpu_n_mem"):
        assert int(after[name]) * factor == int(before[name])
