"""How long work reports its progress and is cancelled."""

from __future__ import annotations

from collections.abc import Callable

#: Called with (done, total, what); total 0 means unknown. It may raise to cancel the work.
Progress = Callable[[int, int, str], None]
