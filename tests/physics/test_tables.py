"""Tables: data, places, costs, refusals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sledsim as ss
from hypothesis import given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

LayoutName: TypeAlias = Literal["normal", "vertical", "capsule"]
LAYOUTS: tuple[LayoutName, ...] = ("normal", "vertical", "capsule")
BLOCK = 512
ROW_S = 90 / 700e3
"""A row of tip sectors passes: 90 bits at 700 kbit/s."""
P, TRACK, TRACKS = 10, 270, 10
"""Blocks at once, blocks of a track, tracks of a cylinder, of the device below."""
STRINGS = (pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string()))
BYTES: dict[int, tuple[pa.DataType, ...]] = {  # by the Arrow format
    1: (pa.int8(), pa.uint8(), pa.binary(1)),
    2: (pa.int16(), pa.uint16(), pa.float16()),
    3: (pa.binary(3),),
    4: (pa.int32(), pa.uint32(), pa.float32(), pa.date32(), pa.time32("s"), pa.time32("ms")),
    8: (
        pa.int64(),
        pa.uint64(),
        pa.float64(),
        pa.date64(),
        pa.time64("us"),
        pa.time64("ns"),
        pa.duration("ms"),
        pa.timestamp("us"),
        pa.timestamp("ns", "Europe/Paris"),
    ),
    15: (pa.binary(15),),
    16: (pa.binary(16), pa.decimal128(30, 3)),
    32: (pa.binary(32),),
    61: (pa.binary(61),),
}
FIXED = {kind: size for size, kinds in BYTES.items() for kind in kinds}
SMALL: dict[pa.DataType, int] = {  # those that do not bear every number, and the largest taken here
    pa.date32(): 20_000,
    pa.time32("s"): 86_399,
    pa.time32("ms"): 86_399_999,
    pa.time64("us"): 86_399_999_999,
    pa.time64("ns"): 86_399_999_999_999,
}


def memstore(**keys: Any) -> Any:
    """Return the device of the report, with 13,500 blocks by default."""
    return ss.device("cmu2003", **{"travel_x_um": 0.2, **keys})


def column(kind: pa.DataType, count: int, random: np.random.Generator) -> pa.Array:
    """Return random values, of all bit patterns that a type bears."""
    if kind == pa.bool_():
        return pa.array(random.integers(0, 2, count).astype(bool))
    if kind in STRINGS:
        words = [f"{'é' * (n % 7)}{n}" for n in random.integers(0, 40, count)]
        return pa.array(words, pa.string()).cast(kind)
    width = FIXED[kind]
    raw = random.bytes(count * width)
    if kind in SMALL or kind == pa.date64() or pa.types.is_decimal(kind):
        numbers = random.integers(0, SMALL.get(kind, 20_000), count)
        if kind == pa.date64():
            numbers *= 86_400_000
        if width == 16:
            numbers = np.stack([numbers, np.zeros_like(numbers)], axis=1).ravel()
        raw = numbers.astype("<i4" if width == 4 else "<i8").tobytes()
    return pa.Array.from_buffers(kind, count, [None, pa.py_buffer(raw)])


def source(kinds: Sequence[pa.DataType], count: int, seed: int) -> pa.Table:
    """Return a table of random values."""
    random = np.random.Generator(np.random.PCG64(seed))
    return pa.table({f"c{n}": column(kind, count, random) for n, kind in enumerate(kinds)})


def plain(table: pa.Table) -> pa.Table:
    """Return a table with its strings as plain ones: pyarrow cannot join views."""
    fields = [(f.name, pa.string() if f.type in STRINGS else f.type) for f in table.schema]
    return table.cast(pa.schema(fields))


def joined(*tables: pa.Table) -> pa.Table:
    """Return tables behind each other: pyarrow fails on empty chunks of truth values."""
    return pa.concat_tables([table for table in tables if len(table)] or tables[:1])


def exact(data: Any) -> dict[str, Any]:
    """Return columns so that equal ones hold equal bytes: not numbers equal themselves."""
    table, found = pa.table(data), {}
    for name in table.column_names:
        values = table[name].combine_chunks()
        kind = values.type
        if kind in FIXED:
            start = values.offset * FIXED[kind]
            raw = values.buffers()[1].to_pybytes() if len(values) else b""
            found[name] = (str(kind), raw[start : start + len(values) * FIXED[kind]])
        else:
            found[name] = (str(kind) if kind == pa.bool_() else "", values.to_pylist())
    return found


def width(kind: pa.DataType) -> int:
    """Bytes of a value in a page: strings are codes of four."""
    return 1 if kind == pa.bool_() else FIXED.get(kind, 4)


@dataclass(frozen=True)
class Plan:
    """How a table is made."""

    kinds: tuple[pa.DataType, ...]
    records: int
    seed: int
    layout: LayoutName
    header: int
    split: bool
    first_lbn: int

    def data(self) -> pa.Table:
        return source(self.kinds, self.records, self.seed)

    @property
    def pages(self) -> int:
        """Of a capsule: the narrowest column fills one."""
        room, widths = BLOCK - self.header, [width(kind) for kind in self.kinds]
        return sum(ceil((room // min(widths)) / (room // one)) for one in widths)

    def table(self) -> ss.tables.Table:
        keys: dict[str, Any] = {"first_lbn": self.first_lbn}
        if self.layout != "normal":
            keys["page_header_bytes"] = self.header
        if self.layout == "capsule":
            keys["split"] = self.split or self.pages > TRACKS
        device = memstore(travel_x_um=2)  # a capsule may have hundreds of pages
        return ss.tables.table(self.data(), device, self.layout, **keys)


PLANS = st.builds(
    Plan,
    st.lists(st.sampled_from([pa.bool_(), *STRINGS, *FIXED]), min_size=1, max_size=6).map(tuple),
    st.integers(1, 1200),
    st.integers(0, 2**32),
    st.sampled_from(LAYOUTS),
    st.sampled_from([0, 1, 32, 100]),
    st.booleans(),
    st.sampled_from([0, 1, 269, 270, 1000, 2699]),
)
PAPER = (pa.int64(), pa.binary(32), pa.binary(15), pa.binary(16))
"""The attributes of the report's table: 8, 32, 15 and 16 bytes."""


