"""Batches for a sled: linked commands against a window of time.

Run it as ``python examples/batching.py [--groups N] [--rate PER_S] [--output FILE]``. The paper
CMU-CS-03-125 (section 3.3) names two ways: the device delays commands for a fixed window of time,
or the host batches them explicitly. Here a host reads groups of blocks of one equivalence class,
one command each, over a link that carries one command at a time. A second host may read at random
over the same link; its commands come in between and stretch the delivery of a group, so that a
window may miss its end.
"""

from __future__ import annotations

import argparse
import heapq
import math
import random
import tempfile
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import polars as pl
import sledsim as ss
from matplotlib.figure import Figure
from shared import picture_path, write_results
from sledsim.plots import curves
from sledsim.plots.style import BLUE, VERMILION

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMAND_MS = 0.02  # on the link, for a command of the first host
OTHER_MS = 0.06  # and of the second host, with data
INTERVAL_MS = 8.0  # between groups, in the mean
WINDOWS_MS = (0.0, 0.1, 0.2, 0.25, 0.3, 0.4, 0.6, 1.0, 2.0)

Command = tuple[float, int, int, int, bool, int, float]
"""Delivered at (ms), host, block, blocks, linked, group, wanted at (ms)."""


def deliver(device: ss.Sled, groups: int, rate: float, seed: int) -> list[Command]:
    """Carry the commands of both hosts over the link, first come, first served."""
    chance, size = random.Random(seed), device.parallelism.p
    groups_to_come: list[tuple[float, list[int]]] = []
    now = 0.0
    for _ in range(groups):
        now += -INTERVAL_MS * math.log(1 - chance.random())
        members = device.equivalent(int(chance.random() * device.blocks))
        chance.shuffle(members)
        groups_to_come.append((now, members[:size]))
    end, now = now, 0.0
    wanted: list[tuple[float, int, int, list[int], float]] = []  # at, host, group, blocks, since
    while rate:
        now += -1e3 / rate * math.log(1 - chance.random())
        if now > end:
            break
        wanted.append((now, 1, -1, [int(chance.random() * (device.blocks - 8))], now))
    heapq.heapify(wanted)
    commands: list[Command] = []
    free, group = 0.0, 0
    heapq.heappush(wanted, (groups_to_come[0][0], 0, 0, groups_to_come[0][1], groups_to_come[0][0]))
    while wanted:
        at, host, of, (first, *left), since = heapq.heappop(wanted)
        free = max(at, free) + (OTHER_MS if host else COMMAND_MS)
        commands.append((free, host, first, 8 if host else 1, bool(left), of, since))
        if left:  # the next one follows when this one is there
            heapq.heappush(wanted, (free, host, of, left, since))
        elif host == 0 and (group := group + 1) < groups:  # one group after the other
            since, left = groups_to_come[group]
            heapq.heappush(wanted, (max(since, free), 0, group, left, since))
    return commands


def measure(commands: list[Command], device: ss.Sled, folder: Path) -> dict[str, float]:
    """Serve the commands; return the times that the hosts see."""
    trace = folder / "commands.csv"
    lines = ["ms,host,lbn,blocks,linked"]
    lines += [f"{at:.6f},{host},{lbn},{n},{int(more)}" for at, host, lbn, n, more, *_ in commands]
    trace.write_text("\n".join(lines) + "\n", encoding="ascii")
    columns = "time=ms:ms, device=host, offset=lbn:512B, bytes=blocks:512B, op=:read, linked=linked"
    load = ss.read_trace(trace, columns=columns, trace_device="all", time_origin="file")
    rows = (
        pl.DataFrame(ss.simulate(load, device).rows)
        .sort("id")
        .with_columns(
            group=pl.Series([command[5] for command in commands]),
            wanted_ms=pl.Series([command[6] for command in commands]),
            end_ms=pl.col("completion_ns") / 1e6,
        )
    )
    own = rows.filter(pl.col("group") >= 0).group_by("group", maintain_order=True)
    served = own.agg(
        ms=pl.col("end_ms").max() - pl.col("wanted_ms").min(),
        whole=pl.col("start_ns").n_unique() == 1,
    )
    other = rows.filter(pl.col("group") < 0)
    return {
        "group_ms": fmean(served["ms"]),
        "whole": fmean(served["whole"]),
        "other_ms": fmean(other["end_ms"] - other["wanted_ms"]) if len(other) else 0.0,
    }


