"""Target configurations: a TOML of ours, or a `gpgpusim.config`; which of them, the content says.

The TOML has a table ``[gpu]`` and may have ``[per_sm]``::

    [gpu]
    sms = 128
    llc_mib = 34                 # last-level cache, 2^20 bytes
    llc_slices = 32
    memory_controllers = 16
    noc_gb_per_s = 2696          # bisection bandwidth of the on-chip network, 10^9 bytes a second; optional
    dram_gb_per_s = 2320         # bandwidth of memory, 10^9 bytes a second; optional

    [per_sm]                     # optional; any names and values; they stay as they are
    clock_mhz = 1000
    l1_kib = 48

For a GPU of chiplets the numbers above are of one chiplet, and two more belong to ``[gpu]``::

    chiplets = 16
    inter_chiplet_gb_per_s = 900 # the link of one chiplet; optional

There a factor divides the chiplets and nothing else: the network between them shrinks with their number. The
scale model is the same text with the values that scale replaced, so comments and ``[per_sm]`` stay.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from scalemodel.errors import InputError, Place
from scalemodel.inputs.text_file import parsed_toml, read_text, written_name
from scalemodel.scale_down.gpgpusim_config import parse_gpgpusim_config
from scalemodel.scale_down.gpgpusim_file import looks_like_gpgpusim
from scalemodel.scale_down.scaled_model import Change, ScaledModel, SharedResources, Target, WholeResource

_MIB = 2**20
_MEANT = "a gpgpusim.config or a TOML with a table [gpu]"
# Of bytes or bytes a second: beyond it a double is no longer exact to one.
_MORE_THAN_ANY = 2**53
_COUNTS = ("sms", "llc_slices", "memory_controllers", "chiplets")
_BANDWIDTHS = ("noc_gb_per_s", "dram_gb_per_s")
_REQUIRED = ("sms", "llc_mib", "llc_slices", "memory_controllers")
_CHIPLET_KEYS = ("chiplets", "inter_chiplet_gb_per_s")
_KEYS = (*_REQUIRED, *_BANDWIDTHS, *_CHIPLET_KEYS)
_TABLES = ("gpu", "per_sm")
# Below it a name is another one, not a slip: l1_kib is no llc_mib.
_LEAST_LIKENESS = 0.7

_TABLE_LINE = re.compile(r"[ \t]*\[([^\[\]]*)\]")
_KEY_LINE = re.compile(r"[ \t]*([A-Za-z0-9_-]+)[ \t]*=[ \t]*([^\s#]+)")


def read_target(path: str | Path) -> Target:
    """Read a target configuration, gzip or not; "-" is standard input.

    Raises
    ------
    InputError : the file cannot be read, or is neither kind of configuration, or not a whole one.
    """
    text = read_text(str(path), meant=_MEANT)
    if looks_like_gpgpusim(text):
        return parse_gpgpusim_config(text, path)
    return parse_target_config(text, path)


@dataclass(frozen=True, slots=True)
class TargetConfig:
    """A target in our TOML: where it was read from, its text, its table ``[gpu]`` and what stays."""

    path: str
    text: str
    gpu: Mapping[str, int | float]
    per_sm: tuple[tuple[str, str], ...]

    @property
    def resources(self) -> SharedResources:
        """What the SMs share; of a GPU of chiplets, of all of them together."""
        chiplets = self._chiplets
        each = chiplets or 1
        noc, dram, link = (self.gpu.get(key) for key in (*_BANDWIDTHS, "inter_chiplet_gb_per_s"))
        return SharedResources(
            sms=each * int(self.gpu["sms"]),
            llc_bytes=each * int(self.gpu["llc_mib"] * _MIB),
            llc_slices=each * int(self.gpu["llc_slices"]),
            memory_controllers=each * int(self.gpu["memory_controllers"]),
            noc_gb_per_s=None if noc is None else each * noc,
            dram_gb_per_s=None if dram is None else each * dram,
            chiplets=chiplets,
            inter_chiplet_gb_per_s=None if link is None else each * link,
        )

    @property
    def whole_resources(self) -> tuple[WholeResource, ...]:
        """What a factor must divide."""
        if self._chiplets is not None:
            return (WholeResource(self._chiplets, "chiplets"),)
        resources = self.resources
        return (
            WholeResource(resources.sms, "SMs"),
            WholeResource(resources.llc_bytes, "bytes of last-level cache"),
            WholeResource(resources.llc_slices, "slices of last-level cache"),
            WholeResource(resources.memory_controllers, "memory controllers"),
        )

    def scaled(self, factor: int) -> ScaledModel:
        """Return the scale model; the factor is one that divides all whole resources.

        Raises
        ------
        InputError : the file writes a value in a way that cannot be replaced.
        """
        scaled = () if factor == 1 else _KEYS if self._chiplets is None else ("chiplets",)
        new = {key: _divided(self.gpu[key], factor) for key in scaled if key in self.gpu}
        name = written_name(self.path, of_stdin="target.toml")
        return ScaledModel(
            factor=factor,
            resources=self.resources.divided(factor),
            unchanged=self.per_sm,
            changes=tuple(Change(name, key, f"{self.gpu[key]}", f"{value}") for key, value in new.items()),
            files=((name, self._with(new)),),
        )

    @property
    def _chiplets(self) -> int | None:
        return int(self.gpu["chiplets"]) if "chiplets" in self.gpu else None

    def _with(self, new: Mapping[str, int | float]) -> str:
        """Return the text with new values, once it is known to mean just that."""
        lines, table = self.text.split("\n"), ""
        for number, line in enumerate(lines):
            heading = _TABLE_LINE.match(line)
            table = heading[1].strip() if heading else table
            found = _KEY_LINE.match(line)
            if found and table == "gpu" and found[1] in new:
                lines[number] = f"{line[: found.start(2)]}{new[found[1]]}{line[found.end(2) :]}"
        text = "\n".join(lines)
        before, after = _document(self.text, self.path), _document(text, self.path)
        if after != {**before, "gpu": {**before["gpu"], **new}}:
            raise InputError(
                "the values that scale cannot be replaced as they are written",
                Place(self.path),
                remedy="write the table [gpu] with one key = value a line",
            )
        return text


def parse_target_config(text: str, path: str | Path) -> TargetConfig:
    """Read a TOML of ours.

    Raises
    ------
    InputError : not a TOML, an unknown key, or one that is missing or not a number.
    """
    document = _document(text, path)
    _check_names(document, _TABLES, "table", text, path)
    gpu, per_sm = document.get("gpu", {}), document.get("per_sm", {})
    if not isinstance(gpu, dict) or not isinstance(per_sm, dict):
        raise InputError("gpu and per_sm are tables", Place(path), remedy="write them as [gpu] and [per_sm]")
    _check_names(gpu, _KEYS, "key of [gpu]", text, path)
    missing = [key for key in _REQUIRED if key not in gpu]
    if missing:
        raise InputError(f"[gpu] lacks {', '.join(missing)}", Place(path), remedy="state what the target has")
    for key, value in gpu.items():
        _check_value(key, value, text, path)
    if "inter_chiplet_gb_per_s" in gpu and "chiplets" not in gpu:
        raise InputError(
            "inter_chiplet_gb_per_s is of a GPU of chiplets",
            Place(path, _row_of(text, "inter_chiplet_gb_per_s")),
            remedy="state the number of chiplets",
        )
    return TargetConfig(str(path), text, gpu, tuple((key, str(value)) for key, value in per_sm.items()))


def _document(text: str, path: str | Path) -> dict[str, Any]:
    return parsed_toml(text, path, or_else="a gpgpusim.config", meant=_MEANT)


def _check_names(
    found: Mapping[str, Any], known: tuple[str, ...], what: str, text: str, path: str | Path
) -> None:
    for name in found:
        if name not in known:
            close = get_close_matches(name, known, 1, _LEAST_LIKENESS)
            others = f"there are {', '.join(known)}"
            if known is _KEYS:
                others += "; what each SM has for itself belongs to [per_sm]"
            raise InputError(
                f"there is no {what} {name!r}",
                Place(path, _row_of(text, name)),
                remedy=f"did you mean {close[0]!r}?" if close else others,
            )


def _check_value(key: str, value: object, text: str, path: str | Path) -> None:
    """Raise InputError unless it is a number above 0, and a whole one where parts make no sense."""
    wanted = None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < _MORE_THAN_ANY:
        wanted = "a number above 0"
    elif key in _COUNTS and not isinstance(value, int):
        wanted = "a whole number"
    elif key == "llc_mib" and value * _MIB != int(value * _MIB):
        wanted = "a whole number of bytes"
    if wanted is not None:
        raise InputError(
            f"{value!r} is not {wanted}",
            Place(path, _row_of(text, key), key=key),
            remedy="state what the target has",
        )


def _row_of(text: str, name: str) -> int | None:
    """Return the row that starts with a key or the heading of a table, None where none does."""
    starts = re.compile(rf"[ \t]*\[?[ \t]*{re.escape(name)}[ \t]*[=\].]")
    return next((row for row, line in enumerate(text.split("\n"), 1) if starts.match(line)), None)


def _divided(value: float, factor: int) -> int | float:
    """Return a quotient, as a whole number where it is one."""
    if isinstance(value, int) and value % factor == 0:
        return value // factor
    return value / factor
