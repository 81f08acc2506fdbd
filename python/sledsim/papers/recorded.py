"""The recorded verdicts: ``verdicts.json`` has those of a full and of a quick run of all items.

A run compares its verdicts with them, so that no verdict changes without a word. The tables of the
docs are made from them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledsim.papers.model import external_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sledsim.papers.engine import Result
    from sledsim.papers.judge import Verdict

FILE = Path(__file__).with_name("verdicts.json")


def verdicts(*, quick: bool = False) -> dict[str, dict[str, Verdict]]:
    """Return the recorded verdicts: for each item, by its id, those of its values, by key."""
    recorded: dict[str, dict[str, Verdict]] = _load().get(_run(quick=quick), {})
    return recorded


def changes(results: Sequence[Result], *, quick: bool) -> list[str]:
    """Return a line for each verdict that is not as recorded.

    Items that use files which are not here are left out, as are values that are not recorded.
    """
    recorded = verdicts(quick=quick)
    return [
        f"{result.item.id} {key}: recorded as {before}, now {now}"
        for result in results
        if None not in map(external_file, result.item.external)
        for key, now in _of(result).items()
        if (before := recorded.get(result.item.id, {}).get(key, now)) != now
    ]


def write(results: Sequence[Result], *, quick: bool) -> None:
    """Record the verdicts of all items."""
    recorded = _load()
    recorded[_run(quick=quick)] = {result.item.id: _of(result) for result in results}
    FILE.write_text(json.dumps(recorded, indent=1) + "\n", "utf-8")


def _load() -> dict[str, Any]:
    recorded: dict[str, Any] = json.loads(FILE.read_text("utf-8")) if FILE.exists() else {}
    return recorded


def _run(*, quick: bool) -> str:
    return "quick" if quick else "full"


def _of(result: Result) -> dict[str, Verdict]:
    return {value["key"]: value["verdict"] for value in result.document["values"]}
