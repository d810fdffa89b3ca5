"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO

from sampling.errors import OptionError
from tui.options.files import check_file, refuse_files, why_not_written
from tui.terminal import interruption

_open_new: set[Path] = set()


@contextmanager
def temporary_file(folder: Path) -> Iterator[Path]:
    """Give a new empty file of the user's alone, removed at the end if it is still there.

    Raises OSError: it cannot be made in that folder.
    """
    path = folder / f".kernelpoint-{os.getpid()}-{secrets.token_hex(4)}"
    # Noted before it is there: a signal may come between the two.
    _open_new.add(path)
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600))
        yield path
    finally:
        _remove_temporary(path)


def _remove_all() -> None:
    for path in tuple(_open_new):
        # The program ends, and has nobody to tell why one cannot be removed.
        with suppress(OSError):
            _remove_temporary(path)


interruption.at_the_end(_remove_all)


def _remove_temporary(path: Path) -> None:
    path.unlink(missing_ok=True)
    _open_new.discard(path)


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Give a temporary file beside the target; if all is written it becomes the target, else it is removed.

    A link is followed; a pipe or a device is written to and never replaced.
    """
    path = check_file(path)
    if path.exists() and not path.is_file():
        with scratch_file() as scratch:
            yield scratch
            with scratch.open("rb") as source, path.open("wb") as target:
                shutil.copyfileobj(source, target)
        return
    with temporary_file(path.parent) as temporary:
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
    """Write a file of text, whole or not at all."""
    with new_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8", errors="backslashreplace")


@contextmanager
def scratch_file() -> Iterator[Path]:
    """Give a temporary file for what cannot be written to a pipe directly."""
    with temporary_file(Path(tempfile.gettempdir())) as path:
        yield path


def write_folder(
    folder: Path,
    files: Sequence[tuple[str, str | Callable[[IO[bytes]], None]]],
    *,
    force: bool,
    replaced: Callable[[Path], bool] = lambda _: False,
) -> list[str]:
    """Write (relative path, content) below a folder and return the paths; scripts (.sh) can be run.

    Of a large file the content is what writes it. `force`: whether to overwrite. `replaced`: whether a file
    that is there is overwritten unasked.

    Raises OptionError: the folder is a file; a file exists and `force` is not given; or a file is one that
    the command reads, or in a folder that it reads. OSError: one cannot be written; then none has been.
    """
    paths = [folder / relative for relative, _ in files]
    refuse_files(dict.fromkeys(parent for path in (folder / "any", *paths) for parent in path.parents))
    if any(why_not_written(path) is not None for path in paths):
        message = f"-o {folder} would overwrite what the command reads, or write into it"
        raise OptionError(message, remedy="give another folder")
    existing = [] if force else [path for path in paths if path.exists() and not replaced(path)]
    if existing:
        raise OptionError(f"{existing[0]} exists", remedy="give another folder, or --force to overwrite")
    with ExitStack() as temporaries:
        with ExitStack() as placed:
            for path, (_, content) in zip(paths, files, strict=True):
                _make_folder(path.parent, temporaries)
                temporary = placed.enter_context(new_file(path))
                # As bytes, so that line ends are not changed.
                if isinstance(content, str):
                    temporary.write_bytes(content.encode("utf-8", "backslashreplace"))
                else:
                    with temporary.open("wb") as stream:
                        content(stream)
        # Everything is written: keep the folders.
        temporaries.pop_all()
    for path in paths:
        if path.suffix == ".sh":
            mode = path.stat().st_mode
            # Who may read a script may run it.
            path.chmod(mode | (mode & 0o444) >> 2)
    return [str(path) for path in paths]


def _make_folder(folder: Path, undo: ExitStack) -> None:
    """Make a folder and those above it; on failure, those that are still empty are removed again."""
    for parent in reversed([parent for parent in (folder, *folder.parents) if not parent.exists()]):
        try:
            parent.mkdir()
        except OSError as error:
            reason = f"cannot be written ({error.strerror})"
            raise type(error)(error.errno, reason, str(parent.resolve())) from error
        undo.callback(_remove, parent)


def _remove(folder: Path) -> None:
    # Another program may have put a file there meanwhile.
    with suppress(OSError):
        folder.rmdir()
