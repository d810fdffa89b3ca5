"""Proportional scaling: the scale models of a target GPU, as configurations that simulators read.

What the SMs share (last-level cache, on-chip network, memory bandwidth, memory controllers) is divided by
the same factor F as their number; what belongs to one SM, and every clock, stays. Of a GPU of chiplets
their number is divided. Only the values that scale are replaced, every other byte stays. [GPU scale-model
simulation, sections II, III, V-D and VII-D; docs/methods.md, 10 Scale model]
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec

from sampling.errors import OptionError, ProfileError
from sampling.readers.small_file import parsed_toml, read_text
from sampling.record import Record
from sampling.text import joined

#: The sizes the paper simulates: SMs of a monolithic GPU, and chiplets.
PAPER_SIZES = {"SMs": (8, 16), "chiplets": (4, 8)}


class SharedResources(NamedTuple):
    """What is scaled; totals over the whole GPU."""

    sms: int
    llc_bytes: int
    llc_slices: int
    memory_controllers: int
    #: Bandwidths, 10^9 bytes a second; None where unknown. Of chiplets the sums over all of them.
    noc_gb_per_s: float | None = None
    dram_gb_per_s: float | None = None
    #: None for a monolithic GPU.
    chiplets: int | None = None
    inter_chiplet_gb_per_s: float | None = None

    @property
    def size(self) -> int:
        """What the scale-model rules count a GPU's size in: chiplets where there are any, else SMs."""
        return self.sms if self.chiplets is None else self.chiplets

    @property
    def size_unit(self) -> str:
        """What `size` counts."""
        return "SMs" if self.chiplets is None else "chiplets"

    def divided(self, factor: int) -> SharedResources:
        """Return the resources of the scale model; the factor divides those that come in whole units."""
        parts: dict[str, Any] = {
            name: None if value is None else value / factor if name.endswith("_per_s") else value // factor
            for name, value in self._asdict().items()
        }
        return SharedResources(**parts)


class Change(Record, frozen=True):
    """One value that differs from the target's: the file, its option or key, old and new value."""

    file: str
    option: str
    old: str
    new: str


class Note(Record, frozen=True):
    """What to know of a scale model before it is simulated."""

    code: str
    sentence: str


class ScaledModel(NamedTuple):
    """A scale model, and the text of its configuration."""

    factor: int
    resources: SharedResources
    changes: tuple[Change, ...]
    text: str
    notes: tuple[Note, ...] = ()


class ConfigurationFile(Record, frozen=True):
    """A file to write: its path below the folder of all scale models, and what is in it."""

    path: str
    content: str


