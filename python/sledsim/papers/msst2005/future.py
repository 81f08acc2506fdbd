"""Future work of section 7: streams that bypass MEMS, adaptive fetch sizes."""

from collections.abc import Callable
from typing import Any

from matplotlib.figure import Figure

from sledsim.papers import Found, Later, Setup
from sledsim.papers.msst2005 import loads, runs
from sledsim.plots import bars, curves
from sledsim.plots.style import INK

FETCHES_KIB = (8, 16, 32, 64, 128, 256)
QUICK_FETCHES_KIB = (8, 32, 64, 256)
BYPASS: dict[str, Any] = {"bypass_after_kib": 64}
"""A stream bypasses MEMS after so much in sequence."""
FETCHING: dict[str, Any] = {"segment_kib": 8}
"""Small segments, of which several are fetched at once."""


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Run the MEMS caching disk as in the paper, and with each addition."""

    def mean_ms(name: str, **keys: Any) -> float:
        return runs.outcome(setup, name, "MCD ALL", quick=quick, **keys).mean_ms

    sizes = QUICK_FETCHES_KIB if quick else FETCHES_KIB
    plain = Later(loads.LOADS, mean_ms)
    bypass = Later(loads.LOADS, lambda name: mean_ms(name, **BYPASS))
    fetched = {
        name: {str(size): mean_ms(name, fetch_kib=size, **FETCHING) for size in (*sizes, "auto")}
        for name in loads.LOADS
    }
    added: dict[str, Any] = {"fetch_kib": "auto", **BYPASS, **FETCHING}
    both = Later(loads.LOADS, lambda name: mean_ms(name, **added))
    disk = runs.outcome(setup, "tpcd", "DISK", quick=quick).mean_ms
    auto = {
        name: own["auto"] / min(time for size, time in own.items() if size != "auto")
        for name, own in fetched.items()
    }
    means = {"as described": plain, "bypass": bypass, "auto and bypass": both}
    series: dict[str, Callable[[], Any]] = {
        "mean_ms": lambda: {label: dict(own) for label, own in means.items()},
        "fetch_kib": lambda: fetched,
    }
    return Found(
        {
            "bypass_tpcd": {"bypass": bypass["tpcd"], "MCD ALL": plain["tpcd"]},
            "bypass_of_disk": bypass["tpcd"] / disk,
            "both_of_disk": both["tpcd"] / disk,
            **{f"auto_{name}": own for name, own in auto.items()},
        },
        series=Later(series, lambda key: series[key]()),
        note=loads.note(),
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw times with each addition, and by fetch size."""
    figure.set_size_inches(5.6, 6.6)
    upper, lower = figure.subplots(2)
    (_, plain), *others = found.series["mean_ms"].items()
    series = {label: [own[name] / ms for name, ms in plain.items()] for label, own in others}
    bars.grouped(upper, list(loads.LOADS.values()), series, "{:.2f}".format)
    upper.axhline(1, color=INK, linewidth=1)
    upper.set(ylabel="time / as described", ylim=(0, 1.5))
    drawn = {}
    for name, own in found.series["fetch_kib"].items():
        best = min(time for size, time in own.items() if size != "auto")
        drawn[loads.LOADS[name]] = (range(len(own)), [time / best for time in own.values()])
    for label, line in curves.draw(lower, drawn, log_y=True).items():
        sizes, times = drawn[label]
        line.set_data(sizes[:-1], times[:-1])  # "auto" is no size
        lower.plot(sizes[-1], times[-1], marker=line.get_marker(), ms=6, color=line.get_color())
    lower.set_xticks(range(len(own)), list(own))
    lower.set(xlabel="fetched at a time (KB), segments of 8 KB", ylabel="time / best")
