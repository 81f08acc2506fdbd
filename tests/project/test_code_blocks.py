"""Code blocks of documents and docstrings run, and their output is as shown."""

from pathlib import Path

import pytest
from sybil import Sybil
from sybil.example import SybilFailure

from tests.code_blocks import DOCSTRINGS, parsers


def run(folder: Path, language: str, *lines: str) -> None:
    """Run a document of one block."""
    document = folder / "page.md"
    document.write_text("\n".join([f"```{language}", *lines, "```", ""]), encoding="utf-8")
    examples = list(Sybil(parsers(), path=str(folder)).parse(document).examples())
    assert examples
    for example in examples:
        example.evaluate()


GOOD: list[tuple[str, list[str]]] = [
    ("python", ["a = 1", "assert a == 1"]),
    ("python", [">>> a = 3", ">>> a / 2", "1.5", ">>> [1, 2, 3, 4]", "[1, ..., 4]"]),
    ("python", [">>> 1 / 0", "Traceback (most recent call last):", "ZeroDivisionError: ..."]),
    ("sh", ["# nothing", "python -c 'print(1)' \\", "  -", "sledsim --version", "cd elsewhere"]),
    ("console", ["$ python -c 'print(1)'", "1", "$ python -c ''", "$ python -c 'print(2)'", "2"]),
    ("console", ["$ python -c 'for n in range(9): print(n, 7 * n)'", "0 0", "...", "8 ...6"]),
]
BAD: list[tuple[str, list[str], str]] = [
    ("python", ["print(1)"], "prints what the page does not show"),
    ("python", [">>> 3 / 2", "1.51"], "Got:\n    1.5"),
    ("python", [">>> 3 / 2"], "Got:\n    1.5"),
    ("python", [">>> a = 3", "3"], "Got nothing"),
    ("sh", ["python -c 'raise SystemExit(3)' | cat"], "exit code 3"),
    ("sh", ["ls"], "Neither a command of"),
    ("console", ["python -c ''"], "begins with `$ `"),
    ("console", ["$ ls"], "Not a command of"),
    ("console", ["$ python -c 'print(1)'", "1", "$ python -c 'print(2)'", "1"], "Got:\n    2"),
    ("console", ["$ python -c 'print(1)'"], "Got:\n    1"),
    ("console", ["$ python -c 'print(1); raise SystemExit(3)'", "1"], "exit code 3"),
]


@pytest.mark.parametrize(("language", "lines"), GOOD)
def test_matching_output_passes(tmp_path: Path, language: str, lines: list[str]) -> None:
    run(tmp_path, language, *lines)


@pytest.mark.parametrize(("language", "lines", "says"), BAD)
def test_differing_output_fails(tmp_path: Path, language: str, lines: list[str], says: str) -> None:
    with pytest.raises(SybilFailure) as failed:
        run(tmp_path, language, *lines)
    assert says in str(failed.value)


def test_docstrings_are_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    module = tmp_path / "of_this_test.py"
    text = 'TWO = 2\n\n\ndef f():\n    """Do.\n\n    >>> TWO + 1\n    {}\n    """\n'
    for answer, passes in ((3, True), (4, False)):
        module.write_text(text.format(answer), encoding="utf-8")
        (example,) = DOCSTRINGS.parse(module).examples()
        if passes:
            example.evaluate()
        else:
            with pytest.raises(SybilFailure, match="Got:\n    3"):
                example.evaluate()


def test_all_of_the_package_is_searched() -> None:
    files = set(Path(DOCSTRINGS.path).rglob("*.py"))
    assert {path for path in files if DOCSTRINGS.should_parse(path)} == files
