"""Documents match their pages: the schema of the summary, the table of columns, the units."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pyarrow as pa
import pytest
import sledsim as ss

DOCS = Path(__file__).parents[2] / "docs"
SCHEMA = json.loads((DOCS / "summary.schema.json").read_text())


def summary(
    *, precision: float | None = None, replications: int = 1, **keys: Any
) -> dict[str, Any]:
    """Give the summary of a run on g2."""
    load = ss.workload("random", **keys)
    run = ss.simulate(load, "g2", rows=False, precision=precision, replications=replications)
    found: dict[str, Any] = run.to_dict()["summary"]
    return found


SUMMARIES = {
    "open": summary(rate=500, requests=400),
    "closed": summary(think_ms=150, requests=50),
    "saturated": summary(rate=9000, requests=5000, max_queue=100),
    "overloaded": summary(rate=9000, requests=2000),
    "overloaded seeds": summary(rate=9000, requests=600, replications=2),
    "one request": summary(requests=1, size="fixed"),
    "none": summary(rate=1e9, requests=100, max_queue=1),
    "precise": summary(rate=500, warm_up_requests=100, precision=0.05),
    "missed": summary(requests=50, warm_up_s=0.01, precision=0.001),
    "seeds": summary(rate=500, requests=600, replications=3, warm_up_requests=100, precision=0.5),
    "seeds of nothing": summary(rate=1e9, requests=100, max_queue=1, replications=2, precision=0.5),
}


@pytest.mark.parametrize("name", SUMMARIES)
def test_summaries_fit_their_schema(name: str) -> None:
    jsonschema.validate(SUMMARIES[name], SCHEMA)
    assert list(SUMMARIES[name]) == list(SCHEMA["properties"]), "in the order of the schema"
    assert json.loads(json.dumps(SUMMARIES[name], allow_nan=False)) == SUMMARIES[name]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("requests", 1.5),
        ("requests", -1),
        ("read_fraction", 1.1),
        ("interrupted", 0),
        ("seek_ms mean", "0.5"),
        ("seek_ms p95", 0.5),
        ("saturated", {"at_s": 1.0}),
        ("energy_j total", None),
        ("mean_seek", 1.0),
        ("devices", [{"name": "g2"}]),
        ("seeds", [{"seed": 1}]),
        ("confidence response_time_ms batches", 2.5),
        ("longest_wait seed", "1"),
        ("precision", {"target": 0.01}),
    ],
)
def test_the_schema_is_strict(path: str, value: object) -> None:
    wrong = copy.deepcopy(SUMMARIES["open"])
    *within, last = path.split()
    inner = wrong
    for name in within:
        inner = inner[name]
    inner[last] = value
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, SCHEMA)


def test_every_key_is_required() -> None:
    assert sorted(SCHEMA["required"]) == sorted(SUMMARIES["open"])


def test_the_page_lists_every_column_with_its_type_and_unit() -> None:
    line = r"^\| `(\w+)` \| ([\w ]+) \| (\w*) ?\| (.*) \|$"
    listed = re.findall(line, (DOCS / "reference" / "rows.md").read_text(), re.MULTILINE)
    run = ss.simulate(ss.workload("random", requests=3), ss.device("g2"))
    names = {
        pa.dictionary(pa.int32(), pa.string()): "string",
        **{kind: str(kind) for kind in (pa.uint64(), pa.int64(), pa.uint32(), pa.int8())},
    }
    columns = [
        (
            field.name,
            names[field.type] + (" or null" if field.nullable else ""),
            *(field.metadata.get(key, b"").decode() for key in (b"unit", b"description")),
        )
        for field in pa.schema(run.rows)
    ]
    assert columns == listed


def test_the_documents_of_the_command_line_are_those_of_python() -> None:
    run = ss.simulate(ss.workload("random", requests=3), ss.device("g2"))
    keys = ["sledsim", "device", "scheduler", "layout", "workload", "summary", "caution"]
    assert list(run.to_dict()) == keys
    assert run.to_dict()["sledsim"] == ss.__version__
    assert run.workload["requests"] == 3
    assert run.workload["queue_depth"] == 1
