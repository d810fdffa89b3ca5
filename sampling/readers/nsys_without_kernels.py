"""Why an nsys export has no kernel launches, as far as it says so itself, and what to do."""

from __future__ import annotations

import re
from operator import itemgetter

from sampling.errors import ProfileError
from sampling.readers.nsys_tables import (
    CAPTURE,
    DIAGNOSTIC,
    DIAGNOSTICS,
    GRAPH_TRACE,
    STRINGS,
    SYSTEM,
    TEXT,
    NsysTables,
)

# Of ENUM_DIAGNOSTIC_SEVERITY_LEVEL: warning and error
_SEVERE = (2, 3)
_MOST_QUOTED, _LONGEST_QUOTE = 3, 240
_OF_CUDA = re.compile(r"CUDA|CUPTI", re.IGNORECASE)
_OLD_NSYS = re.compile(r"driver version .*not supported", re.IGNORECASE)
# Of the settings of a recording, those that tell who recorded what, and where
_PRIVATE = re.compile(r"USER|HOST|DISPLAY_NAME|COMMAND|WORKING_DIR|ENVIRONMENT", re.IGNORECASE)
# Paths, options and variables with their values, mail addresses, and names of hosts
_PRIVATE_WORD = re.compile(
    r"""'[^']*[/\\][^']*'|"[^"]*[/\\][^"]*"|[^\s'"]*[/\\@][^\s'"]*|[\w-]+=\S+"""
    r"""|(?<![\w.])(?:\d+\.){3}\d+|(?=[\w.-]*[A-Za-z])[\w-]+(?:\.[\w-]+){2,}"""
)


def without_kernels(tables: NsysTables) -> ProfileError:
    """Return the error for an nsys export without kernel launches."""
    capture = tables.settings(CAPTURE)
    mode = dict(capture).get("CUDA_GRAPH_TRACE_OPTIONS:MODE")
    texts = tables.rows(STRINGS, TEXT) if mode == "Graph" else ()
    quotes = _quoted(tables)
    is_traced = ("COLLECT_CUDA_TRACE", "true") in capture or ("CAPTURE_EVENT_TYPE", "Cuda") in capture
    message = "has no CUDA tables at all: CUDA was not traced, or the program used no GPU"
    trace, advice = "--trace=cuda", ""
    if any("GraphLaunch" in str(text) for _, text in texts) or tables.most_rows(GRAPH_TRACE):
        message = "was recorded with graph-level tracing: it has replays but none of the kernels inside"
        trace += " --cuda-graph-trace=node"
        quotes = []
    elif any(name.upper().startswith("CUPTI_ACTIVITY_KIND_") for name in tables.names):
        message = "has CUDA activities but no kernel launches: kernels were not recorded"
        advice = (
            ", the profiled range around kernels; if none are there, set CuptiUseRawGpuTimestamps=false "
            "in the config.ini of nsys"
        )
    elif is_traced:
        message = "has no CUDA tables at all, though CUDA was traced"
        advice = ", from the start of the program to its end, and see that it runs kernels on this machine"
    elif ("COLLECT_CUDA_TRACE", "false") in capture:
        message = "has no CUDA tables at all: CUDA was not traced"
    if quotes:
        message = f"{message}; nsys says: {' '.join(quotes)}"
    remedy = f"record again with `nsys profile {trace} ...`{advice}"
    if any(map(_OLD_NSYS.search, quotes)):
        remedy = (
            f"record again with a newer Nsight Systems, which knows this driver: `nsys profile {trace} ...`"
        )
    return ProfileError(f"this nsys export {message}", path=tables.path, remedy=remedy)


def _quoted(tables: NsysTables) -> list[str]:
    """Return what nsys itself warned of about CUDA, but for what tells who recorded what, and where."""
    rows = tables.rows(DIAGNOSTICS, DIAGNOSTIC)
    # Errors first
    messages = [(-severity, str(text)) for severity, text in rows if severity in _SEVERE]
    texts = [text for _, text in sorted(messages, key=itemgetter(0)) if _OF_CUDA.search(text)]
    if not texts:
        return []
    sentences = [
        value
        for name, value in (*tables.settings(CAPTURE), *tables.settings(SYSTEM))
        if _PRIVATE.search(name)
    ]
    private = sorted({value.strip() for value in sentences if len(value.strip()) > 1}, key=len, reverse=True)
    quotes = []
    for text in dict.fromkeys(texts):
        quote = " ".join(text.split())
        for value in private:
            quote = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", "...", quote)
        quote = _PRIVATE_WORD.sub("...", quote)
        quotes.append(f'"{quote[:_LONGEST_QUOTE]}"')
    return quotes[:_MOST_QUOTED]
