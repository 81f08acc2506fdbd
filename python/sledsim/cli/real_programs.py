"""What the commands that run real programs have in common."""

from __future__ import annotations

import contextlib
import signal
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType


def tell(line: str) -> None:
    """Print a line about a step."""
    print(line, file=sys.stderr, flush=True)


@contextlib.contextmanager
def one_signal() -> Iterator[None]:
    """Let the first signal interrupt, and ignore others during the clean-up."""
    kinds = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    said = ((kind, signal.getsignal(kind)) for kind in kinds)
    before = {kind: handler for kind, handler in said if callable(handler)}

    def stop(number: int, frame: FrameType | None) -> None:
        for kind in before:
            signal.signal(kind, signal.SIG_IGN)
        before[signal.Signals(number)](number, frame)

    for kind in before:
        signal.signal(kind, stop)
    try:
        yield
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)
