"""Files that options name: which are read, where products may go, the sample data, completion."""

from __future__ import annotations

import glob
import os
import re
import shlex
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import fields
from enum import Enum
from itertools import chain, count, takewhile
from pathlib import Path
from typing import Any

from sampling.errors import OptionError, PlanFileError
from sampling.plan import request

_STDIN = _STDOUT = "-"


def sample_profile() -> Path:
    """Return the path of the sample that `demo` shows."""
    return _bundled("gpt2-like.json.gz")


def sample_baseline() -> Path:
    """Return the path of what is kept of the sample's run before a change."""
    return _bundled("gpt2-like-before.json")


def sample_study() -> Path:
    """Return the path of the study of two made-up programs, with results of the real simulator."""
    return _bundled("study/study.toml")


def sample_scale_question() -> Path:
    """Return the path of the made-up numbers that the view of scale models starts with."""
    return _bundled("scale-model-example.toml")


def _bundled(name: str) -> Path:
    package = Path(__file__).resolve().parents[1]
    folders = (package.parent / "sample_data", package / "sample_data")
    return next((folder / name for folder in folders if (folder / name).exists()), folders[0] / name)


# -- what is read -------------------------------------------------------------------------------------------

# One command runs in a process. The app's threads write too, so this is no context variable.
_being_read: list[str] = []


# What names a file to read: FILE itself, [NAME=]FILE, FILE[@RANGE]. `tui.options.shared` knows them by name.
InputFile = str
FeatureFile = str
PartOfFile = str


def input_files(options: Any) -> tuple[str, ...]:
    """Return the names of the files that the options ask to read, as typed; "-" is standard input.

    Of NAME=FILE and FILE@RANGE all that may be the file's: a name and a path may both contain the sign.
    """
    paths: list[str] = []
    for option in fields(options):
        sign, value = option.metadata["reads"], getattr(options, option.name)
        if sign is not None and value is not None:
            for text in [value] if isinstance(value, str) else value:
                places = [place for place, letter in enumerate(text) if letter == sign]
                paths += [text, *(text[:place] if sign == "@" else text[place + 1 :] for place in places)]
    for name in options.request_names:
        value = getattr(options.request, name)
        if (sign := request.option(name).reads) is not None and value is not None:
            for text in [value] if isinstance(value, str) else value:
                paths += [text, *(text[place + 1 :] for place, letter in enumerate(text) if letter == sign)]
    return tuple(paths)


@contextmanager
def reading(paths: Iterable[str]) -> Iterator[None]:
    """Keep these files from being written over for as long as this lasts."""
    before = len(_being_read)
    _being_read.extend(paths)
    try:
        yield
    finally:
        del _being_read[before:]


def why_not_written(path: Path) -> str | None:
    """Return in words why a file must not be written, to follow its name in a message; None where it may be.

    Nothing is written into a folder that is read, neither over a file nor as a new one: a recording that is
    a folder consists of all files in it, so a new file could be read as one of its tables.
    """
    identity = _identity(path)
    for source in _being_read.copy():
        if identity is not None and identity == _identity(source):
            return "is what the command reads"
        if source and Path(source).is_dir():
            folder = Path(source).resolve()
            parents = {*(path.parent.resolve() / path.name).parents, *path.resolve().parents}
            # A link in the folder to a file elsewhere, or another name of the same file.
            if folder in parents or (identity is not None and identity in map(_identity, folder.iterdir())):
                return f"is in the folder {source}, which the command reads"
    return None


def _identity(path: str | Path) -> tuple[int, int] | None:
    """Return what identifies a file under any of its names, links followed; None if there is no such file."""
    try:
        status = os.fstat(sys.stdin.fileno()) if path == _STDIN else Path(path).stat()
    except (OSError, ValueError, AttributeError):
        # Standard input is closed or is no file, or the name cannot be that of a file.
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


# -- where products go --------------------------------------------------------------------------------------

