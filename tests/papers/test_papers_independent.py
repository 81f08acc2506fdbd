"""Independent computations: they import nothing of sledsim, and give what is stated."""

import importlib
import re
from pathlib import Path

import pytest
from sledsim import papers
from sledsim.papers import Published

FOLDER = Path(__file__).parents[1] / "independent"
FILES = sorted(FOLDER.glob("*.py"))
STATED = [
    pytest.param(value, id=f"{item.id}-{value.key}")
    for item in papers.find([])
    for value in item.values
    if value.expected and value.expected.computed
]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_an_independent_computation_imports_nothing_of_ours(file: Path) -> None:
    code = file.read_text("utf-8")
    ours = r"^\s*(from|import) +(sledsim|tests|importlib|subprocess|\.)|__import__"
    assert re.search(ours, code, re.MULTILINE) is None


@pytest.mark.parametrize("value", STATED)
def test_an_independent_computation_gives_what_is_stated(value: Published) -> None:
    assert value.expected is not None
    module, _, name = value.expected.computed.partition(".")
    computed = getattr(importlib.import_module(f"tests.independent.{module}"), name)()
    assert computed == pytest.approx(value.expected.value, abs=value.expected.tolerance)