def paper(layout: LayoutName, records: int, **keys: Any) -> ss.tables.Table:
    """Return a table like the report's, on a device of 69 MB."""
    return ss.tables.table(source(PAPER, records, 1), memstore(travel_x_um=2), layout, **keys)


# Reads return the written data --------------------------------------------------------------------


@settings(max_examples=60)
@given(PLANS, st.data())
def test_any_history_of_a_table_is_that_of_its_source(plan: Plan, draw: st.DataObject) -> None:
    mirror = plain(plan.data())
    table = plan.table()
    clock_s = table.clock_s
    for step in range(draw.draw(st.integers(1, 6), "steps")):
        action = draw.draw(st.sampled_from(["scan", "read", "record", "append", "update"]))
        count = len(mirror)
        names = draw.draw(
            st.lists(st.sampled_from(mirror.column_names), min_size=1, unique=True), "columns"
        )
        first = draw.draw(st.integers(0, count - 1), "first")
        size = draw.draw(st.integers(0, min(count - first, 200)), "size")
        if action == "scan":
            done = table.scan(names, first=first, count=size)
            assert exact(done.data) == exact(mirror.select(names).slice(first, size))
        elif action == "read":
            which = draw.draw(st.lists(st.integers(0, count - 1), max_size=9), "which")
            done = table.read(which, names)
            rows = joined(mirror.slice(0, 0), *(mirror.slice(one, 1) for one in which))
            assert exact(done.data) == exact(rows.select(names))
        elif action == "record":
            done = table.record(first)
            assert exact(done.data) == exact(mirror.slice(first, 1))
        elif action == "append":
            more = source(plan.kinds, size, plan.seed + step + 1)
            done = table.append(more)
            mirror = joined(mirror, plain(more))
        else:
            new = source(plan.kinds, size, plan.seed + step + 1).select(names)
            done = table.update(first, new)
            new = plain(new)
            old = mirror.select(names)
            new = joined(old.slice(0, first), new, old.slice(first + size))
            mirror = pa.table(
                {name: (new if name in names else mirror)[name] for name in mirror.column_names}
            )
        assert table.records == len(mirror)
        assert done.bytes_moved == BLOCK * done.blocks
        passes = ceil(done.blocks / P)
        assert done.simulated_s >= passes * ROW_S * (1 - 1e-9)  # no faster than the media pass
        assert table.clock_s == pytest.approx(clock_s + done.simulated_s, abs=1e-9)
        clock_s = table.clock_s
    assert exact(table.scan().data) == exact(mirror)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_source_of_data_is_read_and_results_are_read_again(
    layout: LayoutName, tmp_path: Path
) -> None:
    data = source((pa.int64(), pa.float64(), pa.string()), 500, 3)
    pq.write_table(data, tmp_path / "data.parquet", row_group_size=77)
    sources: list[Any] = [
        data,
        data.to_reader(max_chunksize=33),
        pl.DataFrame(data),
        pd.DataFrame(data.to_pandas()),
        tmp_path / "data.parquet",
        str(tmp_path / "data.parquet"),
    ]
    tables = [ss.tables.table(one, memstore(), layout) for one in sources]
    for table in tables:
        assert table.schema_names == data.column_names
        assert exact(table.scan().data) == exact(data)
    done = tables[0].scan()
    assert pl.DataFrame(done.data).rows() == pl.DataFrame(data).rows()
    frame = pd.DataFrame.from_arrow(done.data)  # type: ignore[attr-defined]  # (the stubs are behind)
    assert frame["c0"].tolist() == data["c0"].to_pylist()


