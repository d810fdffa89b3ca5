"""`gpgpusim.config` of a target and of its scale models.

The configurations here are written from the simulator's grammar, in the manner of its tested ones; none is
a copy, and nothing here was run through the simulator. What the simulator would read is found by a second
reader that goes through the text line by line.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalemodel.derive import (
    GpgpuSimConfig,
    NoteCode,
    ScaledModel,
    SharedResources,
    derive,
    factors_for_sizes,
    read_target,
)
from scalemodel.errors import InputError, OptionError

MIB = 2**20

# A GPU in the manner of Volta: 80 SMs, 32 channels of HBM, two slices each of 96 KiB.
VOLTA = """\
# Written from the tool's grammar; 80 SMs
-gpgpu_ptx_instruction_classification 0
-gpgpu_ptx_force_max_capability 70\x20

# high level architecture configuration
-gpgpu_n_clusters 80
-gpgpu_n_cores_per_cluster 1
-gpgpu_n_mem 32
-gpgpu_n_sub_partition_per_mchannel 2\x20
-gpgpu_clock_gated_lanes 1

#-gpgpu_clock_domains <Core Clock>:<Interconnect Clock>:<L2 Clock>:<DRAM Clock>
-gpgpu_clock_domains 1132.0:1132.0:1132.0:850.0
# boost mode
# -gpgpu_clock_domains 1628.0:1628.0:1628.0:850.0

-gpgpu_shader_registers 65536
-gpgpu_shader_core_pipeline 2048:32\x20
-gpgpu_shader_cta 32
-gpgpu_num_sched_per_core 4
-gpgpu_unified_l1d_size 128
-gpgpu_cache:dl1  S:4:128:64,L:T:m:L:L,A:512:8,16:0,32
-gpgpu_shmem_size 98304

# 32 sets, each 128 bytes 24-way for each memory sub partition
-gpgpu_cache:dl2 S:32:128:24,L:B:m:L:P,A:192:4,32:0,32
-gpgpu_cache:dl2_texture_only 0
-gpgpu_dram_partition_queues 64:64:64:64
-gpgpu_memory_partition_indexing 2

-network_mode 2
-icnt_in_buffer_limit 512
-icnt_flit_size 40

-gpgpu_n_mem_per_ctrlr 1
-gpgpu_dram_buswidth 16
-gpgpu_dram_burst_length 2
-dram_data_command_freq_ratio 2  # HBM is DDR
-gpgpu_mem_address_mask 1
-gpgpu_mem_addr_mapping dramid@8;00000000.00000000.00000000.00000000.0000RRRR.RRRRRRRR.RBBBCCCB.CCCSSSSS
-gpgpu_dram_timing_opt "nbk=16:CCD=1:RRD=3:RCD=12:RAS=28:RP=12:RC=40:
                        CL=12:WL=2:CDLR=3:WR=10:nbkgrp=4:CCDL=2:RTPL=3"
-dram_dual_bus_interface 1
-visualizer_enabled 0
#-trace_enabled 1"""

# The paper's target as a configuration: 128 SMs, 16 memory controllers, 64 slices of 64 sets of 64 ways.
PAPER = (
    VOLTA.replace("-gpgpu_n_clusters 80", "-gpgpu_n_clusters 128")
    .replace("-gpgpu_n_mem 32", "-gpgpu_n_mem 16")
    .replace("mchannel 2", "mchannel 4")
    .replace("S:32:128:24", "S:64:128:64")
)

# 28 SMs and 12 channels of GDDR, and a crossbar of BookSim with a port for each SM and slice.
PASCAL = (
    VOLTA.replace("-gpgpu_n_clusters 80", "-gpgpu_n_clusters 28")
    .replace("-gpgpu_n_mem 32", "-gpgpu_n_mem 12")
    .replace("S:32:128:24", "S:64:128:16")
    .replace("partition_indexing 2", "partition_indexing 0")
    .replace("-network_mode 2", "-network_mode 1\n-inter_config_file pascal.icnt")
)
CROSSBAR = """\
//21*1 fly with 32 flits per packet; k = 7;
use_map = 0;
flit_size = 32;
topology = fly;
k = 52; // ports
n = 1;
routing_function = dest_tag;
packet_size ={{1,2,3,4},{10,20}};
"""


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


