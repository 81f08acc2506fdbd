"""Table 1 (note), sections 3.2, 3.3 and 5: claims about service times and settling."""

import sledsim as ss
from sledsim.papers import Found, summary_of

NEW_SPRINGS_HZ = 739
"""The resonant frequency of the note to Table 1."""


def shares(device: ss.Device, requests: int) -> dict[str, float]:
    """Run the random load; return its mean service time and the dominant shares of it, in %."""
    load = ss.workload(requests=requests, size="exponential", mean_size_kib=4, blocking=8)
    summary = summary_of(load, device)
    mean = {kind: summary[f"{kind}_ms"]["mean"] for kind in ("service_time", "seek", "x_seek")}
    settle_ms = device.spec["derived"]["settle_ms"]
    return {
        "seek_percent": 100 * mean["seek"] / mean["service_time"],
        "settle_percent": 100 * settle_ms / mean["x_seek"],
        "service_at_least_ms": mean["service_time"],
        "service_at_most_ms": mean["service_time"],
    }


def simulate(*, quick: bool) -> Found:
    """Run the default device, and take the settling times of both designs of the springs."""
    requests = 10_000 if quick else 200_000
    device = ss.device("sigmetrics2000")
    newer = ss.device("sigmetrics2000", resonance_hz=NEW_SPRINGS_HZ)
    settle_ms, newer_ms = (each.spec["derived"]["settle_ms"] for each in (device, newer))
    stronger = ss.device("sigmetrics2000", acceleration_x_m_s2=281)
    return Found(
        shares(device, requests) | {"settle_ratio": settle_ms / newer_ms},
        hypotheses={"stronger_in_x": shares(stronger, requests)},
    )
