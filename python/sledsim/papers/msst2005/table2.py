"""Table 2: characteristics of the loads."""

from sledsim.characteristics import COLUMNS, characteristics
from sledsim.papers import Found, Setup
from sledsim.papers.msst2005 import loads


def simulate(*, quick: bool, setup: Setup) -> Found:  # noqa: ARG001 (it is about the whole loads)
    """Draw all requests of each load; nothing is simulated."""
    found = {
        name: characteristics(loads.trace(setup, name) or loads.load(setup, name, quick=False))
        for name in loads.LOADS
    }
    return Found(
        {f"{name}_{column}": found[name][column] for name in loads.LOADS for column in COLUMNS}
        | {"cello_writes_below_8kb": found["cello"]["writes_below_8kb"]},
        series={
            name: {key: own[key] for key in ("bias", "index_of_dispersion", "lru_miss_ratio")}
            for name, own in found.items()
        },
        note=loads.note(),
    )
