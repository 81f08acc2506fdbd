"""The parts of a report: what stands on the page, without its markup."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sledsim.show.sheet import Table, Text


@dataclass(frozen=True)
class Figure:
    """A picture with its caption."""

    svg: bytes
    """As :func:`sledsim.plots.encoded` writes it."""
    caption: Text
    """What it shows, and how to read it."""
    alt: str
    """What it says, for readers who do not see it."""
    wide: bool = False
    """Whether it takes the whole width of the page, and scrolls in its box where that is small."""

    kind = "figure"


@dataclass(frozen=True)
class Paragraph:
    """A paragraph."""

    text: Text
    quiet: bool = False

    kind = "paragraph"


@dataclass(frozen=True)
class Items:
    """A list."""

    texts: Sequence[Text]

    kind = "items"


Part: TypeAlias = "Figure | Table | Paragraph | Items"


@dataclass(frozen=True)
class Section:
    """Parts under a heading; figures that follow each other stand side by side."""

    title: str
    parts: Sequence[Part]


@dataclass(frozen=True)
class Report:
    """A page."""

    title: str
    lead: Sequence[Text]
    """Sentences that say the result."""
    warnings: Sequence[Text] = ()
    """What is to be known before the result is read: overload, intervals not to be relied on."""
    sections: Sequence[Section] = ()
    made_from: Sequence[tuple[str, str]] = ()
    """What it was made from, by name: digests."""
