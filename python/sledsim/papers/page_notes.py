"""The notes below the values of an item: readings, reasons, tolerances and changes."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from sledsim.papers.page_text import powers, prose, unit_html, words
from sledsim.papers.values import text_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Notes:
    """The notes of an item: reasons of verdicts by number, reasons of tolerances by letter."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.item = escape(document["id"])
        self.readings: Mapping[str, str] = document["readings"]
        self.values: Sequence[Mapping[str, Any]] = document["values"]
        self.reasoned = [value for value in self.values if _why(value)]
        reasons = (value["tolerance_because"] for value in self.values)
        self.reasons = list(dict.fromkeys(reason for reason in reasons if reason))

    def why(self, value: Mapping[str, Any]) -> str:
        """Return the link to the reason of a verdict, if it has one."""
        if not _why(value):
            return ""
        number = self.reasoned.index(value) + 1
        return self._link(f"why-{number}", str(number), "reason")

    def tolerance(self, value: Mapping[str, Any]) -> str:
        """Return the link to the reason of a tolerance, if it has one."""
        if not value["tolerance_because"]:
            return ""
        number = self.reasons.index(value["tolerance_because"])
        return self._link(f"tolerance-{number + 1}", _letter(number), "tolerance")

    def _link(self, name: str, text: str, of: str) -> str:
        return f'<sup><a href="#{self.item}:{name}" aria-label="{of} {text}">{text}</a></sup>'

    def html(self) -> str:
        """Return all notes."""
        readings = [f"<b>{words(name)}:</b> {prose(text)}" for name, text in self.readings.items()]
        whys = [f"<b>{prose(value['what'])}:</b> {_why(value)}" for value in self.reasoned]
        changes = [
            f"<b>{prose(value['what'])}:</b> {_change(change)}"
            for value in self.values
            for change in value["history"]
        ]
        parts = (
            (readings, "Readings, which hold for all values or explain none", "reading", "ul", ""),
            (whys, "Reasons", "why", "ol", "notes "),
            ([*map(prose, self.reasons)], "Tolerances", "tolerance", "ol", "notes letters "),
            (changes, "Changed since the first results", "change", "ul", "notes "),
        )
        return "".join(
            f'<h4>{title}</h4>\n<{tag} class="{kind}notes-of">\n{self._lines(name, lines)}\n'
            f"</{tag}>\n"
            for lines, title, name, tag, kind in parts
            if lines
        )

    def _lines(self, name: str, lines: Sequence[str]) -> str:
        return "\n".join(
            f'<li id="{self.item}:{name}-{number}">{line}</li>'
            for number, line in enumerate(lines, 1)
        )


def _letter(number: int) -> str:
    """Return a, b, ..., z, aa, ab, ..., as CSS counts in lower-alpha."""
    number, rest = divmod(number, 26)
    return (_letter(number - 1) if number else "") + chr(ord("a") + rest)


def _why(value: Mapping[str, Any]) -> str:
    """Return why a value has its verdict, and what others than sledsim come to."""
    if value["verdict"] in {"reproduced", "conditional"}:
        return ""
    if value["repeats"]:
        return f"As <code>{escape(value['repeats'])}</code>."
    told, expected = prose(value["because"]), value["expected"]
    if value["contradiction"] and value["verdict"] == "contradiction":
        told += f" <code>{escape(value['contradiction']['arithmetic'])}</code>, with"
        named = value["contradiction"]["numbers"].items()
        told += f" {', '.join(f'{escape(name)} = {words(key)}' for name, key in named)}."
    if expected:
        source = expected["arithmetic"] or f"tests/independent: {expected['computed']}"
        unit = f" {unit_html(value['unit'])}" if value["unit"] else ""
        told += (
            f' <span class="quiet">{powers(text_of(expected["value"]))}{unit} by'
            f" <code>{escape(source)}</code>. {prose(expected['because'])}</span>"
        )
    if not told and value["verdict"] == "missed":
        told = "Nothing is known of why."
    if value["cause"] and value["verdict"] == "missed":
        told += f" Cause: {words(value['cause'])}."
    return told


def _change(change: Mapping[str, str]) -> str:
    key, old, new = (prose(change[name]) for name in ("key", "old", "new"))
    return f"{key} {old} \u2192 {new}. {prose(change['why'])}"
