"""Draws how many reads a second disks of today serve by depth, beside what was measured.

Draw it anew, from the root of the checkout, with ``.venv/bin/python scripts/depth_picture.py``. It
writes docs/drawings/depths.svg. The measured points are those of ``ss.validate_published``.
"""

from pathlib import Path
from typing import Any

import sledsim as ss
from matplotlib import pyplot as plt
from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter

PICTURE = Path(__file__).parents[1] / "docs" / "drawings" / "depths.svg"
DEPTHS = (1, 2, 4, 8, 16, 32)
MEASURED = {1: 57.6, 4: 71.2, 32: 93.6}
LINES: dict[str, dict[str, Any]] = {
    "positions known exactly": {"queue": {"margin_ms": 0, "age_limit_ms": 1e9}},
    "barracuda2t": {},
    "first come, first served": {"queue": {"entries": 1}},
}

if __name__ == "__main__":
    figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
    for label, keys in LINES.items():
        device = ss.device("barracuda2t", **keys)
        rates = []
        for depth in DEPTHS:
            load = ss.workload(
                "random",
                queue_depth=depth,
                requests=20_000,
                read_fraction=1,
                size="fixed",
                mean_size_kib=4,
                blocking=8,
            )
            rates.append(ss.simulate(load, device, rows=False).summary["throughput_iops"])
        style = "-" if label == "barracuda2t" else "--"
        (line,) = axes.plot(DEPTHS, rates, style, label=label)
        axes.annotate(
            label, (DEPTHS[-1], rates[-1]), (4, 0), textcoords="offset points", va="center"
        )
    axes.plot(*zip(*MEASURED.items(), strict=True), "o", color="black", label="measured")
    axes.annotate("measured", (4, MEASURED[4]), (-4, 6), textcoords="offset points", ha="right")
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator(DEPTHS))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.set(xlabel="requests outstanding", ylabel="random reads a second", ylim=(0, 150))
    axes.set_xlim(0.9, 32 * 14)
    axes.spines[["top", "right"]].set_visible(False)
    ss.plots.save(figure, PICTURE)
    print(f"Written: {PICTURE}")
