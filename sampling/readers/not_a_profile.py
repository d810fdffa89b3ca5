"""What no reader reads: what the file or folder is, why it is no profile, and what to do.

The sorts of files are tried in turn. The content decides; a suffix is only asked where the bytes say nothing.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass

from sampling.errors import ProfileError
from sampling.readers.csv_cells import header_cells
from sampling.readers.input_file import InputFile, is_binary, is_json
from sampling.readers.nsys.csv_trace import bare_names, other_report, skipped_report
from sampling.readers.tables.column_map import columns_remedy, shown_columns
from sampling.text import joined_texts

#: Whether a file has some property.
Test = Callable[[InputFile], bool]

_NSYS_VERSION = re.compile(rb"Report (\d{4})@(\d+)@(\d+)@")
_SOURCE = re.compile(
    rb"^(#!|#include|#pragma|import \w|from [\w.]+ import |def \w+\(|class \w+[:({ ]|package \w|__global__|"
    rb"template ?<|(int|void) \w+ ?\()",
    re.MULTILINE,
)
# A path, an assignment or a command line is no title of a column.
_TITLE = re.compile(r"(?!.*(?:--|[=@\\]))[^/]{0,60}(?:[(\[][^()\[\]]{1,20}[)\]])?")


def starts_with(*magics: bytes) -> Test:
    """Return the test whether a file starts with one of the byte strings."""
    return lambda file: file.head.startswith(magics)


def has_at(offset: int, magic: bytes) -> Test:
    """Return the test whether a file has a byte string at an offset."""
    return lambda file: file.head[offset : offset + len(magic)] == magic


def matches(pattern: bytes) -> Test:
    """Return the test whether a regular expression is found in the head; ^ and $ match at lines."""
    compiled = re.compile(pattern, re.MULTILINE)
    return lambda file: compiled.search(file.head) is not None


def has_suffix(*suffixes: str) -> Test:
    """Return the test whether a file's name ends with one of the suffixes, in any case of letters."""
    return lambda file: file.path.casefold().endswith(suffixes)


def all_of(*tests: Test) -> Test:
    """Return the test whether a file passes all of the tests."""
    return lambda file: all(test(file) for test in tests)


def has_columns(*columns: str) -> Test:
    """Return the test whether the first line that is not empty names these columns, units left out."""
    wanted = frozenset(columns)
    return lambda file: wanted <= bare_names(header_cells(_first_line(file)))


def is_table(file: InputFile) -> bool:
    """Return whether this looks like CSV: its first lines have equally many cells, at least two."""
    counts = {len(header_cells(line)) for line in _whole_lines(file)[:5] if line.strip()}
    # Kernels' names may read as source: "void add(int*)". A header does not.
    is_source = _SOURCE.match(_first_line(file)) is not None
    return len(counts) == 1 and counts.pop() >= 2 and not is_binary(file) and not is_source


def is_source_code(file: InputFile) -> bool:
    """Return whether this is a program's source."""
    return not is_binary(file) and _SOURCE.search(file.head) is not None


def column_names(file: InputFile) -> tuple[str, ...]:
    """Return the columns of a CSV; "?" for a cell that is no title, for it may be private."""
    cells = [cell.strip() for cell in header_cells(_first_line(file))]
    return tuple(cell if _TITLE.fullmatch(cell) else "?" for cell in cells)


def nsys_version(file: InputFile) -> str:
    """Return a space and the version of Nsight Systems that wrote a report; "" where it does not say."""
    match = _NSYS_VERSION.search(file.head[:200])
    return "" if match is None else " " + ".".join(part.decode() for part in match.groups())


def _first_line(file: InputFile) -> bytes:
    return next((line for line in _lines(file) if line.strip()), b"")


def _lines(file: InputFile) -> list[bytes]:
    return file.head.removeprefix(b"\xef\xbb\xbf").splitlines()[:200]


def _whole_lines(file: InputFile) -> list[bytes]:
    """Return the lines of the head, without a last one that the head may end within."""
    lines = _lines(file)
    return lines if file.head.endswith(b"\n") or len(lines) == 1 else lines[:-1]


_READABLE = (
    "give an nsys SQLite, Parquet or Arrow export, an `nsys stats` CSV, a PyTorch Kineto trace, what "
    "rocprofv3, rocprof or `nvprof --print-gpu-trace` wrote, or Parquet written by `kernelpoint convert`"
)
_EXPORT = "`nsys export --type sqlite REPORT.nsys-rep`"
_LAUNCHES = (
    f"export the report with {_EXPORT}, or list its launches with "
    "`nsys stats --report cuda_gpu_trace --format csv REPORT.nsys-rep`"
)
_PROFILE = f"record the program with `nsys profile --trace cuda` and export the report with {_EXPORT}"
_UNPACK = "unpack it and give the profile in it (only gzip is read as it is)"


