"""Abstract and section 5.2: dense matrices, read by rows and by columns."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import numpy as np

from sledsim import hardware, tables
from sledsim.hardware import Device, Sled
from sledsim.papers import Found
from sledsim.papers.cmu_cs_03_125 import sample
from sledsim.papers.cmu_cs_03_125.figure5 import passes
from sledsim.papers.cmu_cs_03_125.memstore import memstore, replay
from sledsim.plots import bars, scales
from sledsim.tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sledsim.papers import Setup

COLUMNS = 640
"""A row fills ten blocks, those that are read at once."""
VALUE_BYTES, HELD = 8, 64
"""Bytes of a value, and values of a block."""
ROW_BLOCKS = COLUMNS // HELD
DISK, DISK_READ_BLOCKS = "atlas10k-50mbps", 2700
MIDDLE = COLUMNS // 2


def matrix(rows: int, columns: int = COLUMNS) -> Any:
    """Return random values, of which each row of the array is a column of the matrix."""
    return np.random.default_rng(sample.SEED).random((columns, rows))


def capsules(values: Any, device: Sled) -> Table:
    """Store a matrix in capsules, each of which has a block of every column."""
    columns = {f"c{number}": column for number, column in enumerate(values)}
    return tables.table(
        sample.arrow_library().table(columns), device, "capsule", page_header_bytes=0
    )


def column_lbns(rows: int, column: int) -> list[int]:
    """Return the blocks that hold the values of a column of a matrix that lies row by row."""
    return [row * ROW_BLOCKS + column // HELD for row in range(rows)]


def linear(device: Device, rows: int, at_once: int) -> dict[str, float]:
    """Return the times to read a matrix that lies row by row, and a column, a block a row."""
    blocks = rows * ROW_BLOCKS
    reads = [(lbn, min(at_once, blocks - lbn), False) for lbn in range(0, blocks, at_once)]
    column = [(lbn, 1, False) for lbn in column_lbns(rows, MIDDLE)]
    return {
        "all": replay(reads, device)["simulated_s"],
        "a block a row": replay(column, device)["simulated_s"],
    }


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Read a matrix in capsules and one row by row, in both orders."""
    device, disk = memstore(setup), hardware.device(DISK)
    track = device.parallelism.S_T
    band = track * HELD
    rows = band * (2 if quick else 4)
    table = capsules(matrix(rows), device)
    names = table.schema_names
    by_rows = sum(table.scan(None, first, band).simulated_s for first in range(0, rows, band))
    up, down = (sum(table.scan([one]).simulated_s for one in own) for own in (names, names[::-1]))
    column = table.scan([names[MIDDLE]]).simulated_s
    flat, on_disk = linear(device, rows, track), linear(disk, rows, DISK_READ_BLOCKS)
    times = {
        "disk, row by row": (on_disk["all"], COLUMNS * min(on_disk.values())),
        "MEMStore, row by row": (flat["all"], COLUMNS * min(flat.values())),
        "MEMStore, capsules": (by_rows, up),
    }
    megabytes = COLUMNS * rows * VALUE_BYTES / 1e6
    rates = {
        name: {"rows": megabytes / one, "columns": megabytes / other}
        for name, (one, other) in times.items()
    }
    narrow = capsules(matrix(band, device.parallelism.p), device)
    one_row, wide_row = (
        [own.place(0, name)[0] for name in own.schema_names] for own in (narrow, table)
    )
    some = random.Random(sample.SEED).choices(range(rows), k=1000)
    some_s = replay([(row * ROW_BLOCKS, ROW_BLOCKS, False) for row in some], device)["simulated_s"]
    return Found(
        {
            "both_orders": [each / flat["all"] for each in (flat["all"], by_rows, up, down)],
            "column_order": {"capsules": column} | flat,
            "disk_order": rates["disk, row by row"],
            "row_passes": passes(device, one_row),
            "wide_row_passes": passes(device, wide_row),
        },
        series={"mb_s": rates, "thousand_rows_s": [some_s, table.read(some).simulated_s]},
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw how fast wanted values arrive, in both orders."""
    axes = figure.add_subplot()
    rates = found.series["mb_s"]
    series = {f"by {way}": [own[way] for own in rates.values()] for way in ("rows", "columns")}
    scales.logarithmic(axes, "y", 0.02, 100)
    bars.grouped(axes, [name.replace(", ", ",\n") for name in rates], series, "{:.3g}".format)
    axes.set(ylabel="wanted values (MB/s)")
