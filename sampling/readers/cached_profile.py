"""A profile as bytes: a header of typed records, and the arrays, which are used where they lie.

What a reader finds only when it is asked for (named ranges, operators) is written as what it is found from:
a function, by its name, and its arguments. That is one of those that the modules of readers list for this:
nothing else is ever called for what stands in a file.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any, cast, get_type_hints

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sampling.profile.launch_table import ColumnsInMemory, OperatorColumn
from sampling.profile.profile import DeviceTime, KernelTable, Profile, Reduced, Reduction
from sampling.readers.input_file import InputFile, open_input

_ALIGNED = 64
_NUMBERS = "iuf"
# All other fields of a profile are plain data, and are kept whichever there are.
_NOT_PLAIN = ("kernels", "parts", "ranges", "activity_reader", "mapper", "reduced")
# Here lie the modules that list, as CACHED_BY_NAME, the records and functions that a file may refer to.
_OF_PROFILES = ("sampling.profile.", "sampling.readers.")


class NotDataError(Exception):
    """A profile has something that cannot be written as data."""


class _Array(Struct, frozen=True):
    """Where an array lies, counted from the first one, and what it is of."""

    begin: int
    dtype: str
    shape: tuple[int, ...]


class _Header(Struct, frozen=True):
    """What is known of a profile besides its arrays, which stand here by their numbers."""

    profile: dict[str, Any]  #: its plain fields
    names: tuple[list[str], list[str | None], list[str | None]]  #: full, short and mangled, by their codes
    signatures: int
    columns: dict[str, int]
    metrics: dict[str, int]
    reduction: list[int]
    device_times: tuple[DeviceTime, ...]
    #: As `_Written` writes it: the source of the named ranges, and of what there is besides launches; what
    #: finds operators, and its other fields.
    ranges: Any
    activity: Any
    operator: Any
    arrays: list[_Array]


def padded(size: int) -> int:
    """Return a size up to the next place at which an array may begin."""
    return -(-size // _ALIGNED) * _ALIGNED


def profile_sections(profile: Profile) -> tuple[bytes, list[memoryview]]:
    """Return the header of a profile in memory, all of whose launches were looked at, and its arrays' bytes.

    Each array begins at the next place that is aligned behind the one before.

    Raises NotDataError: the profile has something that is neither data nor found by one of the functions.
    """
    source, reduced = profile.parts[0].source, profile.reduced
    assert isinstance(source, ColumnsInMemory)
    assert reduced is not None
    writer, operator = _Written(), source.operator
    header = _Header(
        profile={name: getattr(profile, name) for name in _plain_fields()},
        names=profile.kernels.names.recorded(),
        signatures=writer.number(profile.kernels.signature_rows()),
        columns={name: writer.number(values) for name, values in source.columns.items()},
        metrics={name: writer.number(values) for name, values in source.metric.items()},
        reduction=[*map(writer.number, reduced.reduction)],
        device_times=reduced.device_times,
        ranges=writer.value(profile.ranges),
        activity=writer.value(profile.activity_reader),
        operator=operator and writer.value([operator.find, operator.order, operator.begun_late]),
        arrays=writer.places(),
    )
    # Names cut within a character read as lone surrogates, which this module alone can write.
    text = json.dumps(msgspec.to_builtins(header, enc_hook=_as_text))
    contiguous = map(np.ascontiguousarray, writer.arrays)
    return text.encode(), [array.reshape(-1).view(np.uint8).data for array in contiguous]


def profile_from(header: bytes, content: NDArray[np.uint8]) -> Profile:
    """Return a profile from its header and the bytes of its arrays, which are not copied.

    Raises ValueError, TypeError, LookupError or msgspec.MsgspecError: `profile_sections` did not write them;
    ProfileError: a file that is read when it is asked for is not there.
    """
    record = msgspec.convert(json.loads(header), _Header)
    arrays = [_array(stored, content) for stored in record.arrays]
    kernels = KernelTable()
    kernels.names.intern(*record.names)
    kernels.add_rows(arrays[record.signatures])
    plain: dict[str, Any] = {
        name: msgspec.convert(record.profile[name], kind, dec_hook=_from_text)
        for name, kind in _plain_fields().items()
    }
    columns: dict[Any, Any] = {name: arrays[number] for name, number in record.columns.items()}
    operator = None
    if record.operator is not None:
        operator = OperatorColumn(kernels, columns["signature"], *_value(record.operator, arrays))
    metrics = {name: arrays[number] for name, number in record.metrics.items()}
    source = ColumnsInMemory(kernels, columns, metrics, operator)
    profile = Profile(
        **plain,
        kernels=kernels,
        parts=source.parts(plain["sequences"]),
        ranges=_value(record.ranges, arrays),
        activity_reader=_value(record.activity, arrays),
    )
    reduction = Reduction(*(arrays[number] for number in record.reduction))
    profile.reduced = Reduced(reduction, record.device_times)
    return profile


@cache
def _plain_fields() -> Mapping[str, Any]:
    """Return the types of a profile's fields that are plain data, by their names."""
    types = get_type_hints(Profile)
    return {field.name: types[field.name] for field in fields(Profile) if field.name not in _NOT_PLAIN}


