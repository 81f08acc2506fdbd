"""The tables example: equal answers of both engines, and their cost."""

from __future__ import annotations

import runpy
from math import ceil
from typing import TYPE_CHECKING, Any

import pytest

from tests.example_runs import EXAMPLES, has_no_date, run_once

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = EXAMPLES / "tables.py"
RECORDS = 60_000


@pytest.fixture(scope="module")
def example() -> dict[str, Any]:
    return runpy.run_path(str(SCRIPT))


def test_the_table_has_every_query_of_every_layout(tmp_path: Path) -> None:
    file = tmp_path / "tables.svg"
    printed = run_once(SCRIPT, "--records", 3000, "--output", file)
    has_no_date(file)
    assert len(printed) == 1 + 3 * 6 * 2 + 1


def test_queries_pay_for_what_they_need(example: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "records.parquet"
    example["write_parquet"](path, RECORDS)
    costs = {
        (one.layout, one.query, one.engine): one
        for layout in example["LAYOUTS"]
        for one in example["costs"](path, layout)
    }
    rows = 16 * 512 * ceil(RECORDS / 115)  # CMU-CS-03-125, 5.2.5: 115 records on 8 KB
    capsules = 512 * RECORDS // 60  # and nine pages for 60 records, one of them the first column
    for engine in ("polars", "duckdb"):
        for query, pages in (("count", 0), ("8 bytes", 1), ("8 + 32 bytes", 5), ("all columns", 9)):
            moved = {
                layout: costs[layout, query, engine].bytes_moved for layout in example["LAYOUTS"]
            }
            assert moved["normal"] == (rows if pages else 0)
            assert moved["capsule"] == pages * capsules
            assert moved["vertical"] <= pages * capsules
        ranges = [costs[layout, "100 records", engine] for layout in example["LAYOUTS"]]
        assert {one.rows for one in ranges} == {100}
        assert all(one.bytes_moved <= 512 * 32 for one in ranges)
        single = {layout: costs[layout, "one record", engine] for layout in example["LAYOUTS"]}
        assert single["vertical"].simulated_s > 2 * single["capsule"].simulated_s


def test_too_few_records_are_refused(
    example: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as exit_:
        example["main"](["--records", "99"])
    assert exit_.value.code == 2
    assert "--records 99: must be at least 100" in capsys.readouterr().err
