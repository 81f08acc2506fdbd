"""A limit of the time that the kernel waits for a device."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

from sledsim._core import SledsimError
from sledsim.emulator.mounting import system

if TYPE_CHECKING:
    from pathlib import Path


class Watchdog:
    """Cuts a served device off that does not answer in time: its users then get errors."""

    def __init__(self, point: Path, patience_s: float) -> None:
        """Watch what happens inside ``with`` blocks, at most so long in each.

        Parameters
        ----------
        point
            Where the server shows the device.
        patience_s
            How long a block may take.
        """
        self._patience_s = patience_s
        self._point = str(point)
        self.has_bitten = False
        """Whether it has cut the device off."""
        self._timer: threading.Timer | None = None

    @property
    def text(self) -> str:
        """What it has found."""
        return f"the device did not answer in {self._patience_s:g} s"

    def __enter__(self) -> None:
        self._timer = threading.Timer(self._patience_s, self._bite)
        self._timer.daemon = True
        self._timer.start()

    def __exit__(self, *_: object) -> None:
        assert self._timer is not None
        self._timer.cancel()

    def _bite(self) -> None:
        self.has_bitten = True
        with contextlib.suppress(SledsimError):  # by force: what waits for the device fails
            system.run("umount", "--force", "--lazy", "--no-canonicalize", self._point)
