"""Kernel names: full, short and mangled forms, the keys that come from them, and the kinds they tell."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import BoolArray
from sampling.parallel import Lock

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
    # What is written for one program; an all-reduce may stay within a block.
    *("shot_allreduce", "allgather", "all_gather", "reduce_scatter", "reducescatter"),
    *("all_to_all", "alltoall"),
    *("moea2adispatch", "moea2acombine", "epdispatchint", "epcombineint"),
)

MANGLED = ("_Z", "__Z")
# Operators have brackets in their names, and `->` is none.
_BRACKET = re.compile(r"\boperator\s*(?:\(\)|\[\]|<=>|->\*?|<<=?|>>=?|[<>]=?)|->|[][<>(){}]")
_CLOSING = {"<": ">", "(": ")", "[": "]", "{": "}"}
_OPENING = {closing: opening for opening, closing in _CLOSING.items()}
# Most names: nothing in brackets is a scope of something, so the function's name is what is before the first.
_PLAIN = re.compile(r"void (?:\w+::)*(?!operator)(\w+)[<(](?!.*[])}>][ a-z&]*::)", re.DOTALL)
_SCOPE_FOLLOWS = re.compile(r"(?:\s*(?:const|volatile|&))*(::)")


class NameTable:
    """The distinct kernel names of a workload, each with a code counted from 0.

    Append-only; several threads may intern at once. A name's short and mangled forms are those the
    profile recorded; where it recorded no short one it is derived from the full name.
    """

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self._full: list[str] = []
        self._short: dict[int, str] = {}
        self._mangled: dict[int, str] = {}
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._full)

    def intern(
        self,
        full: Sequence[str],
        short: Sequence[str | None] | None = None,
        mangled: Sequence[str | None] | None = None,
    ) -> NDArray[np.int32]:
        """Return the code of each full name, new ones added. One Python step a name: pass distinct names."""
        codes = np.empty(len(full), dtype=np.int32)
        with self._lock:
            for row, name in enumerate(full):
                code = self._codes.setdefault(name, len(self._full))
                if code == len(self._full):
                    self._full.append(name)
                for spellings, new in ((self._short, short), (self._mangled, mangled)):
                    if new is not None and (form := new[row]):
                        spellings.setdefault(code, form)
                codes[row] = code
        return codes

    def add(self, table: NameTable) -> NDArray[np.int32]:
        """Return the code here of each name of another table, new ones added."""
        return self.intern(*table.recorded())

    def recorded(self) -> tuple[list[str], list[str | None], list[str | None]]:
        """Return the full, short and mangled form of every name so far; None where it was not recorded."""
        short, mangled = (
            [form.get(code) for code in range(len(self))] for form in (self._short, self._mangled)
        )
        return self._full[:], short, mangled

    def full(self, code: int) -> str:
        """Return the whole name as it was recorded, never cut."""
        return self._full[code]

    def readable(self, code: int) -> str:
        """Return the whole name as people read it: demangled where it was recorded mangled."""
        return readable_name(self._full[code])

    def short(self, code: int) -> str:
        """Return the recorded short name, else the function's own name without scope and parameters."""
        short = self._short.get(code)
        return short if short and not short.startswith(MANGLED) else short_name(self._full[code])

    def mangled(self, code: int) -> str | None:
        """Return the mangled name, or None where the profile has none."""
        return self._mangled.get(code)

    def matching(self, predicate: Callable[[str], bool]) -> BoolArray:
        """Return for every code so far whether ``predicate`` holds for its name, recorded or readable."""
        is_matching = [predicate(name) or predicate(readable_name(name)) for name in self._full[:]]
        return np.array(is_matching, dtype=np.bool_)


def readable_name(name: str) -> str:
    """Return a name as people read it: demangled where it is mangled."""
    return demangled(name) or name


def demangled(name: str) -> str | None:
    """Return the C++ name behind a mangled one; None where it is not mangled or cannot be demangled here."""
    if not name.startswith(MANGLED) or (demangler := _demangler()) is None:
        return None
    try:
        return str(demangler.demangle(name.removesuffix(".kd")))
    except (demangler.Error, UnicodeError):
        return None


@lru_cache(maxsize=1)
def _demangler() -> Any:
    """Return what demangles by the C++ library, None where there is none: it looks when it is imported."""
    try:
        import cxxfilt
    except (ImportError, OSError, AttributeError):
        return None
    return cxxfilt


def short_name(full: str) -> str:
    """Return the function's own name: no return type, scope, template arguments or parameters.

    >>> short_name("void at::native::(anonymous namespace)::copy<(int)4, std::array<char *, 2>>(int, T2)")
    'copy'
    """
    text = readable_name(full)
    plain = _PLAIN.match(text)
    return plain[1] if plain else name_parts(text).function


