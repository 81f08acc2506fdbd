"""The page on architecture names files that exist."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "architecture.md"


def test_the_page_names_files_that_exist_and_every_crate() -> None:
    text = PAGE.read_text("utf-8")
    named = re.findall(r"`((?:crates|python|tests|docs)/[\w./-]*)`", text)
    assert len(named) > 50
    assert [name for name in named if not (ROOT / name).exists()] == []
    folders = [*(ROOT / "crates").iterdir(), *(ROOT / "crates/sledsim-core/src").glob("*/")]
    assert [path.name for path in folders if f"| `{path.name}` |" not in text] == []


def test_the_map_of_the_python_package_has_the_floors_that_lint_checks() -> None:
    """Each module stands on its floor, and the files to begin with exist."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    (contract,) = settings["tool"]["importlinter"]["contracts"]
    floors = dict(enumerate((set(layer.split(" : ")) for layer in contract["layers"]), 1))
    after = PAGE.read_text("utf-8").partition("## The Python package: a map")[2]
    part = after.partition("\n## ")[0]
    rows = re.findall(r"^\| (\d+) \| (.*?) \| .* \| (.*?) \|$", part, re.MULTILINE)
    named: dict[int, set[str]] = {}
    for floor, modules, _ in rows:
        named.setdefault(int(floor), set()).update(re.findall(r"`(\w+)`", modules))
    assert named == floors
    files = [name for _, _, begin in rows for name in re.findall(r"`([\w/]+\.py)`", begin)]
    assert len(files) > 10
    assert [name for name in files if not (ROOT / "python/sledsim" / name).exists()] == []
    assert len(part.strip().splitlines()) < 40
