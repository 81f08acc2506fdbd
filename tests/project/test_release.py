"""The version of a release, its date and its addresses are the same wherever they stand."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import sledsim as ss

ROOT = Path(__file__).parents[2]


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def toml(name: str) -> dict[str, Any]:
    return tomllib.loads(text(name))


def cited(key: str) -> str:
    """Return a value of CITATION.cff that stands at the margin."""
    (value,) = re.findall(rf"^{key}: (.+)$", text("CITATION.cff"), re.MULTILINE)
    return str(value)


def listed(key: str) -> list[str]:
    """Return the items of a list of CITATION.cff that stands at the margin."""
    (items,) = re.findall(rf"^{key}:\n((?:  - .+\n)+)", text("CITATION.cff"), re.MULTILINE)
    return re.findall(r"^  - (.+)$", items, re.MULTILINE)


def test_one_version() -> None:
    version = toml("Cargo.toml")["workspace"]["package"]["version"]
    page = text("docs/howto/cite.md")
    assert re.fullmatch(r"\d+\.\d+\.\d+", version)
    assert ss.__version__ == version == cited("version")
    assert f"version = {{{version}}}" in page
    assert f"year    = {{{cited('date-released')[:4]}}}" in page


def test_codemeta_and_the_package_say_what_the_citation_says() -> None:
    meta, project = json.loads(text("codemeta.json")), toml("pyproject.toml")["project"]
    names = {"name": "title", "description": "abstract", "version": "version"}
    for name, key in (names | {"dateModified": "date-released"}).items():
        assert meta[name] == cited(key), name
    for authors in (meta["author"], project["authors"]):
        assert [f"name: {author['name']}" for author in authors] == listed("authors")
    spdx = "https://spdx.org/licenses/"
    assert meta["license"] == [f"{spdx}{licence}" for licence in listed("license")]
    assert meta["keywords"] == listed("keywords")
    assert project["license"].split(" OR ") == listed("license")


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
    meta = json.loads(text("codemeta.json"))
    assert meta["codeRepository"] == source
    assert meta["issueTracker"] == urls["Issues"]
    assert set(re.findall(r"url: (\S+)", text(".github/ISSUE_TEMPLATE/config.yml"))) <= {
        urls["Documentation"],
        f"{source}/security",
    }
