"""Loads: generated workloads and replayed traces."""

from __future__ import annotations

import json
import tomllib
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledsim import _core
from sledsim._core import SledsimError

if TYPE_CHECKING:
    from os import PathLike

SAMPLE = "sample:"
"""What the names of the sample traces start with wherever a path may stand."""


class Load:
    """A checked load; made by :func:`workload` or :func:`read_trace`."""

    def __init__(self, core: _core.Load, name: str) -> None:
        self._core = core
        self.name = name

    def __repr__(self) -> str:
        return f"<sledsim load {self.name}>"


def workload(name: str = "random", **keys: object) -> Load:
    """Make a generated workload.

    Parameters
    ----------
    name
        ``"random"``: independent requests at uniform places.
    **keys
        ``requests``, ``rate`` (open, per s) or ``queue_depth`` and ``think_ms`` (closed),
        ``read_fraction``, ``mean_size_kib``, ``seed``, ...; see the page on workloads.

    Raises
    ------
    SledsimError
        For an unknown name or key, or a value out of range.
    """
    return Load(_core.Load.workload(name, list(keys.items())), name)


def read_trace(path: str | PathLike[str], **keys: object) -> Load:
    """Take a trace as a load; the file is read as the simulation goes.

    Parameters
    ----------
    path
        A DiskSim ascii trace, plain or gzip, or ``"sample:NAME"`` for one of
        :func:`sample_traces`.
    **keys
        ``trace_device``, ``address``, ``time_scale``, ...; see the page on workloads.

    Raises
    ------
    SledsimError
        For an unknown key, a value out of range, or an unknown sample.
    """
    file = trace_path(path)
    return Load(_core.Load.trace(file, list(keys.items())), str(path))


def trace_info(path: str | PathLike[str]) -> dict[str, Any]:
    """Read a whole trace and say what is in it: requests, rates, sizes, devices.

    Raises
    ------
    SledsimError
        For a file that cannot be read, or its first bad line.
    """
    info: dict[str, Any] = json.loads(_core.trace_info(trace_path(path)))
    return info


def sample_traces() -> dict[str, dict[str, Any]]:
    """Return the traces that come with sledsim, by name, with how they were recorded."""
    return {
        Path(file.name).stem: tomllib.loads(file.read_text(encoding="utf-8"))
        for file in sorted(_samples().iterdir(), key=lambda file: file.name)
        if file.name.endswith(".toml")
    }


def trace_path(path: str | PathLike[str]) -> str:
    """Return the path of a trace, sample names resolved.

    Raises
    ------
    SledsimError
        For an unknown sample.
    """
    text = str(path)
    if not text.startswith(SAMPLE):
        return text
    file = _samples() / f"{text.removeprefix(SAMPLE)}.trace.gz"
    if not file.is_file():
        known = ", ".join(SAMPLE + name for name in sample_traces())
        msg = f"unknown sample '{text}': must be one of {known}"
        raise SledsimError(msg)
    return str(file)


def _samples() -> Path:
    # A regular folder: the package is never imported from an archive, as it holds a library.
    return Path(str(resources.files("sledsim"))) / "data" / "traces"
