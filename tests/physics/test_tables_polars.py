"""Tables as lazy frames: correct answers, and reads of the needed data only."""

from __future__ import annotations

import sys
from typing import Any

import duckdb
import polars as pl
import pytest
import sledsim as ss
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from sledsim._tables_polars import conjuncts

COUNT = 20_000
ROW = pl.col("row")
SOURCE = pl.DataFrame(
    {
        "key": range(COUNT),
        "share": [n * 37 % 1000 / 8 for n in range(COUNT)],
        "word": [f"w{n * n % 11}" for n in range(COUNT)],
    },
    schema_overrides={"word": pl.Categorical},
)
NUMBERED = SOURCE.select(pl.int_range(COUNT, dtype=pl.UInt64).alias("row"), pl.all()).lazy()
LAYOUTS = ("normal", "vertical", "capsule")


@pytest.fixture(scope="module", params=LAYOUTS)
def any_table(request: pytest.FixtureRequest) -> ss.tables.Table:
    return make(request.param)


@pytest.fixture
def capsule() -> ss.tables.Table:
    return make("capsule")


def make(layout: Any) -> ss.tables.Table:
    return ss.tables.table(SOURCE, ss.device("cmu2003", travel_x_um=0.2), layout)


def blocks(table: ss.tables.Table, *names: str) -> int:
    """Return how many blocks the columns fill."""
    return sum(last - first + 1 for name in names for first, last in table.lbns(name))


# The answers are those of the source -------------------------------------------------------------

NUMBERS = st.integers(-5, COUNT + 5)
OF_ROW = st.one_of(
    st.builds(lambda n: n <= ROW, NUMBERS),
    st.builds(lambda n: n > ROW, NUMBERS),
    st.builds(lambda n: n == ROW, NUMBERS),
    st.builds(ROW.is_between, NUMBERS, NUMBERS, st.sampled_from(["both", "left", "none"])),
    st.builds(lambda some: ROW.is_in([n for n in some if n >= 0]), st.lists(NUMBERS, max_size=4)),
    st.builds(lambda n: n == ROW % 4000, st.integers(0, 4000)),
)
OF_DATA = st.one_of(
    st.builds(lambda n: pl.col("key") > n, NUMBERS),
    st.builds(lambda n: pl.col("share") < n / 8, st.integers(0, 1000)),
    st.builds(lambda n: pl.col("word") == f"w{n}", st.integers(0, 12)),
    st.just(pl.col("key") % 5 == ROW % 3),
)
PREDICATES = st.recursive(
    OF_ROW | OF_DATA,
    lambda inner: st.one_of(
        st.builds(lambda a, b: a & b, inner, inner),
        st.builds(lambda a, b: a | b, inner, inner),
        st.builds(lambda a: ~a, inner),
    ),
    max_leaves=5,
)


@settings(max_examples=150)
@given(
    PREDICATES,
    st.lists(st.sampled_from(["row", "key", "share", "word"]), min_size=1, unique=True),
    st.none() | st.integers(0, 300),
    st.booleans(),
    st.sampled_from(["in-memory", "streaming"]),
)
def test_any_filter_is_that_of_the_source(
    predicate: pl.Expr, names: list[str], head: int | None, before: bool, engine: Any
) -> None:
    def ask(frame: pl.LazyFrame) -> pl.DataFrame:
        if before and head is not None:
            frame = frame.head(head)
        frame = frame.filter(predicate).select(names)
        return (frame if before or head is None else frame.head(head)).collect(engine=engine)

    assert_frame_equal(ask(ANY_CAPSULE.lazy()), ask(NUMBERED))


ANY_CAPSULE = make("capsule")
QUERIES = (
    "select * from t where row between 777 and 790",
    "select key from t where row in (5, 6, 19999)",
    "select word, count(*), sum(share) from t group by word",
    "select sum(key) from t where word = 'w3' and share < 50",
    "select count(*) from t",
    "select a.key, b.share from t a join t b on a.key = b.key where a.row < 50",
    "select key from t order by share desc, key limit 7",
    "select key from t limit 7 offset 100",
    "select min(row), max(row) from t where word = 'w5' or row = 3",
    "select count(distinct word) from t where not (row >= 5000)",
)


@pytest.mark.parametrize("query", QUERIES)
def test_sql_answers_as_on_the_source(query: str, any_table: ss.tables.Table) -> None:
    answers: list[list[str]] = []
    for t in (any_table.lazy(), NUMBERED):
        with duckdb.connect() as connection:
            found = connection.register("t", t).execute(query).fetchall()
        answers.append(sorted(map(repr, found)))
    assert answers[0] == answers[1] != []
    own = pl.SQLContext(t=any_table.lazy()).execute("select sum(key) from t where row < 9")
    assert own.collect().item() == 36


def test_a_frame_sees_what_has_changed(capsule: ss.tables.Table) -> None:
    frame = capsule.lazy()
    capsule.append(SOURCE.head(3))
    capsule.update(0, pl.DataFrame({"key": [-7]}))
    assert frame.select("key").collect()["key"].to_list() == [-7, *range(1, COUNT), 0, 1, 2]
    assert frame.select(pl.len()).collect().item() == COUNT + 3


# Only the needed data are read -------------------------------------------------------------


