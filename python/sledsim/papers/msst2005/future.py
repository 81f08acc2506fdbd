"""Future work of section 7: streams that bypass MEMS."""

from collections.abc import Callable
from typing import Any

from matplotlib.figure import Figure

from sledsim.papers import Found, Later, Setup
from sledsim.papers.msst2005 import loads, runs
from sledsim.plots import bars
from sledsim.plots.style import INK

BYPASS: dict[str, Any] = {"bypass_after_kib": 64}
"""A stream bypasses MEMS after so much in sequence."""


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Run the MEMS caching disk as in the paper, and with streams that bypass MEMS."""

    def mean_ms(name: str, **keys: Any) -> float:
        return runs.outcome(setup, name, "MCD ALL", quick=quick, **keys).mean_ms

    plain = Later(loads.LOADS, mean_ms)
    bypass = Later(loads.LOADS, lambda name: mean_ms(name, **BYPASS))
    means = {"as described": plain, "bypass": bypass}
    series: dict[str, Callable[[], Any]] = {
        "mean_ms": lambda: {label: dict(own) for label, own in means.items()},
    }
    return Found(
        {"bypass_tpcd": {"bypass": bypass["tpcd"], "MCD ALL": plain["tpcd"]}},
        series=Later(series, lambda key: series[key]()),
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw times where streams bypass MEMS."""
    axes = figure.add_subplot()
    plain, bypass = found.series["mean_ms"].values()
    series = {"bypass": [bypass[name] / ms for name, ms in plain.items()]}
    bars.grouped(axes, list(loads.LOADS.values()), series, "{:.2f}".format)
    axes.axhline(1, color=INK, linewidth=1)
    axes.set(ylabel="time / as described", ylim=(0, 1.5))
