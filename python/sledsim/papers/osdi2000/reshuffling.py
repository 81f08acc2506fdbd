"""Section 5.3: what reshuffling an organ pipe costs."""

from __future__ import annotations

from sledsim import layout_maps
from sledsim._load import Load
from sledsim.hardware import Device
from sledsim.loads import workload
from sledsim.papers import Found, Setup, summary_of
from sledsim.papers.osdi2000 import figure11, parts

PER_S, EVERY_S = 20, 60


def mix(requests: int, small: dict[str, object], large: dict[str, object]) -> Load:
    """Return the reads of Figure 11 at a rate."""
    share = figure11.SMALL_SHARE / 100
    reads = {"read_fraction": 1, "size": "fixed"}
    part = {
        "small": reads | {"rate": PER_S * share, "mean_size_kib": 4, "blocking": 10} | small,
        "large": reads | {"rate": PER_S * (1 - share), "mean_size_kib": 400} | large,
    }
    return workload("mix", requests=requests, part=part)


def busy_ms(load: Load, device: Device, layout: figure11.Layout) -> float:
    """Return the time for which the device is busy, by request."""
    summary = summary_of(load, device, layout=layout)
    return float(1e3 * summary["mechanisms"][0]["utilisation"] / summary["throughput_iops"])


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Serve the same requests with reshuffling, without, and in subregions."""
    requests = PER_S * (2 if quick else 10) * 60
    device, unit = parts.sled(setup), figure11.UNIT_BLOCKS
    law = {
        "kind": "zipf",
        "zipf_exponent": setup["organ_pipe"]["exponent"],
        "unit_blocks": unit,
        "last_lbn": device.blocks // unit * unit - 1,
    }
    pipe = {"name": "organ_pipe", "unit_blocks": unit, "law": "first"}
    popular = mix(requests, law, law | {"blocking": unit})
    without, reshuffled = (
        busy_ms(popular, device, pipe | keys) for keys in ({}, {"reshuffle_s": EVERY_S})
    )
    subregions = figure11.subregioned(setup["square_bits"])
    regions = layout_maps.layout(device, **subregions).parts
    apart = mix(
        requests,
        {"last_lbn": regions[0].last_lbn},
        {"first_lbn": regions[3].first_lbn, "last_lbn": regions[6].last_lbn, "blocking": 10},
    )
    return Found(
        {
            "moving": {"without": without, "reshuffling": reshuffled},
            "against": {
                "subregioned": busy_ms(apart, device, subregions),
                "reshuffling": reshuffled,
            },
        }
    )