def asked(query: str, t: pl.LazyFrame) -> object:
    """Ask DuckDB, or polars where it is not SQL."""
    if not query.startswith("select"):
        return eval(query, {"t": t, "pl": pl, "ROW": ROW}).collect()
    with duckdb.connect() as connection:
        return connection.register("t", t).execute(query).fetchall()


WHOLE = [
    ("t.select('key')", "key"),
    ("select key from t", "key"),
    ("select sum(share) from t", "share"),
    ("t.filter(pl.col('share') > 3).select('key')", "key share"),
    ("select key from t where share > 3", "key share"),
    ("select count(*) from t where share > 3", "share"),
    ("t", "key share word"),
    ("select * from t", "key share word"),
    ("t.select(pl.len())", ""),
    ("select count(*) from t where row >= 10", ""),
    ("t.select('row').tail(3)", ""),
    ("t.select('key').join(t.select('key'), on='key')", "key"),
]
"""Queries, and the columns that they need."""


@pytest.mark.parametrize(("query", "columns"), WHOLE)
def test_a_query_pays_for_its_columns(query: str, columns: str, capsule: ss.tables.Table) -> None:
    frame = capsule.lazy()
    capsule.spent()
    asked(query, frame)
    spent = capsule.spent()
    assert spent.blocks == blocks(capsule, *columns.split())
    assert spent.bytes_moved == 512 * spent.blocks
    assert (spent.simulated_s > 0) == bool(columns)
    assert capsule.spent().blocks == 0


def test_a_query_takes_as_long_as_its_scan() -> None:
    one, other = make("capsule"), make("capsule")
    frame = one.lazy()
    one.spent()
    frame.filter(ROW.is_between(500, 12_499)).select("share").collect()
    done = other.scan(["share"], first=500, count=12_000)
    spent = one.spent()
    for name in ("simulated_s", "blocks", "requests"):
        assert getattr(spent, name) == getattr(done, name)
    assert one.clock_s == other.clock_s


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_query_of_one_record_is_a_point_read(layout: str) -> None:
    one, other = make(layout), make(layout)
    frame = one.lazy()
    one.spent()
    frame.filter(ROW == 12_345).collect()
    done = other.record(12_345)
    assert (one.clock_s, one.spent().requests) == (other.clock_s, done.requests)


def test_times_and_traffic_of_calls_add_up(capsule: ss.tables.Table) -> None:
    more = SOURCE.head(7)
    capsule.spent()
    calls = [capsule.scan(["key"]), capsule.record(3), capsule.append(more)]
    calls += [capsule.update(5, more), capsule.read([1, 9])]
    capsule.idle(1.0)
    spent = capsule.spent()
    for name in ("simulated_s", "bytes_moved", "requests"):
        total = sum(getattr(call, name) for call in calls)
        assert getattr(spent, name) == pytest.approx(total, rel=1e-12)


RANGES = [
    ("t.filter(ROW >= 600, ROW < 1200).select('key')", 600),
    ("select key from t where row >= 600 and row < 1200", 600),
    ("select key from t where row between 600 and 1199", 600),
    ("t.head(600).select('key')", 600),
    ("select key from t where row < 60 or row >= 19980", 80),
    ("t.filter(ROW == 7).select('key')", 1),
    ("select key from t where row = 7", 1),
    ("select key from t where row in (3, 9000, 18000)", 3),
    ("t.filter(ROW % 8000 == 5).select('key')", 3),
    ("t.filter(ROW < 600, pl.col('key') % 2 == 0).select('key')", 600),
    ("t.filter(ROW >= 20_000).select('key')", 0),
]
"""Queries, and the records that they need."""


@pytest.mark.parametrize(("query", "records"), RANGES)
def test_a_query_pays_for_its_records(query: str, records: int, capsule: ss.tables.Table) -> None:
    frame = capsule.lazy()
    capsule.spent()
    asked(query, frame)
    # 480 bytes of a page hold 60 keys; each of up to three pieces may lie in one page more.
    assert records / 60 <= capsule.spent().blocks <= records / 60 + 3


def test_near_records_are_read_in_one_go(capsule: ss.tables.Table) -> None:
    frame = capsule.lazy()
    capsule.spent()
    frame.filter(ROW % 100 == 0).select("key").collect()
    spent = capsule.spent()
    assert spent.blocks <= blocks(capsule, "key")
    assert spent.requests < 10
    assert spent.simulated_s < 3 * make("capsule").scan(["key"]).simulated_s


# Names, and refusals ----------------------------------------------------------------------


def test_the_number_has_the_name_that_is_asked_for(
    capsule: ss.tables.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert capsule.lazy().collect_schema().names() == ["row", *SOURCE.columns]
    assert_frame_equal(capsule.lazy(row=None).collect(), SOURCE)
    frame = capsule.lazy(row="number").filter(pl.col("number") == 11)
    assert frame.collect().row(0)[:2] == (11, 11)
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ss.SledsimError, match="needs polars: pip install polars"):
        capsule.lazy()


@settings(max_examples=60)
@given(st.lists(OF_ROW | OF_DATA, min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_conjuncts_are_all_found(parts: list[pl.Expr], random: Any) -> None:
    joined = list(parts)
    while len(joined) > 1:
        at = random.randrange(len(joined) - 1)
        joined[at : at + 2] = [joined[at] & joined[at + 1]]
    found = conjuncts(joined[0])
    assert len(found) == len(parts)
    assert all(one.meta.eq(other) for one, other in zip(found, parts, strict=True))
