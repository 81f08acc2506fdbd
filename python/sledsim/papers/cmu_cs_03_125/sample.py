"""The sample table of section 5.2.6, its scans and its reads."""

from __future__ import annotations

import json
import random
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from sledsim import tables
from sledsim._core import SledsimError
from sledsim.papers.cmu_cs_03_125.memstore import memstore
from sledsim.tables import Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sledsim.papers import Setup

PAGES = {"a1": 1, "a2": 4, "a3": 2, "a4": 2}
"""Pages of each attribute in a capsule."""
WIDTHS = {"a1": 8, "a2": 32, "a3": 15, "a4": 16}
"""Bytes of each attribute."""
HELD = 60
"""Records of a capsule."""
RECORDS = 10_000_000
QUICK_RECORDS = 62 * 270 * HELD
"""About a tenth, in 62 whole groups of tracks."""
SOME = 100
"""Records of a short scan."""
PLACES = 50
"""Parts of the device, each of which holds a small table for reads at random places."""
SLEEPS_S = 0.2
"""Idle time after which the sled is inactive, wherever it was."""
SEED = 1
_CHUNK = 500_000


def records(count: int, widths: Mapping[str, int] | None = None) -> Any:
    """Return an Arrow table of random bytes, with attributes of these widths.

    Those of a quick run are kept, as several items load them.
    """
    draw = _kept if count <= QUICK_RECORDS else _drawn
    return draw(count, tuple((widths or WIDTHS).items()))


def _drawn(count: int, widths: tuple[tuple[str, int], ...]) -> Any:
    arrow = arrow_library()
    chance = np.random.default_rng(SEED)
    types = {name: arrow.binary(width) for name, width in widths}

    def column(rows: int, width: int) -> Any:
        data = arrow.py_buffer(chance.bytes(rows * width))
        return arrow.FixedSizeBinaryArray.from_buffers(arrow.binary(width), rows, [None, data])

    parts = [min(_CHUNK, count - first) for first in range(0, count, _CHUNK)]
    return arrow.Table.from_batches(
        [
            arrow.record_batch({name: column(rows, width) for name, width in widths})
            for rows in parts
        ],
        arrow.schema(types),
    )


_kept = lru_cache(maxsize=2)(_drawn)


def arrow_library() -> Any:
    """Return pyarrow."""
    try:
        import pyarrow as pa  # an extra
    except ImportError:
        raise SledsimError(
            "the tables of CMU-CS-03-125 need pyarrow: pip install pyarrow"
        ) from None
    return pa


def sample(setup: Setup, layout: str, count: int, **keys: Any) -> Table:
    """Return the sample table in a layout, from LBN 0 on."""
    if layout == "capsule":
        own = setup["records"]
        keys["split"] = own["split"] or own["narrow"]  # whose classes have no room for nine pages
    return tables.table(records(count), memstore(setup), layout, **keys)


def scans(table: Table, columns: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """Scan a whole table several times, for some attributes each; return simulated seconds."""
    return {name: table.scan(list(some)).simulated_s for name, some in columns.items()}


@cache
def small_records(groups: int, *, narrow: bool) -> Any:
    """Return the records of a small table: the capsules of some groups of nine tracks."""
    return records(HELD * 270 * groups, dict.fromkeys(WIDTHS, 8) if narrow else None)


def spread(setup: Setup, layout: str) -> Iterator[Table]:
    """Yield small tables in the middle of every part of the device."""
    device, own = memstore(setup), setup["records"]
    narrow = layout == "capsule" and own["narrow"]
    keys: dict[str, Any] = {"split": own["split"] and not narrow} if layout == "capsule" else {}
    part = device.parallelism.S_x // PLACES
    for place in range(PLACES):
        first = (place * part + part // 2) * device.parallelism.S_C
        data = small_records(own["groups"], narrow=narrow)
        yield tables.table(data, device, layout, first_lbn=first, **keys)


def starts(
    table: Table, reads: int, count: int, chance: random.Random, *, asleep: bool
) -> Iterator[int]:
    """Yield first records of random ranges of a length, perhaps with a sled that sleeps before."""
    for _ in range(reads):
        if asleep:
            table.idle(SLEEPS_S)
        yield chance.randrange(table.records - count + 1)


def table_key(setup: Setup, *more: str) -> str:
    """Return what of a set-up the sample table depends on as text, to remember results by.

    More keys of ``records`` may be named.
    """
    records = {key: setup["records"][key] for key in ("split", "narrow", *more)}
    own = {"device": setup["device"], "records": records}
    return json.dumps(own, sort_keys=True)


def setup_of(key: str) -> Setup:
    """Return the part of a set-up that :func:`table_key` has written."""
    setup: Setup = json.loads(key)
    return setup