@dataclass(frozen=True, slots=True)
class OtherFile:
    """A sort of file that is no profile.

    Attributes
    ----------
    fits : whether a file is of this sort.
    sentence, remedy : what it is and what to do, or what says it of a file; {path} stands for the path as a
        shell takes it, {detail} for what ``detail`` finds in the file.
    """

    fits: Test
    sentence: str
    remedy: str | Callable[[InputFile], str] = _READABLE
    detail: Callable[[InputFile], str | None] = lambda _: None


def is_plain_text(_: InputFile) -> bool:
    """Return True: asked last, this is what every file fits that fits no other sort."""
    return True


_NSIGHT = (
    OtherFile(
        has_suffix(".qdstrm"),
        "an unfinished Nsight Systems capture",
        "turn it into a report with `QdstrmImporter --input-file {path}`, then export that with "
        "`nsys export --type sqlite`",
    ),
    OtherFile(
        starts_with(b"NVIDIA Tegra Profiler Report"),
        "an Nsight Systems{detail} report that was not exported",
        "export it with `nsys export --type sqlite {path}` and give the .sqlite file",
        nsys_version,
    ),
    OtherFile(
        all_of(is_binary, has_suffix(".nsys-rep", ".qdrep")),
        "an Nsight Systems report that was not exported",
        "export it with `nsys export --type sqlite {path}` and give the .sqlite file",
    ),
    OtherFile(
        lambda file: file.head.startswith(b"NVR\0") or (is_binary(file) and has_suffix(".ncu-rep")(file)),
        "an Nsight Compute report: metrics of kernels under locked clocks, not a profile",
        f"{_PROFILE}; its metrics become features with `ncu --import {{path}} --page raw --csv`",
    ),
)

_NSYS_STATS = (
    OtherFile(
        lambda file: skipped_report(file.head) is not None and other_report(file.head) is None,
        "an `nsys stats` output without a report in it: '{detail}'",
        f"export the report anew with {_EXPORT} and give the .sqlite file; if it has no kernels either, "
        "record the program again with `nsys profile --trace cuda`",
        lambda file: skipped_report(file.head),
    ),
    OtherFile(
        lambda file: other_report(file.head) == "summary",
        "an nsys summary: it has no single launches",
        _LAUNCHES,
    ),
    OtherFile(
        lambda file: other_report(file.head) is not None,
        "an nsys {detail}: it has no kernel launches with their durations",
        _LAUNCHES,
        lambda file: other_report(file.head),
    ),
    OtherFile(
        matches(rb"^ ?\*\* .+ \(\w+\):\s*$"),
        "an `nsys stats` report printed as text, not CSV",
        "write it with `nsys stats --report cuda_gpu_trace --format csv REPORT.nsys-rep`",
    ),
    OtherFile(
        matches(rb"\A\s*\[\s*\{\s*\"(API )?(Start|Time)[ (]"),
        "an `nsys stats` report as JSON",
        "write it with `nsys stats --report cuda_gpu_trace --format csv REPORT.nsys-rep`",
    ),
    OtherFile(
        matches(rb"\A\s*\{\"(Type|data|name)\":.*(Event|NVIDIA)"),
        "an nsys JSON export",
        f"export the report with {_EXPORT} and give the .sqlite file",
    ),
)

_OTHER_PROFILERS = (
    OtherFile(
        matches(rb'^"?ID"?,"?Process ID"?,'),
        "an Nsight Compute CSV: features of kernels, not a profile, for ncu locks the clocks",
        _PROFILE,
    ),
    OtherFile(matches(rb"^==PROF== "), "the console output of Nsight Compute, not a profile", _PROFILE),
    OtherFile(
        matches(rb"^==\d+== (NVPROF is profiling|Profiling (application|result))"),
        "the output of nvprof without its GPU trace",
        "print the trace with `nvprof --print-gpu-trace --log-file FILE PROGRAM`",
    ),
)

_KERNEL_TRACE = "give the `*_kernel_trace.csv` that `rocprofv3 --kernel-trace --output-format csv` writes"
_ROCM = (
    OtherFile(
        has_columns("Counter_Name", "Kernel_Name"),
        "rocprofv3's counters: a row for each counter of a launch, which was slowed down to read them",
        _KERNEL_TRACE,
    ),
    OtherFile(
        has_columns("Index", "KernelName", "grd", "wgr"),
        "a rocprof CSV without times",
        "record again with `rocprof --timestamp on`, or with `rocprofv3 --kernel-trace`",
    ),
    OtherFile(
        has_columns("Name", "Calls", "TotalDurationNs"),
        "a summary of ROCm's kernels or calls: it has no single launches",
        _KERNEL_TRACE,
    ),
    OtherFile(
        has_columns("Start_Timestamp", "End_Timestamp"),
        "a ROCm trace of something other than kernels, such as API calls, markers or copies",
        _KERNEL_TRACE,
    ),
)
_SIMULATION = (
    OtherFile(
        all_of(is_json, matches(rb'"kind":\s*"plan"'), matches(rb'"schema":')),
        "a plan written by kernelpoint, not a profile",
        "give the profile that it was made from, the plan alone, or `open PROFILE --plan`; plans go to "
        "`kernelpoint export` and `judge` too",
    ),
    OtherFile(
        matches(
            rb"^kernel \d+ - .+ - #thread-blocks \d+|^Warp ID,Basic Block|^kernel id, ?kernel mangled name"
        ),
        "counts of instructions or blocks without durations: features of launches, not a profile",
        _PROFILE,
    ),
    OtherFile(
        matches(rb"^(kernel-\d+[\w.-]*\.traceg?\S*|MemcpyHtoD,0x)"),
        "an Accel-Sim kernel list: it has no durations",
        _PROFILE,
    ),
    OtherFile(
        matches(rb"^GPGPU-Sim (uArch|version)|^kernel_launch_uid = "),
        "the output of a simulator, not a profile",
        "give the profile that was sampled",
    ),
)

