"""Simulate storage whose media moves.

>>> import sledsim as ss
>>> g2 = ss.device("g2")
>>> load = ss.workload("random", rate=500, requests=1000, seed=1)
>>> run = ss.simulate(load, device=g2)
>>> run.summary["requests"]
1000
"""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False  # that of typing, whose import takes as long as Python's own start
if TYPE_CHECKING:
    from typing import Any

    from sledsim import plots as plots
    from sledsim import reports as reports
    from sledsim._core import OutputError, RemoteError, SledsimError, SpecError, TraceError
    from sledsim.arrays import rebuild_risk
    from sledsim.caches import Cache, cache, hit_ratios, policies
    from sledsim.comparison import Comparison, compare
    from sledsim.crashes import CrashReport, crash_test
    from sledsim.disksim import Imported, import_device
    from sledsim.emulator import (
        Export,
        RemoteBatch,
        RemoteDevice,
        RemoteOutcome,
        Server,
        connect,
        serve,
    )
    from sledsim.faults import TipFailures, tip_failures
    from sledsim.hardware import (
        Access,
        Batch,
        Composite,
        Device,
        Disk,
        DiskSeek,
        Instant,
        Location,
        Parallelism,
        Pass,
        Sector,
        Seek,
        Sled,
        Step,
        Zone,
        device,
        devices,
    )
    from sledsim.layout_maps import Layout, LayoutPart, layout, layouts
    from sledsim.load_values import Load
    from sledsim.loads import (
        convert_trace,
        generate_trace,
        load_info,
        read_trace,
        trace_info,
        workload,
        workload_presets,
        workload_spec,
        workloads,
    )
    from sledsim.perfetto import rows_to_perfetto
    from sledsim.rows import Rows
    from sledsim.scenario_files import Scenario, scenario, scenarios
    from sledsim.simulation import Run, schedulers, simulate
    from sledsim.studies import Study, sweep
    from sledsim.summary_types import Summary
    from sledsim.tables import Result, Spent, Table, table
    from sledsim.trace_files import sample_traces
    from sledsim.trace_information import TraceInfo
    from sledsim.validation import Validation, validate
    from sledsim.volumes import VolumesRun, simulate_volumes

    __version__: str

__all__ = [
    "Access",
    "Batch",
    "Cache",
    "Comparison",
    "Composite",
    "CrashReport",
    "Device",
    "Disk",
    "DiskSeek",
    "Export",
    "Imported",
    "Instant",
    "Layout",
    "LayoutPart",
    "Load",
    "Location",
    "OutputError",
    "Parallelism",
    "Pass",
    "RemoteBatch",
    "RemoteDevice",
    "RemoteError",
    "RemoteOutcome",
    "Result",
    "Rows",
    "Run",
    "Scenario",
    "Sector",
    "Seek",
    "Server",
    "Sled",
    "SledsimError",
    "SpecError",
    "Spent",
    "Step",
    "Study",
    "Summary",
    "Table",
    "TipFailures",
    "TraceError",
    "TraceInfo",
    "Validation",
    "VolumesRun",
    "Zone",
    "__version__",
    "cache",
    "compare",
    "connect",
    "convert_trace",
    "crash_test",
    "device",
    "devices",
    "generate_trace",
    "hit_ratios",
    "import_device",
    "layout",
    "layouts",
    "load_info",
    "policies",
    "read_trace",
    "rebuild_risk",
    "rows_to_perfetto",
    "sample_traces",
    "scenario",
    "scenarios",
    "schedulers",
    "serve",
    "simulate",
    "simulate_volumes",
    "sweep",
    "table",
    "tip_failures",
    "trace_info",
    "validate",
    "workload",
    "workload_presets",
    "workload_spec",
    "workloads",
]

_HOMES = {
    "_core": "OutputError RemoteError SledsimError SpecError TraceError",
    "arrays": "rebuild_risk",
    "caches": "Cache cache hit_ratios policies",
    "comparison": "Comparison compare",
    "crashes": "CrashReport crash_test",
    "hardware": "Access Batch Composite Device Disk DiskSeek Instant Location Parallelism Pass "
    "Sector Seek Sled Step Zone device devices",
    "disksim": "Imported import_device",
    "emulator": "Export RemoteBatch RemoteDevice RemoteOutcome Server connect serve",
    "faults": "TipFailures tip_failures",
    "layout_maps": "Layout LayoutPart layout layouts",
    "load_values": "Load",
    "loads": "convert_trace generate_trace load_info read_trace trace_info workload "
    "workload_presets workload_spec workloads",
    "perfetto": "rows_to_perfetto",
    "rows": "Rows",
    "scenario_files": "Scenario scenario scenarios",
    "simulation": "Run schedulers simulate",
    "studies": "Study sweep",
    "summary_types": "Summary",
    "tables": "Result Spent Table table",
    "trace_files": "sample_traces",
    "trace_information": "TraceInfo",
    "validation": "Validation validate",
    "volumes": "VolumesRun simulate_volumes",
}
"""Public names by the module that has them; each is imported when it is first used."""

_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}


if not TYPE_CHECKING:  # type checkers are to refuse unknown names

    def __getattr__(name: str) -> Any:
        """Import a public name, or a module of public names, when it is first used."""
        if name == "__version__":
            value: Any = import_module("sledsim._core").VERSION
        elif name in _HOME_OF:
            value = getattr(import_module(f"sledsim.{_HOME_OF[name]}"), name)
        elif name in _HOMES or name in {"plots", "reports"}:
            return import_module(f"sledsim.{name}")
        else:
            raise AttributeError(
                f"module 'sledsim' has no attribute '{name}'", name=name, obj=sys.modules[__name__]
            )
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
