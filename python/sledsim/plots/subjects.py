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
    from collections.abc import Iterable, Sequence

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


def facts(of: Subject, *, intervals: bool = True) -> list[str]:
    """Return what a caption says of runs: load, devices, requests, seed, and what intervals are."""
    runs = runs_of(of)
    documents = [run.to_dict() for run in runs.values()]

    def distinct(values: Iterable[object]) -> str:
        return ", ".join(dict.fromkeys(str(value) for value in values if value is not None))

    rules = {document["scheduler"] for document in documents}
    names = []
    for label, document in zip(runs, documents, strict=True):
        name = label if document["device"] in label else f"{label}: {document['device']}"
        told = len(rules) == 1 or document["scheduler"] in name
        names.append(name if told else f"{name} ({document['scheduler']})")
    rule = f" ({rules.pop()})" if len(rules) == 1 else ""
    loads = distinct(load_title(document["workload"]) for document in documents)
    counts = " or ".join(
        dict.fromkeys(f"{document['summary']['requests']:,}" for document in documents)
    )
    seeds = distinct(document["workload"].get("seed") for document in documents)
    found = [f"load: {loads}; on {distinct(names)}{rule}"]
    found.append(f"{counts} requests" + (f", seed {seeds}" if seeds else ""))
    known = [document["summary"]["confidence"] for document in documents]
    if intervals and any(each["response_time_ms"]["low"] is not None for each in known):
        method = known[0]["method"].replace("_", " ")
        level = f"{100 * known[0]['level']:g} %"
        found.append(f"intervals: {level} confidence of the mean, by {method}")
    return found


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
