"""Validations: a measured device against its model."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sledsim import _core
from sledsim._above import Drawn, Tabled
from sledsim._arguments import path_text, text
from sledsim._number_text import measured
from sledsim._progress import told
from sledsim.hardware import device_of
from sledsim.loads import load_of
from sledsim.results import cautions
from sledsim.results.reported import Origin, Reported
from sledsim.results.rows import Rows

if TYPE_CHECKING:
    from os import PathLike

    from sledsim._name_types import SchedulerName
    from sledsim._progress import ProgressLike
    from sledsim.hardware import DeviceLike
    from sledsim.loads import LoadLike


class Validation(Drawn, Tabled, Reported):
    """The result of a validation; made by :func:`validate`."""

    _kind = "validation"

    def __init__(self, core: _core.Validation) -> None:
        self._core = core
        found = json.loads(core.document())
        super().__init__({**found, "caution": cautions.of(found)})

    def __repr__(self) -> str:
        figure, share = self.demerit_ms["all"], self.demerit_percent["all"]
        percent = "" if share is None else f" ({share:.3g} %)"
        count, device = self._document["requests"]["all"], self._document["device"]
        weighted = measured(self.class_weighted_ms)
        return (
            f"<sledsim validation of {device}: {count} requests, "
            f"demerit {measured(figure)} ms{percent}, class-weighted {weighted} ms>"
        )

    @property
    def demerit_ms(self) -> dict[str, float | None]:
        """The demerit figure of ``"all"``, ``"read"`` and ``"write"`` requests in ms.

        It is the root mean square of the horizontal distance between the distribution functions of
        measured and simulated times (Ruemmler and Wilkes 1994), from all times, sorted; ``None``
        where there are no requests.
        """
        figures: dict[str, float | None] = self._document["demerit_ms"]
        return figures

    @property
    def demerit_percent(self) -> dict[str, float | None]:
        """The same as percentages of the measured means; ``None`` also where such a mean is 0."""
        figures: dict[str, float | None] = self._document["demerit_percent"]
        return figures

    @property
    def class_weighted_ms(self) -> float | None:
        """The demerit figures of reads and writes in one, in ms; ``None`` without requests.

        It is the root of the mean of their squares, weighted by requests. Never below the figure of
        all requests, in which an error of the reads may make up for one of the writes.
        """
        figure: float | None = self._document["class_weighted_ms"]
        return figure

    @property
    def class_weighted_percent(self) -> float | None:
        """The same as a percentage of the measured mean; ``None`` also where that is 0."""
        figure: float | None = self._document["class_weighted_percent"]
        return figure

    @property
    def demerits_disagree(self) -> bool:
        """Whether the figure of all requests hides errors that cancel.

        More than a third of the squares of the class-weighted one cancels in it: the class-weighted
        one is more than 1.22 times as large.
        """
        hides: bool = self._document["demerits_disagree"]
        return hides

    @property
    def cautions(self) -> list[dict[str, Any]]:
        """Warnings about the results, as :attr:`Run.cautions`."""
        found: list[dict[str, Any]] = self._document["caution"]
        return found

    @property
    def rows(self) -> Rows:
        """One row per request compared, as :attr:`Run.rows`, with the measured times.

        ``measured_ns`` is to be compared with ``completion_ns - arrival_ns``;
        ``measured_queue_ns`` and ``measured_service_ns`` are null where the trace does not tell;
        ``place`` says where a request lies after the one before it. Rows are in the order of the
        trace.
        """
        return Rows(self._core.rows())

    def sorted_ms(self, op: str = "all", part: str = "response") -> tuple[list[float], list[float]]:
        """Return measured and simulated times in ms, each sorted.

        Parameters
        ----------
        op
            ``"all"``, ``"read"`` or ``"write"``.
        part
            ``"response"`` is the time of the demerit figure; ``"queue"`` and ``"service"`` are
            its parts in an open replay, and empty where the trace does not tell them.

        Raises
        ------
        SledsimError
            For an unknown name.
        """
        return self._core.sorted_ms(part, op)

    def write_rows(self, path: str | PathLike[str]) -> None:
        """Write :attr:`rows` to a file, ``.parquet`` or ``.csv``, which appears when complete.

        Raises
        ------
        SledsimError
            If it cannot be written.
        """
        self._core.write(path_text("path", path))


def validate(
    trace: LoadLike,
    device: DeviceLike,
    scheduler: SchedulerName | str = "fcfs",
    *,
    progress: ProgressLike = None,
) -> Validation:
    """Replay a trace of a measured device, and compare measured with simulated times.

    A trace without times of arrival, recorded with one request outstanding, is replayed like that,
    with its think times: measured service times are compared with simulated response times. Others
    are replayed at their times, response against response and, where the trace tells, queue and
    service apart; ``read_trace(..., queue_depth=1)`` waits for completions instead.

    Parameters
    ----------
    trace
        The measurements: a trace made by :func:`read_trace`, or the path of one.
    device
        The model: a device, or its name.
    scheduler
        ``"fcfs"``.
    progress
        ``True`` for a bar on stderr, or what is called now and then with the number of requests
        completed and of all, if known.

    Raises
    ------
    SledsimError
        For errors in the device or the trace, a trace that has no measured times, or
        whose requests outrun the device.
    """
    model, load = device_of(device), load_of(trace, "trace")
    with told(progress) as beat:
        core = _core.validate(model._core, load._core, text("scheduler", scheduler), beat)
    found = Validation(core)
    found.origin = Origin.of(model, load)
    return found
