"""A first look at sledsim: a recorded trace and a random load on four MEMS-based devices.

Run it as ``python examples/first_look.py [--requests N] [--output FILE]``. It prints a table for
each load and writes one page with pictures that needs nothing else. The same version of sledsim
writes the same page, byte for byte. Nothing is used here but what every program may use.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import sledsim as ss
from matplotlib import style

if TYPE_CHECKING:
    from collections.abc import Sequence

DEVICES = ("sigmetrics2000", "g1", "g2", "g3")
TRACE = "sample:postmark-ext4"
SLOWER = 8  # the second replay: one pace for all devices, at which all of them keep up
RATE = 400  # requests per second of the open random load: within what each of them can do
STARTS_UM = {"centre": (0, 0), "corner": (-50, -50)}  # of the maps of seek times
WHY = "X decides almost everywhere, because only X must settle."


def comparisons(requests: int) -> dict[str, ss.Comparison]:
    """Run all loads on all devices; ``requests`` is the length of the random ones."""
    loads = {
        "Random, one after the other": ss.workload("random", requests=requests),
        f"Random, {RATE} per second": ss.workload("random", requests=requests, rate=RATE),
        "PostMark trace, recorded pace": ss.read_trace(TRACE),
        f"PostMark trace, {SLOWER} times slower": ss.read_trace(TRACE, time_scale=1 / SLOWER),
    }
    return {title: ss.compare(load, DEVICES) for title, load in loads.items()}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run everything."""
    parser = argparse.ArgumentParser(description="A recorded trace and a random load on four sleds")
    parser.add_argument(
        "--requests", type=int, default=100_000, help="length of the random loads (%(default)s)"
    )
    parser.add_argument(
        "--output", type=Path, default=Path("out/first_look.html"), help="the page (%(default)s)"
    )
    options = parser.parse_args(arguments)

    found = comparisons(options.requests)
    for title, comparison in found.items():
        print(f"{title}\n")
        comparison.show()
        print()
    first, *others = found.values()
    options.output.parent.mkdir(parents=True, exist_ok=True)
    with style.context("default"):  # not as the user set matplotlib
        maps = [
            (
                f"Seek times of {name} from the {place}, moving up at first. {WHY}",
                ss.device(name).plot_seeks(start_um, size="column", title=""),
            )
            for name in ("sigmetrics2000", "g2")
            for place, start_um in STARTS_UM.items()
        ]
        first.report(options.output, title="sledsim: a first look", further=[*others, *maps])
    print(f"Written: {options.output}")


if __name__ == "__main__":
    main()
