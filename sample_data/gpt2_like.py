"""A transformer whose top kernels follow Table I of the STEM paper (eight encoder layers).

The table's calls are 8,700 batches of eight layers: a layer is 4, 1, 5 and 1 launches of the first four
kernels, and one of the fifth in 5,200 of the batches; so it is here, for the shorter batches. The mean
duration of each is the table's. Names in the way PyTorch's profiler writes them.
"""

from __future__ import annotations

from workload import Dimensions, Kernel, Pass, Peak, Step

_NOT_IN_THE_TRACE = ""
_ELEMENTWISE = "void at::native::vectorized_elementwise_kernel<4, "


def _kernel(name: str, block: Dimensions, registers: int, shared_bytes: int = 0) -> Kernel:
    return Kernel(name, _NOT_IN_THE_TRACE, _NOT_IN_THE_TRACE, block, registers, shared_bytes)


SGEMM_64X32_SLICED = _kernel("volta_sgemm_64x32_sliced1x4_tn", (128, 1, 1), 96, 25_344)
SGEMM_32X32_SLICED = _kernel("volta_sgemm_32x32_sliced1x4_tn", (128, 1, 1), 86, 16_896)
SPLIT_K_REDUCE = _kernel(
    "void splitKreduce_kernel<float, float, float, float, true, false, false>(cublasSplitKParams<float>, "
    "float const*, float const*, float*, float const*, float const*, float const*, float const*, float*, "
    "void*, long, float*, int*)",
    (32, 16, 1),
    40,
)
SGEMM_64X64 = _kernel("volta_sgemm_64x64_tn", (64, 1, 1), 126, 8_448)
GEMM_SMALL_N = _kernel(
    "void gemmSN_TN_kernel<float, 128, 16, 2, 4, 4, 4, true, cublasGemvTensorStridedBatched<float const>, "
    "cublasGemvTensorStridedBatched<float const>, cublasGemvTensorStridedBatched<"
    "float> >(cublasGemmSmallNParams<cublasGemvTensorStridedBatched<float const>, "
    "cublasGemvTensorStridedBatched<float const>, cublasGemvTensorStridedBatched<float>, float>)",
    (128, 1, 1),
    72,
    9_216,
)
SGEMM_32X128 = _kernel("volta_sgemm_32x128_tn", (256, 1, 1), 57, 16_640)
SGEMM_128X32 = _kernel("volta_sgemm_128x32_nn", (256, 1, 1), 55, 16_384)
ATTENTION_SOFTMAX = _kernel(
    "void (anonymous namespace)::softmax_warp_forward<float, float, float, 7, false, false>(float*, "
    "float const*, int, int, int, bool const*, int, bool)",
    (32, 4, 1),
    31,
)
LAYER_NORM = _kernel(
    "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>(int, float, "
    "float const*, float const*, float const*, float*, float*, float*)",
    (32, 4, 1),
    40,
    24,
)
_GELU_FUNCTOR = (
    "at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::{lambda()#2}::"
    "operator()() const::{lambda()#2}::operator()() const::{lambda(float)#1}"
)
GELU = _kernel(
    f"{_ELEMENTWISE}{_GELU_FUNCTOR}, at::detail::Array<char*, 2> >(int, {_GELU_FUNCTOR}, "
    "at::detail::Array<char*, 2>)",
    (128, 1, 1),
    28,
)
ADD = _kernel(
    f"{_ELEMENTWISE}at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3> >"
    "(int, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3>)",
    (128, 1, 1),
    20,
)
EMBEDDING = _kernel(
    "void at::native::(anonymous namespace)::indexSelectLargeIndex<float, long, unsigned int, 2, 2, -2, "
    "true>(at::cuda::detail::TensorInfo<float, unsigned int>, at::cuda::detail::TensorInfo<float const, "
    "unsigned int>, at::cuda::detail::TensorInfo<long const, unsigned int>, int, int, unsigned int, "
    "unsigned int, long)",
    (128, 1, 1),
    30,
)
MASK = _kernel(
    f"{_ELEMENTWISE}at::native::AUnaryFunctor<float, float, float, "
    "at::native::binary_internal::MulFunctor<float> >, at::detail::Array<char*, 2> >(int, at::native::"
    "AUnaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float> >, at::detail::Array<"
    "char*, 2>)",
    (128, 1, 1),
    16,
)
_TANH_FUNCTOR = (
    "at::native::tanh_kernel_cuda(at::TensorIteratorBase&)::{lambda()#2}::operator()() const::"
    "{lambda()#2}::operator()() const::{lambda(float)#1}"
)
TANH = _kernel(
    f"{_ELEMENTWISE}{_TANH_FUNCTOR}, at::detail::Array<char*, 2> >(int, {_TANH_FUNCTOR}, "
    "at::detail::Array<char*, 2>)",
    (128, 1, 1),
    24,
)
CLASSIFIER = _kernel(
    "void gemv2T_kernel_val<int, int, float, float, float, float, 128, 16, 4, 4, false, true, "
    "cublasGemvParams<cublasGemvTensorStridedBatched<float const>, cublasGemvTensorStridedBatched<"
    "float const>, cublasGemvTensorStridedBatched<float>, float> >(cublasGemvParams<"
    "cublasGemvTensorStridedBatched<float const>, cublasGemvTensorStridedBatched<float const>, "
    "cublasGemvTensorStridedBatched<float>, float>, float, float)",
    (128, 1, 1),
    45,
    2_304,
)
ARG_MAX = _kernel(
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::ArgMaxOps<float>, "
    "unsigned int, long, 4> >(at::native::ReduceOp<float, at::native::ArgMaxOps<float>, unsigned int, "
    "long, 4>)",
    (32, 1, 1),
    38,
    16,
)

