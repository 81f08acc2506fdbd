"""Items of papers: what they give, and what their files state."""

import tomllib
from typing import Any

from sledsim import papers
from sledsim.papers import Found


def simulate(name: str) -> Found:
    """Run an item, named as in ``osdi2000/figure5``, in its quick form."""
    (item,) = papers.find([name])
    result: Found = item.module.simulate(quick=True)
    return result


def stated(name: str) -> dict[str, dict[str, Any]]:
    """Return the values that the file of an item states, by their keys."""
    (item,) = papers.find([name])
    values: dict[str, dict[str, Any]] = tomllib.loads(item.data)["values"]
    return values
