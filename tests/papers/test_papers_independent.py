"""Independent computations: they import nothing of sledsim, and give what is stated."""

from __future__ import annotations

import ast
import importlib
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


def imported(code: str) -> set[str]:
    """Return the packages that a code imports, by their first names."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add("." if node.level else (node.module or "").partition(".")[0])
    return names


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_an_independent_computation_imports_nothing_of_ours(file: Path) -> None:
    code = file.read_text("utf-8")
    assert not imported(code) & {"sledsim", "tests", "importlib", "subprocess", "."}
    assert "__import__" not in code


def test_an_import_of_ours_would_be_found() -> None:
    code = "import math\ndef f():\n    from sledsim.papers.power import x\n    import tests.sleds\n"
    assert imported(code) == {"math", "sledsim", "tests"}
    assert imported("from . import physics") == {"."}


@pytest.mark.parametrize("value", STATED)
def test_an_independent_computation_gives_what_is_stated(value: Published) -> None:
    assert value.expected is not None
    module, _, name = value.expected.computed.partition(".")
    computed = getattr(importlib.import_module(f"tests.independent.{module}"), name)()
    assert computed == pytest.approx(value.expected.value, abs=value.expected.tolerance)