def _as_text(value: object) -> str:
    if isinstance(value, Path):
        return os.fspath(value)
    raise NotDataError(type(value).__name__)


def _from_text(kind: type, text: str) -> object:
    if issubclass(kind, Path):
        return kind(text)
    raise TypeError(f"no plain data: {kind.__name__}")


def _array(stored: _Array, content: NDArray[np.uint8]) -> NDArray[Any]:
    dtype = np.dtype(stored.dtype)
    if dtype.kind not in _NUMBERS:
        raise ValueError(f"no array of numbers: {stored.dtype}")
    size = math.prod(stored.shape) * dtype.itemsize
    return content[stored.begin : stored.begin + size].view(dtype).reshape(stored.shape)


# --- what is found when it is asked for ---------------------------------------------------------------------


class _Written:
    """The arrays of a profile, each once, and its other values as JSON has them."""

    def __init__(self) -> None:
        self.arrays: list[NDArray[Any]] = []
        self._numbers: dict[int, int] = {}

    def number(self, values: NDArray[Any]) -> int:
        """Return the number of an array; a new one is added."""
        if id(values) not in self._numbers:
            self._numbers[id(values)] = len(self.arrays)
            self.arrays.append(values)
        return self._numbers[id(values)]

    def places(self) -> list[_Array]:
        """Return where the arrays are to lie, once all are added."""
        begins = np.cumsum([0, *(padded(array.nbytes) for array in self.arrays)]).tolist()
        return [
            _Array(begin, array.dtype.str, array.shape)
            for begin, array in zip(begins, self.arrays, strict=False)
        ]

    def value(self, value: object) -> Any:
        """Return a value for `_value` to read; NotDataError where it is of no kind that there is here."""
        plain: Any = value
        match value:
            case np.ndarray():
                plain = {"array": self.number(value)}
            case InputFile(path=path, location=location):
                plain = {"file": [path, os.fspath(location)]}
            case partial(func=function, args=values) if not value.keywords:
                plain = {"function": _qualified_name(function), "values": self.value(values)}
            case Mapping():
                plain = {"pairs": self.value([*value.items()])}
            case _ if type(value) in {list, tuple}:
                plain = [self.value(element) for element in cast("Sequence[object]", value)]
            case _ if value is not None and not isinstance(value, int | float | str):
                name, names = _qualified_name(type(value)), type(value).__annotations__
                plain = {"record": name, "values": [self.value(getattr(value, field)) for field in names]}
        return plain


def _value(plain: Any, arrays: Sequence[NDArray[Any]]) -> Any:
    """Return what `_Written.value` wrote; what was a list is a tuple."""
    value = plain
    match plain:
        case list():
            value = tuple(_value(element, arrays) for element in plain)
        case {"array": number}:
            value = arrays[number]
        case {"pairs": pairs}:
            value = dict(_value(pairs, arrays))
        case {"file": [path, location]}:
            with open_input(location) as file:
                value = replace(file, path=path)
        case {"function": name, "values": values}:
            value = partial(_find_named(name), *_value(values, arrays))
        case {"record": name, "values": values}:
            kind = _find_named(name)
            value = kind(*_value(values, arrays)) if isinstance(kind, type) else None
    return value


def _qualified_name(referred: Any) -> str:
    module = referred.__module__
    if referred not in getattr(sys.modules[module], "CACHED_BY_NAME", ()):
        raise NotDataError(f"{module}.{referred.__name__}")
    return f"{module}:{referred.__name__}"


def _find_named(name: str) -> Any:
    module, _, attribute = name.partition(":")
    if not module.startswith(_OF_PROFILES):
        raise ValueError(f"not kept by name: {name}")
    return {referred.__name__: referred for referred in getattr(import_module(module), "CACHED_BY_NAME", ())}[
        attribute
    ]
