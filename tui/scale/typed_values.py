"""What is typed after the options of `scale`: sizes, SIZE=VALUE and capacities."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from scalemodel.errors import OptionError

_UNITS = {"": 1, "b": 1, "kib": 2**10, "mib": 2**20, "gib": 2**30}
_CAPACITY = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?([A-Za-z]*)", re.ASCII)
_PAIRED = {"--ipc", "--mpki", "--capacity", "-c"}
_PAIR = re.compile(r"[0-9]+=.*", re.ASCII)
_MOST_BYTES = 2**62

#: Cache capacities where none is given.
DEFAULT_CAPACITIES = tuple(2**16 << doubling for doubling in range(12))


def words_of(values: Iterable[str]) -> Iterator[str]:
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


def sizes_of(flag: str, values: Sequence[str]) -> tuple[int, ...]:
    """Return sizes in the order given.

    Raises
    ------
    OptionError : one is no whole number.
    """
    return tuple(
        _size(word, f"{flag} {word}", "whole numbers by commas are meant") for word in words_of(values)
    )


def pairs_of(flag: str, values: Sequence[str]) -> list[tuple[int, float]]:
    """Return (size, value) of each SIZE=VALUE.

    Raises
    ------
    OptionError : one is not of this form.
    """
    pairs = []
    before = ""
    for word in words_of(values):
        size, equals, value = word.partition("=")
        meant = "SIZE=VALUE is meant, as 8=112.7"
        if not equals and word.isdecimal() and "=" in before and "." not in before:
            raise OptionError(
                f"{flag} {word}: {meant}",
                remedy=f"a comma separates values; for a decimal comma write a point: {before}.{word}",
            )
        try:
            pairs.append((_size(size, f"{flag} {word}", meant), float(value if equals else "")))
        except ValueError as error:
            raise OptionError(f"{flag} {word}: {meant}") from error
        before = word
    return pairs


def capacities_of(values: Sequence[str]) -> list[tuple[int | None, int]]:
    """Return (system size or None, bytes) of each capacity.

    Raises
    ------
    OptionError : one is not of the form [SIZE=]BYTES, only some have a size, or a size comes twice.
    """
    pairs: list[tuple[int | None, int]] = []
    for word in words_of(values):
        size, equals, capacity = word.rpartition("=")
        meant = "[SIZE=]BYTES is meant, as 8=2MiB"
        number = _size(size, f"--capacity {word}", meant) if equals else None
        pairs.append((number, _bytes(capacity, word)))
    if len({size is None for size, _ in pairs}) > 1:
        raise OptionError("some capacities have a size and others have not", remedy="give all of them one")
    sizes = [number for number, _ in pairs if number is not None]
    repeated = next((number for number in sizes if sizes.count(number) > 1), None)
    if repeated is not None:
        raise OptionError(f"size {repeated} has two capacities", remedy="give each size once")
    return pairs or [(None, capacity) for capacity in DEFAULT_CAPACITIES]


def _size(text: str, where: str, meant: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise OptionError(f"{where}: {meant}") from error


def _bytes(text: str, word: str) -> int:
    found = _CAPACITY.fullmatch(text.strip())
    if found is None or found[2].casefold() not in _UNITS:
        raise OptionError(
            f"--capacity {word}: no capacity", remedy="write bytes, or KiB, MiB or GiB of 1024, as 2MiB"
        )
    capacity = float(found[1]) * _UNITS[found[2].casefold()]
    if not capacity.is_integer() or capacity > _MOST_BYTES:
        raise OptionError(f"--capacity {word}: not a whole number of bytes that a cache can have")
    return int(capacity)
