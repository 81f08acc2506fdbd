"""Future work of section 7: arrays of hybrids, against arrays of disks and of MEMS."""

from matplotlib.figure import Figure

import sledsim as ss
from sledsim.papers import Found, Setup
from sledsim.papers.msst2005 import loads, runs
from sledsim.plots import bars, scales

CHILDREN = 4
PRICES = (5, 10)
"""Section 1: least and greatest price of a byte of MEMS, in bytes of disk."""
KINDS = {"disks": "DISK", "hybrids": "MCD ALL", "MEMS": "MEMS"}


def array(setup: Setup, kind: str, name: str, *, quick: bool) -> ss.Device:
    """Return a stripe of an architecture, each device behind a controller of its own."""
    preset, keys = runs.keys_of(setup, name, kind, quick=quick)
    return ss.device(runs.STRIPE, children=CHILDREN, child={"base": preset, **keys})


def cost(kind: str, price: float, mems_mib: float) -> float:
    """Return the cost of a device, in MiB of disk; MEMS of the disk's size replaces it."""
    disk_mib = ss.device("disk").blocks / 2048
    costs = {"disks": disk_mib, "hybrids": disk_mib + price * mems_mib, "MEMS": price * disk_mib}
    return costs[kind]


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Give each array as many times the load as it has devices."""

    def mean_ms(name: str, kind: str) -> float:
        load = loads.load(setup, name, quick=quick, times=CHILDREN)
        device = array(setup, KINDS[kind], name, quick=quick)
        return runs.measure(load, device, setup["scheduler"]).mean_ms

    found = {name: {kind: mean_ms(name, kind) for kind in KINDS} for name in loads.LOADS}

    def both(name: str, kind: str, price: float) -> float:
        """Return cost times time, in GiB of disk times ms."""
        return cost(kind, price, setup["mems_mib"]) / 1024 * found[name][kind]

    # Against disks MEMS speaks most against the hybrid where it is dear, against MEMS where cheap.
    against = {"disks": max(PRICES), "MEMS": min(PRICES)}
    return Found(
        {
            f"{other}_{name}": {kind: both(name, kind, price) for kind in ("hybrids", other)}
            for other, price in against.items()
            for name in loads.LOADS
        }
        | {"cost": {kind: cost(kind, max(PRICES), setup["mems_mib"]) for kind in KINDS}},
        series={
            "mean_ms": found,
            "cost_times_ms": {
                str(price): {
                    name: {kind: both(name, kind, price) for kind in KINDS} for name in found
                }
                for price in PRICES
            },
        },
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw a bar for each array."""
    axes = figure.add_subplot()
    means = found.series["mean_ms"].values()
    scales.logarithmic(axes, "y", *scales.ends(time for own in means for time in own.values()))
    series = {kind: [own[kind] for own in means] for kind in KINDS}
    bars.grouped(axes, list(loads.LOADS.values()), series, "{:.3g}".format)
    axes.set(ylabel="mean response time (ms)")