# Where it lies -----------------------------------------------------------------------------------


@settings(max_examples=40)
@given(PLANS)
def test_no_two_values_share_a_byte(plan: Plan) -> None:
    plan = replace(plan, records=min(plan.records, 300))
    table = plan.table()
    taken: dict[int, list[tuple[int, int]]] = {}
    for number, kind in enumerate(plan.kinds):
        extents = table.lbns(f"c{number}")
        for record in range(plan.records):
            lbn, offset = table.place(record, f"c{number}")
            taken.setdefault(lbn, []).append((offset, offset + width(kind)))
            if plan.layout != "normal":  # pages are blocks there
                assert any(first <= lbn <= last for first, last in extents)
                assert plan.header <= offset <= BLOCK - width(kind)
    assert min(taken) >= plan.first_lbn
    for spans in taken.values():
        spans.sort()
        assert all(end <= start for (_, end), (start, _) in pairwise(spans))


def test_figure_6() -> None:
    """LBNs: "a1 spans track 0-269, and a2 spans two tracks ... 270-539 and 540-809"."""
    data = source((pa.int64(), pa.binary(16)), 64 * 270, 1)
    table = ss.tables.table(data, memstore(), page_header_bytes=0)
    assert table.blocks == 810
    for record in (0, 63, 64, 64 * 11 + 5, 64 * 269 + 63):
        capsule, place = divmod(record, 64)
        assert table.place(record, "c0") == (capsule, 8 * place)
        lbn, offset = table.place(record, "c1")
        assert offset == 16 * (place % 32)
        assert (270 if place < 32 else 540) <= lbn < (540 if place < 32 else 810)
        assert lbn in memstore().equivalent(capsule)
    for name, first, last in (("c0", 0, 269), ("c1", 270, 809)):
        extents = table.lbns(name)
        assert min(extents)[0] == first
        assert max(end for _, end in extents) <= last
        assert sum(end - start + 1 for start, end in extents) == last - first + 1


