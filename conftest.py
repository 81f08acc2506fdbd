"""What all tests share; the code blocks of the documents and docstrings are tests, too."""

import signal
from collections.abc import Iterator
from typing import Any

import pytest

from tests.code_blocks import DOCSTRINGS, DOCUMENTS

pytest_collect_file = (DOCUMENTS + DOCSTRINGS).pytest()


@pytest.fixture(autouse=True)
def signals() -> Iterator[None]:
    """Signals do what they do at a terminal, even where the tests run in the background."""
    usual: dict[int, Any] = {
        signal.SIGINT: signal.default_int_handler,
        signal.SIGHUP: signal.SIG_DFL,
    }
    before = {number: signal.signal(number, handler) for number, handler in usual.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
