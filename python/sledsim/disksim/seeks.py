"""Seek files: the measured seek curve of a disk."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sledsim.disksim.numbers import REAL, real, shown, whole
from sledsim.disksim.tokens import text_of_file
from sledsim.disksim.tree import Place, error

if TYPE_CHECKING:
    from os import PathLike

_HEADER = re.compile(r"Seek distances measured:\s*(\d+)")
_POINT = re.compile(r"(\d+)\s*,\s*(\S+)")


@dataclass(frozen=True, slots=True)
class SeekPoint:
    """A measured seek."""

    cylinders: int
    time_ms: float
    place: Place


def read_seek_curve(path: str | PathLike[str]) -> tuple[SeekPoint, ...]:
    """Read a seek file: ``Seek distances measured: N``, then N lines ``CYLINDERS, MS``.

    Distances rise. Times need not: measured ones scatter by a few hundredths of a millisecond.
    """
    file = Path(path)
    announced: int | None = None
    start = Place(file, 1)
    points: list[SeekPoint] = []
    for number, line in enumerate(text_of_file(file).split("\n"), 1):
        place = Place(file, number)
        text = line.partition("#")[0].strip()
        if not text:
            continue
        if announced is None:
            header = _HEADER.fullmatch(text)
            if header is None:
                raise error(place, f"expected 'Seek distances measured: N', found '{text}'")
            announced, start = whole(header[1], place), place
        else:
            points.append(_point(text, place, points))
    if announced is None:
        raise error(start, "expected 'Seek distances measured: N', found the end of the file")
    if len(points) != announced:
        raise error(start, f"announces {announced} seek distances: the file holds {len(points)}")
    if not points:
        raise error(start, "announces no seek distance: must be at least 1")
    return tuple(points)


def _point(text: str, place: Place, before: list[SeekPoint]) -> SeekPoint:
    match = _POINT.fullmatch(text)
    if match is None:
        raise error(place, f"expected 'CYLINDERS, MILLISECONDS', found '{text}'")
    if REAL.fullmatch(match[2]) is None:
        raise error(place, f"{shown(match[2])}: must be a time in ms")
    time_ms = real(match[2], place)
    if time_ms <= 0:
        raise error(place, f"a seek of {match[2]} ms: must be above 0")
    cylinders = whole(match[1], place)
    least = before[-1].cylinders + 1 if before else 1
    if cylinders < least:
        raise error(place, f"a seek over {cylinders} cylinders: must be at least {least} here")
    return SeekPoint(cylinders, time_ms, place)