def config(text: str) -> GpgpuSimConfig:
    return GpgpuSimConfig(text, "nowhere/gpgpusim.config")


def model(text: str, factor: int) -> ScaledModel:
    return derive(config(text), [factor])[0]


def listed(scaled: ScaledModel) -> list[tuple[str, str, str]]:
    return [(one.option, one.old, one.new) for one in scaled.changes]


def codes(scaled: ScaledModel) -> list[NoteCode]:
    return [note.code for note in scaled.notes]


def test_what_the_sms_share() -> None:
    # 80 SMs; 64 slices of 96 KiB are 6 MiB; 32 channels x 16 B x 2 x 850 MHz; 64 slices x 40 B x 1132 MHz.
    assert config(VOLTA).resources == SharedResources(80, 6 * MIB, 64, 32, 2897.92, 870.4)


def test_a_scale_model_of_half_the_size() -> None:
    scaled = model(VOLTA, 2)
    assert scaled.resources == SharedResources(40, 3 * MIB, 32, 16, 1448.96, 435.2)
    assert listed(scaled) == [("-gpgpu_n_clusters", "80", "40"), ("-gpgpu_n_mem", "32", "16")]
    assert {one.file for one in scaled.changes} == {"gpgpusim.config"}
    wanted = VOLTA.replace("-gpgpu_n_clusters 80\n", "-gpgpu_n_clusters 40\n").replace(
        "-gpgpu_n_mem 32\n", "-gpgpu_n_mem 16\n"
    )
    assert scaled.files == (("gpgpusim.config", wanted),)
    assert scaled.notes == ()


def test_what_one_sm_has_is_shown_as_unchanged() -> None:
    unchanged = dict(model(VOLTA, 2).unchanged)
    assert unchanged["-gpgpu_clock_domains"] == "1132.0:1132.0:1132.0:850.0"
    assert unchanged["-gpgpu_cache:dl1"] == "S:4:128:64,L:T:m:L:L,A:512:8,16:0,32"
    assert unchanged["-gpgpu_n_cores_per_cluster"] == "1"
    assert not {"-gpgpu_n_clusters", "-gpgpu_n_mem"} & set(unchanged)


@pytest.mark.parametrize("factor", [1, 2, 4, 8, 16])
def test_the_papers_sizes_from_a_configuration(factor: int) -> None:
    scaled = model(PAPER, factor)
    read = simulator_reads(scaled.text)
    # 64 slices of 64 sets x 64 ways x 128 B are 32 MiB, the 34 MB (10^6) of Table III.
    assert scaled.resources.sms == int(read["-gpgpu_n_clusters"]) == 128 // factor
    assert scaled.resources.memory_controllers == int(read["-gpgpu_n_mem"]) == 16 // factor
    assert scaled.resources.llc_slices == 64 // factor
    assert scaled.resources.llc_bytes == 32 * MIB // factor


def test_the_factors_of_the_papers_two_sizes() -> None:
    assert factors_for_sizes(config(PAPER), (8, 16)) == (16, 8)


def test_a_factor_of_one_is_the_target_byte_for_byte() -> None:
    text = PASCAL.replace("\n", "\r\n")
    scaled = model(text, 1)
    assert (scaled.text, scaled.changes, scaled.notes) == (text, (), ())


def test_a_factor_that_does_not_divide_is_refused_with_those_that_do() -> None:
    with pytest.raises(OptionError) as raised:
        model(VOLTA, 32)
    assert str(raised.value) == (
        "a factor of 32 does not divide the 80 SM clusters (-gpgpu_n_clusters);"
        " the factors that divide every shared resource are 2, 4, 8 and 16"
    )


