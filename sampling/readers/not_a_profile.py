"""What no reader reads: what the file or folder is by its content, why it is no profile, and what to do."""

from __future__ import annotations

import re
import shlex

from sampling.errors import ProfileError
from sampling.readers.columns import columns_remedy, shown_columns
from sampling.readers.input_file import InputFile, is_binary, is_json
from sampling.readers.nsys_csv import OTHER_REPORT, SKIPPED_REPORT
from sampling.readers.table import first_line, header_cells
from sampling.text import joined_texts

_READABLE = (
    "give an nsys SQLite, Parquet or Arrow export, an `nsys stats` CSV, a PyTorch Kineto trace, what "
    "rocprofv3, rocprof or `nvprof --print-gpu-trace` wrote, or Parquet written by `kernelpoint convert`"
)
_EXPORT = "export the report with `nsys export --type sqlite REPORT.nsys-rep`"
_LIST = "`nsys stats --report cuda_gpu_trace --format csv REPORT.nsys-rep`"
_PROFILE = f"record the program with `nsys profile --trace cuda` and {_EXPORT}"
_ROCM = (
    "give the `*_kernel_trace.csv` that `rocprofv3 --kernel-trace --output-format csv` writes, or what "
    "`rocprof --timestamp on` does"
)
_PLAN = "give the profile that it was made from, the plan alone, or `open PROFILE --plan`"

#: A pattern in the head (^ and $ match at lines), what the file is, what to do; the first that fits counts
_SORTS: tuple[tuple[bytes, str, str], ...] = (
    (rb"\A\Z", "an empty file", "record or export the profile again"),
    (
        rb"\ANVIDIA Tegra Profiler Report",
        "an Nsight Systems report that was not exported",
        "export it with `nsys export --type sqlite {path}` and give the .sqlite file",
    ),
    (
        rb"\ANVR\0",
        "an Nsight Compute report: metrics of kernels under locked clocks, not a profile",
        _PROFILE,
    ),
    (
        rb"\A(?:\x89HDF\r\n\x1a\n|ARROW1|\xff\xff\xff\xff)|\A\s*\{\"(Type|data|name)\":.*(Event|NVIDIA)",
        "a single HDF5, Arrow or JSON file, such as `nsys export` writes",
        _EXPORT,
    ),
    (
        rb"\A(?:PK\x03\x04|\xfd7zXZ\0|\x28\xb5\x2f\xfd|BZh|7z\xbc\xaf\x27\x1c|\x1f\x8b|[\s\S]{257}ustar)",
        "an archive or packed data: only gzip is read as it is",
        "unpack it and give the profile in it",
    ),
    (rb"\A(?:\xff\xfe|\xfe\xff)", "UTF-16 text", "write it as UTF-8: `nsys stats --output` in place of `>`"),
    (
        rb"^ ?\*\* .+ \(\w+\):\s*$|\A\s*\[\s*\{\s*\"(API )?(Start|Time)[ (]",
        "an `nsys stats` report printed as text or JSON, not CSV",
        f"write it with {_LIST}",
    ),
    (
        OTHER_REPORT,
        "an nsys report of something other than kernel launches",
        f"{_EXPORT}, or list its launches with {_LIST}",
    ),
    (SKIPPED_REPORT, "an `nsys stats` output without a report in it: it says what it skipped", _PROFILE),
    (
        rb'^"?ID"?,"?Process ID"?,|^==PROF== ',
        "an Nsight Compute CSV: features of kernels, not a profile, for ncu locks the clocks",
        _PROFILE,
    ),
    (
        rb"^==\d+== (NVPROF is profiling|Profiling (application|result))",
        "the output of nvprof without its GPU trace",
        "print the trace with `nvprof --print-gpu-trace --log-file FILE PROGRAM`",
    ),
    (
        rb'\A[^\n]*(?:Counter_Name|KernelName.*wgr|Calls"?,"?TotalDurationNs|Start_Timestamp.*End_Timestamp)',
        "what ROCm's profilers write of counters, calls or sums: no kernel launches with their durations",
        _ROCM,
    ),
    (rb'\A\s*\{[\s\S]*"kind":\s*"plan"', "a plan written by kernelpoint, not a profile", _PLAN),
    (
        rb"^kernel \d+ - .+ - #thread-blocks \d+|^Warp ID,Basic Block|^kernel id, ?kernel mangled name",
        "counts of instructions or blocks without durations: features of launches, not a profile",
        _PROFILE,
    ),
    (
        rb"^(kernel-\d+[\w.-]*\.traceg?\S*|MemcpyHtoD,0x|GPGPU-Sim (uArch|version)|kernel_launch_uid = )",
        "what a simulator reads or prints, not a profile",
        _PROFILE,
    ),
)
_PROGRAM = re.compile(
    rb"\A(?:\x7fELF|MZ\x90)|^(#!|#include|#pragma|import \w|from [\w.]+ import |def \w+\(|class \w+[:({ ]|"
    rb"package \w|__global__|template ?<|(int|void) \w+ ?\()",
    re.MULTILINE,
)
# A path, an assignment or a command line is no title of a column.
_TITLE = re.compile(r"(?!.*(?:--|[=@\\]))[^/]{0,60}(?:[(\[][^()\[\]]{1,20}[)\]])?")


