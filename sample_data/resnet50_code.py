"""Made-up machine code of the kernels of `resnet50_like`: plausible in kind and size, of no real kernel."""

from __future__ import annotations

from collections.abc import Mapping

import resnet50_like as network
from machine_code import Block, Code
from workload import Kernel

_EXIT = Block(1)
#: A warp at the edge of what a kernel works on, where part of the threads have nothing to do.
_EDGE = Block(12, runs=1 / 16, threads=17)


def _winograd(inner: int) -> tuple[Block, ...]:
    """Return a convolution by Winograd's transform: a loop over channels between two transforms."""
    return (
        Block(88),
        Block(64, global_loads=8, shared_stores=8),
        Block(inner, looped=True, global_loads=16, shared_loads=42, shared_stores=16),
        Block(36, runs=1 / 8, looped=True, threads=24, global_loads=2),
        Block(412, shared_loads=24, shared_stores=24),
        Block(22, runs=1 / 2),
        Block(118, global_stores=16),
        _EDGE,
        _EXIT,
    )


def _matrix_product(inner: int, shared_loads: int) -> tuple[Block, ...]:
    """Return a matrix product: tiles of both matrices go through shared memory, eight columns a trip."""
    return (
        Block(74),
        Block(38, global_loads=6, shared_stores=6),
        Block(inner, looped=True, global_loads=6, shared_loads=shared_loads, shared_stores=6),
        Block(18, runs=1 / 4, looped=True, threads=28),
        Block(96),
        Block(210, global_stores=32),
        _EDGE,
        _EXIT,
    )


def _elementwise(loads: int, work: int) -> Code:
    """Return a kernel that reads and writes four numbers a thread at once, and has no loop."""
    blocks = (
        Block(15),
        Block(work, global_loads=loads, global_stores=1),
        Block(41, runs=1 / 32, threads=19, global_loads=loads, global_stores=1),
        _EXIT,
    )
    grids = ((98, 1, 1), (196, 1, 1), (392, 1, 1), (784, 1, 1), (1568, 1, 1))
    return Code(blocks, dict.fromkeys(grids, 1), sectors_per_load=16, sectors_per_store=16)


def _unrolled(work: int, loads: int) -> Code:
    """Return a kernel of one number after the other, with a check of bounds for each."""
    blocks = (
        Block(21),
        Block(work, global_loads=loads, global_stores=4),
        Block(29, runs=1 / 24, threads=11, global_loads=loads),
        _EXIT,
    )
    return Code(blocks, {(588, 1, 1): 1})


#: The code of every kernel.
CODES: Mapping[Kernel, Code] = {
    network.WINOGRAD: Code(_winograd(1_148), {(196, 1, 1): 8, (98, 1, 1): 16, (49, 1, 1): 32}),
    network.MOBILE_WINOGRAD: Code(_winograd(1_064), {(49, 2, 1): 32, (25, 4, 1): 36}),
    network.EXPLICIT_CONVOLUTION: Code(
        (
            Block(52),
            Block(31, local_loads=4, shared_stores=2),
            Block(296, looped=True, global_loads=9, shared_loads=32, shared_stores=6),
            Block(44, runs=1 / 3, looped=True, threads=21, global_loads=3),
            Block(60, local_loads=4),
            Block(48, global_stores=8),
            _EDGE,
            _EXIT,
        ),
        {(98, 1, 1): 49},
        sectors_per_load=7,
    ),
    network.SGEMM_128X64: Code(
        _matrix_product(604, 40), {(25, 4, 1): 16, (49, 4, 1): 12, (7, 8, 1): 8}, sectors_per_load=16
    ),
    network.SGEMM_64X64: Code(
        _matrix_product(568, 36), {(49, 1, 1): 8, (13, 2, 1): 16, (4, 8, 1): 15}, sectors_per_load=16
    ),
    network.WINOGRAD_TILES: Code(
        (
            Block(34),
            Block(186, looped=True, global_loads=9, shared_stores=9, shared_loads=16),
            Block(92, looped=True, global_stores=16),
            _EDGE,
            _EXIT,
        ),
        {(4, 64, 1): 24, (8, 128, 1): 9},
        sectors_per_load=9,
        sectors_per_store=8,
    ),
    network.BATCH_NORM: Code(
        (
            Block(42, global_loads=4),
            Block(26, looped=True, global_loads=1, global_stores=1),
            Block(19, runs=1 / 8, threads=16, global_loads=1, global_stores=1),
            _EXIT,
        ),
        {(64, 1, 1): 49, (128, 1, 1): 13, (256, 1, 1): 4, (512, 1, 1): 1},
    ),
    network.MAX_POOL: Code(
        (
            Block(58),
            Block(16, runs=9, threads=31, global_loads=1),
            # A new greatest number: how often depends on the picture.
            Block(5, runs=3, levels=(0.86, 0.95, 1.0, 1.12), threads=14),
            Block(14, global_stores=2),
            _EDGE,
            _EXIT,
        ),
        {(784, 1, 1): 1},
        sectors_per_load=7,
    ),
    network.RELU: _elementwise(loads=1, work=24),
    network.ADD: _elementwise(loads=2, work=29),
    network.TO_FLOAT: _unrolled(work=86, loads=4),
    network.NORMALISE: _unrolled(work=142, loads=8),
    network.MEAN: Code(
        (
            Block(64),
            Block(28, looped=True, global_loads=4),
            Block(46, threads=26, shared_loads=5, shared_stores=6),
            Block(18, runs=1 / 16, threads=1, global_stores=1, global_atomics=1),
            _EXIT,
        ),
        {(128, 1, 1): 3},
    ),
    network.GEMV: Code(
        (
            Block(55),
            Block(72, looped=True, global_loads=16, shared_loads=4),
            Block(61, threads=27, shared_loads=7, shared_stores=8),
            Block(9, runs=1 / 4, threads=16, global_stores=1),
            _EXIT,
        ),
        {(250, 1, 1): 16},
        sectors_per_load=16,
    ),
    network.SOFTMAX: Code(
        (
            Block(47),
            Block(22, looped=True, global_loads=1),
            Block(68, threads=27, shared_loads=10, shared_stores=10),
            Block(39, looped=True, global_loads=1),
            Block(31, looped=True, global_loads=1, global_stores=1),
            Block(13, runs=1 / 8, threads=8),
            _EXIT,
        ),
        {(1, 1, 1): 4},
        sectors_per_load=16,
        sectors_per_store=16,
    ),
    network.ARG_MAX: Code(
        (
            Block(71),
            Block(44, looped=True, global_loads=4),
            Block(17, runs=2, levels=(0.5, 1.0, 1.5), looped=True, threads=12),
            Block(83, threads=25, shared_loads=9, shared_stores=10),
            Block(11, runs=1 / 16, threads=1, global_stores=1),
            _EXIT,
        ),
        {(1, 1, 1): 2},
    ),
}
