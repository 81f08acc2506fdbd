"""Table 1: capacity, average random seek and streaming bandwidth."""

import sledsim as ss
from sledsim.papers import Found, summary_of


def seeks_ms(device: ss.Sled, requests: int) -> dict[str, float]:
    """Return mean seeks to random blocks: in X, and where the slower of X and Y counts."""
    load = ss.workload("random", requests=requests, size="fixed", mean_size_kib=0.5)
    summary = summary_of(load, device)
    return {
        axis: summary[column]["mean"] for axis, column in (("x", "x_seek_ms"), ("xy", "seek_ms"))
    }


def stream_mb_s(device: ss.Sled, cylinders: int) -> float:
    """Return the rate of reading some cylinders in the middle, one after the other."""
    shape = device.parallelism
    read = device.access(shape.S_x // 2 * shape.S_C, cylinders * shape.S_C)
    return cylinders * shape.S_C * 512 / read.total_s / 1e6


def simulate(*, quick: bool) -> Found:
    """Read random blocks, then a stream."""
    device = ss.device("cmu2003")
    derived = device.spec["derived"]
    seek_ms = seeks_ms(device, 50_000 if quick else 1_000_000)
    rate_mb_s = stream_mb_s(device, 20 if quick else 200)
    return Found(
        {
            "capacity_gb": derived["capacity_bytes"] / 1e9,
            "seek_ms": seek_ms["x"],
            "stream_mb_s": rate_mb_s,
        },
        hypotheses={
            "both_axes": {"seek_ms": seek_ms["xy"]},
            "no_turnarounds": {"stream_mb_s": derived["streaming_mb_s"]},
            "binary": {"stream_mb_s": derived["streaming_mb_s"] * 1e6 / 2**20},
            "disksim": {"stream_mb_s": stream_mb_s(ss.device("cmu2003", kinematics="disksim"), 20)},
        },
    )
