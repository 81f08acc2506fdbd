"""Cache replacement policies and their hit ratios."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeAlias

from sledsim import _core
from sledsim._arguments import as_list, optional, placed, real, shown, text, whole
from sledsim._core import SpecError
from sledsim._progress import told
from sledsim.hardware import device_of
from sledsim.loads import load_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from sledsim._name_types import PolicyName
    from sledsim._progress import ProgressLike
    from sledsim.hardware import DeviceLike
    from sledsim.loads import LoadLike

_BLOCK_BYTES = 512
_MOST_BLOCKS = 1 << 54
_MOST_SLOTS = 1 << 26
_Given: TypeAlias = "str | tuple[str, Callable[[int], object]]"
SIZES_MIB = (1, 4, 16, 64, 256)
"""Default cache sizes."""
OPT = "opt"
"""The name of Belady's optimum, which is no policy of a cache."""
OBJECTS = "oracle_general"
"""The format of traces of accesses to objects, which do not say what is a read."""


def policies() -> list[str]:
    """Return the names of the replacement policies, the default first."""
    return _core.names("policies")


class Policy(Protocol):
    """A replacement policy written in Python.

    It is told of every access to a cache of a fixed number of slots, each for one key, an ``int``
    from 0 to 2^64 - 1. Every miss is admitted. For a key that is cached, :meth:`hit` is called; for
    one that is not, :meth:`evict` if all slots are in use, and then :meth:`admit`. Nothing else is
    called.
    """

    def hit(self, key: int, /) -> object:
        """Note an access to a key that is cached; the returned value is not looked at."""

    def admit(self, key: int, /) -> object:
        """Note a key that is cached from now on; the returned value is not looked at."""

    def evict(self) -> int:
        """Return the cached key that is to go, which is not cached from now on."""


PolicyLike: TypeAlias = "PolicyName | str | Policy | Callable[[int], Policy]"
"""The label of a policy, or one written in Python: an object, or its class or another callable that
makes it for a number of slots."""
_METHODS = ("hit", "admit", "evict")


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
            For a key out of range. If the policy is written in Python and failed, now or at an
            earlier access: its exception is the cause.
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


def cache(policy: PolicyLike = "lru", slots: int = 64) -> Cache:
    """Make an empty cache of keys, to try a policy.

    Parameters
    ----------
    policy
        One of :func:`policies`, perhaps with keys, as in ``"slru(protected=0.5)"``; or a
        :class:`Policy` written in Python, or what makes one when called with ``slots``.
    slots
        Capacity in keys, from 1 to 2^26.

    Raises
    ------
    SledsimError
        For an unknown policy or key, a value out of range, or a policy that lacks a method. For
        ``"opt"``, which needs to know all accesses: :func:`hit_ratios` counts its hits.
    """
    slots = whole("slots", slots, 1, _MOST_SLOTS)
    return Cache(_core.Cache(_given("policy", policy), slots), slots)


def _given(argument: str, policy: object) -> _Given:
    """Return the label of a policy, or the name of Python's and what makes it."""
    if isinstance(policy, str):
        return text(argument, policy)
    lacks = _lacking(policy)
    if not lacks and not isinstance(policy, type):
        return type(policy).__name__, lambda _slots: policy
    if not callable(policy):
        _refuse(
            argument,
            f"{argument} = {shown(policy)}: must be the label of a policy, a class or function "
            f"that makes one, or an object with hit, admit and evict; lacks {', '.join(lacks)}",
        )
    name = getattr(policy, "__name__", type(policy).__name__)

    def make(slots: int) -> object:
        try:
            made: object = policy(slots)
        except Exception as error:
            problem = f"{argument}: {name}({slots}): {type(error).__name__}: {error}"
            raise placed(SpecError, problem, key=argument) from error
        if lacks := _lacking(made):
            _refuse(argument, f"{argument}: {name}({slots}) lacks {', '.join(lacks)}")
        return made

    return name, make


