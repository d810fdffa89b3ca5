"""Files that belong together, written to a folder: all of them or none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from sampling.errors import OptionError
from tui.options.input_files import why_not_written
from tui.output.writer import new_file


def write_folder(folder: Path, files: Sequence[tuple[str, str]], *, force: bool) -> list[str]:
    """Write (relative path, content) below a folder and return the paths.

    Parameters
    ----------
    force : whether to overwrite.

    Raises
    ------
    OptionError : the folder is a file, or a file exists and is not to be overwritten, or is what the command
        reads or in a folder of it, and never is.
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
                # In bytes: line ends stay what they are.
                temporary.write_bytes(content.encode("utf-8"))
        # All is there, and the folders stay.
        made.pop_all()
    return [str(path) for path in paths]


def _make_folder(folder: Path, undo: ExitStack) -> None:
    """Make a folder and those above it, to be removed again where nothing comes to be in them."""
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
    # Somebody else may have put something there by now.
    with suppress(OSError):
        folder.rmdir()


def _check_folders(folders: Iterable[Path]) -> None:
    """Raise OptionError if one of these is there and no folder."""
    for folder in folders:
        if folder.exists() and not folder.is_dir():
            raise OptionError(f"{folder} is a file, a folder is meant", remedy="give another name with -o")
