"""The loads of section 4.3, or the nearest available ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from sledsim._load import Load
from sledsim.loads import read_trace, workload
from sledsim.papers import external_file
from sledsim.papers.osdi2000 import curves

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

REQUESTS = 40_000
"""Of a generator: as many as the trace of HP Labs has."""
CELLO_RATE, TPC_C_RATE = 50, 100
"""Requests per second of the generators at a scaling factor of one."""
DATABASE_BLOCKS = 2**21
"""1 GB, as the TPC-C database of the paper."""


class Scaled(NamedTuple):
    """A load whose gaps are divided by a factor."""

    name: str
    note: str
    factors: Sequence[float]
    load: Callable[[float], Load]


def cello() -> Scaled:
    """Return the week of HP Labs, or a generator of what is known of such systems."""
    trace = external_file("hplajw-1992-week.srt")
    if trace is not None:
        return Scaled(
            "hplajw, 30 May to 6 June 1992",
            "This run replayed the trace of hplajw, a workstation at HP Labs, of the same week as "
            "the paper's trace of cello. It is idle most of the time, so that its scaling factors "
            "are larger than the paper's.",
            [20, 50, *range(100, 1050, 100)],
            lambda factor: read_trace(trace, trace_device="separate", time_scale=factor),
        )
    return Scaled(
        "generator of a Unix server",
        "This run used a generator: 57 % writes, sequential 10 % of the writes and 25 % of the "
        "reads, which are in the ranges that Ruemmler and Wilkes (1993) found, sizes with a mean "
        "of 8 KiB, bursts of 0.5 s in 2.5 s, 50 requests a second at a scaling factor of one.",
        [1, 2, *range(4, 26)],
        _unix_server,
    )


def _unix_server(factor: float) -> Load:
    def part(share: float, read_fraction: int, sequential: float) -> dict[str, object]:
        return {
            "kind": "sequential",
            "sequential_fraction": sequential,
            "read_fraction": read_fraction,
            "mean_size_kib": 8,
            "rate": CELLO_RATE * share * factor,
            "on_ms": 500 / factor,
            "off_ms": 2000 / factor,
        }

    return workload(
        "mix",
        requests=REQUESTS,
        max_queue=curves.MAX_QUEUE,
        part={"reads": part(0.43, 1, 0.25), "writes": part(0.57, 0, 0.1)},
    )


def tpc_c(*, trace: bool, address: Literal["error", "wrap", "scale", "compact"]) -> Scaled:
    """Return the slice of a TPC-C array, or a generator of such accesses.

    ``address`` says what becomes of addresses beyond the device.
    """
    file = external_file("tpcc-small.mqsim") if trace else None
    if file is not None:
        return Scaled(
            "a seventh of a second of a TPC-C array",
            "This run replayed 0.14 s of another TPC-C system, of 51,000 requests a second and 233 "
            "GB; its scaling factors are below one.",
            [factor / 1000 for factor in (5, 10, 15, 20, *range(22, 41))],
            lambda factor: read_trace(file, trace_device="all", address=address, time_scale=factor),
        )
    return Scaled(
        "generator of a TPC-C database",
        "This run used a generator: pages of 8 KiB in 1 GB at the front of the device, 63 % reads, "
        "80 % of them in a fifth of the pages, 100 requests a second at a scaling factor of one.",
        [2, 5, 8, *range(10, 22)],
        lambda factor: workload(
            "hot_cold",
            rate=TPC_C_RATE * factor,
            requests=REQUESTS,
            size="fixed",
            mean_size_kib=8,
            blocking=16,
            read_fraction=0.63,
            last_lbn=DATABASE_BLOCKS - 1,
            max_queue=curves.MAX_QUEUE,
        ),
    )
