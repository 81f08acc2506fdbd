"""Response times of the four schedulers against the load, for Figures 5 to 8."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from itertools import pairwise
from math import exp, log
from typing import TYPE_CHECKING, Any

from matplotlib.lines import Line2D

from sledsim._load import Load
from sledsim.hardware import Device
from sledsim.loads import workload
from sledsim.papers import summary_of
from sledsim.plots.curves import legend_above
from sledsim.plots.style import INK, QUIET, looks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from matplotlib.axes import Axes

    from sledsim.plots.style import Look

SCHEDULERS = {"FCFS": "fcfs", "C-LOOK": "c_look", "SSTF_LBN": "sstf_lbn", "SPTF": "sptf"}
"""Scheduler by the name that the paper gives it."""
MAX_QUEUE = 3000
"""Outstanding requests at which a run ends as saturated."""


@dataclass(frozen=True)
class Point:
    """The results at one load."""

    mean_ms: float
    """Mean response time; of a saturated run, up to its end."""
    scv: float
    """Squared coefficient of variation of the response times."""
    error_ms: float | None
    """Half the width of the 95 % confidence interval of the mean of several replications."""
    saturated: bool
    caution: str | None = None
    """Why the mean is unreliable."""


@dataclass(frozen=True)
class Curve:
    """The results at rising loads."""

    loads: list[float] = field(default_factory=list)
    points: list[Point] = field(default_factory=list)

    @property
    def mean_ms(self) -> list[float]:
        """Mean response times."""
        return [point.mean_ms for point in self.points]

    @property
    def scv(self) -> list[float]:
        """Squared coefficients of variation."""
        return [point.scv for point in self.points]

    def knee(self, limit_ms: float) -> float:
        """Return the load up to which the mean response time stays below a limit.

        Between two loads the logarithm of the mean is taken to be linear.
        """
        means = list(zip(self.loads, self.mean_ms, strict=True))
        for (load, mean), (next_load, next_mean) in pairwise(means):
            if mean <= limit_ms < next_mean:
                share = log(limit_ms / mean) / log(next_mean / mean)
                return load + share * (next_load - load)
        raise ValueError(f"no load from {means[0]} to {means[-1]} reaches {limit_ms} ms")

    def at(self, load: float) -> float:
        """Return the mean response time at a load between two of the curve, as :meth:`knee`."""
        means = list(zip(self.loads, self.mean_ms, strict=True))
        for (before, mean), (after, next_mean) in pairwise(means):
            if before <= load <= after:
                return mean * exp(log(next_mean / mean) * (load - before) / (after - before))
        raise ValueError(f"load {load} is outside {means[0][0]} to {means[-1][0]}")

    def turns(self, first: float, last: float) -> int:
        """Count the steps between two loads on which the mean response time falls."""
        inside = [
            mean
            for load, mean in zip(self.loads, self.mean_ms, strict=True)
            if first <= load <= last
        ]
        return sum(after < before for before, after in pairwise(inside))


def random_load(rate: float, requests: int, **keys: Any) -> Load:
    """Return the random workload of section 3, arriving so many times a second."""
    return workload(
        "random",
        rate=rate,
        requests=requests,
        size="exponential",
        mean_size_kib=4,
        read_fraction=0.67,
        warm_up_requests=requests // 20,
        max_queue=MAX_QUEUE,
        **keys,
    )


def measure(load: Load, device: Device, scheduler: str, replications: int = 1) -> Point:
    """Run a load with a scheduler, by the name that the paper gives it."""
    summary = summary_of(load, device, SCHEDULERS[scheduler], replications=replications)
    times, interval = summary["response_time_ms"], summary["confidence"]
    about = interval["response_time_ms"]
    share = about and about["half_width_share"]
    several = replications > 1 and share is not None
    return Point(
        mean_ms=times["mean"],
        scv=times["scv"],
        error_ms=round(share * times["mean"], 6) if several else None,
        saturated=summary["saturated"] is not None,
        caution=about["caution"],
    )


def sweep(
    load: Callable[[float], Load],
    device: Device,
    loads: Iterable[float],
    *,
    replications: int = 1,
    end_ms: float,
    schedulers: Iterable[str] = SCHEDULERS,
) -> dict[str, Curve]:
    """Raise the load for each scheduler until its mean response time exceeds ``end_ms``."""
    loads = list(loads)
    curves = {scheduler: Curve() for scheduler in schedulers}
    for scheduler, curve in curves.items():
        for rate in loads:
            point = measure(load(rate), device, scheduler, replications)
            curve.loads.append(rate)
            curve.points.append(point)
            if point.saturated or point.mean_ms > end_ms:
                break
    return curves


def greedy(values: Mapping[str, float]) -> float:
    """Return the lesser value of the two schedulers that may starve a request."""
    return min(values["SSTF_LBN"], values["SPTF"])


def steps(knees: Mapping[str, float]) -> dict[str, float]:
    """Return the step from FCFS to the next knee, and the widest between neighbours of the rest."""
    others = sorted(knee for name, knee in knees.items() if name != "FCFS")
    return {
        "widest among the others": max(after - before for before, after in pairwise(others)),
        "from FCFS": others[0] - knees["FCFS"],
    }


def series(curves: Mapping[str, Curve]) -> dict[str, Any]:
    """Return curves for a document."""
    return {name: asdict(curve) for name, curve in curves.items()}


def draw_means(axes: Axes, curves: Mapping[str, Any], top_ms: float, *, named: bool = True) -> None:
    """Draw the mean response times of the curves of a document, as far as they are below a time.

    Unreliable means are hollow. The curves are named unless the axes above them name them.
    """
    axes.set(ylim=(0, top_ms), ylabel="mean response time (ms)")
    hollow = None
    lines = {}
    for name, look in looks(list(curves)).items():
        loads, points = curves[name]["loads"], curves[name]["points"]
        drawn = [(load, p["mean_ms"]) for load, p in zip(loads, points, strict=True)]
        (lines[name],) = axes.plot(*zip(*drawn, strict=True), **look.line(), **_mark(look))
        unsure = [place for place, p in zip(drawn, points, strict=True) if p["caution"]]
        if unsure:
            keys = {**_mark(look), "markerfacecolor": "white", "color": look.color}
            axes.plot(*zip(*unsure, strict=True), **keys, linestyle="none")
            hollow = Line2D([], [], marker="o", ms=4, color=INK, mfc="white", linestyle="none")
    if named:
        legend_above(axes, lines | ({"unreliable": hollow} if hollow else {}))


def draw_scv(
    axes: Axes, curves: Mapping[str, Any], top: float, end_ms: float, *, named: bool = True
) -> None:
    """Draw squared coefficients of variation.

    Curves end where the mean exceeds ``end_ms``: nearer to saturation, a run is too short for its
    variance.
    """
    axes.set(ylim=(0, top), ylabel="squared coefficient of variation\nof response times")
    lines = {}
    for name, look in looks(list(curves)).items():
        pairs = [
            (load, point["scv"])
            for load, point in zip(curves[name]["loads"], curves[name]["points"], strict=True)
            if point["mean_ms"] <= end_ms
        ]
        (lines[name],) = axes.plot(*zip(*pairs, strict=True), **look.line(), **_mark(look))
    if named:
        legend_above(axes, lines)


def _mark(look: Look) -> dict[str, Any]:
    return {"marker": look.marker, "markersize": 4}


def draw_limit(axes: Axes, place: float, limit_ms: float) -> None:
    """Draw the response time at which a curve has its knee, named at a place of the X axis."""
    axes.axhline(limit_ms, color=QUIET, linewidth=0.8, linestyle=":")
    axes.annotate("knee", (place, limit_ms), va="bottom", fontsize="small")
