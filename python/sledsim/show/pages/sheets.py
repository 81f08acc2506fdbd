"""Pages of sheets: the same title, sentences, tables and cautions, with pictures beside them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sledsim.show.pages.parts import Figure, Items, Paragraph, Report, Section
from sledsim.show.sheet import Sentence, Word
from sledsim.show.words import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from sledsim.show.pages.parts import Part
    from sledsim.show.sheet import Sheet, Text

_PICTURES = "Further pictures"


def report(
    sheet: Sheet,
    pictures: tuple[str, Sequence[Figure]],
    *more: Section | None,
    made_from: Sequence[tuple[str, str]] = (),
) -> Report:
    """Return the page of a sheet.

    Parameters
    ----------
    sheet
        The sheet.
    pictures
        The heading of the pictures, and these; none, for no such section.
    more
        Further sections.
    made_from
        Digests by name.
    """
    title, figures = pictures
    numbers: list[Part] = []
    for table in sheet.tables:
        numbers += [table, *(Paragraph(line.strip()) for line in table.after)]
    sections = [
        *([Section(title, figures)] if figures else []),
        *_other_cautions(sheet.cautions),
        *([Section("Numbers", numbers)] if numbers else []),
        *([Section("Notes", [Items(sheet.notes)])] if sheet.notes else []),
        *([Section("What was run", [sheet.facts])] if sheet.facts else []),
        *(section for section in more if section is not None),
    ]
    warnings = [*_unreliable(sheet.cautions), *sheet.warnings]
    return Report(sheet.title, sheet.lead, warnings, sections, made_from)


def joined(first: Report, further: Iterable[Report | Figure]) -> Report:
    """Return a page with the sections of the first report, one for each further, and pictures.

    What is on the page already is not repeated, and sections of one title are numbered.
    """
    sections = list(first.sections)
    seen = [part for section in sections for part in section.parts]
    made_from = dict(first.made_from)
    titles = Counter(section.title for section in sections)
    for each in further:
        if isinstance(each, Figure):
            if not sections or sections[-1].title != _PICTURES:
                sections.append(Section(_PICTURES, []))
            sections[-1] = Section(_PICTURES, [*sections[-1].parts, each])
            continue
        parts: list[Part] = [Paragraph(text) for text in (*each.warnings, *each.lead)]
        own = [part for section in each.sections for part in section.parts]
        parts += [part for part in own if part not in seen]
        seen += own
        titles[each.title] += 1
        again = f" ({titles[each.title]})" if titles[each.title] > 1 else ""
        sections.append(Section(each.title + again, parts))
        made_from |= dict(each.made_from)
    return replace(first, sections=sections, made_from=[*made_from.items()])


def _unreliable(by_label: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[Text]:
    """Return the cautions that make a mean unreliable."""
    for label, cautions in by_label.items():
        for one in cautions:
            if not one["unreliable"]:
                continue
            who = f"{label}: " if len(by_label) > 1 else ""
            if one["code"] in {"saturated", "overloaded"}:
                term = str(one["code"])
                yield Sentence(
                    "{} cannot keep up with this load ({}): {}.",
                    label,
                    Word(term, term.capitalize()),
                    one["text"],
                )
            else:
                yield f"{who}{one['text']}."


def _other_cautions(by_label: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[Section]:
    """Return a section with the other cautions, each sentence once, if there are any."""
    labels: dict[str, list[str]] = {}
    for label, cautions in by_label.items():
        for one in cautions:
            if not one["unreliable"]:
                labels.setdefault(one["text"], []).append(label)
    lines = [
        f"{listed(named)}: {text}." if len(by_label) > 1 else f"{text[:1].upper()}{text[1:]}."
        for text, named in labels.items()
    ]
    return [Section("Cautions", [Items(lines)])] if lines else []
