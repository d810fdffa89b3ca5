"""The one writer of files: whole or not at all, and never over what the command reads."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from sampling.errors import OptionError
from tui.options.input_files import why_not_written
from tui.output.temporary import temporary_file


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Give a temporary file beside the target; if all is written it becomes the target, else it is removed.

    A link is followed; a pipe or a device is written to and never replaced.

    Raises
    ------
    OptionError : the command reads it, or the folder it is in; a recording cannot be made again.
    OSError : it is a folder, or nothing can be written there.
    """
    why_not = why_not_written(path)
    if why_not is not None:
        raise OptionError(f"{path} {why_not}", remedy="give another file to write")
    path = path.resolve()
    if path.is_dir():
        raise IsADirectoryError(21, "is a folder, a file is meant", str(path))
    if not path.parent.is_dir():
        raise FileNotFoundError(2, "there is no such folder to write in", str(path.parent))
    if path.exists() and not path.is_file():
        with scratch_file() as scratch:
            yield scratch
            with scratch.open("rb") as source, path.open("wb") as target:
                shutil.copyfileobj(source, target)
        return
    with _beside(path) as temporary:
        try:
            yield temporary
            mask = os.umask(0)
            os.umask(mask)
            temporary.chmod(0o666 & ~mask)
            temporary.replace(path)
        except OSError as error:
            if error.filename in {None, str(temporary)}:
                # The error of a full disk names no file, or the temporary one, which the user does not know.
                error.filename = str(path)
            raise


def write_text(text: str, path: Path) -> None:
    """Write a file of text, whole or not at all.

    Raises
    ------
    OptionError, OSError : see `new_file`.
    """
    with new_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8", errors="backslashreplace")


@contextmanager
def _beside(path: Path) -> Iterator[Path]:
    """Give a temporary file in the same folder."""
    with ExitStack() as opened:
        try:
            # A name that the file system does not take is told before a long work, not after it.
            with suppress(FileNotFoundError):
                path.lstat()
            temporary = opened.enter_context(temporary_file(path.parent))
        except OSError as error:
            raise type(error)(error.errno, f"cannot be written ({error.strerror})", str(path)) from error
        yield temporary


@contextmanager
def scratch_file() -> Iterator[Path]:
    """Give a temporary file for what cannot be written to a pipe directly."""
    with temporary_file(Path(tempfile.gettempdir())) as path:
        yield path


def check_folder(folder: Path) -> None:
    """Refuse a folder that `write_folder` could not fill, before a long work.

    Raises
    ------
    OptionError : it is a file, or the command reads it.
    OSError : nothing can be written there.
    """
    _check_folders([folder, *folder.parents])
    if why_not_written(folder / "any") is not None:
        raise OptionError(f"{folder} is what the command reads", remedy="give another folder")
    there = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    if not os.access(there, os.W_OK | os.X_OK):
        raise PermissionError(13, "nothing can be written there", str(there))


def write_folder(folder: Path, files: Sequence[tuple[str, str]], *, force: bool) -> list[str]:
    """Write (relative path, content) below a folder and return the paths; scripts (.sh) can be run.

    Parameters
    ----------
    force : whether to overwrite.

    Raises
    ------
    OptionError : the folder is a file; a file exists and `force` is not given; or a file is one that the
        command reads, or in a folder that it reads.
    OSError : one cannot be written; then none has been.
    """
    paths = [folder / relative for relative, _ in files]
    _check_folders(dict.fromkeys(parent for path in (folder / "any", *paths) for parent in path.parents))
    existing = [path for path in paths if path.exists()]
    if any(why_not_written(path) is not None for path in paths):
        raise OptionError(
            f"-o {folder} would overwrite what the command reads, or write into it",
            remedy="give another folder",
        )
    if existing and not force:
        raise OptionError(f"{existing[0]} exists", remedy="give another -o, or --force to overwrite")
    with ExitStack() as made:
        with ExitStack() as written:
            for path, (_, content) in zip(paths, files, strict=True):
                _make_folder(path.parent, made)
                temporary = written.enter_context(new_file(path))
                # As bytes, so that line ends are not changed.
                temporary.write_bytes(content.encode("utf-8", "backslashreplace"))
        # Everything is written: keep the folders.
        made.pop_all()
    for path in paths:
        if path.suffix == ".sh":
            mode = path.stat().st_mode
            # Who may read a script may run it.
            path.chmod(mode | (mode & 0o444) >> 2)
    return [str(path) for path in paths]


def _make_folder(folder: Path, undo: ExitStack) -> None:
    """Make a folder and those above it; on failure, those that are still empty are removed again."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        try:
            each.mkdir()
        except OSError as error:
            raise type(error)(
                error.errno, f"cannot be written ({error.strerror})", str(each.resolve())
            ) from error
        undo.callback(_remove, each)


def _remove(folder: Path) -> None:
    # Another program may have put a file there meanwhile.
    with suppress(OSError):
        folder.rmdir()


def _check_folders(folders: Iterable[Path]) -> None:
    """Raise OptionError if one of these is there and no folder."""
    for folder in folders:
        if folder.exists() and not folder.is_dir():
            raise OptionError(f"{folder} is a file, a folder is meant", remedy="give another name with -o")
