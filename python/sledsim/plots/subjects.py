"""What a picture is of: runs with labels, in the words of its title."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from sledsim._arguments import refuse
from sledsim._values import printable
from sledsim.comparison import Comparison
from sledsim.plots.frame import load_title
from sledsim.results import cautions
from sledsim.simulation import Run

if TYPE_CHECKING:
    from collections.abc import Sequence

Subject: TypeAlias = "Run | Comparison | Mapping[str, Run]"
"""A run, a comparison, or runs by their labels."""

_LISTED = 5
"""Most labels in a title."""


def runs_of(of: object) -> dict[str, Run]:
    """Return runs by their labels."""
    if isinstance(of, Run):
        return {of.to_dict()["device"]: of}
    if isinstance(of, Comparison):
        return dict(zip(of.labels, of.runs, strict=True))
    if not isinstance(of, Mapping) or not of or not all(isinstance(r, Run) for r in of.values()):
        refuse("of", of, "a run, a comparison, or runs by their labels")
    return {printable(str(label)): run for label, run in of.items()}


def cautions_of(
    runs: Mapping[str, Run], *, means: bool = True
) -> dict[str, Sequence[Mapping[str, Any]]]:
    """Return the cautions of runs by their labels, without means all but those of intervals."""
    return {
        label: [one for one in run.cautions if means or one["code"] not in cautions.OF_INTERVALS]
        for label, run in runs.items()
    }


def subject(of: Subject) -> str:
    """Name loads and devices, for a title."""
    runs = runs_of(of)
    documents = [run.to_dict() for run in runs.values()]
    loads = list(dict.fromkeys(load_title(document["workload"]) for document in documents))
    load = loads[0] if len(loads) == 1 else f"{len(loads)} loads"
    if len(runs) == 1:
        return f"{load} on {documents[0]['device']} ({documents[0]['scheduler']})"
    labels = list(runs)
    devices = {document["device"] for document in documents}
    schedulers = {document["scheduler"] for document in documents}
    on = ", ".join(labels) if len(labels) <= _LISTED else f"{len(labels)} set-ups"
    if len(devices) == 1:
        return f"{load} on {documents[0]['device']}: {on}"
    rule = f" ({documents[0]['scheduler']})" if len(schedulers) == 1 else ""
    return f"{load} on {on}{rule}"
