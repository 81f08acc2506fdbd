"""The table of the values of an item in the report."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from sledsim.papers import values
from sledsim.papers.page_text import (
    class_of,
    powers,
    prose,
    unit_html,
    verdict_html,
    with_unit,
    words,
)
from sledsim.papers.values import NONE, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sledsim.papers.page_notes import Notes


def table(document: Mapping[str, Any], notes: Notes) -> str:
    """Return the values of a document as a table, published next to simulated."""
    names = list(document["values"][0]["readings"])
    heads = [("Value", ""), ("Published", "number"), ("Simulated", "number")]
    heads += [("Difference", "number"), ("Verdict", "")]
    if document["values"][0]["disksim"] is not None:
        heads.insert(3, ("DiskSim 4", "number"))
    cells = [f'<th scope="col"{class_of(kind)}>{escape(text)}</th>' for text, kind in heads] + [
        f'<th scope="col" class="number"><small>reading</small>'
        f'<a href="#{notes.item}:reading-{number}">{words(name)}</a></th>'
        for number, name in enumerate(names, 1)
    ]
    rows = "\n".join(_row(value, names, notes, document["place"]) for value in document["values"])
    return (
        f'<table class="values">\n<thead><tr>{"".join(cells)}</tr></thead>\n'
        f"<tbody>\n{rows}\n</tbody>\n</table>"
    )


def _row(value: Mapping[str, Any], names: Sequence[str], notes: Notes, place: str) -> str:
    where = f" <small>{prose(value['place'])}</small>" if value["place"] != place else ""
    kind = "number words wide" if value["kind"] in {"order", "shape"} else "number"
    if " " in value["unit"] and kind == "number":  # it may be long
        kind = "number long"
    published = stated(value)
    if allowed := _allowed(value) + notes.tolerance(value):
        published += f" <small>{allowed}</small>"
    verdict = verdict_html(value["verdict"])
    if link := notes.why(value):
        verdict = f'<span class="whole">{verdict}{link}</span>'
    if value["reading"]:
        verdict += f" <small>{words(value['reading'])}</small>"
    apart = _difference(value)
    none = " none" if apart == NONE else ""
    cells = [
        f'<td class="{kind}" data-label="Published">{published}</td>',
        f'<td class="{kind}" data-label="Simulated">{_simulated(value, value["simulated"])}</td>',
        f'<td class="number{none}" data-label="Difference">{apart}</td>',
        f'<td class="verdict-of">{verdict}</td>',
    ]
    if (disksim := value["disksim"]) is not None:
        told = _simulated(value, disksim["simulated"])
        cells.insert(2, f'<td class="{kind}" data-label="DiskSim 4">{told}</td>')
    for name in names:
        other = value["readings"][name]
        text = _simulated(value, other["simulated"])
        if other["agrees"] is not None:
            text += f" <small>{'as published' if other['agrees'] else 'not as published'}</small>"
        cells.append(f'<td class="{kind}" data-label="{words(name)}">{text}</td>')
    head = f'<th scope="row">{prose(value["what"])}{where}</th>'
    missed = class_of("missed" if value["verdict"] == "missed" else "")
    return f"<tr{missed}>{head}{''.join(cells)}</tr>"


def stated(value: Mapping[str, Any]) -> str:
    """Return the published value, in the form of its kind."""
    if value["kind"] == "order":
        return " &lt; ".join(f"<span>{escape(name)}</span>" for name in value["published"])
    if value["kind"] == "shape":
        return escape(value["published"])
    return with_unit(values.stated(value), value["unit"])


def _allowed(value: Mapping[str, Any]) -> str:
    tolerance = value["tolerance"]
    if value["kind"] == "order" or not tolerance:
        return ""
    if value["kind"] == "shape":
        return f"tolerance {with_unit(text_of(tolerance), value['unit'])}"
    return f"± {powers(text_of(tolerance))}"


def _simulated(value: Mapping[str, Any], simulated: Any) -> str:
    """Return the simulated value, with as many digits as the comparison needs."""
    if simulated is None:
        return NONE
    unit = value["unit"]
    if value["kind"] == "order":
        return _ordered(simulated, unit)
    if value["kind"] == "shape":
        return _curve(simulated, unit)
    return with_unit(values.rounded(value, simulated), unit)


def _ordered(simulated: Mapping[str, float], unit: str) -> str:
    """Return an order with its numbers."""
    parts = [
        f"{escape(sign)}<span>{escape(name)}\u00a0({powers(text)})</span>"
        for sign, name, text in values.ordered(simulated)
    ]
    return "".join(parts) + (f" <small>in {unit_html(unit)}</small>" if unit else "")


def _curve(curve: Sequence[float], unit: str) -> str:
    """Return a small picture of a curve, and its description."""
    across, spread = 100 / max(len(curve) - 1, 1), max(curve) - min(curve) or 1.0
    points = " ".join(
        f"{across * place:.2f},{22 - 20 * (number - min(curve)) / spread:.2f}"
        for place, number in enumerate(curve)
    )
    return (
        '<svg class="curve" viewBox="0 0 100 24" preserveAspectRatio="none" aria-hidden="true">'
        f'<polyline points="{points}"/></svg> <small>{with_unit(values.curve(curve), unit)}</small>'
    )


def _difference(value: Mapping[str, Any]) -> str:
    """Return how far a number is from the published one, or that it is in the published range."""
    if value["kind"] in {"order", "shape"} or value["simulated"] is None:
        return NONE
    over = values.over(value)
    if value["kind"] == "between" and value["agrees"]:
        return "met"
    published = value["simulated"] - over
    if abs(over) <= 1e-9 * abs(published):
        return "0"
    text = powers(values.rounded(value, over))
    text = text if text.startswith("\u2212") else f"+{text}"
    share = value["distance"]
    return text if share is None else f"{text} <small>{values.apart(share)}</small>"
