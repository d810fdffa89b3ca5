"""A plan for MacSim: what its tracer records, and the kernels that its simulator runs.

The tracer reads ``SAMPLED_KERNEL_INFO``: two lines of text, then a line a stratum, ``SIZE COUNT ID...``,
up to the first empty line. The simulator reads ``kernel_config.txt``: ``nvbit``, the version of the
traces, ``-1``, then a path a kernel, of which the last two parts count, looked for beside the file. It
takes no comments, no carriage returns, and crashes on a path without ``./``.

``KernelN/trace.txt`` is the trace of launch N, counted from 0. ``kernel_names.txt`` has two lines for every
launch, traced or not: ``KernelN name: NAME`` and ``  Grid size: (x, y, z), Block size: (x, y, z), ...``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from sampling.errors import ProfileError
from sampling.plan.plan_file import PlanFile
from sampling.profile.profile import Dimensions
from sampling.simulators.exporting.choices import ExportChoices, Exported
from sampling.simulators.exporting.manifest import manifest
from sampling.simulators.exporting.readme import Handed, readme
from sampling.simulators.exporting.run_order import Part, Shard, Step, run_parts
from sampling.simulators.exporting.scripts import quoted, script, slurm, then_estimate
from sampling.simulators.kernel_identity import is_same_name, kernels_apart
from sampling.simulators.measured_run import SeenKernel
from sampling.text import counted

_NAMES = "kernel_names.txt"
_SIZES = r"\(\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*\)"
_KERNEL = re.compile(rf"^Kernel(\d+) name: (.*)\n\s*Grid size: {_SIZES}, Block size: {_SIZES}", re.MULTILINE)
_REMEDY = "trace the program that was profiled, with the script that an export without traces writes"


def check_traces(path: str, steps: Sequence[Step]) -> None:
    """Check that each launch has a trace, and that it is of the same kernel, grid and block.

    Raises
    ------
    ProfileError : one has none, is not listed, or is of another kernel.
    """
    folder = Path(path)
    if not folder.is_dir():
        raise ProfileError("no folder of traces is there", path=path, remedy="give the folder of Kernel0")
    missing = [step for step in steps if not (folder / f"Kernel{step.ordinal}" / "trace.txt").is_file()]
    if missing:
        raise ProfileError(
            f"launch {missing[0].id} would be Kernel{missing[0].ordinal}/trace.txt, which is not there; "
            f"so for {counted(len(missing), 'launch', 'launches')} in all",
            path=path,
            remedy=_REMEDY,
        )
    listed = _listed(folder / _NAMES)
    for step in sorted(steps, key=lambda each: each.ordinal) if listed else ():
        launch = step.launch
        if launch is None:
            continue
        if step.ordinal not in listed:
            raise ProfileError(f"does not list Kernel{step.ordinal}", path=folder / _NAMES, remedy=_REMEDY)
        name, grid, block = listed[step.ordinal]
        is_same = is_same_name(launch.name, name) is not False and launch.grid in {None, grid}
        if not (is_same and launch.block in {None, block}):
            planned, there = kernels_apart(launch, SeenKernel(name, grid, block))
            raise ProfileError(
                f"launch {step.id} is {planned} in the plan, and Kernel{step.ordinal} is {there}",
                path=folder / _NAMES,
                remedy=_REMEDY,
            )


def _listed(path: Path) -> dict[int, tuple[str, Dimensions, Dimensions]]:
    """Return name, grid and block of each launch; nothing where there is no such file."""
    if not path.is_file():
        return {}
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise ProfileError(f"cannot be read ({error.strerror})", path=path, remedy=_REMEDY) from error
    listed = {}
    for found in _KERNEL.finditer(text):
        sizes = [int(size) for size in found.groups()[2:]]
        listed[int(found[1])] = (
            found[2].strip(),
            (sizes[0], sizes[1], sizes[2]),
            (sizes[3], sizes[4], sizes[5]),
        )
    return listed


TAKES = frozenset({"shards", "apart", "traces", "caches", "cold_check"})
NOTE = (
    "KernelN counts the launches of a process, which has one device, from 0: N is the ordinal, which is the "
    "id where the profile has one process. run.sh and kernel_config.txt were run against MacSim "
    "(63a7d8b); sampled_kernels_info.txt is written from the tool's grammar, not run against it"
)

_TRACE_VERSION = 14
_HEAD = f"nvbit\n{_TRACE_VERSION}\n-1\n"

_README = """\
run.sh simulates the kernels of {config}. Set MACSIM to the simulator, PARAMS to its params.in, and
TRACES to the folder with Kernel0, Kernel1, ... where it lies elsewhere.
    MACSIM=... PARAMS=... sh run.sh
The simulator runs the kernels in the order of the file, which is not that of the program: a run that is
stopped has simulated what says most about the total. The cycles that it prints go on from kernel to kernel.

