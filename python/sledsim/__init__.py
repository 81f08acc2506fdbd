"""Simulate storage whose media moves.

>>> import sledsim as ss
>>> g2 = ss.device("g2")
>>> load = ss.workload("random", rate=500, requests=1000, seed=1)
>>> run = ss.simulate(load, device=g2)
>>> run.summary["requests"]
1000
"""

from __future__ import annotations

from importlib import import_module as _import
from sys import modules as _modules

from sledsim import _above

TYPE_CHECKING = False  # that of typing, whose import takes as long as Python's own start
if TYPE_CHECKING:
    from typing import Any

    from sledsim import caches as caches
    from sledsim import disksim as disksim
    from sledsim import emulator as emulator
    from sledsim import failures as failures
    from sledsim import papers as papers
    from sledsim import plots as plots
    from sledsim import tables as tables
    from sledsim._core import OutputError as OutputError
    from sledsim._core import Queue as Queue
    from sledsim._core import RemoteError as RemoteError
    from sledsim._core import SledsimError as SledsimError
    from sledsim._core import SpecError as SpecError
    from sledsim._core import TraceError as TraceError
    from sledsim._load import Load as Load
    from sledsim._own_schedulers import Scheduler as Scheduler
    from sledsim._scenario_files import Scenario as Scenario
    from sledsim._scenario_files import scenario as scenario
    from sledsim._scenario_files import scenarios as scenarios
    from sledsim.caches import hit_ratios as hit_ratios
    from sledsim.caches import policies as policies
    from sledsim.comparison import Comparison as Comparison
    from sledsim.comparison import compare as compare
    from sledsim.emulator import connect as connect
    from sledsim.emulator import serve as serve
    from sledsim.failures.crashes import CrashReport as CrashReport
    from sledsim.failures.crashes import crash_test as crash_test
    from sledsim.fio_jobs import FioJob as FioJob
    from sledsim.fio_jobs import fio_job as fio_job
    from sledsim.hardware import Composite as Composite
    from sledsim.hardware import Device as Device
    from sledsim.hardware import Disk as Disk
    from sledsim.hardware import Sled as Sled
    from sledsim.hardware import device as device
    from sledsim.hardware import devices as devices
    from sledsim.hardware.datasheets import disk as disk
    from sledsim.hardware.datasheets import sled as sled
    from sledsim.layout_maps import Layout as Layout
    from sledsim.layout_maps import layout as layout
    from sledsim.layout_maps import layouts as layouts
    from sledsim.loads import convert_trace as convert_trace
    from sledsim.loads import generate_trace as generate_trace
    from sledsim.loads import read_trace as read_trace
    from sledsim.loads import trace_info as trace_info
    from sledsim.loads import workload as workload
    from sledsim.loads import workloads as workloads
    from sledsim.published import Published as Published
    from sledsim.published import published_devices as published_devices
    from sledsim.published import validate_published as validate_published
    from sledsim.results.perfetto import rows_to_perfetto as rows_to_perfetto
    from sledsim.results.rows import Rows as Rows
    from sledsim.results.summaries import Summary as Summary
    from sledsim.simulation import Run as Run
    from sledsim.simulation import schedulers as schedulers
    from sledsim.simulation import simulate as simulate
    from sledsim.studies import Study as Study
    from sledsim.studies import sweep as sweep
    from sledsim.traces.files import sample_traces as sample_traces
    from sledsim.traces.information import TraceInfo as TraceInfo
    from sledsim.validation import Validation as Validation
    from sledsim.validation import validate as validate
    from sledsim.volumes import VolumesRun as VolumesRun

    __version__: str

_HOMES = {
    "_core": "OutputError Queue RemoteError SledsimError SpecError TraceError",
    "layout_maps": "Layout layout layouts",
    "_load": "Load",
    "_own_schedulers": "Scheduler",
    "_scenario_files": "Scenario scenario scenarios",
    "caches": "hit_ratios policies",
    "comparison": "Comparison compare",
    "emulator": "connect serve",
    "failures.crashes": "CrashReport crash_test",
    "fio_jobs": "FioJob fio_job",
    "hardware": "Composite Device Disk Sled device devices",
    "hardware.datasheets": "disk sled",
    "loads": "convert_trace generate_trace read_trace trace_info workload workloads",
    "published": "Published published_devices validate_published",
    "results.perfetto": "rows_to_perfetto",
    "results.rows": "Rows",
    "results.summaries": "Summary",
    "simulation": "Run schedulers simulate",
    "studies": "Study sweep",
    "traces.files": "sample_traces",
    "traces.information": "TraceInfo",
    "validation": "Validation validate",
    "volumes": "VolumesRun",
}
"""Public names by the module that has them; each is imported when it is first used."""

_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}
_SUBMODULES = ["caches", "disksim", "emulator", "failures", "papers", "plots", "tables"]

__all__ = ["__version__", *_HOME_OF]  # noqa: PLE0604 - they are texts

_above.rooms["explore"] = lambda: _import("sledsim.explore")
_above.rooms["plots"] = lambda: _import("sledsim.plots")
_above.rooms["show"] = lambda: _import("sledsim.show")

if not TYPE_CHECKING:  # type checkers are to refuse unknown names

    def __getattr__(name: str) -> Any:
        """Import a public name, or a module of public names, when it is first used."""
        if name == "__version__":
            value: Any = _import("sledsim._core").VERSION
        elif name in _HOME_OF:
            value = getattr(_import(f"sledsim.{_HOME_OF[name]}"), name)
        elif name in _SUBMODULES or name in {"hardware", "layout_maps", "loads"}:
            return _import(f"sledsim.{name}")
        else:
            raise AttributeError(
                f"module 'sledsim' has no attribute '{name}'", name=name, obj=_modules[__name__]
            )
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted([*__all__, *_SUBMODULES])
