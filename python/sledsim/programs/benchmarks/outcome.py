"""The outcome of an application on a device."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from sledsim._above import Drawn, Paged, Shown
from sledsim._core import SledsimError

if TYPE_CHECKING:
    from sledsim.programs.benchmarks.io_statistics import Facts
    from sledsim.show.pages.parts import Report
    from sledsim.show.sheet import Sheet


@dataclass(frozen=True)
class Prediction:
    """The run time that the closed replay of a recording predicts."""

    run_s: float
    recorded_on: str
    """The device of the recording."""


@dataclass(frozen=True)
class Outcome:
    """The run time of an application on a device, split by cause."""

    application: str
    device: str
    run_s: float
    """From its start to its end."""
    compute_s: float
    """Of that, processor time."""
    facts: Facts
    emulated: bool
    """Whether it ran on the emulated device; else a recording was replayed on the simulated one."""
    lateness_us: dict[str, float] = field(default_factory=dict)
    """How much later than the device's own time answers were, if it was emulated."""
    report: dict[str, Any] = field(default_factory=dict)
    """Figures that the application reports."""
    predicted: Prediction | None = None
    """The prediction from another run, or from this one if there is no other."""

    @property
    def title(self) -> str:
        """What the application is called in text; its name where it cannot run."""
        from sledsim.programs import kind  # it imports this module

        try:
            return kind(self.application).title
        except SledsimError:  # not on this system, or of another version
            return self.application

    @property
    def stall_s(self) -> float:
        """I/O stall: the run time in which nothing was computed."""
        return max(self.run_s - self.compute_s, 0.0)

    @property
    def device_s(self) -> float:
        """Of the stall, time with a request in the device."""
        return min(self.stall_s, self.facts.busy_s)

    @property
    def way_s(self) -> float:
        """Of the stall, the rest: overhead of the path to the device, wake-ups."""
        return self.stall_s - self.device_s

    @property
    def prediction_error(self) -> float | None:
        """How much longer the predicted run is, as a share of the run."""
        return None if self.predicted is None else self.predicted.run_s / self.run_s - 1

    def to_dict(self) -> dict[str, Any]:
        """Return all of it, for JSON."""
        facts = asdict(self.facts)
        predicted = None
        if self.predicted is not None:
            predicted = asdict(self.predicted) | {"error": self.prediction_error}
        return {
            "application": self.application,
            "device": self.device,
            "emulated": self.emulated,
            "run_s": self.run_s,
            "compute_s": self.compute_s,
            "stall_s": self.stall_s,
            "stall_device_s": self.device_s,
            "stall_way_s": self.way_s,
            **facts,
            "lateness_us": self.lateness_us or None,
            "predicted": predicted,
            "report": self.report or None,
        }


class Outcomes(Drawn, Paged, Shown, list[Outcome]):
    """The outcomes of an application, a device each: a list that is shown, drawn and reported."""

    _kind = "applications"

    def _sheet(self) -> Sheet:
        from sledsim.programs.benchmarks import shown  # it imports this

        return shown.sheet(self)

    def _page(self) -> Report:
        from sledsim.programs.benchmarks import shown  # it imports this

        return shown.page(self)