class NameParts(NamedTuple):
    """A demangled name taken apart; one that does not parse is its own name."""

    #: The function's own name, and what it stands in, without template arguments.
    function: str
    scopes: tuple[str, ...]
    #: Its template arguments, without the brackets; those of its scope, where it has none itself.
    arguments: str
    scope_arguments: str
    #: Its parameter list and what follows.
    parameters: str


def name_parts(full: str) -> NameParts:
    """Take a demangled name apart, whichever demangler wrote it; it may be cut short anywhere."""
    bare, begin, end = "", 0, len(full)
    template = slice(0, 0)
    for bracket in _outermost_brackets(full):
        bare += full[begin : bracket.start]
        begin = bracket.stop
        if full[bracket.start] == "<":
            template = bracket
        elif full[bracket.start] == "(":
            # A function that this one stands in, an unnamed namespace or a type; else its own parameters.
            if scope_match := _SCOPE_FOLLOWS.match(full, begin):
                begin = scope_match.start(1)
            elif not bare.rstrip().endswith("decltype"):
                begin = end = bracket.start
                break
    words = (bare + full[begin:end]).split()
    scopes = [scope for scope in words[-1].split("::") if scope] if words else []
    if not scopes:
        return NameParts(full, (), "", "", "")
    ends_with_them = not full[template.stop : end].strip()
    arguments = full[template][1:].removesuffix(">")
    of_function, of_scope = (arguments, "") if ends_with_them else ("", arguments)
    return NameParts(scopes[-1], tuple(scopes[:-1]), of_function, of_scope, full[end:])


def _outermost_brackets(text: str) -> Iterator[slice]:
    """Yield where the outermost brackets are, in order; the last may be open at the end.

    A ``>`` within other brackets closes nothing (``f<(a > b)>``), and these close a ``<`` that is none.
    """
    opened, start = "", 0
    for bracket in _BRACKET.finditer(text):
        mark = bracket[0]
        if mark in _CLOSING:
            start = start if opened else bracket.start()
            opened += mark
        elif mark in _OPENING:
            place = opened.rfind(_OPENING[mark])
            if place >= 0 and (mark != ">" or place + 1 == len(opened)):
                opened = opened[:place]
                if not opened:
                    yield slice(start, bracket.end())
    if opened:
        yield slice(start, len(text))


def stem_script_name(full: str) -> str:
    """Return the key that STEM's published script groups by: everything before the first "(".

    It cuts inside template lists, so distinct kernels share a key. For comparisons only.
    """
    return full.split("(", maxsplit=1)[0]


def is_communication(full: str) -> bool:
    """Return whether this is a kernel that communicates with other GPUs, whichever library's."""
    name = full.lower()
    return any(part in name for part in _COMMUNICATION)


# What only AMD's compilers and libraries write into names: code objects, Tensile, rocPRIM, Composable Kernel.
_ROCM = re.compile(
    r"\.kd$|__amd_|Cijk_|rocprim|__hip_|HIP_vector_type|ck_tile|_gtcx\d?_|miopen", re.IGNORECASE
)


def is_rocm_name(full: str) -> bool:
    """Return whether a kernel's name says that it runs on a GPU of AMD; most say nothing of whose it is."""
    return _ROCM.search(full) is not None


