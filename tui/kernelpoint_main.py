"""The entry of the installed program: sees whose packages it would import, before it imports them.

In the wheel this file lies at the top level, under a name that nobody else has. `tui`, `sampling` and
`scalemodel` are names of other people's files too, and what PYTHONPATH lists comes before what is installed.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path


def main() -> None:
    """Run the program and exit; with 1 and one line where other packages hide its own."""
    specs = [spec for spec in map(find_spec, ("tui", "sampling", "scalemodel")) if spec is not None]
    places = [next(iter(spec.submodule_search_locations or ()), str(spec.origin)) for spec in specs]
    folders = [Path(place).parent for place in places]
    # Ours lie side by side, where this file is: beside them when installed, in one of them in a checkout.
    ours = [
        any((folder / below / "kernelpoint_main.py").is_file() for below in ("", "tui")) for folder in folders
    ]
    clashes = [
        repr(place)
        for place, folder, is_ours in zip(places, folders, ours, strict=True)
        if not is_ours or (ours[0] and folder != folders[0])
    ]
    if clashes:
        named = (
            f"{clashes[0]} hides a package" if len(clashes) == 1 else f"{', '.join(clashes)} hide packages"
        )
        remedy = "leave that folder out of Python's path, as by `env -u PYTHONPATH kernelpoint ...`"
        # A text goes to stderr, and the code is 1.
        sys.exit(f"kernelpoint: error: {named} of kernelpoint's own; {remedy}")
    from tui.cli import main as run

    run()
