"""Half a million blanks, line breaks or commas in what a simulator wrote are read in one pass."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.cli.conftest import PROJECT

_LETTERS = 500_000
#: Reading them takes less than this by a factor of ten; by the square of their number it took an hour
_CPU_SECONDS = 60

_READ = f"""
import resource
import sys

resource.setrlimit(resource.RLIMIT_CPU, ({_CPU_SECONDS}, {_CPU_SECONDS}))
from sampling.errors import ProfileError, SamplingError
from sampling.readers.input_file import open_input
from sampling.simulators.interval_logs import read_interval_logs
from sampling.simulators.manifest import read_manifest
from sampling.simulators.registry import read_results

for path in sys.argv[1:]:
    for read in (lambda file: read_results(file, ()), lambda file: read_interval_logs([path]), read_manifest):
        try:
            with open_input(path) as file:
                read(file)
        except SamplingError:
            pass
print("read")
"""


def test_no_reader_goes_back_over_long_runs_of_one_letter(tmp_path: Path) -> None:
    begin = {
        "nothing": "",
        "accel-sim": "Accel-Sim [build 1]\n",
        "macsim": "Arguments: ./macsim\n",
        "csv": "id,cycles\n1,5\n",
        "path": "Arguments: ./macsim\nsetup_process:0 x",
        "trace": "Accel-Sim [build 1]\nProcessing kernel ",
    }
    runs = {"lines": "\n", "dos": "\r\n", "blanks": " ", "pairs": " \n", "commas": ",", "names": "kernel-1"}
    paths = []
    for first, text in begin.items():
        for letter, sign in runs.items():
            path = tmp_path / f"{first}-{letter}.txt"
            path.write_bytes((text + sign * (_LETTERS // len(sign)) + "/\n").encode())
            paths.append(str(path))
    done = subprocess.run(
        [sys.executable, "-c", _READ, *paths],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "read\n"), done.stderr
