"""The picture of a validation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledsim import cautions
from sledsim.cli import plots

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sledsim.validation import Validation

_COLORS = {"read": "#1f6fb4", "write": "#d95f02"}
_POINTS = 2000
"""Number of quantiles drawn; more cannot be distinguished."""
_TAIL = 0.995
"""The share of the requests that a linear axis has room for."""
_ZERO_MS = 0.01
"""Times below this are drawn as zero."""


def draw(validation: Validation, path: str) -> bytes:
    """Draw the distribution functions of measured and simulated times.

    The head tells the demerit figure of all requests and the class-weighted one.
    The demerit figure of a kind measures the area between its curves. Where the trace tells
    queue and service apart, each has a picture; else the second shows the differences.

    Parameters
    ----------
    validation
        The validation.
    path
        Name of the picture, for its format.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415 (an extra)

    document = validation.to_dict()
    parts = document["parts"] or {}
    count = 1 + len(parts) if parts else 2
    figure = Figure(figsize=(5.2 * count, 4.4), layout="constrained")
    panels = figure.subplots(1, count)
    trace = Path(document["workload"]["path"]).name
    for axes, part in zip(panels, ("response", *parts), strict=False):
        _distributions(axes, validation, part, parts.get(part, document))
    if not parts:
        _differences(panels[1], validation)
    mark = cautions.mark(validation.cautions)
    title = f"{document['device']} against {trace} {mark}".rstrip()
    figure.suptitle(f"{title}: {_demerits(document)}")
    cautions.below(figure, {"": validation.cautions})
    return plots.rendered(figure, path)


def _demerits(document: dict[str, Any]) -> str:
    all_ms, weighted_ms = document["demerit_ms"]["all"], document["class_weighted_ms"]
    disagree = " (they disagree)" if document["demerits_disagree"] else ""
    return f"demerit {all_ms:.3g} ms, class-weighted {weighted_ms:.3g} ms{disagree}"


def _quantiles(times: list[float]) -> tuple[list[float], list[float]]:
    """Return shares and the times that these do not exceed, thinned out."""
    step = max(1, len(times) // _POINTS)
    ranks = [*range(0, len(times) - 1, step), len(times) - 1]
    return [(rank + 1) / len(times) for rank in ranks], [times[rank] for rank in ranks]


def _distributions(axes: Axes, validation: Validation, part: str, figures: dict[str, Any]) -> None:
    least, tail = float("inf"), 0.0
    for kind, color in _COLORS.items():
        measured, simulated = validation.sorted_ms(kind, part)
        if not measured:
            continue
        shares, theirs = _quantiles(measured)
        _, ours = _quantiles(simulated)
        figure, count = figures["demerit_ms"][kind], len(measured)
        axes.fill_betweenx(shares, theirs, ours, color=color, alpha=0.15, linewidth=0)
        axes.plot(theirs, shares, color=color, label=f"{count:,} {kind}s, measured")
        axes.plot(
            ours,
            shares,
            color=color,
            linestyle="--",
            label=f"simulated, demerit {figure:.3g} ms",
        )
        at = min(int(_TAIL * count), count - 1)
        least = min(least, measured[0], simulated[0])
        tail = max(tail, measured[at], simulated[at])
    closed = validation.to_dict()["replay"] == "closed"
    name = "service (measured) and response (simulated)" if closed else part
    axes.set(xlabel=f"{name} time, ms", ylabel="share of requests", ylim=(0, 1))
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small", loc="lower right")
    if tail > 100 * max(least, _ZERO_MS):
        _logarithmic(axes, least)
    elif tail > 0:
        axes.set_xlim(0, 1.05 * tail)


def _logarithmic(axes: Axes, least: float) -> None:
    """Make room for times of several magnitudes; zeros have a place, too."""
    if least < _ZERO_MS:
        axes.set_xscale("symlog", linthresh=10 * _ZERO_MS, linscale=0.3)
        axes.set_xlim(left=0)
        axes.minorticks_off()
    else:
        axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")


def _differences(axes: Axes, validation: Validation) -> None:
    """Draw how much longer the simulated time of a rank is than the measured one.

    The axis has room for all but the fastest and the slowest 0.2 %.
    """
    inner = 0.0
    for kind, color in _COLORS.items():
        measured, simulated = validation.sorted_ms(kind)
        if not measured:
            continue
        shares, theirs = _quantiles(measured)
        _, ours = _quantiles(simulated)
        longer = [our - their for our, their in zip(ours, theirs, strict=True)]
        axes.plot(shares, longer, color=color, label=f"{kind}s")
        most = (
            abs(way) for share, way in zip(shares, longer, strict=True) if 0.002 < share < 0.998
        )
        inner = max(inner, *most, 0.0)
    if inner > 0:
        axes.set_ylim(-1.2 * inner, 1.2 * inner)
    axes.axhline(0, color="#333333", linewidth=1)
    axes.set(xlabel="share of requests", ylabel="simulated less measured, ms", xlim=(0, 1))
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
