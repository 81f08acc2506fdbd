"""Distribution of the tests over processes (`-n 2`): groups that stay together, and their order.

Some tests stay in one process, one after the other: those of a group. Any other test may run in
any process, at any time.
"""

import functools
import re
from pathlib import Path
from typing import Any

import pytest
from sybil.integration.pytest import SybilItem

REAL_TIME = "tests/emulated/"
"""The folder of tests with servers, mounts and loop devices. They look for what others leave on the
machine, and take their time from its clock."""

ROOT = Path(__file__).parents[1]
SHARES = re.compile(
    r'scope="(class|module|package|session)"|^@(functools\.)?(lru_)?cache\b', re.MULTILINE
)
"""How a test file says that its tests share a result, which each process would compute again."""


@functools.cache
def group_of(path: str) -> str | None:
    """Return the group of the tests of a file, by its path from the root; None if they have none.

    A document is a group, as its blocks build on one another.
    """
    name = path.rsplit("/", 1)[-1]
    if not name.startswith("test_"):
        return path
    if path.startswith(REAL_TIME):
        return "real time"
    return path if SHARES.search((ROOT / path).read_text(encoding="utf-8")) else None


def arranged(items: list[pytest.Item]) -> list[pytest.Item]:
    """Bring the tests of a group together, in the order in which the groups begin.

    What takes long begins first: the tests in real time, other groups, then the free tests, which
    fill the rest of the time evenly. Blocks keep the order of their document.
    """
    groups: dict[str | None, list[pytest.Item]] = {"real time": []}
    for item in items:
        groups.setdefault(group_of(item.nodeid.split("::", 1)[0]), []).append(item)
    free = groups.pop(None, [])
    for group in groups.values():
        # A stable sort: tests keep the order that the seed gave them.
        group.sort(key=lambda item: item.example.start if isinstance(item, SybilItem) else 0)
    return [*(item for group in groups.values() for item in group), *free]


def scheduler(config: pytest.Config, log: Any) -> Any:
    """Make the scheduler of pytest-xdist that keeps groups together.

    Its own, `--dist loadgroup`, has no effect with pytest 9.2 (issue 1386 of pytest-xdist).
    """
    from xdist.scheduler import LoadScopeScheduling  # only where it is asked for

    class Groups(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return group_of(nodeid.split("::", 1)[0]) or nodeid

    return Groups(config, log)
