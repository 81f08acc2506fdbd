"""Items of papers: their results and the values in their files.

Each item is run once for all tests of all processes, and again only if something has changed that
it depends on: its files are kept in ``out/tests``; conftest.py keeps outcomes beside them.
"""

import fcntl
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from sledsim import papers
from sledsim.papers import Found, Result

KEPT = Path(__file__).parents[1] / "out" / "tests"


@cache
def run(name: str) -> Result:
    """Run an item, named as in ``osdi2000/figure5``, in its quick form."""
    (item,) = papers.find([name])
    KEPT.mkdir(parents=True, exist_ok=True)
    with (KEPT / f"{name.replace('/', '-')}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        (result,) = papers.run([item], KEPT / "papers", quick=True, workers=1)
    return result


def simulate(name: str, reading: str = "") -> Found:
    """Return the values of a quick run of an item, as in its JSON file, also under a reading."""
    document = run(name).document
    values = {
        value["key"]: (value["readings"][reading] if reading else value)["simulated"]
        for value in document["values"]
        if value["simulated"] is not None
    }
    return Found(values, document["series"])


def stated(name: str) -> dict[str, dict[str, Any]]:
    """Return the values that the file of an item states, by their keys."""
    (item,) = papers.find([name])
    values: dict[str, dict[str, Any]] = tomllib.loads(item.data)["values"]
    return values
