"""Errors with the place of the mistake."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import os

    from sledsim._core import SledsimError

Error = TypeVar("Error", bound="SledsimError")


def placed(
    error: Error,
    *,
    file: str | os.PathLike[str] | None = None,
    line: int | None = None,
    key: str | None = None,
) -> Error:
    """Set the attributes of an error, whose message names them, and return it."""
    error.file = None if file is None else str(file)
    error.line = line
    error.key = key
    return error
