"""A kernel's full name taken apart: the function's own name, and the words of its template arguments.

Names come from many tools, and some are cut or mangled: whatever does not parse is taken as it stands.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

from sampling.profile.names import name_parts, readable_name

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


@lru_cache(maxsize=8192)
def kernel_name(full: str) -> KernelName:
    """Return a name in parts; of one that does not parse, the base is what there is."""
    parts = name_parts(readable_name(full).replace("<unnamed>::", ""))
    scopes = (*parts.scopes, *_words(parts.scope_arguments))
    return KernelName(parts.own, _words(parts.arguments), scopes, parts.parameters)


def kind_of(word: str) -> Kind:
    """Return how much a word tells."""
    if _STOCK.fullmatch(word):
        return Kind.STOCK
    if word[0].isdigit() or word[0] == "-" or word in ("true", "false"):
        return Kind.NUMBER
    return Kind.PLAIN_TYPE if _PLAIN.fullmatch(word) else Kind.TELLING


@lru_cache(maxsize=8192)
def _words(text: str) -> tuple[str, ...]:
    """Return the words of template arguments or parameters, without casts and scopes."""
    text = _CAST.sub("", text.replace("(anonymous namespace)::", ""))
    # A list of numbers alone is a tile.
    text = _NUMBERS.sub(lambda found: f"<{_BLANKS.sub('x', found[1])}>", text)
    return tuple(_WORD.findall(_SCOPE.sub("", text)))