def explore(groups: int, rate: float, seed: int) -> dict[str, Any]:
    """Serve the groups in every way, alone and with a second host."""
    ways: dict[str, dict[str, Any]] = {"plain": {"kind": "none"}, "explicit": {"kind": "explicit"}}
    ways |= {f"window {ms:g} ms": {"kind": "window", "window_ms": ms} for ms in WINDOWS_MS}
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, other_rate in (("alone", 0.0), ("second_host", rate)):
            commands = deliver(ss.device("cmu2003"), groups, other_rate, seed)
            results[name] = {
                way: measure(
                    commands,
                    ss.device("cmu2003", command_overhead_ms=0.0, batching=keys),
                    Path(folder),
                )
                for way, keys in ways.items()
            }
    return {"groups": groups, "rate_per_s": rate, "seed": seed, "ways": results}


def table(result: dict[str, Any]) -> str:
    """Return everything as text."""
    alone, both = result["ways"]["alone"], result["ways"]["second_host"]
    lines = [
        f"{result['groups']} groups of 10; a second host: {result['rate_per_s']:g} reads per s",
        "                      alone            with a second host",
        "way              group ms  whole    group ms  whole  its reads ms",
    ]
    lines += [
        f"{way:16} {alone[way]['group_ms']:8.3f} {alone[way]['whole']:6.1%}"
        f" {both[way]['group_ms']:11.3f} {both[way]['whole']:6.1%} {both[way]['other_ms']:13.3f}"
        for way in alone
    ]
    return "\n".join(lines)


def picture(result: dict[str, Any]) -> Figure:
    """Draw the time of a group against the window."""
    figure = Figure(figsize=(7.2, 4))
    axes = figure.add_subplot()
    looks = {"alone": (BLUE, "alone"), "second_host": (VERMILION, "with a second host")}
    for name, (colour, label) in looks.items():
        ways = result["ways"][name]
        means = [ways[f"window {ms:g} ms"]["group_ms"] for ms in WINDOWS_MS]
        axes.plot(WINDOWS_MS, means, "o-", color=colour, markersize=4, label=f"window, {label}")
        for way, dashes in (("explicit", "--"), ("plain", ":")):
            mean = ways[way]["group_ms"]
            axes.axhline(mean, color=colour, linestyle=dashes, label=f"{way}, {label}")
    axes.set(
        xlabel="window (ms)", ylabel="from wanting a group to its last block (ms)", ylim=(0, None)
    )
    handles, labels = axes.get_legend_handles_labels()
    curves.legend_above(axes, dict(zip(labels, handles, strict=True)))
    return figure


def main(arguments: Sequence[str] | None = None) -> None:
    """Run everything."""
    parser = argparse.ArgumentParser(description="Explicit batches against a window of time")
    parser.add_argument("--groups", type=int, default=2000, help="of ten commands (%(default)s)")
    parser.add_argument(
        "--rate", type=float, default=300, help="of the second host (%(default)s/s)"
    )
    parser.add_argument("--seed", type=int, default=1, help="of both hosts (%(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where to write the numbers")
    parser.add_argument("--output", type=picture_path, help="the picture: .png, .svg or .pdf")
    options = parser.parse_args(arguments)
    if options.groups < 1:
        parser.error(f"--groups {options.groups}: must be at least 1")
    if not 0 <= options.rate <= 1e4:
        parser.error(f"--rate {options.rate}: must be from 0 to 10000")
    try:
        result = explore(options.groups, options.rate, options.seed)
        print(table(result))
        write_results(options, result, picture)
    except (ss.SledsimError, OSError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
