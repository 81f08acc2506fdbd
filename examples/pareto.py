"""The Pareto front of sleds: tip rate, acceleration and active tips against performance and power.

Run it as ``python examples/pareto.py [--device sigmetrics2000] [--requests N] [--output FILE]``.
Each design of a grid is a device with these keys changed. It has a mean service time (the random
load of SIGMETRICS 2000), a sustained bandwidth (a sequential load, a cylinder at a time) and the
power that it draws at work (sled and active tips, from its parameters). A design is on the front
if no other is as good in all three and better in one. Parameters put no price on acceleration, so
that the strongest sled wins; therefore each acceleration has a front of its own, too. No design has
an interface: sleds are compared, and not buses.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import sledsim as ss
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from shared import picture_path, write_results
from sledsim.plots import curves, scales
from sledsim.plots.style import HEAT, INK, VERMILION

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes

PRESETS = {"sigmetrics2000": "s", "g1": "^", "g2": "D", "g3": "P"}  # and how they are drawn
TIP_RATES_KBIT_S = range(100, 2001, 100)
ACCELERATIONS_M_S2 = (50, 100, 200, 400, 800, 1600)  # and the base's, and the presets'
NO_INTERFACE = {"device.command_overhead_ms": 0, "device.bus_ms_per_block": 0}
KEYS = [
    f"device.{key}"
    for key in ("tip_rate_kbit_s", "acceleration_x_m_s2", "acceleration_y_m_s2", "active_tips")
]
CYLINDERS = 20  # read one after the other
OWN = "on_front_of_its_acceleration"

Point = tuple[float, float, float]
"""Quantities to minimise: service time, minus bandwidth, power."""


@dataclass(frozen=True)
class Design:
    """A sled with its performance and power."""

    device: str
    tip_rate_kbit_s: float
    acceleration_m_s2: float
    active_tips: int
    service_ms: float
    bandwidth_mb_s: float
    power_w: float

    @property
    def point(self) -> Point:
        """The point to compare."""
        return self.service_ms, -self.bandwidth_mb_s, self.power_w


def dominates(one: Point, other: Point) -> bool:
    """Whether a point is no worse than another in all quantities, and better in one."""
    return one != other and all(x <= y for x, y in zip(one, other, strict=True))


def front(points: Iterable[Point]) -> set[Point]:
    """Return the points that no other dominates.

    What dominates a point comes before it in order, and so does one of the front that does, too.
    """
    kept: list[Point] = []
    for point in sorted(set(points)):
        if not any(dominates(better, point) for better in kept):
            kept.append(point)
    return set(kept)


def measure(name: str, grid: dict[str, Any], requests: int, seed: int) -> list[Design]:
    """Run both loads on a device with each combination of the values of a grid."""
    device = ss.device(name)
    keys, cylinders = device.parameters, device.spec["derived"]["cylinders"]
    designs = list(product(*grid.values()))
    random = {"workload": "random", "requests": requests, "seed": seed}
    stream = {
        "workload": "sequential",
        "requests": CYLINDERS,
        "read_fraction": 1,
        "size": "fixed",
        "mean_size_kib": device.blocks / cylinders / 2,
    }
    randomly, streaming = (
        ss.sweep(
            {"device": name, **NO_INTERFACE, **load},
            rows=[dict(zip(KEYS, (rate, a, a, tips), strict=True)) for rate, a, tips in designs],
        )
        .check()
        .table
        for load in (random, stream)
    )
    services_ms = randomly.column("service_time_ms.mean")
    results = zip(designs, services_ms, streaming.column("throughput_mb_s"), strict=True)
    sled_mw, tip_mw = keys["power_active_mw"], keys["power_tip_mw"]
    return [
        Design(device.name, rate, a, tips, service_ms, mb_s, (sled_mw + tips * tip_mw) / 1e3)
        for (rate, a, tips), service_ms, mb_s in results
    ]


def own_values(name: str) -> dict[str, Any]:
    """Return the grid of a device alone."""
    keys = ss.device(name).parameters
    return {
        "tip_rate_kbit_s": [keys["tip_rate_kbit_s"]],
        "acceleration_m_s2": [keys["acceleration_x_m_s2"]],
        "active_tips": [keys["active_tips"]],
    }


def explore(base: str, requests: int, seed: int, *, quick: bool) -> dict[str, Any]:
    """Measure the grid and the presets. The result is printed, drawn and written."""
    keys = ss.device(base).parameters
    if keys["kind"] != "mems":
        raise ss.SledsimError(f'--device {base}: kind = "{keys["kind"]}": must be "mems"')
    theirs = {name: own_values(name) for name in PRESETS}
    own_m_s2 = keys["acceleration_x_m_s2"]
    theirs_m_s2 = (design["acceleration_m_s2"][0] for design in theirs.values())
    whole_blocks = range(keys["tips_per_lbn"], keys["tips"] + 1, keys["tips_per_lbn"])
    tips = [count for count in whole_blocks if keys["tips"] % count == 0]
    grid = {
        "tip_rate_kbit_s": list(TIP_RATES_KBIT_S[:: 3 if quick else 1]),
        "acceleration_m_s2": sorted({*ACCELERATIONS_M_S2, *theirs_m_s2, own_m_s2}),
        "active_tips": (quick and tips[2::3]) or tips,
    }

    designs = measure(base, grid, requests, seed)
    marked = [own for name in PRESETS for own in measure(name, theirs[name], requests, seed)]
    best = front(design.point for design in designs)
    rivals = {
        acceleration: [d for d in designs if d.acceleration_m_s2 == acceleration]
        for acceleration in grid["acceleration_m_s2"]
    }
    own = {each: front(design.point for design in group) for each, group in rivals.items()}
    return {
        "device": ss.device(base).name,
        "acceleration_m_s2": own_m_s2,
        "active_tips": keys["active_tips"],
        "requests": requests,
        "seed": seed,
        "grid": grid,
        "designs": [
            asdict(design)
            | {
                "on_front": design.point in best,
                OWN: design.point in own[design.acceleration_m_s2],
            }
            for design in designs
        ],
        "presets": [
            asdict(preset)
            | {
                "dominated_by": sum(dominates(d.point, preset.point) for d in designs),
                "of_its_acceleration": sum(
                    dominates(d.point, preset.point) for d in rivals[preset.acceleration_m_s2]
                ),
                "dominates_of_the_front": sum(dominates(preset.point, point) for point in best),
            }
            for preset in marked
        ],
    }


# The tables and the picture -------------------------------------------------------------------


def tables(result: dict[str, Any]) -> str:
    """Return everything as text."""
    designs, presets = result["designs"], result["presets"]
    best = sorted(
        (d for d in designs if d["on_front"]), key=lambda d: (d["power_w"], d["service_ms"])
    )
    numbers = "{active_tips:6} {tip_rate_kbit_s:8g} {acceleration_m_s2:8g}"
    numbers += " {service_ms:9.4f} {bandwidth_mb_s:9.2f} {power_w:8.3f}"
    heading = "  tips   kbit/s     m/s2   random ms      MB/s        W"
    lines = [f"The front: {len(best)} of {len(designs)} designs of {result['device']}", heading]
    lines += [numbers.format_map(design) for design in best]
    lines += ["", "The front of each acceleration, as nothing puts a price on force", heading]
    for acceleration in result["grid"]["acceleration_m_s2"]:
        group = [d for d in designs if d["acceleration_m_s2"] == acceleration]
        own = [d for d in group if d[OWN]]
        fastest = min(own, key=lambda d: d["service_ms"])
        widest = max(own, key=lambda d: d["bandwidth_mb_s"])
        lines.append(f"{numbers.format_map(fastest)}  fastest of {len(own)}")
        if widest is not fastest:
            lines.append(f"{numbers.format_map(widest)}  most bandwidth")
    lines += ["", "The papers' devices, without their interfaces", heading]
    for preset in presets:
        lines.append(
            f"{numbers.format_map(preset)}  {preset['device']}: dominated by"
            f" {preset['dominated_by']} designs, {preset['of_its_acceleration']} of them with its"
            f" acceleration; dominates {preset['dominates_of_the_front']} of the front"
        )
    return "\n".join(lines)


def mark_presets(ax: Axes, presets: Iterable[dict[str, Any]]) -> None:
    """Draw the papers' devices, and name them."""
    for preset in presets:
        name, place = preset["device"], (preset["service_ms"], preset["bandwidth_mb_s"])
        ax.plot(*place, PRESETS[name], c="white", mec=VERMILION, mew=2, ms=9, label=name)


