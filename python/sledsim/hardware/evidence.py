"""What the values of a device rest on, by the marks of the comments behind them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from sledsim import _core

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sledsim.hardware.base import Device

EvidenceKind: TypeAlias = Literal[
    "measured", "published", "derived", "assumed", "fitted", "given", "unknown"
]
"""``given`` is by a keyword, ``--set`` or behind a name; ``unknown`` is a value without a mark."""

MARKS: dict[str, EvidenceKind] = {
    "M": "measured",
    "P": "published",
    "S": "published",  # by a source that is no paper, such as a data sheet
    "D": "derived",
    "A": "assumed",
    "F": "fitted",
}
_MARKED = re.compile(rf"\[([{''.join(MARKS)}])\]\s*(.*)", re.DOTALL)
_DEFAULT = "sledsim default"
_IN_FILE = re.compile(r".*:\d+", re.DOTALL)
_LABEL = re.compile(r"(?:(?:.*\.)?(?:front|back|child)(?:\[\d+\])?\.)?(?:title|kind|base)")
"""Keys that name a device or a part of it; they are no values."""
_ITEM = re.compile(r"\[\d+\]")


@dataclass(frozen=True, slots=True)
class Evidence:
    """A value of a device, and what it rests on."""

    value: Any
    """As in :attr:`Device.parameters`."""
    kind: EvidenceKind
    """``"measured"``, ``"published"``, ``"derived"``, ``"assumed"``, ``"fitted"``; ``"given"`` by a
    keyword, ``--set`` or behind a name; or ``"unknown"``, where no mark says it."""
    said: str
    """The comment without its mark: the source, the rule, what it is fitted to. Of a value that was
    given, how it was."""


def of(device: Device) -> dict[str, Evidence]:
    """Return what the values of a device and of its parts rest on, by key."""
    own = device.spec["parameters"]
    found = dict(_read(own))
    if not any(map(_is_base_of_part, own)):
        return found
    # The text has the keys of files that parts are based on, which may be gone, and names presets.
    from sledsim.hardware.factory import device as make_device  # it imports this
    from sledsim.traces.files import samples_folder  # few devices have parts

    plain = device._core.with_layout([("name", "simple")], samples_folder())  # reads no trace
    core = _core.Device.from_toml(plain.to_toml(None), device.name, samples_folder())
    whole = json.loads(core.show())["parameters"]
    found = dict(_read(whole)) | found
    for key in filter(_is_base_of_part, whole):
        part = key.removesuffix("base")
        for inner, one in of(make_device(whole[key]["value"])).items():
            if not _is_replaced(part, inner, whole):
                found.setdefault(part + inner, one)
    return found


def counts(evidence: Mapping[str, Evidence]) -> dict[EvidenceKind, int]:
    """Return how many values rest on what; kinds without a value are left out."""
    kinds = [one.kind for one in evidence.values()]
    ordered: tuple[EvidenceKind, ...] = (*dict.fromkeys(MARKS.values()), "given", "unknown")
    return {kind: kinds.count(kind) for kind in ordered if kind in kinds}


def _read(parameters: Mapping[str, Any]) -> Iterator[tuple[str, Evidence]]:
    for key, entry in parameters.items():
        if not _LABEL.fullmatch(key):
            yield key, Evidence(entry["value"], *_kind(entry["source"], entry["origin"]))


def _kind(source: str | None, origin: str) -> tuple[EvidenceKind, str]:
    """Return the kind that a comment says, and the rest of it."""
    if not _IN_FILE.fullmatch(origin):
        return "given", origin
    said = source or ""
    if marked := _MARKED.fullmatch(said):
        return MARKS[marked[1]], marked[2]
    return "assumed" if said.startswith(_DEFAULT) else "unknown", said


def _is_base_of_part(key: str) -> bool:
    return key.endswith(".base") and _LABEL.fullmatch(key) is not None


def _is_replaced(part: str, inner: str, whole: Mapping[str, Any]) -> bool:
    """Return whether a list of the base of a part, such as its zones, has another in its place."""
    lists = [part + inner[: item.start() + 1] for item in _ITEM.finditer(inner)]
    return any(key.startswith(start) for key in whole for start in lists)
