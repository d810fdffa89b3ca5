"""Proportional scaling: the scale models of a target GPU, as configurations that simulators read.

Source: GPU scale-model simulation, sections II, III and V-D, Tables I, III and V (docs/methods.md, 10 Scale
model). What the SMs share (last-level cache, on-chip network, memory bandwidth, memory controllers) is
divided by the same factor F as their number; what belongs to one SM, and every clock, stays. Of a GPU of
chiplets the number of chiplets is divided; each stays as it is, and so does its link, so the network between
them shrinks with their number (section VII-D).

Table I contradicts its own rule in two cells of the row of 16 SMs: it prints 358 GB/s of network and 337 GB/s
of memory bandwidth, where a half of the row of 32 SMs is 337 and 290 (two controllers of 145 GB/s each). It
has 32 slices in 34 MB; Table III has 64. The rule is followed here.

A target is a `gpgpusim.config` or a TOML of ours, which its content says. Only the values that scale are
replaced, every other byte stays.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec

from scalemodel.errors import InputError, OptionError, Place, listed
from scalemodel.inputs import parsed_toml, read_text, written_name

#: The sizes the paper simulates: SMs of a monolithic GPU, and chiplets.
PAPER_SIZES = {"SMs": (8, 16), "chiplets": (4, 8)}


@dataclass(frozen=True, slots=True)
class SharedResources:
    """What is scaled; totals over the whole GPU.

    Attributes
    ----------
    noc_gb_per_s, dram_gb_per_s : bandwidth of the on-chip network and of memory, 10^9 bytes a second; None
        where unknown. Of a GPU of chiplets the sum over their own networks.
    chiplets : None for a monolithic GPU.
    inter_chiplet_gb_per_s : the sum of the chiplets' links; None where unknown, or there are none.
    """

    sms: int
    llc_bytes: int
    llc_slices: int
    memory_controllers: int
    noc_gb_per_s: float | None = None
    dram_gb_per_s: float | None = None
    chiplets: int | None = None
    inter_chiplet_gb_per_s: float | None = None

    @property
    def size(self) -> int:
        """What the scale-model rules count a GPU's size in: chiplets where there are any, else SMs."""
        return self.sms if self.chiplets is None else self.chiplets

    @property
    def size_unit(self) -> str:
        """What :attr:`size` counts."""
        return "SMs" if self.chiplets is None else "chiplets"

    def divided(self, factor: int) -> SharedResources:
        """Return the resources of the scale model; the factor divides those that come in whole units."""
        bandwidths = (self.noc_gb_per_s, self.dram_gb_per_s, self.inter_chiplet_gb_per_s)
        noc, dram, link = (None if each is None else each / factor for each in bandwidths)
        counts = (self.sms, self.llc_bytes, self.llc_slices, self.memory_controllers)
        sms, llc, slices, controllers = (each // factor for each in counts)
        chiplets = None if self.chiplets is None else self.chiplets // factor
        return SharedResources(sms, llc, slices, controllers, noc, dram, chiplets, link)


@dataclass(frozen=True, slots=True)
class Change:
    """One value that differs from the target's: the file's name, the option or key, old and new value."""

    file: str
    option: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Note:
    """What to know of a scale model before it is simulated.

    Codes: ``partition-indexing-changed channels-decoded-differently network-file-not-scaled
    options-rejected``.
    """

    code: str
    sentence: str


@dataclass(frozen=True, slots=True)
class ScaledModel:
    """A scale model.

    Attributes
    ----------
    unchanged : name and value of what one SM has, one slice or one channel, and of the clocks, as the file
        states them.
    files : (name, content) of the configuration, which comes first, and of the files it names that change.
    """

    factor: int
    resources: SharedResources
    unchanged: tuple[tuple[str, str], ...]
    changes: tuple[Change, ...]
    files: tuple[tuple[str, str], ...]
    notes: tuple[Note, ...] = ()


class Target(ABC):
    """A target configuration, whatever the file it was read from."""

    resources: SharedResources
    whole_resources: tuple[tuple[int, str], ...]
    """What a factor must divide: how many there are, and their name."""

    @abstractmethod
    def scaled(self, factor: int) -> ScaledModel:
        """Return the scale model of such a factor; raise InputError where the files cannot express it."""

    @property
    def factors(self) -> tuple[int, ...]:
        """The factors that divide all that comes in whole units, ascending from 1."""
        divisor = math.gcd(*(count for count, _ in self.whole_resources))
        low = [factor for factor in range(1, math.isqrt(divisor) + 1) if divisor % factor == 0]
        return tuple(sorted({*low, *(divisor // factor for factor in low)}))


def read_target(path: str, known_options: Iterable[str] | None = None) -> Target:
    """Read a target configuration, gzip or not; "-" is standard input.

    Parameters
    ----------
    known_options : of a `gpgpusim.config`, those that the simulator at hand prints that it knows; None where
        nobody says it.

    Raises
    ------
    InputError : the file cannot be read, or is neither kind of configuration, or not a whole one.
    """
    text = read_text(path, meant=_MEANT)
    if any(_OPTION_NAME.match(line.lstrip()) for line in text.splitlines()):
        return GpgpuSimConfig(text, path, known_options)
    return TargetConfig(text, path)


def derive(target: Target, factors: Iterable[int]) -> tuple[ScaledModel, ...]:
    """Return the scale model of each factor, in the order given, each once.

    Raises
    ------
    OptionError : a factor is below 1, or does not divide a resource.
    InputError : the target's files cannot express the scale model.
    """
    above = target.factors[1:]
    which_do = "no factor above 1 divides every shared resource"
    if above:
        which = "factors that divide" if len(above) > 1 else "one factor that divides"
        which_do = f"the {which} every shared resource {'are' if len(above) > 1 else 'is'} {listed(above)}"
    wanted = tuple(dict.fromkeys(factors))
    for factor in wanted:
        if factor < 1:
            raise OptionError(f"a factor is 1 or more, not {factor}", remedy=which_do)
        left_over = [f"the {count:,} {name}" for count, name in target.whole_resources if count % factor]
        if left_over:
            raise OptionError(f"a factor of {factor} does not divide {listed(left_over)}", remedy=which_do)
    return tuple(target.scaled(factor) for factor in wanted)


def factors_for_sizes(target: Target, sizes: Iterable[int]) -> tuple[int, ...]:
    """Return the factor of the scale model of each size, in SMs or, of a GPU of chiplets, in chiplets.

    Raises
    ------
    OptionError : a size is not the target's divided by a factor that divides every resource.
    """
    size, unit = target.resources.size, target.resources.size_unit
    factor_of = {size // factor: factor for factor in target.factors}
    wanted = tuple(sizes)
    if missing := [each for each in wanted if each not in factor_of]:
        what = f"no scale model of {missing[0]} {unit} can be derived from {size:,}"
        raise OptionError(what, remedy=f"the sizes are {listed(sorted(factor_of))}")
    return tuple(factor_of[each] for each in wanted)


def default_sizes(target: Target) -> tuple[int, ...]:
    """Return the paper's sizes where they divide; else two that do, a doubling apart and next to these.

    Raises
    ------
    OptionError : no two sizes are a doubling apart.
    """
    size, unit = target.resources.size, target.resources.size_unit
    there = sorted(size // factor for factor in target.factors)
    if set(PAPER_SIZES[unit]) <= set(there):
        return PAPER_SIZES[unit]
    pairs = [(each, 2 * each) for each in there if 2 * each in there and 2 * each < size]
    if not pairs:
        what = f"no two scale models a doubling apart can be derived from {size:,} {unit}"
        raise OptionError(what, remedy=f"name two of the sizes {listed(there)}")
    return min(pairs, key=lambda pair: abs(math.log2(pair[0] / PAPER_SIZES[unit][0])))


# -- a gpgpusim.config ------------------------------------------------------------------------------------

_CLUSTERS, _SMS_PER_CLUSTER = "-gpgpu_n_clusters", "-gpgpu_n_cores_per_cluster"
_CHANNELS, _SLICES_PER_CHANNEL = "-gpgpu_n_mem", "-gpgpu_n_sub_partition_per_mchannel"
_LLC = "-gpgpu_cache:dl2"
_CHIPLETS = "-gpgpu_n_chiplet_partition"
_CLOCKS = "-gpgpu_clock_domains"
_NETWORK_MODE, _NETWORK_FILE, _FLIT = "-network_mode", "-inter_config_file", "-icnt_flit_size"
_INDEXING, _MAPPING = "-gpgpu_memory_partition_indexing", "-gpgpu_mem_addr_mapping"
_CHIPS_PER_CHANNEL, _BUS_BYTES = "-gpgpu_n_mem_per_ctrlr", "-gpgpu_dram_buswidth"
_DATA_RATE = "-dram_data_command_freq_ratio"
_BOOKSIM, _LOCAL_CROSSBAR = "1", "2"

# What belongs to one SM, and the clocks: shown beside the scaled values as what stays.
_UNCHANGED = (
    *(
        _CLOCKS,
        _SMS_PER_CLUSTER,
        "-gpgpu_shader_core_pipeline",
        "-gpgpu_shader_cta",
        "-gpgpu_shader_registers",
    ),
    *("-gpgpu_num_sched_per_core", "-gpgpu_cache:dl1", "-gpgpu_unified_l1d_size", "-gpgpu_shmem_size"),
    *(_LLC, _SLICES_PER_CHANNEL),
)
# Of GPGPU-Sim 3; 4.2 and Accel-Sim stop at them.
_DROPPED = ("-gpuwattch_xml_file", "-smem_latency")

_NO_INDEXING, _BITWISE, _IPOLY, _IPOLY_MODULO = 0, 1, 2, 6
_IPOLY_LEAST_SLICES = 16

_COMMENT = re.compile(r"#[^\n]*")
_WORD = re.compile(r'"[^"]*"|\S+', re.ASCII)
_OPTION_NAME = re.compile(r"-[A-Za-z]")
# At most nine digits: no more than the simulator's 32 bits hold.
_WHOLE = re.compile(r"[1-9][0-9]{0,8}", re.ASCII)
_NUMBER = re.compile(r"[0-9]{1,9}(?:\.[0-9]*)?", re.ASCII)
# The letter for a sectored or a normal cache is not there in GPGPU-Sim 3.
_CACHE = re.compile(r"(?:[A-Z]:)?([1-9][0-9]{0,8}):([1-9][0-9]{0,8}):([1-9][0-9]{0,8}),", re.ASCII)
# Statements ``name = value;`` with ``//`` comments, of the file that BookSim reads its network from.
_SLASHES = re.compile(r"//[^\r\n]*")
_STATEMENT = re.compile(r"([A-Za-z_]\w*)\s*=\s*([^;]*?)\s*;", re.ASCII)


@dataclass(frozen=True, slots=True)
class Option:
    """The value of an option that counts, without quotes; where it starts in the text; its row, from 1."""

    value: str
    start: int
    row: int

    def replaced(self, text: str, new: object) -> str:
        """Return the text it is of with another value."""
        return f"{text[: self.start]}{new}{text[self.start + len(self.value) :]}"


def read_options(text: str, path: str) -> dict[str, Option]:
    """Return name, with its hyphen, -> value of all options, as the simulator takes a text apart.

    `#` starts a comment. Everything else is words apart by white space, `-option value`, over line ends too;
    a word in quotes may hold blanks; of an option given twice the last counts (option_parser.cc).

    Raises
    ------
    InputError : a word is neither an option nor the value of one, or the file reads another.
    """
    bare = _COMMENT.sub(lambda comment: " " * len(comment[0]), text)
    options: dict[str, Option] = {}
    name: str | None = None
    row, counted = 1, 0
    for word in _WORD.finditer(bare):
        row, counted = row + bare.count("\n", counted, word.start()), word.start()
        if _OPTION_NAME.match(word[0]):
            name = word[0]
            options[name] = Option("", word.end(), row)
            if name == "-config":
                raise InputError(
                    "-config reads another file", Place(path, row), remedy="put all options in one"
                )
        elif name is None:
            what = f"{word[0]!r} is neither an option nor the value of one"
            remedy = "give a gpgpusim.config as the simulator reads it, one -option and one value each"
            raise InputError(what, Place(path, row), remedy=remedy)
        else:
            options[name] = Option(word[0].strip('"'), word.start() + word[0].startswith('"'), row)
            name = None
    return options


class GpgpuSimConfig(Target):
    """A target configuration of Accel-Sim or GPGPU-Sim.

    Two options divide all that the SMs share: clusters, each a port of the network with its SMs, and memory
    channels, each a controller with its bandwidth and slices of the last-level cache, ports as well. In a
    network of BookSim, a crossbar whose file is looked for beside the configuration, the number of ports goes
    with them. Its bandwidth is nominal: flits through the narrower side of the crossbar in one direction.

    The hash of addresses over slices that most configurations ask for, IPOLY, is for 16 slices or more; below
    it the indexing is changed to bitwise XOR or, where the channels are no power of two, to none. A number of
    channels that is no power of two is decoded by division, any other by address bits. Both are noted, and so
    are options that the simulator at hand does not know.

    Written from the tool's grammar and public source (option_parser.cc, addrdec.cc, hashing.cc, gpu-cache.h).

    Raises
    ------
    InputError : not a configuration, an option is missing or not a number, or there is no last-level cache.
    """

    def __init__(self, text: str, path: str, known_options: Iterable[str] | None = None) -> None:
        self.path, self.text = path, text
        self.options = read_options(text, path)
        self._known = None if known_options is None else frozenset(known_options)
        self._network = self._network_beside()
        clusters, channels = self._whole(_CLUSTERS), self._whole(_CHANNELS)
        slices = channels * self._whole(_SLICES_PER_CHANNEL)
        parts = self._whole(_CHIPLETS, 1)
        if clusters % parts or channels % parts:
            what = f"{_CHIPLETS} {parts} does not divide {clusters} clusters and {channels} memory channels"
            raise self._error(_CHIPLETS, what, "give a target whose chiplet partitions are alike")
        cache = _CACHE.match(self._value(_LLC))
        if cache is None:
            what = f"{_LLC} is {self._value(_LLC)!r}, which does not start with sets:line bytes:ways"
            remedy = "give a target with a last-level cache, as in S:32:128:24,L:B:m:L:P,A:192:4,32:0,32"
            raise self._error(_LLC, what, remedy)
        self.resources = SharedResources(
            sms=clusters * self._whole(_SMS_PER_CLUSTER),
            llc_bytes=slices * math.prod(map(int, cache.groups())),
            llc_slices=slices,
            memory_controllers=channels,
            noc_gb_per_s=self._noc_gb_per_s(min(clusters, slices)),
            dram_gb_per_s=self._dram_gb_per_s(channels),
        )
        where = "" if parts == 1 else f" in each of {parts} chiplet partitions"
        self.whole_resources = (
            (clusters // parts, f"SM clusters{where} ({_CLUSTERS})"),
            (channels // parts, f"memory channels{where} ({_CHANNELS})"),
        )

    def scaled(self, factor: int) -> ScaledModel:
        """Return the scale model; raise InputError if the address mapping or the network cannot be scaled."""
        name = written_name(self.path, of_stdin="gpgpusim.config")
        edits: dict[str, int] = {}
        if factor > 1:
            self._check_mapping()
            edits = {option: self._whole(option) // factor for option in (_CLUSTERS, _CHANNELS)}
            indexing = self._indexing(edits[_CHANNELS])
            edits |= {} if indexing is None else {_INDEXING: indexing}
        text = self.text
        # The last of the file first, so that no place shifts.
        for option, new in sorted(edits.items(), key=lambda edit: -self.options[edit[0]].start):
            text = self.options[option].replaced(text, new)
        changes = [Change(name, option, self._value(option), str(new)) for option, new in edits.items()]
        files = [(name, text)]
        if self._network is not None and factor > 1:
            ports = self._whole(_CLUSTERS) + self.resources.llc_slices
            named, stated = self._value(_NETWORK_FILE), self._stated_ports(ports)
            changes.append(Change(named, "k", stated.value, str(ports // factor)))
            files.append((named, stated.replaced(self._network, ports // factor)))
        return ScaledModel(
            factor=factor,
            resources=self.resources.divided(factor),
            unchanged=tuple((each, self._value(each)) for each in _UNCHANGED if each in self.options),
            changes=tuple(changes),
            files=tuple(files),
            notes=tuple(Note(code, sentence) for code, sentence in self._notes(edits)),
        )

    def _check_mapping(self) -> None:
        mapping = self._text(_MAPPING) or "dramid@"
        if not mapping.startswith("dramid@") and "d" in mapping.lower():
            what = (
                f"{_MAPPING} names the address bits of {self._whole(_CHANNELS)} memory channels one by one,"
            )
            remedy = "write it as dramid@FIRST_BIT;MAP, without the letter D"
            raise self._error(_MAPPING, f"{what} so it holds for no other number", remedy)

    def _indexing(self, channels: int) -> int | None:
        """Return the indexing of channels to change to, None where the target's can stay."""
        indexing = self._text(_INDEXING)
        if indexing not in {str(_IPOLY), str(_IPOLY_MODULO)}:
            return None
        # Over how many slices the simulator asks its IPOLY hash to spread addresses.
        slices = (1 << (channels - 1).bit_length()) * self._whole(_SLICES_PER_CHANNEL)
        if indexing == str(_IPOLY_MODULO):
            slices = channels * self._whole(_SLICES_PER_CHANNEL)
            slices &= -slices
        if slices >= _IPOLY_LEAST_SLICES:
            return None
        return _BITWISE if channels & (channels - 1) == 0 else _NO_INDEXING

    def _notes(self, edits: Mapping[str, int]) -> Iterator[tuple[str, str]]:
        """Yield the code and the sentence of each note; the simulator stops at an option it does not know."""
        if _INDEXING in edits:
            how = "bitwise XOR" if edits[_INDEXING] == _BITWISE else "no hash"
            sentence = f"the simulator's IPOLY hash is for 16 cache slices or more, so {_INDEXING} is"
            where = f"{edits[_INDEXING]}, {how}, where the target has {self._value(_INDEXING)}"
            yield "partition-indexing-changed", f"{sentence} {where}"
        channels, before = edits.get(_CHANNELS, 0), self._whole(_CHANNELS)
        if edits and channels & (channels - 1) == 0 and before & (before - 1):
            how = f"found by division, the scale model's {channels} by address bits"
            sentence = (
                f"the target's {before} memory channels are {how}, so addresses spread over them otherwise"
            )
            yield "channels-decoded-differently", sentence
        if edits and self._network is None and self._text(_NETWORK_MODE) in {None, _BOOKSIM}:
            file = self._text(_NETWORK_FILE) or "of BookSim"
            beside = "is not a file beside the configuration, so its number of ports is not scaled"
            yield "network-file-not-scaled", f"the network file {file} {beside}"
        unknown = [name for name in _DROPPED if name in self.options]
        whose = "of today's simulators GPGPU-Sim 4.2 does not know"
        if self._known is not None:
            unknown = [name for name in self.options if name not in self._known]
            whose = "the simulator that printed its options does not know"
        if unknown:
            them = "it" if len(unknown) == 1 else "them"
            sentence = f"{whose} {listed(unknown)}, and stops there: take {them} out of the configuration"
            yield "options-rejected", sentence

    def _network_beside(self) -> str | None:
        """Return the text of BookSim's file if the configuration names one and it lies beside it."""
        named = self._text(_NETWORK_FILE)
        if named is None or self._text(_NETWORK_MODE) not in {None, _BOOKSIM} or Path(named).name != named:
            return None
        path = Path(self.path).parent / named
        return read_text(str(path), meant="the network file of BookSim") if path.is_file() else None

    def _statements(self) -> dict[str, Option]:
        bare = _SLASHES.sub(lambda comment: " " * len(comment[0]), self._network or "")
        return {
            found[1]: Option(found[2], found.start(2), bare.count("\n", 0, found.start(2)) + 1)
            for found in _STATEMENT.finditer(bare)
        }

    def _stated_ports(self, ports: int) -> Option:
        """Return ``k`` of BookSim's crossbar: a `fly` network of one stage, a port each cluster and slice."""
        settings = self._statements()
        # What the file leaves out is BookSim's default: a torus of two dimensions with a map of its nodes.
        wanted = {"topology": "fly", "n": "1", "use_map": "0"}
        stated = settings.get("k", Option("", 0, 1))
        other = [name for name in wanted if name not in settings or settings[name].value != wanted[name]]
        if other or not _WHOLE.fullmatch(stated.value) or int(stated.value) < ports:
            name = other[0] if other else "k"
            state = f"{name} = {settings[name].value}" if name in settings else f"{name} is not set"
            place = Place(Path(self.path).parent / self._value(_NETWORK_FILE), settings.get(name, stated).row)
            remedy = f"set topology = fly; n = 1; use_map = 0; k = {ports}; or use -network_mode 2"
            raise InputError(f"no crossbar with a port for each of {ports} ({state})", place, remedy=remedy)
        return stated

    def _noc_gb_per_s(self, ports: int) -> float | None:
        mhz, flit_bytes = self._clock_mhz(1), None
        if self._network is not None:
            flit = self._statements().get("flit_size")
            flit_bytes = int(flit.value) if flit is not None and _WHOLE.fullmatch(flit.value) else None
        elif self._text(_NETWORK_MODE) == _LOCAL_CROSSBAR and _FLIT in self.options:
            flit_bytes = self._whole(_FLIT)
        return None if mhz is None or flit_bytes is None else ports * flit_bytes * mhz / 1000

    def _dram_gb_per_s(self, channels: int) -> float | None:
        mhz = self._clock_mhz(3)
        if mhz is None or _BUS_BYTES not in self.options or _DATA_RATE not in self.options:
            return None
        chips = self._whole(_CHIPS_PER_CHANNEL, 1)
        return channels * chips * self._whole(_BUS_BYTES) * self._whole(_DATA_RATE) * mhz / 1000

    def _clock_mhz(self, domain: int) -> float | None:
        """Return a clock: 0 the SMs', 1 the network's, 2 the last-level cache's, 3 the memory's."""
        clocks = (self._text(_CLOCKS) or "").split(":")
        if _CLOCKS not in self.options:
            return None
        if len(clocks) != 4 or not all(_NUMBER.fullmatch(clock) for clock in clocks):
            what = f"{_CLOCKS} is {self._value(_CLOCKS)!r}, not four clocks in MHz"
            raise self._error(_CLOCKS, what, "write them as SM:NETWORK:CACHE:MEMORY")
        return float(clocks[domain])

    def _text(self, name: str) -> str | None:
        return self.options[name].value if name in self.options else None

    def _value(self, name: str) -> str:
        if name not in self.options:
            remedy = (
                "give the whole gpgpusim.config of the target, with no value left to the simulator's default"
            )
            raise InputError(f"{name} is missing", Place(self.path), remedy=remedy)
        return self.options[name].value

    def _whole(self, name: str, default: int | None = None) -> int:
        """Return an option that is a whole number from 1."""
        if default is not None and name not in self.options:
            return default
        if not _WHOLE.fullmatch(self._value(name)):
            what = f"{name} is {self._value(name)!r}, not a whole number from 1"
            raise self._error(name, what, "write it in decimal digits")
        return int(self._value(name))

    def _error(self, name: str, message: str, remedy: str) -> InputError:
        return InputError(message, Place(self.path, self.options[name].row), remedy=remedy)


# -- a TOML of ours ---------------------------------------------------------------------------------------

_MIB = 2**20
_MEANT = "a gpgpusim.config or a TOML with a table [gpu]"
_LINK = "inter_chiplet_gb_per_s"
# Of bytes or bytes a second: beyond it a double is no longer exact to one.
_Count = Annotated[int, msgspec.Meta(ge=1, lt=2**53)]
_Amount = Annotated[float, msgspec.Meta(gt=0, lt=2**53)]

_TABLE_LINE = re.compile(r"[ \t]*\[([^\[\]]*)\]")
_KEY_LINE = re.compile(r"[ \t]*([A-Za-z0-9_-]+)[ \t]*=[ \t]*([^\s#]+)")


class _Gpu(msgspec.Struct, forbid_unknown_fields=True):
    sms: _Count
    llc_mib: _Count | _Amount
    llc_slices: _Count
    memory_controllers: _Count
    noc_gb_per_s: _Count | _Amount | None = None
    dram_gb_per_s: _Count | _Amount | None = None
    chiplets: _Count | None = None
    inter_chiplet_gb_per_s: _Count | _Amount | None = None


class _Target(msgspec.Struct, forbid_unknown_fields=True):
    gpu: _Gpu
    per_sm: dict[str, Any] = {}


class TargetConfig(Target):
    """A target in our TOML, with a table ``[gpu]``, and perhaps ``[per_sm]``::

        [gpu]
        sms = 128
        llc_mib = 34                 # last-level cache, 2^20 bytes
        llc_slices = 32
        memory_controllers = 16
        noc_gb_per_s = 2696          # bisection bandwidth of the network, 10^9 bytes a second; optional
        dram_gb_per_s = 2320         # bandwidth of memory, 10^9 bytes a second; optional

        [per_sm]                     # optional; any names and values; they stay as they are
        clock_mhz = 1000

    For a GPU of chiplets the numbers above are of one chiplet, and two more belong to ``[gpu]``: chiplets
    and, optional, inter_chiplet_gb_per_s, the link of one of them. There a factor divides the chiplets and
    nothing else. The scale model is the same text with the values that scale replaced, so comments stay.

    Raises
    ------
    InputError : not a TOML, an unknown key, or one that is missing or not a number.
    """

    def __init__(self, text: str, path: str) -> None:
        self.path, self.text = path, text
        self._target = self._read(text)
        gpu = self._target.gpu
        if gpu.inter_chiplet_gb_per_s is not None and gpu.chiplets is None:
            what = f"{_LINK} is of a GPU of chiplets"
            raise InputError(what, Place(path, key=_LINK), remedy="state the number of chiplets")
        if not float(gpu.llc_mib * _MIB).is_integer():
            what = f"{gpu.llc_mib} is not a whole number of bytes"
            raise InputError(what, Place(path, key="llc_mib"), remedy="state what the target has")
        each = gpu.chiplets or 1
        bandwidths = (gpu.noc_gb_per_s, gpu.dram_gb_per_s, gpu.inter_chiplet_gb_per_s)
        noc, dram, link = (None if one is None else each * one for one in bandwidths)
        sms, llc, slices = each * gpu.sms, each * int(gpu.llc_mib * _MIB), each * gpu.llc_slices
        controllers = each * gpu.memory_controllers
        self.resources = SharedResources(sms, llc, slices, controllers, noc, dram, gpu.chiplets, link)
        self.whole_resources = (
            (sms, "SMs"),
            (llc, "bytes of last-level cache"),
            (slices, "slices of last-level cache"),
            (controllers, "memory controllers"),
        )
        if gpu.chiplets is not None:
            self.whole_resources = ((gpu.chiplets, "chiplets"),)

    def _read(self, text: str) -> _Target:
        known = (*_Gpu.__struct_fields__, "gpu", "per_sm")
        return parsed_toml(text, self.path, _Target, known, or_else="a gpgpusim.config", meant=_MEANT)

    def scaled(self, factor: int) -> ScaledModel:
        """Return the scale model; raise InputError if a value is written so that it cannot be replaced."""
        gpu = msgspec.structs.asdict(self._target.gpu)
        keys = () if factor == 1 else tuple(gpu) if self.resources.chiplets is None else ("chiplets",)
        old = {key: gpu[key] for key in keys if gpu[key] is not None}
        new = {key: _divided(value, factor) for key, value in old.items()}
        lines, table = self.text.split("\n"), ""
        for number, line in enumerate(lines):
            heading, found = _TABLE_LINE.match(line), _KEY_LINE.match(line)
            table = heading[1].strip() if heading else table
            if found and table == "gpu" and found[1] in new:
                lines[number] = f"{line[: found.start(2)]}{new[found[1]]}{line[found.end(2) :]}"
        text, wanted = "\n".join(lines), msgspec.structs.replace(self._target.gpu, **new)
        if self._read(text) != msgspec.structs.replace(self._target, gpu=wanted):
            what = "the values that scale cannot be replaced as they are written"
            raise InputError(
                what, Place(self.path), remedy="write the table [gpu] with one key = value a line"
            )
        name = written_name(self.path, of_stdin="target.toml")
        return ScaledModel(
            factor=factor,
            resources=self.resources.divided(factor),
            unchanged=tuple((key, str(value)) for key, value in self._target.per_sm.items()),
            changes=tuple(Change(name, key, str(value), str(new[key])) for key, value in old.items()),
            files=((name, text),),
        )


def _divided(value: float, factor: int) -> int | float:
    """Return a quotient, as a whole number where it is one."""
    return value // factor if isinstance(value, int) and value % factor == 0 else value / factor
