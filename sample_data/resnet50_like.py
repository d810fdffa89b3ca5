"""A convolutional network whose top kernels follow Table II of the Allegro paper (ResNet50 inference).

The table's 3,925 images are 5, 1, 2, 6 and 2 launches of the top five kernels an image; so it is here. The
mean duration of each is the table's. Names in the way Nsight Systems writes them.
"""

from __future__ import annotations

from workload import Kernel, Pass, Peak, Step

WINOGRAD = Kernel(
    *("cudnn_infer_volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1",) * 3,
    block=(256, 1, 1),
    registers=126,
    static_shared_bytes=49_152,
)
MOBILE_WINOGRAD = Kernel(
    *("cudnn_infer_volta_scudnn_winograd_128x128_ldg1_ldg4_mobile_relu_tile148t_nt_v1",) * 3,
    block=(256, 1, 1),
    registers=126,
    static_shared_bytes=49_152,
)
EXPLICIT_CONVOLUTION = Kernel(
    "void explicit_convolve_sgemm<float, int, (int)1024, (int)5, (int)5, (int)3, (int)3, (int)3, (int)0, "
    "(bool)0>(int, int, int, const T1 *, int, const T1 *, int, T1 *, kernel_conv_params, "
    "unsigned long long, int, unsigned long long, int, T1, T1, int, const T1 *, const T1 *)",
    "explicit_convolve_sgemm",
    "_Z23explicit_convolve_sgemmIfiLi1024ELi5ELi5ELi3ELi3ELi3ELi0ELb0EEviiiPKT_iS2_iPS0_18kernel_conv_params"
    "yiyiS0_S0_iS2_S2_",
    block=(32, 32, 1),
    registers=56,
    static_shared_bytes=8_448,
)
SGEMM_128X64 = Kernel(
    *("volta_sgemm_128x64_nn",) * 3, block=(128, 1, 1), registers=122, static_shared_bytes=12_544
)
SGEMM_64X64 = Kernel(
    *("volta_sgemm_64x64_nn",) * 3, block=(64, 1, 1), registers=126, static_shared_bytes=8_448
)
WINOGRAD_TILES = Kernel(
    "void cudnn::winograd::generateWinogradTilesKernel<(int)0, float, float>(cudnn::winograd::"
    "GenerateWinogradTilesParams<T2, T3>)",
    "generateWinogradTilesKernel",
    "_ZN5cudnn8winograd27generateWinogradTilesKernelILi0EffEEvNS0_27GenerateWinogradTilesParamsIT0_T1_EE",
    block=(32, 4, 1),
    registers=40,
    static_shared_bytes=8_704,
    drift=-0.06,
)
BATCH_NORM = Kernel(
    "void cudnn::bn_fw_inf_1C11_kernel_NCHW<float, float, (bool)1, (int)1>(T2, T2, cudnnTensorStruct, "
    "const T1 *, cudnnTensorStruct, T1 *, cudnnTensorStruct, const T2 *, const T2 *, const T2 *, "
    "const T2 *, T2)",
    "bn_fw_inf_1C11_kernel_NCHW",
    "_ZN5cudnn26bn_fw_inf_1C11_kernel_NCHWIffLb1ELi1EEEvT0_S1_17cudnnTensorStructPKT_S2_PS3_S2_PKS1_S8_S8_S8"
    "_S1_",
    block=(256, 1, 1),
    registers=32,
)
MAX_POOL = Kernel(
    "void at::native::<unnamed>::max_pool_forward_nchw<float, float>(int, const T1 *, int, int, int, int, "
    "int, int, int, int, int, int, int, int, T1 *, long *)",
    "max_pool_forward_nchw",
    "_ZN2at6native44_GLOBAL__N__5a1e0000_12_MaxPool2d_cu_5a1e000021max_pool_forward_nchwIffEEviPKT_iiiiiiiii"
    "iiiPS3_Pl",
    block=(256, 1, 1),
    registers=30,
)
RELU = Kernel(
    "void at::native::vectorized_elementwise_kernel<(int)4, at::native::<unnamed>::threshold_kernel_impl<"
    "float>(at::TensorIteratorBase &, T1, T1)::[lambda(float, float) (instance 1)], at::detail::Array<"
    "char *, (int)3>>(int, T2, T3)",
    "vectorized_elementwise_kernel",
    "_ZN2at6native29vectorized_elementwise_kernelILi4EZNS0_45_GLOBAL__N__5a1e0000_13_Activation_cu_5a1e00002"
    "1threshold_kernel_implIfEEvRNS_18TensorIteratorBaseET_S6_EUlffE_NS_6detail5ArrayIPcLi3EEEEEviT0_T1_",
    block=(128, 1, 1),
    registers=20,
)
ADD = Kernel(
    "void at::native::vectorized_elementwise_kernel<(int)4, at::native::CUDAFunctor_add<float>, at::"
    "detail::Array<char *, (int)3>>(int, T2, T3)",
    "vectorized_elementwise_kernel",
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEENS_6detail5ArrayIPcLi3EEEEEvi"
    "T0_T1_",
    block=(128, 1, 1),
    registers=20,
)
TO_FLOAT = Kernel(
    "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::"
    "TensorIteratorBase &)::[lambda() (instance 3)]::operator ()() const::[lambda() (instance 7)]::"
    "operator ()() const::[lambda(float) (instance 1)], at::detail::Array<char *, (int)2>, "
    "TrivialOffsetCalculator<(int)1, unsigned int>, TrivialOffsetCalculator<(int)1, unsigned int>, at::"
    "native::memory::LoadWithCast<(int)1>, at::native::memory::StoreWithCast<(int)1>>(int, T1, T2, T3, T4, "
    "T5, T6)",
    "unrolled_elementwise_kernel",
    "_ZN2at6native27unrolled_elementwise_kernelIZZZNS0_23direct_copy_kernel_cudaERNS_18TensorIteratorBaseEEN"
    "KUlvE1_clEvENKUlvE5_clEvEUlfE_NS_6detail5ArrayIPcLi2EEE23TrivialOffsetCalculatorILi1EjESC_NS0_6memory12"
    "LoadWithCastILi1EEENSD_13StoreWithCastILi1EEEEEviT_T0_T1_T2_T3_T4_",
    block=(64, 1, 1),
    registers=32,
)
NORMALISE = Kernel(
    "void at::native::elementwise_kernel<(int)128, (int)2, void at::native::gpu_kernel_impl_nocast<at::"
    "native::BinaryFunctor<float, float, float, at::native::binary_internal::DivFunctor<float>>>(at::"
    "TensorIteratorBase &, const T1 &)::[lambda(int) (instance 1)]>(int, T3)",
    "elementwise_kernel",
    "_ZN2at6native18elementwise_kernelILi128ELi2EZNS0_22gpu_kernel_impl_nocastINS0_13BinaryFunctorIfffNS0_15"
    "binary_internal10DivFunctorIfEEEEEEvRNS_18TensorIteratorBaseERKT_EUliE_EEviT1_",
    block=(128, 1, 1),
    registers=18,
)
MEAN = Kernel(
    "void at::native::reduce_kernel<(int)512, (int)1, at::native::ReduceOp<float, at::native::MeanOps<"
    "float, float, float, float>, unsigned int, float, (int)4>>(T3)",
    "reduce_kernel",
    "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_7MeanOpsIffffEEjfLi4EEEEEvT1_",
    block=(32, 16, 1),
    registers=32,
    static_shared_bytes=16,
)
GEMV = Kernel(
    "void gemv2T_kernel_val<int, int, float, float, float, float, (int)128, (int)16, (int)4, (int)4, "
    "(bool)0, (bool)1, cublasGemvParams<cublasGemvTensorStridedBatched<const float>, "
    "cublasGemvTensorStridedBatched<const float>, cublasGemvTensorStridedBatched<float>, float>>(T13, T4, "
    "T4)",
    "gemv2T_kernel_val",
    "_Z17gemv2T_kernel_valIiiffffLi128ELi16ELi4ELi4ELb0ELb1E16cublasGemvParamsI30cublasGemvTensorStridedBatc"
    "hedIKfES3_S1_IfEfEEvT11_T2_S7_",
    block=(128, 1, 1),
    registers=45,
    static_shared_bytes=2_304,
)
SOFTMAX = Kernel(
    "void at::native::<unnamed>::cunn_SoftMaxForward<(int)4, float, float, float, at::native::<unnamed>::"
    "SoftMaxForwardEpilogue>(T4 *, const T2 *, int)",
    "cunn_SoftMaxForward",
    "_ZN2at6native42_GLOBAL__N__5a1e0000_10_SoftMax_cu_5a1e000019cunn_SoftMaxForwardILi4EfffNS1_22SoftMaxFor"
    "wardEpilogueEEEvPT2_PKT0_i",
    block=(256, 1, 1),
    registers=32,
    dynamic_shared_bytes=1_024,
)
ARG_MAX = Kernel(
    "void at::native::reduce_kernel<(int)512, (int)1, at::native::ReduceOp<float, at::native::ArgMaxOps<"
    "float>, unsigned int, long, (int)4>>(T3)",
    "reduce_kernel",
    "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_9ArgMaxOpsIfEEjlLi4EEEEEvT1_",
    block=(256, 2, 1),
    registers=38,
    static_shared_bytes=16,
    dynamic_shared_bytes=6_144,
)