# Kinds: what a kernel's name says that it computes. Libraries name their kernels by that (cuDNN
# scudnn_winograd, cuBLAS and CUTLASS gemm, Tensile Cijk, TensorRT-LLM bmm), PyTorch by the operator, Inductor
# by triton_poi and all operators that it fused. The first line that finds something in a name says its kind:
# a convolution computed by a matrix product is a convolution. Operators of PyTorch (`aten::`) stand first. A
# softmax is attention that is written out, but for those of losses and of routers. All is looked for in lower
# case. What an epilogue does too (bias, relu) tells the kind where nothing else does, and as a whole word.
_KINDS = r"""
gemm           \baten::(?:linear|matmul|(?:add|b|badd)?mm)\b
copy           \baten::(?:to|_to_copy|copy_|contiguous|clone|cat|stack|reshape)\b
copy           \baten::(?:zeros(?:_like)?|ones_like|zero_|fill_)\b
reduction      \baten::(?:sum|mean|max|min|any|all|prod|std|var)\b
elementwise    \baten::(?:add|sub|mul|div|pow|neg|exp|log|r?sqrt|abs|cos|sin|where|clamp|eq|ne)_?\b
elementwise    triton_poi_|(?:lstm|gru|generic)_elementwise|rotary|(?<![a-z])rope(?![a-z])
copy           \w_and_cache|(?:append|store|write|copy)_?(?:paged_?)?kv_?cache
normalisation  log_?soft_?max|cross_?entropy|xentropy|(?:topk|gating|moe|rout(?:er|ing))[\w:]*soft_?max
normalisation  softmax_warp_\w+<[^<>]*(?:\(int\)\d+,\s*\(bool\)1|int=\d+,\s*bool=1|[\s,]\d+,\s*true)
attention      flash(?!infer)|fmha|attention|attn|paged_?kv|with_?(?:ragged_?)?kv_?cache|mha_|xformers
attention      sdpa|soft_?max
attention      bwd_kernel_(?:fuse|d[kqv])|fwd_(?:grouped_)?kernel_stage|gated_delta|(?<![a-z])mla(?![a-z])
normalisation  batch_?norm|layer_?norm|group_?norm|rms_?norm|instance_?norm|\bbn_|welford|gammabeta
normalisation  normalization|norm_kernel|\bl2_norm|rowwise_?moments
reduction      triton_(?:red|per)_|\breduce_1block|\bdot_kernel
convolution    conv(?!er)|winograd|scudnn|fprop|[dw]grad(?!ient)|im2col|col2im|fft2d|\bcudnn::cnn|miopen_?sp3
convolution    depthwise|igemm|implicit_?gemm
gemm           (?<!fb)gemm|gemv|cijk_|\bcutlass|nvjet|mat(?:rix)?_?mul|mul_?mat|splitk_?reduce|xmma
gemm           (?<!ga)mma_|fused_moe_kernel|wv_?splitk|marlin
gemm           \bsymm|\bsyrk|\btrsm|ck_tile|spmv|spmm|(?<![a-z])(?:b|add|baddb)?mm(?![a-z])
reduction      embedding\w*backward|embedding\w*grad|sum_and_scatter|compute_grad_weight|cleanupsegments
copy           n(?:chw|hwc)_?(?:to|2)_?n
copy           (?<![a-z])copy_(?:kernel|device)|copyfunctor|native::copy<|catarray|concat|memcpy|memset
copy           fillbuffer|copybuffer|copykernel|fillfunctor|transpose|permut|gather|scatter
copy           index(?:_|select|put)|embedding|pack_|unpack|splitvop|swapdimension|subtensorop
copy           \b(?:fill|zero)_kernel|(?:get|set)_rows|\bcpy_|cuda_fill
other          (?:radix|merge)_?sort|topk|radix_?find
reduction      reduce|reduction|(?<![a-z])sum_kernel|argmax|argmin|\bdot_|_partial|cumsum|histogram
reduction      (?<![a-z])scan|devicescan
elementwise    elementwise|pointwise|multi_tensor_apply|eigenmetakernel|functor|gelu|silu|sigmoid|tanh
elementwise    quantize|dropout|activation|axpy|vec_?add|threshold|optimizer|adam|sgd|parallelforagent
elementwise    __transform|k_bin_bcast|\bunary_\w*op|triu_tril|epilogue::impl::globalkernel|leakyrelu|prelu
elementwise    hfp8|fp8_?rowwise|glu(?![a-z])|_and_mul|_quant(?![a-z])|dequant|\bcvt_
"""


def _whole_words(*words: str) -> re.Pattern[str]:
    """Return a pattern of words that stand alone or begin with a capital: add_bias, addBias, no unbiased."""
    lower, upper, capital = ("|".join(map(form, words)) for form in (str.lower, str.upper, str.capitalize))
    pattern = rf"(?<![a-zA-Z])(?:(?:{lower})(?![a-z])|(?:{upper})(?![a-zA-Z]))"
    return re.compile(rf"{pattern}|(?:{capital}|ReLU)(?![a-z])")


_OF_PATTERN = [(kind, re.compile(pattern)) for kind, pattern in map(str.split, _KINDS.strip().splitlines())]
# In the name as it is written; after all others.
_OF_WORDS = (("elementwise", _whole_words("bias", "scale", "relu")), ("copy", _whole_words("copy")))
OTHER = "other"
#: All kinds, in the order in which they are looked for.
KINDS = ("communication", *dict.fromkeys(kind for kind, _ in _OF_PATTERN if kind != OTHER), OTHER)


@lru_cache(maxsize=8192)
def classify_kernel(name: str) -> str:
    """Return the kind of a kernel by its full name, mangled or not; `OTHER` where the name does not say."""
    if is_communication(name):
        return KINDS[0]
    readable = readable_name(name)
    lower = readable.lower()
    kinds = chain(
        (kind for kind, pattern in _OF_PATTERN if pattern.search(lower)),
        (kind for kind, pattern in _OF_WORDS if pattern.search(readable)),
    )
    return next(kinds, OTHER)


def shares_by_kind(names: Sequence[str], duration_ns: Sequence[int]) -> dict[str, float]:
    """Return each kind's share of the time of kernel groups, of these names and times, the largest first."""
    time_ns = dict.fromkeys(KINDS, 0.0)
    for name, group_ns in zip(names, duration_ns, strict=True):
        time_ns[classify_kernel(name)] += group_ns
    total_ns = sum(time_ns.values()) or 1.0
    shares = {kind: duration / total_ns for kind, duration in time_ns.items() if duration}
    return dict(sorted(shares.items(), key=lambda share: -share[1]))
