"""Documents match their pages: the schema of the summary, the table of columns, the units."""

from __future__ import annotations

import copy
import json
import math
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import sledsim as ss

DOCS = Path(__file__).parents[2] / "docs"
SCHEMA = json.loads((DOCS / "summary.schema.json").read_text())
TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "null": (type(None),),
}
ABOUT = {"$schema", "$defs", "title", "description"}


class InvalidError(Exception):
    """A document does not fit its schema."""


def validate(value: Any, schema: dict[str, Any], at: str = "") -> None:
    """Check a document against our schema, a subset of JSON Schema; other keywords raise."""
    for keyword, rule in schema.items():
        match keyword:
            case "type":
                names = [rule] if isinstance(rule, str) else rule
                fits = any(isinstance(value, TYPES[name]) for name in names)
                if not fits or (isinstance(value, bool) and "boolean" not in names):
                    raise InvalidError(f"{at} is {value!r}")
                if isinstance(value, float) and not math.isfinite(value):
                    raise InvalidError(f"{at} is not finite")
            case "properties":
                for name in rule.keys() & value.keys() if isinstance(value, dict) else ():
                    validate(value[name], rule[name], f"{at}.{name}")
            case "required":
                for name in set(rule) - value.keys() if isinstance(value, dict) else ():
                    raise InvalidError(f"{at}.{name} is missing")
            case "patternProperties":
                for pattern, part in rule.items():
                    for name in value:
                        if re.search(pattern, name):
                            validate(value[name], part, f"{at}.{name}")
            case "additionalProperties":
                assert rule is False
                known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
                for name in value.keys() - known if isinstance(value, dict) else ():
                    if any(re.search(pattern, name) for pattern in patterns):
                        continue
                    raise InvalidError(f"{at}.{name} is unknown")
            case "items":
                for index, item in enumerate(value or []):
                    validate(item, rule, f"{at}[{index}]")
            case "minimum" | "maximum":
                low = keyword == "minimum"
                if value is not None and (value < rule if low else value > rule):
                    raise InvalidError(f"{at} = {value} is beyond {rule}")
            case "$ref":
                validate(value, SCHEMA["$defs"][rule.removeprefix("#/$defs/")], at)
            case _:
                assert keyword in ABOUT, keyword


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
    validate(SUMMARIES[name], SCHEMA)
    assert list(SUMMARIES[name]) == list(SCHEMA["properties"]), "in the order of the schema"
    assert json.loads(json.dumps(SUMMARIES[name], allow_nan=False)) == SUMMARIES[name]


def test_the_examples_of_the_schema_cover_its_cases() -> None:
    assert SUMMARIES["saturated"]["saturated"]["queue"] > 0
    assert SUMMARIES["closed"]["energy_j"]["startup"] > 0
    assert SUMMARIES["none"]["requests"] == 0
    assert SUMMARIES["none"]["response_time_ms"]["mean"] is None
    assert SUMMARIES["one request"]["response_time_ms"]["sd"] == 0
    assert SUMMARIES["one request"]["confidence"]["response_time_ms"]["low"] is None
    assert SUMMARIES["precise"]["precision"]["met"] is True
    assert SUMMARIES["missed"]["precision"]["met"] is False
    assert len(SUMMARIES["seeds"]["seeds"]) == 3
    assert SUMMARIES["seeds of nothing"]["confidence"]["response_time_ms"]["mean"] is None


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("requests",), 1.5),
        (("requests",), -1),
        (("read_fraction",), 1.1),
        (("interrupted",), 0),
        (("seek_ms", "mean"), "0.5"),
        (("seek_ms", "mean"), math.nan),
        (("seek_ms", "p95"), 0.5),
        (("saturated",), {"at_s": 1.0}),
        (("energy_j", "total"), None),
        (("mean_seek",), 1.0),
        (("devices",), [{"name": "g2"}]),
        (("seeds",), [{"seed": 1}]),
        (("confidence", "response_time_ms", "batches"), 2.5),
        (("longest_wait", "seed"), "1"),
        (("precision",), {"target": 0.01}),
    ],
)
def test_the_schema_is_strict(path: tuple[str, ...], value: object) -> None:
    wrong = copy.deepcopy(SUMMARIES["open"])
    inner = wrong
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = value
    with pytest.raises(InvalidError):
        validate(wrong, SCHEMA)


def test_every_key_is_required() -> None:
    for name in SUMMARIES["open"]:
        wrong = {key: value for key, value in SUMMARIES["open"].items() if key != name}
        with pytest.raises(InvalidError, match=f"{name} is missing"):
            validate(wrong, SCHEMA)


def test_the_page_lists_every_column_with_its_type_and_unit() -> None:
    line = r"^\| `(\w+)` \| ([\w ]+) \| (\w*) ?\| (.*) \|$"
    listed = re.findall(line, (DOCS / "reference" / "rows.md").read_text(), re.MULTILINE)
    run = ss.simulate(ss.workload("random", requests=3), ss.device("g2"))
    names = {
        pa.uint64(): "uint64",
        pa.int64(): "int64",
        pa.uint32(): "uint32",
        pa.int8(): "int8",
        pa.dictionary(pa.int32(), pa.string()): "string",
    }
    columns = [
        (
            field.name,
            names[field.type] + (" or null" if field.nullable else ""),
            field.metadata.get(b"unit", b"").decode(),
            field.metadata[b"description"].decode(),
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
