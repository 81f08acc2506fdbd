"""Cache replacement policies and their hit ratios."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sledsim import _core
from sledsim._arguments import as_list, optional, placed, real, shown, text, whole
from sledsim._core import SpecError
from sledsim._progress import told
from sledsim.hardware import device_of
from sledsim.loads import load_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sledsim._name_types import PolicyName
    from sledsim._progress import ProgressLike
    from sledsim.hardware import DeviceLike
    from sledsim.loads import LoadLike

_BLOCK_BYTES = 512
_MOST_BLOCKS = 1 << 54
_MOST_SLOTS = 1 << 26
SIZES_MIB = (1, 4, 16, 64, 256)
"""Default cache sizes."""


def policies() -> list[str]:
    """Return the names of the replacement policies, the default first."""
    return _core.names("policies")


class Cache:
    """A cache of keys, without data, under a policy; made by :func:`cache`."""

    def __init__(self, core: _core.Cache, slots: int) -> None:
        self._core = core
        self.slots = slots
        """Capacity in keys."""

    def __repr__(self) -> str:
        return f"<sledsim cache {self.policy}: {len(self)} of {self.slots} slots>"

    @property
    def policy(self) -> str:
        """Name of the policy, with the keys that are not at their defaults."""
        return self._core.label

    def access(self, key: int) -> bool:
        """Access a key; it is in the cache afterwards.

        Parameters
        ----------
        key
            From 0 to 2^64 - 1: the number of a segment, or of anything else.

        Returns
        -------
        bool
            Whether it was in the cache before: a hit.

        Raises
        ------
        SledsimError
            For a key out of range.
        """
        try:
            return self._core.access(key)
        except (TypeError, OverflowError):
            return self._core.access(whole("key", key, 0, 2**64 - 1))

    def hits(self, keys: Iterable[int]) -> int:
        """Access keys one after the other; return the number of hits."""
        return sum(self.access(key) for key in keys)

    def __contains__(self, key: int) -> bool:
        try:
            return self._core.contains(key)
        except (TypeError, OverflowError):
            return False

    def __len__(self) -> int:
        return len(self._core)


def cache(policy: PolicyName | str = "lru", slots: int = 64) -> Cache:
    """Make an empty cache of keys, to try a policy.

    Parameters
    ----------
    policy
        One of :func:`policies`, perhaps with keys, as in ``"slru(protected=0.5)"``.
    slots
        Capacity in keys, from 1 to 2^26.

    Raises
    ------
    SledsimError
        For an unknown policy or key, or a value out of range.
    """
    slots = whole("slots", slots, 1, _MOST_SLOTS)
    return Cache(_core.Cache(text("policy", policy), slots), slots)


def hit_ratios(
    load: LoadLike,
    *,
    sizes_mib: Sequence[float] = SIZES_MIB,
    policies: Sequence[PolicyName | str] | None = None,
    segment_kib: float = 8,
    device: DeviceLike | None = None,
    device_blocks: int | None = None,
    progress: ProgressLike = None,
) -> list[dict[str, Any]]:
    """Count the hits of caches under a load, without simulating times.

    The requests pass by once, in the order of their arrival; one that touches several segments is
    an access for each. A segment that was missed is there afterwards, whether it was read or
    written. Requests of a closed load are done at once. Those before the end of a warm-up fill the
    caches and do not count.

    Parameters
    ----------
    load
        A workload or a trace.
    sizes_mib
        Sizes of the caches, rounded down to whole segments.
    policies
        Which policies, as in :func:`cache`; all if not given.
    segment_kib
        The unit of caching, whole blocks of 512 bytes.
    device, device_blocks
        What the load is laid on, or how many blocks that has. A trace may do without either, unless
        its addresses are wrapped or scaled.
    progress
        ``True`` for a bar on stderr, or what is called now and then with the number of requests
        done and of all, if known.

    Returns
    -------
    list
        A dict for each policy and size, in the order given: ``policy``, ``size_mib``,
        ``segment_kib``, ``requests``, ``accesses``, ``hits``, ``hit_ratio``, and of the accesses
        that read and that write ``read_hit_ratio`` and ``write_hit_ratio`` (``None`` if there are
        none).

    Raises
    ------
    SledsimError
        For an unknown policy, a size out of range or below a segment, a load whose order depends on
        how long requests take, or a line of a trace that cannot be read.
    """
    return hits_and_load(
        load,
        sizes_mib=sizes_mib,
        policies=policies,
        segment_kib=segment_kib,
        device=device,
        device_blocks=device_blocks,
        progress=progress,
    )[0]


def hits_and_load(
    load: LoadLike,
    *,
    sizes_mib: Sequence[float],
    policies: Sequence[str] | None,
    segment_kib: float,
    device: DeviceLike | None = None,
    device_blocks: int | None = None,
    progress: ProgressLike = None,
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return what :func:`hit_ratios` does, and the load as :attr:`Run.workload` has it."""
    if device is not None and device_blocks is not None:
        _refuse("device_blocks", "device and device_blocks: give one of them")
    blocks = optional(whole, "device_blocks", device_blocks, 1, _MOST_BLOCKS)
    blocks = blocks if device is None else device_of(device).blocks
    segment_kib = segment_kib if isinstance(segment_kib, int) else real("segment_kib", segment_kib)
    segment = segment_kib * (1024 // _BLOCK_BYTES)
    if not 1 <= segment <= _MOST_BLOCKS or segment % 1:
        _refuse(
            "segment_kib",
            f"segment_kib = {shown(segment_kib)}: must be a multiple of 0.5 and above 0",
        )
    sizes_mib = [_size(size) for size in as_list("sizes_mib", sizes_mib)]
    names = _core.names("policies")
    if policies is not None:
        names = [text("policies", name) for name in as_list("policies", policies)]
    with told(progress) as beat:
        counted, of_load = _core.hit_ratios(
            load_of(load)._core,
            int(segment),
            [int(size * 2048) for size in sizes_mib],
            names,
            blocks,
            beat,
        )
    cases = [(policy, size) for policy in names for size in sizes_mib]
    rows = []
    for (policy, size), count in zip(cases, counted, strict=True):
        accesses, hits = count["accesses"], count["hits"]
        reads, read_hits = count["read_accesses"], count["read_hits"]
        rows.append(
            {
                "policy": policy,
                "size_mib": size,
                "segment_kib": segment_kib,
                "requests": count["requests"],
                "accesses": accesses,
                "hits": hits,
                "hit_ratio": hits / accesses,
                "read_hit_ratio": read_hits / reads if reads else None,
                "write_hit_ratio": (hits - read_hits) / (accesses - reads)
                if accesses > reads
                else None,
            }
        )
    return rows, json.loads(of_load)


def _refuse(key: str, problem: str) -> None:
    raise placed(SpecError, problem, key=key)


def _size(given: object) -> float:
    """Return a size in MiB, an integer as one."""
    size = given if isinstance(given, int) else real("sizes_mib", given)
    if not 0 < size * 2048 <= _MOST_BLOCKS:
        _refuse("sizes_mib", f"sizes_mib = {shown(given)}: must be above 0 and at most 2^43")
    return size
