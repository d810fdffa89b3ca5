"""What GPGPU-Sim and Accel-Sim print, as a profile: a cycle counts as a nanosecond.

A launch is announced with its name and grid (``-kernel name``, ``-grid dim`` of a trace; ``pushing kernel``
of a program), and has a block once it has ended: ``kernel_name``, ``kernel_launch_uid``, ``gpu_sim_cycle``,
``gpu_sim_insn``. Where kernels ran at once, or one block is of several, no count is of one launch alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from sampling.errors import ProfileError
from sampling.profile.launch_table import LaunchColumns, LaunchTable, LaunchTableBuilder
from sampling.profile.profile import KernelTable, ProfileFile, RecordingFacts
from sampling.progress import Progress
from sampling.readers.csv_cells import lines_before, pieces
from sampling.readers.input_file import InputFile
from sampling.text import counted

FORMAT = "simulator-log"

_BLOCK = re.compile(rb"^[ \t]*gpu_sim_cycle = +\d", re.MULTILINE)
_BANNER = re.compile(rb"\*\*\* GPGPU-Sim Simulator Version|^Accel-Sim \[build", re.MULTILINE)
_SIZES = rb"\((\d{1,9}),(\d{1,9}),(\d{1,9})\)"
_SIZE = re.compile(_SIZES)
_PUSHED = re.compile(rb"'([^']*)' to stream \d+, gridDim= ?%s(?: blockDim = ?%s)?" % (_SIZES, _SIZES))
_KEYS = (
    rb"-kernel name|-kernel id|-grid dim|-block dim|kernel_name|kernel_launch_uid|gpu_sim_cycle|gpu_sim_insn"
    rb"|-gpgpu_concurrent_kernel_sm|-gpgpu_max_(?:cycle|insn|cta|completed_cta)|GPGPU-Sim: \*\* break due to"
)
# It begins with the end of the line before, which is looked for much faster than a line's start.
_LINE = re.compile(rb"\n[ \t]*(%s)(?=[ \t=])[ \t]*=?[ \t]*([^\r\n]*)" % _KEYS)
# Another thread prints that a kernel is pushed, so that half a line may stand before it.
_PUSHES = re.compile(rb"(GPGPU-Sim PTX: pushing kernel)([^\r\n]*)")
_ALONE = "simulate it without limits and one kernel after the other, or give a table of its launches"


@dataclass(slots=True)
class LoggedLaunch:
    """A launch of a log.

    Attributes
    ----------
    number : that of its trace where there is one, else its number in the run; from 1; 0: not known.
    sizes : x, y, z of its grid, then of its block; 0 where it is not printed.
    cycles, instructions : -1 until it has ended.
    """

    name: str
    number: int = 0
    sizes: tuple[int, ...] = (0,) * 6
    cycles: int = -1
    instructions: int = -1


def recognise(file: InputFile) -> bool:
    """Return whether the head has a launch that ended, or the simulator's banner."""
    return (_BLOCK.search(file.head) or _BANNER.search(file.head)) is not None


def logged_launches(file: InputFile, progress: Progress | None) -> tuple[list[LoggedLaunch], int]:
    """Return the launches that ran to their end, in the order of the log; and how many did not.

    Raises
    ------
    ProfileError : kernels ran at once, a limit may have ended them, or one count is of several.
    """
    log = _Log()
    for offset, text in pieces(file, progress):
        lines = [*_LINE.finditer(b"\n" + text), *_PUSHES.finditer(b"\n" + text)]
        for found in sorted(lines, key=re.Match.start):
            key, value = found[1], found[2].strip()
            wrong = log.why_not(key, value) or log.take(key, value)
            if wrong:
                row = lines_before(file, offset + found.start()) + 1
                raise ProfileError(wrong, path=file.path, row=row, remedy=_ALONE)
    whole = [launch for launch in log.ended if launch.instructions >= 0]
    return whole, len(log.announced) + len(log.ended) - len(whole)


