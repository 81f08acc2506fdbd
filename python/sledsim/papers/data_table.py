"""A table of a data file whose keys are taken one by one, each checked."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from math import inf, isfinite
from typing import TYPE_CHECKING, Any, NoReturn

from sledsim._arguments import placed
from sledsim._core import SpecError

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path


def load(file: Path) -> Table:
    """Read a file."""
    try:
        return Table(file, "", tomllib.loads(file.read_text("utf-8")))
    except (OSError, ValueError) as error:  # of TOML or of UTF-8
        raise placed(
            SpecError,
            f"{file}: {error.strerror if isinstance(error, OSError) else error}",
            file=file,
        ) from None


def one_line(text: str) -> str:
    """Join the lines of each paragraph."""
    return "\n\n".join(" ".join(part.split()) for part in text.strip().split("\n\n"))


@dataclass
class Table:
    """A table; what is wrong in it raises :class:`SpecError` with file and key."""

    file: Path
    at: str
    keys: dict[str, Any]

    def take(self, key: str, kind: type | tuple[type, ...], default: Any = ...) -> Any:
        """Take a key out; ``...`` as default says that it must be there."""
        value = self.keys.pop(key, default)
        if value is ...:
            raise placed(
                SpecError,
                f"{self.file}: {self.at}{key} is missing",
                file=self.file,
                key=f"{self.at}{key}",
            )
        wanted = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
        if value is not default and not wanted:
            names = kind if isinstance(kind, tuple) else (kind,)
            self.refuse(key, value, " or ".join(name.__name__ for name in names))
        return value

    def text(self, key: str, default: Any = ...) -> str:
        """Take out prose, one line a paragraph."""
        return one_line(self.take(key, str, default))

    def one_of(self, key: str, allowed: Collection[str], default: Any = ...) -> Any:
        """Take out one of some words."""
        value = self.take(key, str, default)
        if value != default and value not in allowed:
            self.refuse(key, value, f"one of {', '.join(allowed)}")
        return value

    def number(self, key: str, default: Any = ..., least: float = -inf) -> float:
        """Take out a finite number that is not less than another."""
        value = float(self.take(key, (int, float), default))
        if not isfinite(value) or value < least:
            self.refuse(key, value, "finite" if least == -inf else f"finite and {least} or more")
        return value

    def printed(self, key: str, text: object) -> str:
        """Return the digits of a printed number, checked."""
        try:
            if isinstance(text, str) and Decimal(text).is_finite():
                return text
        except InvalidOperation:
            pass
        return self.refuse(key, text, 'the digits as printed, such as "1.60" or "7e1"')

    def names(self, key: str, default: Any = ...) -> list[str]:
        """Take out a list of strings, each another."""
        names: list[str] = self.take(key, list, default)
        if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
            self.refuse(key, names, "strings, each once")
        return names

    def table(self, key: str) -> Table | None:
        """Take out a table, if it is there."""
        keys = self.take(key, dict, default=None)
        return None if keys is None else Table(self.file, f"{self.at}{key}.", keys)

    def tables(self, key: str, kind: type) -> list[Table]:
        """Take out a table or a list of tables, if it is there: a table for each entry."""
        value = self.take(key, kind, default=kind())
        entries = value.items() if isinstance(value, dict) else enumerate(value)
        tables = []
        for name, entry in entries:
            if not isinstance(entry, dict):
                self.refuse(f"{key}.{name}", entry, "a table")
            tables.append(Table(self.file, f"{self.at}{key}.{name}.", entry))
        return tables

    @property
    def name(self) -> str:
        """The last part of its place in the file."""
        return self.at.rstrip(".").rpartition(".")[2]

    def refuse(self, key: str, value: object, must: str) -> NoReturn:
        """Raise the error for a value that is not allowed."""
        raise placed(
            SpecError,
            f"{self.file}: {self.at}{key} = {value!r}: must be {must}",
            file=self.file,
            key=f"{self.at}{key}",
        )

    def end(self) -> None:
        """Refuse keys that were not taken."""
        for key in self.keys:
            raise placed(
                SpecError,
                f"{self.file}: unknown key {self.at}{key}",
                file=self.file,
                key=f"{self.at}{key}",
            )
