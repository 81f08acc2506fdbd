"""The version of a release, its date and its addresses are the same wherever they stand."""

import re
import tomllib
from pathlib import Path
from typing import Any

import sledsim as ss

ROOT = Path(__file__).parents[1]


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def toml(name: str) -> dict[str, Any]:
    return tomllib.loads(text(name))


def cited(key: str) -> str:
    """Return a value of CITATION.cff that stands at the margin."""
    (value,) = re.findall(rf"^{key}: (.+)$", text("CITATION.cff"), re.MULTILINE)
    return str(value)


def test_one_version() -> None:
    version = toml("Cargo.toml")["workspace"]["package"]["version"]
    page = text("docs/howto/cite.md")
    assert re.fullmatch(r"\d+\.\d+\.\d+", version)
    assert ss.__version__ == version
    assert cited("version") == version
    assert f"version = {{{version}}}" in page
    assert f"year    = {{{cited('date-released')[:4]}}}" in page


def test_the_changelog_begins_with_this_version() -> None:
    """What is not released stands above it."""
    headings = re.findall(r"^## (.+)$", text("CHANGELOG.md"), re.MULTILINE)
    assert headings[:2] == ["[Unreleased]", f"[{cited('version')}] - {cited('date-released')}"]


def test_one_address() -> None:
    source = toml("Cargo.toml")["workspace"]["package"]["repository"]
    urls = toml("pyproject.toml")["project"]["urls"]
    assert urls["Source"] == source
    assert urls.keys() == {"Changelog", "Documentation", "Issues", "Source"}
    for url in urls.values():
        assert url == source or url.startswith(f"{source}/")
    # Those of files are in the checkout.
    for url in urls.values():
        path = re.fullmatch(r".*/(?:blob|tree)/main/(.+)", url)
        assert path is None or (ROOT / path[1]).exists()
    assert source in text("CONTRIBUTING.md")
