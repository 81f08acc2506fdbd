"""How published and simulated values are written at the terminal."""

from typing import Any

import pytest
from sledsim.papers import values


def value(kind: str, published: Any) -> dict[str, Any]:
    return {"kind": kind, "published": published, "expected": None}


@pytest.mark.parametrize(
    ("published", "simulated", "texts"),
    [
        # As many decimals as are printed, and one more for ours.
        (value("within", "0.90"), 0.90312, ("0.90", "0.903")),
        (value("between", ("-0.5", "2")), 0.25, ("\u22120.5 to 2", "0.25")),
        (value("within", "6400"), 6400.0, ("6,400", "6,400")),
        (value("within", "7e1"), 68.21, ("70", "68.2")),
        # Numbers that would round to zero keep two digits.
        (value("within", "20"), 0.00123, ("20", "0.0012")),
        (value("within", "2.5e-7"), 2.4e-7, ("0.00000025", "2.4 \u00d7 10^\u22127")),
        # Neighbours that differ look different.
        (
            value("order", ("b", "a")),
            {"a": 1.00002, "b": 1.00001},
            ("b < a", "b (1.00001) < a (1.00002)"),
        ),
        (value("order", ("a", "b")), {"a": 2, "b": 2}, ("a < b", "a (2) = b (2)")),
        (
            value("shape", "rises"),
            [0.0, 3.0, 1.5],
            ("rises", "3 numbers from 0 to 1.5, between 0 and 3"),
        ),
    ],
)
def test_values_are_written_as_their_kinds_say(
    published: dict[str, Any], simulated: Any, texts: tuple[str, str]
) -> None:
    written = (
        values.stated(published),
        values.simulated(published, simulated),
    )
    spaces = str.maketrans("\u202f", " ")
    assert tuple(text.translate(spaces) for text in written) == texts
