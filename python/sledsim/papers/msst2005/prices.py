"""Response times with MEMS and NVRAM of the same cost, at any ratio of their prices."""

from __future__ import annotations

from itertools import pairwise
from math import log2
from typing import TYPE_CHECKING, Any

from sledsim.papers.msst2005 import runs

if TYPE_CHECKING:
    from collections.abc import Mapping


def ram_ms(
    name: str,
    ratio: float,
    *,
    quick: bool,
    mems_mib: float = runs.MEMS_MIB,
    cache: Mapping[str, Any] | None = None,
) -> float:
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
        Size of the MEMS whose cost the NVRAM has.
    cache
        Keys of the controller's cache that the NVRAM is.
    """
    if ratio <= 0:
        msg = f"ratio = {ratio}: must be positive"
        raise ValueError(msg)
    keys: dict[str, Any] = {"controller_cache": dict(cache)} if cache else {}
    return runs.outcome(name, "DISK-RAM", quick=quick, mems_mib=mems_mib / ratio, **keys).mean_ms


def relative(
    name: str, ratio: float, *, quick: bool, cache: Mapping[str, Any] | None = None, **keys: Any
) -> float:
    """Return :func:`ram_ms` as a multiple of the time of the MEMS caching disk, as in Figure 7.

    ``keys`` are those of the MEMS caching disk, ``cache`` those of the controllers' caches.
    """
    own: dict[str, Any] = {"controller_cache": dict(cache)} if cache else {}
    mcd = runs.outcome(name, "MCD ALL", quick=quick, **keys, **own)
    return ram_ms(name, ratio, quick=quick, cache=cache) / mcd.mean_ms


def break_even(curve: dict[float, float]) -> float | None:
    """Return the ratio at which both are equally fast, by interpolation of logarithms.

    ``None`` if they are not at any ratio between the first and the last.
    """
    for (ratio, here), (following, there) in pairwise(sorted(curve.items())):
        if here <= 1 < there:
            share = log2(1 / here) / log2(there / here)
            return float(ratio * (following / ratio) ** share)
    return None
