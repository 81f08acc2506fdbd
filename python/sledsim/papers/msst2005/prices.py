"""What MEMS and NVRAM of the same cost come to, at any ratio of their prices."""

from __future__ import annotations

from itertools import pairwise
from math import log2
from typing import Any

from sledsim.papers.msst2005 import runs


def ram_ms(name: str, ratio: float, *, quick: bool, mems_mib: float = runs.MEMS_MIB) -> float:
    """Return the mean response time of a disk behind NVRAM that costs as much as the MEMS.

    Parameters
    ----------
    name
        A workload.
    ratio
        How many times as much a byte of NVRAM costs as one of MEMS: any positive number.
    quick
        As in :func:`runs.load`.
    mems_mib
        The MEMS whose cost is spent.
    """
    if ratio <= 0:
        msg = f"ratio = {ratio}: must be positive"
        raise ValueError(msg)
    return runs.outcome(name, "DISK-RAM", quick=quick, mems_mib=mems_mib / ratio).mean_ms


def relative(name: str, ratio: float, *, quick: bool, **keys: Any) -> float:
    """Return that time as a multiple of the time of the MEMS caching disk, as Figure 7 does.

    ``keys`` are those of the MEMS caching disk.
    """
    mcd = runs.outcome(name, "MCD ALL", quick=quick, **keys)
    return ram_ms(name, ratio, quick=quick) / mcd.mean_ms


def break_even(curve: dict[float, float]) -> float | None:
    """Return the ratio at which both are equally fast, by interpolation of logarithms.

    ``None`` if they are not at any ratio between the first and the last.
    """
    for (ratio, here), (following, there) in pairwise(sorted(curve.items())):
        if here <= 1 < there:
            share = log2(1 / here) / log2(there / here)
            return float(ratio * (following / ratio) ** share)
    return None
