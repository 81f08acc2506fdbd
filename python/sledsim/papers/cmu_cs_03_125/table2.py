"""Table 2: parameters of the device of Figures 2 and 3."""

from dataclasses import asdict

from sledsim.papers import Found
from sledsim.papers.cmu_cs_03_125.example import example


def simulate(*, quick: bool) -> Found:  # nothing is run
    """Take the parameters from the device."""
    return Found(asdict(example().parallelism))
