"""Shell scripts that are ready to run: what they share, and the one for Slurm."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from sampling.simulators.exporting.run_order import Part

_HEAD = """\
#!/bin/sh
{comment}
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
absolute() {{ case $1 in /*) printf '%s\\n' "$1" ;; *) printf '%s\\n' "$PWD/$1" ;; esac; }}
fail() {{ printf '%s\\n' "$0: $1" >&2; exit 1; }}
"""
_WANTS_PROGRAM = """\
if [ $# -eq 0 ]; then
  printf '%s\\n' "usage: sh $0 PROGRAM [ARGUMENT...]" >&2
  exit 2
fi
"""
_SLURM = """\
#!/bin/sh
#SBATCH --job-name=kernelpoint
#SBATCH --array=1-{shards}
# One task a shard. Submit it from its own folder: cd FOLDER && sbatch slurm.sh{arguments}
set -eu
cd -- "${{SLURM_SUBMIT_DIR:-.}}"
exec sh "./run-$SLURM_ARRAY_TASK_ID.sh" "$@"
"""

_LOGS = "run*/run.log"


def logs_of(part: Part) -> str:
    """Return where the scripts of a part, and of those like it, leave what the simulator prints."""
    return f"*/{_LOGS}" if part.folder else _LOGS


def then_estimate(part: Part) -> str:
    """Return the end of a script that simulates: the log, and what to type then."""
    top = "/.." if part.folder else ""
    return (
        "printf '%s\\n' \"$PWD/run.log\"\n"
        f"printf '%s\\n' \"then: kernelpoint estimate '$here{top}' '$here{top}'/{logs_of(part)}\" >&2\n"
    )


def script(comment: Iterable[str], body: str, *, takes_program: bool = False) -> str:
    """Return a POSIX script: comment, settings, ``here``, the functions absolute and fail, then the body.

    Parameters
    ----------
    takes_program : whether the words behind the script's name are the program to run, which must be there.
    """
    head = _HEAD.format(comment="\n".join(f"# {line}" for line in comment))
    return head + (_WANTS_PROGRAM if takes_program else "") + body


def slurm(part: Part, *, takes_program: bool = False) -> tuple[tuple[str, str], ...]:
    """Return the job array that runs each shard's ``run-N.sh``; nothing for one shard."""
    if len(part.shards) == 1:
        return ()
    arguments = " PROGRAM [ARGUMENT...]" if takes_program else ""
    return ((f"{part.folder}slurm.sh", _SLURM.format(shards=len(part.shards), arguments=arguments)),)


def quoted(text: object) -> str:
    """Return a text as one word of a shell."""
    return shlex.quote(str(text))
