"""Kernel names: full, short and mangled forms, the keys that come from them, and communication kernels."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import BoolArray

_COMMUNICATION = re.compile(
    r"nccl(Dev)?Kernel|ncclKernel|nccl:|rccl|nvshmem|msccl|(cross_device|one_shot|two_shot|custom)_?all_?reduce",
    re.IGNORECASE,
)


class NameTable:
    """The distinct kernel names of a workload, each with a code counted from 0.

    Append-only; several threads may intern at once. A name's short and mangled forms are those the
    profile recorded; where it recorded no short one it is derived from the full name.
    """

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self._full: list[str] = []
        self._short: list[str | None] = []
        self._mangled: list[str | None] = []
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._full)

    def intern(
        self,
        full: Sequence[str],
        short: Sequence[str | None] | None = None,
        mangled: Sequence[str | None] | None = None,
    ) -> NDArray[np.int32]:
        """Return the code of each full name, new ones added. One Python step a name: pass distinct names."""
        with self._lock:
            return np.fromiter(
                (
                    self._intern_one(name, short[i] if short else None, mangled[i] if mangled else None)
                    for i, name in enumerate(full)
                ),
                dtype=np.int32,
                count=len(full),
            )

    def _intern_one(self, full: str, short: str | None, mangled: str | None) -> int:
        code = self._codes.get(full)
        if code is None:
            code = self._codes[full] = len(self._full)
            self._full.append(full)
            self._short.append(short)
            self._mangled.append(mangled)
            return code
        self._short[code] = self._short[code] or short
        self._mangled[code] = self._mangled[code] or mangled
        return code

    def full(self, code: int) -> str:
        """Return the whole name, never cut."""
        return self._full[code]

    def short(self, code: int) -> str:
        """Return the recorded short name, else the function's own name without scope and parameters."""
        return self._short[code] or short_name(self._full[code])

    def mangled(self, code: int) -> str | None:
        """Return the mangled name, or None where the profile has none."""
        return self._mangled[code]

    def matching(self, predicate: Callable[[str], bool]) -> BoolArray:
        """Return for every code so far whether ``predicate`` holds for its full name."""
        return np.fromiter((predicate(name) for name in self._full[:]), dtype=np.bool_)


def short_name(full: str) -> str:
    """Return the function's own name: no return type, scope, template arguments or parameters.

    >>> short_name("void at::native::(anonymous namespace)::copy<(int)4, std::array<char *, 2>>(int, T2)")
    'copy'
    """
    bare = _without_brackets(full.replace("(anonymous namespace)", "<unnamed>"))
    words = bare.split()
    return words[-1].rsplit("::", 1)[-1] if words else full


def _without_brackets(text: str) -> str:
    """Return the text outside <...>, cut where its parameter list opens."""
    kept: list[str] = []
    depth = 0
    for position, character in enumerate(text):
        if character == "<":
            depth += 1
        elif character == ">" and depth and text[position - 1] != "-":
            depth -= 1
        elif character == "(" and depth == 0:
            break
        elif depth == 0:
            kept.append(character)
    return "".join(kept)


def stem_script_name(full: str) -> str:
    """Return the key that STEM's published script groups by: everything before the first "(".

    It cuts inside template lists, so distinct kernels share a key. For comparisons only.
    """
    return full.split("(", maxsplit=1)[0]


def is_communication(full: str) -> bool:
    """Return whether this is a collective-communication kernel (NCCL, RCCL, NVSHMEM, all-reduce)."""
    return _COMMUNICATION.search(full) is not None
