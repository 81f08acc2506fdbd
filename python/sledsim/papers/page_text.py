"""Text of the report: verdicts, numbers, units and prose."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sledsim.papers.judge import Verdict

MARKS: dict[Verdict, str] = {
    "reproduced": "\u2713",
    "conditional": "\u2248",
    "calibrated": "\u25ce",
    "input": "=",
    "repeat": "\u21ba",
    "erratum": "!",
    "contradiction": "\u21af",
    "not_modelled": "\u25cb",
    "missed": "\u2717",
}
"""A sign for each verdict, in the order of all tables."""


def powers(text: str) -> str:
    """Set the powers of numbers."""
    return re.sub(r"\^(\u2212?\d+)", r"<sup>\1</sup>", text)


def with_unit(text: str, unit: str) -> str:
    """Return a number, or numbers, with their unit if they have one."""
    space = " " if " " in unit else "\u202f"
    text = powers(text)
    return f"{text}{space}{unit_html(unit)}" if unit else text


def unit_html(unit: str) -> str:
    """Write a unit as it is printed."""
    return re.sub(r"(?<=[a-z])([23])\b", r"<sup>\1</sup>", re.sub(r"\bu(?=m)", "µ", escape(unit)))


def verdict_html(verdict: Verdict) -> str:
    """Return a verdict in its colour."""
    return f'<span class="verdict {verdict}">{mark(verdict)}</span>'


def mark(verdict: Verdict) -> str:
    """Return a verdict with its sign, for readers without colour."""
    return f'<span aria-hidden="true">{MARKS[verdict]}</span>\u00a0{words(verdict)}'


def class_of(kind: str) -> str:
    """Return the attribute ``class``, if there is one."""
    return f' class="{kind}"' if kind else ""


def words(name: str) -> str:
    """Write a key as words."""
    return escape(name.replace("_", " "))


def paragraphs(text: str) -> str:
    """Return the paragraphs of a text."""
    return "\n".join(f"<p>{prose(part)}</p>" for part in text.split("\n\n"))


def prose(text: str) -> str:
    """Escape a text, and set its units and powers."""
    text = re.sub(r"\bm/s2\b", "m/s<sup>2</sup>", escape(text))
    text = re.sub(r"(\d)\^(\d+)", r"\1<sup>\2</sup>", text)
    text = re.sub(r"(?<=\d )um\b", "µm", text)
    return re.sub(r"(?<=\d) (?=%|[kMGµnm]?[smBW]\b|[kMG]iB\b|bits?\b|[kM]?Hz\b)", "\u202f", text)
