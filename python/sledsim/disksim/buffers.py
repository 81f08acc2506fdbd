"""The buffer of a disk: segments, read-ahead, buffered writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim.disksim.parameter_coverage import enumerated, place_of

if TYPE_CHECKING:
    from sledsim.disksim.parameter_coverage import Account
    from sledsim.disksim.toml_writer import Plain, Table
    from sledsim.disksim.tree import Block

_KEEP = {0: "nothing", 1: "all", 2: "ahead"}
_OVER = {-1: True, 0: False, 1: True}
_DROPS = -1
"""Read-ahead may take the place of what the host has had, and that is dropped at once."""
_READ_AHEAD = {0: "none", 1: "track", 2: "cylinder", 3: "segment", 4: "tracks"}
_WRITE_BACK = {0: "none", 1: "appends", 2: "all"}
_MARK_OF = {0: "segment", 1: "request"}
_ANY = {0: 0, 1: 1, 2: 2}


def write(disk: Block, table: Table, account: Account) -> None:
    """Add the buffer.

    Without caching a buffer matches the speeds of media and bus and does nothing else: what it
    would keep, read ahead or report early is then listed as without effect.
    """
    keep = enumerated(disk, "Enable caching in buffer", _KEEP)
    caches = keep != "nothing"
    over_name = "Read-ahead over requested"
    over = enumerated(disk, over_name, _OVER)
    drops = disk.integer(over_name) == _DROPS

    def add(key: str, value: Plain, name: str, *, caching: bool = True) -> None:
        if caches or not caching:
            source = f"{name} = {disk.item(name)}" if value != _number(disk, name) else name
            table.add(key, value, source, place_of(disk, name))
        elif _number(disk, name):
            account.ignore(
                name,
                disk.item(name),
                "nothing: it has no effect while 'Enable caching in buffer' is 0",
                place_of(disk, name),
            )

    def whole(key: str, name: str, least: int, *, caching: bool = True, most: int = 1 << 31) -> int:
        number = disk.integer(name, at_least=least, at_most=most)
        add(key, number, name, caching=caching)
        return number

    def flag(key: str, name: str, *, turned: bool = False) -> bool:
        value = disk.flag(name)
        add(key, value != turned, name)
        return value

    segments = whole("segments", "Number of buffer segments", 1, caching=False, most=1024)
    whole("segment_blocks", "Segment size (in blks)", 1, caching=False)
    if drops and keep == "all":
        table.add("keep", "ahead", f"{over_name} = {_DROPS}", place_of(disk, over_name))
    else:
        add("keep", keep, "Enable caching in buffer", caching=False)

    ahead = enumerated(disk, "Buffer continuous read", _READ_AHEAD)
    if ahead == "tracks" and over:
        # The segment is then a window that slides over tracks and cylinders.
        ahead = "segment"
    add("read_ahead", ahead, "Buffer continuous read")
    whole("read_ahead_min_blocks", "Minimum read-ahead (blks)", 0)
    whole("read_ahead_max_blocks", "Maximum read-ahead (blks)", 0)
    add("read_ahead_over_requested", over, over_name)
    flag("read_ahead_on_hit", "Read-ahead on idle hit")
    flag("read_ahead_stops_in_sector", "Stop prefetch in sector")
    flag("read_ahead_after_write_hit", "Write hit stop prefetch", turned=True)
    free = flag("read_free_blocks", "Read any free blocks")
    immediate = enumerated(disk, "Immediate buffer read", _ANY)
    if caches:
        name = "Immediate buffer read"
        source = f"{name} = {immediate}, Read any free blocks = {int(free)}"
        round_track = (free and immediate >= 1) or immediate == 2
        table.add("whole_track", round_track, source, place_of(disk, name))

    add("write_back", enumerated(disk, "Fast write level", _WRITE_BACK), "Fast write level")
    flag("append_writes", "Combine seq writes")
    own = flag("own_write_segment", "Use separate write segment")
    name = "Maximum number of write segments"
    most = disk.integer(name, at_least=1, at_most=segments)
    if own and most == segments > 1:
        most -= 1
        account.ignore(name, segments, "the last segment is left for reads", place_of(disk, name))
    add("write_segments", most, name)
    flag("read_written", "Allow read hits on write data")
    flag("partial_hits_at_once", "Immed transfer partial hit")
    name = "High (read) water mark"
    add("high_water", disk.number(name, at_least=0, at_most=1), name, caching=False)
    name = "Set watermark by reqsize"
    add("high_water_of", enumerated(disk, name, _MARK_OF), name, caching=False)

    name = "Immediate buffer write"
    if enumerated(disk, name, _ANY) == 2:
        account.ignore(
            name,
            2,
            "a write takes its own sectors in the order they pass (as with 1), not those of other"
            " writes in its segment",
            place_of(disk, name),
        )


def _number(disk: Block, name: str) -> float:
    return disk.number(name)
