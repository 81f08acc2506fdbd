"""Runs: a load on a device."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sledsim import _core

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from sledsim.devices import Device
    from sledsim.loads import Load


class Run:
    """What came of a simulation; made by :func:`simulate`."""

    def __init__(self, document: dict[str, Any], rows: _core.Rows | None) -> None:
        self.document = document
        """Everything but the rows, as the JSON of ``sledsim run --json``."""
        self._rows = rows

    def __repr__(self) -> str:
        requests, device = self.summary["requests"], self.document["device"]
        return f"<sledsim run: {requests} requests on {device}>"

    @property
    def summary(self) -> dict[str, Any]:
        """Statistics with units in their names; see the page on results."""
        summary: dict[str, Any] = self.document["summary"]
        return summary

    @property
    def workload(self) -> dict[str, Any]:
        """What was run: every key in effect and what was done to a trace."""
        workload: dict[str, Any] = self.document["workload"]
        return workload

    @property
    def requests(self) -> _core.Rows:
        """One row per request, for any library that reads the Arrow PyCapsule interface.

        Raises
        ------
        RuntimeError
            If the rows were not kept in memory.
        """
        if self._rows is None:
            msg = "the rows were not kept in memory: simulate(..., requests=True) keeps them"
            raise RuntimeError(msg)
        return self._rows


def simulate(
    load: Load,
    device: Device,
    scheduler: str = "fcfs",
    *,
    requests: bool | str | PathLike[str] = True,
    progress: Callable[[int, int | None], object] | None = None,
) -> Run:
    """Run a load on a device.

    Parameters
    ----------
    load, device
        What to run, and on what.
    scheduler
        ``"fcfs"``.
    requests
        ``True`` keeps one row per request in memory (about 230 bytes each), ``False`` keeps none,
        a path streams them to a Parquet file in constant memory.
    progress
        Called now and then with the number of requests completed and of all, if known.

    Raises
    ------
    SledsimError
        For whatever is wrong with the load, its file or the output. Nothing is left behind then.
    """
    parquet = None if isinstance(requests, bool) else str(requests)
    document, rows = _core.run(
        device._core,  # noqa: SLF001 (one package)
        load._core,  # noqa: SLF001
        scheduler,
        requests is True,
        parquet,
        progress,
    )
    return Run(json.loads(document), rows)
