"""What no reader reads: what the file or folder is, why it is no profile, and what to do.

The sorts of files are tried in turn. The content decides; a suffix is only asked where the bytes say nothing.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from typing import NamedTuple

from sampling.errors import ProfileError
from sampling.readers.columns import columns_remedy, shown_columns
from sampling.readers.input_file import InputFile, is_binary, is_json
from sampling.readers.nsys_csv import bare_names, other_report, skipped_report
from sampling.readers.table import header_cells
from sampling.text import joined_texts

_SOURCE = re.compile(
    rb"^(#!|#include|#pragma|import \w|from [\w.]+ import |def \w+\(|class \w+[:({ ]|package \w|__global__|"
    rb"template ?<|(int|void) \w+ ?\()",
    re.MULTILINE,
)
# A path, an assignment or a command line is no title of a column.
_TITLE = re.compile(r"(?!.*(?:--|[=@\\]))[^/]{0,60}(?:[(\[][^()\[\]]{1,20}[)\]])?")

_READABLE = (
    "give an nsys SQLite, Parquet or Arrow export, an `nsys stats` CSV, a PyTorch Kineto trace, what "
    "rocprofv3, rocprof or `nvprof --print-gpu-trace` wrote, or Parquet written by `kernelpoint convert`"
)
_EXPORT = "`nsys export --type sqlite REPORT.nsys-rep`"
_LIST = "`nsys stats --report cuda_gpu_trace --format csv REPORT.nsys-rep`"
_PROFILE = f"record the program with `nsys profile --trace cuda` and export the report with {_EXPORT}"
_ROCM = (
    "give the `*_kernel_trace.csv` that `rocprofv3 --kernel-trace --output-format csv` writes, or what "
    "`rocprof --timestamp on` does"
)

Test = Callable[[InputFile], bool]


class OtherFile(NamedTuple):
    """A sort of file that is no profile."""

    fits: Test  #: whether a file is of this sort
    sentence: str | Callable[[InputFile], str]  #: what it is, or what says so of a file
    remedy: str | Callable[[InputFile], str] = _READABLE  #: what to do, {path} as a shell takes it


def _head(pattern: bytes) -> Test:
    """Return the test for a pattern in a file's head; ^ and $ match at lines."""
    compiled = re.compile(pattern, re.MULTILINE)
    return lambda file: compiled.search(file.head) is not None


def _columns(*several: str) -> Test:
    """Return the test for the columns in any of some lists, units left out, in the first line."""
    wanted = [frozenset(names.split()) for names in several]
    return lambda file: any(names <= bare_names(header_cells(_first_line(file))) for names in wanted)


def _named(*suffixes: str) -> Test:
    return lambda file: is_binary(file) and file.path.casefold().endswith(suffixes)


def is_table(file: InputFile) -> bool:
    """Return whether this looks like CSV: its first lines have equally many cells, at least two."""
    lines = _lines(file)
    # The head may end within the last one.
    whole = lines if file.head.endswith(b"\n") or len(lines) == 1 else lines[:-1]
    counts = {len(header_cells(line)) for line in whole[:5] if line.strip()}
    # Kernels' names may read as source: "void add(int*)". A header does not.
    is_source = _SOURCE.match(_first_line(file)) is not None
    return len(counts) == 1 and counts.pop() >= 2 and not is_binary(file) and not is_source


def is_plain_text(_: InputFile) -> bool:
    """Return True: asked last, this is what every file fits that fits no other sort."""
    return True


def _column_names(file: InputFile) -> tuple[str, ...]:
    """Return the columns of a CSV; "?" for a cell that is no title, for it may be private."""
    cells = [cell.strip() for cell in header_cells(_first_line(file))]
    return tuple(cell if _TITLE.fullmatch(cell) else "?" for cell in cells)


def _first_line(file: InputFile) -> bytes:
    return next((line for line in _lines(file) if line.strip()), b"")


def _lines(file: InputFile) -> list[bytes]:
    return file.head.removeprefix(b"\xef\xbb\xbf").splitlines()[:200]


