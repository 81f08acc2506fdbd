"""How the tests are shared out over processes, and in which order blocks of documents run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sybil.integration.pytest import SybilItem

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).parents[2]


def test_files_stay_in_one_process(request: pytest.FixtureRequest) -> None:
    """So do those that serve or mount, but for the one that names a group of its own.

    In a process of `-n 2`, names end in the group.
    """
    groups: dict[str, set[str]] = {}
    for item in request.session.items:
        (mark,) = item.iter_markers("xdist_group")
        groups.setdefault(mark.args[0], set()).add(str(item.path.relative_to(ROOT)))
        if hasattr(request.config, "workerinput"):
            assert item.nodeid.endswith(f"@{mark.args[0]}"), "pytest-xdist keeps no groups"
    together = groups.pop("emulated", set())
    assert all(file.startswith("tests/emulated/") for file in together)
    assert all(len(files) == 1 for files in groups.values())
    alone = {file for files in groups.values() for file in files}
    assert not alone & together
    in_groups = {file for file in alone if file.startswith("tests/emulated/")}
    assert in_groups <= {"tests/emulated/test_promises.py"}


def test_blocks_run_in_the_order_of_their_document(request: pytest.FixtureRequest) -> None:
    """Else a block would not find the names of those before it."""
    last: dict[Path, int] = {}
    for item in request.session.items:
        if isinstance(item, SybilItem):
            assert last.get(item.path, -1) < item.example.start
            last[item.path] = item.example.start


def test_files_with_servers_are_in_real_time() -> None:
    """A new file that mounts or serves is not forgotten."""
    for path in Path(ROOT, "tests").glob("*/test_*.py"):
        text = path.read_text(encoding="utf-8")
        serves = "serve(" in text or "needs_root" in text or '"mount"' in text
        if serves and path.name != Path(__file__).name:
            assert path.parent.name == "emulated", path
