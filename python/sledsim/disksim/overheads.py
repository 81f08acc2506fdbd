"""Overheads of the processor of a disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim.disksim.parameter_coverage import place_of

if TYPE_CHECKING:
    from sledsim.disksim.parameter_coverage import Account
    from sledsim.disksim.toml_writer import Table
    from sledsim.disksim.tree import Block

_KEYS = {
    "read_hit_after_read_ms": "Read hit over. after read",
    "read_hit_after_write_ms": "Read hit over. after write",
    "read_miss_after_read_ms": "Read miss over. after read",
    "read_miss_after_write_ms": "Read miss over. after write",
    "write_hit_after_read_ms": "Write hit over. after read",
    "write_hit_after_write_ms": "Write hit over. after write",
    "write_miss_after_read_ms": "Write miss over. after read",
    "write_miss_after_write_ms": "Write miss over. after write",
    "read_completion_ms": "Read completion overhead",
    "write_completion_ms": "Write completion overhead",
    "reselect_ms": "First reselect overhead",
}
_TRACKS = 4
"""The ``Buffer continuous read`` of drives whose read hits are cheaper where they carry on."""
_APPENDS = 1
"""The ``Fast write level`` at which only the writes of one run are reported early."""


def write(disk: Block, scale: float, table: Table, account: Account) -> None:
    """Add the overheads, all multiplied by ``scale``.

    Files tell a hit after a request of the same kind from one after a request of the other kind.
    Where the first is cheaper, that is for requests that carry on; but not every drive does so
    (section 4 of the disk's ``BEHAVIOUR.md``, rule 14). Without whole tracks read ahead, all read
    hits take the mean of the two; where only writes of one run are reported early, all write hits
    take what they take after a read.
    """
    times = {name: scaled(disk.number(name, at_least=0), scale) for name in _KEYS.values()}
    sources = dict(zip(times, times, strict=True))
    if disk.integer("Buffer continuous read") != _TRACKS:
        same, other = "Read hit over. after read", "Read hit over. after write"
        if times[same] < times[other]:
            times[same] = times[other] = _rounded((times[same] + times[other]) / 2)
            sources[same] = sources[other] = f"mean of {same} and after write"
            changes = f"hits take {times[same]:g} ms, those that carry on as well"
            account.ignore(same, disk.item(same), changes, place_of(disk, same))
    if disk.integer("Fast write level") == _APPENDS:
        same, other = "Write hit over. after write", "Write hit over. after read"
        if times[same] < times[other]:
            times[same] = times[other]
            sources[same] = other
            changes = f"hits take {times[same]:g} ms, those that carry on as well"
            account.ignore(same, disk.item(same), changes, place_of(disk, same))
    suffix = "" if scale == 1 else ", times Time scale for overheads"
    for key, name in _KEYS.items():
        table.add(key, times[name], sources[name] + suffix, place_of(disk, name))


def scaled(time: float, scale: float) -> float:
    """Multiply in decimals: 0.1 times 3 is 0.3."""
    return time if scale == 1 else _rounded(time * scale)


def _rounded(time: float) -> float:
    return float(f"{time:.12g}")
