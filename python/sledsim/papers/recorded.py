"""The recorded results: ``verdicts.json`` has those of a full and of a quick run of all items.

A run compares its verdicts and lines with them, so that none changes without a word. The tables of
the docs are made from them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledsim.papers.model import external_file, find

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sledsim.papers.claims import Checked
    from sledsim.papers.engine import Result

FILE = Path(__file__).with_name("verdicts.json")


def items(*, quick: bool = False) -> dict[str, dict[str, Any]]:
    """Return what is recorded of each item, by its id.

    ``verdicts`` has those of its values, by key; ``line`` is as in its document, as is
    ``nearness``, which a full run has alone.
    """
    recorded: dict[str, dict[str, Any]] = _load().get(_run(quick=quick), {})
    return recorded


def changes(results: Sequence[Result], *, quick: bool) -> list[str]:
    """Return a line for each verdict, and for each line of an item, that is not as recorded.

    Items that use files which are not here are left out, as are values that are not recorded.
    """
    recorded = items(quick=quick)
    found = []
    for result in results:
        before = recorded.get(result.item.id)
        if before is None or None in map(external_file, result.item.external):
            continue
        now = _of(result)
        told = [("line", before["line"], now["line"])]
        told += [
            (key, before["verdicts"].get(key, own), own) for key, own in now["verdicts"].items()
        ]
        found += [
            f"{result.item.id} {key}: recorded as {was or 'none'}, now {own or 'none'}"
            for key, was, own in told
            if was != own
        ]
    return found


def write(results: Sequence[Result], *, quick: bool) -> None:
    """Record the results of some items, and forget items that are no more."""
    now = items(quick=quick) | {result.item.id: _of(result) for result in results}
    known = [item.id for item in find([])]
    _write(_run(quick=quick), {name: now[name] for name in known if name in now})


def claims() -> dict[str, list[str]]:
    """Return the claims as they were recorded: of each its other columns, and its command."""
    recorded: dict[str, list[str]] = _load().get("claims", {})
    return recorded


def write_claims(found: Sequence[Checked]) -> None:
    """Record the claims."""
    _write("claims", {one.claim.claim: [*one.cells[1:], one.claim.command] for one in found})


def _write(name: str, part: Mapping[str, Any]) -> None:
    """Record a part: a line for each item or claim, so that a difference is short."""

    def line(value: object) -> str:
        return json.dumps(value, ensure_ascii=False)

    parts = [
        f"{line(own)}: {{\n"
        + ",\n".join(f"{line(key)}: {line(value)}" for key, value in entries.items())
        + "\n}"
        for own, entries in (_load() | {name: part}).items()
    ]
    FILE.write_text("{\n" + ",\n".join(parts) + "\n}\n", "utf-8")


def _load() -> dict[str, Any]:
    recorded: dict[str, Any] = json.loads(FILE.read_text("utf-8")) if FILE.exists() else {}
    return recorded


def _run(*, quick: bool) -> str:
    return "quick" if quick else "full"


def _of(result: Result) -> dict[str, Any]:
    document = result.document
    found = {
        "line": document["line"],
        "verdicts": {value["key"]: value["verdict"] for value in document["values"]},
    }
    return found if document["quick"] else found | {"nearness": document["nearness"]}