@settings(max_examples=30)
@given(PLANS)
def test_a_padded_capsule_is_accessed_at_once(plan: Plan) -> None:
    plan = replace(plan, layout="capsule")
    table, device = plan.table(), memstore(travel_x_um=2)
    per_capsule = table.facts["records_per_capsule"]
    assert table.facts["capsule_blocks"] == plan.pages
    for start in range(0, plan.records, per_capsule):
        lbns = {
            table.place(record, name)[0]
            for record in range(start, min(start + per_capsule, plan.records))
            for name in table.schema_names
        }
        together = set(device.equivalent(min(lbns)))
        assert lbns <= together or (plan.split and TRACKS % plan.pages != 0) or plan.pages > TRACKS
        if len(lbns) <= P and lbns <= together:
            commands: list[Any] = [("read", lbn, 1) for lbn in sorted(lbns)]
            assert len(device.batch(commands).passes) == 1


# Costs -----------------------------------------------------------------------------------


def test_a_scan_moves_the_pages_of_its_columns() -> None:
    """Capsules of "9 pages (each 512 bytes) with a total of 60 records", 115 on a page of rows."""
    capsule, normal, vertical = (paper(name, 60_000) for name in ("capsule", "normal", "vertical"))
    assert capsule.facts["records_per_capsule"] == 60
    assert capsule.facts["pages"] == {"c0": 1, "c1": 4, "c2": 2, "c3": 2}
    assert normal.facts["records_per_page"] == 115
    for names, pages in ((["c0"], 1), (["c1"], 4), (["c0", "c1"], 5), (["c3", "c2"], 4), (None, 9)):
        assert capsule.scan(names).blocks == 1000 * pages
        assert normal.scan(names).blocks == 16 * ceil(60_000 / 115)
    for name, values in (("c0", 60), ("c1", 15), ("c2", 32)):
        assert vertical.scan([name]).blocks == ceil(60_000 / values)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_long_scan_runs_at_the_pace_of_the_media(layout: LayoutName) -> None:
    table = paper(layout, 250_000)
    done = table.scan()
    media_s = done.blocks / P * ROW_S
    # Beyond it, a reposition and the command: less than a fifth of a track's time at each track.
    assert media_s < done.simulated_s < 1.3 * media_s
    assert done.requests <= done.blocks / TRACK + 20


def test_columns_cost_in_proportion() -> None:
    capsule, normal = paper("capsule", 250_000), paper("normal", 250_000)
    everything, one = capsule.scan(), capsule.scan(["c0"])
    assert 0.095 < one.simulated_s / everything.simulated_s < 0.13  # Table 5: 2.43 / 22.93 s
    two = capsule.scan(["c0", "c1"])
    assert two.simulated_s / everything.simulated_s == pytest.approx(0.555, rel=0.02)
    rows = normal.scan()
    assert normal.scan(["c0"]).simulated_s == pytest.approx(rows.simulated_s, rel=0.01)
    assert everything.blocks / rows.blocks == pytest.approx(1.078, rel=0.005)


def test_a_record_of_a_capsule_is_one_access_and_of_a_vertical_table_several() -> None:
    times = {}
    for layout in LAYOUTS:
        table = paper(layout, 60_000)
        done = [table.record(record) for record in range(17, 60_000, 9973)]
        times[layout] = sum(one.simulated_s for one in done) / len(done)
        assert {one.blocks for one in done} == {16 if layout == "normal" else 4}
    assert times["vertical"] > 2 * times["capsule"]
    assert times["capsule"] < times["normal"]


