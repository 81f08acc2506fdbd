"""Keys of workloads, traces, devices, schedulers, layouts and policies, and names of results.

The core makes both lists: types and ranges of keys are those that its readers ask for.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from sledsim import _core

if TYPE_CHECKING:
    from collections.abc import Iterator


@cache
def things(named: str | None = None) -> list[dict[str, Any]]:
    """Return what has keys, in the order of the registries: all, or what has the name.

    Each has ``family`` (``"workloads"``, ``"traces"``, ``"devices"``, ``"schedulers"``,
    ``"layouts"`` or ``"caches"``), ``name``, ``about``, ``page`` of the reference, and ``keys``. A
    key has ``key``, ``types`` (``"number"``, ``"integer"``, ..., ``{"one_of": names}``), ``takes``
    (in words, with the range), ``required``, ``unit``, ``meaning``, ``default`` (a value or words),
    ``usual`` (of a key that must be given), ``source`` and ``group`` (keys that are told together).
    """
    found: list[dict[str, Any]] = json.loads(_core.known_keys(named))
    return found


def results() -> dict[str, str]:
    """Return the names of results as studies and pictures take them, each with its meaning."""
    schema = json.loads(_core.summary_schema())
    return dict(_results(schema, schema["$defs"], ""))


def _results(part: dict[str, Any], defs: dict[str, Any], prefix: str) -> Iterator[tuple[str, str]]:
    for name, rule in part.get("properties", {}).items():
        inner = defs[rule["$ref"].removeprefix("#/$defs/")] if "$ref" in rule else rule
        about = rule.get("description", "")
        if "properties" not in inner:
            yield f"{prefix}{name}", about
        for key, meaning in _results(inner, defs, f"{prefix}{name}."):
            yield key, f"{about} {meaning}" if inner is not rule else meaning
