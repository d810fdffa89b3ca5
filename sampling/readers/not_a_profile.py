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
_ROCM = "give the CSV of `rocprofv3 --kernel-trace --output-format csv` or of `rocprof --timestamp on`"
_PLAN = "give the profile that it was made from; `kernelpoint open PLAN` shows it"
_NCU = "an Nsight Compute {}: features of kernels, not a profile, for ncu locks the clocks"

#: A pattern in the head (^ and $ match at lines), what the file is, what to do; the first that fits counts
_SORTS: tuple[tuple[bytes, str, str], ...] = (
    (rb"\A\Z", "an empty file", "record or export the profile again"),
    (
        rb"\ANVIDIA Tegra Profiler Report",
        "an Nsight Systems report that was not exported",
        "export it with `nsys export --type sqlite {path}` and give the .sqlite file",
    ),
    (
        rb"\A(?:\x7fELF|MZ\x90|#!|#include|#pragma|import \w|from [\w.]+ import |template ?<|__global__)",
        "a program, not its profile",
        _PROFILE,
    ),
    (rb"\ANVR\0", _NCU.format("report"), _PROFILE),
    (rb'^"?ID"?,"?Process ID"?,|^==PROF== ', _NCU.format("CSV"), _PROFILE),
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
        rb'\A[^\n]*(?:Counter_Name|KernelName.*wgr|Calls"?,"?TotalDurationNs|Start_Timestamp.*End_Timestamp)',
        "what ROCm's profilers write of counters, calls or sums: no kernel launches with their durations",
        _ROCM,
    ),
    (rb'\A\s*\{[\s\S]*"kind":\s*"plan"', "a plan written by kernelpoint, not a profile", _PLAN),
    (
        rb"^(kernel \d+ - .+#thread-blocks|Warp ID,Basic|kernel id,|kernel-\d+\S*trace|Memcpy|GPGPU-Sim )",
        "what simulators and their tracers read or write, without durations: not a profile",
        _PROFILE,
    ),
)
# A path, an assignment or a command line is no title of a column.
_TITLE = re.compile(r"(?!.*(?:--|[=@\\]))[^/]{0,60}(?:[(\[][^()\[\]]{1,20}[)\]])?")


def is_table(file: InputFile) -> bool:
    """Return whether this looks like CSV: its first lines have equally many cells, at least two."""
    lines = file.head.splitlines()[:200]
    # The head may end within the last one.
    whole = lines if file.head.endswith(b"\n") or len(lines) == 1 else lines[:-1]
    counts = {len(header_cells(line)) for line in whole[:5] if line.strip()}
    return len(counts) == 1 and counts.pop() >= 2 and not is_binary(file)


def other_sort(file: InputFile) -> tuple[str, str] | None:
    """Return what a file that is neither a table nor text is, and what to do; None for those two."""
    for head, what, remedy in _SORTS:
        if re.search(head, file.head, re.MULTILINE):
            return what, remedy
    if is_json(file):
        return "JSON, but no PyTorch trace nor anything else that is read here", _READABLE
    return ("binary data of no format that is known here", _READABLE) if is_binary(file) else None


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
