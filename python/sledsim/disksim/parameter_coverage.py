"""Coverage of the parameters of a device: read, ignored, and the effect of ignoring."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from sledsim.disksim.tree import Block, Item, Scalar, error

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from sledsim.disksim.tree import Place

_Value = TypeVar("_Value")

ALWAYS: Final = "always"
"""Ignoring the parameter changes no time, whatever its value."""

Unread: TypeAlias = "Mapping[str, tuple[float | str, str]]"
"""Parameters that may be left unread, each with the value at which that changes nothing (``ALWAYS``
for any) and with what it changes otherwise."""


_SLIP: Final = 0.85
"""How near to the name of a parameter one must be to be a slip of the pen; others are unknown."""


class _Watched(dict[str, Item]):
    """The values of a block, which remember that they were read."""

    def __init__(self, values: Mapping[str, Item]) -> None:
        super().__init__(values)
        self.read: set[str] = set()

    def __getitem__(self, key: str) -> Item:
        self.read.add(key)
        return super().__getitem__(key)


@dataclass(frozen=True, slots=True)
class Ignored:
    """A parameter that the device file does not express."""

    parameter: str
    value: str
    changes: str
    """The effect of ignoring it."""
    harmless: bool
    """Whether that is nothing, at its value."""
    place: Place


@dataclass(frozen=True, slots=True)
class Risen:
    """A measured seek time that is below an earlier one, or above a later one, and moves."""

    cylinders: int
    measured_ms: float
    taken_ms: float
    place: Place


@dataclass(slots=True)
class Account:
    """Findings of the importer, for the user."""

    ignored: list[Ignored] = field(default_factory=list)
    risen: list[Risen] = field(default_factory=list)
    unused_cylinders: list[int] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)
    """Files read beside those that are sourced."""
    _open: list[tuple[str, Block, _Watched, Unread]] = field(default_factory=list)

    def open(self, block: Block, unread: Unread, prefix: str = "") -> Block:
        """Return the block for reading; :meth:`settle` wants to see all of it read.

        Parameters
        ----------
        block
            The block.
        unread
            Its parameters that need not be read.
        prefix
            Put before their names.
        """
        watched = _Watched(block.values)
        copy = replace(block, values=watched)
        self._open.append((prefix, copy, watched, unread))
        return copy

    def ignore(self, parameter: str, value: object, changes: str, place: Place) -> None:
        """Add a parameter that was read, but not all of what it says is expressed.

        ``changes`` begins with ``nothing`` if that makes no difference.
        """
        harmless = changes.startswith("nothing")
        self.ignored.append(Ignored(parameter, str(value), changes, harmless, place))

    def settle(self) -> None:
        """Record the parameters that were not read."""
        for prefix, block, watched, unread in self._open:
            for key in watched:
                if key not in watched.read:
                    self._settle(prefix, block, key, unread)

    def _settle(self, prefix: str, block: Block, key: str, unread: Unread) -> None:
        place = block.keys[key]
        item = dict.__getitem__(block.values, key)
        text = " ".join(str(item).split())
        if key not in unread:
            known = [*block.values, *unread]
            known.remove(key)
            near = difflib.get_close_matches(key, known, n=1, cutoff=_SLIP)
            message = f"a {block.type} has no parameter '{key}'"
            if near:
                raise error(place, f"{message}; did you mean '{near[0]}'?")
            changes = f"unknown: in DiskSim 4.0 {message}"
            self.ignored.append(
                Ignored(f"{prefix}{key}", text, changes, harmless=False, place=place)
            )
            return
        neutral, changes = unread[key]
        same = neutral == ALWAYS or (isinstance(item, Scalar) and item.value == neutral)
        self.ignored.append(Ignored(f"{prefix}{key}", text, changes, same, place))


def enumerated(block: Block, key: str, choices: Mapping[int, _Value]) -> _Value:
    """Return the value of a number of an enumeration."""
    number = block.integer(key)
    if number not in choices:
        allowed = ", ".join(map(str, choices))
        raise error(place_of(block, key), f"'{key}' is {number}: must be one of {allowed}")
    return choices[number]


def place_of(block: Block, key: str) -> Place:
    """Return where a parameter stands, or the block that lacks it."""
    return block.keys.get(key, block.place)
