"""Progress of long work: a callable of the caller's, or a bar on stderr."""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TypeAlias

from sledsim._arguments import refuse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Beat: TypeAlias = "Callable[[int, int | None], object]"
"""Called now and then with how many are done and how many there are, if known."""
ProgressLike: TypeAlias = "Beat | bool | None"
"""``True`` for a bar; ``False`` or ``None`` for none."""

_BAR = 30
"""Characters of the bar, and at least 5 of them, or none."""
_USUAL_WIDTH = 80
_SETTLED_S = 0.5
"""How long the rate is measured before it is shown."""


@contextmanager
def told(progress: ProgressLike, unit: str = "requests") -> Iterator[Beat | None]:
    """Yield what is to be called with the progress, if anything; a bar is removed at the end.

    Parameters
    ----------
    progress
        The argument of that name of a public function.
    unit
        What is counted, in the plural.

    Raises
    ------
    SledsimError
        For anything else.
    """
    if progress is None or progress is False:
        yield None
    elif progress is True:
        bar = Bar(unit)
        try:
            yield bar.draw
        finally:
            bar.clear()
    elif callable(progress):
        yield progress
    else:
        refuse("progress", progress, "True, False, or what is called with two numbers")


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
        self._drawn = 0
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

    def draw(self, done: int, of: int | None, note: str = "") -> None:
        """Draw the line on stderr, a terminal or a notebook, over the one before."""
        width = _width()
        line = self.line(done, of, note, width)
        _write(f"\r{line.ljust(min(self._drawn, width - 1))}")
        self._drawn = len(line)

    def clear(self) -> None:
        """Remove the line."""
        if self._drawn:
            _write(f"\r{' ' * min(self._drawn, _width() - 1)}\r")
        self._drawn = 0

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


def _write(text: str) -> None:
    with suppress(AttributeError, OSError, ValueError):  # no stderr, or one that was closed
        sys.stderr.write(text)
        sys.stderr.flush()


def _width() -> int:
    """Return the columns of the terminal of stderr; stdout may be a file."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or _USUAL_WIDTH
    except (AttributeError, OSError, ValueError):
        return _USUAL_WIDTH


def _rate(per_s: float) -> str:
    for factor, prefix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if per_s >= factor:
            return f"{per_s / factor:.3g} {prefix}/s"
    return f"{per_s:.2g}/s" if per_s < 10 else f"{per_s:.0f}/s"
