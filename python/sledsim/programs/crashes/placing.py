"""Where the files of a program lie on the device, by the ioctl FIEMAP."""

from __future__ import annotations

import contextlib
import fcntl
import struct
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sledsim.programs.spans import Span

_FIEMAP = 0xC020_660B
_HEAD = struct.Struct("=QQIIII")
_EXTENT = struct.Struct("=QQQQQIIII")
_MANY = 256
_UNPLACED = 0x2 | 0x4 | 0x200
"""Flags of extents that are nowhere yet: unknown, delayed; or not in blocks of their own."""
_PERIOD_S = 0.005


def extents(path: Path) -> list[Span]:
    """Return the spans of bytes of the device where a file lies, as far as they are known."""
    buffer = bytearray(_HEAD.size + _MANY * _EXTENT.size)
    found = []
    with path.open("rb") as file:
        start = 0
        while True:
            _HEAD.pack_into(buffer, 0, start, (1 << 63) - start, 0, 0, _MANY, 0)
            fcntl.ioctl(file, _FIEMAP, buffer)
            mapped = _HEAD.unpack_from(buffer)[3]
            for number in range(mapped):
                at = _HEAD.size + number * _EXTENT.size
                logical, physical, length, _, _, flags, *_ = _EXTENT.unpack_from(buffer, at)
                if not flags & _UNPLACED:
                    found.append((physical, physical + length))
                start = logical + length
            if mapped < _MANY:
                return found


class Watch:
    """Looks again and again where files lie, as journals come and go; a context manager."""

    def __init__(self, folder: Path, patterns: Sequence[str]) -> None:
        """Watch the files of these patterns below a folder."""
        self._folder = folder
        self._patterns = patterns
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._found: set[Span] = set()

    def __enter__(self) -> Watch:
        self.look()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()
        self.look()

    @property
    def spans(self) -> list[Span]:
        """Where they were seen."""
        return sorted(self._found)

    def look(self) -> None:
        """Look once."""
        for pattern in self._patterns:
            # Files go while they are looked at, and folders while they are listed.
            with contextlib.suppress(OSError):
                for path in self._folder.glob(pattern):
                    with contextlib.suppress(OSError):
                        if path.is_file():
                            self._found.update(extents(path))

    def _watch(self) -> None:
        while not self._end.wait(_PERIOD_S):
            self.look()
