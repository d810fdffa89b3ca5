"""Traces of events in JSON of tools other than PyTorch's profiler: whose they are, by what only it writes.

Most are in Chrome's format, and so is PyTorch's. They keep kernels in other ways, and other times: read as
PyTorch's they would give wrong durations, grids and copies among the launches.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from sampling.readers.input_file import InputFile
from sampling.readers.trace_text import BYTE_ORDER_MARK, TraceBlocks, trace_pieces
from sampling.text import counted, listed

_LIST_OF_EVENTS = re.compile(rb'\[\s*\{.*"ph"\s*:', re.DOTALL)
_CATEGORY = re.compile(rb'"cat"\s*:\s*"([\w .:-]{1,40})"')

RECORD = (
    "record the program with `nsys profile --trace cuda PROGRAM` and export that with `nsys export --type "
    "sqlite`, or on AMD with `rocprofv3 --kernel-trace --output-format csv -- PROGRAM`"
)
TORCH_PROFILER = "record the program with `torch.profiler` and give what `export_chrome_trace` writes"


class _Tool(NamedTuple):
    """Who writes traces: its name, what in a head is its alone, how each kernel begins, what helps."""

    name: str
    sign: re.Pattern[bytes]
    kernel: re.Pattern[bytes] | None
    remedy: str = RECORD


_TOOLS = (
    _Tool(
        "PyTorch's autograd profiler, which times operators",
        re.compile(rb'"pid"\s*:\s*"(?:CPU|CUDA) functions"'),
        None,
        TORCH_PROFILER,
    ),
    _Tool(
        "PaddlePaddle",
        re.compile(rb'"span_indx"\s*:|"cat"\s*:\s*"(?:CudaRuntime|ProfileStep|OperatorInner|UserDefined)"'),
        re.compile(rb'"cat"\s*:\s*"Kernel"'),
    ),
    _Tool(
        "an Ascend NPU's profiler",
        re.compile(rb'"Ascend Hardware"|"Task Type"\s*:|"cat"\s*:\s*"async_npu"'),
        re.compile(rb'"Task Type"\s*:\s*"(?:AI_|AIV|MIX_|KERNEL_)'),
        "profile it on a GPU: no profile of an NPU is read",
    ),
)


def is_trace(file: InputFile) -> bool:
    """Return whether the head is a trace: an object with the keys of one, or a bare list of events."""
    head = file.head.removeprefix(BYTE_ORDER_MARK).lstrip()
    if head.startswith(b"["):
        return _LIST_OF_EVENTS.match(head) is not None
    described = b'"deviceProperties"' in head or b'"distributedInfo"' in head
    return head.startswith(b"{") and (b'"traceEvents"' in head or (b'"schemaVersion"' in head and described))


def is_foreign(file: InputFile) -> bool:
    """Return whether something in the head is written by a tool that is known and not PyTorch's profiler."""
    return _find_tool(file) is not None


def _find_tool(file: InputFile) -> _Tool | None:
    return next((tool for tool in _TOOLS if tool.sign.search(file.head)), None)


def describe_trace(file: InputFile) -> tuple[str, str | None]:
    """Return what a trace that no reader takes is, and what to do; None where that is not known.

    Its kernels are counted, for which it is read to its end.
    """
    tool = _find_tool(file)
    if tool is None:
        categories = dict.fromkeys(category.decode() for category in _CATEGORY.findall(file.head))
        category_words = f"of the categories {listed([*categories])}" if categories else "without categories"
        writes = "with nothing that PyTorch's profiler or another known here writes"
        return f"a trace of events {category_words}, {writes}", None
    kernels = 0
    if tool.kernel is not None:
        kernels = sum(len(tool.kernel.findall(piece)) for piece in trace_pieces(TraceBlocks(file)))
    message = f"a trace of {tool.name}, and such traces are not read"
    if kernels:
        message += f" yet: {counted(kernels, 'kernel is', 'kernels are')} in it"
    return message, tool.remedy