def picture(result: dict[str, Any]) -> Figure:
    """Draw all designs with the front, and those with the base's active tips by acceleration."""
    figure = Figure(figsize=(11, 6))
    left, right = figure.subplots(1, 2)
    designs, tips = result["designs"], result["grid"]["active_tips"]
    power = {design["active_tips"]: design["power_w"] for design in designs}
    shades = mpl.colormaps[HEAT].reversed().resampled(len(tips) + 1)
    for number, count in enumerate(tips):
        name = f"{count} tips, {power[count]:.3g} W"
        for on_front in (False, True):
            chosen = [d for d in designs if (d["active_tips"], d["on_front"]) == (count, on_front)]
            places = [[d[axis] for d in chosen] for axis in ("service_ms", "bandwidth_mb_s")]
            ring = {"ms": 7, "mec": INK, "mew": 1.2, "zorder": 3} if on_front else {"ms": 3}
            look = {"color": shades(number + 1), "label": name if on_front else "_"}
            left.plot(*places, "o", **(ring | look))
    mark_presets(left, result["presets"])
    left.set_title("All designs; ringed: the front")

    shown = min(tips, key=lambda count: abs(count - result["active_tips"]))
    own = result["acceleration_m_s2"]
    apart = [own, *(each for each in ACCELERATIONS_M_S2 if not 0.75 < each / own < 1.33)]
    strength = LogNorm(min(apart), max(apart))
    for acceleration in sorted(apart):
        key = acceleration, shown
        line = [d for d in designs if (d["acceleration_m_s2"], d["active_tips"]) == key]
        colour = mpl.colormaps[HEAT](0.6 * strength(acceleration))
        for part, marker in ((line, "-"), ([d for d in line if d[OWN]], "o")):
            places = [[d[axis] for d in part] for axis in ("service_ms", "bandwidth_mb_s")]
            right.plot(*places, marker, color=colour, linewidth=1, markersize=4.5)
        end = line[-1]["service_ms"], line[-1]["bandwidth_mb_s"]
        above = {"xytext": (0, 6), "textcoords": "offset points", "ha": "center"}
        right.annotate(f"{acceleration:g}", end, color=colour, fontsize="small", **above)
    mark_presets(right, (p for p in result["presets"] if p["active_tips"] == shown))
    rates = result["grid"]["tip_rate_kbit_s"]
    right.set_title(
        f"{shown} active tips, {rates[0]} to {rates[-1]} kbit/s along each line of one\n"
        "acceleration (m/s²); dots: the front of that acceleration"
    )
    every = [*designs, *result["presets"]]
    for ax in (left, right):
        scales.logarithmic(ax, "x", *scales.ends(d["service_ms"] for d in every))
        scales.logarithmic(ax, "y", *scales.ends(d["bandwidth_mb_s"] for d in every))
        ax.set_xlabel("mean service time, random load, ms")
        ax.set_ylabel("sustained sequential bandwidth, MB/s")
        handles, labels = ax.get_legend_handles_labels()
        title = ax.get_title(loc="left")
        curves.legend_above(ax, dict(zip(labels, handles, strict=True)))
        curves.heading(ax, title)
    figure.suptitle(
        f"{result['device']} with other tip rates, accelerations and active tips, no interface"
    )
    return figure


def main(arguments: Sequence[str] | None = None) -> None:
    """Run everything."""
    parser = argparse.ArgumentParser(description="The Pareto front of designs of a sled")
    parser.add_argument("--device", default="sigmetrics2000", help="preset or file (%(default)s)")
    parser.add_argument("--requests", type=int, help="of the random load (10000, quick: 1000)")
    parser.add_argument("--seed", type=int, default=1, help="of the random load (%(default)s)")
    parser.add_argument("--quick", action="store_true", help="fewer designs and shorter runs")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where to write the numbers")
    parser.add_argument("--output", type=picture_path, help="the picture: .png, .svg or .pdf")
    options = parser.parse_args(arguments)
    requests = options.requests
    if requests is None:
        requests = 1_000 if options.quick else 10_000
    try:
        result = explore(options.device, requests, options.seed, quick=options.quick)
        print(tables(result))
        write_results(options, result, picture)
    except (ss.SledsimError, OSError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
