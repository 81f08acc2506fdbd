"""The description of a result, from which text, notebooks and pages are made.

What kind of result it is decides title, sentences, facts, tables, digits, units and the words to
explain, once. How it looks is decided by ``text``, ``notebook`` and ``pages``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from markupsafe import Markup


class Word(str):
    """A text that the glossary explains."""

    __slots__ = ("term",)
    term: str

    def __new__(cls, text: str, term: str) -> Word:
        """Return a text that is explained under a word of the glossary."""
        self = super().__new__(cls, text)
        self.term = term
        return self


class Sentence:
    """A sentence with values, some of them words to explain.

    Parameters
    ----------
    text
        The sentence, with ``{}`` for each value.
    values
        The values, as text.
    """

    def __init__(self, text: str, *values: str | Sentence) -> None:
        self.text, self.values = text, values

    def __str__(self) -> str:
        return self.text.format(*self.values)


Text: TypeAlias = "str | Sentence | Markup"
"""A text; on a page one of type ``str`` is escaped, and words are linked."""


@dataclass(frozen=True)
class Table:
    """A table; its first column is the head of the rows."""

    head: Sequence[Text]
    """Heads of the columns; none for a table of names and texts."""
    rows: Sequence[Sequence[Text]]
    """Cells; those in the first column may be indented. A row may have fewer than others."""
    about: str = ""
    """What it is about, also for readers who do not see it."""
    left: frozenset[int] = frozenset({0})
    """Columns that are aligned to the left."""
    marked: frozenset[int] = frozenset()
    """Rows that are not to be relied on."""
    folded: bool = False
    """Whether a page shows it only when it is opened, and a terminal not at all."""
    groups: Sequence[int] = ()
    """Rows that are headings of those after them; they have one cell."""
    after: Sequence[str] = ()
    """Lines below it."""
    leading: int = 0
    """Columns that are repeated where a terminal is too narrow for all; none to keep them all."""
    wrapped: bool = False
    """Whether a terminal wraps the last column."""
    cautioned: bool = False
    """Whether a terminal lists the cautions of the result below it."""

    kind = "table"

    def depths(self) -> list[int]:
        """Return how deep each row is indented."""
        firsts = [str(row[0]) for row in self.rows]
        spaces = [len(first) - len(first.lstrip()) for first in firsts]
        return [(each - min(spaces)) // 2 for each in spaces]


@dataclass(frozen=True)
class Sheet:
    """What is shown of a result."""

    title: str
    lead: Sequence[Text] = ()
    """Sentences that say the result."""
    facts: Table | None = None
    """What was run: names and texts."""
    tables: Sequence[Table] = ()
    """The numbers, the most telling table first."""
    cautions: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    """Cautions by the labels of what they are of, as :func:`sledsim.results.cautions.of` has
    them."""
    warnings: Sequence[Text] = ()
    """What is to be known before the result is read, beside cautions."""
    notes: Sequence[str] = ()
    """Paragraphs at the end."""
    named: bool = False
    """Whether a terminal prints the title and the sentences, too."""


def facts(lines: Sequence[Sequence[Text]], about: str, **how: Any) -> Table:
    """Return a table of names and texts."""
    return Table((), lines, about, frozenset({0, 1}), **how)


def indented(text: str, depth: int) -> str:
    """Return a head of a row that is a part of others."""
    shown = "  " * depth + text
    return Word(shown, text.term) if isinstance(text, Word) else shown
