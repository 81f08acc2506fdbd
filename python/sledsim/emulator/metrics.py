"""The status of a server for Prometheus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledsim._core import SledsimError
from sledsim.emulator.tip_faults import DISK_COUNTS, disks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prometheus_client.metrics_core import Metric

_QUANTILES = {"0.5": "p50", "0.9": "p90", "0.99": "p99", "0.999": "p99_9"}


def exposition(status: dict[str, Any]) -> tuple[str, bytes]:
    """Return the type of content and the text that Prometheus reads."""
    try:
        from prometheus_client import CollectorRegistry, exposition  # an extra
        from prometheus_client.registry import Collector
    except ImportError:
        raise SledsimError(
            "metrics need prometheus_client: pip install prometheus-client"
        ) from None

    class Status(Collector):
        def collect(self) -> Iterator[Metric]:
            yield from _metrics(status)

    registry = CollectorRegistry()
    registry.register(Status())
    return exposition.CONTENT_TYPE_LATEST, exposition.generate_latest(registry)


def _metrics(status: dict[str, Any]) -> Iterator[Metric]:
    from prometheus_client.core import (  # an extra
        CounterMetricFamily,
        GaugeMetricFamily,
    )

    exports = status["exports"]
    by_export = ["export"]

    up = GaugeMetricFamily("sledsim_up_seconds", "How long the server has been up")
    up.add_metric([], status["up_s"])
    yield up

    requests = CounterMetricFamily("sledsim_requests", "Requests answered", labels=["export", "op"])
    size = CounterMetricFamily("sledsim_bytes", "Bytes moved", labels=["export", "op"])
    errors = CounterMetricFamily("sledsim_errors", "Requests that failed", labels=by_export)
    busy = CounterMetricFamily(
        "sledsim_busy_seconds",
        "Time its busiest mechanism was busy, in time of the device",
        labels=by_export,
    )
    energy = CounterMetricFamily("sledsim_energy_joules", "Energy spent", labels=by_export)
    for export in exports:
        name, summary = export["name"], export["summary"]
        for op in ("reads", "writes", "flushes", "trims"):
            requests.add_metric([name, op], summary[op])
        for op, blocks in (("reads", "blocks_read"), ("writes", "blocks_written")):
            size.add_metric([name, op], 512 * summary[blocks])
        errors.add_metric([name], summary["errors"])
        busy.add_metric([name], max((each["busy_s"] for each in summary["mechanisms"]), default=0))
        if summary["energy_j"] is not None:
            energy.add_metric([name], summary["energy_j"]["total"])
    yield from (requests, size, errors, busy, energy)

    for key, text in (
        ("store_failed", "1 once a flush of its file has failed: none succeeds any more"),
        ("recording_failed", "1 once its recording could not be written"),
        ("device_failed", "1 once an error in sledsim has ended its device"),
    ):
        gauge = GaugeMetricFamily(f"sledsim_{key}", text, labels=by_export)
        for export in exports:
            gauge.add_metric([export["name"]], float(key in export))
        yield gauge

    for key, metric, text in (
        ("outstanding", "outstanding", "Requests under way"),
        ("bytes", "capacity_bytes", "Capacity"),
        ("allocated_bytes", "allocated_bytes", "Space that its data take"),
    ):
        gauge = GaugeMetricFamily(f"sledsim_{metric}", text, labels=by_export)
        for export in exports:
            gauge.add_metric([export["name"]], export[key])
        yield gauge

    for key, text in (
        ("tips_failed", "Tips that have failed"),
        ("spares_left", "Spare tips left"),
        ("blocks_at_risk", "Blocks with missing tip sectors that the code recovers"),
        ("blocks_lost", "Blocks that the code does not recover"),
        ("blocks_given_up", "Blocks given up for spare tips"),
    ):
        gauge = GaugeMetricFamily(f"sledsim_{key}", text, labels=by_export)
        for export in exports:
            if "faults" in export:
                gauge.add_metric([export["name"]], export["faults"][key])
        yield gauge

    met = CounterMetricFamily(
        "sledsim_disk_faults", "Errors that a disk met", labels=["export", "disk", "kind"]
    )
    for name, disk, counts in disks(status):
        for key in DISK_COUNTS:
            met.add_metric([name, disk, key], counts[key])
    yield met

    response = "Response time since the start, in time of the device"
    late = "How late requests were answered since the start, in real time"
    for metric, text, times, unit in (
        ("response", response, [e["summary"]["response_time_ms"] or {} for e in exports], 1e3),
        ("lateness", late, [e["lateness_us"] for e in exports], 1e6),
    ):
        gauge = GaugeMetricFamily(f"sledsim_{metric}_seconds", text, labels=["export", "quantile"])
        for export, found in zip(exports, times, strict=True):
            for quantile, key in _QUANTILES.items():
                if found.get(key) is not None:
                    gauge.add_metric([export["name"], quantile], found[key] / unit)
        yield gauge
