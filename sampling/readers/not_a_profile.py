"""What no reader reads: what the file or folder is by its content, why it is no profile, and what to do."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace

from sampling.errors import ProfileError
from sampling.readers.columns import columns_remedy, shown_columns
from sampling.readers.input_file import HEAD_BYTES, InputFile, is_binary, is_json
from sampling.readers.nsys_csv import OTHER_REPORT, SKIPPED_REPORT
from sampling.readers.other_traces import TORCH_PROFILER, describe_trace, is_trace
from sampling.readers.table import header_cells, separated_header
from sampling.text import joined_texts

_READABLE = (
    "give an nsys SQLite, Parquet or Arrow export, an `nsys stats` CSV, a trace of PyTorch (Kineto), JAX, "
    "TensorFlow, Proton, ONNX Runtime or unitrace, what rocprofv3, rocprof or `nvprof --print-gpu-trace` "
    "wrote, or Parquet written by `kernelpoint convert`"
)
_EXPORT = "export the report with `nsys export --type sqlite REPORT.nsys-rep`"
_LIST = "`nsys stats --report cuda_gpu_trace --format csv REPORT.nsys-rep`"
_PROFILE = f"record the program with `nsys profile --trace cuda` and {_EXPORT}"
_ROCM = "give the CSV of `rocprofv3 --kernel-trace --output-format csv` or of `rocprof --timestamp on`"
_ROCPROFV3 = "record the program with `rocprofv3 --kernel-trace --output-format csv -- PROGRAM`"
_XSPACE = (
    "give the .trace.json.gz beside it; where there is none, `pip install xprof` and make it: "
    '`python -c "import sys; from xprof.convert import raw_to_tool_data as xprof; '
    "text = xprof.xspace_to_tool_data(sys.argv[1:], 'trace_viewer', {})[0]; "
    "open('trace.json', 'wb').write(text if isinstance(text, bytes) else text.encode())\" {path}`"
)
_PLAN = "give the profile that it was made from; `kernelpoint open PLAN` shows it"
_BASELINE = "give the recording; `kernelpoint difference BASELINE PROFILE` compares with it"
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
    (rb"\A\x89HDF\r\n\x1a\n", "an HDF5 file, as `nsys export --type hdf` writes", _EXPORT),
    (
        rb"\A\n[\x80-\xff]{0,4}[\0-\x7f](?:\x08[\x80-\xff]*[\0-\x7f])?\x12[\s\S](?:/|Task Env)",
        "an XSpace (xplane.pb) of JAX or TensorFlow: its kernels are read from the trace that is made of it",
        _XSPACE,
    ),
    (
        rb'\A[\x80-\xff]{0,4}[\0-\x7f]\n[\x03-\x0e][0-9]+\.[0-9]+\.|"schema"\s*:\s*"[^"]*chakra|"name"\s*:\s*"\[pytorch\|profiler\|execution_',
        "an execution trace (Chakra): operators of the host, without kernels' durations",
        TORCH_PROFILER,
    ),
    (
        rb'\A\s*\[\s*\{\s*"(?:children|frame|metrics)"\s*:\s*[\[{]',
        "sums over calls in Hatchet's format, as Triton's profiler Proton writes: no launch has its own time",
        'record each launch: `proton.start(NAME, data="trace")`',
    ),
    (
        rb'\A(?:\xef\xbb\xbf)?\s*\{(?:[^\n]*\}\r?\n\{|"Type":\s*\d)',
        "JSON lines, an object a line, as `nsys export --type jsonlines` writes",
        _EXPORT,
    ),
    (
        rb"\A[\s,]*where,\s*what,\s*value",
        "MGPUSim's metrics: what a simulator counted in all, not the launches of a program",
        _ROCPROFV3,
    ),
    (
        rb"^-+ Begin Simulation Statistics -+",
        "gem5's statistics: what a simulator counted in all, not the launches of a program",
        _ROCPROFV3,
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
    (rb'\A\s*\{[\s\S]*"kind":\s*"baseline"', "a baseline: sums over launches, not a profile", _BASELINE),
    (
        rb"^(kernel \d+ - .+#thread-blocks|Warp ID,Basic|kernel id,|kernel-\d+\S*trace|Memcpy|GPGPU-Sim )",
        "what simulators and their tracers read or write, without durations: not a profile",
        _PROFILE,
    ),
)
# How each packet of a Perfetto trace begins.
_FIRST_FIELD = 0x0A
# A path, an assignment or a command line is no title of a column.
_TITLE = re.compile(r"(?!.*(?:--|[=@\\]))[^/]{0,60}(?:[(\[][^()\[\]]{1,20}[)\]])?")


def is_table(file: InputFile) -> bool:
    """Return whether this looks like CSV: its first lines have equally many cells, at least two."""
    lines = file.head.splitlines()[:200]
    # The head may end within the last one.
    complete = lines if file.head.endswith(b"\n") or len(lines) == 1 else lines[:-1]
    separator = separated_header(file.head, ())[1]
    counts = {len(header_cells(line, separator)) for line in complete[:5] if line.strip()}
    return len(counts) == 1 and counts.pop() >= 2 and not is_binary(file)


def other_sort(file: InputFile) -> tuple[str, str] | None:
    """Return what a file that is neither a table nor text is, and what to do; None for those two."""
    if is_trace(file):
        message, helps = describe_trace(file)
        return message, helps or _READABLE
    for head, message, remedy in _SORTS:
        if re.search(head, file.head, re.MULTILINE):
            return message, remedy
    if is_json(file):
        return "JSON, but no PyTorch trace nor anything else that is read here", _READABLE
    if not is_binary(file):
        return None
    if _is_packets(file.head):
        return "a Perfetto trace, as rocprofv3 writes: no kernels can be read from it", _ROCPROFV3
    return ("binary data of no format that is known here", _READABLE)


def _is_packets(head: bytes) -> bool:
    """Return whether the head is nothing but protocol buffers of field 1, at least two."""
    place = packets = 0
    while place < len(head) and head[place] == _FIRST_FIELD:
        place, size, shift = place + 1, 0, 0
        for byte in head[place : place + 5]:
            place, size, shift = place + 1, size | (byte & 0x7F) << shift, shift + 7
            if byte < 0x80:
                break
        place, packets = place + size, packets + 1
    return packets > 1 and place >= len(head)


def file_error(file: InputFile) -> ProfileError:
    """Return the error that says what a file is, as far as its content shows.

    Raises ProfileError: it is gzip data that are cut short so early that this does not show.
    """
    if file.compressed and len(file.head) < HEAD_BYTES:
        with replace(file, partial=False).open() as stream:
            stream.read()
    answer = other_sort(file)
    if answer is not None:
        path = "REPORT" if file.path == "-" else shlex.quote(file.path)
        return ProfileError(answer[0], path=file.path, remedy=answer[1].replace("{path}", path))
    if not is_table(file):
        return ProfileError("text, not a profile", path=file.path, remedy=_READABLE)
    cells, separator = separated_header(file.head, ())
    # What is no title may be private.
    columns = [cell if _TITLE.fullmatch(cell) else "?" for cell in cells]
    sort = {"\t": "TSV", ";": "CSV (;)"}.get(separator, "CSV")
    message = f"a {sort} with the columns {shown_columns(columns)}: no launches known here"
    return ProfileError(
        message, path=file.path, remedy=joined_texts("; ", (_READABLE, columns_remedy(columns)))
    )
