"""Section 5.2.4: capsules streamed by reads that are requested ahead, with scatter-gather lists."""

from __future__ import annotations

from itertools import groupby
from statistics import fmean
from typing import TYPE_CHECKING

from sledsim.papers import Found
from sledsim.papers.cmu_cs_03_125 import figure6
from sledsim.papers.cmu_cs_03_125.figure5 import blocks
from sledsim.papers.cmu_cs_03_125.memstore import memstore, replay
from sledsim.papers.cmu_cs_03_125.table1 import stream_mb_s
from sledsim.plots import bars

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.figure import Figure

    import sledsim as ss
    from sledsim.papers import Setup

HELD, PAGES = 64, {"a1": (0,), "a2": (1, 2), "a1 + a2": (0, 1, 2)}
"""Records of a capsule, and its pages by what is read."""
DEPTHS = (1, 2, 8)
"""Reads that the device knows of at a time."""
POOLED = 10
"""Groups of which the places in the buffer pool are compared."""
RESIDUES = range(9, 270, 27)
"""Capsules of a last group, fewer than a track has blocks."""


def tracks(table: ss.Table, device: ss.Sled, groups: int) -> list[list[tuple[int, int]]]:
    """Return the first and last block of the tracks of each group of capsules, by their pages."""
    size = device.parallelism.S_T
    firsts = (blocks(table, group * size, HELD) for group in range(groups))
    return [[device.boundaries(lbn) for lbn in own] for own in firsts]


def scattered(device: ss.Sled, own: list[tuple[int, int]]) -> Iterator[tuple[int, int, int]]:
    """Yield for each block of the tracks of a group its LBN, its capsule in the group and its page.

    That is where it goes in the buffer pool: the block of a capsule's first page lies p squares
    before in the class for each page.
    """
    shape, first = device.parallelism, own[0][0]
    for page, (low, high) in enumerate(own):
        for lbn in range(low, high + 1):
            members = device.equivalent(lbn)
            square = members.index(lbn) - page * shape.p
            if square < 0:  # its first page is in the cylinder before
                members = device.equivalent(lbn - shape.S_C)
            yield lbn, members[square] - first, page


def misplaced(table: ss.Table, device: ss.Sled, groups: list[list[tuple[int, int]]]) -> int:
    """Return how many pages of the buffer pool do not get the block that the table has there."""
    size, pool = device.parallelism.S_T, {}
    for group, own in enumerate(groups):
        for lbn, capsule, page in scattered(device, own):
            pool[group * size + capsule, page] = lbn
    return sum(
        pool.get((capsule, page)) != lbn
        for capsule in range(len(groups) * size)
        for page, lbn in enumerate(blocks(table, capsule, HELD))
    )


def rate_mb_s(
    device: ss.Sled, groups: list[list[tuple[int, int]]], pages: Sequence[int], depth: int
) -> float:
    """Return the rate of reads of some tracks of each group, so many requested at a time."""
    chosen = [own[page] for own in groups for page in pages]
    reads = [(low, high - low + 1, False) for low, high in chosen]
    moved = sum(count for _, count, _ in reads) * 512 / 1e6
    return float(moved / replay(reads, device, depth)["simulated_s"])


def residue_ms(
    table: ss.Table, device: ss.Sled, before: list[tuple[int, int]], capsules: int
) -> dict[str, float]:
    """Return the times to read some capsules after a whole group: by a batch, and by reads."""
    first = device.parallelism.S_T
    own = range(first, first + capsules)
    lbns = sorted(lbn for number in own for lbn in blocks(table, number, HELD))
    runs = [list(run) for _, run in groupby(enumerate(lbns), lambda pair: pair[1] - pair[0])]
    whole = [(low, high - low + 1, False) for low, high in before]
    reads = whole + [(run[0][1], len(run), False) for run in runs]
    table.scan(None, 0, first * HELD)
    took = {"batch": table.scan(None, first * HELD, capsules * HELD).simulated_s}
    for name, depth in (("reads", 1), ("reads ahead", 2)):
        both, one = (replay(some, device, depth)["simulated_s"] for some in (reads, whole))
        took[name] = both - one
    return {name: 1e3 * seconds for name, seconds in took.items()}


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Stream a table of capsules, one read after the other and ahead; read its rest in batches."""
    device = memstore(setup)
    groups = 30 if quick else 300
    table = figure6.table(device, groups, split=True)
    own = tracks(table, device, groups)
    rates = {
        name: {str(depth): rate_mb_s(device, own, pages, depth) for depth in DEPTHS}
        for name, pages in PAGES.items()
    }
    full = stream_mb_s(device, 20 if quick else 200)
    single, *_, ahead = rates["a1 + a2"].values()
    residues = [residue_ms(table, device, own[0], capsules) for capsules in RESIDUES]
    at_once = device.parallelism.p // len(own[0]) * HELD  # the p/c capsules of one pass
    batches = [table.scan(None, at * at_once, at_once) for at in range(1000)]
    return Found(
        {
            "full_mb_s": ahead,
            "full": [1.0, *(list(each.values())[-1] / full for each in rates.values())],
            "rate_order": {"one after the other": single, "requested ahead": ahead},
            "misplaced": misplaced(table, device, own[:POOLED]),
            "residue_order": {
                name: fmean(each[name] for each in residues) for name in ("batch", "reads")
            },
        },
        series={
            "mb_s": rates,
            "full_mb_s": full,
            "batches_mb_s": sum(each.bytes_moved for each in batches)
            / sum(each.simulated_s for each in batches)
            / 1e6,
            "residue_ms": residues,
        },
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw the rates by how many reads are requested at a time."""
    axes = figure.add_subplot()
    rates = found.series["mb_s"]
    series = {f"{depth} at a time": [own[str(depth)] for own in rates.values()] for depth in DEPTHS}
    bars.grouped(axes, list(rates), series, "{:.1f}".format)
    axes.set(ylabel="rate (MB/s)")
