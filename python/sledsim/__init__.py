"""Simulate storage whose media moves.

>>> import sledsim as ss
>>> g2 = ss.device("g2")
>>> load = ss.workload("random", rate=500, requests=1000, seed=1)
>>> run = ss.simulate(load, device=g2)
>>> run.summary["requests"]
1000
"""

from sledsim import _core
from sledsim._core import RemoteError, SledsimError
from sledsim.arrays import rebuild_risk
from sledsim.caches import Cache, cache, hit_ratios, policies
from sledsim.comparison import Comparison, compare
from sledsim.crashes import CrashReport, crash_test
from sledsim.devices import (
    Access,
    Batch,
    Device,
    Disk,
    DiskSeek,
    Instant,
    Location,
    Parallelism,
    Pass,
    Sector,
    Seek,
    Step,
    Zone,
    device,
    presets,
)
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
from sledsim.layouts import Layout, LayoutPart, layout
from sledsim.loads import (
    Load,
    convert_trace,
    generate_trace,
    load_info,
    read_trace,
    sample_traces,
    trace_info,
    workload,
    workload_presets,
    workload_spec,
)
from sledsim.simulation import Run, schedulers, simulate
from sledsim.tables import Result, Spent, Table, table
from sledsim.validation import Validation, validate

__version__ = _core.VERSION

__all__ = [
    "Access",
    "Batch",
    "Cache",
    "Comparison",
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
    "Parallelism",
    "Pass",
    "RemoteBatch",
    "RemoteDevice",
    "RemoteError",
    "RemoteOutcome",
    "Result",
    "Run",
    "Sector",
    "Seek",
    "Server",
    "SledsimError",
    "Spent",
    "Step",
    "Table",
    "TipFailures",
    "Validation",
    "Zone",
    "__version__",
    "cache",
    "compare",
    "connect",
    "convert_trace",
    "crash_test",
    "device",
    "generate_trace",
    "hit_ratios",
    "import_device",
    "layout",
    "load_info",
    "policies",
    "presets",
    "read_trace",
    "rebuild_risk",
    "sample_traces",
    "schedulers",
    "serve",
    "simulate",
    "table",
    "tip_failures",
    "trace_info",
    "validate",
    "workload",
    "workload_presets",
    "workload_spec",
]
