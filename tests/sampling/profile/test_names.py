"""Kernel names: full, short and mangled, and the kinds that they tell."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from sampling.parallel import ordered_map
from sampling.profile.names import (
    KINDS,
    OTHER,
    NameTable,
    classify_kernel,
    is_communication,
    shares_by_kind,
    short_name,
)

ELEMENTWISE = (
    "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<"
    "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() const::"
    "{lambda(float)#1}>(at::TensorIteratorBase&)>(int, T2)"
)
CONCATENATION = (
    "_ZN2at6native40_GLOBAL__N__0f1a8107_8_Shape_cu_49f7391c26CatArrayBatchedCopy_contigINS1_10OpaqueType"
    "ILj4EEEjLi1ELi128ELi1EEEvPT_NS1_25CatArrInputTensorMetadataIS5_T0_XT2_EXT3_EEENS1_16TensorSizeStride"
    "IS8_Lj4EEEiS8_"
)


@pytest.mark.parametrize(
    ("full", "short"),
    [
        ("volta_sgemm_64x32_sliced1x4_tn", "volta_sgemm_64x32_sliced1x4_tn"),
        ("void splitKreduce_kernel<float, 32>(cublas::params<float>)", "splitKreduce_kernel"),
        ("void at::native::(anonymous namespace)::copy<(int)4>(int, T2)", "copy"),
        ("void f<(a->b)>(int)", "f"),
        ("void f<(a > b), (1 >> 2), (1 << 2), (a < b)>(int)", "f"),
        ("std::enable_if<((x)>(0)), int>::type ns::f<3, Foo<int> >(int)", "f"),
        ("void ns::A<(b < c)>::run(int) const", "run"),
        ("(anonymous namespace)::g<int>(int)", "g"),
        ("std::ostream& ns::operator<< <int>(std::ostream&, A<int> const&)", "operator<<"),
        ("bool ns::operator<=><int>(A<int>)", "operator<=>"),
        ("void f(int)::{lambda(int)#1}::operator()(int) const", "operator()"),
        ("kernel [clone .kd]", "kernel"),
        ("void stem::cut_here<at::native::Foo<float", "cut_here"),
        ("<<<>>>", "<<<>>>"),
        (ELEMENTWISE, "elementwise_kernel"),
        # Mangled
        ("_Z4convILi1EEvPfiii", "conv"),
        ("_ZN12_GLOBAL__N_13fooILi4EEEvPKf.kd", "foo"),
        (CONCATENATION, "CatArrayBatchedCopy_contig"),
        ("_Znonsense", "_Znonsense"),
        ("", ""),
    ],
)
def test_the_short_name_is_the_functions_own(full: str, short: str) -> None:
    assert short_name(full) == short


@pytest.mark.parametrize(
    "name",
    [
        "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        "_Z23ncclDevKernel_Generic_124ncclDevKernelArgsStorageILm4096EE",
        "void allgather6<true>(void*, mscclpp::DeviceHandle<mscclpp::MemoryChannel>*, unsigned long)",
        "barrier_on_stream_kernel_threadgroup(int, int)",
        "void nvshmemi_reduce_kernel<int, (rdxn_ops)4>(int, int, int, int*, int const*, unsigned long)",
        "void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*)",
        "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*, vllm::RankSignals)",
        "void tensorrt_llm::kernels::oneShotAllReduceKernel<half, 8, true, false>(AllReduceParams)",
        "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<half>()",
        "void deep_ep::internode_ll::dispatch<true, 3, 10, 7168>(void*, float*, int*)",
        "moeA2ADispatchKernel",
        "void userbuffers_fp16_sum_inplace_gpu_rr_rs<2>(int, int, int)",
    ],
)
def test_kernels_that_wait_for_other_gpus_are_known_by_name(name: str) -> None:
    assert is_communication(name)


@pytest.mark.parametrize(
    "name",
    [
        "volta_sgemm_128x64_nn",
        "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, float>>()",
        "void splitKreduce_kernel<32, 16, int, float, __nv_bfloat16>(cublasSplitKParams<float>)",
        "void cub::DeviceReduceSingleTileKernel<cub::DeviceReducePolicy<float>::Policy600>(float*)",
        "void at::native::vectorized_gather_kernel<16, long>(char*, char*, long*, int, long)",
        "void at::native::_scatter_gather_elementwise_kernel<128, 4, at::native::ReduceAdd>(int)",
        # Within a block or a warp, and what Inductor makes of the sum that follows a collective.
        "void block_all_reduce_sum_f32_f32_kernel<256>(float*, float*, int)",
        "void softmax<WarpAllReduce<MaxOp, float>>(float*)",
        "triton_poi_fused_add_all_reduce_4",
    ],
)
def test_no_other_kernel_is_taken_for_one(name: str) -> None:
    assert not is_communication(name)


def test_a_name_keeps_its_code_and_learns_its_other_forms() -> None:
    table = NameTable()
    assert table.intern(["f(int)", "g", "f(int)"]).tolist() == [0, 1, 0]
    assert (table.short(0), table.mangled(0)) == ("f", None)
    assert table.intern(["g", "f(int)"], ["gee", "eff"], [None, "_Z1fi"]).tolist() == [1, 0]
    assert (table.short(0), table.mangled(0), table.short(1)) == ("eff", "_Z1fi", "gee")
    table.intern(["f(int)"], ["other"], ["other"])
    assert (table.short(0), table.mangled(0), len(table)) == ("eff", "_Z1fi", 2)


def test_an_error_in_a_thread_reaches_the_reader() -> None:
    with pytest.raises(ZeroDivisionError):
        list(ordered_map(lambda item: 1 // item, [3, 2, 1, 0, 1, 2]))


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "communication"),
        ("void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4>>(Params)", "attention"),
        ("volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1", "convolution"),
        ("void (anonymous namespace)::vectorized_layer_norm_kernel<float, float>(int)", "normalisation"),
        ("triton_per_fused_native_layer_norm_3", "normalisation"),
        ("triton_poi_fused_convolution_relu_7", "elementwise"),
        ("ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_tn", "gemm"),
        ("Cijk_Alik_Bljk_SB_Bias_AS_SAV_UserArgs_MT64x16x32_MI16x16x1", "gemm"),
        ("bmm_E4m3_E2m1E2m1_Fp32_t128x8x256_s6_rM_BN_schedS_biasM_bN_dynBatch_sm100f", "gemm"),
        ("void mul_mat_q<(ggml_type)12, 128, false>(char const*, int const*)", "gemm"),
        ("triton_tem_fused_addmm_relu_7", "gemm"),
        # By what it computes, not by whose it is.
        ("void fbgemm_gpu::permute_2D_data_kernel<false, int, int>(int, int, int)", "copy"),
        ("void flashinfer::norm::RMSNormKernel<8u, __half>(__half*, __half*)", "normalisation"),
        ("void flashinfer::BatchDecodeWithPagedKVCacheKernel<true, 2u>(Params)", "attention"),
        # An attention that is written out is told by its softmax; a loss has one too, and a router.
        ("void softmax_warp_forward<float, float, float, 10, false, false>(float*, int)", "attention"),
        ("void softmax_warp_forward<float, float, float, (int)6, (bool)0, (bool)1>(T2 *)", "attention"),
        ("void softmax_warp_forward<float, float, float, 10, true>(float*, int)", "normalisation"),
        ("cunn_SoftMaxForward<4, float, LogSoftMaxForwardEpilogue>", "normalisation"),
        ("void vllm::moe::topkGatingSoftmax<4, 8>(float const*)", "normalisation"),
        # A look-up copies rows, its backward pass adds them up.
        ("void embedding_kernel<float>(float*, int const*)", "copy"),
        ("void at::native::embedding_backward_feature_kernel<float, float, long>()", "reduction"),
        ("aten::embedding_dense_backward [[16, 559, 1024]]", "reduction"),
        ("void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*)", "elementwise"),
        ("void vllm::reshape_and_cache_flash_kernel<__half>(__half const*)", "copy"),
        ("sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x128x32", "convolution"),
        ("void cudnn::ops::nchwToNhwcKernel<__half, __half, float, false, true>(int)", "copy"),
        ("void nhwcToNchwKernel<float>(float*)", "copy"),
        ("fused_moe_kernel", "gemm"),
        ("void wvSplitK_hf_sml_<__hip_bfloat16, 64>(int)", "gemm"),
        ("void marlin::Marlin<__half, 256>(int4 const*)", "gemm"),
        ("void matrixMul<16>(float*, float*, float*, int, int)", "gemm"),
        ("void vllm::moe::moe_sum_kernel<c10::Half, 8>(c10::Half*)", "reduction"),
        ("void flashinfer::BatchPrefillWithRaggedKVCacheKernel<1, 2>(Params)", "attention"),
        ("_fwd_grouped_kernel_stage1", "attention"),
        ("oneshot_allreduce_kernel", "communication"),
        ("void all_gather_kernel<float>(float*)", "communication"),
        ("swiglu_fwd", "elementwise"),
        ("per_token_group_quant_8bit_kernel", "elementwise"),
        ("fill_kernel(float*, float)", "copy"),
        # Words of an epilogue stand alone, and tell nothing where a name says more.
        ("void addBias<float>(float*)", "elementwise"),
        ("scale_f32(float const*, float*)", "elementwise"),
        ("LeakyReLU", "elementwise"),
        ("void copy3(float const*)", "copy"),
        ("unbiased_walk(int)", OTHER),
        ("grayscale(uchar4*)", OTHER),
        ("photocopy_kernel", OTHER),
        ("irreluctant(float*)", OTHER),
        ("conv_bias_relu_copy", "convolution"),
        ("gemm_scale_copy", "gemm"),
        ("void vectorized_elementwise_kernel<4, lgamma_kernel_cuda(Iterator&)>(int)", "elementwise"),
        # The converter of its epilogue makes no convolution of it.
        ("void cutlass::Kernel<cutlass::gemm::Gemm<cutlass::NumericArrayConverter<float>>>(P)", "gemm"),
        # By the operator that it applies, not by the kernel that applies any.
        ("void elementwise_kernel<128, 2, direct_copy_kernel_cuda(TensorIteratorBase&)>(int)", "copy"),
        ("void vectorized_elementwise_kernel<4, at::native::AddFunctor<float>>(int)", "elementwise"),
        ("void at::native::reduce_kernel<512, 1, ReduceOp<float, MeanOps<float>>>(R)", "reduction"),
        ("Fan2(float *, float *, float *, int, int, int)", OTHER),
        ("aten::linear [[16, 559, 1024], [2816, 1024]] BFloat16", "gemm"),
        ("aten::contiguous [[16, 16, 559, 64]] BFloat16", "copy"),
        ("aten::mul [[16, 559, 1024], [16, 559, 1]] float", "elementwise"),
        ("aten::scaled_dot_product_attention [[16, 16, 559, 64]] Half", "attention"),
        ("aten::conv2d [[32, 3, 224, 224], [64, 3, 7, 7]]", "convolution"),
        ("aten::mean [[16, 559, 1024]] float", "reduction"),
    ],
)
def test_a_name_has_the_kind_of_what_it_computes(name: str, kind: str) -> None:
    assert classify_kernel(name) == kind


def test_shares_add_up_and_the_largest_is_first() -> None:
    shares = shares_by_kind(["sgemm", "relu", "sgemm_2", "what"], [10, 20, 30, 40])
    assert shares == {"gemm": 0.4, "other": 0.4, "elementwise": 0.2}
    assert shares_by_kind(["sgemm"], [0]) == {}
    assert set(shares) <= set(KINDS)


def test_threads_that_intern_at_once_agree() -> None:
    table = NameTable()
    names = [f"k{number}" for number in range(300)]
    with ThreadPoolExecutor(4) as pool:
        codes = list(pool.map(table.intern, [names[::-1], names, names[::2], names[::3]]))
    assert len(table) == 300
    assert [table.full(code) for code in codes[1].tolist()] == names
    assert codes[0].tolist() == codes[1].tolist()[::-1]
