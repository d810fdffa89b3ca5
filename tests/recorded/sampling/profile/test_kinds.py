"""Kinds of kernels on the names of every recording: as a person judged them, and how long each kind takes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import sampling
from sampling.profile.names import KINDS, classify_kernel, readable_name, shares_by_kind

#: What a person says of a name, its blanks left out, that contains one of these; the first that it contains.
#: The softmax of a loss is none of attention; that of an attention that is written out is. The backward pass
#: of a look-up of rows adds them up.
JUDGED = """
normalisation  float,10,true> float,int=5,bool=1>
attention      flash_fwd_kernel attn_fwd paged_attention_ll4mi kernel_unified_attention flash_attn_
attention      bwd_kernel_fuse gated_delta_net softmax_warp_
communication  ncclDevKernel ncclKernel
convolution    wgrad_alg0_engine dgrad_engine convolve_sgemm winograd_nonfused im2col4d_kernel
convolution    fft2d_r2c fft2d_c2r _scudnn_ igemm_wrw igemm_bwd igemm_fwd ssm_conv_long_token
convolution    generateWinogradTiles computeWgrad precompute_indices
gemm           gemm::kernel::Gemm BatchedGemmKernel tensorop_f16 tensorop_s1688gemm mul_mat_q
gemm           mul_mat_vec _matmul_ogs gemmk1_kernel s16816gemm nvjet_ _finalize_matmul
gemm           splitKreduce_kernel magma_sgemm _gcgemm_ gemv2N gemv2T gemvNSP gemvx::kernel xmma_gemm
gemm           _sgemm_ Cijk_A
normalisation  batch_norm_ cudnn::bn_ rmsnorm Rmsnorm layer_norm_ rms_norm_ WelfordOps l2_norm_
normalisation  GammaBeta LayerNormForward RowwiseMoments
reduction      split_embedding_backward grad_indice_weights sum_and_scatter compute_grad_weight
reduction      ColumnReduce RowReduce BlockReduceKernel CleanupSegments sum_functor MeanOps
reduction      par_reduce_kernel reduce( reduceFinal norm_partial or_kernel_cuda triton_red_
reduction      reduce_segments ArgMaxOps DeviceReduceByKey DeviceScanKernel DeviceScanInit scan_kernel
reduction      scan_config NormTwoOps dot_kernel reduce_1Block
copy           gather(float direct_copy_kernel batched_transpose_ CatArrayBatchedCopy FillFunctor
copy           Copy<int,long> Copy<long,long> float32_copy_kernel bfloat16_copy_kernel SubTensorOpWith
copy           store_kvcache permute_pooled_embs permute_indices_weights permute_2D_
copy           reshape_and_cache_flash routing_memset fillBuffer copyBuffer concat_cont concat_fixed
copy           gatherTopK recat_copy_async vectorized_gather cpy_scalar k_get_rows k_set_rows
copy           copy_device_to_device SplitVOpKernel index_copy_kernel index_kernel_impl
copy           index_put_kernel GatherOpKernel indexSelectLargeIndex linearize_index
copy           scatter_gather_internal scatter_fill_internal uacc_cuda_fill
copy           split_embedding_codegen_forward
elementwise    axpy_loop vecadd AddFunctor MulFunctor BiasNHWCKernel Functor_add FunctorOnSelf_add
elementwise    __transform ReluGradHalfKernel multi_tensor_apply mse_kernel mse_backward
elementwise    threshold_kernel launch_clamp triton_poi_ pow_tensor_scalar act_and_mul_kernel
elementwise    rotary_embedding neg_kernel unary_gated_op unary_op quantize_mmq EigenMetaKernel
elementwise    epilogue::impl::globalKernel elemWiseRNNcell Gelu k_bin_bcast LSTM_elementWise
elementwise    GENERIC_elementWise rsqrt_kernel tanh_kernel tanh_backward sigmoid_ silu_kernel
elementwise    scalePackedTensor scale_f32 FP8_quantize FP8rowwise_to_float float_to_hfp8 hfp8_to_float
elementwise    MulScalarFunctor CompareEqFunctor compare_scalar DivFunctor masked_fill masked_scale
elementwise    nan_to_num rope_multi triu_tril log_kernel arange_cuda where_kernel minimum_kernel
elementwise    AbsFunctor fused_dropout templated_elementwise bitwise_not FillPhiloxRandom
other          nvkernel_solve Fan1 Fan2 probe_GPU2 build_GPU2 par_ranged evaluate_spread RadixSort
other          setup_rand_states smooth( residual( restrict_( prolong( norm_final benchmark_func
other          max_pool_ routing_compute _sum_bitmatrix_rows _topk_forward bounds_check_indices
other          _get_FP8_qparam OffsetsKernel omp_offloading CheckNumerics resolve_future_token
other          clamp_position flashinfer_kv_indices
"""
_TEXTS = [(text, kind) for kind, *texts in map(str.split, JUDGED.strip().splitlines()) for text in texts]
#: How much of a recording's time each kind takes, by these judgements.
SHARES = {
    "nsys-sqlite/a100-nerf-nsys2021.5.sqlite": {
        "gemm": 0.424,
        "elementwise": 0.321,
        "reduction": 0.237,
        "other": 0.011,
        "copy": 0.006,
    },
    "nsys-sqlite/a40-a100-cutlass-nsys2023.2.sqlite": {"gemm": 1.0},
    "nsys-sqlite/cuda-graphs-nsys2023.4.sqlite": {"reduction": 1.0},
    "nsys-sqlite/h100x2-training-overlap-nsys2026.2.sqlite": {
        "attention": 0.509,
        "elementwise": 0.158,
        "copy": 0.155,
        "gemm": 0.108,
        "communication": 0.047,
        "normalisation": 0.014,
        "reduction": 0.009,
    },
    "nsys-sqlite/h100x2-transformer-nsys2026.2.sqlite": {
        "gemm": 0.865,
        "elementwise": 0.086,
        "copy": 0.023,
        "reduction": 0.023,
        "attention": 0.003,
    },
    "nsys-sqlite/p2000-sort-nsys2020.4.sqlite": {"other": 0.914, "elementwise": 0.086},
    "nsys-sqlite/rtx3090-gaussian-nsys2022.4.sqlite": {"other": 1.0},
    "nsys-sqlite/rtx6000-dbquery-nsys2020.sqlite": {"other": 1.0},
    "nsys-csv/a100-nerf-cuda_kern_exec_trace-nsys2023.4.csv": {
        "gemm": 0.424,
        "elementwise": 0.321,
        "reduction": 0.237,
        "other": 0.011,
        "copy": 0.006,
    },
    "nsys-csv/cloverleaf_gpu_trace.csv": {"other": 0.923, "reduction": 0.077},
    "nsys-csv/derived-h100-cuda_gpu_trace-greenctx.csv": {
        "gemm": 0.865,
        "elementwise": 0.086,
        "copy": 0.023,
        "reduction": 0.023,
        "attention": 0.003,
    },
    "nsys-csv/p2000-sort-gputrace-nsys2020.4.csv": {"other": 0.914, "elementwise": 0.086},
    "nsys-csv/rtx3090-gaussian-gputrace-nsys2022.4.csv": {"other": 1.0},
    "kineto/a100-recommendation-training.json.gz": {
        "communication": 0.366,
        "gemm": 0.185,
        "elementwise": 0.144,
        "copy": 0.131,
        "reduction": 0.13,
        "other": 0.027,
        "normalisation": 0.017,
    },
    "kineto/h100-qwen1.5-inference.json.gz": {
        "elementwise": 0.386,
        "gemm": 0.282,
        "copy": 0.224,
        "attention": 0.085,
        "reduction": 0.023,
    },
    "kineto/mi250-minitoy-no-grid.json.gz": {
        "elementwise": 0.393,
        "gemm": 0.273,
        "reduction": 0.222,
        "copy": 0.113,
    },
    "kineto/mi300x-qwen1.5-inference.json.gz": {
        "gemm": 0.392,
        "elementwise": 0.298,
        "copy": 0.157,
        "attention": 0.132,
        "reduction": 0.021,
    },
    "kineto/tiny-capital-K-category.json.gz": {"gemm": 0.7, "elementwise": 0.167, "copy": 0.133},
    "kineto/v100-resnet50-training.json.gz": {
        "convolution": 0.623,
        "normalisation": 0.153,
        "elementwise": 0.152,
        "gemm": 0.056,
        "other": 0.011,
        "copy": 0.004,
    },
    "kineto/v100x2-training-unsorted.json.gz": {
        "gemm": 0.411,
        "communication": 0.365,
        "elementwise": 0.168,
        "reduction": 0.033,
        "copy": 0.018,
        "normalisation": 0.005,
    },
    "rocm/mi100-mixbench-timestamps.csv": {"other": 0.995, "copy": 0.005},
    "rocm/mi300x-gemm-rocprofv3.db": {"gemm": 0.991, "copy": 0.009},
    "rocm/mi350x-training-rocprofv3.json.gz": {
        "communication": 0.936,
        "copy": 0.022,
        "gemm": 0.015,
        "elementwise": 0.015,
        "normalisation": 0.005,
        "reduction": 0.005,
        "attention": 0.002,
    },
    "nvprof/p100-deepspeech-training.txt.gz": {
        "gemm": 0.916,
        "elementwise": 0.035,
        "convolution": 0.03,
        "copy": 0.014,
        "normalisation": 0.003,
        "reduction": 0.001,
    },
    "turn4/files/hta-trace_filter_sampled_rank-0.json.gz": {
        "communication": 0.653,
        "gemm": 0.111,
        "reduction": 0.094,
        "copy": 0.087,
        "elementwise": 0.034,
        "other": 0.018,
        "normalisation": 0.002,
    },
    "turn4/files/hta-trace_filter_sampled_rank-1.json.gz": {
        "communication": 0.582,
        "reduction": 0.142,
        "copy": 0.109,
        "gemm": 0.106,
        "elementwise": 0.029,
        "other": 0.028,
        "normalisation": 0.002,
    },
    "turn4/files/mi210-gpu-only.json.gz": {
        "convolution": 0.303,
        "normalisation": 0.265,
        "copy": 0.249,
        "elementwise": 0.131,
        "other": 0.027,
        "gemm": 0.017,
        "reduction": 0.007,
    },
    "turn4/files/nsys-openacc-rtx3080.sqlite": {"copy": 1.0},
    "turn4/files/nsys-openmp-t4-2023.3.sqlite": {"other": 1.0},
    "turn4/files/nsys-rtx4060-2025.3.sqlite": {"other": 1.0},
    "turn4/files/rocprofv3-prefill_kernel_trace.csv": {
        "gemm": 0.776,
        "attention": 0.118,
        "elementwise": 0.056,
        "normalisation": 0.025,
        "copy": 0.019,
        "convolution": 0.006,
    },
    "turn4/files/sglang-decode-mi300x.json.gz": {
        "gemm": 0.592,
        "attention": 0.218,
        "normalisation": 0.07,
        "copy": 0.058,
        "elementwise": 0.054,
        "reduction": 0.006,
        "other": 0.002,
    },
    "turn4/files/switch-moe-a100.json.gz": {
        "gemm": 0.891,
        "copy": 0.037,
        "elementwise": 0.036,
        "reduction": 0.02,
        "normalisation": 0.01,
        "attention": 0.005,
    },
    "turn4/files/torch-compile-triton-mi300x.json.gz": {
        "gemm": 0.64,
        "attention": 0.294,
        "elementwise": 0.053,
        "reduction": 0.013,
    },
    "turn4/files/vllm-decode-graph-mi300x.json.gz": {
        "gemm": 0.787,
        "attention": 0.061,
        "elementwise": 0.054,
        "other": 0.035,
        "normalisation": 0.031,
        "copy": 0.025,
        "reduction": 0.006,
    },
    "nsys-parquetdir": {"reduction": 1.0},
    "sim/bigtrace-4.gpu-trace.csv": {"elementwise": 0.625, "copy": 0.375},
    "sim/bigtrace-8.gpu-trace.csv": {"elementwise": 1.0},
    "sim/solver-16.gpu-trace.csv": {"other": 0.949, "reduction": 0.051},
    "sim/solver-32.gpu-trace.csv": {"other": 0.968, "reduction": 0.032},
    "sim/solver-8.gpu-trace.csv": {"other": 0.927, "reduction": 0.073},
    "sim/trace-16.gpu-trace.csv": {"elementwise": 0.771, "copy": 0.229},
    "sim/trace-8.gpu-trace.csv": {"elementwise": 0.697, "copy": 0.303},
    "sim/torch-32.table.csv": {"reduction": 0.37, "copy": 0.237, "elementwise": 0.218, "gemm": 0.175},
}


def judged(name: str) -> str | None:
    """Return what a person says of a name, None where nobody looked at it."""
    bare = readable_name(name).replace(" ", "")
    return next((kind for text, kind in _TEXTS if text in bare), None)


@pytest.mark.parametrize("name", SHARES)
def test_kinds_are_those_that_a_person_sees(shared_data: Path, name: str) -> None:
    is_table = name.endswith(".table.csv")
    profile = sampling.read_profile(
        shared_data / name, columns="name=name,duration_ns=duration_ns" if is_table else None
    )
    launches = profile.load(("name", "duration_ns"))
    time_ns = np.bincount(launches["name"], weights=launches["duration_ns"])
    names = [profile.kernels.names.full(code) for code in range(len(time_ns))]
    kinds = {each: kind for each in names if (kind := judged(each))}
    assert {each: classify_kernel(each) for each in kinds} == kinds
    unseen_ns = time_ns[[each not in kinds for each in names]].sum()
    assert unseen_ns <= 0.005 * time_ns.sum()
    shares = shares_by_kind(names, time_ns.tolist())
    assert sum(shares.values()) == pytest.approx(1)
    by_kind = [[of.get(kind, 0) for kind in KINDS] for of in (shares, SHARES[name])]
    # What nobody looked at may be of any kind.
    assert by_kind[0] == pytest.approx(by_kind[1], abs=0.005)
