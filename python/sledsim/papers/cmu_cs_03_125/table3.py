"""Table 3: parameters of the G2 MEMStore."""

from dataclasses import asdict

from sledsim.hardware import device
from sledsim.papers import Found


def simulate(*, quick: bool) -> Found:  # nothing is run
    """Take the parameters from the preset."""
    return Found(asdict(device("cmu2003").parallelism))