class DerivedModel(Record, frozen=True, kw_only=True):
    """A scale model as a record; resources as `SharedResources` has them."""

    factor: int
    size: int
    size_unit: str
    sms: int
    llc_bytes: int
    llc_slices: int
    memory_controllers: int
    noc_gb_per_s: float | None
    dram_gb_per_s: float | None
    chiplets: int | None
    inter_chiplet_gb_per_s: float | None
    changes: tuple[Change, ...]
    unchanged: dict[str, str]
    files: tuple[ConfigurationFile, ...]
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True)
class Target:
    """A target configuration, whatever the file it was read from."""

    #: Of the file and those of its scale models.
    name: str
    resources: SharedResources
    #: What a factor must divide: how many there are, and their name.
    whole_resources: tuple[tuple[int, str], ...]
    #: Name and value, as the file states them, of what one SM, slice or channel has, and of the clocks.
    unchanged: tuple[tuple[str, str], ...]
    #: Makes the scale model of a factor that divides these; ProfileError where the files cannot express it.
    scaled: Callable[[int], ScaledModel]

    @property
    def factors(self) -> tuple[int, ...]:
        """The factors that divide all that comes in whole units, ascending from 1."""
        divisor = math.gcd(*(count for count, _ in self.whole_resources))
        low = [factor for factor in range(1, math.isqrt(divisor) + 1) if divisor % factor == 0]
        return tuple(sorted({*low, *(divisor // factor for factor in low)}))

    def record(self, model: ScaledModel) -> DerivedModel:
        """Return one of its scale models as a record; the file of each has a folder of its own."""
        resources = model.resources
        place = f"{resources.size}-{resources.size_unit}/{self.name}"
        return DerivedModel(
            factor=model.factor,
            size=resources.size,
            size_unit=resources.size_unit,
            **resources._asdict(),
            changes=model.changes,
            unchanged=dict(self.unchanged),
            files=(ConfigurationFile(place, model.text),),
            notes=model.notes,
        )


def read_target(path: str, known_options: Iterable[str] | None = None) -> Target:
    """Read a target configuration, gzip or not; "-" is standard input.

    Parameters
    ----------
    known_options : of a `gpgpusim.config`, those that the simulator at hand prints that it knows; None where
        nobody says it.

    Raises ProfileError: the file cannot be read, or is neither kind of configuration, or not a whole one.
    """
    text = read_text(path, meant=_MEANT)
    if any(_OPTION_NAME.match(line.lstrip()) for line in text.splitlines()):
        return config_target(text, path, known_options)
    return toml_target(text, path)


def derive(target: Target, factors: Iterable[int]) -> tuple[ScaledModel, ...]:
    """Return the scale model of each factor, in the order given, each once.

    Raises OptionError: a factor is below 1, or does not divide a resource; ProfileError: the target's files
    cannot express the scale model.
    """
    remedy = f"give one of {joined(target.factors)}, which divide every shared resource"
    distinct = tuple(dict.fromkeys(factors))
    for factor in distinct:
        if factor < 1:
            raise OptionError(f"a factor is 1 or more, not {factor}", remedy=remedy)
        left_over = [f"the {count:,} {name}" for count, name in target.whole_resources if count % factor]
        if left_over:
            raise OptionError(f"a factor of {factor} does not divide {joined(left_over)}", remedy=remedy)
    return tuple(map(target.scaled, distinct))


def default_factors(target: Target) -> tuple[int, ...]:
    """Return the factors of the paper's sizes where they divide; else of two a doubling apart next to these.

    Raises OptionError: no two sizes are a doubling apart.
    """
    size, unit = target.resources.size, target.resources.size_unit
    published, sizes = PAPER_SIZES[unit], sorted(size // factor for factor in target.factors)
    if not set(published) <= set(sizes):
        pairs = [(smaller, 2 * smaller) for smaller in sizes if 2 * smaller in sizes and 2 * smaller < size]
        if not pairs:
            message = f"no two scale models a doubling apart can be derived from {size:,} {unit}"
            raise OptionError(message, remedy=f"name two of the sizes {joined(sizes)}")
        published = min(pairs, key=lambda pair: abs(math.log2(pair[0] / published[0])))
    return tuple(size // model_size for model_size in published)


def _written_name(path: str, of_stdin: str) -> str:
    return of_stdin if path == "-" else Path(path).name.removesuffix(".gz")


# -- a gpgpusim.config ------------------------------------------------------------------------------------

_CLUSTERS, _SMS_PER_CLUSTER = "-gpgpu_n_clusters", "-gpgpu_n_cores_per_cluster"
_CHANNELS, _SLICES_PER_CHANNEL = "-gpgpu_n_mem", "-gpgpu_n_sub_partition_per_mchannel"
_LLC, _CHIPLETS, _CLOCKS = "-gpgpu_cache:dl2", "-gpgpu_n_chiplet_partition", "-gpgpu_clock_domains"
_INDEXING, _MAPPING = "-gpgpu_memory_partition_indexing", "-gpgpu_mem_addr_mapping"
_FLIT, _BUS_BYTES, _DATA_RATE = "-icnt_flit_size", "-gpgpu_dram_buswidth", "-dram_data_command_freq_ratio"
_BOOKSIM, _LOCAL_CROSSBAR = "1", "2"
# What belongs to one SM, and the clocks: shown beside the scaled values as what stays.
_UNCHANGED = (
    *(_CLOCKS, _SMS_PER_CLUSTER, "-gpgpu_shader_core_pipeline", "-gpgpu_shader_cta"),
    *("-gpgpu_shader_registers", "-gpgpu_num_sched_per_core", "-gpgpu_cache:dl1", "-gpgpu_unified_l1d_size"),
    *("-gpgpu_shmem_size", _LLC, _SLICES_PER_CHANNEL),
)
_NO_INDEXING, _BITWISE, _IPOLY, _IPOLY_MODULO = "0", "1", "2", "6"
_IPOLY_LEAST_SLICES = 16

_COMMENT = re.compile(r"#[^\n]*")
_WORD = re.compile(r'"[^"]*"|\S+', re.ASCII)
_OPTION_NAME = re.compile(r"-[A-Za-z]")
# At most nine digits: no more than the simulator's 32 bits hold.
_WHOLE = re.compile(r"[1-9][0-9]{0,8}", re.ASCII)
# Of the SMs, the network, the last-level cache and the memory.
_FOUR_CLOCKS = re.compile(":".join([r"([0-9]{1,9}(?:\.[0-9]*)?)"] * 4), re.ASCII)
# The letter for a sectored or a normal cache is not there in GPGPU-Sim 3.
_CACHE = re.compile(r"(?:[A-Z]:)?([1-9][0-9]{0,8}):([1-9][0-9]{0,8}):([1-9][0-9]{0,8}),", re.ASCII)


class _Options(dict[str, tuple[str, int]]):
    """The options of a configuration: name, with the hyphen, to value and where that starts in the text.

    `#` starts a comment. Everything else is words apart by white space, `-option value`, over line ends too;
    a word in quotes may hold blanks; of an option given twice the last counts (option_parser.cc).
    """

    def __init__(self, text: str, path: str) -> None:
        super().__init__()
        self.text, self.path, name = text, path, ""
        for word in _WORD.finditer(_COMMENT.sub(lambda comment: " " * len(comment[0]), text)):
            value, start = word[0].strip('"'), word.start() + word[0].startswith('"')
            if _OPTION_NAME.match(word[0]):
                name = word[0]
                self[name] = ("", word.end())
            elif name:
                self[name], name = (value, start), ""
            else:
                self[value] = (value, start)
                message = f"{value!r} is neither an option nor the value of one"
                raise self.error(value, message, "write one -option and one value each")
        if "-config" in self:
            raise self.error("-config", "-config reads another file", "put all options in one")

    def error(self, name: str, message: str, remedy: str) -> ProfileError:
        row = self.text.count("\n", 0, self[name][1]) + 1 if name in self else None
        return ProfileError(message, path=self.path, row=row, remedy=remedy)

    def with_selection(self, name: str, default: str = "") -> str:
        return self[name][0] if name in self else default

    def whole(self, name: str, default: str = "") -> int:
        """Return an option that is a whole number from 1; ProfileError where it is not, or is missing."""
        value = self.with_selection(name, default)
        if not _WHOLE.fullmatch(value):
            message = (
                f"{name} is {value!r}, not a whole number from 1" if name in self else f"{name} is missing"
            )
            raise self.error(name, message, "give the whole gpgpusim.config, its numbers in decimal digits")
        return int(value)


def config_target(text: str, path: str, known_options: Iterable[str] | None = None) -> Target:
    """Return a target configuration of Accel-Sim or GPGPU-Sim.

    Two options divide all that the SMs share: clusters, each a port of the network with its SMs, and memory
    channels, each a controller with its bandwidth and slices of the last-level cache, ports as well. The
    bandwidth of the network is nominal: flits through the narrower side of the crossbar in one direction.
    Written from the tool's grammar and public source (option_parser.cc, addrdec.cc, hashing.cc, gpu-cache.h).
    """
    options = _Options(text, path)
    clusters, channels = options.whole(_CLUSTERS), options.whole(_CHANNELS)
    slices, parts = channels * options.whole(_SLICES_PER_CHANNEL), options.whole(_CHIPLETS, "1")
    if clusters % parts or channels % parts:
        message = f"{_CHIPLETS} {parts} does not divide {clusters} clusters and {channels} memory channels"
        raise options.error(_CHIPLETS, message, "give a target whose chiplet partitions are alike")
    cache = _CACHE.match(options.with_selection(_LLC))
    if cache is None:
        message = (
            f"{_LLC} is {options.with_selection(_LLC)!r}, which does not start with sets:line bytes:ways"
        )
        remedy = "give a target with a last-level cache, as in S:32:128:24,L:B:m:L:P,A:192:4,32:0,32"
        raise options.error(_LLC, message, remedy)
    clocks, noc, dram = _FOUR_CLOCKS.fullmatch(options.with_selection(_CLOCKS)), None, None
    if clocks and options.with_selection("-network_mode", _BOOKSIM) == _LOCAL_CROSSBAR and _FLIT in options:
        noc = min(clusters, slices) * options.whole(_FLIT) * float(clocks[2]) / 1000
    if clocks and _BUS_BYTES in options and _DATA_RATE in options:
        buses = channels * options.whole("-gpgpu_n_mem_per_ctrlr", "1") * options.whole(_BUS_BYTES)
        dram = buses * options.whole(_DATA_RATE) * float(clocks[4]) / 1000
    sms, llc = clusters * options.whole(_SMS_PER_CLUSTER), slices * math.prod(map(int, cache.groups()))
    resources = SharedResources(sms, llc, slices, channels, noc, dram)
    name = _written_name(path, "gpgpusim.config")
    recognised = frozenset(options if known_options is None else known_options)
    unknown = [option for option in options if option not in recognised]

    def scaled(factor: int) -> ScaledModel:
        edits, notes = _edits(options, factor) if factor > 1 else ({}, [])
        if unknown:
            sentence = f"the simulator that printed its options does not know {joined(unknown)}, and stops"
            notes.append(Note("options-rejected", f"{sentence} there: take out what it does not know"))
        ours = text
        # The last of the file first, so that no place shifts.
        for option, new in sorted(edits.items(), key=lambda edit: -options[edit[0]][1]):
            value, start = options[option]
            ours = f"{ours[:start]}{new}{ours[start + len(value) :]}"
        changes = tuple(Change(name, option, options[option][0], new) for option, new in edits.items())
        return ScaledModel(factor, resources.divided(factor), changes, ours, tuple(notes))

    place = "" if parts == 1 else f" in each of {parts} chiplet partitions"
    whole_resources = (
        (clusters // parts, f"SM clusters{place} ({_CLUSTERS})"),
        (channels // parts, f"memory channels{place} ({_CHANNELS})"),
    )
    unchanged = tuple((option, options[option][0]) for option in _UNCHANGED if option in options)
    return Target(name, resources, whole_resources, unchanged, scaled)


def _edits(options: _Options, factor: int) -> tuple[dict[str, str], list[Note]]:
    """Return the options that change, and their values, and what to know of them.

    The hash of addresses over slices that most configurations ask for, IPOLY, is for 16 slices or more; below
    it the indexing is changed to bitwise XOR or, where the channels are no power of two, to none.
    """
    mapping, indexing = options.with_selection(_MAPPING, "dramid@"), options.with_selection(_INDEXING)
    clusters, channels = options.whole(_CLUSTERS), options.whole(_CHANNELS)
    if not mapping.startswith("dramid@") and "d" in mapping.lower():
        message = f"{_MAPPING} names the address bits of {channels} memory channels one by one,"
        remedy = "write it as dramid@FIRST_BIT;MAP, without the letter D"
        raise options.error(_MAPPING, f"{message} so it holds for no other number", remedy)
    left, slices, notes = channels // factor, options.whole(_SLICES_PER_CHANNEL), []
    edits = {_CLUSTERS: str(clusters // factor), _CHANNELS: str(left)}
    # Over how many slices the simulator asks its hash to spread addresses.
    hashed = (1 << (left - 1).bit_length()) * slices
    if indexing == _IPOLY_MODULO:
        hashed = left * slices & -(left * slices)
    if indexing in (_IPOLY, _IPOLY_MODULO) and hashed < _IPOLY_LEAST_SLICES:
        new, hash_name = (_BITWISE, "bitwise XOR") if left.bit_count() == 1 else (_NO_INDEXING, "no hash")
        edits[_INDEXING] = new
        sentence = f"the simulator's IPOLY hash is for 16 cache slices or more, so {_INDEXING} is"
        clause = f"{new}, {hash_name}, where the target has {indexing}"
        notes.append(Note("partition-indexing-changed", f"{sentence} {clause}"))
    if options.with_selection("-network_mode", _BOOKSIM) == _BOOKSIM:
        ports = (clusters + channels * slices) // factor
        file = options.with_selection("-inter_config_file") or "of BookSim"
        sentence = f"the network file {file} is not scaled: give its crossbar {ports} ports (k)"
        notes.append(Note("network-file-not-scaled", sentence))
    return edits, notes


# -- a TOML of ours ---------------------------------------------------------------------------------------

_MIB = 2**20
_MEANT = "a gpgpusim.config or a TOML with a table [gpu]"
# Of bytes or bytes a second: beyond it a double is no longer exact to one.
_Count = Annotated[int, msgspec.Meta(ge=1, lt=2**53)]
_Amount = Annotated[float, msgspec.Meta(gt=0, lt=2**53)]
# A heading; or up to its value the line of a key, and the value.
_LINE = re.compile(r"^[ \t]*\[([^\[\]]*)\]|^([ \t]*([A-Za-z0-9_-]+)[ \t]*=[ \t]*)[^\s#]+", re.MULTILINE)


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


def toml_target(text: str, path: str) -> Target:
    """Return a target in our TOML, with a table ``[gpu]``, and perhaps ``[per_sm]``::

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
    """
    document = parsed_toml(text, path, _Target, meant=_MEANT)
    gpu, dies = document.gpu, document.gpu.chiplets or 1
    if gpu.inter_chiplet_gb_per_s and not gpu.chiplets:
        message, key = "is of a GPU of chiplets", "inter_chiplet_gb_per_s"
        raise ProfileError(message, path=path, key=key, remedy="state what the target has")
    if gpu.llc_mib * _MIB % 1:
        message = f"{gpu.llc_mib} is not a whole number of bytes"
        raise ProfileError(message, path=path, key="llc_mib", remedy="state what the target has")
    with_selection = {key: value for key, value in msgspec.structs.asdict(gpu).items() if value is not None}
    of_all = {
        key: dies * value for key, value in with_selection.items() if key not in ("llc_mib", "chiplets")
    }
    llc, name = dies * int(gpu.llc_mib * _MIB), _written_name(path, "target.toml")
    resources = SharedResources(llc_bytes=llc, chiplets=gpu.chiplets, **of_all)

    def scaled(factor: int) -> ScaledModel:
        keys = () if factor == 1 else tuple(with_selection) if gpu.chiplets is None else ("chiplets",)
        new = {
            key: value // factor if isinstance(value, int) and value % factor == 0 else value / factor
            for key, value in ((key, with_selection[key]) for key in keys)
        }
        heading = ""

        def replaced(line: re.Match[str]) -> str:
            nonlocal heading
            heading = heading if line[1] is None else line[1].strip()
            is_ours = line[1] is None and heading == "gpu" and line[3] in new
            return f"{line[2]}{new[line[3]]}" if is_ours else line[0]

        ours = _LINE.sub(replaced, text)
        expected = _Target(msgspec.structs.replace(gpu, **new), document.per_sm)
        if parsed_toml(ours, path, _Target, meant=_MEANT) != expected:
            message = "the values that scale cannot be replaced as they are written"
            raise ProfileError(message, path=path, remedy="write the table [gpu] with one key = value a line")
        changes = tuple(Change(name, key, str(with_selection[key]), str(new[key])) for key in keys)
        return ScaledModel(factor, resources.divided(factor), changes, ours)

    whole_resources = [(resources.sms, "SMs"), (llc, "bytes of last-level cache")]
    whole_resources += [(resources.llc_slices, "slices of last-level cache")]
    whole_resources += [(resources.memory_controllers, "memory controllers")]
    whole_resources = whole_resources if gpu.chiplets is None else [(gpu.chiplets, "chiplets")]
    unchanged = tuple((key, str(value)) for key, value in document.per_sm.items())
    return Target(name, resources, tuple(whole_resources), unchanged, scaled)
