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
    from collections.abc import Iterator

    from matplotlib.figure import Figure

    from sledsim.hardware import Sled
    from sledsim.papers import Setup
    from sledsim.tables import Table

Read = tuple[int, int, bool]
"""First LBN, blocks, and whether the next read is of the same batch."""
HELD, PAGES = 64, {"a1": (0,), "a2": (1, 2), "a1 + a2": (0, 1, 2)}
"""Records of a capsule, and its pages by what is read."""
DEPTHS = (1, 2, 8)
"""Reads that the device knows of at a time."""
WAYS = ("one after the other", "requested ahead")
POOLED = 10
"""Groups of which the places in the buffer pool are compared."""
RESIDUES = range(9, 270, 27)
"""Capsules of a last group, fewer than a track has blocks."""


def tracks(table: Table, device: Sled, groups: int) -> list[list[Read]]:
    """Return the reads of the tracks of each group of capsules, by their pages."""
    size = device.parallelism.S_T
    firsts = (blocks(table, group * size, HELD) for group in range(groups))
    return [[(device.boundaries(lbn)[0], size, False) for lbn in own] for own in firsts]


def scattered(device: Sled, own: list[Read]) -> Iterator[tuple[int, int, int]]:
    """Yield for each block of the tracks of a group its LBN, its capsule in the group and its page.

    That is where it goes in the buffer pool: the block of a capsule's first page lies p squares
    before in the class for each page.
    """
    shape = device.parallelism
    for page, (low, count, _) in enumerate(own):
        for lbn in range(low, low + count):
            members = device.equivalent(lbn)
            square = members.index(lbn) - page * shape.p
            if square < 0:  # its first page is in the cylinder before
                members = device.equivalent(lbn - shape.S_C)
            yield lbn, members[square] - own[0][0], page


def misplaced(table: Table, device: Sled, groups: list[list[Read]]) -> int:
    """Return how many pages of the buffer pool do not get the block that the table has there."""
    size, pool = device.parallelism.S_T, {}
    for group, own in enumerate(groups):
        for lbn, capsule, page in scattered(device, own):
            pool[group * size + capsule, page] = lbn
    frames = (blocks(table, capsule, HELD) for capsule in range(len(groups) * size))
    right = [[pool.get((at, page)) for page in range(3)] == own for at, own in enumerate(frames)]
    return right.count(False)


def rate_mb_s(device: Sled, reads: list[Read], depth: int) -> float:
    """Return the rate of reads, so many requested at a time."""
    moved = sum(count for _, count, _ in reads) * 512 / 1e6
    return float(moved / replay(reads, device, depth)["simulated_s"])


def residue_s(table: Table, device: Sled, whole: list[Read], capsules: int) -> list[float]:
    """Return the times to read some capsules after a group: in a batch, by reads, and ahead."""
    first = device.parallelism.S_T
    some = range(first, first + capsules)
    lbns = sorted(lbn for number in some for lbn in blocks(table, number, HELD))
    runs = [list(run) for _, run in groupby(enumerate(lbns), lambda pair: pair[1] - pair[0])]
    reads = whole + [(run[0][1], len(run), False) for run in runs]
    table.scan(None, 0, first * HELD)
    batch = table.scan(None, first * HELD, capsules * HELD).simulated_s
    single, ahead = (
        replay(reads, device, depth)["simulated_s"] - replay(whole, device, depth)["simulated_s"]
        for depth in (1, 2)
    )
    return [batch, single, ahead]


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Stream a table of capsules, one read after the other and ahead; read its rest in batches."""
    device, groups = memstore(setup), 30 if quick else 300
    table = figure6.table(device, groups, split=True)
    own = tracks(table, device, groups)
    rates: dict[str, list[float]] = {}
    for name, pages in PAGES.items():
        reads = [each[page] for each in own for page in pages]
        rates[name] = [rate_mb_s(device, reads, depth) for depth in DEPTHS]
    full = stream_mb_s(device, 20 if quick else 200)
    residues = [residue_s(table, device, own[0], capsules) for capsules in RESIDUES]
    batch, single, _ = map(fmean, zip(*residues, strict=True))
    return Found(
        {
            "full_mb_s": rates["a1 + a2"][-1],
            "full": [1.0, *(each[-1] / full for each in rates.values())],
            "rate_order": dict(zip(WAYS, (rates["a1 + a2"][0], rates["a1 + a2"][-1]), strict=True)),
            "misplaced": misplaced(table, device, own[:POOLED]),
            "residue_order": {"batch": batch, "reads": single},
        },
        series={"mb_s": rates, "residue_s": residues},
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw the rates by how many reads are requested at a time."""
    axes = figure.add_subplot()
    by_depth = zip(*found.series["mb_s"].values(), strict=True)
    series = {f"{depth} at a time": own for depth, own in zip(DEPTHS, by_depth, strict=True)}
    bars.grouped(axes, list(PAGES), series, "{:.1f}".format)
    axes.set(ylabel="rate (MB/s)")
