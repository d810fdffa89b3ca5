"""Reads a `gpgpusim.config` of Accel-Sim or GPGPU-Sim, and writes it for a scale model.

Only the values that scale are replaced, every other byte stays.

What the SMs share follows from two options. `-gpgpu_n_clusters`: a cluster is a port of the network, with
`-gpgpu_n_cores_per_cluster` SMs. `-gpgpu_n_mem`: a channel is a memory controller with its own bandwidth
and `-gpgpu_n_sub_partition_per_mchannel` slices of the last-level cache, each of the size in
`-gpgpu_cache:dl2` and each a port of the network. Divided by F, the two divide SMs, cache, slices, network
and memory bandwidth by F. In a network of BookSim the number of ports in its file goes with them.

Two things stand in the way of small scale models. The hash of addresses over slices that most
configurations ask for, IPOLY, has polynomials for 16, 32 and 64 slices, in some versions for more, and the
simulator stops at fewer: there the indexing is changed to bitwise XOR or, where the channels are no power
of two, to none. And a number of channels that is no power of two is decoded by division, any other by
address bits. Both are noted.

Written from the tool's grammar and public source (option_parser.cc, addrdec.cc, hashing.cc, gpu-cache.h),
not run against it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from scalemodel.errors import InputError
from scalemodel.inputs.text_file import written_name
from scalemodel.scale_down.booksim_network import BookSimNetwork
from scalemodel.scale_down.gpgpusim_options import Option, read_options
from scalemodel.scale_down.scale_down import (
    Change,
    Note,
    NoteCode,
    ScaledModel,
    SharedResources,
    WholeResource,
)

_CLUSTERS = "-gpgpu_n_clusters"
_SMS_PER_CLUSTER = "-gpgpu_n_cores_per_cluster"
_CHANNELS = "-gpgpu_n_mem"
_SLICES_PER_CHANNEL = "-gpgpu_n_sub_partition_per_mchannel"
_LLC = "-gpgpu_cache:dl2"
_CHIPLETS = "-gpgpu_n_chiplet_partition"
_CLOCKS = "-gpgpu_clock_domains"
_NETWORK_MODE = "-network_mode"
_NETWORK_FILE = "-inter_config_file"
_FLIT = "-icnt_flit_size"
_CHIPS_PER_CHANNEL = "-gpgpu_n_mem_per_ctrlr"
_BUS_BYTES = "-gpgpu_dram_buswidth"
_DATA_RATE = "-dram_data_command_freq_ratio"
_INDEXING = "-gpgpu_memory_partition_indexing"
_MAPPING = "-gpgpu_mem_addr_mapping"

# What belongs to one SM, and the clocks: shown beside the scaled values as what stays.
_UNCHANGED = (
    _CLOCKS,
    _SMS_PER_CLUSTER,
    "-gpgpu_shader_core_pipeline",
    "-gpgpu_shader_cta",
    "-gpgpu_shader_registers",
    "-gpgpu_num_sched_per_core",
    "-gpgpu_cache:dl1",
    "-gpgpu_unified_l1d_size",
    "-gpgpu_shmem_size",
    _LLC,
    _SLICES_PER_CHANNEL,
)

_BOOKSIM, _LOCAL_CROSSBAR = "1", "2"
_NO_INDEXING, _BITWISE, _IPOLY, _IPOLY_MODULO = 0, 1, 2, 6
_IPOLY_LEAST_SLICES = 16

# At most nine digits: no more than the simulator's 32 bits hold.
_WHOLE = re.compile(r"[1-9][0-9]{0,8}", re.ASCII)
_NUMBER = re.compile(r"[0-9]{1,9}(?:\.[0-9]*)?", re.ASCII)
# The letter for a sectored or a normal cache is not there in GPGPU-Sim 3.
_CACHE = re.compile(r"(?:[A-Z]:)?([1-9][0-9]{0,8}):([1-9][0-9]{0,8}):([1-9][0-9]{0,8}),", re.ASCII)


@dataclass(frozen=True, slots=True)
class GpgpuSimConfig:
    """A target configuration.

    Attributes
    ----------
    path : where it was read from.
    text : all of it.
    options : name, with its hyphen -> the value that counts.
    network : BookSim's file, where the configuration names one and it lies beside it.
    resources : what the SMs share. The bandwidth of the network is nominal: flits through the narrower side
        of the crossbar in one direction, not the bisection bandwidth that the paper states of its target.
    """

    path: str
    text: str
    options: Mapping[str, Option]
    network: BookSimNetwork | None
    resources: SharedResources

    @property
    def whole_resources(self) -> tuple[WholeResource, ...]:
        """What a factor must divide: clusters and channels, of each part of a die that has several."""
        parts = self._whole(_CHIPLETS) if _CHIPLETS in self.options else 1
        where = "" if parts == 1 else f" in each of {parts} chiplet partitions"
        return tuple(
            WholeResource(self._whole(option) // parts, f"{name}{where} ({option})")
            for option, name in ((_CLUSTERS, "SM clusters"), (_CHANNELS, "memory channels"))
        )

    def scaled(self, factor: int) -> ScaledModel:
        """Return the scale model; the factor is one that divides all whole resources.

        Raises
        ------
        InputError : the address mapping or the network cannot be scaled.
        """
        edits = self._edits(factor) if factor > 1 else {}
        network = self._scaled_network(factor) if factor > 1 else None
        name = written_name(self.path, of_stdin="gpgpusim.config")
        changes = [
            Change(name, option, self.options[option].value, str(new)) for option, new in edits.items()
        ]
        files = [(name, self._with(edits))]
        if network is not None:
            changes.append(network[0])
            files.append((network[0].file, network[1]))
        return ScaledModel(
            factor=factor,
            resources=self.resources.divided(factor),
            unchanged=tuple((name, self.options[name].value) for name in _UNCHANGED if name in self.options),
            changes=tuple(changes),
            files=tuple(files),
            notes=self._notes(edits) if edits else (),
        )

    def _edits(self, factor: int) -> dict[str, int]:
        """Return option -> new value."""
        self._check_mapping()
        clusters, channels = self._whole(_CLUSTERS) // factor, self._whole(_CHANNELS) // factor
        edits = {_CLUSTERS: clusters, _CHANNELS: channels}
        indexing = self._indexing(channels)
        return edits if indexing is None else {**edits, _INDEXING: indexing}

    def _with(self, edits: Mapping[str, int]) -> str:
        """Return the text with new values; the last of the file first, so that no place shifts."""
        text = self.text
        places = {self.options[name].start: (self.options[name], new) for name, new in edits.items()}
        for start in sorted(places, reverse=True):
            option, new = places[start]
            text = f"{text[:start]}{new}{text[start + len(option.value) :]}"
        return text

    def _scaled_network(self, factor: int) -> tuple[Change, str] | None:
        """Return what changes in BookSim's file, and its text; None where it is not known."""
        if self.network is None:
            return None
        ports = self._whole(_CLUSTERS) + self.resources.llc_slices
        old, text = self.network.with_ports(ports, ports // factor)
        return Change(self.network.name, "k", old, str(ports // factor)), text

    def _check_mapping(self) -> None:
        mapping = self.options.get(_MAPPING)
        if mapping is None or mapping.value.startswith("dramid@"):
            return
        if "d" in mapping.value.lower():
            raise InputError(
                f"{_MAPPING} names the address bits of {self._whole(_CHANNELS)} memory channels one by one,"
                " so it holds for no other number",
                path=self.path,
                row=mapping.row,
                remedy="write it as dramid@FIRST_BIT;MAP, without the letter D",
            )

    def _indexing(self, channels: int) -> int | None:
        """Return the indexing of channels to change to, None where the target's can stay."""
        option = self.options.get(_INDEXING)
        if option is None or option.value not in {str(_IPOLY), str(_IPOLY_MODULO)}:
            return None
        slices = _hashed_slices(int(option.value), channels, self._whole(_SLICES_PER_CHANNEL))
        if slices >= _IPOLY_LEAST_SLICES:
            return None
        return _BITWISE if _is_power_of_two(channels) else _NO_INDEXING

    def _notes(self, edits: Mapping[str, int]) -> tuple[Note, ...]:
        channels, before = edits[_CHANNELS], self._whole(_CHANNELS)
        notes = []
        if _INDEXING in edits:
            how = "bitwise XOR" if edits[_INDEXING] == _BITWISE else "no hash"
            sentence = (
                "the simulator's IPOLY hash is for 16 cache slices or more, so"
                f" {_INDEXING} is {edits[_INDEXING]}, {how}, where the target has"
                f" {self.options[_INDEXING].value}"
            )
            notes.append(Note(NoteCode.INDEXING, sentence))
        if _is_power_of_two(channels) and not _is_power_of_two(before):
            sentence = (
                f"the target's {before} memory channels are found by division, the scale model's {channels}"
                " by address bits, so addresses spread over them otherwise"
            )
            notes.append(Note(NoteCode.DECODING, sentence))
        if self.network is None and self._network_mode == _BOOKSIM:
            named = self.options.get(_NETWORK_FILE)
            sentence = (
                f"the network file {'of BookSim' if named is None else named.value} is not a file beside"
                " the configuration, so its number of ports is not scaled"
            )
            notes.append(Note(NoteCode.NETWORK, sentence))
        return tuple(notes)

    @property
    def _network_mode(self) -> str:
        return self.options[_NETWORK_MODE].value if _NETWORK_MODE in self.options else _BOOKSIM

    def _whole(self, option: str) -> int:
        return int(self.options[option].value)


def _hashed_slices(indexing: int, channels: int, slices_per_channel: int) -> int:
    """Return over how many slices the simulator asks its IPOLY hash to spread addresses."""
    if indexing == _IPOLY_MODULO:
        slices = channels * slices_per_channel
        return slices & -slices
    return (1 << (channels - 1).bit_length()) * slices_per_channel


def _is_power_of_two(number: int) -> bool:
    return number & (number - 1) == 0


def parse_gpgpusim_config(text: str, path: str | Path) -> GpgpuSimConfig:
    """Read a configuration; the network file that it names is looked for beside ``path``.

    Raises
    ------
    InputError : not a configuration, an option is missing or not a number, or there is no last-level cache.
    """
    reader = _Reader(str(path), text)
    network = reader.network()
    return GpgpuSimConfig(str(path), text, reader.options, network, reader.resources(network))


class _Reader:
    """The options of a text, and the numbers in them."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.options = read_options(text, path)

    def network(self) -> BookSimNetwork | None:
        """Return BookSim's file if the configuration names one and it lies beside it."""
        named = self.options.get(_NETWORK_FILE)
        if named is None or self._text(_NETWORK_MODE) not in {None, _BOOKSIM}:
            return None
        path = Path(self.path).parent / named.value
        if Path(named.value).name != named.value or not path.is_file():
            return None
        try:
            text = path.read_bytes().decode("utf-8")
        except OSError as error:
            raise InputError(f"cannot be read ({error.strerror})", path=path) from error
        except UnicodeDecodeError as error:
            raise InputError("not a text file", path=path) from error
        return BookSimNetwork(named.value, str(path), text)

    def resources(self, network: BookSimNetwork | None) -> SharedResources:
        """Return what the SMs share."""
        clusters, channels = self.whole(_CLUSTERS), self.whole(_CHANNELS)
        slices = channels * self.whole(_SLICES_PER_CHANNEL)
        self._check_chiplets(clusters, channels)
        return SharedResources(
            sms=clusters * self.whole(_SMS_PER_CLUSTER),
            llc_bytes=slices * self._slice_bytes(),
            llc_slices=slices,
            memory_controllers=channels,
            noc_gb_per_s=self._noc_gb_per_s(min(clusters, slices), network),
            dram_gb_per_s=self._dram_gb_per_s(channels),
        )

    def whole(self, name: str) -> int:
        """Return an option that is a whole number from 1."""
        option = self._required(name)
        if not _WHOLE.fullmatch(option.value):
            raise self._error(
                option, f"{name} is {option.value!r}, not a whole number from 1", "write it in decimal digits"
            )
        return int(option.value)

    def _check_chiplets(self, clusters: int, channels: int) -> None:
        if _CHIPLETS not in self.options:
            return
        parts = self.whole(_CHIPLETS)
        if clusters % parts or channels % parts:
            raise self._error(
                self.options[_CHIPLETS],
                f"{_CHIPLETS} {parts} does not divide {clusters} clusters and {channels} memory channels",
                "give a target whose chiplet partitions are alike",
            )

    def _slice_bytes(self) -> int:
        option = self._required(_LLC)
        found = _CACHE.match(option.value)
        if found is None:
            raise self._error(
                option,
                f"{_LLC} is {option.value!r}, which does not start with sets:line bytes:ways",
                "give a target with a last-level cache, as in S:32:128:24,L:B:m:L:P,A:192:4,32:0,32",
            )
        return int(found[1]) * int(found[2]) * int(found[3])

    def _noc_gb_per_s(self, ports: int, network: BookSimNetwork | None) -> float | None:
        mhz = self._clock_mhz(1)
        if network is not None:
            flit_bytes = network.flit_bytes
        elif self._text(_NETWORK_MODE) == _LOCAL_CROSSBAR and _FLIT in self.options:
            flit_bytes = self.whole(_FLIT)
        else:
            return None
        return None if mhz is None or flit_bytes is None else ports * flit_bytes * mhz / 1000

    def _dram_gb_per_s(self, channels: int) -> float | None:
        mhz = self._clock_mhz(3)
        if mhz is None or _BUS_BYTES not in self.options or _DATA_RATE not in self.options:
            return None
        chips = self.whole(_CHIPS_PER_CHANNEL) if _CHIPS_PER_CHANNEL in self.options else 1
        return channels * chips * self.whole(_BUS_BYTES) * self.whole(_DATA_RATE) * mhz / 1000

    def _clock_mhz(self, domain: int) -> float | None:
        """Return a clock: 0 the SMs', 1 the network's, 2 the last-level cache's, 3 the memory's."""
        if _CLOCKS not in self.options:
            return None
        option = self.options[_CLOCKS]
        clocks = option.value.split(":")
        if len(clocks) != 4 or not all(_NUMBER.fullmatch(clock) for clock in clocks):
            raise self._error(
                option,
                f"{_CLOCKS} is {option.value!r}, not four clocks in MHz",
                "write them as SM:NETWORK:CACHE:MEMORY",
            )
        return float(clocks[domain])

    def _text(self, name: str) -> str | None:
        return self.options[name].value if name in self.options else None

    def _required(self, name: str) -> Option:
        if name not in self.options:
            raise InputError(
                f"{name} is missing",
                path=self.path,
                remedy="give the whole gpgpusim.config of the target, with no value left to the simulator's"
                " default",
            )
        return self.options[name]

    def _error(self, option: Option, message: str, remedy: str) -> InputError:
        return InputError(message, path=self.path, row=option.row, remedy=remedy)
