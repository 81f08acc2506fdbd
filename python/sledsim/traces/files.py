"""Files of traces: their names, places and contents."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path
from typing import Any

from sledsim._arguments import path_text, placed
from sledsim._core import SpecError, TraceError

SAMPLE = "sample:"
"""Prefix of the names of sample traces."""
_ENDINGS = (".trace.gz", ".parquet")
"""Endings of the files of sample traces."""
_SETTLED_NS = 1_000_000_000
"""A file that changed less than this ago may change again without a sign of it."""


def sample_traces() -> dict[str, dict[str, Any]]:
    """Return the traces that come with sledsim, by name, with how they were recorded."""
    import tomllib  # runs do without

    return {
        Path(file.name).stem: tomllib.loads(file.read_text(encoding="utf-8"))
        for file in sorted(samples_folder().iterdir(), key=lambda file: file.name)
        if file.name.endswith(".toml")
    }


def trace_path(given: object) -> str:
    """Return the path of a trace, sample names resolved."""
    named = path_text("trace", given)
    if not named.startswith(SAMPLE):
        return _there(named)
    name = named.removeprefix(SAMPLE)
    files = [samples_folder() / f"{name}{ending}" for ending in _ENDINGS]
    from sledsim._input_files import is_file  # many runs do without

    file = next((file for file in files if is_file(file)), None)
    if file is None:
        known = ", ".join(SAMPLE + name for name in sample_traces())
        raise placed(SpecError, f"unknown sample '{named}': must be one of {known}", key="trace")
    return str(file)


def _there(named: str) -> str:
    """Return the name of a file; if it is missing, offer a sample of that name."""
    if named and not os.path.lexists(named):
        samples = [name for name in sample_traces() if name.startswith(named)]
        if samples:
            raise placed(
                TraceError, f"{named}: No such file; did you mean {SAMPLE}{samples[0]}?", file=named
            )
    return named


def samples_folder() -> Path:
    """Return where the sample traces are."""
    # A regular folder: the package is never imported from an archive, as it holds a library.
    return Path(__file__).parents[1] / "data" / "traces"


def place_of(path: str | os.PathLike[str]) -> str:
    """Return the place of a trace for readers in other folders and on other machines.

    That is ``"sample:NAME"``, or an absolute path.
    """
    file = Path(os.path.abspath(path))  # noqa: PTH100 (links stay)
    if file.parent == samples_folder():
        for ending in _ENDINGS:
            if file.name.endswith(ending):
                return SAMPLE + file.name.removesuffix(ending)
    try:
        str(file).encode()
    except UnicodeEncodeError:
        raise placed(
            TraceError,
            f"{os.fsencode(file)!r}: is no text in UTF-8, and cannot be written as text",
            file=file,
        ) from None
    return str(file)


_known: dict[str, tuple[tuple[int, ...], str]] = {}
"""Digests of files that were read, each with the state of the file at that time."""


def content_of(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of the content of a regular file; it is read once as long as it stays."""
    name = os.path.abspath(path)  # noqa: PTH100 (links stay)
    try:
        before = None if os.fspath(path) == "-" else Path(path).stat()
        if before is None or not stat.S_ISREG(before.st_mode):
            raise placed(
                TraceError,
                f"{path}: is no regular file; its content cannot be told before it is read",
                file=path,
            )
        known = _known.get(name)
        if known is not None and known[0] == _state(before):
            return known[1]
        import hashlib  # most commands do without

        with Path(path).open("rb") as opened:
            digest = hashlib.file_digest(opened, "sha256").hexdigest()
            after = os.fstat(opened.fileno())
    except OSError as error:
        raise placed(TraceError, f"{path}: cannot be read: {error.strerror}", file=path) from None
    if _state(before) != _state(after):
        raise placed(TraceError, f"{path}: was written while it was read", file=path)
    if time.time_ns() - after.st_ctime_ns > _SETTLED_NS:
        _known[name] = (_state(after), digest)
    return digest


def _state(about: os.stat_result) -> tuple[int, ...]:
    """Return what changes when a file is written; the last time cannot be set by programs."""
    return about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns


def require_content(place: str, sha256: str, what: str) -> None:
    """Check that the trace at a place is there and has the content it had.

    Parameters
    ----------
    place
        As :func:`place_of` returns it.
    sha256
        The digest of the content.
    what
        Whose trace it is, for the message.
    """
    import socket  # only errors need it

    here = f"on {socket.gethostname()}"
    try:
        path = trace_path(place)
    except (SpecError, TraceError) as error:
        raise placed(
            TraceError, f"{what}: its trace is missing {here}: {error}", file=place
        ) from None
    if not os.path.lexists(path):
        raise placed(TraceError, f"{what}: its trace {path} is missing {here}", file=path)
    found = content_of(path)
    if found != sha256:
        raise placed(
            TraceError,
            f"{what}: its trace {path} has other content {here} than when this was written: "
            f"SHA-256 {found}, not {sha256}",
            file=path,
        )


def trace_in_toml(text: str, *table: str) -> tuple[str | None, str | None]:
    """Return the digest and the place of the trace that TOML names, if it does.

    Parameters
    ----------
    text
        TOML; the core reports errors in it.
    *table
        The names of the table, from outside.
    """
    if "sha256" not in text and "file" not in text:
        return None, None
    try:
        from sledsim._input_files import toml  # few values are read from text

        found = toml(text)
    except ValueError:
        return None, None
    for name in table:
        inside = found.get(name)
        found = inside if isinstance(inside, dict) else {}
    given = [found.get(key) for key in ("sha256", "file")]
    sha256, place = (value if isinstance(value, str) else None for value in given)
    return sha256, place
