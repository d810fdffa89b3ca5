"""The sorts of files that are no profile, each with its signs, what to say and what to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sampling.readers.input_file import InputFile
from sampling.readers.nsys.csv_dialect import other_report, skipped_report
from sampling.readers.refusal_signs import (
    Sign,
    at,
    binary,
    both,
    column_names,
    csv_columns,
    json_text,
    matching,
    named,
    nsys_version,
    source_code,
    starts,
    table_of_text,
)

READABLE = (
    "give an nsys SQLite, Parquet or Arrow export, an `nsys stats` CSV, a PyTorch Kineto trace "
    "or Parquet written by `kernelpoint convert`"
)
_EXPORT = "`nsys export --type sqlite REPORT.nsys-rep`"
_LAUNCHES = (
    f"export the report with {_EXPORT}, or list its launches with "
    "`nsys stats --report cuda_gpu_trace --format csv REPORT.nsys-rep`"
)
_PROFILE = f"record the program with `nsys profile --trace cuda` and export the report with {_EXPORT}"
_KINETO = (
    "record the program with the PyTorch profiler and give its Kineto trace, or write Parquet with a row a "
    "launch and the columns name and duration_ns"
)
_UNPACK = "unpack it and give the profile in it (only gzip is read as it is)"


@dataclass(frozen=True, slots=True)
class Kind:
    """A sort of file that is no profile.

    Attributes
    ----------
    fits : whether a file is of this sort.
    sentence, remedy : what is said; {path} stands for the path as a shell takes it, {detail} for what
        ``detail`` finds in the file.
    """

    fits: Sign
    sentence: str
    remedy: str = READABLE
    detail: Callable[[InputFile], str | None] = lambda _: None


_NSIGHT = (
    Kind(
        named(".qdstrm"),
        "an unfinished Nsight Systems capture",
        "turn it into a report with `QdstrmImporter --input-file {path}`, then export that with "
        "`nsys export --type sqlite`",
    ),
    Kind(
        starts(b"NVIDIA Tegra Profiler Report"),
        "an Nsight Systems{detail} report that was not exported",
        "export it with `nsys export --type sqlite {path}` and give the .sqlite file",
        nsys_version,
    ),
    Kind(
        both(binary, named(".nsys-rep", ".qdrep")),
        "an Nsight Systems report that was not exported",
        "export it with `nsys export --type sqlite {path}` and give the .sqlite file",
    ),
    Kind(
        lambda file: file.head.startswith(b"NVR\0") or (binary(file) and named(".ncu-rep")(file)),
        "an Nsight Compute report: metrics of kernels under locked clocks, not a profile",
        f"{_PROFILE}; its metrics become features with `ncu --import {{path}} --page raw --csv`",
    ),
)

_NSYS_STATS = (
    Kind(
        lambda file: skipped_report(file.head) is not None and other_report(file.head) is None,
        "an `nsys stats` output without a report in it: '{detail}'",
        f"export the report anew with {_EXPORT} and give the .sqlite file; if it has no kernels either, "
        "record the program again with `nsys profile --trace cuda`",
        lambda file: skipped_report(file.head),
    ),
    Kind(
        lambda file: other_report(file.head) == "summary",
        "an nsys summary: it has no single launches",
        _LAUNCHES,
    ),
    Kind(
        lambda file: other_report(file.head) is not None,
        "an nsys {detail}: it has no kernel launches with their durations",
        _LAUNCHES,
        lambda file: other_report(file.head),
    ),
    Kind(
        matching(rb"^ ?\*\* .+ \(\w+\):\s*$"),
        "an `nsys stats` report printed as text, not CSV",
        "write it with `nsys stats --report cuda_gpu_trace --format csv REPORT.nsys-rep`",
    ),
    Kind(
        matching(rb"\A\s*\[\s*\{\s*\"(API )?(Start|Time)[ (]"),
        "an `nsys stats` report as JSON",
        "write it with `nsys stats --report cuda_gpu_trace --format csv REPORT.nsys-rep`",
    ),
    Kind(
        matching(rb"\A\s*\{\"(Type|data|name)\":.*(Event|NVIDIA)"),
        "an nsys JSON export",
        f"export the report with {_EXPORT} and give the .sqlite file",
    ),
)

_ROCPROF_COLUMNS = (
    ("Kernel_Name", "Start_Timestamp", "End_Timestamp"),
    ("KernelName", "gpu-id", "DispatchNs"),
    ("Index", "KernelName", "grd", "wgr"),
    ("Name", "Calls", "TotalDurationNs"),
)

_OTHER_PROFILERS = (
    Kind(
        matching(rb'^"?ID"?,"?Process ID"?,'),
        "an Nsight Compute CSV: features of kernels, not a profile, for ncu locks the clocks",
        _PROFILE,
    ),
    Kind(matching(rb"^==PROF== "), "the console output of Nsight Compute, not a profile", _PROFILE),
    Kind(
        matching(rb"^==\d+== (NVPROF is profiling|Profiling (application|result))"),
        "the output of nvprof, which this version does not read",
        _PROFILE,
    ),
    Kind(
        matching(rb'\A\s*\{\s*"rocprofiler-sdk-tool"'),
        "rocprofv3 JSON, which this version does not read",
        _KINETO,
    ),
    Kind(
        lambda file: any(csv_columns(*names)(file) for names in _ROCPROF_COLUMNS),
        "a rocprof CSV, which this version does not read",
        _KINETO,
    ),
)
_SIMULATION = (
    Kind(
        both(json_text, matching(rb'"kind":\s*"plan"'), matching(rb'"schema":')),
        "a plan written by kernelpoint, not a profile",
        "give the profile that it was made from; plans go to `kernelpoint export` and `judge`",
    ),
    Kind(
        csv_columns("kernel id", "kernel mangled name"),
        "the statistics of an Accel-Sim trace: instruction counts without durations",
        _PROFILE,
    ),
    Kind(
        matching(rb"^(kernel-\d+[\w.-]*\.traceg?\S*|MemcpyHtoD,0x)"),
        "an Accel-Sim kernel list: it has no durations",
        _PROFILE,
    ),
    Kind(
        matching(
            rb"^gpu_sim_cycle = |^GPGPU-Sim (uArch|version)|GPGPU-Sim Simulator Version|^kernel_launch_uid = "
        ),
        "the output of a simulator, not a profile",
        "give the profile that was sampled",
    ),
    Kind(
        matching(rb"^kernel \d+ - .+ - #thread-blocks \d+|^Warp ID,Basic Block Counts"),
        "NVBit output: instruction counts without durations",
        _PROFILE,
    ),
)

_CONTAINERS = (
    Kind(
        starts(b"\x89HDF\r\n\x1a\n"),
        "an HDF5 file, such as `nsys export --type hdf` writes",
        f"export the report with {_EXPORT} and give the .sqlite file",
    ),
    Kind(
        starts(b"ARROW1", b"\xff\xff\xff\xff"),
        "a single Arrow file, such as `nsys export --type arrow` writes",
        "export the report with `nsys export --type arrowdir REPORT.nsys-rep` and give the folder",
    ),
    Kind(
        starts(b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83", b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"),
        "the log that SQLite keeps beside a database, not the database",
        "give the .sqlite file beside it",
    ),
    Kind(starts(b"PK\x03\x04"), "a zip archive", _UNPACK),
    Kind(starts(b"\xfd7zXZ\0"), "xz data", _UNPACK),
    Kind(starts(b"\x28\xb5\x2f\xfd"), "zstd data", _UNPACK),
    Kind(starts(b"BZh"), "bzip2 data", _UNPACK),
    Kind(starts(b"7z\xbc\xaf\x27\x1c"), "a 7z archive", _UNPACK),
    Kind(starts(b"\x1f\x8b"), "gzip data within gzip data", "unpack it once"),
    Kind(at(257, b"ustar"), "a tar archive", _UNPACK),
    Kind(starts(b"\x7fELF", b"MZ\x90"), "a program, not its profile", _PROFILE),
    Kind(
        starts(b"\xff\xfe", b"\xfe\xff"),
        "UTF-16 text, as PowerShell writes it",
        "write it as UTF-8: give `nsys stats` the option --output in place of `>`",
    ),
)

_TEXT = (
    Kind(json_text, "JSON, but neither a PyTorch Kineto trace nor anything else that is read here"),
    Kind(
        table_of_text,
        "a CSV with the columns {detail}, which is no list of kernel launches",
        detail=column_names,
    ),
    Kind(source_code, "a program's source, not its profile", _PROFILE),
    Kind(binary, "binary data of no format that is known here"),
    Kind(lambda _: True, "text, not a profile"),
)

FILE_KINDS: tuple[Kind, ...] = (
    Kind(lambda file: not file.head, "an empty file", "record or export the profile again"),
    *_NSIGHT,
    *_CONTAINERS,
    *_NSYS_STATS,
    *_OTHER_PROFILERS,
    *_SIMULATION,
    *_TEXT,
)
