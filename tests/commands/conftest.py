"""Commands that succeed in this process without a word on stderr."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest
from sledsim.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable

Text: TypeAlias = "Callable[..., str]"
Document: TypeAlias = "Callable[..., Any]"


@pytest.fixture
def text(capsys: pytest.CaptureFixture[str]) -> Text:
    """Run a command; return what it prints."""

    def run(*words: object) -> str:
        assert main([*map(str, words)]) == 0
        said = capsys.readouterr()
        assert said.err == ""
        return said.out

    return run


@pytest.fixture
def document(text: Text) -> Document:
    """Run a command with --json; return its document."""
    return lambda *words: json.loads(text(*words, "--json"))
