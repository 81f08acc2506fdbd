"""Figure 6(d): the architectures under hplajw."""

from dataclasses import replace

from sledsim.papers import Found, Setup
from sledsim.papers.msst2005 import figure6, loads, runs

draw = figure6.draw
KEYS = ("techniques", "ram_first", "writes", "over_disk", "all_ms", "ram_saves")


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Run on each architecture; reads alone, too, on a disk with and without a write buffer."""
    found = figure6.simulate("hplajw", KEYS, quick=quick, setup=setup)
    disk, mwb = (runs.read_ms(setup, "hplajw", kind, quick=quick) for kind in ("DISK", "MWB"))
    values = {**found.values, "mwb_reads": 100 * (1 - mwb / disk)}
    return replace(found, values=values, note=loads.note())
