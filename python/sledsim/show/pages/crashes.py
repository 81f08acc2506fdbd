"""The page of a crash test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim._number_text import number
from sledsim.show.crashes import sheet
from sledsim.show.pages import differences, sheets
from sledsim.show.pages.figures import drawn

if TYPE_CHECKING:
    from sledsim.failures.crashes import CrashReport
    from sledsim.show.pages.parts import Figure, Report


def report(crash: CrashReport) -> Report:
    """Return the page of a crash test."""
    return sheets.report(
        sheet(crash),
        ("What became of writes", _figures(crash)),
        differences.against_base(crash.origin.device) if crash.origin else None,
        made_from=crash.made_from(),
    )


def _figures(crash: CrashReport) -> list[Figure]:
    way = crash.to_dict()["under_way"]
    if not way["writes"]:
        return []
    said = ", ".join(f"{number(way[kind])} {kind}" for kind in ("lost", "torn", "kept"))
    return [
        drawn(
            "crash",
            crash,
            size=(4.4, 2.2),
            caption="Writes that were under way when the power failed. Each may end in any of these"
            " ways; what is complete must be kept.",
            alt=f"Writes under way: {said}.",
        )
    ]
