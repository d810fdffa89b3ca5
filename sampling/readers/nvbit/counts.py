"""What NVBit's instr_count printed as a profile: every hooked launch with its instructions, no durations.

A line says how many thread blocks a launch has, not its grid: launches of one kernel differ in nothing that
is known, and share a kernel group. A count of 0 is none: the launch was not instrumented.
"""

from __future__ import annotations

import numpy as np

from sampling.arrays import AnyIntArray, IntArray
from sampling.arrow import to_numpy
from sampling.errors import ProfileError
from sampling.profile.profile import KernelTable, Profile, ProfileFile, RecordingFacts
from sampling.progress import Progress
from sampling.readers.counted_launches import CountedLaunches, refuse_gaps
from sampling.readers.input_file import InputFile
from sampling.readers.nvbit.count_lines import CountLines, count_lines, has_count_lines

FORMAT = "nvbit-instr-count"

_FIRST_NUMBER = 0
_MANGLED = "_Z"


def recognise(file: InputFile) -> bool:
    """Return whether there are lines of instr_count."""
    return has_count_lines(file)


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
    """Return the launches with their instructions.

    Raises
    ------
    ProfileError : no line is whole, a count has overflowed, or a launch is missing.
    """
    parts: list[tuple[AnyIntArray, ...]] = [
        (part.line, part.number, part.instructions, _names(part, kernels))
        for part in count_lines(file, progress)
    ]
    line, number, instructions, name = map(np.concatenate, zip(*parts, strict=True))
    if not len(line):
        raise ProfileError(
            "NVBit output without a whole line of instr_count",
            path=file.path,
            remedy="count again, or record the program with `nsys profile --trace cuda`",
        )
    refuse_gaps(file.path, line, number, _FIRST_NUMBER)
    _refuse_overflow(file, line, instructions)
    return CountedLaunches(
        format_name=FORMAT,
        file=ProfileFile(file.path, file.location, len(number)),
        kernels=kernels,
        signature=kernels.intern(name, None, None),
        instructions=instructions,
        facts=RecordingFacts(launch_order="file", product="NVBit"),
    )


def _names(part: CountLines, kernels: KernelTable) -> AnyIntArray:
    """Return (k,) codes of the names; the tool prints mangled ones unless MANGLED_NAMES is 0."""
    encoded = part.name.dictionary_encode()
    spelt = [name.decode("utf-8", "replace") for name in encoded.dictionary.to_pylist()]
    mangled = [name if name.startswith(_MANGLED) else None for name in spelt]
    codes = kernels.names.intern(spelt, mangled=mangled)
    return np.asarray(codes[to_numpy(encoded.indices)])


def _refuse_overflow(file: InputFile, line: IntArray, instructions: IntArray) -> None:
    if (instructions < 0).any():
        row = int(np.argmax(instructions < 0))
        raise ProfileError(
            f"the count {int(instructions[row]):,} has overflowed",
            path=file.path,
            row=int(line[row]),
            column="kernel instructions",
            remedy="count again with a newer instr_count, or with COUNT_WARP_LEVEL=1, which counts less",
        )