_OTHER_FILES: tuple[OtherFile, ...] = (
    OtherFile(lambda file: not file.head, "an empty file", "record or export the profile again"),
    OtherFile(
        lambda file: file.path.casefold().endswith(".qdstrm"),
        "an unfinished Nsight Systems capture",
        f"turn it into a report with `QdstrmImporter --input-file {{path}}` and export that with {_EXPORT}",
    ),
    OtherFile(
        lambda file: (
            file.head.startswith(b"NVIDIA Tegra Profiler Report") or _named(".nsys-rep", ".qdrep")(file)
        ),
        "an Nsight Systems report that was not exported",
        "export it with `nsys export --type sqlite {path}` and give the .sqlite file",
    ),
    OtherFile(
        lambda file: file.head.startswith(b"NVR\0") or _named(".ncu-rep")(file),
        "an Nsight Compute report: metrics of kernels under locked clocks, not a profile",
        f"{_PROFILE}; its metrics become features with `ncu --import {{path}} --page raw --csv`",
    ),
    OtherFile(
        _head(
            rb"\A(?:\x89HDF\r\n\x1a\n|ARROW1|\xff\xff\xff\xff)|\A\s*\{\"(Type|data|name)\":.*(Event|NVIDIA)"
        ),
        "a single HDF5, Arrow or JSON file, such as `nsys export` writes",
        f"export the report with {_EXPORT} and give the .sqlite file",
    ),
    OtherFile(
        _head(
            rb"\A(?:PK\x03\x04|\xfd7zXZ\0|\x28\xb5\x2f\xfd|BZh|7z\xbc\xaf\x27\x1c|\x1f\x8b|[\s\S]{257}ustar)"
        ),
        "an archive or packed data: only gzip is read as it is",
        "unpack it and give the profile in it",
    ),
    OtherFile(
        _head(rb"\A(?:\xff\xfe|\xfe\xff)"),
        "UTF-16 text, as PowerShell writes it",
        "write it as UTF-8: give `nsys stats` the option --output in place of `>`",
    ),
    OtherFile(
        lambda file: skipped_report(file.head) is not None and other_report(file.head) is None,
        lambda file: f"an `nsys stats` output without a report in it: '{skipped_report(file.head)}'",
        _PROFILE,
    ),
    OtherFile(
        lambda file: other_report(file.head) is not None,
        lambda file: f"an nsys {other_report(file.head)}: it has no kernel launches with their durations",
        f"export the report with {_EXPORT}, or list its launches with {_LIST}",
    ),
    OtherFile(
        _head(rb"^ ?\*\* .+ \(\w+\):\s*$|\A\s*\[\s*\{\s*\"(API )?(Start|Time)[ (]"),
        "an `nsys stats` report printed as text or JSON, not CSV",
        f"write it with {_LIST}",
    ),
    OtherFile(
        _head(rb'^"?ID"?,"?Process ID"?,|^==PROF== '),
        "an Nsight Compute CSV or log: features of kernels, not a profile, for ncu locks the clocks",
        _PROFILE,
    ),
    OtherFile(
        _head(rb"^==\d+== (NVPROF is profiling|Profiling (application|result))"),
        "the output of nvprof without its GPU trace",
        "print the trace with `nvprof --print-gpu-trace --log-file FILE PROGRAM`",
    ),
    OtherFile(
        _columns(
            "Counter_Name Kernel_Name",
            "Index KernelName grd wgr",
            "Name Calls TotalDurationNs",
            "Start_Timestamp End_Timestamp",
        ),
        "what ROCm's profilers write of counters, calls or sums: no kernel launches with their durations",
        _ROCM,
    ),
    OtherFile(
        lambda file: is_json(file) and _head(rb'"kind":\s*"plan"')(file) and b'"schema":' in file.head,
        "a plan written by kernelpoint, not a profile",
        "give the profile that it was made from, the plan alone, or `open PROFILE --plan`; plans go to "
        "`kernelpoint export` and `judge` too",
    ),
    OtherFile(
        _head(
            rb"^kernel \d+ - .+ - #thread-blocks \d+|^Warp ID,Basic Block|^kernel id, ?kernel mangled name"
        ),
        "counts of instructions or blocks without durations: features of launches, not a profile",
        _PROFILE,
    ),
    OtherFile(
        _head(
            rb"^(kernel-\d+[\w.-]*\.traceg?\S*|MemcpyHtoD,0x|GPGPU-Sim (uArch|version)|kernel_launch_uid = )"
        ),
        "what a simulator reads or prints, not a profile",
        _PROFILE,
    ),
    OtherFile(is_json, "JSON, but neither a PyTorch Kineto trace nor anything else that is read here"),
    OtherFile(
        is_table,
        lambda file: f"a CSV with the columns {shown_columns(_column_names(file))}: no launches known here",
        lambda file: joined_texts("; ", (_READABLE, columns_remedy(_column_names(file)))),
    ),
    OtherFile(
        lambda file: (
            _head(rb"\A(?:\x7fELF|MZ\x90)")(file) or bool(not is_binary(file) and _SOURCE.search(file.head))
        ),
        "a program, not its profile",
        _PROFILE,
    ),
    OtherFile(is_binary, "binary data of no format that is known here"),
    OtherFile(is_plain_text, "text, not a profile"),
)


def sort_of(file: InputFile) -> OtherFile:
    """Return the first sort that a file fits."""
    return next(sort for sort in _OTHER_FILES if sort.fits(file))


def file_error(file: InputFile) -> ProfileError:
    """Return the error that says what a file is, as far as its content shows."""
    _, sentence, remedy = sort_of(file)
    path = "REPORT" if file.path == "-" else shlex.quote(file.path)
    return ProfileError(
        sentence if isinstance(sentence, str) else sentence(file),
        path=file.path,
        remedy=remedy.format(path=path) if isinstance(remedy, str) else remedy(file),
    )


def folder_error(file: InputFile) -> ProfileError:
    """Return the error for a folder that is no export, and in which nothing is a profile."""
    what = (
        "a folder in which nothing is a profile, and no nsys export: it has no table "
        "CUPTI_ACTIVITY_KIND_KERNEL as Parquet or Arrow"
    )
    return ProfileError(what, path=file.path, remedy=_READABLE)
