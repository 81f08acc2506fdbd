"""Data loss and response times under tip failures (CMU-CS-00-136, section 6.1).

Run it as ``python examples/tip_failures.py [--quick] [--output FILE]``. Above: the chance that a
device with 6,400 tips of data has lost any block, by the number of its tips that have failed, for
several codes and numbers of spare tips; and what is left when the spare tips are used up, if
capacity is given up or tolerance. Below: the response times of random requests while tip sectors
are read with errors, by the number of ECC tips; and a sequential read of all of the device while
tips are remapped to spare ones, and elsewhere, as disks do.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sledsim as ss
from matplotlib.figure import Figure
from shared import picture_path, write_picture
from sledsim.plots import curves, scales
from sledsim.plots.style import in_order

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

SQUARES, DATA_TIPS, FAILED = 100, 64, 400
SCHEMES = ((0, 0), (1, 0), (2, 0), (4, 0), (2, 128), (4, 128))  # ECC tips of a block, spare tips
POLICY_SCHEME = (2, 128)
ECC = (0, 1, 2, 4)
ERROR_RATES = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 2e-2)
REMAPPED = (0, 1, 2, 4, 8, 16)  # failed tips
SPARE_CYLINDERS = 560
CHUNK_BLOCKS = 540  # a track: 27 rows of 20 blocks


def losses(quick: bool) -> dict[tuple[int, int, str], ss.failures.TipFailures]:
    """Let tips fail, for every scheme, and for one under either policy."""
    cases = [(*scheme, "tolerance") for scheme in SCHEMES] + [(*POLICY_SCHEME, "capacity")]
    return {
        (ecc, spares, policy): ss.failures.tip_failures(
            SQUARES * (DATA_TIPS + ecc) + spares,
            data_tips=DATA_TIPS,
            ecc_tips=ecc,
            spare_tips=spares,
            failed_tips=FAILED,
            out_of_spares=policy,
            trials=100 if quick else 4000,
        )
        for ecc, spares, policy in cases
    }


def retried(ecc: int, rate: float, requests: int) -> ss.Run:
    """Serve random requests while tip sectors are read with errors."""
    load = ss.workload("random", rate=300, requests=requests)
    sled = ss.device("g2", faults={"ecc_tips": ecc, "read_error_rate": rate, "retries": 10})
    return ss.simulate(load, sled, scheduler="sptf", rows=False)


def remapped(remap: str, failed: int, quick: bool) -> float:
    """Return the rate at which all of the device is read, in MB/s."""
    spare = {"spare_tips": 64} if remap == "spare_tips" else {"spare_cylinders": SPARE_CYLINDERS}
    sled = ss.device("g2", faults={"failed_tips": failed, "remap": remap, **spare})
    blocks = ss.device("g2").blocks - SPARE_CYLINDERS * 5 * CHUNK_BLOCKS
    load = ss.workload(
        "sequential",
        requests=blocks // CHUNK_BLOCKS // (20 if quick else 1),
        last_lbn=blocks - 1,
        size="fixed",
        mean_size_kib=CHUNK_BLOCKS / 2,
        blocking=CHUNK_BLOCKS,
        read_fraction=1,
    )
    summary = ss.simulate(load, sled, rows=False).summary
    rate: float = summary["throughput_mb_s"]
    return rate


def draw_losses(axes: Axes, studies: dict[tuple[int, int, str], ss.failures.TipFailures]) -> None:
    """Draw the chance of a loss by the number of failed tips."""
    drawn = {}
    for ecc, spares in SCHEMES:
        study = studies[ecc, spares, "tolerance"]
        label = f"{ecc} ECC, {spares} spare: {study.data_share:.0%} data"
        drawn[label] = (study.failed_tips, study.loss_probability)
    axes.set(xlabel="failed tips", ylabel="probability of any loss", ylim=(-0.02, 1.02))
    curves.draw(axes, drawn, markers=False)
    curves.heading(axes, "What failed tips lose")


def draw_policies(axes: Axes, studies: dict[tuple[int, int, str], ss.failures.TipFailures]) -> None:
    """Draw the remaining capacity and blocks under either policy."""
    drawn = {}
    for policy in ("tolerance", "capacity"):
        study = studies[(*POLICY_SCHEME, policy)]
        kept = [100 * share for share in study.capacity_share]
        safe = [100 * (1 - share) for share in study.lost_share]
        drawn[f"{policy} given up: capacity"] = (study.failed_tips, kept)
        drawn[f"{policy} given up: blocks not lost"] = (study.failed_tips, safe)
    axes.set(xlabel="failed tips", ylabel="share of the blocks, %")
    curves.draw(axes, drawn, markers=False)
    curves.heading(axes, "Out of spares ({} ECC tips, {} spare tips)".format(*POLICY_SCHEME))


def draw_retries(axes: Axes, runs: dict[tuple[int, float], ss.Run]) -> None:
    """Draw response times by the rate of errors."""
    scales.logarithmic(axes, "x", ERROR_RATES[0], ERROR_RATES[-1])
    every = [run.summary["response_time_ms"] for run in runs.values()]
    ends = scales.ends(time for own in every for time in (own["mean"], own["p99"]))
    scales.logarithmic(axes, "y", *ends)
    lines: dict[str, Any] = {}
    for label, look in in_order([f"{ecc} ECC tips" for ecc in ECC]).items():
        ecc = int(label.split()[0])
        times = [runs[ecc, rate].summary["response_time_ms"] for rate in ERROR_RATES]
        means, p99s = [time["mean"] for time in times], [time["p99"] for time in times]
        for values, dash in ((means, "-"), (p99s, ":")):
            (line,) = axes.plot(ERROR_RATES, values, dash, color=look.color, marker=look.marker)
            line.set_markersize(4)
            lines.setdefault(label, line)
    axes.set(xlabel="chance that a tip sector is read wrong", ylabel="response time, ms")
    curves.legend_above(axes, lines)
    curves.heading(axes, "Retries: mean; dotted: 99 of 100 are below")


def draw_remapping(axes: Axes, rates: dict[str, list[float]]) -> None:
    """Draw the rate of a sequential read by the number of remapped tips."""
    names = {"spare_tips": "to spare tips", "elsewhere": "elsewhere"}
    axes.set(xlabel="remapped tips", ylabel="sequential read, MB/s")
    curves.draw(axes, {names[remap]: (REMAPPED, values) for remap, values in rates.items()})
    axes.set_ylim(0, None)
    curves.heading(axes, "Remapping")


def table(
    studies: dict[tuple[int, int, str], ss.failures.TipFailures],
    runs: dict[tuple[int, float], ss.Run],
    rates: dict[str, list[float]],
) -> str:
    """Return the study as text."""
    lines = ["ECC  spare  gives up   data   P(loss): 50 failed     200     400  capacity at 400"]
    for (ecc, spares, policy), study in studies.items():
        chances = "  ".join(f"{study.loss_probability[n]:6.1%}" for n in (50, 200, 400))
        lines.append(
            f"{ecc:3}  {spares:5}  {policy:9}  {study.data_share:5.1%}  {'':10}{chances}"
            f"  {study.capacity_share[400]:15.1%}"
        )
    lines.append("\nECC  errors   retries per request   lost requests    mean     p99")
    for (ecc, rate), run in runs.items():
        summary, times = run.summary, run.summary["response_time_ms"]
        lines.append(
            f"{ecc:3}  {rate:6.2%}  {summary['retries'] / summary['requests']:20.4f}"
            f"  {summary['errors'] / summary['requests']:14.2%}"
            f"  {times['mean']:6.3f}  {times['p99']:6.3f} ms"
        )
    lines.append("\nremapped tips  " + "  ".join(f"{failed:5}" for failed in REMAPPED))
    for remap, values in rates.items():
        lines.append(f"{remap:13}  " + "  ".join(f"{value:5.1f}" for value in values) + "  MB/s")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run everything, print tables and draw a picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer devices and requests")
    parser.add_argument("--output", type=picture_path, default=Path("out/tip_failures.png"))
    options = parser.parse_args(arguments)
    studies = losses(options.quick)
    requests = 2000 if options.quick else 20_000
    runs = {(ecc, rate): retried(ecc, rate, requests) for ecc in ECC for rate in ERROR_RATES}
    rates = {
        remap: [remapped(remap, failed, options.quick) for failed in REMAPPED]
        for remap in ("spare_tips", "elsewhere")
    }
    print(table(studies, runs, rates))

    def draw() -> Figure:
        figure = Figure(figsize=(10, 7.6))
        parts = figure.subplots(2, 2)
        draw_losses(parts[0, 0], studies)
        draw_policies(parts[0, 1], studies)
        draw_retries(parts[1, 0], runs)
        draw_remapping(parts[1, 1], rates)
        return figure

    write_picture(options.output, draw)


if __name__ == "__main__":
    main()
