"""A kernel's full name taken apart: the function's own name, and the words of its template arguments.

Names come from many tools, and some are cut or mangled: whatever does not parse is taken as it stands.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

_BRACKET = re.compile(r"->|[<>()]")
_UNNAMED = ("(anonymous namespace)::", "<unnamed>::")
# `(int)128` of Nsight Systems and `int=128` of nvprof are both 128.
_CAST = re.compile(r"\([a-z_][a-z_0-9 ]*\)(?=-?\d)|\b\w+=(?=-?\d)")
_NUMBERS = re.compile(r"<\s*(-?\d+(?:\s*,\s*-?\d+)+)\s*>")
_SCOPE = re.compile(r"\b\w+::(?![{\[(]|operator\b)")
_WORD = re.compile(r"#?-?\d[\w.]*|[^\W\d]\w*")
_BLANKS = re.compile(r"[\s,]+")
_PLAIN = re.compile(
    r"(?:float|double|half|int|long|short|char|bool|unsigned|signed|void|size_t|u?int\d+(?:_t)?|__half|half_t|"
    r"Half|BFloat16|bfloat16(?:_t)?|__nv_bfloat16|__hip_bfloat16|float\d+_t|tfloat32_t|float_e\w+|nullptr_t)[234]?"
)
# What wraps the function that matters in PyTorch, CUB, Thrust and CUTLASS, and what C++ itself adds.
_STOCK = re.compile(
    "const|volatile|lambda|operator|instance|auto|decltype|enum|struct|class|typename|unnamed|std|detail|"
    "gpu_kernel_impl(?:_nocast)?|BinaryFunctor|UnaryFunctor|func_wrapper_t|ReduceOp|[Aa]rray|vector|tuple|"
    "TensorIterator(?:Base)?|(?:Trivial)?OffsetCalculator|(?:Load|Store)With(?:out)?Cast|TensorListMetadata|"
    "TensorInfo|Params|integral_constant|C|_|#.*"
)


class Kind(IntEnum):
    """How much a word tells of what a kernel does, the most first."""

    TELLING = 0
    NUMBER = 1
    PLAIN_TYPE = 2
    STOCK = 3


@dataclass(frozen=True, slots=True)
class KernelName:
    """A kernel's name in parts.

    Attributes
    ----------
    base : the function's own name.
    words : of its template arguments, in their order: names without scopes, numbers, tiles as 128x128x32.
    scopes : what the function stands in.
    parameters : the words of its parameter list.
    """

    base: str
    words: tuple[str, ...]
    scopes: tuple[str, ...]
    parameters: str

    @property
    def parameter_words(self) -> tuple[str, ...]:
        """The words of its parameter list."""
        return _words(self.parameters)


def base_name(full: str) -> str:
    """Return the function's own name, without reading what follows it where that can be told at a glance.

    >>> base_name("void at::native::(anonymous namespace)::copy<(int)4, std::array<char *, 2>>(int, T2)")
    'copy'
    """
    text = _named(full)
    opened, begun = text.find("<"), text.find("(")
    end = min(opened, begun) if opened >= 0 and begun >= 0 else max(opened, begun)
    if end < 0:
        return _last(text) or full
    head = text[:end]
    # What is before `<` may be a return type, or a class that the function is of.
    if end == opened and (" " not in head or ">::" in text):
        return _last(_divided(text).bare) or full
    return _last(head) or full


@lru_cache(maxsize=8192)
def kernel_name(full: str) -> KernelName:
    """Return a name in parts; of one that does not parse, the base is what there is."""
    text = _named(full)
    parts = _divided(text)
    base = _last(parts.bare)
    if not base:
        return KernelName(full, (), (), "")
    is_own = parts.opened >= 0 and not text[parts.closed : parts.end].strip()
    arguments = text[parts.opened + 1 : parts.closed] if is_own else ""
    before = () if is_own or parts.opened < 0 else _words(text[parts.opened : parts.closed])
    scopes = (*filter(None, parts.bare.split()[-1].split("::")[:-1]), *before)
    return KernelName(base, _words(arguments), scopes, text[parts.end :])


class _Divided(NamedTuple):
    """Where a name has its last outermost template list and its parameters, and what is outside of them."""

    bare: str
    opened: int
    closed: int
    end: int


def _divided(text: str) -> _Divided:
    outside: list[str] = []
    depth, begin, opened, closed, end = 0, 0, -1, -1, len(text)
    for found in _BRACKET.finditer(text):
        mark = found[0]
        if mark == "<":
            if depth == 0:
                outside.append(text[begin : found.start()])
                opened = found.start()
            depth += 1
        elif mark == ">" and depth:
            depth -= 1
            begin = closed = found.end()
        elif mark == "(" and depth == 0:
            end = found.start()
            break
    if depth:
        return _Divided("".join(outside), opened, len(text), len(text))
    return _Divided("".join([*outside, text[begin:end]]), opened, closed, end)


def kind_of(word: str) -> Kind:
    """Return how much a word tells."""
    if _STOCK.fullmatch(word):
        return Kind.STOCK
    if word[0].isdigit() or word[0] == "-" or word in ("true", "false"):
        return Kind.NUMBER
    return Kind.PLAIN_TYPE if _PLAIN.fullmatch(word) else Kind.TELLING


def _named(full: str) -> str:
    for unnamed in _UNNAMED:
        if unnamed in full:
            full = full.replace(unnamed, "")
    return full


def _last(text: str) -> str:
    words = text.split()
    return words[-1].rsplit("::", 1)[-1] if words else ""


@lru_cache(maxsize=8192)
def _words(text: str) -> tuple[str, ...]:
    """Return the words of template arguments or parameters, without casts and scopes."""
    text = _CAST.sub("", text)
    # A list of numbers alone is a tile.
    text = _NUMBERS.sub(lambda found: f"<{_BLANKS.sub('x', found[1])}>", text)
    return tuple(_WORD.findall(_SCOPE.sub("", text)))
