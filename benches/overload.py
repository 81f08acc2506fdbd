"""How often overload is flagged, by the load, the length of the run and the queue.

``python -m benches.overload 4`` prints the table of docs/explanation/statistics.md.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests import queueing


def _study(scale: int) -> None:
    """Print the shares of runs that are flagged, by load, number of requests and queue."""
    cases = [(load, n) for n in (512, 1000, 2000, 5000) for load in (0.9, 1.1, 1.5)]
    cases += [(load, n) for n in (20_000, 1_000_000) for load in (0.9, 1.02)]
    print(*("load", "requests", "runs", *queueing.KINDS), sep=" | ")
    with tempfile.TemporaryDirectory() as folder:
        device = queueing.server(Path(folder))
        for utilisation, requests in cases:
            runs = max(scale * 1_000_000 // requests, 2)
            shares = (
                queueing.flagged(device, kind, utilisation, requests, runs) / runs
                for kind in queueing.KINDS
            )
            print(utilisation, requests, runs, *(f"{s:.2%}" for s in shares), sep=" | ", flush=True)


if __name__ == "__main__":
    _study(int(sys.argv[1]) if len(sys.argv) > 1 else 4)
