"""Draws the picture of README.md: how long the reads of PostMark take on three devices.

Draw it anew, from the root of the checkout, with ``.venv/bin/python scripts/readme_picture.py``. It
writes docs/drawings/cdf.svg. The same versions of sledsim and matplotlib write the same bytes.

The load is the shipped trace ``postmark-ext4``, replayed with one request outstanding, because the
disk cannot keep up with its recorded pace. The question is that of MSST 2005, asked of a disk that
was measured: the disk, the disk behind a sled as its cache, and a sled.
"""

from pathlib import Path

import sledsim as ss
from sledsim.plots import scales

PICTURE = Path(__file__).parents[1] / "docs" / "drawings" / "cdf.svg"
DEVICES = {
    "g2, a sled": "g2",
    "mcd, a hybrid": "mcd(back.base=barracuda2t)",
    "barracuda2t": "barracuda2t",
}

if __name__ == "__main__":
    load = ss.read_trace("sample:postmark-ext4", queue_depth=1)
    runs = {label: ss.simulate(load, name, rows=False) for label, name in DEVICES.items()}
    title = "Reads of PostMark, one request outstanding"
    figure = ss.plots.cdf(runs, op="read", size="7x3.6", title=title)
    scales.logarithmic(figure.axes[0], "x", 0.2, 50.0)  # 1 % of the reads are beyond it
    ss.plots.save(figure, PICTURE)
    print(f"Written: {PICTURE}")
