"""Files that belong together, written to a folder: all of them or none."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from sampling.errors import OptionError
from tui.output import new_file


def write_folder(
    folder: Path, files: Sequence[tuple[str, str]], *, force: bool, reads: Path | None = None
) -> list[str]:
    """Write (relative path, content) below a folder and return the paths.

    Parameters
    ----------
    force : whether to overwrite.
    reads : what the command reads, which is never overwritten.

    Raises
    ------
    OptionError : the folder is a file, or a file exists and is not to be overwritten.
    OSError : one cannot be written; then none has been.
    """
    if folder.exists() and not folder.is_dir():
        raise OptionError(f"-o {folder} is a file, a folder is meant", remedy="give another name")
    paths = [folder / relative for relative, _ in files]
    existing = [path for path in paths if path.exists()]
    if reads is not None and any(path.samefile(reads) for path in existing):
        raise OptionError(f"-o {folder} would overwrite what the command reads", remedy="give another folder")
    if existing and not force:
        raise OptionError(f"{existing[0]} exists", remedy="give another -o, or --force to overwrite")
    with ExitStack() as written:
        for path, (_, content) in zip(paths, files, strict=True):
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary = written.enter_context(new_file(path))
            # In bytes: line ends stay what they are.
            temporary.write_bytes(content.encode("utf-8"))
    return [str(path) for path in paths]
