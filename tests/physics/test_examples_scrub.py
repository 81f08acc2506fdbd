"""The scrub example: its table, and the free blocks of a request by closed forms."""

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from tests.example_runs import EXAMPLES, has_no_date, run_once

SCRIPT = EXAMPLES / "scrub.py"


@pytest.fixture(scope="module")
def example() -> dict[str, Any]:
    return runpy.run_path(str(SCRIPT))


def test_the_table_tells_of_all(tmp_path: Path) -> None:
    file = tmp_path / "scrub.svg"
    printed = run_once(SCRIPT, "--quick", "--output", file)
    has_no_date(file)
    never, late, at_once = (line.split() for line in printed[1:4])
    assert never[0] == "never"
    assert float(never[1].rstrip("%")) < 10
    assert never[3:5] == ["0", "-"]
    for line in (late, at_once):
        assert "100.0%" in line
    after = [float(re.findall(r"([\d,]+) s", line)[0].replace(",", "")) for line in printed[2:4]]
    assert after[0] > after[1]
    means = [float(line.split()[-3]) for line in printed[1:4]]
    assert means == sorted(means)


@pytest.mark.parametrize(
    ("size", "alignment", "rows"),
    # A request of s blocks anywhere lies in (s + 9) / 10 rows of ten in the mean; one of eight
    # that starts at a multiple of eight in one row twice of five times, else in two.
    [(1, 1, 1.0), (16, 1, 2.5), (40, 1, 4.9), (8, 8, 1.6), (10, 10, 1.0), (30, 10, 3.0)],
)
def test_what_a_request_leaves_is_what_its_rows_have_left(
    example: dict[str, Any], size: int, alignment: int, rows: float
) -> None:
    # Where a track is reversed, one row in 27, two rows are one place: up to p blocks less.
    left = 10 * rows - size
    found = example["free_blocks"](size, alignment, 4000)
    crossings = rows - size / 10 if alignment == 1 else rows - 1
    assert left - 10 * crossings / 27 - 0.35 < found < left + 0.35


def test_a_scan_takes_as_many_requests_at_any_rate(example: dict[str, Any]) -> None:
    took = [example["hours"](rate, 0, True) * rate for rate in (20, 200)]
    assert took[0] == pytest.approx(took[1], rel=0.02)
    assert example["hours"](20, 5, True) * 20 < took[0]
