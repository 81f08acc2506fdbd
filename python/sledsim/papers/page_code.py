"""Code inside the report."""

from __future__ import annotations

import io
import keyword
import re
import tokenize
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


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