def test_clusters_and_not_their_sms_are_divided() -> None:
    # A cluster is a port of the network: 15 clusters of 2 SMs cannot be halved, though 30 SMs can.
    text = VOLTA.replace("-gpgpu_n_clusters 80", "-gpgpu_n_clusters 15").replace("cluster 1", "cluster 2")
    assert config(text).resources.sms == 30
    with pytest.raises(OptionError, match=r"does not divide the 15 SM clusters"):
        model(text, 2)


@pytest.mark.parametrize(
    ("channels", "slices", "factor", "indexing", "new"),
    [
        (32, 2, 2, 2, None),  # 32 slices
        (32, 2, 4, 2, None),  # 16 slices
        (128, 2, 2, 2, None),  # 128 slices: a simulator that hashes the target's 256 has more polynomials
        (32, 2, 8, 2, 1),  # 8 slices: no polynomial; 4 channels
        (32, 2, 16, 2, 1),
        (24, 2, 2, 2, None),  # 12 channels, hashed as 16: 32 slices, then modulo
        (24, 2, 4, 2, None),  # 6 channels, hashed as 8: 16 slices
        (24, 2, 8, 2, 0),  # 3 channels, hashed as 4: 8 slices; no power of two
        (40, 2, 2, 6, 0),  # 40 slices are 8 x 5
        (32, 4, 4, 6, None),  # 32 slices
        (32, 2, 16, 0, None),
        (32, 2, 16, 1, None),
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
    scaled = model(text, factor)
    read = simulator_reads(scaled.text)
    assert read["-gpgpu_memory_partition_indexing"] == str(indexing if new is None else new)
    assert (NoteCode.INDEXING in codes(scaled)) == (new is not None)
    change = ("-gpgpu_memory_partition_indexing", str(indexing), str(new))
    assert (change in listed(scaled)) == (new is not None)


def test_the_note_on_the_hash_says_what_is_done() -> None:
    (note,) = model(VOLTA, 8).notes
    assert note.sentence == (
        "the simulator's IPOLY hash is for 16 cache slices or more, so"
        " -gpgpu_memory_partition_indexing is 1, bitwise XOR, where the target has 2"
    )


@pytest.mark.parametrize(("channels", "factor", "noted"), [(48, 2, False), (12, 4, False), (4, 2, False)])
def test_channels_that_are_decoded_alike_need_no_note(channels: int, factor: int, noted: bool) -> None:
    text = VOLTA.replace("-gpgpu_n_mem 32", f"-gpgpu_n_mem {channels}").replace("indexing 2", "indexing 0")
    assert (NoteCode.DECODING in codes(model(text, factor))) == noted


def test_channels_that_are_decoded_otherwise_are_noted() -> None:
    text = VOLTA.replace("-gpgpu_n_mem 32", "-gpgpu_n_mem 20").replace("indexing 2", "indexing 0")
    (note,) = model(text, 5).notes
    assert note.code == "channels-decoded-differently"
    assert note.sentence.startswith(
        "the target's 20 memory channels are found by division, the scale model's 4"
    )


def test_a_mapping_of_single_channel_bits_cannot_be_scaled() -> None:
    text = re.sub(
        r"dramid@8;.*", "00000000.00000000.00000000.00000000.RRRRRRRR.RRRRRBBB.BCCCDDDD.DCCSSSSS", VOLTA
    )
    assert model(text, 1).text == text
    with pytest.raises(InputError, match=r"row 40: -gpgpu_mem_addr_mapping names .*; write it as dramid@"):
        model(text, 2)


def chiplets(parts: int, clusters: int = 132, channels: int = 40) -> str:
    return (
        VOLTA.replace("-gpgpu_n_clusters 80", f"-gpgpu_n_clusters {clusters}")
        .replace("-gpgpu_n_mem 32", f"-gpgpu_n_mem {channels}\n-gpgpu_n_chiplet_partition {parts}")
        .replace("indexing 2", "indexing 0")
    )


def test_each_part_of_a_die_is_divided() -> None:
    assert model(chiplets(1), 4).resources.sms == 33
    assert simulator_reads(model(chiplets(2), 2).text)["-gpgpu_n_chiplet_partition"] == "2"
    with pytest.raises(
        OptionError,
        match=r"66 SM clusters in each of 2 chiplet partitions \(-gpgpu_n_clusters\); the one factor .* 2$",
    ):
        model(chiplets(2), 4)


def test_parts_that_are_not_alike_are_an_error() -> None:
    with pytest.raises(
        InputError, match=r"row 9: -gpgpu_n_chiplet_partition 3 does not divide 132 clusters and 40"
    ):
        config(chiplets(3))


# The network of BookSim


def folder_with(folder: Path, text: str = PASCAL, network: str | None = CROSSBAR) -> Path:
    path = folder / "gpgpusim.config"
    path.write_bytes(text.encode())
    if network is not None:
        (folder / "pascal.icnt").write_bytes(network.encode())
    return path


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_ports_of_a_crossbar_go_with_the_factor(tmp_path: Path, end: str) -> None:
    target = read_target(folder_with(tmp_path, network=CROSSBAR.replace("\n", end)))
    (scaled,) = derive(target, [4])
    # 24 slices of 32 B at 1132 MHz in the target, 6 in the scale model.
    assert target.resources.noc_gb_per_s == pytest.approx(24 * 32 * 1.132)
    assert scaled.resources.noc_gb_per_s == pytest.approx(6 * 32 * 1.132)
    assert [name for name, _ in scaled.files] == ["gpgpusim.config", "pascal.icnt"]
    assert scaled.files[1][1] == CROSSBAR.replace("k = 52", "k = 13").replace("\n", end)
    change = scaled.changes[-1]
    assert (change.file, change.option, change.old, change.new) == ("pascal.icnt", "k", "52", "13")
    assert simulator_reads(scaled.text)["-inter_config_file"] == "pascal.icnt"
    assert codes(scaled) == []


def test_ports_to_spare_are_not_carried_over(tmp_path: Path) -> None:
    path = folder_with(tmp_path, network=CROSSBAR.replace("k = 52", "k = 60"))
    assert "\nk = 26;" in derive(read_target(path), [2])[0].files[1][1]


def test_of_the_target_itself_the_network_is_not_touched(tmp_path: Path) -> None:
    path = folder_with(tmp_path, network=CROSSBAR.replace("fly", "mesh"))
    assert [name for name, _ in derive(read_target(path), [1])[0].files] == ["gpgpusim.config"]


@pytest.mark.parametrize("named", ["pascal.icnt", "elsewhere/pascal.icnt"])
def test_a_network_file_that_is_not_there_is_noted(tmp_path: Path, named: str) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "pascal.icnt").write_text(CROSSBAR)
    path = folder_with(tmp_path, PASCAL.replace("pascal.icnt", named), network=None)
    (scaled,) = derive(read_target(path), [2])
    assert scaled.resources.noc_gb_per_s is None
    (note,) = scaled.notes
    assert note.code == "network-file-not-scaled"
    assert note.sentence == (
        f"the network file {named} is not a file beside the configuration,"
        " so its number of ports is not scaled"
    )


def test_without_a_network_the_simulators_default_is_noted() -> None:
    assert codes(model(VOLTA.replace("-network_mode 2\n", ""), 2)) == [NoteCode.NETWORK]


def test_of_a_local_crossbar_a_network_file_is_not_read(tmp_path: Path) -> None:
    path = folder_with(tmp_path, PASCAL.replace("-network_mode 1", "-network_mode 2"))
    (scaled,) = derive(read_target(path), [2])
    assert (len(scaled.files), scaled.notes) == (1, ())


@pytest.mark.parametrize(
    ("old", "new", "row", "message"),
    [
        ("topology = fly", "topology = mesh", 4, "not a crossbar (topology = mesh), and of no other network"),
        ("topology = fly;", "", None, "not a crossbar (topology is not set), and of no other network"),
        ("n = 1", "n = 2", 6, "not a crossbar (n = 2), and of no other network"),
        ("use_map = 0", "use_map = 1", 2, "not a crossbar (use_map = 1), and of no other network"),
        ("k = 52", "k = 51", 5, "the crossbar has 51 ports, the target 52 clusters and cache slices"),
        ("k = 52", "k = many", 5, "does not say in k = NUMBER; how many ports the crossbar has"),
        ("k = 52;", "", None, "does not say in k = NUMBER; how many ports the crossbar has"),
    ],
)
def test_networks_that_cannot_be_scaled(
    tmp_path: Path, old: str, new: str, row: int | None, message: str
) -> None:
    target = read_target(folder_with(tmp_path, network=CROSSBAR.replace(old, new)))
    with pytest.raises(InputError) as raised:
        derive(target, [2])
    place = str(tmp_path / "pascal.icnt") + (f", row {row}" if row else "")
    assert raised.value.message.startswith(f"{place}: {message}")
    assert raised.value.remedy


def test_a_network_file_that_is_no_text(tmp_path: Path) -> None:
    path = folder_with(tmp_path)
    (tmp_path / "pascal.icnt").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match=r"pascal\.icnt: not a text file"):
        read_target(path)


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
    scaled = model(text, 2)
    assert simulator_reads(scaled.text) == {
        **simulator_reads(text),
        "-gpgpu_n_clusters": "40",
        "-gpgpu_n_mem": "16",
    }


