"""The frozen options of the commands of `scale`, and the sizes, SIZE=VALUE and capacities in them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from sampling.errors import OptionError
from sampling.text import NumberKind
from scalemodel.measurements import MpkiUnit, Scaling, TraceFormat
from tui.options.files import FeatureFile, InputFile, Product
from tui.options.shared import (
    OUTPUT_PANEL,
    OutputOptions,
    Texts,
    WindowOptions,
    argument,
    height_option,
    option,
    output_option,
    width_option,
)

_GIVEN = "What was measured"
_RULES = "How to predict"
_TRACE = "The trace"


class ScaleOptions(OutputOptions):
    """What a prediction and its validation take."""

    scaling: Scaling | None = option("What grows with the system; strong if nothing says it.", panel=_GIVEN)
    simulated: Texts = option("Sizes of the scale models, by commas.", panel=_GIVEN, metavar="SIZES")
    mpki_unit: MpkiUnit | None = option(
        "Whose thousand instructions the MPKI counts; thread if nothing says it.", panel=_GIVEN
    )
    rule: Texts = option("Scale rules, by commas (or repeat), or all.", "-r", panel=_RULES, metavar="RULE")
    confidence: float = option(
        "Of the intervals: 0.8, 0.9 or 0.95.", default=0.9, panel=_RULES, metavar="LEVEL"
    )
    assume_f_mem: bool = option("Assume f_mem 0.5 where it is needed and not known.", panel=_RULES)
    width: int | None = width_option("Columns.", panel=OUTPUT_PANEL)
    height: int | None = height_option("Rows of the chart.", panel=OUTPUT_PANEL)


class ScalePredictOptions(ScaleOptions, panel=_GIVEN):
    """`scale predict`."""

    files: tuple[InputFile, ...] = argument(
        "CSV of benchmark,size,ipc,mpki,f_mem,scaling,mpki_unit, whose two smallest sizes are the scale "
        "models; or TOML: tables [ipc] and [mpki] of SIZE = VALUE, above them f_mem, simulated = [8, 16], "
        "targets = [32], name, scaling, mpki_unit, peak_ipc_per_sm, all but [ipc] optional; or give --ipc.",
        "FILE",
        required=False,
    )
    run: tuple[FeatureFile, ...] = option(
        "What GPGPU-Sim or Accel-Sim printed on a GPU of so many SMs, or a table of its launches, with name, "
        "grid and cycles (repeat): predicts cycles launch by launch; with --rule the IPC of the whole. A log "
        "that prints its configuration needs no SIZE.",
        metavar="[SIZE=]LOG",
    )
    plan: InputFile | None = option(
        "With --run: the plan whose drawn launches the runs are of.", metavar="PLAN"
    )
    kernels: bool = option("With --run: a row a kernel, with what limits it.", panel=OUTPUT_PANEL)
    benchmark: str | None = option("Only this one of a CSV, drawn.", "-b", metavar="NAME")
    ipc: Texts = option("IPC of a scale model (repeat, or by commas).", metavar="SIZE=VALUE")
    mpki: Texts = option("MPKI of a size, the targets' too (repeat, or by commas).", metavar="SIZE=VALUE")
    mpki_from: InputFile | None = option(
        "MPKI from the CSV of `scale mrc --capacity SIZE=BYTES`, in which a cliff must be steeper."
    )
    f_mem: float | None = option(
        "Share of cycles in which all of an SM wait for memory, of the largest scale model.", fraction=True
    )
    peak_ipc_per_sm: float | None = option(
        "The most an SM can do: bounds a cliff's gain.", kind=NumberKind.OTHER
    )
    target: Texts = option("Sizes to predict, by commas (or repeat).", "-t", panel=_RULES, metavar="SIZES")


class ScaleOpenOptions(WindowOptions):
    """`scale open`."""

    files: tuple[InputFile, ...] = argument(
        "CSV or TOML as `scale predict` reads them, or the logs of runs; made-up numbers if none.",
        "FILE",
        required=False,
    )


class ScaleValidateOptions(ScaleOptions):
    """`scale validate`."""

    files: tuple[FeatureFile, ...] = argument(
        "CSV of benchmark,size,ipc,mpki,f_mem,scaling,mpki_unit: the two smallest sizes of each are its "
        "scale models, all larger ones are predicted and compared. Or what simulators printed, as LOG, "
        "SIZE=LOG or folders of logs: launch by launch too, each program by its two smallest runs.",
        "FILE",
    )


class ScaleDeriveOptions(OutputOptions):
    """`scale derive`."""

    output: str | None = output_option(
        "The folder to write to, one in it for each scale model; `-` is stdout. Else nothing is written.",
        "FOLDER",
        Product.FOLDER,
    )
    file: InputFile = argument(
        "The target: a gpgpusim.config, or a TOML with a table [gpu] of sms, llc_mib, llc_slices, "
        "memory_controllers and, where known, noc_gb_per_s, dram_gb_per_s; for chiplets, of one of them, and "
        "chiplets, inter_chiplet_gb_per_s. A table [per_sm] of any names holds what each SM has for itself.",
        "FILE",
    )
    factor: Texts = option(
        "How many times smaller, by commas (or repeat). If none is given those that leave 8 and 16 SMs, or 4 "
        "and 8 chiplets, as published, or the two sizes next to these, a doubling apart, that divide.",
        "-f",
        metavar="F",
    )
    simulator_log: InputFile | None = option(
        "What the simulator at hand prints: options of the target that it does not print are named, for it "
        "stops at them.",
        metavar="LOG",
    )


class ScaleMrcOptions(OutputOptions):
    """`scale mrc`."""

    traces: tuple[InputFile, ...] = argument(
        "Address traces, one after the other: text, CSV, Accel-Sim's .traceg, its kernelslist.g, a folder "
        "with either, or binary, little-endian addresses of 64 bits, or of 32, which --from must name.",
        "TRACE",
    )
    capacity: Texts = option(
        "Cache capacities, as 2MiB, or with the system size they belong to, as 8=2MiB (repeat, or by "
        "commas); 64KiB doubled to 128MiB if none.",
        "-c",
        metavar="[SIZE=]BYTES",
    )
    exact: bool = option("Count every miss; so it is without --rate and --statstack.")
    rate: float | None = option("Look at this share of the cache lines only (SHARDS).")
    statstack: bool = option("Estimate from reuse distances, without an error.")
    mpki_unit: MpkiUnit = option("Whose thousand instructions to count misses in.", default=MpkiUnit.THREAD)
    instructions: int | None = option(
        "Instructions of that unit; only where the trace does not state them itself.", least=1
    )
    line_bytes: int = option(
        "Bytes of a cache line; 32 for the sectors that GPGPU-Sim and Accel-Sim count.",
        default=128,
        panel=_TRACE,
    )
    source: TraceFormat | None = option(
        "Text, CSV and traceg are recognised; binary (64-bit little-endian addresses) and binary32 (32-bit) "
        "must be named.",
        "--from",
        panel=_TRACE,
    )
    width: int | None = width_option("Columns.", panel=OUTPUT_PANEL)


# -- what is typed after the options ----------------------------------------------------------------------

_UNITS = {"": 1, "b": 1, "kib": 2**10, "mib": 2**20, "gib": 2**30}
_CAPACITY = re.compile(r"(?:([0-9]+)=)?([0-9]+(?:\.[0-9]+)?) ?([a-z]*)", re.ASCII | re.IGNORECASE)
_PAIRED = {"--ipc", "--mpki", "--capacity", "-c"}
_PAIR = re.compile(r"[0-9]+=.*", re.ASCII)
_MOST_BYTES = 2**62

#: Cache capacities where none is given.
DEFAULT_CAPACITIES = tuple(2**16 << doubling for doubling in range(12))


def split_words(values: Iterable[str]) -> Iterator[str]:
    """Yield what was given by commas or by repeating the option, word by word."""
    return (word.strip() for value in values for word in value.split(",") if word.strip())


def with_flags_repeated(arguments: Sequence[str]) -> list[str]:
    """Give each SIZE=VALUE its flag: `--ipc 8=112 16=226` becomes `--ipc 8=112 --ipc 16=226`."""
    words: list[str] = []
    flag, has_value = "", False
    for word in arguments:
        if word.startswith("-"):
            flag, equals, _ = word.partition("=")
            has_value = bool(equals)
        elif flag in _PAIRED and _PAIR.fullmatch(word):
            words += [flag] if has_value else []
            has_value = True
        words.append(word)
    return words


def parse_sizes(flag: str, values: Sequence[str]) -> tuple[int, ...]:
    """Return sizes in the order given; raise OptionError if one is no whole number."""
    words = tuple(split_words(values))
    try:
        return tuple(map(int, words))
    except ValueError as error:
        raise OptionError(f"{flag} {','.join(words)}: whole numbers by commas are meant") from error


def parse_pairs(flag: str, values: Sequence[str]) -> list[tuple[int, float]]:
    """Return (size, value) of each SIZE=VALUE; raise OptionError if one is not of this form."""
    pairs = []
    for word in split_words(values):
        size, _, value = word.partition("=")
        try:
            pairs.append((int(size), float(value)))
        except ValueError as error:
            meant = "SIZE=VALUE is meant, as 8=112.7, with a decimal point"
            raise OptionError(f"{flag} {word}: {meant}") from error
    return pairs


def parse_capacities(values: Sequence[str]) -> list[tuple[int | None, int]]:
    """Return (system size or None, bytes) of each capacity.

    Raises OptionError: one is not of the form [SIZE=]BYTES, only some have a size, or a size comes twice.
    """
    pairs: list[tuple[int | None, int]] = []
    for word in split_words(values):
        match = _CAPACITY.fullmatch(word)
        size_bytes = float(match[2]) * _UNITS.get(match[3].casefold(), 0) if match else 0.0
        if match is None or not 0 < size_bytes <= _MOST_BYTES or not size_bytes.is_integer():
            message = f"--capacity {word}: not a whole number of bytes that a cache can have"
            raise OptionError(message, remedy="write [SIZE=]BYTES, or KiB, MiB or GiB of 1024, as 8=2MiB")
        pairs.append((None if match[1] is None else int(match[1]), int(size_bytes)))
    sizes = [size for size, _ in pairs]
    if len(sizes) > 1 and set(sizes) != {None} and (None in sizes or len(set(sizes)) < len(sizes)):
        raise OptionError("each capacity has a size of its own, or none has", remedy="give all of them one")
    return pairs or [(None, capacity) for capacity in DEFAULT_CAPACITIES]