#: Bytes of the weights copied to the device before the first batch.
WEIGHT_BYTES = (62_509_056, 1_048_576, 1_048_576, 1_048_576, 1_048_576, 4_194_304, 4_194_304, 2_048)

LAYERS = 8

# A batch is padded to its longest sequence: to 112 tokens or to 128, both four tiles of 32. So the matrix
# products keep their grids while their durations move: several peaks, some overlapping, in one kernel group.
_SHORT_LAYER = (
    *(
        Step(SGEMM_64X32_SLICED, (8, 4, 3), (Peak(9_620, 0.025),)),
        Step(SPLIT_K_REDUCE, (16, 7, 1), (Peak(2_240, 0.022),)),
    )
    * 3,
    Step(GEMM_SMALL_N, (1, 28, 8), (Peak(11_610, 0.010),)),
    Step(ATTENTION_SOFTMAX, (224, 1, 1), (Peak(2_980, 0.015),)),
    Step(SGEMM_128X32, (4, 1, 8), (Peak(5_420, 0.018),)),
    Step(SGEMM_64X32_SLICED, (8, 4, 3), (Peak(10_450, 0.024),)),
    Step(SPLIT_K_REDUCE, (16, 7, 1), (Peak(2_240, 0.022),)),
    Step(ADD, (112, 1, 1), (Peak(2_080, 0.014),)),
    Step(LAYER_NORM, (112, 1, 1), (Peak(2_460, 0.015),)),
    Step(SGEMM_64X64, (32, 2, 1), (Peak(9_880, 0.012),)),
    Step(GELU, (448, 1, 1), (Peak(4_180, 0.013),)),
    Step(SGEMM_32X32_SLICED, (16, 4, 2), (Peak(25_400, 0.015),)),
    Step(SPLIT_K_REDUCE, (16, 7, 1), (Peak(2_582, 0.025),)),
    Step(ADD, (112, 1, 1), (Peak(2_080, 0.014),)),
    Step(LAYER_NORM, (112, 1, 1), (Peak(2_460, 0.015),)),
)
_LONG_LAYER = (
    *(
        Step(SGEMM_64X32_SLICED, (8, 4, 3), (Peak(11_050, 0.024),)),
        Step(SPLIT_K_REDUCE, (16, 8, 1), (Peak(2_240, 0.022),)),
    )
    * 3,
    Step(SGEMM_32X128, (4, 1, 8), (Peak(14_200, 0.011),)),
    Step(ATTENTION_SOFTMAX, (256, 1, 1), (Peak(3_300, 0.015),)),
    Step(SGEMM_128X32, (4, 1, 8), (Peak(6_110, 0.018),)),
    Step(SGEMM_64X32_SLICED, (8, 4, 3), (Peak(12_390, 0.021),)),
    Step(SPLIT_K_REDUCE, (16, 8, 1), (Peak(2_240, 0.022),)),
    Step(ADD, (128, 1, 1), (Peak(2_140, 0.014),)),
    Step(LAYER_NORM, (128, 1, 1), (Peak(2_620, 0.015),)),
    Step(SGEMM_64X64, (32, 2, 1), (Peak(10_882, 0.012),)),
    Step(GELU, (512, 1, 1), (Peak(4_600, 0.013),)),
    Step(SGEMM_32X32_SLICED, (16, 4, 2), (Peak(28_900, 0.012, 0.75), Peak(30_704, 0.010, 0.25))),
    Step(SPLIT_K_REDUCE, (16, 8, 1), (Peak(2_582, 0.025),)),
    Step(ADD, (128, 1, 1), (Peak(2_140, 0.014),)),
    Step(LAYER_NORM, (128, 1, 1), (Peak(2_620, 0.015),)),
)


def _batch(tokens: int, layer: tuple[Step, ...]) -> Pass:
    """Embed the tokens, run the layers, classify."""
    embed = (
        Step(EMBEDDING, (tokens * 4, 1, 1), (Peak(3_420, 0.020),)),
        Step(EMBEDDING, (tokens * 4, 1, 1), (Peak(3_080, 0.020),)),
        Step(ADD, (tokens, 1, 1), (Peak(2_140, 0.014),)),
        Step(LAYER_NORM, (tokens, 1, 1), (Peak(2_560, 0.015),)),
        Step(MASK, (1, 1, 1), (Peak(1_640, 0.012),)),
    )
    classify = (
        Step(TANH, (1, 1, 1), (Peak(1_780, 0.012),)),
        Step(CLASSIFIER, (3, 1, 1), (Peak(4_140, 0.014),)),
        Step(ARG_MAX, (1, 1, 1), (Peak(4_410, 0.013),)),
    )
    return Pass(tokens * 8, (*embed, *(layer * LAYERS), *classify), 8)


SHORT_BATCH = _batch(112, _SHORT_LAYER)
LONG_BATCH = _batch(128, _LONG_LAYER)


def before_a_change(batch: Pass) -> Pass:
    """Return what a batch was before: one product 8 % slower, and its bias added by a launch of its own."""
    steps: list[Step] = []
    for step in batch.steps:
        peaks = tuple(Peak(round(1.08 * peak.mean_ns), peak.cov, peak.share) for peak in step.peaks)
        steps.append(Step(step.kernel, step.grid, peaks) if step.kernel is SGEMM_32X32_SLICED else step)
        if step.kernel is SGEMM_32X32_SLICED:
            steps.append(Step(ADD, (128, 1, 1), (Peak(2_140, 0.014),)))
    return Pass(batch.input_bytes, tuple(steps), batch.output_bytes)