def test_a_flag_without_a_value_takes_none_from_the_next_option() -> None:
    text = VOLTA.replace("-gpgpu_n_mem 32", "-gpgpu_perfect_mem -gpgpu_n_mem 32")
    assert config(text).resources == config(VOLTA).resources


def test_what_is_not_stated_stays_unknown() -> None:
    for option in ("-gpgpu_clock_domains", "-gpgpu_dram_buswidth", "-dram_data_command_freq_ratio"):
        text = re.sub(rf"(?m)^{option} .*$", "", VOLTA)
        assert config(text).resources.dram_gb_per_s is None
    assert config(VOLTA.replace("-icnt_flit_size 40", "")).resources.noc_gb_per_s is None
    chips = VOLTA.replace("mem_per_ctrlr 1", "mem_per_ctrlr 2")
    assert config(chips).resources.dram_gb_per_s == 2 * 870.4


@pytest.mark.parametrize(
    ("old", "new", "row", "message"),
    [
        ("-gpgpu_n_mem 32", "", None, "-gpgpu_n_mem is missing"),
        ("-gpgpu_n_clusters 80", "", None, "-gpgpu_n_clusters is missing"),
        ("-gpgpu_n_cores_per_cluster 1", "", None, "-gpgpu_n_cores_per_cluster is missing"),
        ("-gpgpu_n_sub_partition_per_mchannel 2", "", None, "-gpgpu_n_sub_partition_per_mchannel is missing"),
        ("-gpgpu_cache:dl2 S", "-gpgpu_cache:dl3 S", None, "-gpgpu_cache:dl2 is missing"),
        ("n_mem 32", "n_mem many", 8, "-gpgpu_n_mem is 'many', not a whole number from 1"),
        ("n_mem 32", "n_mem 0", 8, "-gpgpu_n_mem is '0', not a whole number from 1"),
        ("n_mem 32", "n_mem 3.5", 8, "-gpgpu_n_mem is '3.5', not a whole number from 1"),
        ("n_mem 32", "n_mem 040", 8, "-gpgpu_n_mem is '040', not a whole number from 1"),
        ("n_mem 32", f"n_mem {'9' * 5000}", 8, "-gpgpu_n_mem is '999"),
        ("n_mem 32", "n_mem", 8, "-gpgpu_n_mem is '', not a whole number from 1"),
        ("n_mem 32", "n_mem\n\n-1", 10, "-gpgpu_n_mem is '-1', not a whole number from 1"),
        ("buswidth 16", "buswidth wide", 36, "-gpgpu_dram_buswidth is 'wide', not a whole number"),
        (":850.0", "", 13, "-gpgpu_clock_domains is '1132.0:1132.0:1132.0', not four clocks in MHz"),
        (":850.0", ":fast", 13, "-gpgpu_clock_domains is '1132.0:1132.0:1132.0:fast', not four clocks"),
        ("S:32:128:24,L:B:m:L:P,A:192:4,32:0,32", "none", 26, "-gpgpu_cache:dl2 is 'none', which does not"),
        ("S:32:128:24,", "S:32:128,", 26, "-gpgpu_cache:dl2 is 'S:32:128,L:B:m:L:P,A:192:4,32:0,32', which"),
        ("-gpgpu_n_mem 32", "-gpgpu_n_mem 32 64", 8, "'64' is neither an option nor the value of one"),
        ("# boost mode", "<<<<<<< HEAD", 14, "'<<<<<<<' is neither an option nor the value of one"),
        ("# boost mode", "-config more.config", 14, "-config reads another file"),
    ],
)
def test_wrong_files(tmp_path: Path, old: str, new: str, row: int | None, message: str) -> None:
    assert old in VOLTA
    path = folder_with(tmp_path, VOLTA.replace(old, new))
    with pytest.raises(InputError) as raised:
        read_target(path)
    assert raised.value.message.startswith(f"{path}" + (f", row {row}" if row else "") + f": {message}")
    assert (raised.value.place.row, str(raised.value.place.path)) == (row, str(path))
    assert raised.value.remedy


