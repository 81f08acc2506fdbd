"""Shared set-up of the tests; the code blocks of documents and docstrings are tests, too.

The seed that the head of a run prints fixes the order of the tests and what hypothesis draws.
`pytest --randomly-seed=SEED` does the same again.
"""

import gc
import os
import signal
from collections.abc import Generator, Iterator
from typing import Any

import hypothesis
import pytest
from sybil.integration.pytest import SybilItem

from tests.code_blocks import DOCSTRINGS, DOCUMENTS, ROOT

# All processes of a run, and the commands of the documents, share what papers simulate.
os.environ.setdefault("SLEDSIM_OUTCOMES", str(ROOT / "out" / "tests" / "outcomes"))

pytest_collect_file = (DOCUMENTS + DOCSTRINGS).pytest()

# A loaded machine is no error. Where CI is set, tests that do not say how many examples they draw
# draw 200, twice the usual, and a failure prints the line that repeats it.
hypothesis.settings.register_profile(
    "dev", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.register_profile(
    "ci", hypothesis.settings.get_profile("dev"), max_examples=200, print_blob=True
)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "dev")


@pytest.hookimpl(wrapper=True)  # pytest-randomly has shuffled them by then
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Generator[None]:
    """Give hypothesis the seed of the run, and say which tests stay in one process of `-n 2`.

    Those of a file share what its fixtures made, and blocks of a document build on one another, in
    its order. Those of `tests/emulated/` are one group: they look for what others leave on the
    machine, and take their time from its clock. A file that does neither names a group of its own.
    """
    seed = config.getoption("randomly_seed")
    in_order = iter(
        sorted(
            (item for item in items if isinstance(item, SybilItem)),
            key=lambda block: (block.path, block.example.start),
        )
    )
    items[:] = [next(in_order) if isinstance(item, SybilItem) else item for item in items]
    for item in items:
        test: Any = getattr(item, "obj", None)
        if getattr(test, "is_hypothesis_test", False):
            hypothesis.seed(f"{seed} {item.nodeid.partition('[')[0]}")(test)
        file = item.nodeid.partition("::")[0]
        if item.get_closest_marker("xdist_group") is None:
            group = "emulated" if file.startswith("tests/emulated/") else file
            item.add_marker(pytest.mark.xdist_group(group))
    return (yield)


gc.disable()  # until all modules are imported


def pytest_collection_finish() -> None:
    """Collect no more garbage among what stays to the end: a tenth of the time went there."""
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True)
def signals() -> Iterator[None]:
    """Restore the default handling of signals, even where the tests run in the background."""
    usual: dict[int, Any] = {
        signal.SIGINT: signal.default_int_handler,
        signal.SIGHUP: signal.SIG_DFL,
    }
    before = {number: signal.signal(number, handler) for number, handler in usual.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
