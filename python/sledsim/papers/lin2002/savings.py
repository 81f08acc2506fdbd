"""Savings of energy that Lin et al. (2002) state."""

from sledsim.loads import workload
from sledsim.papers import Found, Setup, power


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Run with savings and without."""
    requests = 1_000 if quick else 10_000
    load = workload("random", rate=10, requests=requests)
    bursts = workload(
        "sequential", sequential_fraction=0.5, rate=50, on_ms=50, off_ms=950, requests=requests
    )
    savings = {saving.name: saving for saving in power.lin2002(load, setup["sled"])}
    merging = {saving.name: saving for saving in power.lin2002(bursts, setup["sled"])}["merging"]
    return Found(
        {
            "spin_down": 100 * savings["spin_down"].computed,
            "merging": 100 * merging.computed,
            "sub_sector": 100 * savings["sub_sector"].computed,
            "together": 100 * savings["all"].computed,
        }
    )