_HEAD_BYTES, _FOOTER_BYTES = 1 << 16, 1 << 20
_KIND = re.compile(rb'\A\s*\{[^{\[]*"kind"\s*:\s*"(plan|baseline)"')
# Any folder may hold a plan; those of exports and of runs hold one of these too.
_BESIDE_PLAN = ("manifest.csv", "process-*/manifest.csv", "run.json")
_MADE_HERE = re.compile(rb'<(meta name="generator" content="|!-- generator: |metadata>)KernelPoint [0-9]')


class Product(Enum):
    """What is written to a place."""

    RESULTS = "text"
    PLAN = "plan"
    BASELINE = "baseline"
    PROFILE = "Parquet profile of `convert`"
    REPORT = "report of kernelpoint's"
    PICTURE = "picture of kernelpoint's"
    FOLDER = "folder"
    STUDY = "study"


# What a suffix says of a file's content, other than text for people.
_SUFFIXES = {
    ".csv": "CSV",
    ".json": "JSON",
    **dict.fromkeys((".jsonl", ".ndjson"), "JSON lines"),
    **dict.fromkeys((".parquet", ".pq"), "Parquet"),
    **dict.fromkeys((".arrow", ".feather"), "Arrow"),
    **dict.fromkeys((".sqlite", ".db"), "SQLite"),
    ".tex": "LaTeX",
    ".svg": "SVG",
    **{f".{name}": name for name in ("gz", "xz", "zip", "pdf", "png", "tsv", "xlsx", "nsys-rep")},
}
# A folder, or text for people, is what no such suffix says.
_WRITTEN = {
    Product.PLAN: "JSON",
    Product.BASELINE: "JSON",
    Product.PROFILE: "Parquet",
    Product.PICTURE: "SVG",
    Product.FOLDER: "a folder",
}
_FORMATS = {"csv": "CSV", "json": "JSON", "jsonl": "JSON lines", "latex": "LaTeX"}


def check_places(options: Any) -> None:
    """Refuse the places that the options name for what is written, before a long work.

    Raises OptionError: see `check_place`.
    """
    for option in fields(options):
        product, place = option.metadata["product"], getattr(options, option.name)
        if product is None or place in {None, _STDOUT}:
            continue
        path, flag = Path(place), "".join(f"{flag} " for flag in option.metadata.get("flags", ())[:1])
        check_place(path, product, f"{flag}{place}")
        if options.force:
            continue
        if product is not Product.FOLDER and (why_not := why_not_replaced(path, product)) is not None:
            raise OptionError(
                f"{flag}{place} {why_not}", remedy="give another name, or --force to replace it"
            )
        _check_suffix(path, product, flag, options.format.value)


def check_place(path: Path, product: Product, named: str | None = None) -> None:
    """Refuse a place where nothing can be written; `named`: what messages call it.

    Raises OptionError: what `check_file` and `check_folder` raise.
    """
    try:
        (check_folder if product is Product.FOLDER else check_file)(path, named)
    except OSError as error:
        remedy = "give another place to write"
        raise OptionError(f"{error.filename}: {error.strerror}", remedy=remedy) from error


def _check_suffix(path: Path, product: Product, flag: str, form: str) -> None:
    """Raise OptionError where a name ends like a file of another format than what is written, in a form."""
    promised = _SUFFIXES.get(path.suffix.lower())
    content = _WRITTEN.get(product) or _FORMATS.get(form, "text")
    # A report looks at its suffix itself; what is no new file has its name already.
    if promised in {None, content} or product is Product.REPORT or (path.exists() and not path.is_file()):
        return
    suffix = next((name for name, of_suffix in _SUFFIXES.items() if of_suffix == content), "")
    # Of plan.json.gz the name without its last part is right.
    bare = path.with_suffix("")
    is_right = _SUFFIXES.get(bare.suffix.lower()) == content
    remedy = f"give {flag}{bare if is_right else path.with_suffix(suffix)}"
    formats = [name for name, of_format in _FORMATS.items() if of_format == promised]
    if product is Product.RESULTS and formats:
        remedy = f"give --format {formats[0]}"
    message = f"{flag}{path}: what is written is {content}, not {promised}"
    raise OptionError(message, remedy=f"{remedy}, or --force to write it there all the same")


