"""Every command on every file: what one version prints, writes and returns, held against another version.

    python benchmarks/outputs.py record before.jsonl [--data FOLDER] [--project CHECKOUT] [--only TEXT]
    python benchmarks/outputs.py compare before.jsonl after.jsonl

A refactoring is done when the second says that nothing differs. FOLDER holds further files to try every
command on, profiles or not. CHECKOUT is the project whose commands run, this one unless it is given. With
TEXT, only the files with it in their path are tried. Seconds that a command measured are masked.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import importlib
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
METHODS = (
    *("joint", "root", "stem", "allegro", "random", "first-instructions"),
    *("single-iteration", "pks", "two-level", "tbpoint", "embedding", "sieve", "photon"),
)
DRAWING = METHODS[:5]
FORMATS = ("table", "csv", "json", "jsonl", "markdown", "latex")
FEATURES = (
    "--features",
    "sample_data/resnet50-like-ncu-raw.csv.gz",
    "--features",
    "sample_data/resnet50-like-blocks.csv.gz",
)
PLAN = "written/plan.json"

# What is a duration of this run, not of the profile.
_SECONDS = re.compile(rb'("seconds": )[-0-9.e]+|(?<=,)[0-9.e-]+(?=\r?\n)|(?<=\| )[0-9.e-]+(?= \|\r?\n)')


def of_any_file(path: str) -> Iterator[tuple[str, ...]]:
    """Yield what is tried on every file, whatever it holds."""
    yield ("info", path, "--format", "json")
    yield ("sample", path, "--format", "json", "-o", PLAN)
    yield ("project", path, "--format", "json")
    yield ("scale", "predict", path, "--format", "json")
    yield ("scale", "validate", path, "--format", "json")
    yield ("scale", "derive", path, "--factor", "2", "--format", "json")
    yield ("scale", "mrc", path, "-c", "1MiB", "-c", "4MiB", "--format", "json")
    yield (
        "compare",
        "sample_data/resnet50-like-gpu-trace.csv",
        "--features",
        path,
        "--repeats",
        "5",
        "--format",
        "json",
    )
    yield ("judge", "sample-plan.json", path, "--format", "json")


def of_a_profile(path: str) -> Iterator[tuple[str, ...]]:
    """Yield what is tried on a file that is a profile."""
    for command in ("summary", "info", "groups", "histogram", "tree"):
        for name in FORMATS:
            yield (command, path, "--format", name)
    yield (path,)
    yield ("groups", path, "--sort", "cov", "--top", "5")
    yield ("groups", path, "--group-by", "name", "--format", "csv")
    yield ("groups", path, "--group-by", "short-name", "--pool-devices", "--format", "json")
    yield ("groups", path, "--exclude", "communication", "--format", "csv")
    yield ("groups", path, "--launches", "10:500", "--format", "csv")
    yield ("groups", path, "--time", "1000000:900000000", "--format", "csv")
    yield ("histogram", path, "--log", "--ascii", "--width", "60")
    yield ("histogram", path, "--kernel", "#2", "--format", "csv")
    for method in METHODS:
        yield ("sample", path, "--method", method, "--format", "json", "-o", PLAN)
        yield ("sample", path, "--method", method, "--group-by", "name", "--judge", "20")
    for method in DRAWING[:4]:
        yield ("tree", path, "--method", method, "--format", "json")
        yield ("tree", path, "--method", method, "--decisions", "3", "--kernel", "#2")
    yield (
        "sample",
        path,
        "--epsilon",
        "0.01",
        "--min-samples",
        "1",
        "--noise-floor",
        "0",
        "--group-epsilon",
        "none",
    )
    yield ("sample", path, "--epsilon", "0.02", "--seed", "3", "--format", "jsonl")
    yield ("sample", path, "--set", "root.variant=script", "--method", "root", "--format", "csv")
    yield ("sample", path, "--set", "root.k_max=4", "--method", "root")
    yield ("sample", path, "--list", "strata", "--format", "csv")
    yield ("sample", path, "--time", "1000000:900000000", "--format", "json", "-o", PLAN)
    yield ("trade-off", path, "--format", "csv")
    yield ("trade-off", path, "--method", "root")
    yield ("compare", path, "--repeats", "10", "--format", "json")
    yield (
        "compare",
        path,
        "--repeats",
        "10",
        "--group-by",
        "published",
        "--methods",
        "joint,root,stem,allegro",
    )
    yield ("judge", "own-plan.json", path, "--format", "json", "--repeats", "50")
    yield ("judge", "own-plan.json", path, "--repeats", "50")
    yield ("export", "own-plan.json", "--to", "csv", "-o", "written/list", "--format", "json")
    yield ("convert", path, "-o", "written/profile.parquet", "--format", "json")


def of_none() -> Iterator[tuple[str, ...]]:
    """Yield what needs no further file: help, usage errors, the bundled samples."""
    looking = ("open", "summary", "info", "groups", "histogram", "tree", "methods", "demo")
    for command in (*looking, "sample", "trade-off", "compare", "judge", "export", "project", "convert"):
        yield (command, "--help")
        yield (command,)
        yield (command, "--no-such-option")
    for command in ("open", "predict", "validate", "derive", "mrc"):
        yield ("scale", command, "--help")
        yield ("scale", command)
    yield ()
    yield ("--help",)
    yield ("--version",)
    yield ("scale",)
    yield ("smmary", "x")
    yield ("no-such-file.sqlite",)
    resnet = "sample_data/resnet50-like.sqlite"
    for name in FORMATS:
        yield ("methods", "--format", name)
        yield ("demo", "--format", name)
        yield ("compare", resnet, "--repeats", "20", *FEATURES, "--format", name)
        yield ("project", "sample_data/gemm-intervals.log.gz", "--format", name)
        yield ("scale", "predict", "sample_data/scale-model-example.toml", "--format", name)
        yield ("scale", "predict", "sample_data/scale-model-example.toml", "--rule", "all", "--format", name)
        yield ("scale", "validate", "sample_data/scale-model-example.csv", "--format", name)
    yield (
        "scale",
        "derive",
        "sample_data/scale-model-target.toml",
        "-o",
        "written/models",
        "--format",
        "json",
    )
    for method in METHODS:
        yield ("sample", resnet, "--method", method, *FEATURES, "--format", "json", "-o", PLAN)
    yield ("compare", resnet, "--repeats", "20", *FEATURES, "--scatter")
    yield ("compare", resnet, "sample_data/gpt2-like.json.gz", "--repeats", "20")
    for value in ("0", "1", "5", "-0.1", "nan", "x"):
        yield ("sample", resnet, "--epsilon", value)
        yield ("sample", resnet, "--group-epsilon", value)
        yield ("sample", resnet, "--confidence", value)
        yield ("sample", resnet, "--min-samples", value)
        yield ("sample", resnet, "--method", "random", "--set", f"random.probability={value}")
        yield ("sample", resnet, "--method", "root", "--set", f"root.k_max={value}")
        yield ("sample", resnet, "--method", "allegro", "--set", f"allegro.threshold={value}")
        yield ("sample", resnet, *FEATURES, "--method", "pks", "--set", f"pks.error={value}")
        yield ("sample", resnet, *FEATURES, "--method", "photon", "--set", f"photon.distance={value}")
        yield ("sample", resnet, *FEATURES, "--method", "two-level", "--set", f"two-level.first={value}")
    for text in (
        "root.vriant=script",
        "rot.variant=script",
        "root.variant=other",
        "variant=script",
        "root.variant",
        "pks.error=0.1",
    ):
        yield ("sample", resnet, "--method", "root", "--set", text)
    yield (
        "scale",
        "predict",
        "--ipc",
        "8=100",
        "16=199",
        "--mpki",
        "8=6,16=6,32=5.9,64=5.6,128=0.1",
        "--f-mem",
        "0.45",
        "--target",
        "32,64,128",
    )


def run(arguments: tuple[str, ...], folder: Path, project: Path) -> dict[str, object]:
    """Run one command in a child of this process, and return what it left behind."""
    written = folder / "written"
    shutil.rmtree(written, ignore_errors=True)
    written.mkdir()
    child = os.fork()
    if child == 0:
        _become(arguments, folder)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    files = {
        str(path.relative_to(written)): _digest(path.read_bytes())
        for path in sorted(written.rglob("*"))
        if path.is_file()
    }
    out, err = ((folder / name).read_bytes() for name in ("stdout", "stderr"))
    if arguments[:1] == ("compare",):
        out = _SECONDS.sub(b"-", out)
    # Where the bundled sample data lies is the checkout's own.
    out, err = (text.replace(str(project).encode(), b"PROJECT") for text in (out, err))
    return {
        "command": arguments,
        "code": code,
        "stdout": _digest(out),
        "stderr": _digest(err),
        "files": files,
        "out": out[-1500:].decode(errors="replace"),
        "err": err[-600:].decode(errors="replace"),
    }


def _import_all(project: Path) -> None:
    """Import what commands import, so that no child waits for it."""
    for name in (
        "msgspec",
        "pandas",
        "pyarrow.parquet",
        "scipy.stats",
        "sklearn.cluster",
        "typer",
    ):
        importlib.import_module(name)
    for package in ("sampling", "scalemodel", "tui"):
        for path in sorted((project / package).rglob("*.py")):
            parts = path.relative_to(project).with_suffix("").parts
            if parts[:2] != ("tui", "app") and parts[-1] not in {"__init__", "__main__"}:
                importlib.import_module(".".join(parts))


def _become(arguments: tuple[str, ...], folder: Path) -> None:
    os.chdir(folder)
    for descriptor, name in ((0, "/dev/null"), (1, "stdout"), (2, "stderr")):
        flags = os.O_RDONLY if descriptor == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        os.dup2(os.open(name, flags), descriptor)
    sys.argv = ["kernelpoint", *arguments]
    code = 70
    try:
        from tui.cli import main

        main()
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def recorded(task: tuple[str | None, str, str | None]) -> list[dict[str, object]]:
    """Run all commands on one file, or those that need none."""
    path, project, data = task
    sys.path.insert(0, project)
    os.environ |= {
        "COLUMNS": "80",
        "TERM": "xterm-256color",
        "LC_ALL": "C.UTF-8",
        "HOME": tempfile.gettempdir(),
    }
    for name in ("NO_COLOR", "FORCE_COLOR", "SSH_CONNECTION"):
        os.environ.pop(name, None)
    _import_all(Path(project))

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "sample_data").symlink_to(PROJECT / "sample_data")
        if data is not None:
            (folder / "data").symlink_to(data)

        def outputs(commands: Iterator[tuple[str, ...]]) -> list[dict[str, object]]:
            return [{"file": path} | run(arguments, folder, Path(project)) for arguments in commands]

        run(("sample", "sample_data/resnet50-like.sqlite", "-o", PLAN), folder, Path(project))
        shutil.copy(folder / PLAN, folder / "sample-plan.json")
        if path is None:
            return outputs(of_none())
        found = outputs(of_any_file(path))
        if found[0]["code"] == 0:
            run(("sample", path, "-o", PLAN, "--judge", "0"), folder, Path(project))
            if (folder / PLAN).exists():
                shutil.copy(folder / PLAN, folder / "own-plan.json")
            found += outputs(of_a_profile(path))
        return found


def files_of(data: Path | None) -> list[str]:
    """Return the files and folders to try everything on, as they are named in the working folder."""
    found = [
        f"sample_data/{path.name}"
        for path in sorted((PROJECT / "sample_data").iterdir())
        if path.suffix not in {".py", ".md"} and path.is_file()
    ]
    if data is not None:
        found += [
            f"data/{path.relative_to(data)}"
            for path in sorted(data.rglob("*"))
            if path.is_file() or any(one.suffix in {".parquet", ".arrow"} for one in path.iterdir())
        ]
    return found


def record(target: Path, project: Path, data: Path | None, only: str) -> None:
    """Write a line for every output of a checkout's commands."""
    paths = [path for path in (None, *files_of(data)) if only in (path or "")]
    tasks = [(path, str(project), None if data is None else str(data)) for path in paths]
    outputs = 0
    with ProcessPoolExecutor(2) as pool, target.open("w") as out:
        for one in pool.map(recorded, tasks):
            outputs += len(one)
            out.writelines(json.dumps(line) + "\n" for line in one)
    print(f"{outputs} outputs of {len(tasks)} files: {target}")


def compare(before: Path, after: Path) -> int:
    """Print every output that differs, and how many were compared."""
    old, new = (
        {(line["file"], *line["command"]): line for line in map(json.loads, path.open())}
        for path in (before, after)
    )
    differing = 0
    for command in (command for command in old if command in new):
        line, other = old[command], new[command]
        parts = [part for part in ("code", "stdout", "stderr", "files") if line[part] != other[part]]
        if parts:
            differing += 1
            print(f"{command}: {', '.join(parts)}")
            for part in ("out", "err"):
                if line[part] != other[part]:
                    print(f"--- {part} before\n{line[part][-700:]}\n--- {part} after\n{other[part][-700:]}")
    alone = f"{len(old.keys() - new.keys())} stand only before, {len(new.keys() - old.keys())} only after"
    print(f"{len(old.keys() & new.keys())} outputs compared, {differing} differ; {alone}")
    return int(differing > 0)


def main() -> None:
    """Record or compare."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("record", "compare"))
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--project", type=Path, default=PROJECT)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    if given.what == "record":
        record(given.paths[0], given.project.resolve(), given.data and given.data.resolve(), given.only)
    else:
        sys.exit(compare(*given.paths))


if __name__ == "__main__":
    main()
