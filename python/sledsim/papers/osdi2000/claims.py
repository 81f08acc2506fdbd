"""Sections 2, 5 and 6: claims about rates, seeks, settling and turnarounds."""

import sledsim as ss
from sledsim.papers import Found, summary_of

EDGE_M = 50e-6


def turnarounds_ms(device: ss.Sled) -> list[float]:
    """Turn around at both edges, moving up."""
    return [
        1e3 * device.seek((0, y_m, "up"), (0, y_m, "down")).turnaround_s
        for y_m in (-EDGE_M, EDGE_M)
    ]


def rows_read(device: ss.Sled, requests: int) -> dict[str, float]:
    """Read a row anywhere, one after the other; return means in ms."""
    load = ss.workload(requests=requests, size="fixed", mean_size_kib=0.5, read_fraction=1)
    summary = summary_of(load, device)
    return {
        key: summary[f"{key}_ms"]["mean"]
        for key in ("service_time", "x_seek", "y_seek", "turnaround")
    }


def turns(device: ss.Sled, requests: int) -> dict[str, float]:
    """Return the values of the claims about turnarounds."""
    longest, shortest = turnarounds_ms(device)
    return {
        "turnaround_min_ms": shortest,
        "turnaround_max_ms": longest,
        "turnaround_mean_ms": rows_read(device, requests)["turnaround"],
    }


def seeks_ms(device: ss.Sled) -> dict[str, float]:
    """Return settling, the shortest X seek and the longest."""
    bit_m = 1e-9 * device.parameters["bit_cell_nm"]
    return {
        "settle_ms": device.spec["derived"]["settle_ms"],
        "seek_min_ms": 1e3 * device.seek((0, 0, "up"), (bit_m, 0, "up")).x_seek_s,
        "seek_max_ms": 1e3 * device.seek((-EDGE_M, 0, "up"), (EDGE_M, 0, "up")).x_seek_s,
    }


def track_rates_mb_s(device: ss.Sled) -> list[float]:
    """Return the media rates of tracks in the first, the middle and the last cylinder."""
    shape = device.spec["derived"]
    blocks = shape["rows_per_track"] * shape["blocks_per_row"]
    last = shape["cylinders"] - 1
    lbns = [device.lbn(cylinder, 0, 0, 0) for cylinder in (0, last // 2, last)]
    return [512e-6 * blocks / device.access(lbn, blocks).transfer_s for lbn in lbns]


def simulate(*, quick: bool) -> Found:
    """Measure both devices."""
    requests = 20_000 if quick else 200_000
    sled, disk = ss.device("osdi2000"), ss.device("atlas10k")
    if not isinstance(disk, ss.Disk):
        raise TypeError(disk)
    rates = [zone.media_mb_s for zone in disk.zones()]
    tracks = track_rates_mb_s(sled)
    row = rows_read(sled, requests)
    curve_ms = disk.seek_curve_ms()[1:]
    authors = ss.device("osdi2000", spring_reference_um=40)
    return Found(
        {
            "sled_mb_s": sled.spec["derived"]["streaming_mb_s"],
            "disk_outer_mb_s": max(rates),
            "disk_inner_mb_s": min(rates),
            "disk_bands_percent": 100 * (max(rates) / min(rates) - 1),
            "sled_bands_percent": 100 * (max(tracks) / min(tracks) - 1),
            **seeks_ms(sled),
            "disk_settle_ms": disk.parameters["write_settle_ms"],
            "disk_seek_min_ms": min(curve_ms),
            "disk_seek_max_ms": max(curve_ms),
            "access_ms": row["service_time"],
            "read_4k_ms": row["service_time"],
            "x_over_y": {"Y": row["y_seek"], "X": row["x_seek"]},
            **turns(sled, requests),
        },
        hypotheses={"authors_code": turns(authors, requests)},
    )