#: Bytes of the weights copied to the device before the first image.
WEIGHT_BYTES = (37_632, 16_384, 147_456, 65_536, 589_824, 262_144, 2_359_296, 1_048_576, 9_437_184, 8_192_000)

_CONVOLUTION_1 = (
    Step(TO_FLOAT, (588, 1, 1), (Peak(2_110, 0.012, 0.4), Peak(2_200, 0.012, 0.2), Peak(2_460, 0.018, 0.4))),
    Step(NORMALISE, (588, 1, 1), (Peak(5_180, 0.05),)),
    Step(NORMALISE, (588, 1, 1), (Peak(5_420, 0.05),)),
    Step(EXPLICIT_CONVOLUTION, (98, 1, 1), (Peak(245_829, 0.012),)),
    Step(
        BATCH_NORM,
        (64, 1, 1),
        (Peak(16_150, 0.008, 0.25), Peak(16_560, 0.008, 0.6), Peak(17_030, 0.006, 0.15)),
    ),
    Step(RELU, (1568, 1, 1), (Peak(9_790, 0.011),)),
    Step(MAX_POOL, (784, 1, 1), (Peak(19_165, 0.0075),)),
)
# Seven bottleneck blocks. One grid holds several peaks where the same kernel meets its data in other places.
_BLOCK_1 = (
    Step(SGEMM_64X64, (49, 1, 1), (Peak(6_660, 0.009),)),
    Step(BATCH_NORM, (128, 1, 1), (Peak(5_660, 0.01, 0.3), Peak(5_990, 0.012, 0.7))),
    Step(WINOGRAD, (196, 1, 1), (Peak(52_300, 0.011),)),
    Step(SGEMM_128X64, (25, 4, 1), (Peak(29_900, 0.010),)),
    Step(SGEMM_128X64, (49, 4, 1), (Peak(47_600, 0.013),)),
    Step(ADD, (1568, 1, 1), (Peak(6_120, 0.016),)),
    Step(RELU, (784, 1, 1), (Peak(4_610, 0.013),)),
)
_BLOCK_2 = (
    Step(SGEMM_64X64, (49, 1, 1), (Peak(6_680, 0.009),)),
    Step(WINOGRAD, (196, 1, 1), (Peak(54_900, 0.013),)),
    Step(SGEMM_128X64, (25, 4, 1), (Peak(30_600, 0.011),)),
    Step(ADD, (1568, 1, 1), (Peak(6_180, 0.016),)),
    Step(RELU, (784, 1, 1), (Peak(4_640, 0.013),)),
)
_BLOCK_3 = (
    Step(SGEMM_64X64, (13, 2, 1), (Peak(6_975, 0.006),)),
    Step(BATCH_NORM, (128, 1, 1), (Peak(5_820, 0.013),)),
    Step(WINOGRAD, (98, 1, 1), (Peak(61_900, 0.012),)),
    Step(SGEMM_128X64, (7, 8, 1), (Peak(11_900, 0.004, 0.8), Peak(12_080, 0.004, 0.2))),
    Step(SGEMM_128X64, (49, 4, 1), (Peak(48_746, 0.014),)),
    Step(ADD, (784, 1, 1), (Peak(4_230, 0.015),)),
    Step(RELU, (392, 1, 1), (Peak(3_420, 0.013),)),
)
_BLOCK_4 = (
    Step(SGEMM_64X64, (13, 2, 1), (Peak(6_990, 0.006),)),
    Step(BATCH_NORM, (128, 1, 1), (Peak(6_080, 0.014),)),
    Step(WINOGRAD, (98, 1, 1), (Peak(66_300, 0.012),)),
    Step(SGEMM_128X64, (7, 8, 1), (Peak(12_000, 0.005),)),
    Step(ADD, (784, 1, 1), (Peak(4_260, 0.015),)),
    Step(RELU, (392, 1, 1), (Peak(3_400, 0.013),)),
)
_BLOCK_5 = (
    Step(SGEMM_64X64, (13, 2, 1), (Peak(6_960, 0.006),)),
    Step(BATCH_NORM, (256, 1, 1), (Peak(3_420, 0.010),)),
    Step(WINOGRAD, (49, 1, 1), (Peak(65_200, 0.010, 0.7), Peak(70_100, 0.011, 0.3))),
    Step(SGEMM_64X64, (13, 2, 1), (Peak(7_010, 0.007),)),
    Step(ADD, (392, 1, 1), (Peak(2_910, 0.016),)),
    Step(RELU, (196, 1, 1), (Peak(2_540, 0.014),)),
)
_BLOCK_6 = (
    Step(SGEMM_64X64, (13, 2, 1), (Peak(6_970, 0.006),)),
    Step(BATCH_NORM, (256, 1, 1), (Peak(3_440, 0.010),)),
    Step(WINOGRAD_TILES, (4, 64, 1), (Peak(61_200, 0.009),)),
    Step(MOBILE_WINOGRAD, (49, 2, 1), (Peak(105_600, 0.020),)),
    Step(SGEMM_64X64, (4, 8, 1), (Peak(7_690, 0.009),)),
    Step(ADD, (392, 1, 1), (Peak(2_930, 0.016),)),
    Step(RELU, (196, 1, 1), (Peak(2_520, 0.014),)),
)
_BLOCK_7 = (
    Step(SGEMM_64X64, (4, 8, 1), (Peak(7_740, 0.009),)),
    Step(BATCH_NORM, (512, 1, 1), (Peak(3_390, 0.008, 0.6), Peak(3_490, 0.008, 0.4))),
    Step(WINOGRAD_TILES, (8, 128, 1), (Peak(90_430, 0.009),)),
    Step(MOBILE_WINOGRAD, (25, 4, 1), (Peak(123_128, 0.012),)),
    Step(SGEMM_64X64, (4, 8, 1), (Peak(7_780, 0.009),)),
    Step(ADD, (196, 1, 1), (Peak(2_210, 0.016),)),
    Step(RELU, (98, 1, 1), (Peak(1_930, 0.015),)),
)
_CLASSIFIER = (
    Step(MEAN, (128, 1, 1), (Peak(4_320, 0.013),)),
    Step(GEMV, (250, 1, 1), (Peak(11_240, 0.015),)),
    Step(SOFTMAX, (1, 1, 1), (Peak(2_910, 0.014),)),
    Step(ARG_MAX, (1, 1, 1), (Peak(6_020, 0.012),)),
)

#: One image, layer by layer: a picture of 3 x 224 x 224 floats in, the number of its class out.
IMAGE = Pass(
    602_112,
    (
        *_CONVOLUTION_1,
        *(*_BLOCK_1, *_BLOCK_2, *_BLOCK_3, *_BLOCK_4, *_BLOCK_5, *_BLOCK_6, *_BLOCK_7),
        *_CLASSIFIER,
    ),
    8,
)
