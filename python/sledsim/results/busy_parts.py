"""What the parts of a device were busy with, and of which the energy is unknown, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledsim._number_text import percent

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

HEADS = ("mechanism", "busy", "for requests", "other work")
"""Heads of :func:`rows`."""


def busiest(utilisation: float | None, name: str | None, device: str) -> str:
    """Write a utilisation with the name of the busiest part: ``99 % (disk.device)``.

    The name is left out where the part is the device itself; ``-`` stands for no utilisation.
    """
    if utilisation is None:
        return "-"
    return percent(utilisation) + ("" if name == device else f" ({name})")


def rows(summary: Mapping[str, Any]) -> list[list[str]]:
    """Return a row for each mechanism: its name, and shares of the time, in all and by purpose."""
    shares = ("utilisation", "host", "other")
    return [
        [each["name"], *("-" if each[share] is None else percent(each[share]) for share in shares)]
        for each in summary["mechanisms"]
    ]


def unknown_energy(summaries: Iterable[Mapping[str, Any]]) -> str | None:
    """Say why the energy of runs is unknown, without the word itself; ``None`` if it is known."""
    parts = (part for summary in summaries for part in summary["devices"])
    names = dict.fromkeys(part["name"] for part in parts if part["energy_j"] is None)
    return f"unknown: no values of power for {', '.join(names)}" if names else None
