"""Future work of section 7: streams that bypass MEMS, adaptive fetch sizes."""

from typing import Any

from matplotlib.figure import Figure

from sledsim.papers import Found
from sledsim.papers.msst2005 import runs
from sledsim.papers.msst2005.axes import log_y

FETCHES_KIB = (8, 16, 32, 64, 128, 256)
QUICK_FETCHES_KIB = (8, 32, 64, 256)
BYPASS_KIB = 8
PLACEMENTS = ("first", "centre", "whole")
FETCHING: dict[str, Any] = {"segment_kib": 8}
"""Small segments, of which several are fetched at once."""


def fetches(name: str, *, quick: bool) -> dict[str, float]:
    """Return mean response times by fetch size."""
    sizes = QUICK_FETCHES_KIB if quick else FETCHES_KIB
    return {
        str(size): runs.outcome(name, "MCD ALL", quick=quick, fetch_kib=size, **FETCHING).mean_ms
        for size in (*sizes, "auto")
    }


def simulate(*, quick: bool) -> Found:
    """Run the MEMS caching disk as in the paper, and with each addition."""

    def mean_ms(name: str, **keys: Any) -> float:
        return runs.outcome(name, "MCD ALL", quick=quick, **keys).mean_ms

    plain = {name: mean_ms(name) for name in runs.LOADS}
    bypass = {name: mean_ms(name, bypass_after_kib=BYPASS_KIB) for name in runs.LOADS}
    clean = {name: mean_ms(name, **runs.CLEANING) for name in runs.LOADS}
    placed = {
        place: {name: mean_ms(name, front_placement=place) for name in runs.LOADS}
        for place in PLACEMENTS
    }
    fetched = {name: fetches(name, quick=quick) for name in runs.LOADS}
    disk = runs.outcome("tpcd", "DISK", quick=quick).mean_ms
    both = {
        name: mean_ms(name, bypass_after_kib=BYPASS_KIB, fetch_kib="auto", **FETCHING)
        for name in runs.LOADS
    }
    auto = {
        name: own["auto"] / min(time for size, time in own.items() if size != "auto")
        for name, own in fetched.items()
    }
    return Found(
        {
            "bypass_tpcd": {"bypass": bypass["tpcd"], "MCD ALL": plain["tpcd"]},
            "both_of_disk": both["tpcd"] / disk,
            **{
                f"auto_{name}": {"auto": own["auto"], "MCD ALL": plain[name]}
                for name, own in fetched.items()
                if name in {"tpcd", "hplajw"}
            },
        },
        series={
            "readings": {"as described": plain, f"bypass after {BYPASS_KIB} KB": bypass}
            | {"auto and bypass": both}
            | {"cleaning": clean}
            | {f"front {place}": own for place, own in placed.items() if place != "first"},
            "fetch_kib": fetched,
            "auto_by_best": auto,
        },
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw times with each addition, and by fetch size."""
    figure.set_size_inches(5.6, 6)
    upper, lower = figure.subplots(2)
    readings = found.series["readings"]
    plain = readings["as described"]
    others = {label: own for label, own in readings.items() if own is not plain}
    for place, (label, own) in enumerate(others.items()):
        heights = [own[name] / plain[name] for name in plain]
        spots = [spot + 0.16 * (place - (len(others) - 1) / 2) for spot in range(len(plain))]
        upper.bar(spots, heights, 0.14, label=label)
    upper.axhline(1, color="black", linewidth=1)
    upper.set_xticks(range(len(plain)), [runs.LOADS[name] for name in plain])
    upper.set(ylabel="time / as described")
    upper.grid(visible=False, axis="x")
    upper.set_ylim(0, 1.5)
    upper.legend(ncols=2, fontsize=8, loc="upper left")
    for (name, own), marker in zip(found.series["fetch_kib"].items(), "osD^", strict=True):
        best = min(time for size, time in own.items() if size != "auto")
        heights = [time / best for time in own.values()]
        lines = lower.plot(
            list(own)[:-1], heights[:-1], marker=marker, ms=4, label=runs.LOADS[name]
        )
        lower.plot("auto", heights[-1], marker=marker, ms=6, color=lines[0].get_color())
    lower.set(xlabel="fetched at a time (KB), segments of 8 KB", ylabel="time / best")
    log_y(lower)
    lower.legend(ncols=2, fontsize=8)
