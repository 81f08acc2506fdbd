"""A limit of the time that something may take."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class Watchdog:
    """Ends what takes too long inside ``with`` blocks, at most so long in each."""

    def __init__(self, patience_s: float, end: Callable[[], object]) -> None:
        """Store how long a block may take, and what ends it."""
        self._patience_s = patience_s
        self._end = end
        self.has_bitten = False
        """Whether something took too long."""
        self._timer: threading.Timer | None = None

    def __enter__(self) -> Watchdog:
        self._timer = threading.Timer(self._patience_s, self._bite)
        self._timer.daemon = True
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._timer is not None
        self._timer.cancel()

    def _bite(self) -> None:
        self.has_bitten = True
        self._end()
