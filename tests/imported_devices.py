"""Device files from the texts of DiskSim parameter files, and their values."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import sledsim as ss

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def imported(tmp_path: Path) -> Callable[..., ss.disksim.Imported]:
    """Import a text."""

    def take(text: str, **choice: Any) -> ss.disksim.Imported:
        path = tmp_path / "drives.parv"
        path.write_text(text)
        return ss.disksim.import_device(path, **choice)

    return take


@pytest.fixture
def values(imported: Callable[..., ss.disksim.Imported]) -> Callable[..., dict[str, Any]]:
    """Import a text and return the keys and values of the device file."""
    return lambda text, **choice: tomllib.loads(imported(text, **choice).toml)


def resolved(path: Path, toml: str) -> ss.Device:
    """Return the device that a text describes."""
    path.write_text(toml)
    return ss.device(path)


def ignored(report: dict[str, Any]) -> dict[str, str]:
    """Return the effect of ignoring each parameter."""
    return {item["parameter"]: item["changes"] for item in report["ignored"]}
