"""Table 1: the parameters of the default device."""

from sledsim import hardware
from sledsim.papers import Found
from sledsim.papers.sigmetrics2000.table1 import parameters


def simulate(*, quick: bool) -> Found:  # nothing is run
    """Take the parameters out of the preset, as for the table of the paper before."""
    device = hardware.device("osdi2000")
    return Found(parameters(device) | {"cylinders": device.spec["derived"]["cylinders"]})
