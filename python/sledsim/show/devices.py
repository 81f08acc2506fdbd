"""What is shown of a device."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledsim._number_text import number, size
from sledsim.hardware import device as make_device
from sledsim.hardware import devices
from sledsim.hardware.evidence import counts
from sledsim.show.sheet import Sheet, Table
from sledsim.show.sheet import facts as facts_table
from sledsim.show.text import (
    RESTS_ON,
    WIDTH,
    filled,
    source_cells,
    specification,
    table,
    value_text,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sledsim.hardware import Device
    from sledsim.hardware.evidence import Evidence

MOST_LISTED = 20
"""Zones, or other entries of a list, that are written."""
_LONGEST_CHANGE = 20
"""Characters shown of a changed value."""
_NO_PARAMETERS = ("title", "kind")
_WORDS = {"given": "given by you", "unknown": "not said"}
"""Kinds of evidence whose names do not say it by themselves."""


def sheet(device: Device) -> Sheet:
    """Describe a device: what follows from its parameters, and these with their sources."""
    spec = device.spec
    parameters = spec["parameters"]
    title = parameters.get("title", {"value": ""})["value"]
    rows = [["capacity", f"{size(512 * device.blocks)}, {number(device.blocks)} blocks"]]
    rows.append(["kind", str(parameters.get("kind", {"value": "-"})["value"])])
    rows += [
        [key, number(value)]
        for key, value in spec["derived"].items()
        if key not in {"blocks", "capacity_bytes"}
    ]
    evidence = device.evidence
    listed = [
        [key, value_text(entry["value"]), *source_cells(entry, evidence.get(key))]
        for key, entry in parameters.items()
        if key not in _NO_PARAMETERS
    ]
    about = f"{number(len(listed))} parameters and their sources"
    head = ["parameter", "value", RESTS_ON, "source"]
    counted = _counted(evidence, parameters)
    return Sheet(
        title=f"{device.name}: {title}" if title else device.name,
        tables=[facts_table(rows, "What follows from the parameters")],
        facts=Table(head, listed, about, frozenset({0, 2, 3}), after=[counted]),
    )


def text(
    device: Device, changed: Mapping[str, Any] | None = None, most: int | None = MOST_LISTED
) -> str:
    """Write a device: its parameters, what they rest on, and what follows from them.

    Parameters
    ----------
    device
        The device.
    changed
        What differs from its base, as :func:`against` returns it; by default it is looked for.
    most
        How many zones, or other entries of a list, are written; None for all.
    """
    spec = device.spec
    if changed is None:
        changed = against(spec, base_of(spec) or _preset(device))
    derived = [["derived", "value"]]
    derived += [[key, number(value)] for key, value in spec["derived"].items()]
    evidence = device.evidence
    counted = filled(_counted(evidence, spec["parameters"]), WIDTH)
    parts = [specification(spec, most, evidence), counted]
    parts += [_changes(changed), table(derived, "<>")]
    return "\n\n".join(filter(None, parts))


def _counted(evidence: Mapping[str, Evidence], parameters: Mapping[str, Any]) -> str:
    """Say how many values rest on what, in a device and in the parts that it only names."""
    counted = (f"{number(n)} {_WORDS.get(kind, kind)}" for kind, n in counts(evidence).items())
    values = "value" if len(evidence) == 1 else "values"
    parts = "" if evidence.keys() <= parameters.keys() else ", those of its parts among them"
    return f"{number(len(evidence))} {values}{parts}: {', '.join(counted)}"


def _preset(device: Device) -> Device | None:
    """Return the preset of the same name, unless it is the same device."""
    base = make_device(device.name) if device.name in devices() else None
    return None if base == device else base


def base_of(spec: Mapping[str, Any]) -> Device | None:
    """Return the device that a resolved spec names as its ``base``; None without one."""
    entry = spec["parameters"].get("base")
    if entry is None:
        return None
    name: str = entry["value"]
    if name in devices():
        return make_device(name)
    file, _, _line = entry["origin"].rpartition(":")
    return make_device(Path(file).parent / name)


def against(spec: Mapping[str, Any], base: Device | None) -> dict[str, Any]:
    """List the parameters in which a resolved spec differs from a base; empty without one.

    Returns
    -------
    dict
        ``base``, its name, and ``changes``: ``parameter``, ``base_value`` and ``value``, None where
        one of the two has no such key.
    """
    if base is None:
        return {}
    before, after = (
        {key: entry["value"] for key, entry in each["parameters"].items()}
        for each in (base.spec, spec)
    )
    changes = [
        {"parameter": key, "base_value": before.get(key), "value": after.get(key)}
        for key in {**before, **after}
        if before.get(key) != after.get(key) and key not in {"title", "base"}
    ]
    return {"base": base.name, "changes": changes}


def _changes(changed: Mapping[str, Any]) -> str:
    """Write the changed parameters, a line for each."""
    if not changed:
        return ""
    if not changed["changes"]:
        return f"No parameter differs from {changed['base']}."
    rows = [["changed", changed["base"], "here"]]
    rows += [
        [one["parameter"], short(one["base_value"]), short(one["value"])]
        for one in changed["changes"]
    ]
    return table(rows, "<>>")


def short(value: object, most: int = _LONGEST_CHANGE) -> str:
    """Write a value of a parameter, cut where it is long; ``-`` for none."""
    written = value_text(value) if value is not None else "-"
    return written if len(written) <= most else f"{written[: most - 4]} ..."
