"""What a result was made from, and its report."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from sledsim._above import Paged, Shown
from sledsim._core import SledsimError
from sledsim._load import digest_of_load
from sledsim._values import hash_of

if TYPE_CHECKING:
    from pathlib import Path

    from sledsim._load import Load
    from sledsim._own_schedulers import SchedulerLike
    from sledsim.hardware import Device


class Origin(NamedTuple):
    """A device, and what identifies a load; a trace that is in memory is not kept."""

    device: Device
    load: str
    """The keys of the load."""
    trace: Path | None
    """The file of its trace."""
    again: Load | None
    """The load, to run it again; ``None`` for a trace in memory and for a stream."""
    scheduler: SchedulerLike = "fcfs"
    """The scheduler, as it was given."""

    @classmethod
    def of(cls, device: Device, load: Load, scheduler: SchedulerLike = "fcfs") -> Origin:
        """Return the origin of a result of this device, load and scheduler."""
        file = load._core.file
        again = load if file is None or (file.is_file() and not _is_kept(file)) else None
        return cls(device, load._core.canonical(), file, again, scheduler)


def _is_kept(file: Path) -> bool:
    from sledsim.traces.frames import is_kept  # runs of workloads do without

    return is_kept(file)


class JsonResult:
    """A result with a JSON object; two of a kind are equal if these are."""

    _document: dict[str, Any]

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._document == other._document

    def __hash__(self) -> int:
        return hash_of(self._text())

    def _text(self) -> str:
        return json.dumps(self._document, sort_keys=True)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but rows: the JSON that the command prints with ``--json``."""
        return self._document


class Reported(Paged, Shown, JsonResult):
    """A result that can be shown as the command line does, and written as a page."""

    origin: Origin | None = None
    """What it was made from; not known of results that were pickled."""

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "origin"}

    def made_from(self) -> list[tuple[str, str]]:
        """Return the digests of device and load, by these names; those that cannot be told miss."""
        if self.origin is None:
            return []
        device, load, trace, *_ = self.origin
        made = []
        with suppress(SledsimError):  # a stream, or a file that is gone
            made.append(("device", device.digest))
        with suppress(SledsimError):
            made.append(("load", digest_of_load(load, trace)))
        return made