# Properties


@st.composite
def configurations(draw: st.DrawFn) -> tuple[str, int, int]:
    """Draw a configuration in some order and spacing, and two factors whose product divides it.

    The channels are a power of two, so that the indexing a small scale model gets is the same on any way.
    """
    exponents = draw(st.tuples(st.integers(0, 3), st.integers(0, 3)))
    first, second = (2**one for one in exponents)
    product = first * second
    options = {
        "-gpgpu_n_clusters": product * draw(st.integers(1, 9)),
        "-gpgpu_n_cores_per_cluster": draw(st.integers(1, 3)),
        "-gpgpu_n_mem": product * 2 ** draw(st.integers(0, 3)),
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
    return f"# 80 SMs, é{end}{''.join(parts)}", first, second


@given(configurations())
def test_the_simulator_reads_only_what_is_listed_otherwise(drawn: tuple[str, int, int]) -> None:
    text, factor, _ = drawn
    before, after = simulator_reads(text), simulator_reads(model(text, factor).text)
    changed = {(name, before[name], after[name]) for name in before if before[name] != after[name]}
    assert changed == set(listed(model(text, factor)))
    assert list(before) == list(after)
    for name in ("-gpgpu_n_clusters", "-gpgpu_n_mem"):
        assert int(after[name]) * factor == int(before[name])


@given(configurations())
def test_what_is_not_a_changed_value_stays_byte_for_byte(drawn: tuple[str, int, int]) -> None:
    text, factor, _ = drawn
    scaled = model(text, factor)
    values = "|".join(re.escape(one.option) for one in scaled.changes)
    if not values:
        assert scaled.text == text
        return
    pattern = rf"(?m)^([^#\r\n]*?(?:{values})\s+)\d+"

    def without_values(whole: str) -> str:
        while (fewer := re.sub(pattern, r"\1", whole)) != whole:
            whole = fewer
        return whole

    assert without_values(scaled.text) == without_values(text)
    assert len(scaled.text.encode()) - len(text.encode()) == sum(
        len(one.new) - len(one.old) for one in scaled.changes
    )


@given(configurations())
def test_one_factor_after_the_other_is_their_product(drawn: tuple[str, int, int]) -> None:
    text, first, second = drawn
    assert model(model(text, first).text, second).text == model(text, first * second).text


@given(configurations())
def test_the_configuration_of_a_scale_model_has_its_resources(drawn: tuple[str, int, int]) -> None:
    text, factor, _ = drawn
    scaled = model(text, factor)
    assert config(scaled.text).resources == scaled.resources


@given(st.text(max_size=40))
def test_any_other_text_is_refused_with_our_own_error(text: str) -> None:
    with pytest.raises(InputError):
        GpgpuSimConfig(text, "file")
