"""Pictures of validations: measured against simulated times."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from sledsim._arguments import refuse
from sledsim._number_text import number
from sledsim.plots import curves, scales
from sledsim.plots.frame import Panel, load_title, picture
from sledsim.plots.style import INK, OP_LINES, looks
from sledsim.validation import Validation

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    from matplotlib.axes import Axes

    from sledsim.plots.frame import How
    from sledsim.plots.picture import Picture

_POINTS = 2000
"""Number of quantiles drawn; more cannot be distinguished."""
_TAIL = 0.995
"""The share of the requests that a linear axis has room for."""
_INNER = 0.002
"""The share of the fastest and of the slowest that the axis of differences has no room for."""
_LOG_FROM = 100
"""From this ratio of the tail to the shortest time on, the axis is logarithmic."""
_ZERO_MS = 0.01
"""Where a logarithmic axis begins at the least; shorter times lie at its edge."""
_MEASURED: dict[str, Any] = {"color": INK, "alpha": 0.5, "linewidth": 3.4}
"""Broad and pale: colours of some devices are nearly as dark as ink."""


def validation(of: Validation, **how: Unpack[How]) -> Picture:
    """Draw a validation: the distribution functions of measured and simulated times.

    The demerit figure of a kind measures the area between its two curves. Where the trace tells
    queue and service apart, each has a panel; else a second panel has the differences.

    Parameters
    ----------
    of
        The validation.
    **how
        As for :func:`~sledsim.plots.cdf`. Panels are ``response``, and ``queue`` and ``service`` or
        ``differences``.

    Raises
    ------
    SledsimError
        For an unknown size, or a missing library.
    """
    if not isinstance(of, Validation):
        refuse("of", of, "a validation, as validate() returns it")
    document = of.to_dict()
    parts = document["parts"] or {}
    panels = {
        part: Panel(
            partial(_distributions, of=of, part=part, figures=parts.get(part, document)),
            f"distributions of measured and simulated {part} times",
        )
        for part in ("response", *parts)
    }
    if not parts:
        panels["differences"] = Panel(partial(_differences, of=of), "their differences by rank")
    subject = f"{load_title(document['workload'])}, against {document['device']}"
    subject += f" ({document['scheduler']})"
    demerits = _demerits(document)
    return picture(
        how,
        panels,
        f"{subject}: {demerits}",
        facts=[subject, demerits],
        found={"": of.cautions},
        width_in=7.4 if len(panels) < 3 else 9.6,
        height_in=3.2,
    )


def _demerits(document: dict[str, Any]) -> str:
    all_ms, weighted_ms = document["demerit_ms"]["all"], document["class_weighted_ms"]
    disagree = " (they disagree)" if document["demerits_disagree"] else ""
    figures = (f"{number(figure, 3)}\u00a0ms" for figure in (all_ms, weighted_ms))
    return f"demerit {', class-weighted '.join(figures)}{disagree}"


def _quantiles(times: Sequence[float]) -> tuple[list[float], list[float]]:
    """Return shares from 0 on and the times that these do not exceed, thinned out."""
    step = max(1, len(times) // _POINTS)
    ranks = [*range(0, len(times) - 1, step), len(times) - 1]
    shares = [(rank + 1) / len(times) for rank in ranks]
    return [0.0, *shares], [times[0], *(times[rank] for rank in ranks)]


def _kinds(of: Validation, part: str = "response") -> dict[str, tuple[list[float], list[float]]]:
    """Return the measured and the simulated times of each operation that there is."""
    found = {op: of.sorted_ms(op, part) for op in ("read", "write")}
    return {op: times for op, times in found.items() if times[0]}


def _color(of: Validation) -> str:
    device = of.to_dict()["device"]
    return looks([device])[device].color


def _distributions(axes: Axes, of: Validation, part: str, figures: dict[str, Any]) -> list[str]:
    kinds = _kinds(of, part)
    every = [times for pair in kinds.values() for times in pair]
    least = min((times[0] for times in every), default=0.0)
    longest = max((times[-1] for times in every), default=0.0)
    tail = max((times[min(int(_TAIL * len(times)), len(times) - 1)] for times in every), default=0)
    edge = max(least, _ZERO_MS) if tail > _LOG_FROM * max(least, _ZERO_MS) else 0.0
    lines = {}
    for op, pair in kinds.items():
        count = len(pair[0])
        shares, theirs, ours = *_quantiles(pair[0]), _quantiles(pair[1])[1]
        theirs, ours = ([max(time, edge) for time in times] for times in (theirs, ours))
        axes.fill_betweenx(shares, theirs, ours, color=_color(of), alpha=0.13, linewidth=0)
        name = f"{count:,} {op}{'s' if count > 1 else ''}, measured"
        lines[name] = axes.plot(theirs, shares, label=name, **OP_LINES[op] | _MEASURED)[0]
        figure = number(figures["demerit_ms"][op], 3)
        name = f"{op}s simulated, demerit\u00a0{figure}\u00a0ms"
        lines[name] = axes.plot(ours, shares, color=_color(of), label=name, **OP_LINES[op])[0]
    closed = of.to_dict()["replay"] == "closed"
    name = "measured service, simulated response" if closed else part
    axes.set(ylabel="share of requests", ylim=(0, 1.02))
    axes.set_xlabel(scales.wrapped(axes, f"{name} time, ms"))
    curves.legend_above(axes, lines)
    if edge:
        scales.logarithmic(axes, "x", edge, longest)
        return [f"times below {edge:g} ms lie at the left edge"] if least < edge else []
    axes.set_xlim(0, 1.05 * tail or 1)
    if longest > 1.05 * tail:
        return [f"the slowest requests, up to {number(longest, 3)} ms, lie beyond the axis"]
    return []


def _differences(axes: Axes, of: Validation) -> list[str]:
    """Draw how much longer the simulated time of a rank is than the measured one."""
    inner, outer = 0.0, 0.0
    lines = {}
    for op, (measured, simulated) in _kinds(of).items():
        shares, theirs = _quantiles(measured)
        _, ours = _quantiles(simulated)
        longer = [our - their for our, their in zip(ours, theirs, strict=True)]
        lines[f"{op}s"] = axes.plot(
            shares, longer, color=_color(of), label=f"{op}s", **OP_LINES[op]
        )[0]
        most = [
            abs(way)
            for share, way in zip(shares, longer, strict=True)
            if _INNER < share < 1 - _INNER or len(shares) < 3
        ]
        inner = max(inner, *most, 0.0)
        outer = max(outer, *map(abs, longer))
    axes.set_ylim(-1.2 * inner or -1, 1.2 * inner or 1)
    axes.axhline(0, color=INK, linewidth=1)
    axes.set(xlabel="share of requests", xlim=(0, 1))
    axes.set_ylabel(scales.wrapped(axes, "simulated less measured, ms", "y"))
    curves.name(axes, lines)
    if outer > 1.2 * inner > 0:
        return [f"differences at the ends, up to {number(outer, 3)} ms, lie beyond the axis"]
    return []
