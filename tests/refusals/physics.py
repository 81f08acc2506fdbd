"""Refusals of devices, schedulers, caches, failures and statistics."""

from __future__ import annotations

from typing import Any

import sledsim as ss

CODE: dict[str, Any] = {"ss": ss}
LINES: list[tuple[str, ...]] = []
CALLS: list[tuple[Any, ...]] = []
