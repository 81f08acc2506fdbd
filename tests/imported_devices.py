"""Device files from the texts of DiskSim parameter files, and their values."""

from __future__ import annotations

import tempfile
import tomllib
from pathlib import Path
from typing import Any

import sledsim as ss


def imported(text: str, folder: Path | None = None, **choice: Any) -> ss.disksim.Imported:
    """Import a text, as a file in a folder of its own or in one with what it names."""
    with tempfile.TemporaryDirectory() as other:
        path = (folder or Path(other)) / "drives.parv"
        path.write_text(text, encoding="utf-8")
        return ss.disksim.import_device(path, **choice)


def values(text: str, **choice: Any) -> dict[str, Any]:
    """Import a text and return the keys and values of the device file."""
    return tomllib.loads(imported(text, **choice).toml)


def resolved(toml: str) -> ss.Device:
    """Return the device that a text describes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "device.toml"
        path.write_text(toml, encoding="utf-8")
        return ss.device(path)


def ignored(report: dict[str, Any]) -> dict[str, str]:
    """Return the effect of ignoring each parameter."""
    return {item["parameter"]: item["changes"] for item in report["ignored"]}
