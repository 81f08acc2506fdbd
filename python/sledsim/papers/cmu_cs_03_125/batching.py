"""Section 3.3: a window of time against linked batches."""

from __future__ import annotations

import heapq
import random
from statistics import fmean
from typing import TYPE_CHECKING, Any

from sledsim.papers import Found
from sledsim.papers.cmu_cs_03_125.memstore import memstore, run, times_ns

if TYPE_CHECKING:
    from sledsim.hardware import Sled
    from sledsim.papers import Setup

COMMAND_MS, OTHER_MS = 0.02, 0.06
"""On the link, for a command of the first and of the second host."""
INTERVAL_MS, OTHERS_PER_S = 8.0, 300
WINDOWS_MS = (0.1, 0.15, 0.2, 0.25, 0.3, 0.4)
SEED = 1
Command = tuple[float, int, int, int, bool, float]
"""Delivered at (ms), group or -1, block, blocks, linked, wanted at (ms)."""


def deliver(device: Sled, groups: int, others_per_s: float) -> list[Command]:
    """Carry the commands of both hosts over the link, first come, first served.

    The first host sends its groups one after the other.
    """
    chance, size = random.Random(SEED), device.parallelism.p
    to_come: list[tuple[float, int, list[int]]] = []
    now = 0.0
    for group in range(groups):
        now += chance.expovariate(1 / INTERVAL_MS)
        members = device.equivalent(chance.randrange(device.blocks))
        to_come.append((now, group, chance.sample(members, size)))
    end, now = now, 0.0
    wanted: list[tuple[float, int, list[int]]] = []  # at, group or -1, blocks that are left
    while others_per_s and (now := now + chance.expovariate(others_per_s / 1e3)) < end:
        wanted.append((now, -1, [chance.randrange(device.blocks - 8)]))
    since = {-1: 0.0} | {group: at for at, group, _ in to_come}
    to_come.reverse()
    wanted.append(to_come.pop())
    heapq.heapify(wanted)
    commands: list[Command] = []
    free = 0.0
    while wanted:
        at, group, (first, *left) = heapq.heappop(wanted)
        free = max(at, free) + (OTHER_MS if group < 0 else COMMAND_MS)
        commands.append((free, group, first, 8 if group < 0 else 1, bool(left), since[group]))
        if left:  # the next one follows when this one is there
            heapq.heappush(wanted, (free, group, left))
        elif group >= 0 and to_come:
            at, group, blocks = to_come.pop()
            heapq.heappush(wanted, (max(at, free), group, blocks))
    return commands


def measure(commands: list[Command], device: Sled) -> tuple[float, float]:
    """Serve commands; return the mean time of a group in ms, and how many are whole, in %."""
    reads = [
        (1e3 * at, int(group < 0), lbn, blocks, more)
        for at, group, lbn, blocks, more, _ in commands
    ]
    starts: dict[int, set[int]] = {}
    ends: dict[int, float] = {}
    served = times_ns(run(reads, device))
    for (start, end), (_, group, *_, since) in zip(served, commands, strict=True):
        if group >= 0:
            starts.setdefault(group, set()).add(start)
            ends[group] = max(ends.get(group, 0.0), end / 1e6 - since)
    return fmean(ends.values()), 100 * fmean(len(each) == 1 for each in starts.values())


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Serve groups in every way, alone and with a second host."""
    groups = 200 if quick else 2000
    took: dict[str, dict[str, float]] = {}
    whole: dict[str, dict[str, float]] = {}
    for name, others_per_s in (("one host", 0), ("two hosts", OTHERS_PER_S)):
        commands = deliver(memstore(setup), groups, others_per_s)
        ways: dict[str, dict[str, Any]] = {"linked batch": {"kind": "explicit"}}
        ways |= {f"{ms} ms": {"kind": "window", "window_ms": ms} for ms in WINDOWS_MS}
        found = {
            way: measure(commands, memstore(setup, command_overhead_ms=0, batching=keys))
            for way, keys in ways.items()
        }
        took[name] = {way: ms for way, (ms, _) in found.items()}
        whole[name] = {way: percent for way, (_, percent) in found.items()}
    best = {
        name: {
            "linked batch": each["linked batch"],
            "window": min(each[f"{ms} ms"] for ms in WINDOWS_MS),
        }
        for name, each in took.items()
    }
    return Found(
        {
            "alone_order": best["one host"],
            "shared_order": best["two hosts"],
            "whole_order": {name: each["0.2 ms"] for name, each in whole.items()},
            "short_order": {way: took["one host"][way] for way in ("0.1 ms", "0.2 ms")},
            "linked_whole": whole["two hosts"]["linked batch"],
        },
        series={"group_ms": took, "whole_percent": whole},
    )
