"""Sleds by names that type checkers cannot know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sledsim as ss

if TYPE_CHECKING:
    from os import PathLike


def sled(name: str | PathLike[str], **keys: Any) -> ss.Sled:
    """Make a device that must be a sled."""
    made = ss.device(name, **keys)
    assert isinstance(made, ss.Sled)
    return made