def is_table(file: InputFile) -> bool:
    """Return whether this looks like CSV: its first lines have equally many cells, at least two."""
    lines = file.head.splitlines()[:200]
    # The head may end within the last one.
    whole = lines if file.head.endswith(b"\n") or len(lines) == 1 else lines[:-1]
    counts = {len(header_cells(line)) for line in whole[:5] if line.strip()}
    # Kernels' names may read as source: "void add(int*)". A header does not.
    return len(counts) == 1 and counts.pop() >= 2 and not is_binary(file) and not _PROGRAM.match(file.head)


def other_sort(file: InputFile) -> tuple[str, str] | None:
    """Return what a file that is neither a table nor text is, and what to do; None for those two."""
    is_program = not is_table(file) and _PROGRAM.search(file.head)
    sorts: tuple[tuple[object, str, str], ...] = (
        *((re.search(head, file.head, re.MULTILINE), what, remedy) for head, what, remedy in _SORTS),
        (is_json(file), "JSON, but no PyTorch trace nor anything else that is read here", _READABLE),
        (is_program, "a program, not its profile", _PROFILE),
        (is_binary(file), "binary data of no format that is known here", _READABLE),
    )
    return next(((what, remedy) for fits, what, remedy in sorts if fits), None)


def file_error(file: InputFile) -> ProfileError:
    """Return the error that says what a file is, as far as its content shows."""
    found = other_sort(file)
    if found is not None:
        path = "REPORT" if file.path == "-" else shlex.quote(file.path)
        return ProfileError(found[0], path=file.path, remedy=found[1].replace("{path}", path))
    if not is_table(file):
        return ProfileError("text, not a profile", path=file.path, remedy=_READABLE)
    cells = [cell.strip() for cell in header_cells(first_line(file.head))]
    # What is no title may be private.
    columns = [cell if _TITLE.fullmatch(cell) else "?" for cell in cells]
    what = f"a CSV with the columns {shown_columns(columns)}: no launches known here"
    return ProfileError(what, path=file.path, remedy=joined_texts("; ", (_READABLE, columns_remedy(columns))))


def folder_error(file: InputFile) -> ProfileError:
    """Return the error for a folder that is no export, and in which nothing is a profile."""
    what = (
        "a folder in which nothing is a profile, and no nsys export: it has no table "
        "CUPTI_ACTIVITY_KIND_KERNEL as Parquet or Arrow"
    )
    return ProfileError(what, path=file.path, remedy=_READABLE)
