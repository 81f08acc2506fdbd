"""The page on architecture names files that exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
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
