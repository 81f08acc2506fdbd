"""Section 3.1: switching tracks and cylinders in a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim.hardware import Sled
from sledsim.papers import Found
from sledsim.papers.sigmetrics2000.devices import sled
from sledsim.papers.sigmetrics2000.streams import blocks_per_cylinder, cylinders_per_s

if TYPE_CHECKING:
    from sledsim.papers import Setup

SWITCHES = {"tips deflect": "tip", "one-cylinder seek": "seek"}


def stream_mb_s(setup: Setup, switch: str, requests: int) -> float:
    """Return the bandwidth of reading on and on, in 10^6 bytes per second."""
    device = sled(setup, cylinder_switch=switch)
    block_mb = 512e-6
    return block_mb * blocks_per_cylinder(device) * cylinders_per_s(device, requests)


def least_turnaround_s(device: Sled) -> float:
    """Return the shortest turnaround there is: at the edge, moving outward."""
    edge_m = device.parameters["travel_y_um"] / 2 * 1e-6
    return device.seek((0, edge_m, "up"), (0, edge_m, "down")).turnaround_s


def switches_s(device: Sled) -> tuple[float, float]:
    """Return the time from track to track and from cylinder to cylinder, in a stream."""
    derived = device.spec["derived"]
    track = derived["rows_per_track"] * derived["blocks_per_row"]
    cylinder = blocks_per_cylinder(device)
    start = device.access(0, track).end
    return (
        device.access(track, track, start=start).steps[0].seek_s,
        device.access(0, cylinder + 1).steps[-1].seek_s,
    )


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Read cylinder after cylinder with both kinds of switch."""
    requests = 100 if quick else 1000
    tip = sled(setup, cylinder_switch="tip")
    track_s, cylinder_s = switches_s(tip)
    least_s = least_turnaround_s(tip)
    _, seek_s = switches_s(sled(setup, cylinder_switch="seek"))
    rates = {name: stream_mb_s(setup, switch, requests) for name, switch in SWITCHES.items()}
    return Found(
        {
            "track_switch": track_s / least_s,
            "cylinder_switch": cylinder_s / least_s,
            "cylinder_switch_ms": {
                "tips deflect": 1e3 * cylinder_s,
                "one-cylinder seek": 1e3 * seek_s,
            },
            "bandwidth_mb_s": rates,
        }
    )
