"""The meanings of words, for the pages that use them."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

from markupsafe import Markup, escape

_FILE = Path(__file__).with_name("glossary.toml")
_LINK = re.compile(r'href="#term-([a-z0-9-]+)"')


@cache
def terms() -> dict[str, str]:
    """Return the meaning of each word, as docs/glossary.md has it; names stand in backquotes."""
    return tomllib.loads(_FILE.read_text(encoding="utf-8"))


def _anchor(term: str) -> str:
    return "term-" + re.sub(r"[^a-z0-9]+", "-", term.lower()).strip("-")


def word(text: str, term: str = "") -> Markup:
    """Return a text as a link to the meaning of a word.

    Parameters
    ----------
    text
        The text.
    term
        The word, as the glossary has it; by default the text.
    """
    name = term or text[:1].upper() + text[1:]
    if name not in terms():
        raise KeyError(name)
    return Markup('<a class="term" href="#{}">{}</a>').format(_anchor(name), text)


def used(body: str) -> list[tuple[str, str, Markup]]:
    """Return the words that a page links to: anchor, word and meaning, in order."""
    wanted = {f"term-{name}" for name in _LINK.findall(body)}
    found = [(_anchor(term), term, _marked(text)) for term, text in terms().items()]
    return sorted(
        (entry for entry in found if entry[0] in wanted), key=lambda entry: entry[1].casefold()
    )


def _marked(text: str) -> Markup:
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))
