"""Kinds of kernels: names as libraries give them, in any of the forms that tools record."""

from __future__ import annotations

import pytest

from sampling.profile.kinds import KINDS, OTHER, kind_of, shares_by_kind


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "communication"),
        ("void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4>>(Params)", "attention"),
        ("fmha_v2_flash_attention_bf16_64_128_S_128_causal_tma_ws_sm90_kernel", "attention"),
        ("volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1", "convolution"),
        ("void explicit_convolve_sgemm<float, int, 1024, 5, 5, 3, 3, 3, 0, false>(int)", "convolution"),
        (
            "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, 512, true, 1>(cudnnTensorStruct)",
            "normalisation",
        ),
        (
            "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>(int)",
            "normalisation",
        ),
        ("triton_per_fused_native_layer_norm_3", "normalisation"),
        ("triton_poi_fused_convolution_relu_7", "elementwise"),
        ("triton_red_fused_sum_convolution_1", "reduction"),
        ("ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_tn", "gemm"),
        ("Cijk_Alik_Bljk_SB_Bias_AS_SAV_UserArgs_MT64x16x32_MI16x16x1", "gemm"),
        ("nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN", "gemm"),
        # The converter of its epilogue makes no convolution of it.
        (
            "void cutlass::Kernel<cutlass::gemm::Gemm<cutlass::NumericArrayConverter<float>>>(P)",
            "gemm",
        ),
        # By the operator that it applies, not by the kernel that applies any.
        (
            "void at::native::elementwise_kernel<128, 2, direct_copy_kernel_cuda(TensorIteratorBase&)>(int)",
            "copy",
        ),
        (
            "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>>(int)",
            "elementwise",
        ),
        (
            "void at::native::reduce_kernel<512, 1, ReduceOp<float, MeanOps<float>>>(R)",
            "reduction",
        ),
        ("_ZN2at6native13reduce_kernelILi512ELi1EEEvv", "reduction"),
        ("Fan2(float *, float *, float *, int, int, int)", OTHER),
    ],
)
def test_a_name_has_the_kind_of_what_it_computes(name: str, kind: str) -> None:
    assert kind_of(name) == kind


def test_shares_add_up_and_the_largest_is_first() -> None:
    shares = shares_by_kind(["sgemm", "relu", "sgemm_2", "what"], [10, 20, 30, 40])
    assert shares == {"gemm": 0.4, "other": 0.4, "elementwise": 0.2}
    assert shares_by_kind(["sgemm"], [0]) == {}
    assert set(shares) <= set(KINDS)
