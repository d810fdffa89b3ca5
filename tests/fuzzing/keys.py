"""Presses keys at random in the app, many of them before those before them are handled.

    python -m tests.fuzzing.keys PROFILE --keys 2000 --seeds 0 1 2

Which keys they are follows from the seed alone; what they meet, from how far the app has come by then. Files
are written to a temporary folder: no path outside it can be typed, as no slash is while a field is open.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import traceback
from collections.abc import Iterable
from contextlib import chdir
from itertools import chain
from pathlib import Path

from textual import events
from textual.app import App
from textual.keys import _character_to_key
from textual.widgets import Input

from sampling.plan.request import PlanRequest
from tests.app.driving import SIZES, opened, wait_for
from tui.app.views import VIEWS
from tui.options.look import OpenOptions

_LEAVING = frozenset({"q", "ctrl+q", "ctrl+z", "slash"})
_OFTEN = ("enter", "escape", "tab", "F", *(view.key for view in VIEWS))
_TYPED = ("left_parenthesis", "at", "space", "comma", *"019ap", "ctrl+a", "ctrl+k", "ctrl+w", "shift+tab")
_BURSTS = (1, 1, 1, 2, 3, 8)
_PHRASES = (
    *("F", "F j j j enter left_parenthesis enter", "F j j enter 9 9 enter", "F j j j enter a enter"),
    *("1 slash k enter", "3 0 enter", "3 j enter 5 enter", "3 S enter", "3 e enter", "3 B 1 h enter"),
    *("3 o enter", "3 o z enter", "5 o z enter", "5 enter 9 tab", "7 o z enter", "7 o at 0 colon 5 enter"),
    *("8 o a equals_sign b enter", "8 o enter"),
    *("2 plus", "2 minus u", "4 enter", "6 tab space", "question_mark", "f a", "ctrl+p p l a n enter"),
)
"""What opens fields and is refused in them, which keys alone seldom come to; other keys follow at once."""
_TOLD = 60
"""Keys that are told of before the one that ended the app."""


def _keys() -> list[str]:
    scopes = chain.from_iterable(view.screen.SCOPES for view in VIEWS)
    named = [key for action in chain.from_iterable(scopes) for key in action.keys.split(",")]
    return [key for key in (*dict.fromkeys((*named, *_TYPED)), *_OFTEN * 3) if key not in _LEAVING]


_CHARACTERS = {_character_to_key(chr(code)): chr(code) for code in range(32, 127)}


def press_at_once(app: App[None], keys: Iterable[str]) -> None:
    """Press keys as the terminal's driver tells of those that come in one packet: none is waited for."""
    for key in keys:
        event = events.Key(key, _CHARACTERS.get(key))
        event.set_sender(app)
        app.post_message(event)


async def press_at_random(profile: str, seed: int, presses: int) -> None:
    """Open a profile in the app and press so many keys, resizing its window now and then.

    Raises
    ------
    AssertionError : the app ended; it tells the last keys, and the cause is what ended it.
    """
    rng, keys = random.Random(seed), _keys()
    pressed: list[str] = []
    try:
        async with opened(
            profile, rng.choice(SIZES), options=OpenOptions(request=PlanRequest(method="root"))
        ) as (app, pilot):
            while len(pressed) < presses:
                is_typing = isinstance(app.focused, Input)
                burst = rng.choices(keys, k=rng.choice(_BURSTS))
                if rng.random() < 0.1:
                    burst = rng.choice(_PHRASES).split() + burst
                if not is_typing and rng.random() < 0.02:
                    burst = ["slash"]
                press_at_once(app, burst)
                pressed += burst
                if rng.random() < 0.01:
                    await pilot.resize_terminal(*rng.choice(SIZES))
                await pilot.pause(0.02 if rng.random() < 0.2 else None)
                if app.failure is not None or app.crash is not None:
                    raise app.failure or app.crash or AssertionError
                # The palette can be told to quit.
                if app._exit:
                    return
            # A key that is handled while the app is torn down finds no screen.
            await wait_for(pilot, lambda: app._keys.is_resting or bool(app._exit), "every key is handled")
            await pilot.pause(0.2)
    except Exception as error:
        raise AssertionError(f"seed {seed}, key {len(pressed)}: {' '.join(pressed[-_TOLD:])}") from error


def main() -> None:
    """Press keys, and print what ended the app."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("profile", type=Path)
    parser.add_argument("--keys", type=int, default=2000)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    options = parser.parse_args()
    faults = 0
    profile = str(options.profile.absolute())
    for seed in options.seeds:
        with tempfile.TemporaryDirectory(prefix="kernelpoint-keys-") as folder, chdir(folder):
            try:
                asyncio.run(press_at_random(profile, seed, options.keys))
            except AssertionError:
                faults += 1
                traceback.print_exc()
        print(f"seed {seed}: done", flush=True)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
