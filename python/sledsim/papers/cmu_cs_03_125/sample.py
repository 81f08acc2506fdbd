"""The sample table of section 5.2.6, its scans and its reads."""

from __future__ import annotations

import random
from functools import cache
from typing import TYPE_CHECKING, Any

import sledsim as ss

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

WIDTHS = {"a1": 8, "a2": 32, "a3": 15, "a4": 16}
"""Bytes of each attribute."""
RECORDS = 10_000_000
QUICK_RECORDS = 62 * 270 * 60
"""About a tenth, in 62 whole groups of tracks."""
SOME = 100
"""Records of a short scan."""
HEADER_BYTES = 32
"""Of a page of 512 bytes: "for the given table header" capsules have 60 records."""
PLACES = 50
"""Parts of the device, each of which holds a small table for reads at random places."""
PARKS_S = 0.2
"""Idle time after which the sled is inactive, wherever it was."""
SEED = 1
_CHUNK = 500_000


def records(count: int, widths: Mapping[str, int] | None = None) -> Any:
    """Return an Arrow table of random bytes, with attributes of these widths."""
    arrow = _arrow()
    widths = widths or WIDTHS
    chance = random.Random(SEED)
    types = {name: arrow.binary(width) for name, width in widths.items()}

    def column(rows: int, width: int) -> Any:
        data = arrow.py_buffer(chance.randbytes(rows * width))
        return arrow.FixedSizeBinaryArray.from_buffers(arrow.binary(width), rows, [None, data])

    parts = [min(_CHUNK, count - first) for first in range(0, count, _CHUNK)]
    return arrow.Table.from_batches(
        [
            arrow.record_batch({name: column(rows, width) for name, width in widths.items()})
            for rows in parts
        ],
        arrow.schema(types),
    )


def _arrow() -> Any:
    try:
        import pyarrow as pa  # noqa: PLC0415 (an extra)
    except ImportError:
        msg = "the tables of CMU-CS-03-125 need pyarrow: pip install pyarrow"
        raise ss.SledsimError(msg) from None
    return pa


def memstore(**keys: object) -> ss.Sled:
    """Return the device of the report; between requests its sled goes on, as in DiskSim."""
    return ss.device("cmu2003", **({"idle": "coast"} | keys))


def scans(
    data: Any, layout: str, columns: Mapping[str, Sequence[str]], **keys: object
) -> dict[str, tuple[float, float]]:
    """Scan a whole table several times, for some attributes each.

    Returns
    -------
    dict of (float, float)
        By the names of ``columns``: simulated seconds, and megabytes moved.
    """
    table = ss.table(data, memstore(**keys), layout)

    def took(some: Sequence[str]) -> tuple[float, float]:
        found = table.scan(list(some))
        return found.simulated_s, found.bytes_moved / 1e6

    return {name: took(some) for name, some in columns.items()}


@cache
def small_records() -> Any:
    """Return the records of a small table: the capsules of two groups of nine tracks."""
    return records(60 * 270 * 2)


def tables(layout: str, **keys: object) -> Iterator[ss.Table]:
    """Yield small tables in the middle of every part of the device, no capsule being split."""
    device = memstore(**keys)
    whole: dict[str, Any] = {"split": False} if layout == "capsule" else {}
    part = device.parallelism.S_x // PLACES
    for place in range(PLACES):
        first = (place * part + part // 2) * device.parallelism.S_C
        yield ss.table(small_records(), device, layout, first_lbn=first, **whole)


def parked(table: ss.Table, reads: int, count: int, chance: random.Random) -> Iterator[int]:
    """Yield first records of random ranges of a length, the sled being parked before each."""
    for _ in range(reads):
        table.idle(PARKS_S)
        yield chance.randrange(table.records - count + 1)
