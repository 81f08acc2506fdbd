"""Traces in memory: frames, and mappings by request, as files that live as long as the process.

A file is named after its content, so that equal frames are equal loads.
"""

from __future__ import annotations

import csv
import hashlib
import os
import tempfile
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from sledsim import _core
from sledsim._arguments import refuse
from sledsim._core import FRAMES, TraceError


def is_frame(given: object) -> bool:
    """Return whether a value is a table, or may be mappings by request."""
    return hasattr(given, "__arrow_c_stream__") or (
        isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping)
    )


def file_of(given: Any) -> Path:
    """Return the file of what :func:`is_frame` takes."""
    if hasattr(given, "__arrow_c_stream__"):
        aside = _aside(".parquet")
        try:
            _core.Rows.of_data(given).write_parquet(aside)
        except (TypeError, ValueError) as error:
            raise TraceError(f"trace = {type(given).__name__}: {error}") from None
        return _kept(aside)
    rows = list(given)
    for number, row in enumerate(rows):
        if not isinstance(row, Mapping):
            refuse(f"trace[{number}]", row, "a mapping: the names of a request and its values")
    names = list(dict.fromkeys(chain.from_iterable(rows)))
    aside = _aside(".csv")
    with aside.open("w", encoding="utf-8", newline="") as opened:
        lines = csv.DictWriter(opened, names, lineterminator="\n")
        lines.writeheader()
        lines.writerows(rows)
    return _kept(aside)


def place(content: bytes, ending: str) -> Path:
    """Return a file with the content of one of another process."""
    aside = _aside(ending)
    aside.write_bytes(content)
    return _kept(aside)


def is_kept(file: Path) -> bool:
    """Return whether a file is that of a frame."""
    return file.parent.name.startswith(FRAMES)


def name_of(file: Path) -> str:
    """Return the name of a trace in titles: that of its file, or what a frame is."""
    return "a frame" if is_kept(file) else file.name


def _kept(aside: Path) -> Path:
    with aside.open("rb") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
    return aside.replace(aside.with_name(f"{digest[:32]}{aside.suffix}"))


def _aside(ending: str) -> Path:
    """Return a new file, which no other thread writes."""
    handle, name = tempfile.mkstemp(ending, dir=_folder().name)
    os.close(handle)
    return Path(name)


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """Return the folder of this process; it is removed at its end."""
    return tempfile.TemporaryDirectory(prefix=FRAMES)
