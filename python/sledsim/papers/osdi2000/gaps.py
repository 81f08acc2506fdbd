"""Section 4.2: gaps between the schedulers on the sled and on the disk."""

from statistics import fmean

from matplotlib.figure import Figure

from sledsim._load import Load
from sledsim.hardware import Device
from sledsim.loads import workload
from sledsim.papers import Found, Setup, service_times_ms, summary_of
from sledsim.papers.osdi2000 import access, curves, parts
from sledsim.plots import bars

DEPTH = 64
"""Requests outstanding at any time, for what a scheduler sustains."""
KNEE = 5
"""Mean response time at a knee, in times that of an idle device."""
OVERLOAD = 1.1
"""A load that FCFS does not sustain and the others do."""
LOADS = [0.85, 0.95, 1.0, 1.05, OVERLOAD, 1.15, 1.2, 1.3, 1.4]


def closed_load(requests: int, depth: int, seed: int = 1) -> Load:
    """Keep so many requests outstanding."""
    return workload(
        requests=requests,
        size="exponential",
        queue_depth=depth,
        warm_up_requests=requests // 20,
        seed=seed,
    )


def closed(
    device: Device, scheduler: str, requests: int, replications: int, depth: int
) -> dict[str, float]:
    """Keep so many requests outstanding; return the throughput and the mean response time."""
    rule = curves.SCHEDULERS[scheduler]
    run = summary_of(closed_load(requests, depth), device, rule, replications=replications)
    return {"per_s": run["throughput_iops"], "response_ms": run["response_time_ms"]["mean"]}


def seek_percent(device: Device, requests: int, replications: int) -> float:
    """Return the share of seeks in the service times of one request at a time."""
    seek_ms = summary_of(closed_load(requests, 1), device, replications=replications)["seek_ms"][
        "mean"
    ]
    loads = [closed_load(requests, 1, seed) for seed in range(1, replications + 1)]
    return 100 * float(seek_ms) / fmean(service_times_ms(loads, device))


def device_gaps(device: Device, requests: int, replications: int) -> dict[str, float]:
    """Return the gaps between the schedulers on a device."""
    idle_ms = closed(device, "FCFS", requests, replications, 1)["response_ms"]
    most = {
        name: closed(device, name, requests, replications, DEPTH)["per_s"]
        for name in ("FCFS", "C-LOOK")
    }
    found = curves.sweep(
        lambda load: curves.random_load(load * most["FCFS"], requests),
        device,
        LOADS,
        replications=replications,
        end_ms=2 * KNEE * idle_ms,
        schedulers=["FCFS", "C-LOOK", "SSTF_LBN"],
    )
    knee = {name: curve.knee(KNEE * idle_ms) for name, curve in found.items()}
    return {
        "fcfs_knees": knee["C-LOOK"] / knee["FCFS"],
        "fcfs_sustained": most["C-LOOK"] / most["FCFS"],
        "c_look": found["C-LOOK"].at(OVERLOAD) / found["SSTF_LBN"].at(OVERLOAD),
    }


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Compare both devices."""
    requests, replications = (30_000, 4) if quick else (60_000, 5)
    disk, sled = parts.disk(setup), parts.sled(setup)
    gaps = {
        name: device_gaps(device, requests, replications)
        for name, device in (("Atlas 10K", disk), ("MEMS", sled))
    }
    # Time of the arm and of the sled, without hits of the buffer.
    bare = parts.disk(setup, buffer={"keep": "nothing"})
    share = {
        name: seek_percent(device, requests, replications)
        for name, device in (("Atlas 10K", bare), ("MEMS", sled))
    }
    row = access.rows_read(sled, requests)
    return Found(
        {key: {name: gap[key] for name, gap in gaps.items()} for key in LABELS}
        | {"seek_percent": share, "x_over_y": {"Y": row["y_seek"], "X": row["x_seek"]}},
        series=gaps,
    )


LABELS = {
    "fcfs_knees": "knee:\nC-LOOK over FCFS",
    "fcfs_sustained": "sustained:\nC-LOOK over FCFS",
    "c_look": "response time:\nC-LOOK over SSTF_LBN",
}


def draw(figure: Figure, found: Found) -> None:
    """Draw bars of each gap, for the disk and the sled."""
    axes = figure.add_subplot()
    series = {name: [values[key] for key in LABELS] for name, values in found.series.items()}
    bars.grouped(axes, list(LABELS.values()), series, "{:.2f}".format, bottom=1)
    axes.set(ylabel="ratio", ylim=(1, None))
    axes.margins(y=0.1)
