"""Runs of the examples, as a user starts them."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def run_twice(
    script: Path,
    arguments: Callable[[int], list[str]],
    folders: tuple[Path | None, Path | None] = (None, None),
    **second: str,
) -> list[list[str]]:
    """Run an example in two different circumstances; return the lines it printed each time.

    ``arguments`` are asked for with 0 and 1; ``second`` is the environment of the second time.
    """
    texts = []
    first = {"PYTHONHASHSEED": "1", "TZ": "UTC"}
    second = {"PYTHONHASHSEED": "2", "TZ": "Asia/Tokyo"} | second
    for number, variables in enumerate((first, second)):
        done = subprocess.run(
            [sys.executable, script, *arguments(number)],
            cwd=folders[number],
            env=os.environ | variables,
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        texts.append(done.stdout.splitlines())
    return texts


def is_refused(
    main: Callable[[list[str]], None],
    arguments: list[str],
    complaint: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Check that wrong arguments are named, and nothing is written; "taken" is a file there."""
    (folder / "taken").touch()
    monkeypatch.chdir(folder)
    with pytest.raises(SystemExit) as exit_:
        main(["--quick", "--json", "numbers.json", *arguments])
    assert exit_.value.code == 2
    assert complaint in capsys.readouterr().err.splitlines()[-1]
    assert [path.name for path in folder.iterdir()] == ["taken"]
