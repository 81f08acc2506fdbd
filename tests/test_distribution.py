"""The order and the distribution of the tests over processes."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.distribution import ROOT, SHARES, group_of

DOCUMENTS = ["docs/reference/caches.md", "docs/explanation/layouts.md", "docs/reference/power.md"]
FREE = "tests/test_faults.py"
FIXTURES = "tests/test_overload.py"


def pytest_says(*words: str) -> list[str]:
    """Run pytest in another process; return its lines."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def collected(seed: int) -> dict[str, list[str]]:
    """Return the tests of each file in the order in which they would run."""
    names = [*DOCUMENTS, FREE, "tests/test_rpc.py", FIXTURES]
    found: dict[str, list[str]] = {}
    last = ""
    for line in pytest_says("--collect-only", "-q", f"--randomly-seed={seed}", *names):
        path, colons, test = line.partition("::")
        if colons:
            assert path == last or path not in found, "they are next to each other"
            found.setdefault(path, []).append(test)
            last = path
    assert set(found) == set(names)
    return found


def test_tests_are_shuffled_and_blocks_are_not() -> None:
    orders = [collected(seed) for seed in (1, 1, 2)]
    assert list(orders[0].items()) == list(orders[1].items())
    assert orders[0][FREE] != orders[2][FREE]
    assert sorted(orders[0][FREE]) == sorted(orders[2][FREE])
    for order in orders:
        assert next(iter(order)) == "tests/test_rpc.py"  # slow files first
        assert list(order)[-1] == FREE  # files that can be shared evenly last
        for document in DOCUMENTS:
            lines = [int(test.partition(":")[2].partition(",")[0]) for test in order[document]]
            assert lines == sorted(lines)
            assert len(lines) > 2


def test_groups_stay_in_one_process() -> None:
    """Else the blocks of a page would not find the names of those before them, either."""
    docstrings = "python/sledsim/disksim/__init__.py"
    workers: dict[str, set[str]] = {}
    for line in pytest_says("-v", "-n2", docstrings, "docs/reference/power.md", FIXTURES):
        if line.startswith("[gw"):  # [gw1] [ 50%] PASSED docs/reference/power.md::line:9,column:1
            path = line.split("PASSED ")[1].partition("::")[0]
            workers.setdefault(path, set()).add(line.partition("]")[0])
    assert {path: len(found) for path, found in workers.items()} == {
        docstrings: 1,
        "docs/reference/power.md": 1,
        FIXTURES: 1,
    }


def test_results_that_tests_share_are_found() -> None:
    for shared in ('@pytest.fixture(scope="module")', "@cache\ndef f(): ...", "@functools.cache\n"):
        assert SHARES.search(shared)
    assert not SHARES.search("@pytest.fixture\ndef f(): ...")


@pytest.mark.parametrize(
    ("path", "group"),
    [
        ("README.md", "README.md"),
        ("python/sledsim/__init__.py", "python/sledsim/__init__.py"),
        ("tests/test_emulator_mount.py", "real time"),
        ("tests/test_applications.py", "real time"),
        ("tests/test_rpc.py", "real time"),
        (FIXTURES, FIXTURES),
        (FREE, None),
    ],
)
def test_groups(path: str, group: str | None) -> None:
    assert (ROOT / path).exists()
    assert group_of(path) == group


def test_files_with_servers_are_in_real_time() -> None:
    """A new file that mounts or serves is not forgotten."""
    for path in Path(ROOT, "tests").glob("test_*.py"):
        text = path.read_text(encoding="utf-8")
        serves = "serve(" in text or "needs_root" in text or '"mount"' in text
        if serves and path.name != Path(__file__).name:
            assert group_of(f"tests/{path.name}") == "real time", path
