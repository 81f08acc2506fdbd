"""Refusals of the command line in general: options, devices, scenarios, studies."""

from __future__ import annotations

from typing import Any

import sledsim as ss

CODE: dict[str, Any] = {"ss": ss}
LINES: list[tuple[str, ...]] = [
    ("rnu", "'rnu'", "did you mean 'run'"),
    ("run --device g22", "'g22'", "g2"),
]
CALLS: list[tuple[Any, ...]] = []
