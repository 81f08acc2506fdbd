"""Response times with MEMS and NVRAM of the same cost, at any ratio of their prices."""

from __future__ import annotations

from itertools import pairwise
from math import log2
from typing import TYPE_CHECKING

from sledsim.papers.msst2005 import runs

if TYPE_CHECKING:
    from sledsim.papers import Setup


def ram_ms(
    name: str,
    ratio: float,
    *,
    quick: bool,
    setup: Setup | None = None,
    mems_mib: float | None = None,
) -> float:
    """Return the mean response time of a disk behind NVRAM that costs as much as the MEMS.

    Parameters
    ----------
    name
        A workload.
    ratio
        How many times as much a byte of NVRAM costs as one of MEMS: any positive number.
    quick
        As for the items: whether to take a part of the load.
    setup
        That of the paper unless given.
    mems_mib
        Size of the MEMS whose cost the NVRAM has, that of the set-up unless given.
    """
    if ratio <= 0:
        raise ValueError(f"ratio = {ratio}: must be positive")
    own = runs.setup_of() if setup is None else setup
    size = (own["mems_mib"] if mems_mib is None else mems_mib) / ratio
    return runs.outcome(own, name, "DISK-RAM", quick=quick, mems_mib=size).mean_ms


def relative(name: str, ratio: float, *, quick: bool, setup: Setup | None = None) -> float:
    """Return :func:`ram_ms` as a multiple of the time of the MEMS caching disk, as in Figure 7."""
    own = runs.setup_of() if setup is None else setup
    mcd = runs.outcome(own, name, "MCD ALL", quick=quick)
    return ram_ms(name, ratio, quick=quick, setup=own) / mcd.mean_ms


def break_even(curve: dict[float, float]) -> float | None:
    """Return the ratio at which both are equally fast, by interpolation of logarithms.

    ``None`` if they are not at any ratio between the first and the last.
    """
    for (ratio, here), (following, there) in pairwise(sorted(curve.items())):
        if here <= 1 < there:
            share = log2(1 / here) / log2(there / here)
            return float(ratio * (following / ratio) ** share)
    return None
