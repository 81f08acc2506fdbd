"""The files in Git: none left over at the root, none large by accident."""

import ast
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

FOLDERS = ".ci .github benches crates docs examples fuzz python requirements scripts tests"
FILES = """
.dockerignore .gitattributes .gitignore CHANGELOG.md CITATION.cff CODE_OF_CONDUCT.md CONTRIBUTING.md
Containerfile Cargo.lock Cargo.toml LICENSE-APACHE LICENSE-MIT LICENSE-THIRD-PARTY Makefile
README.md SECURITY.md SUPPORT.md codemeta.json conftest.py deny.toml pyproject.toml rustfmt.toml
"""

LARGE = 100 << 10
"""A file of more bytes must be listed."""
LISTED = {
    "LICENSE-THIRD-PARTY",
    "examples/notebooks/lecture.ipynb",  # it holds a page that explains runs
    "examples/notebooks/own_scheduler.ipynb",  # so does this
    "python/sledsim/data/traces/postmark-ext4.trace.gz",
    "python/sledsim/data/traces/postmark.parquet",
    "python/sledsim/data/traces/sqlite.parquet",
    "python/sledsim/data/traces/tpch-q4.parquet",
    "requirements/test.lock",
}


if not (ROOT / ".git").exists():
    pytest.skip("not a checkout of git", allow_module_level=True)


@pytest.fixture
def tracked() -> set[str]:
    """List the files of the checkout that git keeps."""
    command = ["git", "ls-files", "-z"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return {name for name in done.stdout.split("\0") if (ROOT / name).is_file()}


def test_files_are_where_they_belong(tracked: set[str]) -> None:
    """Write what is strange elsewhere, or list it above; large files must be listed, too."""
    files = {name for name in tracked if "/" not in name}
    assert files == set(FILES.split())
    assert {name.partition("/")[0] for name in tracked - files} == set(FOLDERS.split())
    assert {name for name in tracked if (ROOT / name).lstat().st_size > LARGE} == LISTED


def test_the_package_imports_neither_its_root_nor_by_a_text() -> None:
    package = ROOT / "python" / "sledsim"
    rooms = {path.stem for path in package.iterdir()} | {"_core"}
    for file in package.rglob("*.py"):
        if file == package / "__init__.py" or file.parent.name == "cli":
            continue
        text = file.read_text(encoding="utf-8")
        for part in ast.walk(ast.parse(text)):
            if isinstance(part, ast.Import):
                assert "sledsim" not in {alias.name for alias in part.names}, file
            if isinstance(part, ast.ImportFrom) and part.module == "sledsim":
                assert {alias.name for alias in part.names} <= rooms, file
        assert 'import_module("sledsim' not in text, file
