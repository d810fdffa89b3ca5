"""Readers of profiles: one module a format, a line of ``MODULES``. The content says which, never the suffix.

A module has FORMAT, a text; recognise(file), cheap, from the head or the folder's listing; and read(file,
kernels, progress), which raises ProfileError for what is of its format but not a profile, and returns None
where what follows the head is of another. One of tables, whose columns may have any names, also has
has_columns(file): whether those of a launch are there, by file.columns.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import partial
from importlib import import_module
from itertools import chain
from pathlib import Path
from types import ModuleType

from sampling.errors import OptionError, ProfileError
from sampling.parallel import Progress, cluster
from sampling.profile.identity import content_sha256, disk_state
from sampling.profile.profile import KernelTable, Profile
from sampling.profile.workload import join_profiles
from sampling.readers.cache import least_cached_bytes, through_cache
from sampling.readers.folders import files_in, matching
from sampling.readers.input_file import InputFile, ReadOptions, find_line_damage, open_input
from sampling.text import Wording, counted, listed

_SQLITE, _TEXT = rb"\ASQLite format 3\0", rb""
#: The modules of the readers in the order in which they are asked; and without what in a head, or in the
#: empty one of a folder, one is neither imported nor asked.
MODULES = {
    f"sampling.readers.{name}": re.compile(sign)
    for name, sign in {
        # The prefix of rocpd's tables in any encoding of a database, and of rocprofiler.
        "rocprofv3": rb"[rR]\0?[oO]\0?[cC]\0?[pP]",
        "rocprof_v1": rb'KernelName|\A\s*\{\s*"traceEvents"\s*:\s*\[\s*\{\s*\}',
        "nsys_sqlite": _SQLITE,
        "nsys_folder": rb"\A\Z",
        "nsys_report": rb"\ANVIDIA Tegra Profiler Report",
        "ncu": rb'"?ID"?,"?Process ID|==PROF==',
        # Other tools' traces are told from PyTorch's by what only they write.
        "proton": rb'"call_stack"|"Post Final Time|"Stream: ',
        "onnx_runtime": rb'"(?:Session|Node)"',
        "xla_trace": rb'/(?:host|device|gpu|task):|"hlo_',
        "unitrace": rb'"gpu_op"|Flow_[HD]2[HD]_|"(?:HOST|DEVICE)<',
        "kineto": rb"\A(?:\xef\xbb\xbf)?\s*[\[{]",
        "nsys_csv": _TEXT,
        "pipit_csv": _TEXT,
        "rocm_csv": _TEXT,
        "nvprof": _TEXT,
        "accel_sim_traces": rb"\A\s*(?:kernel-|MemcpyHtoD)",
        "gpgpu_sim_output": _TEXT,
        "launch_tables": _TEXT,
    }.items()
}

# What tools put behind the name of a recording, and which form of it is read: the first that is there.
_FORMS = (
    *(".sqlite", "_pqtdir", "_arwdir", ".nsys-rep", ".qdrep"),
    *("_cuda_gpu_trace.csv", "_cuda_kern_exec_trace.csv", "_gputrace.csv", "_kernexectrace.csv"),
    *("_results.db", "_results.json", "_kernel_trace.csv"),
    *(".pt.trace.json", ".json", ".db", ".parquet", ".csv", ".tsv", ".txt", ".log"),
)


# Where the name of a file or of a folder around it says a rank: rank3, rank-3, rank_3, rank[3], worker3.
_PLAIN = ReadOptions()
_RANK = re.compile(r"(?:rank|worker)[-_\[=]?([0-9]{1,9})(?![0-9])", re.IGNORECASE)
# The PyTorch profiler's own names, HOST_PID.TIME.pt.trace.json: one process writes a file a cycle.
_WORKER = re.compile(r"(.+_[0-9]+)\.[0-9]+\.pt\.trace\.json(?:\.gz)?")


def find_reader(file: InputFile) -> ModuleType | None:
    """Return the first reader that recognises a file or folder, None where there is none."""
    readers = (import_module(name) for name, sign in MODULES.items() if sign.search(file.head))
    return next((reader for reader in readers if reader.recognise(file)), None)


def read_profile(
    paths: Sequence[str],
    progress: Progress | None = None,
    options: ReadOptions = _PLAIN,
    *,
    needs_table: bool = True,
    cache: bool = False,
    scheduler: str | None = None,
) -> Profile:
    """Read one workload from one or more files; "-" is standard input, gzip is read as it is.

    A folder that is no export is the profiles in it, and a pattern such as ``run/**/rank*.json`` what it
    finds, where no file has that name. Columns are of the files that are tables. With ``cache``,
    what is read of large files is kept in the user's cache folder for the next time. With a scheduler, the
    address of Dask's, its workers read the files, at the same paths, and look at the launches.

    Raises ProfileError: a file is missing, damaged, of no known format, or not a profile; OptionError:
    there are columns and no file is a table, where that is needed, there is no such scheduler, or
    ``rank_regex`` finds no rank in a path.
    """
    rank_regex = options.rank_regex
    pattern = None if rank_regex is None else _rank_pattern(rank_regex)
    kernels = KernelTable()
    files: list[str] = []
    notes: list[str] = []
    for path in chain.from_iterable(map(_expand_pattern, paths)):
        several = [path]
        if Path(path).is_dir():
            several, left_out = _find_profiles(path, options, progress)
            notes += left_out
        files += several
    if scheduler is not None:
        from sampling.readers.remote import read_remote

        mapper = cluster(scheduler).map
        profiles = read_remote(files, read_file, kernels, options, mapper, progress, cache=cache)
    else:
        least_bytes = least_cached_bytes(files, read_file, options, progress) if cache else None
        profiles = [
            read_file(path, kernels, options, progress, cache_from_bytes=least_bytes) for path in files
        ]
    notes += [note for recording in profiles for note in recording.notes]
    profile = profiles[0]
    if len(profiles) > 1:
        owners = [_find_owner(recording, pattern) for recording in profiles]
        profile = join_profiles(profiles, owners)
        notes += _missing_ranks({owner for owner in owners if isinstance(owner, int)}, profiles)
        if len(profile.clocks) < sum(len(recording.sequences) for recording in profiles):
            message = counted(len(profile.sequences), "process goes", "processes go")
            notes.append(f"{message} on from file to file: {len(profiles)} recordings, one after another")
    profile.notes, profile.mapper = tuple(notes), profiles[0].mapper
    profile.rank_regex = rank_regex if len(profiles) > 1 else None
    profile.named_columns = next(
        (recording.named_columns for recording in profiles if recording.named_columns), None
    )
    profile.partial, profile.keep_overlong = options.partial, options.keep_overlong
    profile.profile_cycles = options.profile_cycles
    if options.columns is not None and needs_table:
        refuse_unused_columns([profile])
    return profile


def _expand_pattern(path: str) -> list[str]:
    """Return what a pattern finds, as a person counts; a path itself, also one of a pattern of nothing."""
    is_pattern = glob.has_magic(path) and not Path(path).exists()
    return (is_pattern and matching(path)) or [path]


def _rank_pattern(text: str) -> re.Pattern[str]:
    try:
        pattern = re.compile(text)
    except re.error as error:
        raise OptionError(Wording("`rank_regex={}` is no regular expression: {}", text, error)) from error
    if not pattern.groups:
        remedy = r"put the rank into parentheses: 'report_(\d+)'"
        raise OptionError(Wording("`rank_regex={}` has no group that is the rank", text), remedy=remedy)
    return pattern


def _find_owner(profile: Profile, pattern: re.Pattern[str] | None) -> int | str | None:
    """Return which process of a distributed run a profile is: as it says itself, else as its path says.

    Where the user said how paths tell it, they do. Raises OptionError: one does not.
    """
    if pattern is not None:
        path = profile.files[0].path
        if (match := pattern.search(path)) is None or match[1] is None:
            raise OptionError(Wording("`rank_regex={}` finds no rank in {}", pattern.pattern, path))
        return int(match[1]) if match[1].isdecimal() else match[1]
    if profile.facts.rank is not None:
        return profile.facts.rank
    if named := _RANK.findall(profile.files[0].path):
        return int(named[-1])
    worker = _WORKER.fullmatch(Path(profile.files[0].path).name)
    return worker[1] if worker else None


def _missing_ranks(ranks: AbstractSet[int], profiles: Sequence[Profile]) -> list[str]:
    """Return a note on the ranks of the run of which no profile was given, if any."""
    sizes = {profile.facts.world_size for profile in profiles}
    size = sizes.pop() if len(sizes) == 1 else None
    if size is None or not ranks or len(ranks) >= size:
        return []
    names = listed([str(rank) for rank in sorted(ranks)])
    return [f"{counted(len(ranks), 'rank is', 'ranks are')} read of a run of {size:,}: {names}"]


def refuse_unused_columns(profiles: Sequence[Profile]) -> None:
    """Raise OptionError for columns that the user named where none of the profiles is a table."""
    if not any(profile.named_columns for profile in profiles):
        named = ", ".join(f"{profile.files[0].path} ({profile.format})" for profile in profiles)
        raise OptionError(
            Wording("`columns` is for CSV and Parquet tables, and here is none: {}", named),
            remedy="leave it out: the columns of this format are known",
        )


def _find_profiles(path: str, options: ReadOptions, progress: Progress | None) -> tuple[list[str], list[str]]:
    """Return a folder itself if it is an export, else the profiles in it and a note on what is left out.

    Of a folder one file a rank is read, in the order in which a person counts them. One recording often lies
    there in several forms, such as a report beside its export: one form of it is read. Folders within are
    profiles where they are exports, else what is in them counts too. A list of traces stands for the folder
    that it is in and, where no other profile is there, for the one that has its folder ``traces``.
    """
    from sampling.readers.accel_sim_traces import LIST, find_trace_folder

    with open_input(path) as folder, folder.damage_reported():
        if find_reader(folder) is not None:
            return [path], []
        trace_list = find_trace_folder(path, LIST) / LIST
        is_listed = trace_list.is_file()
        if is_listed and trace_list.parent == folder.location:
            return [str(trace_list)], []
        entries: dict[str, ModuleType | None] = {}
        for entry in files_in(folder.location, partial(_is_whole, options)):
            if progress is not None:
                progress(len(entries), 0, f"looking into {path}")
            name = str(entry.relative_to(folder.location))
            is_there = entry.is_file() or entry.is_dir()
            entries[name] = _find_profile_reader(entry, options) if is_there else None
        readers = {name: reader for name, reader in entries.items() if reader is not None}
        # What Nsight Compute measured may lie there for its metrics.
        with_times = {name: reader for name, reader in readers.items() if reader.FORMAT != "ncu"}
        if not with_times and is_listed:
            return [str(trace_list)], []
        # The recording and the place of its form, by the name of a file
        recognised = {name: _recording_and_form(name) for name in _without_copies(with_times or readers)}
        if not recognised:
            message = (
                "a folder in which nothing is a profile, and no nsys export (CUPTI_ACTIVITY_KIND_KERNEL)"
            )
            remedy = "give a profile, or the folder that `nsys export --type parquetdir` writes"
            raise ProfileError(message, path=path, remedy=remedy)
    best: dict[str, str] = {}
    for name, (recording, _) in sorted(recognised.items(), key=lambda entry: entry[1][1]):
        best.setdefault(recording, name)
    names = [name for name, (recording, _) in recognised.items() if best[recording] == name]
    message = counted(len(names), "profile is read", "profiles are read as one workload")
    left_names = [name for name in entries if name not in {*names}]
    left_out = f"{path}: {message}; left out: {listed(left_names)} (no profiles, or other forms of these)"
    return [str(Path(path) / name) for name in names], [left_out] if left_names else []


def _without_copies(names: Iterable[str]) -> list[str]:
    """Return names of files without the copies that JAX makes of its trace for another viewer."""
    paths = [Path(name.removesuffix(".gz")) for name in names]
    copied = {path.parent for path in paths if path.name.endswith(".trace.json")}
    return [
        name
        for name, path in zip(names, paths, strict=True)
        if path.name != "perfetto_trace.json" or path.parent not in copied
    ]


def _is_whole(options: ReadOptions, folder: Path) -> bool:
    """Return whether a folder is an export, or of a simulator's traces: thousands of files, no profiles."""
    return any(folder.glob("kernelslist*")) or _find_profile_reader(folder, options) is not None


