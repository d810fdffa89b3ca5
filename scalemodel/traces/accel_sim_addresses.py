"""The addresses of memory instructions in an Accel-Sim trace, in the three forms it writes them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scalemodel.arrays import BoolArray, IntArray
from scalemodel.traces.accel_sim_words import InstructionWords
from scalemodel.traces.accesses import AddressArray
from scalemodel.traces.words import NumberArray, decimal_numbers, hex_numbers, signed_numbers

_LIST, _STRIDE, _DIFFERENCES = range(3)
# Far more than any address space; a stride times 31 fits 64 bits.
_LONGEST_STRIDE = 1 << 56


@dataclass(frozen=True, slots=True)
class MemoryInstructions:
    """Memory instructions with at least one active thread.

    Attributes
    ----------
    words : their lines.
    form_at : (i,) int64, the place of the word that says the form of the addresses, which come after it.
    mask : (i,) uint64, the active threads.
    width : (i,) uint64, > 0, bytes of each thread's access.
    """

    words: InstructionWords
    form_at: IntArray
    mask: NumberArray
    width: NumberArray

    def __getitem__(self, which: IntArray) -> MemoryInstructions:
        return MemoryInstructions(self.words[which], self.form_at[which], self.mask[which], self.width[which])

    @property
    def threads(self) -> IntArray:
        """(i,) int64, how many threads are active."""
        return np.bitwise_count(self.mask).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Spans:
    """Bytes that instructions touch, in no order.

    Attributes
    ----------
    instruction : (s,) int64, the index of the instruction.
    start : (s,) uint64, the first byte's address.
    size : (s,) uint64, bytes.
    """

    instruction: IntArray
    start: AddressArray
    size: AddressArray

    def __getitem__(self, which: BoolArray) -> Spans:
        return Spans(self.instruction[which], self.start[which], self.size[which])


def read_spans(instructions: MemoryInstructions, longest_step: IntArray) -> Spans:
    """Return the spans that the active threads touch.

    Parameters
    ----------
    longest_step : (i,) int64; threads whose addresses have a stride of at most so many bytes are one span,
        with the bytes between them. Up to the bytes of a line that touches the same lines.

    Raises
    ------
    InputError : the form is not known, an address is missing or no number, or the active threads of a stride
        are no run.
    """
    form, is_number = decimal_numbers(instructions.words.at(instructions.form_at))
    instructions.words.refuse(
        ~is_number | (form > _DIFFERENCES), "the form of the addresses is not known", instructions.form_at
    )
    strided, listed = np.flatnonzero(form == _STRIDE), np.flatnonzero(form != _STRIDE)
    by_stride = _by_stride(instructions[strided], longest_step[strided])
    by_list = _by_list(instructions[listed], form[listed] == _LIST)
    return Spans(
        np.concatenate([strided[by_stride.instruction], listed[by_list.instruction]]),
        np.concatenate([by_stride.start, by_list.start]),
        np.concatenate([by_stride.size, by_list.size]),
    )


def _by_stride(instructions: MemoryInstructions, longest_step: IntArray) -> Spans:
    """Return the spans of a first address and a stride to each next thread."""
    words, mask, threads = instructions.words, instructions.mask, instructions.threads
    base_at, stride_at = instructions.form_at + 1, instructions.form_at + 2
    base, is_number = hex_numbers(words.at(base_at))
    words.refuse(~is_number, "the address is no hexadecimal number", base_at)
    stride, is_number = signed_numbers(words.at(stride_at))
    words.refuse(~is_number | (np.abs(stride) > _LONGEST_STRIDE), "the stride is no number", stride_at)
    # One more than a run, from its lowest thread on, has none of its threads.
    lowest = mask & (~mask + np.uint64(1))
    words.refuse(((mask + lowest) & mask) != 0, "has a stride, but its active threads are no run")
    is_one = np.abs(stride) <= longest_step
    reach = np.where(is_one, stride * (threads - 1), 0)
    start = base + np.minimum(reach, 0).view(np.uint64)
    size = instructions.width + np.abs(reach).view(np.uint64)
    instruction, rank = _ranked(np.where(is_one, 1, threads))
    return Spans(
        instruction, start[instruction] + (stride[instruction] * rank).view(np.uint64), size[instruction]
    )


def _by_list(instructions: MemoryInstructions, is_list: BoolArray) -> Spans:
    """Return the spans of all addresses, or of a first one and the differences from each to the next."""
    words, threads = instructions.words, instructions.threads
    words.at(instructions.form_at + threads)
    instruction, rank = _ranked(threads)
    place = instructions.form_at[instruction] + 1 + rank
    number_words = words.words[words.first[instruction] + place]
    is_address = is_list[instruction] | (rank == 0)
    step = np.zeros(instruction.size, dtype=np.uint64)
    is_number = np.zeros(instruction.size, dtype=np.bool_)
    step[is_address], is_number[is_address] = hex_numbers(number_words[is_address])
    difference, is_number[~is_address] = signed_numbers(number_words[~is_address])
    step[~is_address] = difference.view(np.uint64)
    words.refuse(~is_number & is_address, "the address is no hexadecimal number", place, instruction)
    words.refuse(~is_number, "the difference between addresses is no number", place, instruction)
    return Spans(instruction, _summed(step, is_address), instructions.width[instruction])


def _ranked(count: IntArray) -> tuple[IntArray, IntArray]:
    """Return each index as often as its count says, and how often it came before."""
    index = np.repeat(np.arange(count.size), count)
    return index, np.arange(index.size) - (np.cumsum(count) - count)[index]


def _summed(step: NumberArray, is_start: BoolArray) -> AddressArray:
    """Return running sums, modulo 2**64, that begin anew at each start; the first is one."""
    total = np.cumsum(step, dtype=np.uint64)
    before = (total - step)[is_start]
    sums: AddressArray = total - before[np.cumsum(is_start) - 1]
    return sums
