"""Figure 11: layouts for small and large data, against a simple one."""

from statistics import fmean
from typing import Any

from matplotlib.figure import Figure

from sledsim import layout_maps
from sledsim.hardware import Device
from sledsim.loads import workload
from sledsim.papers import Found, Setup, Simulated, once, service_times_ms
from sledsim.papers.osdi2000 import figure9, parts
from sledsim.plots import bars

SMALL_SHARE = 89
"""Per cent; the rest are large."""
UNIT_BLOCKS = 800
"""Size of a large request, and of the unit of the organ pipe."""
SUBREGIONS, COLUMNS, PIPE, SIMPLE = "subregioned", "columnar", "organ pipe", "simple"

Layout = str | dict[str, Any]


def service_ms(
    device: Device, layout: Layout, small: dict[str, Any], large: dict[str, Any], seeds: int
) -> float:
    """Return the mean service time of the paper's mix, one request after the other."""
    reads = {"read_fraction": 1, "size": "fixed"}
    part = {
        # Multiples of 10 blocks lie within a row of 20.
        "small": reads | {"rate": SMALL_SHARE / 10, "mean_size_kib": 4, "blocking": 10} | small,
        "large": reads | {"rate": 10 - SMALL_SHARE / 10, "mean_size_kib": 400} | large,
    }
    loads = [workload("mix", requests=10_000, part=part, seed=seed) for seed in range(1, seeds + 1)]
    return fmean(service_times_ms(loads, device, layout=layout))


@once
def simple_ms(device: Device, seeds: int) -> float:
    """Both sizes anywhere."""
    return service_ms(device, "simple", {}, {"blocking": 10}, seeds)


@once
def in_parts_ms(device: Device, square_bits: int, seeds: int) -> float:
    """Small data in the first part of a layout, large data in the parts farthest to the sides.

    The parts are columns, or squares of so many bits.
    """
    layout = subregioned(square_bits) if square_bits else {"name": "columnar"}
    parts = layout_maps.layout(device, **layout).parts
    outer = parts[3:7] if square_bits else parts[5:25]
    large = {"first_lbn": outer[0].first_lbn, "last_lbn": outer[-1].last_lbn, "blocking": 10}
    return service_ms(device, layout, {"last_lbn": parts[0].last_lbn}, large, seeds)


@once
def pipe_ms(device: Device, seeds: int, exponent: float, small_blocks: int) -> float:
    """Both sizes by Zipf's law, the most popular units in the middle.

    Small requests have a popularity by so many blocks.
    """

    def law(unit_blocks: int) -> dict[str, Any]:
        return {
            "kind": "zipf",
            "zipf_exponent": exponent,
            "unit_blocks": unit_blocks,
            "scatter": False,
            "last_lbn": device.blocks // UNIT_BLOCKS * UNIT_BLOCKS - 1,
        }

    pipe = {"name": "organ_pipe", "unit_blocks": UNIT_BLOCKS, "law": "first"}
    large = law(UNIT_BLOCKS) | {"blocking": UNIT_BLOCKS}
    return service_ms(device, pipe, law(small_blocks), large, seeds)


def subregioned(square_bits: int) -> dict[str, Any]:
    """Return the layout with the centre square of Figure 9 for small data, columns for large."""
    span = figure9.SQUARES * square_bits
    return {"name": "bipartite", "span_cylinders": span, "span_rows": span // figure9.ROW_BITS}


def layouts_ms(device: Device, seeds: int, setup: Setup) -> dict[str, float]:
    """Return the mean service time with each layout."""
    return {
        SIMPLE: simple_ms(device, seeds),
        PIPE: pipe_ms(device, seeds, **setup["organ_pipe"]),
        COLUMNS: in_parts_ms(device, 0, seeds),
        SUBREGIONS: in_parts_ms(device, setup["square_bits"], seeds),
    }


def gain(better: float, worse: float) -> float:
    """Return the reduction of a time in %."""
    return 100 * (1 - better / worse)


def compared(
    settled: dict[str, float], unsettled: dict[str, float], disk: dict[str, float]
) -> dict[str, Simulated]:
    """Return the values that the text states."""
    return {
        "settled_ms": settled,
        "subregioned_percent": gain(settled[SUBREGIONS], settled[SIMPLE]),
        "columnar_percent": gain(settled[COLUMNS], settled[SIMPLE]),
        "organ_pipe_percent": gain(settled[PIPE], settled[SIMPLE]),
        "over_organ_pipe_percent": gain(settled[SUBREGIONS], settled[PIPE]),
        "columnar_over_organ_pipe_percent": gain(settled[COLUMNS], settled[PIPE]),
        "unsettled_percent": gain(
            unsettled[SUBREGIONS],
            min(time for name, time in unsettled.items() if name != SUBREGIONS),
        ),
        "disk_percent": gain(disk[PIPE], disk[SIMPLE]),
    }


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Lay out the sled with and without settling, and the disk."""
    seeds = 5 if quick else 20
    settled, unsettled = (
        layouts_ms(parts.bare_sled(setup, settling_constants=count), seeds, setup)
        for count in (1, 0)
    )
    disk = parts.disk(setup)
    disk_ms = {SIMPLE: simple_ms(disk, seeds), PIPE: pipe_ms(disk, seeds, **setup["organ_pipe"])}
    return Found(
        compared(settled, unsettled, disk_ms),
        series={"MEMS": settled, "MEMS, no settling": unsettled, "Atlas 10K": disk_ms},
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw the time of each layout in per cent of the simple one's."""
    axes = figure.add_subplot()
    layouts = (SIMPLE, PIPE, COLUMNS, SUBREGIONS)
    devices = found.series.values()
    shares = {
        layout: [100 * ms[layout] / ms[SIMPLE] if layout in ms else None for ms in devices]
        for layout in layouts
    }
    texts = {layout: [f"{ms.get(layout, 0.0):.2f}" for ms in devices] for layout in layouts}
    bars.grouped(axes, list(found.series), shares, texts)
    axes.set(ylabel="service time (% of simple; above: ms)", ylim=(0, 112))
