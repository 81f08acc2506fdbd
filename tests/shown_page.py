"""An HTML page as a browser shows it, and the browser."""

import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import pytest

VOID = {"base", "br", "img", "input", "link", "meta"}
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Return a browser."""
    if CHROMIUM is None:
        pytest.skip("needs Chromium")
    from playwright.sync_api import sync_playwright

    switches = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=switches)
        yield started
        started.close()


class Shown(HTMLParser):
    """The content of a page as a browser sees it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.parts: dict[int, str] = {}
        """The text in each of the tags."""
        self._open: list[int] = []
        self.feed(text)
        self.close()
        assert self._open == [], "a tag is not closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"twice the same attribute in <{tag}>"
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        self.parts[len(self.tags) - 1] = ""
        if tag not in VOID:
            self._open.append(len(self.tags) - 1)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.tags[self._open.pop()][0] == tag, f"</{tag}> closes nothing"

    def handle_data(self, data: str) -> None:
        for place in self._open:
            self.parts[place] += data

    def all(self, tag: str, kind: str = "") -> list[str]:
        """Return the text in all tags of a name, and perhaps with a class, spaces joined."""
        return [
            " ".join(self.parts[place].split())
            for place, (name, attributes) in enumerate(self.tags)
            if name == tag and (not kind or kind in attributes.get("class", "").split())
        ]

    def raw(self, tag: str) -> list[str]:
        """Return the text in all tags of a name as it stands."""
        return [self.parts[place] for place, (name, _) in enumerate(self.tags) if name == tag]

    def rows(self, table: str = "") -> list[list[str]]:
        """Return the cells of the rows of all tables, or of those with a class."""
        rows: list[list[str]] = []
        inside = False
        for place, (tag, attributes) in enumerate(self.tags):
            if tag == "table":
                inside = not table or attributes.get("class") == table
            elif inside and tag == "tr":
                rows.append([])
            elif inside and tag in {"th", "td"}:
                rows[-1].append(" ".join(self.parts[place].split()))
        return rows
