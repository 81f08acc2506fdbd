"""Refusals of the Python interface in general."""

from __future__ import annotations

from typing import Any

import sledsim as ss

CODE: dict[str, Any] = {"ss": ss, "LOAD": ss.workload("random", requests=10)}
LINES: list[tuple[str, ...]] = []
CALLS: list[tuple[Any, ...]] = [
    ("ss.device('value.toml')", ss.SpecError, "value.toml:3 spring_factor", "below 1"),
    ("ss.device('g22')", ss.SpecError, "", "did you mean"),
    ("ss.trace_info('cut.vscsi', format='vscsi')", ss.TraceError, "cut.vscsi"),
    ("ss.simulate(LOAD, 'g2', replications=1.5)", ss.SpecError, " replications"),
]
