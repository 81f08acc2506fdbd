"""The tree of a parameter file, with typed access to its values.

``str()`` of a tree or of a part of it is a parameter file again, with every sourced file in place.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from sledsim._arguments import placed
from sledsim._core import SpecError

if TYPE_CHECKING:
    from collections.abc import Iterator

PLAIN_WORD = re.compile(r'[^\s{}\[\]=,#"]+')
RESERVED = frozenset({"source", "instantiate", "topology", "as", ".."})
_INDENT = "   "


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file; lines count from 1."""

    file: Path
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def error(place: Place, message: str) -> SpecError:
    """Return the error that ``message`` is wrong at ``place``."""
    return placed(SpecError, f"{place}: {message}", file=place.file, line=place.line)


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number, or a word (file name, enumeration value, name of a component)."""

    value: int | float | str
    place: Place = field(compare=False)

    def __str__(self) -> str:
        if isinstance(self.value, str):
            return _word(self.value)
        return repr(self.value)


@dataclass(frozen=True, slots=True)
class List:
    """``[ ... ]``; ranges such as ``disk0 .. disk3`` are written out."""

    items: tuple[Item, ...]
    place: Place = field(compare=False)

    def __str__(self) -> str:
        if not self.items:
            return "[]"
        if all(isinstance(item, Scalar) for item in self.items):
            return f"[ {', '.join(map(str, self.items))} ]"
        return "[\n" + ",\n".join(map(_indented, self.items)) + "\n]"

    def __iter__(self) -> Iterator[Item]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)


@dataclass(frozen=True, slots=True)
class Wiring:
    """A component and its children: ``TYPE NAME [ ... ]``."""

    type: str
    name: str
    below: tuple[Wiring, ...]
    place: Place = field(compare=False)

    def __str__(self) -> str:
        head = f"{_word(self.type)} {_word(self.name)} "
        if not self.below:
            return head + "[]"
        return head + "[\n" + ",\n".join(map(_indented, self.below)) + "\n]"


@dataclass(frozen=True, slots=True)
class Instantiation:
    """``instantiate [ NAMES ] as SPEC``: components made from one block."""

    names: tuple[str, ...]
    spec: str
    place: Place = field(compare=False)

    def __str__(self) -> str:
        return f"instantiate [ {', '.join(map(_word, self.names))} ] as {_word(self.spec)}"


@dataclass(frozen=True, slots=True)
class Block:
    """``TYPE { ... }`` or ``TYPE NAME { ... }``: values by key.

    The access methods raise :class:`SpecError` with file and line where a value is missing, of
    another kind or out of range. A method with a ``default`` returns it where the key is missing.
    """

    type: str
    name: str | None
    values: dict[str, Item]
    place: Place = field(compare=False)
    keys: dict[str, Place] = field(compare=False)
    """Where each key stands."""

    def __str__(self) -> str:
        head = _word(self.type) + ("" if self.name is None else f" {_word(self.name)}")
        body = ",\n".join(_indented(f"{_key(key)} = {value}") for key, value in self.values.items())
        return f"{head} {{\n{body}\n}}" if body else f"{head} {{}}"

    def __contains__(self, key: str) -> bool:
        return key in self.values

    @property
    def title(self) -> str:
        """Type and name, for messages."""
        return self.type if self.name is None else f"{self.type} {self.name}"

    def number(
        self,
        key: str,
        *,
        at_least: float = -math.inf,
        at_most: float = math.inf,
        default: float | None = None,
    ) -> float:
        """Return a finite number."""
        if key not in self.values and default is not None:
            return default
        return _number(self._scalar(key), key, at_least, at_most)

    def integer(
        self,
        key: str,
        *,
        at_least: float = -math.inf,
        at_most: float = math.inf,
        default: int | None = None,
    ) -> int:
        """Return a whole number; ``2.0`` is one."""
        if key not in self.values and default is not None:
            return default
        return _integer(self._scalar(key), key, at_least, at_most)

    def flag(self, key: str, *, default: bool | None = None) -> bool:
        """Return whether a value is 1; it must be 0 or 1."""
        whole = None if default is None else int(default)
        return bool(self.integer(key, at_least=0, at_most=1, default=whole))

    def text(self, key: str, *, default: str | None = None) -> str:
        """Return a word."""
        if key not in self.values and default is not None:
            return default
        item = self._scalar(key)
        if not isinstance(item.value, str):
            raise error(item.place, f"'{key}' is {item}: must be a word")
        return item.value

    def file(self, key: str) -> Path:
        """Return a file name as a path, relative to the file it is named in."""
        name = str(self._scalar(key).value)
        return self.keys[key].file.parent / name

    def numbers(self, key: str, *, length: int | None = None) -> tuple[float, ...]:
        """Return a list of finite numbers, of ``length`` if given."""
        return tuple(_number(item, key, -math.inf, math.inf) for item in self._scalars(key, length))

    def integers(self, key: str, *, at_least: float = -math.inf) -> tuple[int, ...]:
        """Return a list of whole numbers."""
        return tuple(_integer(item, key, at_least, math.inf) for item in self._scalars(key, None))

    def block(self, key: str) -> Block:
        """Return a block."""
        item = self.item(key)
        if not isinstance(item, Block):
            raise error(item.place, f"'{key}' is {_kind(item)}: must be a block '{{ ... }}'")
        return item

    def blocks(self, key: str) -> tuple[Block, ...]:
        """Return a list of blocks."""
        blocks = []
        for item in self.list(key):
            if not isinstance(item, Block):
                raise error(item.place, f"'{key}' lists {_kind(item)}: must be a list of blocks")
            blocks.append(item)
        return tuple(blocks)

    def list(self, key: str) -> List:
        """Return a list."""
        item = self.item(key)
        if not isinstance(item, List):
            raise error(item.place, f"'{key}' is {_kind(item)}: must be a list '[ ... ]'")
        return item

    def item(self, key: str) -> Item:
        """Return a value of any kind."""
        if key not in self.values:
            raise error(self.place, f"the block '{self.title}' lacks '{key}'")
        return self.values[key]

    def _scalar(self, key: str) -> Scalar:
        item = self.item(key)
        if not isinstance(item, Scalar):
            raise error(item.place, f"'{key}' is {_kind(item)}: must be a number or a word")
        return item

    def _scalars(self, key: str, length: int | None) -> Iterator[Scalar]:
        items = self.list(key)
        if length is not None and len(items) != length:
            raise error(items.place, f"'{key}' has {len(items)} values: must be {length}")
        for item in items:
            if not isinstance(item, Scalar):
                raise error(item.place, f"'{key}' lists {_kind(item)}: must be a list of numbers")
            yield item


Item: TypeAlias = Scalar | List | Block | Wiring


@dataclass(frozen=True, slots=True)
class Tree:
    """A parameter file with everything it sources, in the order of the text."""

    file: Path = field(compare=False)
    blocks: dict[str, Block]
    """Named blocks outside any other block."""
    instantiations: tuple[Instantiation, ...]
    topologies: tuple[Wiring, ...]
    sourced: tuple[Path, ...] = field(compare=False)
    """The files of it, the main one first."""

    def __str__(self) -> str:
        parts = [
            *map(str, self.blocks.values()),
            *map(str, self.instantiations),
            *(f"topology {wiring}" for wiring in self.topologies),
        ]
        return "\n\n".join(parts) + "\n"


def _number(item: Scalar, key: str, at_least: float, at_most: float) -> float:
    value = item.value
    if isinstance(value, str):
        raise error(item.place, f"'{key}' is '{value}': must be a number")
    if not at_least <= value <= at_most:
        raise error(item.place, f"'{key}' is {item}: must be {_bounds(at_least, at_most)}")
    return float(value)


def _integer(item: Scalar, key: str, at_least: float, at_most: float) -> int:
    number = _number(item, key, at_least, at_most)
    if not number.is_integer():
        raise error(item.place, f"'{key}' is {item}: must be a whole number")
    return item.value if isinstance(item.value, int) else int(number)


def _bounds(at_least: float, at_most: float) -> str:
    if math.isinf(at_most):
        return f"at least {_plain(at_least)}"
    if math.isinf(at_least):
        return f"at most {_plain(at_most)}"
    return f"from {_plain(at_least)} to {_plain(at_most)}"


def _plain(bound: float) -> str:
    return str(int(bound)) if float(bound).is_integer() else f"{bound:g}"


def _kind(item: Item) -> str:
    match item:
        case Scalar():
            return f"'{item.value}'"
        case List():
            return "a list"
        case Block():
            return f"the block '{item.title}'"
        case Wiring():
            return f"the component '{item.name}'"


def _word(text: str) -> str:
    return text if PLAIN_WORD.fullmatch(text) and not _misread(text) else f'"{text}"'


def _misread(text: str) -> bool:
    return text in RESERVED or ".." in text or text[0] in "+-.0123456789"


def _key(key: str) -> str:
    return " ".join(word if word not in RESERVED else f'"{word}"' for word in key.split(" "))


def _indented(part: object) -> str:
    return "\n".join(_INDENT + line for line in str(part).split("\n"))