trace.sh PROGRAM [ARGUMENT...] records these launches alone, with the tracer in TRACER (main.so) and, where
it wants one, COMPRESSOR_PATH, to TRACES, else to traces/ here. kernel_names.txt there lists all launches:
compare its names and sizes with manifest.csv. Older tracers miss launches of cuLaunchKernelEx, and all miss
cooperative ones and those of CUDA graphs, so that the numbers may differ from the profile's.
sampled_kernels_info.txt has a line a stratum: its size, how many of it are drawn, and which. Warm-ups stand
in a line of size 0.
"""

_RUN = """\
traces=${{TRACES:-{traces}}}
traces=$(absolute "$traces")
config=$here/{config}
simulator=${{MACSIM:?set it to the simulator}}
case $simulator in */*) simulator=$(absolute "$simulator") ;; esac
params=$(absolute "${{PARAMS:?set it to the params.in to simulate}}")
mkdir -p -- "$here/run{suffix}"
cd -- "$here/run{suffix}"
while IFS= read -r line; do
  case $line in ./*/trace.txt) ;; *) continue ;; esac
  name=${{line#./}}
  name=${{name%/trace.txt}}
  if [ -e "$name/trace.txt" ]; then continue; fi
  if [ ! -e "$traces/$name/trace.txt" ]; then
    fail "$name is not in $traces; set TRACES to the folder of the traces"
  fi
  ln -s -- "$traces/$name" "$name"
done < "$config"
cp -- "$config" kernel_config.txt
cp -- "$params" params.in
printf '1\\n%s\\n' ./kernel_config.txt > trace_file_list
"$simulator" > run.log 2>&1 || fail "the simulator failed; see $PWD/run.log"
"""

_TRACE = """\
tracer=$(absolute "${TRACER:?set it to the main.so of Macsim_tracer}")
traces=$(absolute "${TRACES:-$here/traces}")
case $here$traces in *[[:space:]]*) fail "the tracer takes no path with a blank" ;; esac
mkdir -p -- "$traces"
export SAMPLED_KERNEL_INFO="$here/sampled_kernels_info.txt" TRACE_PATH="$traces"
CUDA_INJECTION64_PATH=$tracer "$@"
printf '%s\\n' "$traces"
"""


def export(plan: PlanFile, choices: ExportChoices) -> Exported:
    """Return what the tracer and the simulator read of each process and device, scripts and manifest.

    Raises
    ------
    ProfileError : the traces are not those of the plan's launches.
    OptionError : there are more shards than launches.
    """
    choices = choices.without_filling("MacSim")
    files: list[tuple[str, str]] = []
    parts = run_parts(plan, choices)
    for part in parts:
        where = '"$here"'
        if choices.traces is not None:
            folder = Path(choices.traces) / part.folder
            check_traces(str(folder), part.steps)
            where = quoted(folder.absolute())
        for number, shard in enumerate(part.shards):
            suffix = part.suffix(number)
            name = f"kernel_config{suffix}.txt"
            comment = [f"Simulates the {len(shard)} kernels of {name}, in its order."]
            body = _RUN.format(traces=where, config=name, suffix=suffix)
            files += [
                (f"{part.folder}{name}", kernel_config(shard)),
                (f"{part.folder}run{suffix}.sh", script(comment, body + then_estimate(part))),
            ]
        names = {step.ordinal: f"Kernel{step.ordinal}" for step in part.steps}
        comment = [f"Traces {len(names)} launches: sh trace.sh PROGRAM [ARGUMENT...]"]
        files += [
            (f"{part.folder}sampled_kernels_info.txt", sampled_kernels_info(plan, part)),
            (f"{part.folder}trace.sh", script(comment, _TRACE, takes_program=True)),
            manifest(part, names, choices.caches or ""),
            *slurm(part),
        ]
    text = _README.format(
        config="kernel_config.txt" if all(len(part.shards) == 1 for part in parts) else "kernel_config-N.txt"
    )
    return (
        *files,
        readme("MacSim", NOTE, text, Handed(plan, parts, choices), uses_nvbit=True, is_estimated=True),
    )


def kernel_config(shard: Shard) -> str:
    """Return the kernels that the simulator runs, in its grammar."""
    return _HEAD + "".join(f"./Kernel{step.ordinal}/trace.txt\n" for step in shard)


def sampled_kernels_info(plan: PlanFile, part: Part) -> str:
    """Return the launches that the tracer records, in its grammar: a line a stratum with its size."""
    # What is checked is recorded once, and may run before another that is.
    steps = {step.ordinal: step for step in sorted(part.steps, key=lambda each: each.launch is not None)}
    drawn = sum(step.launch is not None for step in steps.values())
    lines = [
        f"KernelPoint: {drawn} drawn launches of process {part.process}, device {part.device}.",
        f"Method {plan.options['method']}, epsilon {plan.options['epsilon']}.",
    ]
    sizes = [stratum.size for stratum in plan.strata]
    # What runs for the caches alone, of no stratum, stands last.
    numbers: list[list[int]] = [[] for _ in (*sizes, 0)]
    for _, step in sorted(steps.items()):
        numbers[len(sizes) if step.stratum is None else step.stratum].append(step.ordinal)
    lines += [
        " ".join(map(str, (size, len(each), *each)))
        for size, each in zip((*sizes, 0), numbers, strict=True)
        if each
    ]
    return "\n".join(lines) + "\n"
