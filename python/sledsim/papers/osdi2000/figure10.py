"""Figure 10: service time of 256 KB reads against the distance that the sled moves in X."""

import json
import random
from statistics import fmean

from matplotlib.figure import Figure

from sledsim.hardware import Disk, Sled
from sledsim.loads import workload
from sledsim.papers import Found, Setup, once, service_times_ms, summary_of
from sledsim.papers.osdi2000 import parts
from sledsim.plots import curves
from sledsim.plots.style import in_order

BLOCKS = 512
FAR = 1000
"""Cylinders, as in the text."""
STEP = 100
SEED = 1


@once
def sled_times_ms(sled: str, distances: tuple[int, ...], samples: int) -> list[float]:
    """Return what :func:`sled_ms` does; readings of the disk do not change it."""
    return sled_ms(parts.sled({"sled": json.loads(sled)}), list(distances), samples)


def sled_ms(device: Sled, distances: list[int], samples: int) -> list[float]:
    """Return mean times of reads that begin so many cylinders away, anywhere on the sled.

    The sled starts at any height and in either direction, the read at any block. All distances
    have the same heights, directions and blocks, so that their differences are exact sooner.
    """
    shape, own = device.spec["derived"], device.parameters
    per_cylinder = shape["blocks"] // shape["cylinders"]
    edge_m = 1e-9 * own["bit_cell_nm"] * shape["rows_per_track"] * 45
    places_m = [device.locate(x * per_cylinder).x_m for x in range(shape["cylinders"])]
    chance = random.Random(SEED)
    drawn = [
        (
            chance.random(),
            chance.choice((-1, 1)),
            chance.randrange(per_cylinder),
            chance.uniform(-edge_m, edge_m),
            chance.choice(("up", "down")),
        )
        for _ in range(samples)
    ]
    means = []
    for distance in distances:
        times = []
        for place, way, block, y_m, heading in drawn:
            # The read may reach into the next cylinder: the last one begins none.
            near = int(place * (shape["cylinders"] - 1 - distance))
            start, end = (near, near + distance)[::way]
            point = (places_m[start], y_m, heading)
            read = device.access(end * per_cylinder + block, BLOCKS, start=point)
            times.append(1e3 * read.total_s)
        means.append(fmean(times))
    return means


def disk_ms(disk: Disk, distances: list[int], requests: int) -> list[float]:
    """Return mean times of reads on the outermost tracks, for each distance of the arm.

    The arm moves while the media turn, so that its distance changes the seek alone: the rest is
    measured within one cylinder.
    """
    zone = disk.zones()[0]
    cylinder = disk.parameters["surfaces"] * zone.blocks_per_track
    load = workload(
        requests=requests,
        size="fixed",
        mean_size_kib=256,
        read_fraction=1,
        last_lbn=cylinder - 1,
        warm_up_requests=100,
    )
    summary = summary_of(load, disk)
    rest = fmean(service_times_ms([load], disk)) - summary["seek_ms"]["mean"]
    return [rest + disk.seek_ms(distance) for distance in distances]


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Move both devices over all distances."""
    sled, disk = parts.sled(setup), parts.disk(setup, buffer={"keep": "nothing"})
    cylinders, tracks = sled.spec["derived"]["cylinders"], disk.spec["derived"]["cylinders"]
    moves = [*range(0, cylinders - 1, STEP), cylinders - 2]
    times = sled_times_ms(json.dumps(setup["sled"]), tuple(moves), 2000 if quick else 5000)
    arms = [*range(0, tracks, 4 * STEP), tracks - 1]
    disk_times = disk_ms(disk, arms, 2000 if quick else 50_000)
    before_ms = disk_times[0]
    if setup["disk_time"] == "transfer":
        before_ms = BLOCKS * 512 / disk.zones()[0].media_mb_s / 1e3
    return Found(
        {
            "far_percent": 100 * (times[moves.index(FAR)] / times[0] - 1),
            "most_percent": 100 * (max(times) / times[0] - 1),
            "times_ms": times,
            "disk_times": disk_times[-1] / before_ms,
        },
        series={
            "MEMS": {"cylinders": moves, "ms": times},
            "Atlas 10K": {"cylinders": arms, "ms": disk_times},
        },
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw both devices over the share of their longest move."""
    axes = figure.add_subplot()
    axes.set(
        xlabel="distance (% of the longest)",
        ylabel="service time of a 256 KB read\n(times that without a move)",
        xlim=(-1, 108),
    )
    drawn, own = {}, in_order(list(found.series))
    for device, curve in found.series.items():
        longest, first = curve["cylinders"][-1], curve["ms"][0]
        shares = [100 * move / longest for move in curve["cylinders"]]
        label = f"{device}: {first:.1f} ms, {longest:,} cylinders"
        drawn[label] = (shares, [time / first for time in curve["ms"]])
    curves.draw(axes, drawn, own=dict(zip(drawn, own.values(), strict=True)))
    axes.set_ylim(0.9, None)
