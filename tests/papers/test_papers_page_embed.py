"""Pictures and code as parts of a page."""

from __future__ import annotations

import html
import re

from hypothesis import given
from hypothesis import strategies as st
from sledsim.papers.page_code import highlighted_python, highlighted_toml
from sledsim.show.pages.colours import Palette
from sledsim.show.pages.embed import inline_svg


def test_a_picture_becomes_part_of_a_page() -> None:
    svg = """<?xml version="1.0"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://x">
    <svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"
     width="100pt" height="50pt" viewBox="0 0 100 50"><metadata><date>today</date></metadata>
    <defs><style>* {stroke: red}</style><clipPath id="p1"><path id="unused" d="M 0 0"/></clipPath>
    <path id="m1" style="fill: #000000; stroke: #1b1f24"/></defs>
    <g id="g1" clip-path="url(#p1)" style="stroke: #0072b2; fill: #123456"><!-- hidden -->
    <use xlink:href="#m1" fill="#ffffff"/></g><text>a &lt;b&gt; &amp; c</text></svg>"""
    palette = Palette()
    drawing = inline_svg(svg, "x:", 'it "is"', palette)
    assert palette.light == {
        name: f"#{name[3:]}" for name in ("--c000000", "--c0072b2", "--c123456")
    }
    for part in (
        '<clipPath id="x:p1">',
        '<path id="x:m1" style="fill: var(--c000000); stroke: var(--ink)" />',
        'clip-path="url(#x:p1)"',
        "stroke: var(--c0072b2); fill: var(--c123456)",
        '<use href="#x:m1" fill="var(--paper)" />',
        "<text>a &lt;b&gt; &amp; c</text>",
        'aria-label="it &quot;is&quot;"',
        'viewBox="0 0 100 50"',
        'id="x:drawing"',
    ):
        assert part in drawing
    for part in ("today", "style>", "unused", "g1", "hidden", "xlink", "xmlns", "DOCTYPE", "100pt"):
        assert part not in drawing


@given(
    st.text()
    | st.lists(st.sampled_from(['"""', "'", "#", "\\", "if ", "x = 1", "\n", "f'{"])).map("".join)
)
def test_highlighting_changes_no_text(code: str) -> None:
    for marked in (highlighted_python(code), highlighted_toml(code)):
        bare = re.sub(r'<span class="[kscm]">|</span>', "", marked)
        assert "<" not in bare
        assert html.unescape(bare) == html.unescape(html.escape(code, quote=False))


def test_highlighting_knows_words_and_strings() -> None:
    # Other characters end lines elsewhere, but not for the tokenizer.
    assert highlighted_python("'\u2028\x0c'\nx < 1\n") == (
        '<span class="s">\'\u2028\x0c\'</span>\nx &lt; <span class="m">1</span>\n'
    )
    marked = highlighted_python('def f(x):  # why\n    return "a < b" if x else 1.5\n')
    assert re.findall(r'<span class="(\w)">(.*?)</span>', marked) == [
        ("k", "def"),
        ("c", "# why"),
        ("k", "return"),
        ("s", '"a &lt; b"'),
        ("k", "if"),
        ("k", "else"),
        ("m", "1.5"),
    ]
