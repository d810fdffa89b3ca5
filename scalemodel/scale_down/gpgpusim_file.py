"""What a `gpgpusim.config` says: its options, where their values stand, and what the SMs share.

The grammar is that of the simulator's option parser (option_parser.cc). `#` starts a comment. Everything else
is words apart by white space, `-option value`, over line ends too; a word in quotes may hold blanks; of an
option given twice the last counts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from scalemodel.errors import InputError, Place
from scalemodel.scale_down.booksim_network import BookSimNetwork
from scalemodel.scale_down.scaled_model import SharedResources

CLUSTERS = "-gpgpu_n_clusters"
SMS_PER_CLUSTER = "-gpgpu_n_cores_per_cluster"
CHANNELS = "-gpgpu_n_mem"
SLICES_PER_CHANNEL = "-gpgpu_n_sub_partition_per_mchannel"
LLC = "-gpgpu_cache:dl2"
CHIPLETS = "-gpgpu_n_chiplet_partition"
CLOCKS = "-gpgpu_clock_domains"
NETWORK_MODE = "-network_mode"
NETWORK_FILE = "-inter_config_file"
_FLIT = "-icnt_flit_size"
_CHIPS_PER_CHANNEL = "-gpgpu_n_mem_per_ctrlr"
_BUS_BYTES = "-gpgpu_dram_buswidth"
_DATA_RATE = "-dram_data_command_freq_ratio"
INDEXING = "-gpgpu_memory_partition_indexing"
MAPPING = "-gpgpu_mem_addr_mapping"
BOOKSIM, _LOCAL_CROSSBAR = "1", "2"

_COMMENT = re.compile(r"#[^\n]*")
_WORD = re.compile(r'"[^"]*"|\S+', re.ASCII)
_OPTION_NAME = re.compile(r"-[A-Za-z]")
# At most nine digits: no more than the simulator's 32 bits hold.
_WHOLE = re.compile(r"[1-9][0-9]{0,8}", re.ASCII)
_NUMBER = re.compile(r"[0-9]{1,9}(?:\.[0-9]*)?", re.ASCII)
# The letter for a sectored or a normal cache is not there in GPGPU-Sim 3.
_CACHE = re.compile(r"(?:[A-Z]:)?([1-9][0-9]{0,8}):([1-9][0-9]{0,8}):([1-9][0-9]{0,8}),", re.ASCII)


@dataclass(frozen=True, slots=True)
class Option:
    """The value of an option that counts, without quotes; where it starts in the text; its row, from 1."""

    value: str
    start: int
    row: int


def looks_like_gpgpusim(text: str) -> bool:
    """Return whether a line of the text starts with an option."""
    return any(_OPTION_NAME.match(line.lstrip()) for line in text.splitlines())


def read_options(text: str, path: str) -> dict[str, Option]:
    """Return name, with its hyphen, -> value of all options, as the simulator takes a text apart.

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
                    "-config reads another file", Place(path, row), remedy="put all options in one file"
                )
            continue
        if name is None:
            raise InputError(
                f"{word[0]!r} is neither an option nor the value of one",
                Place(path, row),
                remedy="give a gpgpusim.config as the simulator reads it, one -option and one value each",
            )
        quoted = word[0].startswith('"')
        options[name] = Option(word[0].strip('"'), word.start() + quoted, row)
        name = None
    return options


class GpgpuSimReader:
    """The options of a text, and the numbers in them."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.options = read_options(text, path)

    def network(self) -> BookSimNetwork | None:
        """Return BookSim's file if the configuration names one and it lies beside it."""
        named = self.options.get(NETWORK_FILE)
        if named is None or self._text(NETWORK_MODE) not in {None, BOOKSIM}:
            return None
        path = Path(self.path).parent / named.value
        if Path(named.value).name != named.value or not path.is_file():
            return None
        try:
            text = path.read_bytes().decode("utf-8")
        except OSError as error:
            raise InputError(f"cannot be read ({error.strerror})", Place(path)) from error
        except UnicodeDecodeError as error:
            raise InputError("not a text file", Place(path)) from error
        return BookSimNetwork(named.value, str(path), text)

    def resources(self, network: BookSimNetwork | None) -> SharedResources:
        """Return what the SMs share."""
        clusters, channels = self.whole(CLUSTERS), self.whole(CHANNELS)
        slices = channels * self.whole(SLICES_PER_CHANNEL)
        self._check_chiplets(clusters, channels)
        return SharedResources(
            sms=clusters * self.whole(SMS_PER_CLUSTER),
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
        if CHIPLETS not in self.options:
            return
        parts = self.whole(CHIPLETS)
        if clusters % parts or channels % parts:
            raise self._error(
                self.options[CHIPLETS],
                f"{CHIPLETS} {parts} does not divide {clusters} clusters and {channels} memory channels",
                "give a target whose chiplet partitions are alike",
            )

    def _slice_bytes(self) -> int:
        option = self._required(LLC)
        found = _CACHE.match(option.value)
        if found is None:
            raise self._error(
                option,
                f"{LLC} is {option.value!r}, which does not start with sets:line bytes:ways",
                "give a target with a last-level cache, as in S:32:128:24,L:B:m:L:P,A:192:4,32:0,32",
            )
        return int(found[1]) * int(found[2]) * int(found[3])

    def _noc_gb_per_s(self, ports: int, network: BookSimNetwork | None) -> float | None:
        mhz = self._clock_mhz(1)
        if network is not None:
            flit_bytes = network.flit_bytes
        elif self._text(NETWORK_MODE) == _LOCAL_CROSSBAR and _FLIT in self.options:
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
        if CLOCKS not in self.options:
            return None
        option = self.options[CLOCKS]
        clocks = option.value.split(":")
        if len(clocks) != 4 or not all(_NUMBER.fullmatch(clock) for clock in clocks):
            raise self._error(
                option,
                f"{CLOCKS} is {option.value!r}, not four clocks in MHz",
                "write them as SM:NETWORK:CACHE:MEMORY",
            )
        return float(clocks[domain])

    def _text(self, name: str) -> str | None:
        return self.options[name].value if name in self.options else None

    def _required(self, name: str) -> Option:
        if name not in self.options:
            raise InputError(
                f"{name} is missing",
                Place(self.path),
                remedy="give the whole gpgpusim.config of the target, with no value left to the simulator's"
                " default",
            )
        return self.options[name]

    def _error(self, option: Option, message: str, remedy: str) -> InputError:
        return InputError(message, Place(self.path, option.row), remedy=remedy)
