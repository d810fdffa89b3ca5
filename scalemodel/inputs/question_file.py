"""One question from a file: a TOML, or a benchmark of a CSV.

The TOML says what the options of the command say::

    name = "dct"                # or left out
    scaling = "strong"          # strong (default), weak or chiplet
    mpki_unit = "thread"        # thread (default) or warp
    peak_ipc_per_sm = 64.0      # or left out
    f_mem = 0.52                # a fraction, of the largest scale model; or left out
    simulated = [8, 16]         # the scale models; all sizes of [ipc] where left out
    targets = [32, 64, 128]     # or left out: sizes of [ipc] above `simulated`, else the asker names them

    [ipc]                       # size = instructions per cycle
    8 = 112.7
    16 = 226.4

    [mpki]                      # size = misses per thousand instructions, the targets' too; or left out
    8 = 6.17
    16 = 6.18
    32 = 6.16
    64 = 5.52
    128 = 0.10

A CSV is that of `benchmark_table`: its two smallest sizes are the scale models, all larger ones targets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from scalemodel.errors import InputError, OptionError, Place
from scalemodel.inputs.benchmark_table import Tell, benchmarks_of_text, looks_like_benchmarks
from scalemodel.inputs.text_file import Choice, choice_in, parsed_toml, read_text, require
from scalemodel.measurements import (
    SIZE_REMEDY,
    WRONG_VALUE,
    Measurements,
    MpkiUnit,
    Scaling,
    measurements_of,
    wrong_ipc,
    wrong_size,
)

_KEYS = ("name", "scaling", "mpki_unit", "peak_ipc_per_sm", "f_mem", "simulated", "targets", "ipc", "mpki")


@dataclass(frozen=True, slots=True)
class ScaleQuestion:
    """What a file asks.

    Attributes
    ----------
    measurements : the benchmark's.
    simulated : sizes of its scale models, ascending.
    targets : sizes to predict, empty where the file names none.
    """

    measurements: Measurements
    simulated: tuple[int, ...]
    targets: tuple[int, ...]


def read_questions(
    path: str,
    *,
    benchmark: str | None = None,
    scaling: Scaling | None = None,
    mpki_unit: MpkiUnit | None = None,
    tell: Tell | None = None,
) -> tuple[ScaleQuestion, ...]:
    """Return the question of a TOML, or of a CSV one for each benchmark; which it is, its content says.

    Parameters
    ----------
    path : a TOML or CSV, gzip or not; "-" is standard input.
    benchmark : the only one of a CSV to ask for; all where None.
    scaling, mpki_unit : instead of what the file says; strong and thread where nothing says it.
    tell : is told what of a CSV is left out.

    Raises
    ------
    InputError : the file cannot be read, or a value in it is wrong.
    OptionError : the benchmark is not in the CSV.
    """
    text = read_text(path)
    if not looks_like_benchmarks(text):
        return (_question_of_toml(text, path, scaling, mpki_unit),)
    table = benchmarks_of_text(
        text, path, benchmark=benchmark, scaling=scaling, mpki_unit=mpki_unit, tell=tell
    )
    return tuple(map(_question_of_benchmark, table))


def _question_of_benchmark(measurements: Measurements) -> ScaleQuestion:
    models = measurements.simulated_sizes[:2]
    return ScaleQuestion(
        measurements, models, tuple(size for size in measurements.sizes if size > models[-1])
    )


def _question_of_toml(
    text: str, path: str, scaling: Scaling | None, mpki_unit: MpkiUnit | None
) -> ScaleQuestion:
    document = _document(text, path)
    ipc, mpki = (_table(document, key, path) for key in ("ipc", "mpki"))
    models = tuple(sorted(_sizes(document, "simulated", path) or ipc))
    missing = [size for size in models if size not in ipc]
    if missing:
        place = Place(path, key="simulated")
        raise InputError(f"size {missing[0]} has no IPC", place, remedy="give it in the table [ipc]")
    if len(models) < 2:
        what = f"an IPC at {'one size alone' if models else 'no size'} shows no trend"
        remedy = "give a table [ipc] of two sizes or more"
        raise InputError(what, Place(path, key="ipc"), remedy=remedy)
    f_mem = _optional_number(document, "f_mem", WRONG_VALUE["f_mem"], path)
    name = document.get("name", "")
    if not isinstance(name, str):
        raise InputError("a name is text", Place(path, key="name"), remedy="put it in quotes")
    try:
        measurements = measurements_of(
            ipc.items(),
            mpki.items(),
            [] if f_mem is None else [(models[-1], f_mem)],
            name=name,
            peak_ipc_per_sm=_optional_number(document, "peak_ipc_per_sm", wrong_ipc, path),
            scaling=scaling or _choice(document, "scaling", Scaling.STRONG, path),
            mpki_unit=mpki_unit or _choice(document, "mpki_unit", MpkiUnit.THREAD, path),
        )
    except OptionError as error:
        raise InputError(error.message, Place(path), remedy=error.remedy) from error
    targets = _sizes(document, "targets", path) or measured_above(measurements, models)
    return ScaleQuestion(measurements, models, targets)


def measured_above(measurements: Measurements, models: Sequence[int]) -> tuple[int, ...]:
    """Return the sizes with an IPC above the scale models: targets where none is named."""
    return tuple(size for size in measurements.simulated_sizes if size > max(models, default=0))


def _document(text: str, path: str) -> Mapping[str, Any]:
    document = parsed_toml(
        text, path, or_else="a CSV with columns benchmark, size and ipc", meant="one of the two"
    )
    for key in document:
        if key not in _KEYS:
            close = get_close_matches(key, _KEYS, 1)
            remedy = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(_KEYS)}"
            raise InputError(f"no key {key!r} is known", Place(path, key=key), remedy=remedy)
    return document


def _table(document: Mapping[str, Any], key: str, path: str) -> dict[int, float]:
    table = document.get(key, {})
    if not isinstance(table, dict):
        remedy = f"write [{key}] and below it a line SIZE = VALUE each"
        raise InputError("not a table", Place(path, key=key), remedy=remedy)
    values: dict[int, float] = {}
    for word, value in table.items():
        place = Place(path, key=f"{key}.{word}")
        size = _size(int(word) if word.isascii() and word.isdigit() and len(word) < 20 else word, place)
        if size in values:
            raise InputError(f"size {size} is given twice", place, remedy="keep one of the two")
        values[size] = _number(value, WRONG_VALUE[key], place)
    return values


def _sizes(document: Mapping[str, Any], key: str, path: str) -> tuple[int, ...]:
    sizes, place = document.get(key, []), Place(path, key=key)
    if not isinstance(sizes, list):
        raise InputError("not a list", place, remedy=f"write {key} = [8, 16]")
    checked = tuple(_size(size, place) for size in sizes)
    if len(set(checked)) < len(checked):
        raise InputError("a size is named twice", place, remedy="name each once")
    return checked


def _size(value: Any, place: Place) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise InputError(f"a size is a whole number, not {value!r}", place, remedy=SIZE_REMEDY)
    require(wrong_size(value), place, SIZE_REMEDY)
    return value


def _optional_number(
    document: Mapping[str, Any], key: str, wrong_value: Callable[[float], str | None], path: str
) -> float | None:
    value = document.get(key)
    return None if value is None else _number(value, wrong_value, Place(path, key=key))


def _number(value: Any, wrong_value: Callable[[float], str | None], place: Place) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise InputError(f"a number is meant, not {value!r}", place, remedy="correct it")
    try:
        number = float(value)
    except OverflowError:
        number = float("inf")
    require(wrong_value(number), place, "correct it, or leave it out if not measured")
    return number


def _choice(document: Mapping[str, Any], key: str, default: Choice, path: str) -> Choice:
    word = document.get(key, default)
    return choice_in(word, word, type(default), Place(path, key=key))
