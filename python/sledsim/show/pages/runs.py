"""The page of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim._number_text import measured
from sledsim.show.pages import differences, sheets
from sledsim.show.pages.figures import drawn, panel
from sledsim.show.runs import sheet
from sledsim.show.words import CAUSES

if TYPE_CHECKING:
    from sledsim.show.pages.parts import Figure, Report
    from sledsim.simulation import Run


def report(run: Run) -> Report:
    """Return the page of a run."""
    return sheets.report(
        sheet(run),
        ("Where the time goes", _figures(run)),
        differences.against_base(run.origin.device) if run.origin else None,
        made_from=run.made_from(),
    )


def _figures(run: Run) -> list[Figure]:
    summary = run.to_dict()["summary"]
    if not summary["requests"]:
        return []
    p50, p99 = (measured(summary["response_time_ms"][key]) for key in ("p50", "p99"))
    means = {name: summary[f"{name}_ms"]["mean"] for name in CAUSES}
    said = ", ".join(f"{k.replace('_', ' ')} {measured(v)} ms" for k, v in means.items() if v)
    size = panel({"": run.cautions})
    return [
        drawn(
            "cdf",
            run,
            size=size,
            caption="How many requests took no longer than a time: the steeper, the more alike they"
            " are.",
            alt=f"Distribution of response times: half take at most {p50} ms, 99 % at most {p99}"
            " ms.",
        ),
        drawn(
            "causes",
            run,
            size=size,
            caption="What the mean response time is made of. The parts add up to it.",
            alt=f"Mean response time by cause: {said}.",
        ),
    ]
