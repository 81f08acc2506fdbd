"""The table of the values of an item in the report, and its notes."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from sledsim.papers import values
from sledsim.papers.page_text import (
    NONE,
    class_of,
    mark,
    powers,
    prose,
    unit_html,
    verdict_html,
    with_unit,
    words,
)
from sledsim.papers.values import minus, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def table(document: Mapping[str, Any], notes: Notes) -> str:
    """Return the values of a document as a table, published next to simulated."""
    names = list(document["hypotheses"])
    heads = [("Value", ""), ("Published", "number"), ("Simulated", "number")]
    heads += [("Difference", "number"), ("Verdict", "")]
    cells = [f'<th scope="col"{class_of(kind)}>{escape(text)}</th>' for text, kind in heads] + [
        f'<th scope="col" class="number"><small>if</small>'
        f'<a href="#{notes.item}:if-{number}">{words(name)}</a></th>'
        for number, name in enumerate(names, 1)
    ]
    rows = "\n".join(_row(value, names, notes, document["place"]) for value in document["values"])
    return (
        f'<table class="values">\n<thead><tr>{"".join(cells)}</tr></thead>\n'
        f"<tbody>\n{rows}\n</tbody>\n</table>"
    )


def _row(value: Mapping[str, Any], names: Sequence[str], notes: Notes, place: str) -> str:
    where = f" <small>{prose(value['place'])}</small>" if value["place"] != place else ""
    of_words = value["kind"] in {"order", "shape"}
    kind, whole = ("number words wide", "") if of_words else ("number", "whole")
    if " " in value["unit"] and not of_words:  # it may be long
        kind, whole = "number long", ""
    published = _stated(value, value["published"])
    if allowed := _allowed(value) + notes.tolerance(value):
        published += f" <small>{allowed}</small>"
    verdict = verdict_html(value["verdict"])
    if _argued(value):
        verdict = f'<span class="whole">{verdict}{notes.why(value)}</span>'
        verdict += f" <small>{_else(value, whole)}</small>"
    apart = _difference(value)
    none = " none" if apart == NONE else ""
    cells = [
        f'<td class="{kind}" data-label="Published">{published}</td>',
        f'<td class="{kind}" data-label="Simulated">{_simulated(value, value["simulated"])}</td>',
        f'<td class="number{none}" data-label="Difference">{apart}</td>',
        f'<td class="verdict-of">{verdict}</td>',
    ]
    for name in names:
        other = value["hypotheses"].get(name)
        text = NONE
        if other is not None:
            text = (
                f"{_simulated(value, other['simulated'])} <small>{mark(other['verdict'])}</small>"
            )
        cells.append(f'<td class="{kind}" data-label="if {words(name)}">{text}</td>')
    head = f'<th scope="row">{prose(value["what"])}{where}</th>'
    missed = class_of("missed" if value["verdict"] == "missed" else "")
    return f"<tr{missed}>{head}{''.join(cells)}</tr>"


def _stated(value: Mapping[str, Any], stated: Any) -> str:
    """Return the published or expected value, in the form of its kind."""
    if value["kind"] == "order":
        return " &lt; ".join(f"<span>{escape(name)}</span>" for name in stated)
    if value["kind"] == "shape":
        return escape(stated)
    return with_unit(values.stated(value, stated), value["unit"])


def _allowed(value: Mapping[str, Any]) -> str:
    tolerance = value["tolerance"]
    if value["kind"] == "order" or not tolerance:
        return ""
    if value["kind"] == "shape":
        return f"tolerance {with_unit(text_of(tolerance), value['unit'])}"
    sign = {"within": "±", "at_most": "+", "at_least": "\u2212"}[value["kind"]]
    return f"{sign} {powers(text_of(tolerance))}"


def _simulated(value: Mapping[str, Any], simulated: Any) -> str:
    """Return the simulated value, with as many digits as the comparison needs."""
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
    if value["kind"] in {"order", "shape"}:
        return NONE
    published, over = value["published"], value["simulated"] - value["published"]
    if abs(over) <= 1e-9 * abs(published):
        return "0"
    text = powers(values.rounded(value, over))
    text = text if text.startswith("\u2212") else f"+{text}"
    if not published or value["unit"] == "%":
        return text
    percent = 100 * over / abs(published)
    decimals = 0 if abs(percent) >= 100 else 1 if abs(percent) >= 0.95 else 2
    return f"{text} <small>{minus(f'{percent:+,.{decimals}f}')}\u202f%</small>"


def _argued(value: Mapping[str, Any]) -> bool:
    """Return whether there is an argument to show, also for a missed value."""
    return value["explained"] is not None and value["verdict"] != "reproduced"


class Notes:
    """The notes of an item: explanations by number, reasons of tolerances by letter."""

    def __init__(self, item: str, values: Sequence[Mapping[str, Any]]) -> None:
        self.item = escape(item)
        self.explained = [value for value in values if _argued(value)]
        reasons = (value["tolerance_because"] for value in values)
        self.reasons = list(dict.fromkeys(reason for reason in reasons if reason))

    def why(self, value: Mapping[str, Any]) -> str:
        """Return the link to the explanation of a value."""
        number = self.explained.index(value)
        return self._link(f"why-{number + 1}", str(number + 1), "explanation")

    def tolerance(self, value: Mapping[str, Any]) -> str:
        """Return the link to the reason of a tolerance, if it has one."""
        if not value["tolerance_because"]:
            return ""
        number = self.reasons.index(value["tolerance_because"])
        return self._link(f"tolerance-{number + 1}", _letter(number), "tolerance")

    def _link(self, name: str, text: str, of: str) -> str:
        return f'<sup><a href="#{self.item}:{name}" aria-label="{of} {text}">{text}</a></sup>'

    def html(self, hypotheses: Mapping[str, str]) -> str:
        """Return the notes and the hypotheses."""
        whys = "\n".join(
            f'<li id="{self.item}:why-{number}">{_why(value)}</li>'
            for number, value in enumerate(self.explained, 1)
        )
        reasons = "\n".join(
            f'<li id="{self.item}:tolerance-{number}">{prose(reason)}</li>'
            for number, reason in enumerate(self.reasons, 1)
        )
        others = "\n".join(
            f'<li id="{self.item}:if-{number}"><b>{words(name)}:</b> {prose(text)}</li>'
            for number, (name, text) in enumerate(hypotheses.items(), 1)
        )
        parts = (
            (others, "Under other assumptions, which do not count", "ul", "notes-of"),
            (whys, "Explanations", "ol", "notes notes-of"),
            (reasons, "Tolerances", "ol", "notes letters notes-of"),
        )
        return "".join(
            f'<h4>{title}</h4>\n<{tag} class="{kind}">\n{lines}\n</{tag}>\n'
            for lines, title, tag, kind in parts
            if lines
        )


def _letter(number: int) -> str:
    """Return a, b, ..., z, aa, ab, ..., as CSS counts in lower-alpha."""
    number, rest = divmod(number, 26)
    return (_letter(number - 1) if number else "") + chr(ord("a") + rest)


def _why(value: Mapping[str, Any]) -> str:
    why = value["explained"]
    published = _stated(value, value["published"])
    if name := why["hypothesis"]:
        told, source = f"{published} if {words(name)}.", ""
    else:
        told = f"{_expected(value)} expected instead of {published}."
        source = f' <span class="quiet">Expected from: {prose(why["source"])}</span>'
    return f"<b>{prose(value['what'])}:</b> {told} {prose(why['because'])}{source}"


def _else(value: Mapping[str, Any], whole: str) -> str:
    """Return the expected value, or the hypothesis."""
    if name := value["explained"]["hypothesis"]:
        return f"as published if {words(name)}"
    return f"expected <span{class_of(whole)}>{_expected(value)}</span>"


def _expected(value: Mapping[str, Any]) -> str:
    """Return the value that an explanation expects, with its tolerance."""
    why = value["explained"]
    number = value["kind"] not in {"order", "shape"}
    expected = _stated(dict(value, kind="within") if number else value, why["expected"])
    if not why["tolerance"]:
        return expected
    if not number:
        return f"{expected} (tolerance {powers(text_of(why['tolerance']))})"
    sides = f"{text_of(why['expected'])} ± {text_of(why['tolerance'])}"
    return with_unit(sides, value["unit"])
