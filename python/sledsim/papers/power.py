"""Power studies: consumption, policies, savings, start-up times.

Small studies on top of :func:`sledsim.simulate`, for examples and papers. Nothing here is needed
to run a device with a table ``[power]``; see the page on power.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledsim._core import SpecError
from sledsim.hardware import device as make_device
from sledsim.loads import workload
from sledsim.simulation import simulate
from sledsim.studies import sweep

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sledsim._load import Load
    from sledsim._name_types import SchedulerName
    from sledsim.hardware import Device

DISK_POWER: dict[str, float] = {
    "seek_w": 12.5,
    "transfer_w": 12.0,
    "idle_w": 7.5,
    "standby_w": 1.0,
    "spin_up_w": 33.6,
    "spin_up_ms": 25_000.0,
}
"""The table ``[power]`` for a disk of the time of the Atlas 10K, of which none are published.

Watts: seeking, operating, idle and standby of the Seagate Barracuda 7200.7 (product manual rev. N,
table 4); spin-up its peak of 2.8 A at 12 V, so that what a spin-up costs is an upper bound. The
25 s until ready are those of the Atlas 10K (CMU-CS-00-136 section 6.3).
"""

PUBLISHED = {"spin_down": 0.50, "merging": 0.18, "sub_sector": 0.40, "all": 0.54}
"""Shares of energy saved in Lin, Brandt, Long, Miller: "Power conservation strategies for
MEMS-based storage devices" (MASCOTS 2002, abstract): spin-down and all three of the total,
merging and sub-sector access of the energy of service, the latter for small requests."""

METADATA_BYTES = 128
"""Bytes that are asked for of a block of metadata: an inode of a Unix file system."""

SMALL_KIB = 0.5


@dataclass(frozen=True)
class Spending:
    """Energy and response time of a load on a device."""

    total_j: float
    """All energy until the last request was complete."""
    service_j: float
    """Energy of seeks and transfers."""
    response_ms: float
    """Mean response time."""
    power_mw: float
    """Mean power."""


@dataclass(frozen=True)
class Saving:
    """A saving of Lin et al., published and computed."""

    name: str
    published: float
    """Share of energy saved in the paper."""
    computed: float
    """The same here, of the same energy: total or of service."""
    response: float
    """Mean response time, as a share of that without the saving."""


def spending(load: Load, device: Device, scheduler: SchedulerName | str = "fcfs") -> Spending:
    """Run a load on a device and return its energy and response time.

    Raises
    ------
    SledsimError
        For a device whose energy is unknown.
    """
    summary = simulate(load, device, scheduler, rows=False).summary
    energy = summary["energy_j"]
    if energy is None:
        raise SpecError(f"{device.name}: has no values of power, so that its energy is unknown")
    return _spent(
        energy["total"],
        energy["seek"],
        energy["transfer"],
        summary["response_time_ms"]["mean"],
        summary["simulated_s"],
    )


def _spent(
    total_j: float, seek_j: float, transfer_j: float, response_ms: float, simulated_s: float
) -> Spending:
    return Spending(total_j, seek_j + transfer_j, response_ms, 1e3 * total_j / simulated_s)


def trade_off(
    load: Load,
    name: str,
    policies: Mapping[str, Mapping[str, object]],
    power: Mapping[str, object] | None = None,
    **keys: object,
) -> dict[str, Spending]:
    """Run a load under several policies of when an idle device goes inactive.

    Parameters
    ----------
    load
        What to run.
    name
        A device.
    policies
        Keys of the table ``[power]`` by a name for them, as in ``{"5 ms": {"policy":
        "timeout", "timeout_ms": 5}}``.
    power
        Keys of that table that all have.
    keys
        Other keys of the device.

    Returns
    -------
    dict
        Energy and response time of each, by the same names.

    Raises
    ------
    SledsimError
        For an error in a key or the load, and two policies that are the same.
    """
    devices = [
        {"base": name, "power": {**(power or {}), **policy}, **keys} for policy in policies.values()
    ]
    table = sweep({"load": load}, grid={"device": devices}).check().table
    energies = (f"energy_j.{part}" for part in ("total", "seek", "transfer"))
    names = (*energies, "response_time_ms.mean", "simulated_s")
    rows = zip(*map(table.column, names), strict=True)
    return {label: _spent(*row) for label, row in zip(policies, rows, strict=True)}


def lin2002(load: Load, name: str = "g2", small: Load | None = None, **keys: Any) -> list[Saving]:
    """Compute the four savings of Lin et al. 2002 on a load.

    Spin-down is the policy ``immediate`` against ``never``. Merging serves requests that wait side
    by side as one. Sub-sector access reads 128 bytes of reads of one block: of ``small``, or if
    that is not given of 1,000 random ones, since it is published for small requests.

    Parameters
    ----------
    load, name
        What to run, and on which sled.
    small
        A load of small requests.
    keys
        Keys of the device, such as ``power_tip_mw``.

    Returns
    -------
    list of Saving
        Spin-down, merging, sub-sector access, and all three at once.

    Raises
    ------
    SledsimError
        If the device is no sled, or for an error in the load.
    """
    if small is None:
        small = workload(
            "random",
            requests=1000,
            rate=50,
            read_fraction=1,
            size="fixed",
            mean_size_kib=SMALL_KIB,
            blocking=1,
        )
    never: dict[str, object] = {"policy": "never"}
    immediate: dict[str, object] = {"policy": "immediate"}
    parts: dict[str, object] = {"small_read_bytes": METADATA_BYTES}
    merged: dict[str, Any] = {"batching": {"kind": "adjacent"}}

    def run(of: Load, power: dict[str, object], **more: Any) -> Spending:
        return spending(of, make_device(name, power=power, **keys, **more))

    bare = run(load, never)
    small_bare = run(small, never)
    cases = {
        "spin_down": (bare, run(load, immediate), True),
        "merging": (bare, run(load, never, **merged), False),
        "sub_sector": (small_bare, run(small, never | parts), False),
        "all": (bare, run(load, immediate | parts, **merged), True),
    }

    def saving(case: str, before: Spending, after: Spending, *, total: bool) -> Saving:
        energies = (before.total_j, after.total_j) if total else (before.service_j, after.service_j)
        return Saving(
            name=case,
            published=PUBLISHED[case],
            computed=1 - energies[1] / energies[0],
            response=after.response_ms / before.response_ms,
        )

    return [saving(case, *pair, total=total) for case, (*pair, total) in cases.items()]


def sensing_share(device: Device) -> float:
    """Return the share of the power of a sled at work that sensing and recording take.

    All tips that can be active against these and the sled; CMU-CS-00-136 section 7 says 90 %.
    """
    keys = device.parameters
    tips_mw: float = keys["power_tip_mw"] * keys["active_tips"]
    sled_mw: float = keys["power_active_mw"]
    return tips_mw / (tips_mw + sled_mw)


def energy_per_bit_nj(device: Device, size_kib: float, requests: int = 1000) -> float:
    """Return the energy of seeks and transfers per bit in random reads of one size, in nJ."""
    load = workload(
        "random",
        requests=requests,
        read_fraction=1,
        size="fixed",
        mean_size_kib=size_kib,
    )
    spent = spending(load, device)
    return 1e9 * spent.service_j / (requests * size_kib * 1024 * 8)


def start_up_s(name: str, power: Mapping[str, object] | None = None, **keys: Any) -> float:
    """Return how much later the first request is complete on a device that starts off, in s."""

    def first(starts: str) -> float:
        device = make_device(name, power={**(power or {}), "starts": starts}, **keys)
        load = workload("random", requests=1, read_fraction=1)
        response: float = simulate(load, device).summary["response_time_ms"]["max"]
        return response / 1e3

    return first("off") - first("ready")


def spin_up(
    name: str, children: int, start: str, power: Mapping[str, object], window_ms: float = 1000
) -> tuple[float, list[float]]:
    """Start an array of devices from off, all together or one after the other.

    Parameters
    ----------
    name, children
        The device, and how many are striped.
    start
        ``"together"`` or ``"in_turn"``.
    power
        The table ``[power]`` of each.
    window_ms
        Over how long power is averaged.

    Returns
    -------
    ready_s
        When a request over all of them is complete.
    power_w
        Power of the array, window by window until then.

    Raises
    ------
    SledsimError
        For an error in a key.
    """
    text = (
        f'title = "Array"\nkind = "stripe"\nchildren = {children}\nunit_blocks = 8\n'
        f'start = "{start}"\n[child]\nbase = "{name}"\n'
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "array.toml"
        path.write_text(text, encoding="utf-8")
        array = make_device(str(path), child={"power": {**power, "starts": "off"}})
    load = workload(
        "random",
        requests=1,
        read_fraction=1,
        size="fixed",
        mean_size_kib=4 * children,
        blocking=8 * children,
    )
    run = simulate(load, array, series=True, series_ms=window_ms)
    watts = column(run.series, "power_w")
    return run.summary["response_time_ms"]["max"] / 1e3, watts


def column(table: Any, name: str) -> list[float]:
    """Return a column of an Arrow table as a list."""
    import pyarrow as pa  # optional

    values: list[float] = pa.table(table).column(name).to_pylist()
    return values


def rewrite_ms(device: Device, lbn: int, times: int = 20) -> float:
    """Return the time to write a block again immediately after it was written, in ms."""
    load = workload(
        "random",
        requests=times,
        read_fraction=0,
        size="fixed",
        mean_size_kib=SMALL_KIB,
        first_lbn=lbn,
        last_lbn=lbn,
    )
    run = simulate(load, device)
    ends = column(run.rows, "completion_ns")
    return (ends[-1] - ends[1]) / (times - 2) / 1e6
