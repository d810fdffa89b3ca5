"""Texts that arrive as Arrow arrays, kept as the distinct ones and a code for each."""

from __future__ import annotations

from typing import Any

import numpy as np

from sampling.arrays import IntArray
from sampling.arrow import to_numpy


class TextCodes:
    """Codes for texts, in the order they are first met; one Python step for each distinct one of an array."""

    def __init__(self) -> None:
        self._code_of: dict[str, int] = {}

    def take(self, texts: Any) -> IntArray:
        """Return (k,) the codes of an Arrow binary array without nulls."""
        encoded = texts.dictionary_encode()
        known = self.codes_of(encoded.dictionary.to_pylist())
        codes: IntArray = known[to_numpy(encoded.indices)]
        return codes

    def codes_of(self, texts: list[bytes]) -> IntArray:
        """Return the codes of distinct texts."""
        return np.array(
            [self._code_of.setdefault(text.decode("utf-8", "replace"), len(self._code_of)) for text in texts],
            dtype=np.int64,
        )

    def distinct(self) -> tuple[str, ...]:
        """Return the distinct texts so far, in the order of their codes."""
        return tuple(self._code_of)
