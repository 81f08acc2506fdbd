"""Pictures inside a page: SVG whose text is text and whose colours are those of the page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from sledsim.show.pages.colours import Palette

_SMALLEST, _LARGEST = 0.92, 1.5
"""Scales of a picture: text of 10 units is between 9.2 and 15 pixels high."""

_PATTERN = "{http://www.w3.org/2000/svg}pattern"
"""Of hatches: they lie on fills, and keep their colours."""


def inline_svg(svg: str, prefix: str, text: str, palette: Palette) -> str:
    """Return a picture as part of a page: its ids its own, its colours those of the page.

    Parameters
    ----------
    svg
        The picture, as Matplotlib writes it.
    prefix
        Prefix of all its ids; with ``drawing`` behind it the id of the whole.
    text
        Its alternative text.
    palette
        The colours of the page, which gets those of the picture.
    """
    root = ET.fromstring(svg)
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.rpartition("}")[2] in {"metadata", "style", "title"}:
                parent.remove(child)
    wanted = set(re.findall(r"(?:url\(|href=\")#([^)\"]+)", svg))
    colours = palette.mapped(ET.tostring(root, encoding="unicode"))
    kept = {id(part) for pattern in root.iter(_PATTERN) for part in pattern.iter()}
    for part in root.iter():
        part.tag = part.tag.rpartition("}")[2]
        attributes = {name.rpartition("}")[2]: value for name, value in part.attrib.items()}
        part.attrib.clear()
        for name, value in attributes.items():
            if name != "id":
                own = {} if id(part) in kept else colours
                part.set(name, _in_page(name, value, prefix, own))
            elif value in wanted:
                part.set("id", prefix + value)
        if part.tag not in {"text", "tspan"}:
            part.text = (part.text or "").strip()
        if part.tag != "tspan":
            part.tail = "\n"
    box = root.get("viewBox", "")
    _, _, width, _ = map(float, box.split())
    root.attrib.clear()
    style = f"min-width: {_SMALLEST * width:.0f}px; max-width: {_LARGEST * width:.0f}px"
    for name, value in {
        "class": "picture",
        "id": f"{prefix}drawing",
        "viewBox": box,
        "style": style,
        "role": "img",
        "aria-label": text,
    }.items():
        root.set(name, value)
    return ET.tostring(root, encoding="unicode").strip()


def _in_page(name: str, value: str, prefix: str, colours: dict[str, str]) -> str:
    """Return an attribute of a picture with the references and colours of the page."""
    if name == "href":
        return f"#{prefix}{value[1:]}" if value.startswith("#") else value
    value = re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}\1)", value)
    if name in {"style", "fill", "stroke", "stop-color"}:
        value = re.sub(r"#[0-9a-f]{6}\b", lambda m: colours.get(m[0], m[0]), value, flags=re.ASCII)
    return value


def shape_of(svg: str) -> tuple[str, float]:
    """Return the ``viewBox`` of a picture, and its width as a share of its height."""
    found = re.search(r'viewBox="([\d. -]+)"', svg)
    if found is None:
        raise ValueError("the picture has no viewBox")
    _, _, width, height = map(float, found[1].split())
    return found[1], width / height
