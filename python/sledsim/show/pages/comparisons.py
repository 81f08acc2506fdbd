"""The page of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim._number_text import number
from sledsim.show.comparisons import sheet
from sledsim.show.pages import differences, sheets
from sledsim.show.pages.figures import drawn, panel

if TYPE_CHECKING:
    from sledsim.comparison import Comparison
    from sledsim.show.pages.parts import Figure, Report


def report(comparison: Comparison) -> Report:
    """Return the page of a comparison."""
    devices = {
        label: run.origin.device
        for label, run in zip(comparison.labels, comparison.runs, strict=True)
        if run.origin is not None
    }
    return sheets.report(
        sheet(comparison),
        ("Where the time goes", _figures(comparison)),
        differences.between(devices),
        made_from=_made_from(comparison),
    )


def _figures(comparison: Comparison) -> list[Figure]:
    means = "; ".join(
        f"{line['label']} {number(line['mean_ms'], 3)} ms"
        for line in comparison.table.to_dicts()
        if line["mean_ms"] is not None
    )
    return [
        drawn(
            "cdf",
            comparison,
            size=panel(comparison.cautions),
            caption="How many requests took no longer than a time. Lines further to the left are"
            " faster.",
            alt=f"Distributions of response times; means: {means}.",
        ),
        drawn(
            "causes",
            comparison,
            size=panel(comparison.cautions, 0.25 * len(comparison.runs)),
            caption="What the mean response times are made of.",
            alt=f"Mean response times by cause: {means}.",
        ),
        *([_differences(comparison)] if comparison.has_pairs else []),
    ]


def _differences(comparison: Comparison) -> Figure:
    lines = comparison.table.to_dicts()[1:]
    faster = "; ".join(
        f"{line['label']} {number(100 * line['faster_share'], 3)} %"
        for line in lines
        if line["faster_share"] is not None
    )
    return drawn(
        "differences",
        comparison,
        size=panel(comparison.cautions),
        caption="How much longer the same request took than on the baseline. Left of zero requests"
        " were faster.",
        alt=f"Distributions of paired differences of response time; faster were: {faster}.",
    )


def _made_from(comparison: Comparison) -> list[tuple[str, str]]:
    made: dict[str, str] = {}
    for label, run in zip(comparison.labels, comparison.runs, strict=True):
        for name, digest in run.made_from():
            key = f"device {run.to_dict()['device']}" if name == "device" else f"{name}, {label}"
            if digest not in made.values():
                made["load" if name == "load" and "load" not in made else key] = digest
    return sorted(made.items(), key=lambda entry: not entry[0].startswith("device"))
