"""A Latin hypercube over the design of a sled: which parameters the mean service time hangs on.

Run it as ``python examples/latin_hypercube.py [--quick] [--samples N]``. A grid of five parameters
with ten values each has 100,000 points. A Latin hypercube spreads a few hundred over all of them
and is given to a sweep as rows. Rank correlations tell which parameters matter where all vary
together; ``sensitivity.py`` changes one at a time.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import sledsim as ss
from scipy.stats import qmc, spearmanr

if TYPE_CHECKING:
    from collections.abc import Sequence

RANGES = {  # around the preset g2
    "device.spring_factor": (0, 0.9),
    "device.resonance_hz": (200, 2000),
    "device.acceleration_x_m_s2": (50, 1000),
    "device.acceleration_y_m_s2": (50, 1000),
    "device.tip_rate_kbit_s": (200, 1500),
}


def rows(samples: int) -> list[dict[str, float]]:
    """Return the points: each parameter has one value in each of so many equal parts."""
    unit = qmc.LatinHypercube(len(RANGES), seed=2000).random(samples)
    scaled = qmc.scale(unit, *zip(*RANGES.values(), strict=True))
    return [dict(zip(RANGES, map(float, point), strict=True)) for point in scaled]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study, and print what the parameters do."""
    parser = argparse.ArgumentParser(description="A Latin hypercube over the design of a sled")
    parser.add_argument("--samples", type=int, help="designs (400, quick: 50)")
    parser.add_argument("--quick", action="store_true", help="fewer designs and shorter runs")
    options = parser.parse_args(arguments)
    samples = options.samples or (50 if options.quick else 400)
    requests = 1_000 if options.quick else 10_000
    try:
        base = {"device": "g2", "workload": "random", "requests": requests}
        table = ss.sweep(base, rows=rows(samples)).check().table
    except ss.SledsimError as error:
        parser.error(str(error))
    times = table.column("service_time_ms.mean")
    print(f"{samples} designs: mean service time {min(times):.3f} to {max(times):.3f} ms")
    ranks = {key: spearmanr(table.column(key), times).statistic for key in RANGES}
    for key, rank in sorted(ranks.items(), key=lambda pair: -abs(pair[1])):
        print(f"  {key:<28} rank correlation {rank:+.2f}")


if __name__ == "__main__":
    main()
