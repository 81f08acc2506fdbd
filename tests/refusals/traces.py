"""Refusals of traces, fio jobs, parameter files and loads."""

from __future__ import annotations

from typing import Any

import sledsim as ss

CODE: dict[str, Any] = {"ss": ss}
LINES: list[tuple[str, ...]] = []
CALLS: list[tuple[Any, ...]] = []
