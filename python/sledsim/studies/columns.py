"""Columns of a summary in tables of studies, from the types of the summary."""

from __future__ import annotations

from types import UnionType
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin, get_type_hints, is_typeddict

from sledsim.results.summaries import Summary

if TYPE_CHECKING:
    from sledsim.studies.design import Kind

_KINDS: dict[Any, Kind] = {bool: "truth", int: "number", float: "number", str: "text"}


def _columns(document: Any, prefix: str = "") -> dict[str, Kind]:
    """Return each scalar inside a type of document by its dotted name; lists are left out."""
    columns: dict[str, Kind] = {}
    for key, hint in get_type_hints(document).items():
        of_union = get_origin(hint) in (Union, UnionType)
        for each in get_args(hint) if of_union else [hint]:
            if is_typeddict(each):
                columns.update(_columns(each, f"{prefix}{key}."))
            elif each in _KINDS:
                columns[prefix + key] = _KINDS[each]
    return columns


SUMMARY = _columns(Summary)
"""Each scalar of a summary by its dotted name, and its kind: number, text or truth."""
