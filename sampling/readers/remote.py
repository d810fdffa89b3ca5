"""Files that are read where their launches are looked at: by workers of a cluster, which see the same files.

Of a file all of its profile comes here but its launches. Its parts say where they lie, and whoever loads one
reads the file if it did not just do so, or finds it in the cache. Codes of kernels become the profile's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path

import numpy as np

from sampling.arrays import AnyIntArray, FloatArray
from sampling.errors import NotApplicableError
from sampling.parallel import Mapper, Progress
from sampling.profile.identity import content_sha256, refuse_changed
from sampling.profile.named_ranges import NO_RANGES, RangeRuns
from sampling.profile.profile import Column, KernelTable, Profile, ProfileFile, Table
from sampling.readers.input_file import ReadOptions
from sampling.text import Wording

_FILES_HELD = 2
_NO_CODES = np.zeros(0, dtype=np.int32)


@dataclass(frozen=True, slots=True)
class _RemoteFile:
    """What is read, and how."""

    path: str
    options: ReadOptions
    cache: bool
    #: `registry.read_file`
    reader: Callable[..., Profile]


@dataclass(frozen=True, slots=True, eq=False)
class RemoteLaunches:
    """The launches of a file, for whoever loads them to read."""

    file: _RemoteFile
    #: As it was when it was read first.
    recorded: ProfileFile
    #: The codes here of the file's own kernels and of their names, by its own codes.
    signature: AnyIntArray
    name: AnyIntArray

    def load(self, rows: slice, columns: Sequence[Column]) -> Table:
        """Return columns of some rows, read in this process."""
        if "operator" in columns:
            raise NotApplicableError(
                Wording("`group_by=operator` is not worked out by the workers of a scheduler"),
                remedy=Wording("leave out `scheduler`, or group by `group_by=name`"),
            )
        table = dict(self._profile().parts[0].source.load(rows, columns))
        for column, code in (("signature", self.signature), ("name", self.name)):
            if column in table:
                table[column] = code[table[column]]
        return table

    def metrics(self, rows: slice, names: Sequence[str]) -> Mapping[str, FloatArray]:
        """Return metrics of some rows, read in this process."""
        return self._profile().parts[0].source.metrics(rows, names)

    def _profile(self) -> Profile:
        refuse_changed([self.recorded])
        return _opened(self.file)


@dataclass(frozen=True, slots=True)
class _RemoteRanges:
    """The named ranges of a file, read by a worker when they are asked for."""

    file: _RemoteFile
    mapper: Mapper

    def holding(self, text: str) -> RangeRuns:
        """Return the ranges whose names contain a text."""
        runs: list[RangeRuns] = [*self.mapper(partial(_ranges_holding, text), [self.file])]
        return runs[0]


def read_remote(
    paths: Sequence[str],
    reader: Callable[..., Profile],
    kernels: KernelTable,
    options: ReadOptions,
    mapper: Mapper,
    progress: Progress | None,
    *,
    cache: bool,
) -> list[Profile]:
    """Have files read by workers; what loads launches of these profiles is best done by the workers too.

    Raises ProfileError: as `read_profile`.
    """
    files = [_RemoteFile(str(Path(path).absolute()), options, cache, reader) for path in paths]
    profiles = []
    for path, file, profile in zip(paths, files, mapper(_without_launches, files), strict=True):
        name, signature = kernels.names.add(profile.kernels.names), kernels.add(profile.kernels)
        (file_read,) = profile.files
        source = RemoteLaunches(file, file_read, signature, name)
        parts = tuple(replace(part, source=source) for part in profile.parts)
        ranges = None if profile.ranges is None else _RemoteRanges(file, mapper)
        remote = replace(profile, kernels=kernels, parts=parts, ranges=ranges, mapper=mapper)
        remote.files = (replace(file_read, path=path, location=Path(path)),)
        profiles.append(remote)
        if progress is not None:
            progress(len(profiles), len(files), f"reading {path}")
    return profiles


@lru_cache(maxsize=_FILES_HELD)
def _opened(file: _RemoteFile) -> Profile:
    # Whatever its size: any worker finds what one of them has read.
    from_bytes = 0 if file.cache else None
    profile = file.reader(file.path, KernelTable(), file.options, None, cache_from_bytes=from_bytes)
    # Of our Parquet kernels get their codes when they are loaded: in the order of the file, in every process.
    for part in profile.parts if not len(profile.kernels) else ():
        part.load(("signature",))
    return profile


def _without_launches(file: _RemoteFile) -> Profile:
    profile = _opened(file)
    (file_read,) = profile.files
    nowhere = RemoteLaunches(file, file_read, _NO_CODES, _NO_CODES)
    parts = tuple(replace(part, source=nowhere) for part in profile.parts)
    bare = replace(profile, parts=parts, ranges=None if profile.ranges is None else NO_RANGES)
    bare.files = (replace(file_read, sha256=file_read.sha256 or content_sha256(file_read.location)),)
    return bare


def _ranges_holding(text: str, file: _RemoteFile) -> RangeRuns:
    ranges = _opened(file).ranges
    return NO_RANGES if ranges is None else ranges.holding(text)
