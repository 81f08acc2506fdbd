"""Tables in text: their width, and the digits of intervals."""

from __future__ import annotations

import pytest
from sledsim._number_text import interval
from sledsim.show.text import stacked_table, table


@pytest.mark.parametrize(
    ("low", "high", "written"),
    [
        (58_876.2502, 105_813.4214, ("59,000", "106,000")),
        (4_445.9194, 8_935.6651, ("4,400", "8,900")),
        (1.2971, 1.3813, ("1.297", "1.381")),
        (12.2, 15.5, ("12.2", "15.5")),
        (80.0, 100.0, ("80", "100")),
        (0.000123, 0.000125, ("0.000123", "0.000125")),
        (0.5, 0.5, ("0.500000", "0.500000")),
    ],
)
def test_an_interval_is_rounded_to_two_digits_of_its_half_width(
    low: float, high: float, written: tuple[str, str]
) -> None:
    assert interval(low, high) == written


def test_the_last_column_is_wrapped() -> None:
    rows = [["name", "title"], ["a", "one two three four"], ["long name", "five"]]
    assert table(rows, "<<", 20).splitlines() == [
        "name       title",
        "a          one two",
        "           three",
        "           four",
        "long name  five",
    ]
    assert table(rows, "<<").splitlines()[1] == "a          one two three four"


def test_columns_beyond_the_width_are_in_further_tables() -> None:
    rows = [["", "one", "two", "three"], ["a", "1", "2", "3"], ["b", "4", "5", "6"]]
    assert stacked_table(rows, "<>>>", width=11) == (
        "   one  two\na    1    2\nb    4    5\n\n   three\na      3\nb      6"
    )
    assert stacked_table(rows, "<>>>") == table(rows, "<>>>")
