"""The page on architecture names files that exist."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "architecture.md"


def test_the_files_that_the_page_names_exist() -> None:
    """Every path in backquotes is there."""
    named = re.findall(r"`((?:crates|python|tests|docs)/[\w./-]*)`", PAGE.read_text("utf-8"))
    assert len(named) > 50
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_every_crate_and_every_folder_of_the_core_is_named() -> None:
    """The tables leave none out."""
    text = PAGE.read_text("utf-8")
    crates = [path.name for path in (ROOT / "crates").iterdir()]
    folders = [path.name for path in (ROOT / "crates/sledsim-core/src").iterdir() if path.is_dir()]
    assert [name for name in crates + folders if f"| `{name}` |" not in text] == []


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
