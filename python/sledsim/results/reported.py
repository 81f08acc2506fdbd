"""What a result was made from, and its report."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from sledsim import _above
from sledsim._above import Shown
from sledsim._core import SledsimError
from sledsim._load import digest_of_load
from sledsim.results.json_result import JsonResult

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    from sledsim._load import Load
    from sledsim.hardware import Device


class Origin(NamedTuple):
    """A device, and what identifies a load; a trace that is in memory is not kept."""

    device: Device
    load: str
    """The keys of the load."""
    trace: Path | None
    """The file of its trace."""

    @classmethod
    def of(cls, device: Device, load: Load) -> Origin:
        """Return the origin of a result of this device and load."""
        return cls(device, load._core.canonical(), load._core.file)


class Reported(Shown, JsonResult):
    """A result that can be shown as the command line does, and written as a page."""

    origin: Origin | None = None
    """What it was made from; not known of results that were pickled."""

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "origin"}

    def report(self, path: str | PathLike[str], *, title: str | None = None) -> None:
        """Write a page with the result, its pictures and numbers; the page on reports has more.

        Parameters
        ----------
        path
            The file: a name that ends in ``.html``. It needs no other file.
        title
            The title of the page; by default it names load and device.

        Raises
        ------
        SledsimError
            For another ending, a missing library, or a file that cannot be written.
        """
        _above.shown().pages.write(self, path, title=title)

    def made_from(self) -> list[tuple[str, str]]:
        """Return the digests of device and load, by these names; those that cannot be told miss."""
        if self.origin is None:
            return []
        device, load, trace = self.origin
        made = []
        with suppress(SledsimError):  # a stream, or a file that is gone
            made.append(("device", device.digest))
        with suppress(SledsimError):
            made.append(("load", digest_of_load(load, trace)))
        return made
