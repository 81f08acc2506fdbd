"""Table 2: characteristics of the loads."""

import json
from typing import Any

from sledsim.papers import Found, Setup, once
from sledsim.papers.characteristics import COLUMNS, characteristics
from sledsim.papers.msst2005 import loads


def simulate(*, quick: bool, setup: Setup) -> Found:  # it is about the whole loads
    """Draw all requests of each load; nothing is simulated."""
    own = json.dumps({key: setup[key] for key in loads.KEYS})
    found = {name: drawn(name, str(loads.trace(setup, name) or ""), own) for name in loads.LOADS}
    return Found(
        {f"{name}_{column}": found[name][column] for name in loads.LOADS for column in COLUMNS}
        | {"cello_writes_below_8kb": found["cello"]["writes_below_8kb"]},
        series={
            name: {key: own[key] for key in ("bias", "index_of_dispersion", "lru_miss_ratio")}
            for name, own in found.items()
        },
        note=loads.note(),
    )


@once
def drawn(name: str, file: str, setup: str) -> dict[str, Any]:
    """Return the characteristics of a load, or of the trace in its place.

    ``setup`` has the keys of the set-up that a load depends on, in JSON.
    """
    return characteristics(file or loads.load(json.loads(setup), name, quick=False))
