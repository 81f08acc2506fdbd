"""Traces split into parts, each a Parquet file of a folder.

>>> from sledsim import read_trace
>>> from sledsim.traces.parts import split
>>> with split(read_trace("sample:postmark-ext4"), None) as parts:
...     [(part["name"], part["requests"]) for part in parts.listed["parts"]]
[(0, 44213)]
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledsim import _core
from sledsim._arguments import placed
from sledsim._core import SledsimError
from sledsim._input_files import content, json_object
from sledsim._progress import told
from sledsim._values import digest_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sledsim._load import Load
    from sledsim._progress import Beat, ProgressLike

_LIST = "parts.json"
"""The file with the list of the parts, and what they were made from."""
_PIECE_BYTES = 1 << 24


@dataclass(frozen=True)
class TraceParts:
    """The parts of a trace; made by :func:`split`."""

    folder: Path
    """Where their files are."""
    text: str
    """Their list as JSON, as the core made it."""

    @property
    def listed(self) -> dict[str, Any]:
        """The list: ``keys``, with which all are replayed, and ``parts``, among others."""
        found: dict[str, Any] = json.loads(self.text)
        return found


@contextmanager
def split(
    load: Load,
    windows: tuple[float, float] | None,
    folder: str | None = None,
    progress: ProgressLike = None,
    threads: int = 1,
) -> Iterator[TraceParts]:
    """Split a trace, or take the parts that are in the folder.

    Parameters
    ----------
    load
        The trace.
    windows
        The length of windows and of the warm-up before them, in s; by volume if ``None``.
    folder
        Where the parts go, and stay. It appears when all are written. If it is there, its parts are
        taken if they are of the same trace, keys, windows and version, and an error raised if not.
        By default a temporary folder, which is removed.
    progress
        ``True`` for a bar on stderr, or what is called now and then with the number of requests
        read and of all, if known.
    threads
        How many threads write parts at a time.
    """
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="sledsim-parts-") as made:
            with told(progress) as beat:
                text = _core.partition(load._core, made, windows, threads, beat)
            yield TraceParts(Path(made), text)
        return
    with told(progress) as beat:
        parts = _found(Path(folder), load, windows, beat)
        parts = parts or _made(Path(folder), load, windows, threads, beat)
    yield parts


def _found(
    folder: Path, load: Load, windows: tuple[float, float] | None, beat: Beat | None
) -> TraceParts | None:
    """Return the parts in a folder; ``None`` if it is missing or empty."""
    try:
        if not os.path.lexists(folder) or not any(folder.iterdir()):
            return None
        kept = json_object(content(folder / _LIST))
        of, text, files = kept["of"], kept["list"], kept["files"]
        if kept["sha256"] != _seal(of, text, files):
            raise ValueError
    except FileNotFoundError:
        raise SledsimError(
            f"{folder}: is not empty, and holds no parts of a trace; give another folder"
        ) from None
    except OSError as error:
        raise SledsimError(
            f"{error.filename or folder / _LIST}: cannot be read: {error.strerror}"
        ) from None
    except (ValueError, TypeError, KeyError):
        raise SledsimError(f"{folder / _LIST}: is damaged; remove the folder") from None
    wanted = _made_from(load, windows, beat)
    for name, now in wanted.items():
        if of.get(name) != now or now is None:
            raise SledsimError(f"{folder}: {_DIFFERENCES[name]}; give another folder, or remove it")
    for file, digest in files.items():
        if _digest(folder / file, beat) != digest:
            problem = "damaged" if (folder / file).exists() else "missing"
            raise placed(
                SledsimError,
                f"{folder / file}: this part is {problem}; remove the folder",
                file=folder / file,
            )
    return TraceParts(folder, text)


def _seal(of: dict[str, Any], text: str, files: dict[str, str | None]) -> str:
    """Return the digest of what the file with the list has."""
    return digest_of(json.dumps([of, text, files], sort_keys=True))


def _made(
    folder: Path,
    load: Load,
    windows: tuple[float, float] | None,
    threads: int,
    beat: Beat | None,
) -> TraceParts:
    """Write the parts beside the folder, and rename."""
    aside = folder.parent / f".{folder.name}-{os.getpid()}.part"
    of = _made_from(load, windows, beat)
    try:
        aside.mkdir()
    except OSError as error:
        raise SledsimError(f"{folder}: cannot be made: {error.strerror}") from None
    try:
        text = _core.partition(load._core, aside, windows, threads, beat)
        if of != _made_from(load, windows, beat):
            raise SledsimError(f"{load.name}: has changed while it was read")
        files = {
            part["file"]: _digest(aside / part["file"], beat) for part in json.loads(text)["parts"]
        }
        kept = json.dumps(
            {"sha256": _seal(of, text, files), "of": of, "list": text, "files": files}
        )
        _core.write_atomically(aside / _LIST, kept.encode())
        if folder.is_dir():
            folder.rmdir()
        aside.rename(folder)
    except OSError as error:
        shutil.rmtree(aside, ignore_errors=True)
        raise SledsimError(f"{folder}: cannot be made: {error.strerror}") from None
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        raise
    return TraceParts(folder, text)


_DIFFERENCES = {
    "version": "its parts are of another version of sledsim",
    "keys": "its parts were made with other keys of the trace",
    "windows": "its parts are of other windows, or volumes",
    "trace": "its parts are of another trace, or of one that can be read once only",
}
"""What to say where parts were made from something else."""


def _made_from(
    load: Load, windows: tuple[float, float] | None, beat: Beat | None
) -> dict[str, Any]:
    """Return what the parts are made from; ``trace`` is ``None`` for one that is no file."""
    trace = _core.trace_of(load._core)
    path, keys = trace or (None, "")
    return {
        "version": _core.VERSION,
        "keys": keys,
        "windows": list(windows) if windows else "volumes",
        "trace": None if path is None else _digest(Path(path), beat),
    }


def _digest(path: Path, beat: Beat | None) -> str | None:
    """Return the SHA-256 of a regular file."""
    if not path.is_file():
        return None
    digest = hashlib.sha256()
    try:
        with path.open("rb") as opened:
            while piece := opened.read(_PIECE_BYTES):
                digest.update(piece)
                if beat is not None:
                    beat(0, None)
    except OSError as error:
        raise SledsimError(f"{path}: {error.strerror}") from None
    return digest.hexdigest()
