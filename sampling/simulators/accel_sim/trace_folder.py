"""A folder of traces as Accel-Sim's tracer wrote it: which files are which launches, and are they the plan's?

``kernelslist.g`` names one trace a line, in launch order, with ``MemcpyHtoD,ADDRESS,BYTES`` lines between
them. A trace is ``kernel-N.traceg``, of newer tracers ``kernel-N-ctx_0x....traceg``, N counted from 1;
``.xz`` may follow. Its head says which kernel it is of.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from sampling.errors import ProfileError
from sampling.simulators.accel_sim.trace_head import sizes_of, trace_file, trace_head
from sampling.simulators.exporting.run_order import LOADS_FROM, Step
from sampling.simulators.kernel_identity import is_same_name, kernels_apart
from sampling.simulators.measured_run import SeenKernel
from sampling.text import counted

LIST = "kernelslist.g"
_TRACE = re.compile(r"kernel-(\d{1,18})(?:-ctx_(0x[0-9a-fA-F]+))?\.trace(?:g|z)(?:\.xz)?")
_COPY = "Memcpy"
_REMEDY = "trace the program that was profiled, with the script that an export without traces writes"


@dataclass(frozen=True, slots=True)
class TraceFolder:
    """The traces of one context.

    Attributes
    ----------
    files : name of each trace as a list has it, by its number.
    copies : the lines of the copies that stand in the list between a trace and the one before it, by its
        number.
    aligned : the number of each launch that the tracer did not skip, by ordinal; None: ordinal + 1.
    """

    path: str
    files: Mapping[int, str]
    copies: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    aligned: Mapping[int, int] | None = None

    def number(self, ordinal: int) -> int:
        """Return the tracer's number of a launch; -1 where the tracer skipped it."""
        if self.aligned is None or ordinal >= LOADS_FROM:
            return ordinal + 1
        return self.aligned.get(ordinal, -1)

    def file(self, number: int) -> Path:
        """Return the file of a trace.

        Raises
        ------
        ProfileError : it is not there.
        """
        found = trace_file(Path(self.path), self.files[number])
        if found is None:
            raise ProfileError(
                f"{LIST} names {self.files[number]}, which is not there", path=self.path, remedy=_REMEDY
            )
        return found


def traces_for(path: str, steps: Sequence[Step], aligned: Mapping[int, int] | None = None) -> TraceFolder:
    """Return the traces of a folder that are of some launches.

    Parameters
    ----------
    aligned : the tracer's number of each launch, by ordinal; None: the k-th launch is number k + 1.

    Raises
    ------
    ProfileError : there are no traces, one of a launch is missing or is of another kernel, or the folder has
        the traces of several contexts and those of more than one fit, or of none.
    """
    contexts = {name: replace(each, aligned=aligned) for name, each in _contexts(path).items()}
    if len(contexts) == 1:
        (folder,) = contexts.values()
        check_traces(folder, steps)
        return folder
    fitting, reasons = [], []
    for folder in contexts.values():
        try:
            check_traces(folder, steps)
        except ProfileError as error:
            reasons.append(error)
        else:
            fitting.append(folder)
    if len(fitting) == 1:
        return fitting[0]
    if not fitting:
        raise reasons[0]
    raise ProfileError(
        f"has traces of {len(contexts)} contexts, and the plan's launches could be those of {len(fitting)}",
        path=path,
        remedy="give a folder with the traces of one",
    )


def check_traces(folder: TraceFolder, steps: Sequence[Step]) -> None:
    """Check that each launch has a trace, and that it is of the same kernel, grid and block.

    Raises
    ------
    ProfileError : one has none, or is of another kernel.
    """
    steps = [step for step in steps if step.ordinal < LOADS_FROM]
    missing = [step for step in steps if folder.number(step.ordinal) not in folder.files]
    if missing:
        first, last = min(folder.files), max(folder.files)
        name = f"would be kernel-{missing[0].ordinal + 1}, which"
        name = "was skipped by the tracer and" if folder.aligned else name
        raise ProfileError(
            f"launch {missing[0].id} {name} is not among the "
            f"{counted(len(folder.files), 'trace')} from kernel-{first} to kernel-{last}; so for "
            f"{counted(len(missing), 'launch', 'launches')} in all",
            path=folder.path,
            remedy=_REMEDY,
        )
    for step in sorted(steps, key=lambda each: each.ordinal):
        if step.launch is None:
            continue
        at = folder.number(step.ordinal)
        name = folder.files[at]
        head = trace_head(folder.file(at))
        grid, block = sizes_of(head.get("grid dim")), sizes_of(head.get("block dim"))
        kernel, number = head.get("kernel name", ""), str(at)
        number_there = head.get("kernel id", number)
        is_same = (
            is_same_name(step.launch.name, kernel) is not False
            and step.launch.grid in {None, grid}
            and step.launch.block in {None, block}
            and number_there == number
        )
        if head and not is_same:
            planned, there = kernels_apart(step.launch, SeenKernel(kernel, grid, block))
            if number_there != number:
                planned, there = f"kernel id {number}, {planned},", f"kernel id {number_there}, {there}"
            raise ProfileError(
                f"launch {step.id} is {planned} in the plan, and {name} is of {there}",
                path=folder.path,
                remedy=_REMEDY,
            )


def _contexts(path: str) -> dict[str, TraceFolder]:
    """Return the traces of each context of a folder, by the context's address; "" where files name none."""
    folder = Path(path)
    if not folder.is_dir():
        raise ProfileError(
            "no folder of traces is there", path=path, remedy="give the folder of kernelslist.g"
        )
    # A list of a part of the traces may be there; the others are taken from their files.
    lines = [*_list_lines(folder), "", *_file_names(folder)]
    files: defaultdict[str, dict[int, str]] = defaultdict(dict)
    copies: defaultdict[str, dict[int, tuple[str, ...]]] = defaultdict(dict)
    waiting: list[str] = []
    for line in lines:
        if line.startswith(_COPY):
            waiting.append(line)
        elif not line:
            waiting = []
        elif found := _TRACE.fullmatch(line):
            number, context = int(found[1]), found[2] or ""
            files[context].setdefault(number, line)
            if waiting:
                copies[context][number], waiting = tuple(waiting), []
    if not files:
        raise ProfileError(
            f"has no {LIST} and no kernel-N.traceg",
            path=path,
            remedy="give the folder of traces that post-traces-processing has made ready",
        )
    return {context: TraceFolder(path, files[context], copies[context]) for context in files}


def _list_lines(folder: Path) -> list[str]:
    try:
        text = (folder / LIST).read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return []
    except OSError as error:
        raise ProfileError(
            f"cannot be read ({error.strerror})", path=folder / LIST, remedy="give a folder that can be read"
        ) from error
    return [line.strip() for line in text.split("\n") if line.strip()]


def _file_names(folder: Path) -> list[str]:
    return sorted(file.name.removesuffix(".gz") for file in folder.iterdir())
