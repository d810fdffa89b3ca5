"""Kinds of kernels: what a kernel's name says that it computes.

Libraries name their kernels by what they compute (cuDNN ``scudnn_winograd``, cuBLAS and CUTLASS ``gemm``,
Tensile ``Cijk``), PyTorch by the operator, Inductor by ``triton_poi`` and all operators that it fused. The
first pattern that a name has says its kind: a convolution computed by a matrix product is a convolution.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from sampling.profile.names import is_communication, readable_name

OTHER = "other"
_PATTERNS = (
    ("elementwise", r"triton_poi_|(?:lstm|gru|generic)_elementwise"),
    (
        "attention",
        r"flash|fmha|attention|attn|paged_kv|mha_|xformers|sdpa|efficient_?attn",
    ),
    (
        "normalisation",
        (
            r"batch_?norm|layer_?norm|group_?norm|rms_?norm|instance_?norm|\bbn_|welford|gammabeta|soft_?max|"
            r"normalization|norm_kernel"
        ),
    ),
    ("reduction", r"triton_(?:red|per)_|\breduce_1block|\bdot_kernel"),
    (
        "convolution",
        r"conv(?!er)|winograd|scudnn|[dw]grad(?!ient)|im2col|col2im|fft2d|\bcudnn::cnn|miopen_?sp3|igemm|depthwise",
    ),
    (
        "gemm",
        (
            r"gemm|gemv|gemmk1|cijk_|\bcutlass|nvjet|matmul|splitkreduce|splitk_reduce|xmma|mma_|\bdot_kernel|"
            r"\bsymm|\bsyrk|\btrsm|ck_tile|spmv|spmm"
        ),
    ),
    (
        "copy",
        (
            r"direct_copy|copy_kernel|catarray|concat|memcpy|memset|fillbuffer|copybuffer|fillfunctor|transpose|"
            r"permut|gather|scatter|index(?:_|select|put)|embedding|pack_|unpack|splitvop|swapdimension|"
            r"copy_async|\bcopy"
        ),
    ),
    (
        "reduction",
        r"reduce|reduction|\bsum_kernel|argmax|argmin|\bdot_|_partial|cumsum|\bscan|devicescan|histogram",
    ),
    (
        "elementwise",
        (
            r"elementwise|pointwise|multi_tensor_apply|triton_poi_|eigenmetakernel|functor|relu|gelu|silu|sigmoid|"
            r"tanh|dropout|activation|bias|axpy|vec_?add|threshold|scale|optimizer|adam|sgd|lstm_elementwise|"
            r"parallelforagent|__transform"
        ),
    ),
)
_OF_PATTERN = tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _PATTERNS)
#: All kinds, in the order in which they are looked for.
KINDS = ("communication", *dict.fromkeys(kind for kind, _ in _PATTERNS), OTHER)


@lru_cache(maxsize=8192)
def kind_of(name: str) -> str:
    """Return the kind of a kernel by its full name, mangled or not; `OTHER` where the name does not say."""
    if is_communication(name):
        return KINDS[0]
    readable = readable_name(name)
    return next((kind for kind, pattern in _OF_PATTERN if pattern.search(readable)), OTHER)


def shares_by_kind(names: Sequence[str], duration_ns: Sequence[int]) -> dict[str, float]:
    """Return each kind's share of the time, the largest first.

    Parameters
    ----------
    names, duration_ns : of each kernel group its name and the time of all its launches.
    """
    time_ns = dict.fromkeys(KINDS, 0.0)
    for name, group_ns in zip(names, duration_ns, strict=True):
        time_ns[kind_of(name)] += group_ns
    total_ns = sum(time_ns.values()) or 1.0
    shares = {kind: each / total_ns for kind, each in time_ns.items() if each}
    return dict(sorted(shares.items(), key=lambda share: -share[1]))