def check_file(path: Path, named: str | None = None) -> Path:
    """Return a file that can be written, or a pipe or a device, links followed.

    `named`: what messages call it; the path if not given.

    Raises OptionError: the command reads it, or the folder it is in; a recording cannot be made again.
    OSError: it is a folder or a disk, or nothing can be written there.
    """
    mode = _mode(path, named or str(path))
    path = path.resolve()
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(21, "is a folder, a file is meant", str(path))
    if stat.S_ISBLK(mode) or stat.S_ISSOCK(mode):
        raise OSError(6, "is a disk or a socket, a file is meant", str(path))
    if not path.parent.is_dir():
        raise FileNotFoundError(2, "there is no such folder to write in", str(path.parent))
    is_new = not mode or stat.S_ISREG(mode)
    if (mode and not os.access(path, os.W_OK)) or (is_new and not is_writable(path.parent)):
        raise PermissionError(13, "cannot be written (Permission denied)", str(path))
    return path


def check_folder(folder: Path, named: str | None = None) -> None:
    """Refuse a folder that files could not be written into.

    Raises OptionError: it is a file, or the command reads it; OSError: nothing can be written there.
    """
    _mode(folder, named or str(folder))
    refuse_files([folder, *folder.parents])
    if why_not_written(folder / "any") is not None:
        raise OptionError(f"{folder} is what the command reads", remedy="give another folder")
    existing = next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())
    if not is_writable(existing):
        raise PermissionError(13, "cannot be written (Permission denied)", str(existing))


def refuse_files(folders: Iterable[Path]) -> None:
    """Raise OptionError if one of these is there and no folder."""
    for folder in folders:
        if folder.exists() and not folder.is_dir():
            raise OptionError(f"{folder} is a file, a folder is meant", remedy="give another name with -o")


