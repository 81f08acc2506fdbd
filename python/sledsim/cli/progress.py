"""Long work, with a progress bar; an interrupt stops it within a second."""

from __future__ import annotations

import signal
import sys
import threading
from typing import TYPE_CHECKING, Generic, TypeVar

from sledsim._progress import Bar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

GRACE_S = 0.7
"""How long an interrupted work may take to clean up."""


class _Work(threading.Thread, Generic[T]):
    """Work in a thread of its own.

    The main thread stays free to take signals while it works.
    """

    def __init__(self, do: Callable[[Callable[..., None]], T], unit: str) -> None:
        super().__init__(daemon=True)
        self._do = do
        self._stop_it = threading.Event()
        self.finished = threading.Event()
        """To wait for: an interrupted join takes the thread for ended (Python bug 45274)."""
        self._bar = Bar(unit) if sys.stderr.isatty() else None
        self.result: T
        self.raised: BaseException | None = None

    def run(self) -> None:
        try:
            self.result = self._do(self._beat)
        except BaseException as raised:  # noqa: BLE001 (for the main thread to raise)
            self.raised = raised
        finally:
            self.finished.set()

    def stop(self) -> None:
        """Ask it to stop, and give it time to clean up."""
        for number in (signal.SIGINT, signal.SIGTERM):  # further signals must not interrupt that
            signal.signal(number, signal.SIG_IGN)
        self._stop_it.set()
        self.finished.wait(GRACE_S)

    def _beat(self, done: int, of: int | None, note: str = "") -> None:
        if self._stop_it.is_set():
            raise KeyboardInterrupt
        if self._bar is not None:
            self._bar.draw(done, of, note)

    def clear(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.clear()


def work(do: Callable[[Callable[..., None]], T], unit: str = "requests") -> T:
    """Do long work; ``do`` gets a callback for progress: done, total if known, perhaps a note.

    What is done is counted in ``unit``. Nothing is shown unless stderr is a terminal.
    """
    thread = _Work(do, unit)
    try:
        thread.start()
        while not thread.finished.wait(0.1):
            pass
    except KeyboardInterrupt:
        thread.stop()
        raise
    finally:
        thread.clear()
    if thread.raised is not None:
        raise thread.raised
    return thread.result
