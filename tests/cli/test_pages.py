"""Command lines of the pages, typed one after the other with stand-ins for the reader's own files."""

from __future__ import annotations

import gzip
import lzma
import re
import shlex
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import PROJECT, Kernelpoint, cycles_of
from tests.trace_lines import trace_of

PAGES = [PROJECT / "README.md", *sorted((PROJECT / "docs" / "guide").glob("*.md"))]
SAMPLE = PROJECT / "sample_data"
#: What takes a GPU, a simulator or another project's files, and where it is tried instead
ELSEWHERE = {
    "--traces": "tests/cli/test_export.py, tests/sampling/running",
    "--simulator": "tests/cli/test_contract.py, tests/sampling/running",
    "H200/": "tests/sampling/readers/test_trace_list.py",
    "simulate simulate/run/run.log": "tests/cli/test_export.py",
    "mi300x.json.gz": "tests/sampling/plan/test_by_operator.py",
    "study.toml": "tests/cli/test_study.py, tests/cli/test_study_run.py",
    "study new": "tests/cli/test_study.py",
    "pex ": "the archive of the pages of scripts",
    "python3 -m venv": ".ci/run",
    "counted/results/": "tests/cli/test_counters.py, tests/cli/test_open.py",
    "--plan plan.json": "tests/cli/test_scale.py",
}
LOAD = "0040 ffffffff 1 R2 LDG.E 2 R4 R5 4 1 0x{:x} 4 0 0 NoVal"
TRACE = trace_of([[LOAD.format(0x7FA600000000 + 128 * (7 * line % 300)) for line in range(600)]])


def stand_in(name: str) -> Path:
    """Put something of its kind in the place of a reader's file."""
    path = Path(name)
    links = {
        "run.sqlite": SAMPLE / "resnet50-like.sqlite",
        "other-gpu.sqlite": SAMPLE / "resnet50-like.sqlite",
        "gpgpusim_visualizer.log.gz": SAMPLE / "gemm-intervals.log.gz",
    }
    if name in links:
        shutil.copy(links[name], path)
    elif sms := re.fullmatch(r"(?:sms|chosen-)(\d+)\.log", name):
        # A configuration of another size, as far as its log says.
        design = {"8": "base", "16": "gto"}[sms[1]]
        log = gzip.decompress((SAMPLE / "study" / "out" / design / "layers.log.gz").read_bytes()).decode()
        path.write_text(re.sub(r"(-gpgpu_n_clusters +)8\b", rf"\g<1>{sms[1]}", log))
    elif name == "trace.traceg.xz":
        path.write_bytes(lzma.compress(TRACE.encode()))
    else:
        cycles_of(Path("plan.json"), path)
    return path


def lines_of(page: Path) -> list[str]:
    """The command lines of a page that can be typed here."""
    blocks = re.findall(r"```sh\n(.*?)```", page.read_text(), re.DOTALL)
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    typed = (re.search(r"(?:^|/| )kernelpoint +(\S.*?)(?:\s{2,}#|\s# |$)", line) for line in lines)
    return [line[1] for line in typed if line is not None and not any(part in line[0] for part in ELSEWHERE)]


@pytest.mark.parametrize("page", [page for page in PAGES if lines_of(page)], ids=lambda page: page.stem)
def test_the_lines_of_a_page_run_as_they_are_typed(
    kernelpoint: Kernelpoint, plan_file: Path, here: Path, page: Path
) -> None:
    Path("sample_data").symlink_to(SAMPLE)
    # A page may go on from another one's plan.
    shutil.copy(plan_file, "plan.json")
    for number, line in enumerate(lines_of(page)):
        words = shlex.split(line)
        for word in words:
            name = word.rpartition("=")[2]
            if (
                re.search(r"\.(sqlite|log|csv|gz|xz)$", name)
                and not Path(name).exists()
                and name != "curve.csv"
            ):
                stand_in(name)
        # Equal words mean something else in each folder.
        run = kernelpoint(*words, PAGE=f"{page.stem} {number}")
        # A gate that fails has shown its results.
        assert run.code == 0 or (run.code == 4 and run.out), f"{line}: {run.err}"
