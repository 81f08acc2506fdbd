"""Plots of runs."""

from __future__ import annotations

import importlib
import io
from pathlib import Path
from typing import TYPE_CHECKING

from sledsim import cautions
from sledsim._core import SledsimError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from sledsim.comparison import Comparison
    from sledsim.simulation import Run

_FORMATS = (".png", ".svg", ".pdf")
CAUSES = (
    "queue",
    "overhead",
    "seek",
    "rotation",
    "head_switch",
    "transfer",
    "bus",
    "retry",
    "other",
)


def check(path: str, *others: str | None) -> None:
    """Refuse plots that cannot be drawn or written, before a long run.

    Raises
    ------
    SledsimError
        For a name that is no picture's, a place that cannot be written, or a missing library.
    """
    file = Path(path)
    if file.suffix.lower() not in _FORMATS:
        _refuse(f"--plot {path}: must end in {', '.join(_FORMATS[:-1])} or {_FORMATS[-1]}")
    if file.is_dir():
        _refuse(f"--plot {path}: is a folder; a file name is needed")
    if not file.parent.is_dir():
        _refuse(f"--plot {path}: its folder does not exist")
    for other in others:
        if other is not None and Path(other).absolute() == file.absolute():
            _refuse(f"--plot {path}: is another file to be written")
    try:
        importlib.import_module("matplotlib")
    except ImportError:
        _refuse("--plot needs matplotlib: pip install matplotlib")


def draw(run: Run, path: str) -> bytes:
    """Draw the distribution of the response times and their mean by cause.

    Parameters
    ----------
    run
        The run.
    path
        Name of the picture, for its format.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415 (an extra)

    figure = Figure(figsize=(10, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    document = run.to_dict()
    figure.suptitle(
        f"{document['device']}, {document['scheduler']}, {document['workload']['workload']}"
    )
    _distributions(
        left, {"all": run.cdf(), "reads": run.cdf(op="read"), "writes": run.cdf(op="write")}
    )
    summary = document["summary"]
    causes = [cause for cause in CAUSES if summary[f"{cause}_ms"]["mean"]]
    means = [summary[f"{cause}_ms"]["mean"] for cause in causes]
    bars = right.barh([cause.replace("_", " ") for cause in causes], means)
    mark = cautions.mark(run.cautions)
    right.bar_label(bars, fmt=f"{{:.3f}} {mark}".rstrip(), padding=2)
    right.invert_yaxis()
    right.margins(x=0.2)
    right.set(xlabel="mean response time by cause, ms")
    cautions.below(figure, {"": run.cautions})
    return rendered(figure, path)


def draw_comparison(comparison: Comparison, path: str) -> bytes:
    """Draw the distributions of several runs, and their means by cause.

    Parameters
    ----------
    comparison
        The runs.
    path
        Name of the picture, for its format.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415 (an extra)

    labels, runs = comparison.labels, comparison.runs
    figure = Figure(figsize=(11, max(4.2, 1.8 + 0.35 * len(runs))), layout="constrained")
    left, right = figure.subplots(1, 2)
    load = runs[0].workload["workload"]
    rate = runs[0].workload.get("rate")
    figure.suptitle(load if rate is None else f"{load}, {rate:g} requests/s")
    _distributions(left, {label: run.cdf() for label, run in zip(labels, runs, strict=True)})

    summaries = [run.to_dict()["summary"] for run in runs]
    means = [{cause: each[f"{cause}_ms"]["mean"] or 0.0 for cause in CAUSES} for each in summaries]
    ends = [0.0] * len(runs)
    for index, cause in enumerate(CAUSES):
        widths = [mean[cause] for mean in means]
        if any(widths):
            name = cause.replace("_", " ")
            right.barh(labels, widths, left=ends, label=name, color=f"C{index}")
            ends = [end + width for end, width in zip(ends, widths, strict=True)]
    for label, run, end in zip(labels, runs, ends, strict=True):
        interval, half = run.summary["confidence"]["response_time_ms"], 0.0
        if interval["low"] is not None:
            half = (interval["high"] - interval["low"]) / 2
            right.errorbar(end, label, xerr=half, color="black", capsize=3, linewidth=1)
        text = f"  {end:.3g} {cautions.mark(run.cautions)}".rstrip()
        right.annotate(text, (end + half, label), va="center", fontsize="small")
    right.invert_yaxis()
    right.margins(x=0.25)
    right.set(xlabel="mean response time by cause, ms (bars: 95 % confidence)")
    right.legend(fontsize="small")
    cautions.below(figure, comparison.cautions)
    return rendered(figure, path)


def _distributions(axes: Axes, curves: dict[str, list[tuple[float, float]]]) -> None:
    """Draw distribution functions of response times."""
    from matplotlib.ticker import LogLocator  # noqa: PLC0415 (an extra)

    drawn = {name: curve for name, curve in curves.items() if curve}
    for name, curve in drawn.items():
        xs, shares = zip((curve[0][0], 0.0), *curve, strict=True)
        axes.plot(xs, shares, drawstyle="steps-post", label=name)
    axes.set(xlabel="response time, ms", ylabel="share of requests", ylim=(0, 1))
    axes.grid(alpha=0.3)
    if not drawn:
        return
    axes.legend()
    least = min(curve[0][0] for curve in drawn.values())
    most = max(curve[-1][0] for curve in drawn.values())
    if most > 10 * least > 0:
        axes.set(xscale="log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=30))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.minorticks_off()


def rendered(figure: Figure, path: str) -> bytes:
    """Return a figure as a picture.

    Parameters
    ----------
    figure
        What is drawn.
    path
        Name of the picture, for its format.
    """
    picture = io.BytesIO()
    figure.savefig(picture, format=Path(path).suffix[1:].lower(), dpi=150)
    return picture.getvalue()


def _refuse(problem: str) -> None:
    raise SledsimError(problem)
