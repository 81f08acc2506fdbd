"""Inputs that the rows of the table of physics name."""

from __future__ import annotations

from functools import partial  # noqa: F401 (rows name it)
from math import inf, nan  # noqa: F401 (rows name them)
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import sledsim as ss

from tests.physics.made import sheet_disk as disk

if TYPE_CHECKING:
    from sledsim.tables import Table

device: Any = ss.device
G2_SHEET: dict[str, Any] = {
    "travel_um": 100,
    "tips": 6400,
    "bit_nm": 40,
    "acceleration_m_s2": 803.6,
    "resonance_hz": 739,
}
SAMPLE = "sample:postmark-ext4"
COLUMNS = "time=us:us, device=host, offset=lbn:512B, bytes=n:512B, op=op, linked=more"
SMALL: dict[str, Any] = {"last_lbn": 200, "queue_depth": 8, "read_fraction": 0.4, "requests": 1000}


def array(kind: str, text: str = "", **keys: Any) -> Any:
    """Make an array of four sleds, or of what a text says."""
    unit = "" if kind == "raid1" else "unit_blocks = 8\n"
    text = text or f'children = 4\n{unit}[child]\nbase = "g2"\n'
    made = ss.Device.from_toml(f'title = "A"\nkind = "{kind}"\n{text}', kind)
    return device(made, **keys)


def linked(text: str) -> ss.Load:
    """Make a load of commands: host, LBN, blocks, op, linked."""
    names = ("host", "lbn", "n", "op", "more")
    rows = [dict(zip(names, row.split(), strict=True)) for row in text.split("; ")]
    return ss.read_trace(
        [{"us": at, **row} for at, row in enumerate(rows)], columns=COLUMNS, trace_device="all"
    )


def serve(commands: str, device: Any = "cmu2003", *scheduler: Any, **keys: Any) -> ss.Run:
    """Run linked commands."""
    return ss.simulate(linked(commands), device, *scheduler, rows="x.csv", **keys)


def run(device: str = "g2", **options: Any) -> Any:
    """Run 20 requests."""
    return ss.simulate(ss.workload("random", requests=20, rate=500), device, **options)


def crash(device: str | ss.Device = "g2", **options: Any) -> ss.CrashReport:
    """Crash a device under a small load."""
    return ss.crash_test(ss.workload(**SMALL), device, **options)


def cmu(**keys: Any) -> Any:
    """Make the device of CMU-CS-03-125."""
    return device("cmu2003", **keys)


def conflicts(buffer: Any = None, **keys: Any) -> Any:
    """Make it with squares that share something, perhaps with a buffer."""
    return cmu(conflicts=keys, **({"buffer": buffer} if buffer else {}))


def batching(buffer: Any = None, **keys: Any) -> Any:
    """Make it with keys of batching, perhaps with a buffer."""
    return cmu(batching=keys, **({"buffer": buffer} if buffer else {}))


def bus(squares: int, at_once: int) -> Any:
    """Make it with buses of so many squares."""
    return conflicts(kind="power_bus", squares_per_bus=squares, at_once=at_once)


def listed(resources: list[int]) -> Any:
    """Make it with a resource for each square."""
    return conflicts(kind="listed", resources=resources, at_once=1)


def reach(cylinders: Any) -> Any:
    """Make it with tips that reach so many cylinders."""
    return cmu(micropositioning_cylinders=cylinders)


def later(changes: Any) -> Any:
    """Make it with tips whose reach changes."""
    return cmu(micropositioning_later=changes)


def cached(name: str, **keys: Any) -> Any:
    """Make a device behind the cache of a controller."""
    return device(name, controller_cache=keys)


def layout() -> ss.Layout:
    """Lay out g2."""
    return ss.layout("g2", "subregioned", regions=3)


def table(data: Any, **keys: Any) -> Table:
    """Lay a table out on 13,500 blocks."""
    return ss.tables.table(data, cmu(travel_x_um=0.2), **keys)


def wide(*sizes: int) -> pa.Table:
    """Make a table of columns of so many bytes."""
    return pa.table({f"b{size}": pa.array([b"x" * size], pa.binary(size)) for size in sizes})


def ratios(**keys: Any) -> object:
    """Count the hits of a sample."""
    return ss.hit_ratios(ss.read_trace(SAMPLE), **keys)


class Fifo:
    """A policy of the user."""

    def __init__(self, slots: int) -> None:
        self.slots = slots

    def hit(self, key: int) -> None:
        raise AssertionError(key)

    admit = evict = hit


class Half(Fifo):
    """A policy that lacks two methods."""

    admit = evict = None  # type: ignore[assignment]


def policies(*given: Any, **keys: Any) -> object:
    """Count a long load by policies, where nothing may run."""

    def never(_done: int, _of: int | None) -> None:
        raise AssertionError("it runs")

    load = ss.workload(requests=3_000_000)
    keys = {"device_blocks": 10**9, "sizes_mib": [1024], "progress": never, **keys}
    return ss.hit_ratios(load, policies=given, **keys)


class First:
    """A scheduler of the user."""

    def pick(self, queue: ss.Queue, now_ms: float) -> int:  # noqa: ARG002
        return 0


class Soonest(First):
    """One that asks for positioning times."""

    def pick(self, queue: ss.Queue, now_ms: float) -> int:  # noqa: ARG002
        return int(queue.positioning_ms.argmin())


class Idle(Soonest):
    """One that says it does not."""

    wants_positioning = False


class Unmade(First):
    """One that cannot be made."""

    def __init__(self) -> None:
        raise LookupError("no table")


fcfs = type("fcfs", (First,), {})


def drive(write_back: str = "none", **keys: Any) -> Any:
    """Make a disk of today."""
    return device(disk(), **{"buffer.write_back": write_back, "buffer.read_ahead": "none", **keys})


def spared() -> Any:
    """Make a sled with spare cylinders."""
    return device("g2", faults={"remap": "elsewhere", "spare_cylinders": 30})


def figure(rows: int) -> object:
    """Make axes."""
    from matplotlib.figure import Figure

    return Figure().subplots(rows, 1)


BUFFER = {"size_kib": 64, "segments": 2}
LINKED = "0 0 1 r 1; 0 5 1 r 0"
LOAD = ss.workload("random", requests=100)
NUMBERS = pa.table({"a": pa.array(range(1000), pa.int64()), "word": ["x", "y"] * 500})
HOLES = pa.DictionaryArray.from_arrays([0, 1], ["x", None])
CACHE = '[front]\nbase = "memory"\nblocks = 100\n[back]\nbase = "g2"\n'
UNEQUAL = '[[child]]\nbase = "g2"\n[[child]]\nbase = "g3"\n'
WINDOW = batching(kind="window", window_ms=1)
TINY = {"base": "memory", "blocks": 1000}
UNLIKE = pa.table({"truth": [True], "a": [1], "b": [2]})