def _find_profile_reader(entry: Path, options: ReadOptions) -> ModuleType | None:
    with open_input(str(entry), options) as file, file.damage_reported():
        reader = find_reader(file)
        # Any table may lie in the folder: one that is of launches has the columns for it.
        is_profile = reader is not None and (not hasattr(reader, "has_columns") or reader.has_columns(file))
        return reader if is_profile else None


def _recording_and_form(name: str) -> tuple[str, int]:
    """Return what a recording is called, and the place of the form that this file is."""
    bare = name.removesuffix(".gz")
    for form, suffix in enumerate(_FORMS):
        if bare.casefold().endswith(suffix) and len(bare) > len(suffix):
            return bare[: -len(suffix)], form
    return bare, len(_FORMS)


def read_file(
    path: str,
    kernels: KernelTable,
    options: ReadOptions,
    progress: Progress | None,
    *,
    cache_from_bytes: int | None,
) -> Profile:
    """Return one file or folder as a profile of its own, its kernels added to others'.

    Of so many bytes or more it is kept in the cache; None: it is not.
    """

    def read(file: InputFile, kernels: KernelTable) -> Profile:
        reader, file = find_reader(file), replace(file, is_profile=True)
        profile: Profile | None = None if reader is None else reader.read(file, kernels, progress)
        if profile is None:
            # Many regular expressions, which no profile needs.
            from sampling.readers.not_a_profile import file_error

            raise file_error(file)
        if options.partial and (note := find_line_damage(file)) is not None:
            profile.notes = (*profile.notes, note)
        if options.columns is not None and hasattr(reader, "has_columns"):
            profile.named_columns = str(options.columns)
        return profile

    with open_input(path, options) as file:
        # Taken before the first byte is read, so that a change while reading is noticed too.
        state = disk_state(file.location)
        if cache_from_bytes is None:
            profile = read(file, kernels)
        else:
            profile = through_cache(file, kernels, read, cache_from_bytes)
        identity = {"state": state} if file.lasting else {"sha256": content_sha256(file.location)}
        profile.files = (replace(profile.files[0], **identity),)
        return profile