class _Log:
    """The launches of a log while its lines are read: announced, and those whose block has begun."""

    def __init__(self) -> None:
        self.announced: list[LoggedLaunch] = []
        self.ended: list[LoggedLaunch] = []

    def why_not(self, key: bytes, text: bytes) -> str:
        """Return why no count would be of one whole launch, as a line says; empty where it does not."""
        if key == b"-gpgpu_concurrent_kernel_sm" and text.startswith(b"1"):
            return "kernels ran at once, so that no count is of one alone"
        if key.startswith(b"-gpgpu_max") and not text.startswith((b"0", b"-")):
            return f"{key.decode()} {text.split()[0].decode('ascii', 'replace')} may have ended launches"
        if key.startswith(b"GPGPU-Sim: ** break"):
            return "the simulator broke a launch off at a limit"
        return ""

    def take(self, key: bytes, text: bytes) -> str:
        """Take a line; return why no count would be of one whole launch, empty where that is not so."""
        if key.startswith((b"-", b"GPGPU-Sim PTX")):
            self._announce(key, text)
            return ""
        if key == b"kernel_name":
            return self._begin(text.decode("utf-8", "replace"))
        last = self.ended[-1] if self.ended else None
        if key == b"gpu_sim_cycle":
            if last is None or last.cycles >= 0:
                return "a count of cycles stands under no kernel's name: kernels ran at once"
            last.cycles = _number(text)
        elif key == b"kernel_launch_uid" and last is not None and last.cycles < 0:
            if not text.isdigit():
                return f"one count is printed of the launches {text.decode('utf-8', 'replace')}"
            last.number = last.number or _number(text)
        elif key == b"gpu_sim_insn" and last is not None and last.instructions < 0 <= last.cycles:
            last.instructions = _number(text)
        return ""

    def _announce(self, key: bytes, text: bytes) -> None:
        if pushed := _PUSHED.match(text):
            sizes = tuple(int(size or 0) for size in pushed.groups()[1:])
            self.announced.append(LoggedLaunch(pushed[1].decode("utf-8", "replace"), sizes=sizes))
        elif key == b"-kernel name":
            self.announced.append(LoggedLaunch(text.decode("utf-8", "replace")))
        elif key == b"-kernel id" and self.announced:
            self.announced[-1].number = max(_number(text), 0)
        elif self.announced and (size := _SIZE.match(text)):
            three, sizes = tuple(map(int, size.groups())), self.announced[-1].sizes
            self.announced[-1].sizes = (*three, *sizes[3:]) if key == b"-grid dim" else (*sizes[:3], *three)

    def _begin(self, name: str) -> str:
        """Take a block's name; the first launch that was announced by it has ended."""
        launch = next((each for each in self.announced if each.name == name), None)
        if launch is not None:
            self.announced.remove(launch)
        elif any(each.name in name.split() for each in self.announced):
            return "one count is printed of several launches"
        self.ended.append(launch or LoggedLaunch(name))
        return ""


def _number(text: bytes) -> int:
    """Return a number of at most 18 digits; -1 where another thread's text stands in it."""
    return int(text) if text.isdigit() and len(text) <= 18 else -1


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> LaunchTable:
    """Return the launches with their cycles, as nanoseconds, and their instructions.

    Raises
    ------
    ProfileError : no launch ran to its end; see `logged_launches`.
    """
    launches, unfinished = logged_launches(file, progress)
    if not launches:
        raise ProfileError(
            "a simulator's log in which no launch has ended", path=file.path, remedy="wait until one has"
        )
    sizes = np.array([launch.sizes for launch in launches], dtype=np.int64).T
    number = np.array([launch.number for launch in launches], dtype=np.int64)
    builder = LaunchTableBuilder(file.path, kernels)
    names = [launch.name for launch in launches]
    mangled = [name if name.startswith("_Z") else None for name in names]
    columns = LaunchColumns(
        name=kernels.names.intern(names, mangled=mangled),
        duration_ns=np.array([launch.cycles for launch in launches], dtype=np.int64),
        # A list of launches need not be in the order of the program; their numbers are.
        order=number if number.all() and len(np.unique(number)) == len(number) else None,
        grid=list(sizes[:3]),
        block=list(sizes[3:]),
    )
    builder.append(columns)
    executed = np.array([launch.instructions for launch in launches], dtype=np.float64)
    note = f"{file.path}: a cycle of the simulator counts as a nanosecond"
    if unfinished:
        note += f"; {counted(unfinished, 'launch', 'launches')} had not ended"
    made = builder.finish(
        format_name=FORMAT,
        file=ProfileFile(file.path, file.location, len(launches)),
        facts=RecordingFacts(launch_order="file", product="GPGPU-Sim or Accel-Sim"),
        metrics={"instructions": executed},
    )
    made.notes = (note,)
    return made
