"""Crash tests: cut the power, recover, check every block."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sledsim import _core
from sledsim._above import Drawn
from sledsim._arguments import optional, real, text, whole
from sledsim._progress import told
from sledsim.layout_maps import with_layout
from sledsim.loads import load_of
from sledsim.results.reported import Origin, Reported

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sledsim._name_types import LayoutName, SchedulerName
    from sledsim._progress import ProgressLike
    from sledsim.hardware import DeviceLike
    from sledsim.loads import LoadLike


class CrashReport(Drawn, Reported):
    """The result of a crash test; made by :func:`crash_test`."""

    _kind = "crash"

    def __repr__(self) -> str:
        points, violations = self._document["points"], self._document["violations"]
        device = self._document["device"]
        return f"<sledsim crash test of {device}: {points} points, {violations} violations>"

    @property
    def passed(self) -> bool:
        """Whether nothing was lost, invented or brought back."""
        return not self._document["violations"]

    @property
    def violations(self) -> list[dict[str, Any]]:
        """The first violations, at most ten, each with a full description, ``text``."""
        shown: list[dict[str, Any]] = self._document["shown"]
        return shown

    @property
    def recovery_ms(self) -> dict[str, float | None]:
        """How long recoveries took: ``mean``, ``p50``, ``p90``, ``p99`` and ``max``, in ms."""
        times: dict[str, float | None] = self._document["recovery_ms"]
        return times


def crash_test(
    load: LoadLike,
    device: DeviceLike,
    scheduler: SchedulerName | str = "fcfs",
    *,
    points: int = 1000,
    seed: int = 1,
    layout: LayoutName | str | Mapping[str, object] | None = None,
    promise: str | None = None,
    requests_between: int | None = None,
    fua: float | None = None,
    flush: float | None = None,
    in_recovery: float | None = None,
    progress: ProgressLike = None,
) -> CrashReport:
    """Run a load on a device whose power fails again and again.

    After each failure every block that was ever written must hold something that it may hold, and
    every read must return something that was there while it was under way; see the page on crash
    tests. The load is begun anew, with its next seed, until there were failures enough.

    Parameters
    ----------
    load, device, scheduler, layout
        As in :func:`simulate`.
    points
        How often power fails.
    seed
        Seed of the instants and of torn writes; not that of the load.
    promise
        When a write is to survive: ``"completion"``, or ``"flush"``, when it was complete and a
        flush after it is, or it is marked ``fua``. By default what the device promises: ``"flush"``
        if it reports writes from a volatile buffer.
    requests_between
        Requests from one failure to the next in the mean; by default at least 16, and so many that
        the failures are spread over the load.
    fua
        The share of writes that are marked ``fua`` beside those of the load (0.2).
    flush
        The share of requests after which a flush is put in (0.05).
    in_recovery
        The share of recoveries during which power fails again, at most 0.9 (0.2).
    progress
        ``True`` for a bar on stderr, or what is called now and then with the number of failures so
        far, and of all.

    Raises
    ------
    SledsimError
        For errors in the load or an argument, for a device that cannot keep contents,
        and for a load that writes nothing or outruns the device.
    """
    model, requested = with_layout(device, layout), load_of(load)
    with told(progress, "failures") as beat:
        document = _core.crash_test(
            model._core,
            requested._core,
            text("scheduler", scheduler),
            {
                "points": whole("points", points, 1),
                "seed": whole("seed", seed),
                "promise": optional(text, "promise", promise),
                "requests_between": optional(whole, "requests_between", requests_between, 1),
                "fua": optional(real, "fua", fua),
                "flush": optional(real, "flush", flush),
                "in_recovery": optional(real, "in_recovery", in_recovery),
            },
            beat,
        )
    found = CrashReport(json.loads(document))
    found.origin = Origin.of(model, requested)
    return found
