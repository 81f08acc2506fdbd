"""Settings of programs: numbers and names, with what they mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NoReturn, TypeAlias

from sledsim._arguments import placed
from sledsim._core import SpecError

if TYPE_CHECKING:
    from collections.abc import Mapping

Value: TypeAlias = int | float | str


@dataclass(frozen=True)
class Number:
    """A number; a whole one if its default is."""

    default: int | float
    least: int | float
    most: int | float
    what: str
    """Its meaning and unit."""
    _LIMIT: ClassVar[str] = ","
    """The format of its limits."""

    @property
    def allowed(self) -> str:
        """What it may be."""
        kind = "an integer" if isinstance(self.default, int) else "a number"
        return f"{kind} from {self.least:{self._LIMIT}} to {self.most:{self._LIMIT}}"

    def read(self, given: Value) -> int | float:
        """Return the value of a number or a text."""
        value = float(given)
        whole = isinstance(self.default, int)
        if not self.least <= value <= self.most or (whole and value != int(value)):
            raise ValueError
        return int(value) if whole else value


class PlainNumber(Number):
    """A number whose limits are written without commas."""

    _LIMIT = ""


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

    def read(self, given: Value) -> str:
        """Return the value of a text."""
        if given not in self.names:
            raise ValueError
        return str(given)


Key: TypeAlias = Number | Choice

SWITCH = ("on", "off")
"""The names of a switch."""


def values_of(
    program: str, keys: Mapping[str, Key], given: Mapping[str, Value]
) -> dict[str, Value]:
    """Return a value for each key: the given one, or the default."""
    values: dict[str, Value] = {name: key.default for name, key in keys.items()}
    for name, value in given.items():
        if name not in keys:
            known = f"must be one of {', '.join(keys)}" if keys else "it has none"
            raise placed(SpecError, f"{program}: unknown key '{name}': {known}", key=name)
        try:
            values[name] = keys[name].read(value)
        except ValueError:
            refuse(program, name, value, keys[name].allowed)
    return values


def refuse(program: str, key: str, value: Value, must: str) -> NoReturn:
    """Raise the error for a value that is not allowed."""
    raise placed(SpecError, f"{program}: {key} = {value}: must be {must}", key=key) from None
