"""Pictures and code inside the report."""

from __future__ import annotations

import io
import keyword
import re
import tokenize
from html import escape
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from sledsim.plots.style import COLOURS, FAINT, INK, VERDICTS

if TYPE_CHECKING:
    from collections.abc import Iterator

VARIABLES = {
    INK: ("ink", "#e4e8ec"),
    FAINT: ("faint", "#39414b"),
    **{
        colour: (f"c{number}", dark)
        for number, (colour, dark) in enumerate(
            zip(
                COLOURS,
                (
                    "#5ab8f0",
                    "#ff8a3d",
                    "#2ed3a2",
                    "#b98bff",
                    "#e8747a",
                    "#a9afc8",
                    "#8a90f5",
                    "#d08cc0",
                ),
                strict=True,
            )
        )
    },
    **{
        VERDICTS[verdict]: (verdict, dark)
        for verdict, dark in {
            "reproduced": "#5fc45a",
            "conditional": "#4fc3de",
            "calibrated": "#e0b93a",
            "input": "#a3adb8",
            "erratum": "#e58ff0",
            "missed": "#ff7a8a",
        }.items()
    },
}
"""For a colour of the pictures: its CSS variable, and the value of that on a dark background."""

CSS = {colour: f"var(--{name})" for colour, (name, _) in VARIABLES.items()} | {
    "#ffffff": "var(--paper)"
}


def inline_svg(svg: str, prefix: str, text: str) -> str:
    """Return a picture as part of a page: its ids its own, its colours those of the page.

    Parameters
    ----------
    svg
        The picture, as Matplotlib writes it.
    prefix
        Prefix of all its ids.
    text
        Its alternative text.
    """
    root = ET.fromstring(svg)
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.rpartition("}")[2] in {"metadata", "style", "title"}:
                parent.remove(child)
    wanted = set(re.findall(r"(?:url\(|href=\")#([^)\"]+)", svg))
    for part in root.iter():
        part.tag = part.tag.rpartition("}")[2]
        attributes = {name.rpartition("}")[2]: value for name, value in part.attrib.items()}
        part.attrib.clear()
        for name, value in attributes.items():
            if name != "id":
                part.set(name, _in_page(name, value, prefix))
            elif value in wanted:
                part.set("id", prefix + value)
        if part.tag not in {"text", "tspan"}:
            part.text = (part.text or "").strip()
        if part.tag != "tspan":
            part.tail = "\n"
    _, _, width, _ = map(float, root.get("viewBox", "").split())
    box = root.get("viewBox", "")
    root.attrib.clear()
    # Text of 10 units is between 8.8 and 15 pixels high.
    style = f"min-width: {0.88 * width:.0f}px; max-width: {1.5 * width:.0f}px"
    for name, value in {
        "class": "picture",
        "viewBox": box,
        "style": style,
        "role": "img",
        "aria-label": text,
    }.items():
        root.set(name, value)
    return ET.tostring(root, encoding="unicode").strip()


def _in_page(name: str, value: str, prefix: str) -> str:
    """Return an attribute of a picture with the references and colours of the page."""
    if name == "href":
        return f"#{prefix}{value[1:]}" if value.startswith("#") else value
    value = re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}\1)", value)
    if name in {"style", "fill", "stroke", "stop-color"}:
        value = re.sub(r"#[0-9a-f]{6}\b", lambda m: CSS.get(m[0], m[0]), value, flags=re.ASCII)
    return value


def highlighted_python(code: str) -> str:
    """Return Python code as HTML, with its keywords, strings, numbers and comments marked."""
    starts = [0]
    for line in code.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    parts, at = [], 0
    for kind, start, end in _tokens(code):
        first, last = (starts[row - 1] + column for row, column in (start, end))
        if first >= at:
            parts += [escape(code[at:first], quote=False)]
            parts += [f'<span class="{kind}">{escape(code[first:last], quote=False)}</span>']
            at = last
    return "".join(parts) + escape(code[at:], quote=False)


def _tokens(code: str) -> Iterator[tuple[str, tuple[int, int], tuple[int, int]]]:
    kinds = {tokenize.STRING: "s", tokenize.COMMENT: "c", tokenize.NUMBER: "m"}
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            word = token.type == tokenize.NAME and keyword.iskeyword(token.string)
            if kind := "k" if word else kinds.get(token.type):
                yield kind, token.start, token.end
    except (tokenize.TokenError, SyntaxError):  # what is left stays plain
        return


def highlighted_toml(data: str) -> str:
    """Return a data file as HTML, with its headings, keys and comments marked."""
    text = escape(data, quote=False)
    text = re.sub(r"^(\[.*\])$", r'<span class="k">\1</span>', text, flags=re.MULTILINE)
    text = re.sub(r"^(#.*)$", r'<span class="c">\1</span>', text, flags=re.MULTILINE)
    return re.sub(r"^(\w+)(?= = )", r'<span class="m">\1</span>', text, flags=re.MULTILINE)
