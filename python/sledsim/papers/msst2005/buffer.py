"""Section 6.3: with larger segments the buffer holds fewer, and two techniques do less."""

from matplotlib.figure import Figure

from sledsim.papers import Found, Setup
from sledsim.papers.msst2005 import runs
from sledsim.plots import curves
from sledsim.plots.style import INK

SEGMENTS_KIB = (8, 16, 32, 64, 128, 256)
QUICK_SEGMENTS_KIB = (8, 32, 128)
KEYS = {"SHORTCUT": "shortcut", "IREPORT": "ireport"}


def savings(setup: Setup, *, quick: bool) -> dict[str, dict[int, float]]:
    """Return what techniques save under cello, in percent, by the size of segments in KiB."""

    def mean_ms(label: str, segment: int) -> float:
        kind = f"MCD {label}"
        return runs.outcome(setup, "cello", kind, quick=quick, segment_kib=segment).mean_ms

    return {
        label: {
            segment: 100 * (1 - mean_ms(label, segment) / mean_ms("NONE", segment))
            for segment in (QUICK_SEGMENTS_KIB if quick else SEGMENTS_KIB)
        }
        for label in KEYS
    }


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Run with each size, with each technique and without any."""
    found = savings(setup, quick=quick)
    return Found(
        {f"{key}_cello": list(found[label].values()) for label, key in KEYS.items()},
        series={
            label: {str(kib): own for kib, own in curve.items()} for label, curve in found.items()
        },
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw what is saved by the size of segments."""
    axes = figure.add_subplot()
    axes.axhline(0, color=INK, linewidth=1)
    drawn = {label: (list(curve), list(curve.values())) for label, curve in found.series.items()}
    curves.draw(axes, drawn)
    axes.set(xlabel="segment (KB)", ylabel="saved of the time without techniques (%)")
