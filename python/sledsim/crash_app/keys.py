"""Settings of programs: numbers and names, with what they mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from sledsim._arguments import placed
from sledsim._core import SpecError

if TYPE_CHECKING:
    from collections.abc import Mapping

Value: TypeAlias = int | float | str


@dataclass(frozen=True)
class Number:
    """A whole number."""

    default: int
    least: int
    most: int
    what: str
    """Its meaning and unit."""

    @property
    def allowed(self) -> str:
        """What it may be."""
        return f"an integer from {self.least:,} to {self.most:,}"

    def read(self, text: Value) -> int:
        """Return the value of a text.

        Raises
        ------
        ValueError
            If it is not one that is allowed.
        """
        value = float(text)
        if not self.least <= value <= self.most or value != int(value):
            raise ValueError
        return int(value)


@dataclass(frozen=True)
class Choice:
    """One of several names."""

    default: str
    names: tuple[str, ...]
    what: str
    """Its meaning."""

    @property
    def allowed(self) -> str:
        """What it may be."""
        return f"one of {', '.join(self.names)}"

    def read(self, text: Value) -> str:
        """Return the value of a text.

        Raises
        ------
        ValueError
            If it is none of the names.
        """
        if text not in self.names:
            raise ValueError
        return str(text)


Key: TypeAlias = Number | Choice

SWITCH = ("on", "off")
"""The names of a switch."""


def values_of(
    program: str, keys: Mapping[str, Key], given: Mapping[str, Value]
) -> dict[str, Value]:
    """Return a value for each key: the given one, or the default.

    Raises
    ------
    SpecError
        For an unknown key, or a value that is not allowed.
    """
    values: dict[str, Value] = {name: key.default for name, key in keys.items()}
    for name, text in given.items():
        if name not in keys:
            known = f"must be one of {', '.join(keys)}" if keys else "it has none"
            raise placed(SpecError, f"{program}: unknown key '{name}': {known}", key=name)
        try:
            values[name] = keys[name].read(text)
        except ValueError:
            raise placed(
                SpecError, f"{program}: {name} = {text}: must be {keys[name].allowed}", key=name
            ) from None
    return values
