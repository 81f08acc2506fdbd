"""Says where the results of two builds differ: nowhere, if nothing but speed has changed."""

from __future__ import annotations

import filecmp
import json
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

SHOWN = 5
"""So many differences are told of one pair of results."""
MISSING = object()


def differences(base: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Compare two results of benches/worker.py bit for bit: documents and files."""
    found = list(in_documents(base["document"], new["document"], ""))
    shown = found[:SHOWN]
    if len(found) > SHOWN:
        shown.append(f"and {len(found) - SHOWN} more")
    for old, now in zip_longest(base["files"], new["files"]):
        if old is None or now is None:
            shown.append(f"{old or now}: written by one of them alone")
        elif not filecmp.cmp(old, now, shallow=False):
            shown.append(in_rows(Path(old), Path(now)))
    return shown


def in_documents(base: Any, new: Any, at: str) -> Iterator[str]:
    """Compare two values of JSON; floats are written so that other bits are another text."""
    if isinstance(base, dict) and isinstance(new, dict):
        for key in base | new:
            yield from in_documents(base.get(key, MISSING), new.get(key, MISSING), f"{at}/{key}")
    elif isinstance(base, list) and isinstance(new, list):
        for index, pair in enumerate(zip_longest(base, new, fillvalue=MISSING)):
            yield from in_documents(*pair, f"{at}/{index}")
    elif (old := text(base)) != (now := text(new)):
        yield f"{at}: {old} before, {now} now"


def text(value: Any) -> str:
    """Write a value briefly."""
    return "absent" if value is MISSING else json.dumps(value)[:60]


def in_rows(base: Path, new: Path) -> str:
    """Tell the first row and column in which two Parquet files differ."""
    try:
        import pyarrow.parquet as pq  # only here is it needed
    except ImportError:
        return f"{new.name}: other bytes (pyarrow would tell which rows)"
    old, now = pq.read_table(base), pq.read_table(new)
    if not old.schema.equals(now.schema, check_metadata=True):
        return f"{new.name}: other columns or metadata"
    if old.num_rows != now.num_rows:
        return f"{new.name}: {old.num_rows} rows before, {now.num_rows} now"
    firsts = []
    for name in old.column_names:
        pairs = zip(old[name].to_pylist(), now[name].to_pylist(), strict=True)
        texts = ((row, text(was), text(value)) for row, (was, value) in enumerate(pairs))
        first = next((each for each in texts if each[1] != each[2]), None)
        if first is not None:
            firsts.append((name, *first))
    if not firsts:
        return f"{new.name}: other bytes, the same rows"
    name, row, was, value = min(firsts, key=lambda each: each[1])
    return f"{new.name}: {name} of row {row}: {was} before, {value} now"
