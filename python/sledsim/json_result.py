"""Results that are one JSON object."""

from __future__ import annotations

import warnings
from typing import Any


class JsonResult:
    """A result with a JSON object."""

    _document: dict[str, Any]

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document

    def to_dict(self) -> dict[str, Any]:
        """Return everything but rows: the JSON that the command prints with ``--json``."""
        return self._document

    @property
    def document(self) -> dict[str, Any]:
        """What :meth:`to_dict` returns; deprecated since 0.2."""
        warnings.warn("use to_dict() instead of document", DeprecationWarning, stacklevel=2)
        return self.to_dict()
