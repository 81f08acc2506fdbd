"""The order and the distribution of the tests over processes."""

from __future__ import annotations

import random
from itertools import groupby
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from sybil.integration.pytest import SybilItem

from tests.distribution import ROOT, SHARES, group_of

if TYPE_CHECKING:
    from collections.abc import Callable

DOCUMENT = "docs/reference/caches.md"
DOCSTRINGS = "python/sledsim/disksim/__init__.py"
FREE = "tests/physics/test_faults.py"
FIXTURES = "tests/physics/test_overload.py"
SLOW = "tests/emulated/test_rpc.py"
NAMES = [
    *(f"{DOCUMENT}::line:{line},column:1" for line in (5, 30, 111)),
    *(f"{DOCSTRINGS}::line:{line},column:1" for line in (9, 12)),
    *(f"{path}::test_{name}" for path in (FREE, FIXTURES, SLOW) for name in "abcdef"),
]


class Free(pytest.Function):
    """A test with so much of one as its place depends on."""

    nodeid = ""


class Block(SybilItem):
    """The same of a block of a document."""

    nodeid = ""


def item(name: str) -> pytest.Item:
    test = name.partition("::")[2]
    kind = Block if test.startswith("line:") else Free
    made: Any = object.__new__(kind)
    made.nodeid = name
    if kind is Block:
        made.example = SimpleNamespace(start=int(test[5:].partition(",")[0]))
    return made  # type: ignore[no-any-return]


@pytest.fixture
def shuffled(request: pytest.FixtureRequest) -> Callable[[int], list[str]]:
    """Return the tests in the order in which they would run with a seed."""
    conftest: Any = request.config.pluginmanager.get_plugin(str(ROOT / "conftest.py"))

    def names(seed: int) -> list[str]:
        items = [item(name) for name in random.Random(seed).sample(NAMES, len(NAMES))]
        next(conftest.pytest_collection_modifyitems(request.config, items))
        return [each.nodeid for each in items]

    return names


def test_tests_are_shuffled_and_blocks_are_not(shuffled: Callable[[int], list[str]]) -> None:
    orders = [shuffled(seed) for seed in (1, 1, 2)]
    assert orders[0] == orders[1]
    for order in orders:
        assert sorted(order) == sorted(NAMES)
        files = [name.partition("::")[0] for name in order]
        assert len(list(groupby(files))) == len(set(files)), "they are next to each other"
        assert files[0] == SLOW  # slow files first
        assert files[-1] == FREE  # files that can be shared evenly last
        for document in (DOCUMENT, DOCSTRINGS):
            blocks = [name for name in order if name.startswith(document)]
            assert blocks == [name for name in NAMES if name.startswith(document)]
    for path in (FREE, FIXTURES, SLOW):
        first, _, other = ([name for name in order if path in name] for order in orders)
        assert first != other
        assert sorted(first) == sorted(other)


def test_they_are_shuffled_before(request: pytest.FixtureRequest) -> None:
    assert request.config.pluginmanager.has_plugin("randomly")


class Worker:
    """Stand in for a worker of pytest-xdist; record the tests that it gets."""

    gateway = SimpleNamespace(id="gw")
    shutting_down = False

    def __init__(self) -> None:
        self.waiting: list[int] = []
        self.done: list[int] = []

    def send_runtest_some(self, indices: list[int]) -> None:
        self.waiting += indices

    def shutdown(self) -> None:
        self.shutting_down = True


def test_groups_stay_in_one_process(
    request: pytest.FixtureRequest, shuffled: Callable[[int], list[str]]
) -> None:
    """Else the blocks of a page would not find the names of those before them, either."""
    settings = {"tx": ["2*popen"], "loadscopereorder": False}
    config: Any = SimpleNamespace(getvalue=settings.get, getoption=settings.get)
    config.option = SimpleNamespace(**settings)
    make = request.config.hook.pytest_xdist_make_scheduler
    schedule = make(config=config, log=None)  # as conftest.py makes it
    workers = [Worker(), Worker()]
    order = shuffled(1)
    for worker in workers:
        schedule.add_node(worker)
        schedule.add_node_collection(worker, order)
    schedule.schedule()
    chance = random.Random(1)
    while busy := [worker for worker in workers if worker.waiting]:
        worker = chance.choice(busy)  # either may be the faster
        worker.done.append(worker.waiting.pop(0))
        schedule.mark_test_complete(worker, worker.done[-1])
    ran = [{order[index].partition("::")[0] for index in worker.done} for worker in workers]
    assert sorted(index for worker in workers for index in worker.done) == list(range(len(NAMES)))
    assert ran[0] & ran[1] == {FREE}


def test_results_that_tests_share_are_found() -> None:
    for shared in ('@pytest.fixture(scope="module")', "@cache\ndef f(): ...", "@functools.cache\n"):
        assert SHARES.search(shared)
    assert not SHARES.search("@pytest.fixture\ndef f(): ...")


@pytest.mark.parametrize(
    ("path", "group"),
    [
        ("README.md", "README.md"),
        ("python/sledsim/__init__.py", "python/sledsim/__init__.py"),
        ("tests/emulated/test_emulator_mount.py", "real time"),
        ("tests/emulated/test_applications.py", "real time"),
        ("tests/emulated/test_rpc.py", "real time"),
        (FIXTURES, FIXTURES),
        (FREE, None),
    ],
)
def test_groups(path: str, group: str | None) -> None:
    assert (ROOT / path).exists()
    assert group_of(path) == group


def test_files_with_servers_are_in_real_time() -> None:
    """A new file that mounts or serves is not forgotten."""
    for path in Path(ROOT, "tests").glob("*/test_*.py"):
        text = path.read_text(encoding="utf-8")
        serves = "serve(" in text or "needs_root" in text or '"mount"' in text
        if serves and path.name != Path(__file__).name:
            assert path.parent.name == "emulated", path
