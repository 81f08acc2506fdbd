"""What is shown of items of papers and of their results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim.papers import values
from sledsim.show.sheet import Sheet, Table

if TYPE_CHECKING:
    from sledsim.papers.engine import Result
    from sledsim.papers.model import Item


def item(item: Item) -> Sheet:
    """Describe an item of a paper: the published values."""
    rows = [
        [each.what, values.stated({"published": each.published, "kind": each.kind}), each.unit]
        for each in item.values
    ]
    head = ["value", "published", "unit"]
    return Sheet(_title(item), tables=[Table(head, rows, item.title, frozenset({0, 2}))])


def result(result: Result) -> Sheet:
    """Describe the result of an item: published and simulated values, verdicts and cautions."""
    rows = [
        [
            value["what"],
            values.stated(value),
            values.simulated(value, value["simulated"]),
            value["unit"],
            values.apart(value["distance"]),
            value["verdict"].replace("_", " "),
        ]
        for value in result.document["values"]
    ]
    head = ["value", "published", "simulated", "unit", "distance", "verdict"]
    table = Table(head, rows, result.item.title, frozenset({0, 3, 5}))
    return Sheet(_title(result.item), tables=[table], cautions={"": result.cautions})


def _title(item: Item) -> str:
    return f"{item.id}, {item.place}: {item.title}"
