"""Pictures of runs over time."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from sledsim._arguments import refuse
from sledsim._core import SledsimError
from sledsim.plots import scales, units
from sledsim.plots.frame import Panel, picture
from sledsim.plots.style import looks
from sledsim.plots.subjects import cautions_of, facts, subject
from sledsim.simulation import Run

if TYPE_CHECKING:
    from typing import Unpack

    from matplotlib.axes import Axes

    from sledsim.plots.frame import How
    from sledsim.plots.picture import Picture
    from sledsim.results.rows import Rows

_PANELS = {
    "throughput_iops": "throughput,\nrequests/s",
    "outstanding": "outstanding\nrequests",
    "power_w": "power, W",
}


def timeline(of: Run, **how: Unpack[How]) -> Picture:
    """Draw throughput, outstanding requests and power of a run over time.

    The panels share the axis of time. Of a device whose power is not known that panel is left out.

    Parameters
    ----------
    of
        A run with a time series: ``simulate(..., series=True)``.
    **how
        As for :func:`~sledsim.plots.cdf`; panels are ``throughput``, ``outstanding``, ``power``.

    Raises
    ------
    SledsimError
        For a run without a time series, an unknown size, or a missing library: the series is read
        by Polars or pyarrow.
    """
    if not isinstance(of, Run):
        refuse("of", of, "a run")
    try:
        series = _columns(of.series)
    except RuntimeError as error:
        raise SledsimError(str(error)) from None
    panels = [name for name in _PANELS if name != "power_w" or any(series[name])]
    ends = [0.0, *(end / 1e9 for end in series["end_ns"])]
    ends[0] = series["start_ns"][0] / 1e9 if series["start_ns"] else 0.0
    unit, unit_name = units.of_time(ends[-1])
    edges = [end / unit for end in ends]
    device = of.to_dict()["device"]
    color = looks([device])[device].color

    def draw(name: str, axes: Axes) -> None:
        heights = series[name]
        axes.stairs(heights, edges, color=color, linewidth=1.2, label=name)
        axes.stairs(heights, edges, color=color, fill=True, alpha=0.15, linewidth=0)
        axes.set_ylim(0, 1.06 * max(heights, default=0.0) or 1)
        axes.set_xlim(edges[0], edges[-1])
        axes.set(xlabel=f"time, {unit_name}", ylabel=_PANELS[name])
        scales.linear(axes, "x")
        scales.linear(axes, "y")

    given_up = bool(of.summary["saturated"])
    return picture(
        how,
        {
            name.rpartition("_")[0] or name: Panel(
                partial(draw, name), _PANELS[name].partition(",")[0] + " over time", x="time"
            )
            for name in panels
        },
        subject(of),
        facts=facts(of, intervals=False),
        found=cautions_of({device: of}, means=False),
        notes=["outstanding are only those that were served later"] * given_up,
        width_in=7.0,
        height_in=1.5,
        stacked=True,
    )


def _columns(rows: Rows) -> dict[str, list[Any]]:
    try:
        return rows.to_polars().to_dict(as_series=False)
    except SledsimError:  # there is no Polars
        found: dict[str, list[Any]] = rows.to_arrow().to_pydict()
        return found