_CONTAINERS = (
    OtherFile(
        starts_with(b"\x89HDF\r\n\x1a\n"),
        "an HDF5 file, such as `nsys export --type hdf` writes",
        f"export the report with {_EXPORT} and give the .sqlite file",
    ),
    OtherFile(
        starts_with(b"ARROW1", b"\xff\xff\xff\xff"),
        "a single Arrow file, such as `nsys export --type arrow` writes",
        "export the report with `nsys export --type arrowdir REPORT.nsys-rep` and give the folder",
    ),
    OtherFile(
        starts_with(b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83", b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"),
        "the log that SQLite keeps beside a database, not the database",
        "give the .sqlite file beside it",
    ),
    OtherFile(starts_with(b"PK\x03\x04"), "a zip archive", _UNPACK),
    OtherFile(starts_with(b"\xfd7zXZ\0"), "xz data", _UNPACK),
    OtherFile(starts_with(b"\x28\xb5\x2f\xfd"), "zstd data", _UNPACK),
    OtherFile(starts_with(b"BZh"), "bzip2 data", _UNPACK),
    OtherFile(starts_with(b"7z\xbc\xaf\x27\x1c"), "a 7z archive", _UNPACK),
    OtherFile(starts_with(b"\x1f\x8b"), "gzip data within gzip data", "unpack it once"),
    OtherFile(has_at(257, b"ustar"), "a tar archive", _UNPACK),
    OtherFile(starts_with(b"\x7fELF", b"MZ\x90"), "a program, not its profile", _PROFILE),
    OtherFile(
        starts_with(b"\xff\xfe", b"\xfe\xff"),
        "UTF-16 text, as PowerShell writes it",
        "write it as UTF-8: give `nsys stats` the option --output in place of `>`",
    ),
)

_TEXT = (
    OtherFile(is_json, "JSON, but neither a PyTorch Kineto trace nor anything else that is read here"),
    OtherFile(
        is_table,
        "a CSV with the columns {detail}, which is no list of kernel launches known here",
        lambda file: joined_texts("; ", (_READABLE, columns_remedy(column_names(file)))),
        lambda file: shown_columns(column_names(file)),
    ),
    OtherFile(is_source_code, "a program's source, not its profile", _PROFILE),
    OtherFile(is_binary, "binary data of no format that is known here"),
    OtherFile(is_plain_text, "text, not a profile"),
)

_OTHER_FILES: tuple[OtherFile, ...] = (
    OtherFile(lambda file: not file.head, "an empty file", "record or export the profile again"),
    *_NSIGHT,
    *_CONTAINERS,
    *_NSYS_STATS,
    *_OTHER_PROFILERS,
    *_ROCM,
    *_SIMULATION,
    *_TEXT,
)


def sort_of(file: InputFile) -> OtherFile:
    """Return the first sort that a file fits."""
    return next(sort for sort in _OTHER_FILES if sort.fits(file))


def shell_path(file: InputFile) -> str:
    """Return the path as a command in a message names it."""
    return "REPORT" if file.path == "-" else shlex.quote(file.path)


def file_error(file: InputFile) -> ProfileError:
    """Return the error that says what a file is, as far as its content shows."""
    sort = sort_of(file)
    words = {"path": shell_path(file), "detail": sort.detail(file) or ""}
    remedy = sort.remedy(file) if callable(sort.remedy) else sort.remedy.format(**words)
    return ProfileError(sort.sentence.format(**words), path=file.path, remedy=remedy)


def folder_error(file: InputFile) -> ProfileError:
    """Return the error for a folder that is no export, and in which nothing is a profile."""
    with file.damage_reported():
        entries = sorted(file.location.iterdir())
    if not entries:
        return ProfileError("an empty folder", path=file.path, remedy=_READABLE)
    if any(entry.name.startswith("kernelslist") for entry in entries):
        return ProfileError(
            "a folder of Accel-Sim traces: they have no durations",
            path=file.path,
            remedy="give the profile of the program",
        )
    return ProfileError(
        "a folder in which nothing is a profile, and no nsys export: it has no table "
        "CUPTI_ACTIVITY_KIND_KERNEL as Parquet or Arrow",
        path=file.path,
        remedy=_READABLE,
    )
