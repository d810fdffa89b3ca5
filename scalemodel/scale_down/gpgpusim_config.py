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

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from scalemodel.errors import InputError, Place
from scalemodel.inputs.text_file import written_name
from scalemodel.scale_down.booksim_network import BookSimNetwork
from scalemodel.scale_down.gpgpusim_file import (
    BOOKSIM,
    CHANNELS,
    CHIPLETS,
    CLOCKS,
    CLUSTERS,
    INDEXING,
    LLC,
    MAPPING,
    NETWORK_FILE,
    NETWORK_MODE,
    SLICES_PER_CHANNEL,
    SMS_PER_CLUSTER,
    GpgpuSimReader,
    Option,
)
from scalemodel.scale_down.scaled_model import (
    Change,
    Note,
    NoteCode,
    ScaledModel,
    SharedResources,
    WholeResource,
)

# What belongs to one SM, and the clocks: shown beside the scaled values as what stays.
_UNCHANGED = (
    CLOCKS,
    SMS_PER_CLUSTER,
    "-gpgpu_shader_core_pipeline",
    "-gpgpu_shader_cta",
    "-gpgpu_shader_registers",
    "-gpgpu_num_sched_per_core",
    "-gpgpu_cache:dl1",
    "-gpgpu_unified_l1d_size",
    "-gpgpu_shmem_size",
    LLC,
    SLICES_PER_CHANNEL,
)

_NO_INDEXING, _BITWISE, _IPOLY, _IPOLY_MODULO = 0, 1, 2, 6
_IPOLY_LEAST_SLICES = 16


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
        parts = self._whole(CHIPLETS) if CHIPLETS in self.options else 1
        where = "" if parts == 1 else f" in each of {parts} chiplet partitions"
        return tuple(
            WholeResource(self._whole(option) // parts, f"{name}{where} ({option})")
            for option, name in ((CLUSTERS, "SM clusters"), (CHANNELS, "memory channels"))
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
        clusters, channels = self._whole(CLUSTERS) // factor, self._whole(CHANNELS) // factor
        edits = {CLUSTERS: clusters, CHANNELS: channels}
        indexing = self._indexing(channels)
        return edits if indexing is None else {**edits, INDEXING: indexing}

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
        ports = self._whole(CLUSTERS) + self.resources.llc_slices
        old, text = self.network.with_ports(ports, ports // factor)
        return Change(self.network.name, "k", old, str(ports // factor)), text

    def _check_mapping(self) -> None:
        mapping = self.options.get(MAPPING)
        if mapping is None or mapping.value.startswith("dramid@"):
            return
        if "d" in mapping.value.lower():
            raise InputError(
                f"{MAPPING} names the address bits of {self._whole(CHANNELS)} memory channels one by one,"
                " so it holds for no other number",
                Place(self.path, mapping.row),
                remedy="write it as dramid@FIRST_BIT;MAP, without the letter D",
            )

    def _indexing(self, channels: int) -> int | None:
        """Return the indexing of channels to change to, None where the target's can stay."""
        option = self.options.get(INDEXING)
        if option is None or option.value not in {str(_IPOLY), str(_IPOLY_MODULO)}:
            return None
        slices = _hashed_slices(int(option.value), channels, self._whole(SLICES_PER_CHANNEL))
        if slices >= _IPOLY_LEAST_SLICES:
            return None
        return _BITWISE if _is_power_of_two(channels) else _NO_INDEXING

    def _notes(self, edits: Mapping[str, int]) -> tuple[Note, ...]:
        channels, before = edits[CHANNELS], self._whole(CHANNELS)
        notes = []
        if INDEXING in edits:
            how = "bitwise XOR" if edits[INDEXING] == _BITWISE else "no hash"
            sentence = (
                "the simulator's IPOLY hash is for 16 cache slices or more, so"
                f" {INDEXING} is {edits[INDEXING]}, {how}, where the target has"
                f" {self.options[INDEXING].value}"
            )
            notes.append(Note(NoteCode.INDEXING, sentence))
        if _is_power_of_two(channels) and not _is_power_of_two(before):
            sentence = (
                f"the target's {before} memory channels are found by division, the scale model's {channels}"
                " by address bits, so addresses spread over them otherwise"
            )
            notes.append(Note(NoteCode.DECODING, sentence))
        if self.network is None and self._network_mode == BOOKSIM:
            named = self.options.get(NETWORK_FILE)
            sentence = (
                f"the network file {'of BookSim' if named is None else named.value} is not a file beside"
                " the configuration, so its number of ports is not scaled"
            )
            notes.append(Note(NoteCode.NETWORK, sentence))
        return tuple(notes)

    @property
    def _network_mode(self) -> str:
        return self.options[NETWORK_MODE].value if NETWORK_MODE in self.options else BOOKSIM

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
    reader = GpgpuSimReader(str(path), text)
    network = reader.network()
    return GpgpuSimConfig(str(path), text, reader.options, network, reader.resources(network))