def _mode(path: Path, named: str) -> int:
    """Return of which kind the file is that lies there, 0 for none; refuse one that the command reads."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        mode = 0
    except OSError as error:
        raise type(error)(error.errno, f"cannot be written ({error.strerror})", str(path)) from error
    if (why_not := why_not_written(path)) is not None:
        raise OptionError(f"{named} {why_not}", remedy="give another file to write")
    return mode


def why_not_replaced(path: Path, product: Product) -> str | None:
    """Return why a file is not replaced unasked, to follow its name; None where it may be, or is empty."""
    if not path.is_file() or not path.stat().st_size:
        return None
    if is_plan(str(path)):
        from sampling.plan.plan_file import read_json_object

        # One that is cut off is no plan any more.
        with suppress(PlanFileError):
            if read_json_object(str(path)).get("topped_up") is not None:
                return "is a plan that was topped up after a simulation"
            return None if product is Product.PLAN else "is a plan"
    if product is Product.STUDY:
        return "exists"
    is_own = {
        Product.RESULTS: lambda: b"\0" not in read_head(path),
        Product.PROFILE: lambda: _is_converted(path),
        Product.BASELINE: lambda: is_baseline(str(path)),
        **dict.fromkeys((Product.REPORT, Product.PICTURE), lambda: is_report(path)),
    }
    return None if product in is_own and is_own[product]() else f"exists and is no {product.value}"


def is_plan(path: str) -> bool:
    """Return whether a file looks like a plan file, or a folder is an export or a run of one.

    By its head: the app's first paint must not wait.
    """
    inner = Path(path) / PLAN_NAME
    if is_there(inner) and any(entry for name in _BESIDE_PLAN for entry in Path(path).glob(name)):
        path = str(inner)
    return _kind(path) == b"plan"


def is_baseline(path: str) -> bool:
    """Return whether a file looks like a baseline, by its head."""
    return _kind(path) == b"baseline"


def _kind(path: str) -> bytes | None:
    with suppress(OSError):
        if Path(path).is_file() and (match := _KIND.search(read_head(Path(path)))):
            return match[1]
    return None


def is_report(path: Path) -> bool:
    """Return whether a file is a report that was made here, or a chart of one."""
    return _MADE_HERE.search(read_head(path)) is not None


def _is_converted(path: Path) -> bool:
    from sampling.readers.launch_tables import METADATA_KEY

    with path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - _FOOTER_BYTES))
        footer = stream.read()
    return footer.endswith(b"PAR1") and METADATA_KEY in footer


def read_head(path: Path) -> bytes:
    """Return the first bytes of a file; raise OSError where it cannot be read."""
    with path.open("rb") as stream:
        return stream.read(_HEAD_BYTES)


def is_writable(folder: Path) -> bool:
    """Return whether the system lets files be made in a folder; a full disk is not told so."""
    return os.access(folder, os.W_OK | os.X_OK)


def is_there(path: Path) -> bool:
    """Return whether a file or folder is there; none is under a name that the system does not take."""
    with suppress(OSError):
        return path.exists()
    return False


def is_configuration(text: str) -> bool:
    """Return whether a text is NAME=RESULTS, and not the name of a file."""
    return "=" in text and not is_there(Path(text))


def other_folders() -> Iterator[Path]:
    """Yield the folders to write to where the current one takes no file: home, the temporary one."""
    import tempfile

    # An account may have no home.
    with suppress(RuntimeError):
        yield Path.home()
    yield Path(tempfile.gettempdir())


# -- paths as they are typed --------------------------------------------------------------------------------


def home_expanded(text: str) -> Path:
    """Return a path with ~ as a shell replaces it; that of nobody stays as it is."""
    with suppress(RuntimeError):
        return Path(text).expanduser()
    return Path(text)


def files_named(text: str) -> tuple[str, ...]:
    """Return the files that a line names, with ~ and * replaced as a shell does, or one with blanks in it.

    Raises OptionError: a quote is not closed.
    """
    try:
        words = [text] if text and is_there(home_expanded(text)) else shlex.split(text)
    except ValueError as error:
        raise OptionError(f"{text}: {str(error).lower()}", remedy="close the quotes") from error
    names: list[str] = []
    for word in words:
        name = str(home_expanded(word)) if word.startswith("~") else word
        # A file whose own name has such a mark is meant by it.
        matches = [] if is_there(Path(name)) else sorted(glob.glob(name))  # noqa: PTH207 - takes absolute ones too
        names += matches or [name]
    return tuple(names)


def completed(text: str) -> tuple[str, list[str]]:
    """Return a path as far as the names that are there agree on how it goes on, and these names.

    As in a shell, ~ stays as it is typed, a folder ends in /, and a hidden name is meant by its point alone.
    """
    folder, slash, prefix = text.rpartition("/")
    names: list[str] = []
    with suppress(OSError, ValueError):
        entries = [
            entry for entry in home_expanded(folder + slash).iterdir() if entry.name.startswith(prefix)
        ]
        visible = [
            entry for entry in entries if entry.name.isprintable() and (prefix or entry.name[0] != ".")
        ]
        names = sorted(f"{entry.name}/" if entry.is_dir() else entry.name for entry in visible)
    agreed = takewhile(lambda letters: len({*letters}) == 1, zip(*names, strict=False))
    return folder + slash + ("".join(letter for letter, *_ in agreed) or prefix), names


def last_completed(text: str) -> tuple[str, list[str]]:
    r"""Return a text whose last word is `completed`, of A=B the B; a blank in a word is written ``\ ``."""
    word = re.split(r"(?<!\\)\s", text)[-1]
    label, equals, path = re.sub(r"\\(.)", r"\1", word).rpartition("=")
    completion, names = completed(path)
    escaped = re.sub(r"([\s'\"\\])", r"\\\1", label + equals + completion)
    return text[: len(text) - len(word)] + escaped, names


PLAN_NAME = "plan.json"


def free_name(name: str) -> str:
    """Return an unused name in the current folder: this one, or with a number before its suffix."""
    path = Path(name)
    names = chain([name], (str(path.with_stem(f"{path.stem}-{number}")) for number in count(2)))
    return next(unused for unused in names if not Path(unused).exists())
