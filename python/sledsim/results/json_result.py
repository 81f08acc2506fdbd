"""Results that are one JSON object."""

from __future__ import annotations

import json
from typing import Any

from sledsim._digest import hash_of


class JsonResult:
    """A result with a JSON object; two of a kind are equal if these are."""

    _document: dict[str, Any]

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._document == other._document

    def __hash__(self) -> int:
        return hash_of(self._text())

    def _text(self) -> str:
        return json.dumps(self._document, sort_keys=True)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but rows: the JSON that the command prints with ``--json``."""
        return self._document
