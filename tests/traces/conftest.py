"""Each test works in an empty folder; fixtures run commands in this process."""

from __future__ import annotations

import contextlib
import json
import shlex
from typing import TYPE_CHECKING, Any

import pytest
from sledsim.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> Iterator[Path]:
    """Work in an empty folder."""
    with contextlib.chdir(tmp_path):
        yield tmp_path


@pytest.fixture
def text(capsys: pytest.CaptureFixture[str]) -> Callable[[str], str]:
    """Run a command; return its output."""

    def run(line: str) -> str:
        assert main(shlex.split(line)) == 0
        said = capsys.readouterr()
        assert said.err == ""
        return said.out

    return run


@pytest.fixture
def document(text: Callable[[str], str]) -> Callable[[str], Any]:
    """Run a command with --json; return what it prints."""
    return lambda line: json.loads(text(f"{line} --json"))


@pytest.fixture
def refusal(capsys: pytest.CaptureFixture[str]) -> Callable[[str], str]:
    """Run a command that is refused; return its one line."""

    def run(line: str) -> str:
        assert main(shlex.split(line)) == 2
        said = capsys.readouterr()
        assert (said.out, said.err.count("\n")) == ("", 1)
        return said.err

    return run
