"""Long work, with a progress bar; an interrupt stops it within a second."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

GRACE_S = 0.7
"""How long an interrupted work may take to clean up."""
_BAR = 30
"""Characters of the bar, and at least 5 of them, or none."""
_USUAL_WIDTH = 80
_SETTLED_S = 0.5
"""How long the rate is measured before it is shown."""


class Bar:
    """The line of the progress: how many of all, a bar, the rate, the time left.

    Parameters
    ----------
    unit
        What is counted, in the plural.
    clock
        A clock in seconds.
    """

    def __init__(self, unit: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._unit = unit
        self._clock = clock
        self._begun: tuple[float, int] | None = None
        self._last = 0

    def line(self, done: int, of: int | None, note: str, width: int) -> str:
        """Return the line for a terminal of so many columns, of which the last stays free.

        A terminal that is too narrow cuts the bar first, then the end of the line.
        """
        before = f"{done:,} of {of:,} {self._unit}" if of else f"{done:,} {self._unit}"
        after = ", ".join(part for part in (*self._speed(done, of), note) if part)
        room = width - len(before) - len(after) - 5
        bar = ""
        if of and room >= 5:
            wide = min(_BAR, room)
            bar = f" [{'#' * min(wide, wide * done // of):.<{wide}}]"
        text = f"{before}{bar} {after}".rstrip()
        return text[: max(width - 1, 0)]

    def _speed(self, done: int, of: int | None) -> list[str]:
        """Return rate and time left, once something has been done for a while."""
        now = self._clock()
        if self._begun is None or done < self._last:  # a further part of the work
            self._begun = (now, done)
        self._last = done
        passed, more = now - self._begun[0], done - self._begun[1]
        if passed < _SETTLED_S or more <= 0:
            return []
        rate = more / passed
        left = [f"{duration((of - done) / rate)} left"] if of and done < of else []
        return [_rate(rate), *left]


def duration(seconds: float) -> str:
    """Return a duration in words: ``0.5 s``, ``42 s``, ``3 min``, ``2.5 h``."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5970 else f"{seconds / 3600:.1f} h"


def _width() -> int:
    """Return the columns of the terminal of stderr; stdout may be a file."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or _USUAL_WIDTH
    except OSError:
        return _USUAL_WIDTH


def _rate(per_s: float) -> str:
    for factor, prefix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if per_s >= factor:
            return f"{per_s / factor:.3g} {prefix}/s"
    return f"{per_s:.2g}/s" if per_s < 10 else f"{per_s:.0f}/s"


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
            line = self._bar.line(done, of, note, _width())
            print(f"\r{line}\x1b[K", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


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
