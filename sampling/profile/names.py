"""Kernel names: full, short and mangled forms, the keys that come from them, and communication kernels."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import BoolArray

# What names of kernels that wait for other GPUs have in them, and no others: neither those that reduce over a
# block or a warp, nor what Inductor names after the collective whose result it uses.
_COMMUNICATION = (
    # NCCL, RCCL, MSCCL and MSCCL++, oneCCL; OpenSHMEM's, whose host calls launch barrier_on_stream_kernel...
    *("nccl", "rccl", "msccl", "oneccl", "nvshmem", "rocshmem", "_on_stream_kernel"),
    # PyTorch's symmetric memory, TensorRT-LLM and FlashInfer
    *("multimem_", "shot_all_reduce", "shotallreduce", "allreduce_fusion_kernel", "rmsnormlamport"),
    # vLLM, SGLang and AITER, QuickReduce
    *("cross_device_", "custom_all_reduce", "custom_allreduce", "allreduce_prototype"),
    # Transformer Engine; experts in parallel: DeepEP, TensorRT-LLM, MORI
    *("userbuffers_", "deep_ep", "hybrid_ep"),
    *("moea2adispatch", "moea2acombine", "epdispatchint", "epcombineint"),
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
    """Return whether this is a kernel that communicates with other GPUs, whichever library's."""
    name = full.lower()
    return any(part in name for part in _COMMUNICATION)
