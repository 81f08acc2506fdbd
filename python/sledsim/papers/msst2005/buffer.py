"""Section 6.3: with larger segments the buffer holds fewer, and two techniques do less."""

from matplotlib.figure import Figure

from sledsim.papers import Found, Setup
from sledsim.papers.msst2005 import loads, runs
from sledsim.plots import curves
from sledsim.plots.style import INK

SEGMENTS_KIB = (8, 16, 32, 64, 128, 256)
QUICK_SEGMENTS_KIB = (8, 32, 128)
KEYS = {"SHORTCUT": "shortcut", "IREPORT": "ireport"}
LOADS = ("tpcc", "cello")


def savings(setup: Setup, name: str, *, quick: bool) -> dict[str, dict[int, float]]:
    """Return what techniques save, in percent, by the size of segments in KiB."""

    def mean_ms(label: str, segment: int) -> float:
        kind = f"MCD {label}"
        return runs.outcome(setup, name, kind, quick=quick, segment_kib=segment).mean_ms

    return {
        label: {
            segment: 100 * (1 - mean_ms(label, segment) / mean_ms("NONE", segment))
            for segment in (QUICK_SEGMENTS_KIB if quick else SEGMENTS_KIB)
        }
        for label in KEYS
    }


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Run with each size, with each technique and without any."""
    found = {name: savings(setup, name, quick=quick) for name in LOADS}
    return Found(
        {
            f"{key}_{name}": list(own[label].values())
            for name, own in found.items()
            for label, key in KEYS.items()
        },
        series={
            name: {
                label: {str(kib): own for kib, own in curve.items()} for label, curve in of.items()
            }
            for name, of in found.items()
        },
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw what is saved by the size of segments, for each load."""
    for axes, (name, own) in zip(
        figure.subplots(1, len(found.series), sharey=True), found.series.items(), strict=True
    ):
        axes.axhline(0, color=INK, linewidth=1)
        axes.set_xlabel("segment (KB)")
        drawn = {label: (list(curve), list(curve.values())) for label, curve in own.items()}
        curves.draw(axes, drawn)
        curves.heading(axes, loads.LOADS[name])
    figure.axes[0].set(ylabel="saved of the time without techniques (%)")
