"""Pictures of crash tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim.plots import bars
from sledsim.plots.frame import Panel, picture
from sledsim.plots.style import OPS

if TYPE_CHECKING:
    from typing import Unpack

    from matplotlib.axes import Axes

    from sledsim.failures.crashes import CrashReport
    from sledsim.plots.frame import How
    from sledsim.plots.picture import Picture


def crash(test: CrashReport, **how: Unpack[How]) -> Picture:
    """Draw what became of the writes that were under way when the power failed.

    Parameters
    ----------
    test
        The crash test.
    **how
        As for :func:`~sledsim.plots.cdf`.
    """
    document = test.to_dict()
    counts = {name: document["under_way"][name] for name in ("kept", "torn", "lost")}

    def draw(axes: Axes) -> None:
        axes.barh(range(len(counts)), list(counts.values()), color=OPS["write"])
        for place, count in enumerate(counts.values()):
            bars.beside(axes, count, place, f"{count:,}")
        bars.rows(axes, list(counts))
        axes.margins(x=0.15)
        axes.set_xlabel("writes under way at a power failure")

    heading = f"{document['device']}: writes under way"
    what = "What became of the writes that were under way when the power failed"
    events = f"{document['points']:,} failures, {document['requests']:,} requests"
    device = f"{document['device']} ({document['scheduler']})"
    facts = [device, f"{events}, seed {document['seed']}"]
    return picture(how, {"under_way": Panel(draw, what)}, heading, facts=facts, height_in=2.4)
