"""Figure 6: capsules of two attributes on the G2 MEMStore."""

from __future__ import annotations

from itertools import chain, pairwise
from typing import TYPE_CHECKING

from sledsim import hardware, tables
from sledsim.hardware import Sled
from sledsim.papers import Found
from sledsim.papers.cmu_cs_03_125 import sample
from sledsim.papers.cmu_cs_03_125.figure5 import blocks, passes
from sledsim.plots import curves
from sledsim.plots.style import FAINT
from sledsim.tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTHS = {"a1": 8, "a2": 16}
CYLINDERS = 3
"""Thirty tracks: ten groups of three."""


def table(device: Sled, groups: int, *, split: bool) -> Table:
    """Return a table of groups of as many capsules as a track has blocks."""
    data = sample.records(64 * device.parallelism.S_T * groups, WIDTHS)
    return tables.table(data, device, "capsule", page_header_bytes=0, split=split)


def capsules(table: Table) -> list[list[int]]:
    """Return the blocks of all capsules of a table."""
    held = table.facts["records_per_capsule"]
    return [blocks(table, number, held) for number in range(table.records // held)]


def empty(table: Table, device: Sled) -> float:
    """Return the part of the cylinders that a table reaches where it has no blocks."""
    (last, _) = table.place(table.records - 1, "a2")
    cylinders = device.locate(last).cylinder + 1
    return 1 - table.blocks / (cylinders * device.parallelism.S_C)


def at_once(device: Sled, some: list[list[int]]) -> int:
    """Return the number of capsules, from the first, that one pass reads."""
    count = 1
    while passes(device, list(chain(*some[: count + 1]))) == 1:
        count += 1
    return count


def simulate(*, quick: bool) -> Found:  # places only
    """Lay capsules over three cylinders, split or padded, and locate them."""
    device = hardware.device("cmu2003")
    shape = device.parallelism
    groups = CYLINDERS * shape.N_y // 3
    split = table(device, groups, split=True)
    found = capsules(split)
    first = found[: shape.S_T]
    pages = {name: [own[part] for own in first] for part, name in enumerate(("a1", "a2", "a2_2"))}
    shared = set(device.equivalent(0))
    shaded = [number for number, own in enumerate(found) if shared.issuperset(own)]
    several = sum(len(classes(device, own)) > 1 for own in found)
    padded = table(device, shape.N_y * (shape.N_y // 3), split=False)
    return Found(
        {
            "records": split.facts["records_per_capsule"],
            "blocks": len(found[0]),
            **{f"{name}_first": min(own) for name, own in pages.items()},
            **{f"{name}_last": max(own) for name, own in pages.items()},
            **{f"{name}_run": run(own) for name, own in pages.items()},
            "classes": max(len(classes(device, own)) for own in first),
            "shaded": max(number for number in shaded if number < shape.S_T) + 1,
            "at_once": at_once(device, first),
            "split": several / len(found),
            "padding": empty(padded, device),
        },
        series={"pages": pages, "shaded": shaded},
    )


def classes(device: Sled, lbns: list[int]) -> set[int]:
    """Return the equivalence classes that blocks lie in, each by its lowest block."""
    return {min(device.equivalent(lbn)) for lbn in lbns}


def run(lbns: list[int]) -> int:
    """Return the length of the first run of consecutive blocks."""
    return next(
        (at for at, (one, two) in enumerate(pairwise(lbns), 1) if two != one + 1), len(lbns)
    )


def draw(figure: Figure, found: Found) -> None:
    """Draw the blocks of capsules 0 to 269, and those of the first class."""
    axes = figure.add_subplot()
    axes.set(xlabel="capsule", ylabel="LBN")
    labels = {"a1": "a1", "a2": "a2, first half", "a2_2": "a2, second half"}
    pages = {label: found.series["pages"][name] for name, label in labels.items()}
    curves.draw(axes, {label: (range(len(p)), p) for label, p in pages.items()}, markers=False)
    shaded = [number for number in found.series["shaded"] if number < len(pages["a1"])]
    span = axes.axvspan(min(shaded) - 0.5, max(shaded) + 0.5, color=FAINT, zorder=0)
    curves.add_to_legend(axes, "class of LBN 0", span)
