"""Writes reports as pages that need no other file."""

from __future__ import annotations

import shlex
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from sledsim import _core
from sledsim.show.pages import glossary
from sledsim.show.pages.colours import Palette
from sledsim.show.pages.embed import inline_svg, shape_of
from sledsim.show.sheet import Sentence, Word

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sledsim.show.pages.parts import Part, Report
    from sledsim.show.sheet import Table, Text

_TEMPLATES = Path(__file__).with_name("templates")
_PROGRAM = "sledsim"


def html(report: Report, command: Sequence[str] | None = None, title: str | None = None) -> str:
    """Return a report as a page; the same report gives the same page.

    Parameters
    ----------
    report
        What stands on it.
    command
        The words of the command line behind the name of the program, if there was one.
    title
        Stands for the title of the report.
    """
    name = report.title if title is None else title
    return render("report.html", report=report, title=name, command=shown(command))


def shown(command: Sequence[str] | None) -> str | None:
    """Return a command line as a shell takes it."""
    return None if command is None else shlex.join([_PROGRAM, *command])


def render(template: str, *folders: Path, **context: Any) -> str:
    """Return a page from one of the templates.

    Parameters
    ----------
    template
        Its name; it extends ``base.html``.
    folders
        Folders of further templates.
    context
        What it is filled with.
    """
    palette = Palette()
    environment = Environment(
        loader=FileSystemLoader([*folders, _TEMPLATES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["runs_of_figures"] = _runs_of_figures
    environment.filters["linked"] = linked
    environment.filters["warned"] = _warned
    environment.filters["row_heads"] = _row_heads
    environment.globals.update(
        palette=palette,
        declared=declared,
        drawing=lambda svg, prefix, alt: drawing(svg, prefix, alt, palette),
        glossary=glossary.used,
        version=_core.VERSION,
        numbers=_core.NUMBERS,
    )
    return environment.get_template(template).render(context)


def linked(text: Text, emphasised: str = "") -> str | Markup:
    """Return a text with links to the meanings of its words.

    Parameters
    ----------
    text
        The text.
    emphasised
        How a sentence begins, up to which it is emphasised.
    """
    if isinstance(text, Word):
        return glossary.word(text.strip(), text.term)
    if not isinstance(text, Sentence):
        return text
    template = text.text
    if emphasised:
        template = template.replace(emphasised, f"<strong>{emphasised}</strong>", 1)
    return Markup(template).format(*map(linked, text.values))


def _warned(text: Text) -> str | Markup:
    """Return a warning, emphasised up to its first colon."""
    if isinstance(text, Sentence):
        return linked(text, text.text.partition(": ")[0])
    first, colon, rest = text.partition(": ")
    return Markup("<strong>{}</strong>{}{}").format(first[:1].upper() + first[1:], colon, rest)


def _row_heads(table: Table) -> list[Markup]:
    """Return the heads of the rows, indented."""
    heads = (linked(row[0]) for row in table.rows)
    return [
        Markup("{}{}").format("\u2003" * depth, head if isinstance(head, Markup) else head.strip())
        for depth, head in zip(table.depths(), heads, strict=True)
    ]


def declared(variables: Mapping[str, str]) -> Markup:
    """Return CSS variables with their values."""
    return Markup("; ".join(f"{name}: {value}" for name, value in variables.items()))


def drawing(svg: bytes, prefix: str, alt: str, palette: Palette) -> Markup:
    """Return a picture that is shown large when it is clicked.

    Parameters
    ----------
    svg
        The picture.
    prefix
        Prefix of all its ids.
    alt
        Its alternative text.
    palette
        The colours of the page.
    """
    text = svg.decode()
    small, name = inline_svg(text, prefix, alt, palette), escape(prefix)
    box, shape = shape_of(text)
    width = f"max(min(100vw - 2rem, (100vh - 2rem) * {shape:.4f}), 44rem)"
    return Markup(
        f'<div class="drawing">\n{small}\n'
        f'<button class="enlarge" popovertarget="{name}large" aria-label="Enlarge the picture">'
        f'</button></div>\n<div popover class="large" id="{name}large"><div>'
        f'<svg viewBox="{box}" style="width: {width}" aria-hidden="true">'
        f'<use href="#{name}drawing"/></svg><button class="enlarge" popovertarget="{name}large"'
        ' popovertargetaction="hide" aria-label="Close the large picture"></button></div></div>'
    )


def _runs_of_figures(parts: Sequence[Part]) -> Iterable[list[Part]]:
    """Put figures that follow each other together."""
    for figures, group in groupby(parts, lambda part: part.kind == "figure"):
        if figures:
            yield list(group)
        else:
            yield from ([part] for part in group)