def _lacking(policy: object) -> list[str]:
    return [name for name in _METHODS if not callable(getattr(policy, name, None))]


def hit_ratios(
    load: LoadLike,
    *,
    sizes_mib: Sequence[float] = SIZES_MIB,
    policies: Sequence[PolicyLike] | PolicyLike | None = None,
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
        A workload or a trace. One of accesses to objects (``oracle_general``) will do: each object
        takes one slot of ``segment_kib``, large or small.
    sizes_mib
        Sizes of the caches, rounded down to whole segments.
    policies
        Which policies, as in :func:`cache`; all of :func:`policies` if not given. ``"opt"`` is
        Belady's: the most hits of any policy that admits every miss, in memory that grows with the
        load. One written in Python is a class or a function that is called with the number of
        slots for each size; for one size it may be an object.
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
        none, or if it is not known).

    Warns
    -----
    RuntimeWarning
        If ``"opt"`` is counted and a trace of accesses to objects states wrong next accesses.

    Raises
    ------
    SledsimError
        For an unknown policy, a size out of range or below a segment, a load whose order depends on
        how long requests take, or a line of a trace that cannot be read. For a policy written in
        Python that fails: the message names the access and the key, and its exception is the
        cause; what ends a program, such as ``KeyboardInterrupt``, stays as it is.
    """
    rows, of_load = hits_and_load(
        load,
        sizes_mib=sizes_mib,
        policies=policies,
        segment_kib=segment_kib,
        device=device,
        device_blocks=device_blocks,
        progress=progress,
    )
    if said := caution(of_load):
        warnings.warn(said, RuntimeWarning, stacklevel=2)
    return rows


def caution(of_load: dict[str, Any]) -> str | None:
    """Return what is to be said of a load of :func:`hits_and_load`, if anything."""
    wrong = of_load.get("wrong_next_accesses")
    if not wrong:
        return None
    return (
        f"{of_load['path']}: {wrong} of {of_load['requests']} records state a wrong next access, "
        f"the first in record {of_load['first_wrong_next_access']}: the file was sampled or "
        "changed; opt is counted from the accesses themselves"
    )


def hits_and_load(
    load: LoadLike,
    *,
    sizes_mib: Sequence[float],
    policies: Sequence[PolicyLike] | PolicyLike | None,
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
    given: list[object] = list(_core.names("policies"))
    if policies is not None:
        given = as_list("policies", policies)
    cores = [_given("policies", policy) for policy in given]
    names = [core if isinstance(core, str) else core[0] for core in cores]
    for policy, name in zip(given, names, strict=True):
        if isinstance(policy, str):
            continue
        if names.count(name) > 1:
            _refuse("policies", f"policies: two are called {name}: give them names (__name__)")
        if len(sizes_mib) > 1 and not isinstance(policy, type) and not _lacking(policy):
            problem = "an object has one size: give its class, or what makes one of its slots"
            _refuse("policies", f"policies = {shown(policy)}: {problem}")
    with told(progress) as beat:
        counted, text_of_load = _core.hit_ratios(
            load_of(load)._core,
            int(segment),
            [int(size * 2048) for size in sizes_mib],
            cores,
            blocks,
            beat,
        )
    of_load = json.loads(text_of_load)
    operations = of_load.get("format") != OBJECTS
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
                if operations and accesses > reads
                else None,
            }
        )
    return rows, of_load


def _refuse(key: str, problem: str) -> NoReturn:
    raise placed(SpecError, problem, key=key)


def _size(given: object) -> float:
    """Return a size in MiB, an integer as one."""
    size = given if isinstance(given, int) else real("sizes_mib", given)
    if not 0 < size * 2048 <= _MOST_BLOCKS:
        _refuse("sizes_mib", f"sizes_mib = {shown(given)}: must be above 0 and at most 2^43")
    return size
