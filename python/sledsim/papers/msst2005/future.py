"""Future work of section 7: streams that bypass MEMS, adaptive fetch sizes."""

from typing import Any

from matplotlib.figure import Figure

from sledsim.papers import Found, Setup
from sledsim.papers.msst2005 import loads, runs
from sledsim.papers.msst2005.axes import log_y

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
    plain = {name: mean_ms(name) for name in loads.LOADS}
    bypass = {name: mean_ms(name, **BYPASS) for name in loads.LOADS}
    fetched = {
        name: {str(size): mean_ms(name, fetch_kib=size, **FETCHING) for size in (*sizes, "auto")}
        for name in loads.LOADS
    }
    both = {name: mean_ms(name, fetch_kib="auto", **BYPASS, **FETCHING) for name in loads.LOADS}
    disk = runs.outcome(setup, "tpcd", "DISK", quick=quick).mean_ms
    auto = {
        name: own["auto"] / min(time for size, time in own.items() if size != "auto")
        for name, own in fetched.items()
    }
    return Found(
        {
            "bypass_tpcd": {"bypass": bypass["tpcd"], "MCD ALL": plain["tpcd"]},
            "bypass_of_disk": bypass["tpcd"] / disk,
            "both_of_disk": both["tpcd"] / disk,
            **{f"auto_{name}": own for name, own in auto.items()},
        },
        series={
            "mean_ms": {"as described": plain, "bypass": bypass, "auto and bypass": both},
            "fetch_kib": fetched,
        },
        note=loads.note(),
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw times with each addition, and by fetch size."""
    figure.set_size_inches(5.6, 6)
    upper, lower = figure.subplots(2)
    plain, *others = found.series["mean_ms"].items()
    for place, (label, own) in enumerate(others):
        heights = [own[name] / ms for name, ms in plain[1].items()]
        spots = [spot + 0.3 * (place - (len(others) - 1) / 2) for spot in range(len(heights))]
        upper.bar(spots, heights, 0.28, label=label)
    upper.axhline(1, color="black", linewidth=1)
    upper.set_xticks(range(len(loads.LOADS)), list(loads.LOADS.values()))
    upper.set(ylabel="time / as described")
    upper.grid(visible=False, axis="x")
    upper.set_ylim(0, 1.5)
    upper.legend(ncols=2, fontsize=8, loc="upper left")
    for (name, own), marker in zip(found.series["fetch_kib"].items(), "osD^", strict=True):
        best = min(time for size, time in own.items() if size != "auto")
        heights = [time / best for time in own.values()]
        lines = lower.plot(
            list(own)[:-1], heights[:-1], marker=marker, ms=4, label=loads.LOADS[name]
        )
        lower.plot("auto", heights[-1], marker=marker, ms=6, color=lines[0].get_color())
    lower.set(xlabel="fetched at a time (KB), segments of 8 KB", ylabel="time / best")
    log_y(lower)
    lower.legend(ncols=2, fontsize=8)
