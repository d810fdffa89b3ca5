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

A CSV is that of `measurement_csv`: its two smallest sizes are the scale models, all larger ones targets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from typing import Any, TypeVar

from scalemodel.errors import InputError, OptionError
from scalemodel.inputs.measurement_csv import benchmarks_of_text
from scalemodel.inputs.measurement_header import Tell, looks_like_benchmarks
from scalemodel.inputs.text_file import read_text
from scalemodel.inputs.toml_text import parsed_toml
from scalemodel.measurements import (
    Measurements,
    MpkiUnit,
    Scaling,
    measurements_of,
    wrong_f_mem,
    wrong_ipc,
    wrong_mpki,
    wrong_size,
)

_KEYS = ("name", "scaling", "mpki_unit", "peak_ipc_per_sm", "f_mem", "simulated", "targets", "ipc", "mpki")

Choice = TypeVar("Choice", bound=StrEnum)


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
    ipc = _table(document, "ipc", wrong_ipc, path)
    mpki = _table(document, "mpki", wrong_mpki, path)
    models = tuple(sorted(_sizes(document, "simulated", path) or ipc))
    missing = [size for size in models if size not in ipc]
    if missing:
        raise InputError(
            f"size {missing[0]} has no IPC",
            path=path,
            key="simulated",
            remedy="give it in the table [ipc]",
        )
    if len(models) < 2:
        raise InputError(
            f"an IPC at {'one size alone' if models else 'no size'} shows no trend",
            path=path,
            key="ipc",
            remedy="give a table [ipc] of two sizes or more",
        )
    f_mem = document.get("f_mem")
    if f_mem is not None:
        f_mem = _number(f_mem, wrong_f_mem, path, "f_mem")
    name, peak = document.get("name", ""), document.get("peak_ipc_per_sm")
    if not isinstance(name, str):
        raise InputError("a name is text", path=path, key="name", remedy="put it in quotes")
    try:
        measurements = measurements_of(
            ipc.items(),
            mpki.items(),
            [] if f_mem is None else [(models[-1], f_mem)],
            name=name,
            peak_ipc_per_sm=None if peak is None else _number(peak, wrong_ipc, path, "peak_ipc_per_sm"),
            scaling=scaling or _choice(document, "scaling", Scaling.STRONG, path),
            mpki_unit=mpki_unit or _choice(document, "mpki_unit", MpkiUnit.THREAD, path),
        )
    except OptionError as error:
        raise InputError(error.message, path=path, remedy=error.remedy) from error
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
            raise InputError(f"no key {key!r} is known", path=path, key=key, remedy=remedy)
    return document


def _table(
    document: Mapping[str, Any], key: str, wrong_value: Callable[[float], str | None], path: str
) -> dict[int, float]:
    table = document.get(key, {})
    if not isinstance(table, dict):
        raise InputError(
            "not a table",
            path=path,
            key=key,
            remedy=f"write [{key}] and below it a line SIZE = VALUE each",
        )
    values: dict[int, float] = {}
    for word, value in table.items():
        place = f"{key}.{word}"
        size = _size(int(word) if word.isascii() and word.isdigit() and len(word) < 20 else word, path, place)
        if size in values:
            raise InputError(
                f"size {size} is given twice", path=path, key=place, remedy="keep one of the two"
            )
        values[size] = _number(value, wrong_value, path, place)
    return values


def _sizes(document: Mapping[str, Any], key: str, path: str) -> tuple[int, ...]:
    sizes = document.get(key, [])
    if not isinstance(sizes, list):
        raise InputError("not a list", path=path, key=key, remedy=f"write {key} = [8, 16]")
    checked = tuple(_size(size, path, key) for size in sizes)
    if len(set(checked)) < len(checked):
        raise InputError("a size is named twice", path=path, key=key, remedy="name each once")
    return checked


def _size(value: Any, path: str, place: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise InputError(
            f"a size is a whole number, not {value!r}",
            path=path,
            key=place,
            remedy="count SMs or chiplets",
        )
    wrong = wrong_size(value)
    if wrong is not None:
        raise InputError(wrong, path=path, key=place, remedy="count SMs or chiplets")
    return value


def _number(value: Any, wrong_value: Callable[[float], str | None], path: str, place: str) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise InputError(f"a number is meant, not {value!r}", path=path, key=place, remedy="correct it")
    try:
        number = float(value)
    except OverflowError:
        number = float("inf")
    wrong = wrong_value(number)
    if wrong is not None:
        raise InputError(wrong, path=path, key=place, remedy="correct it, or leave it out if not measured")
    return number


def _choice(document: Mapping[str, Any], key: str, default: Choice, path: str) -> Choice:
    word = document.get(key, default)
    choices = type(default)
    if word not in list(choices):
        raise InputError(
            f"{word!r} is not known", path=path, key=key, remedy=f"write one of {', '.join(choices)}"
        )
    return choices(word)