def test_an_update_reads_and_writes_the_pages_of_its_values() -> None:
    table = paper("capsule", 6_000)
    one = table.update(100, source(PAPER, 1, 9).select(["c0"]))
    assert one.blocks == 1 + 1
    every = table.update(100, source(PAPER, 1, 9))
    assert every.blocks == 4 + 4
    assert one.simulated_s <= every.simulated_s + 2e-3


@pytest.mark.parametrize("layout", LAYOUTS)
def test_time_passes_by_calls_and_idling(layout: LayoutName) -> None:
    table = paper(layout, 600)
    assert table.clock_s == 0
    parked = table.record(3).simulated_s
    near = table.record(3).simulated_s
    assert near < parked
    assert table.clock_s == pytest.approx(parked + near, abs=1e-12)
    table.idle(0.05)
    assert table.clock_s == pytest.approx(parked + near + 0.05, abs=1e-12)
    table.record(3)
    # After 0.1 s the device sleeps, its sled parked; it takes 0.5 ms to start.
    table.idle(10.0)
    assert table.record(3).simulated_s == pytest.approx(parked + 0.5e-3, abs=1e-12)


def test_the_same_calls_take_the_same_time() -> None:
    def history() -> tuple[float, float]:
        table = paper("capsule", 5000)
        table.read([5, 4000, 17])
        table.append(source(PAPER, 700, 8))
        table.idle(0.25)
        table.update(3, source(PAPER, 70, 9))
        return table.scan(["c2"]).simulated_s, table.clock_s

    assert history() == history()


# Refusals ---------------------------------------------------------------------------------

NUMBERS = pa.table({"a": pa.array(range(1000), pa.int64()), "word": ["x", "y"] * 500})


CODE = {"pa": pa, "NUMBERS": NUMBERS, "MANY": pa.array(range(900_000), pa.int64())}
BAD_CALLS = [
    ("t.scan(['b'])", "b a word"),
    ("t.scan(['a', 'a'])", "a"),
    ("t.scan(first=990, count=11)", "1000"),
    ("t.scan(first=1001)", "1001 999"),
    ("t.scan(first=-1)", "-1"),
    ("t.record(1000)", "1000"),
    ("t.record(-1)", "-1"),
    ("t.read([3, 1000])", "1000"),
    ("t.place(1000, 'a')", "1000"),
    ("t.place(0, 'b')", "b"),
    ("t.lbns('b')", "b"),
    ("t.append(NUMBERS.select(['a']))", "word"),
    ("t.append(pa.table({'a': [1.5], 'word': ['x']}))", "a Float64 Int64"),
    ("t.append(pa.table({'a': pa.array([1, None]), 'word': ['n', 'm']}))", "a 1"),
    ("t.append(pa.table({'a': MANY, 'word': ['new'] * 900_000}))", "901000"),
    ("t.update(999, NUMBERS.slice(0, 2))", "1000"),
    ("t.update(0, pa.table({'b': [1]}))", "b"),
    ("t.update(0, pa.table({'a': ['x']}))", "a Int64"),
    ("t.update(0, pa.table({'word': ['new', None]}))", "word 1"),
    ("t.idle(-1.0)", "-1"),
    ("t.idle(float('nan'))", "nan"),
]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("call", "words"), BAD_CALLS)
def test_bad_calls_change_nothing(call: str, words: str, layout: LayoutName) -> None:
    table = ss.tables.table(NUMBERS, memstore(), layout)
    table.scan(["a"])
    before = (table.clock_s, table.records, table.blocks, table.facts)
    with pytest.raises(ss.SledsimError) as refused:
        eval(call, {**CODE, "t": table})
    message = str(refused.value).lower()
    assert all(word in message for word in words.lower().split()), message
    assert (table.clock_s, table.records, table.blocks, table.facts) == before
    assert exact(table.scan().data) == exact(NUMBERS)
    table.append(pa.table({"a": [7], "word": ["z"]}))
    assert pa.table(table.record(1000).data).to_pylist() == [{"a": 7, "word": "z"}]
