"""The GPUs that nvprof names in a trace."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import AnyIntArray
from sampling.profile.profile import Device

_DEVICE = re.compile(r"(?P<name>.*?)\s*\((?P<number>\d{1,9})\)\s*")


class Devices:
    """The GPUs of a trace. Printed in columns, a name may lack its number: then each name is one GPU."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._names: dict[int, str] = {}

    def numbers(self, distinct: Any, codes: AnyIntArray) -> NDArray[np.int32]:
        """Return (n,) device numbers from distinct texts, an Arrow array, and (n,) each row's index."""
        found = [self._number(text.decode("utf-8", "replace")) for text in distinct.to_pylist()]
        return np.array(found, dtype=np.int32)[codes]

    def described(self) -> tuple[Device, ...]:
        """Return the devices by number."""
        return tuple(Device(number, name) for number, name in sorted(self._names.items()))

    def _number(self, text: str) -> int:
        match = _DEVICE.fullmatch(text)
        name = text.strip() if match is None else match["name"]
        unused = len(self._numbers) if match is None else int(match["number"])
        number = self._numbers.setdefault(text, unused)
        self._names[number] = name
        return number
