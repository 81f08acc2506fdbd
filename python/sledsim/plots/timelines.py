"""Pictures of runs over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledsim._arguments import refuse
from sledsim._core import SledsimError
from sledsim.plots import scales, units
from sledsim.plots.frame import begin
from sledsim.plots.style import looks
from sledsim.plots.subjects import cautions_of, subject
from sledsim.simulation import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sledsim.plots.frame import Place, Size
    from sledsim.results.rows import Rows

_PANELS = {
    "throughput_iops": "throughput,\nrequests/s",
    "outstanding": "outstanding\nrequests",
    "power_w": "power, W",
}


def timeline(of: Run, *, ax: Place = None, size: Size = None, title: str | None = None) -> Figure:
    """Draw throughput, outstanding requests and power of a run over time.

    The panels share the axis of time. Of a device whose power is not known that panel is left out.

    Parameters
    ----------
    of
        A run with a time series: ``simulate(..., series=True)``.
    ax
        Axes to draw on, one for each panel; by default a new figure.
    size, title
        As for :func:`~sledsim.plots.cdf`.

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
    with begin(ax, size, panels=len(panels), width_in=7.0, height_in=1.5, stacked=True) as frame:
        for axes, name in zip(frame.axes, panels, strict=True):
            heights = series[name]
            axes.stairs(heights, edges, color=color, linewidth=1.2, label=name)
            axes.stairs(heights, edges, color=color, fill=True, alpha=0.15, linewidth=0)
            axes.set_ylim(0, 1.06 * max(heights, default=0.0) or 1)
            axes.set_xlim(edges[0], edges[-1])
            axes.set_ylabel(_PANELS[name])
            scales.linear(axes, "x")
            scales.linear(axes, "y")
            if frame.own and name != panels[-1]:
                axes.tick_params(axis="x", labelbottom=False)
            else:
                axes.set_xlabel(f"time, {unit_name}")
        if frame.own:
            for axes in frame.axes[1:]:
                axes.sharex(frame.axes[0])
            frame.figure.align_ylabels(frame.axes)
        given_up = bool(of.summary["saturated"])
        more = ["outstanding are only those that were served later"] * given_up
        heading = subject(of) if title is None else title
        return frame.end(heading, cautions_of({device: of}, means=False), more)


def _columns(rows: Rows) -> dict[str, list[Any]]:
    try:
        return rows.to_polars().to_dict(as_series=False)
    except SledsimError:  # there is no Polars
        found: dict[str, list[Any]] = rows.to_arrow().to_pydict()
        return found
