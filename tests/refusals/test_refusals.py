"""Wrong input is refused with its class, its place and words; nothing is left behind."""

from __future__ import annotations

import contextlib
import pickle
import re
import shlex
from typing import TYPE_CHECKING, Any

import pytest
import sledsim as ss
from sledsim.cli import main

from tests.refusals import commands, emulated, pages, papers, physics, python, traces
from tests.refusals.files import FILES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TABLES = [commands, python, physics, traces, emulated, papers, pages]
LINES = [row for table in TABLES for row in table.LINES]
CALLS = [(table.CODE, *row) for table in TABLES for row in table.CALLS]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> Iterator[Path]:
    """Work in a folder that holds the files of the tables."""
    for name, content in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    with contextlib.chdir(tmp_path):
        yield tmp_path


def kept(folder: Path) -> dict[str, bytes]:
    """Read each file of a folder, by its path."""
    return {str(path): path.read_bytes() if path.is_file() else b"" for path in folder.rglob("*")}


@pytest.mark.parametrize("row", LINES, ids=lambda row: row[0][:60])
def test_a_command_is_refused(
    row: tuple[str, ...], folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """It gives one line, perhaps with what is missing below, and exit code 2."""
    line, *words = row
    before = kept(folder)
    assert main(shlex.split(line)) == 2
    said = capfd.readouterr()
    assert said.out == ""
    first, *more = said.err.splitlines()
    assert first.startswith("sledsim: error: ")
    assert all(below.startswith("  ") for below in more)
    assert [word for word in words if word not in first] == [], first
    assert kept(folder) == before


@pytest.mark.parametrize("row", CALLS, ids=lambda row: row[1][:60])
def test_python_is_refused(row: tuple[Any, ...], folder: Path) -> None:
    """The error has its class, carries its place, says it, and can cross processes."""
    names, code, kind, place, *words = row
    before = kept(folder)
    with pytest.raises(Exception) as found:  # noqa: PT011 (the row names the class)
        eval(code, dict(names))
    error = found.value
    assert type(error) is kind, repr(error)
    said = str(error)
    assert [word for word in words if word not in said] == [], said
    assert "\n" not in said
    assert kept(folder) == before
    if isinstance(error, ss.SledsimError):
        file, line, key = re.fullmatch(r"([^ :]*):?(\d*) ?(.*)", place).groups()  # type: ignore[union-attr]
        carried = (error.file, error.line, error.key)
        assert carried == (file or None, int(line) if line else None, key or None), error
        assert all(str(part).lower() in said.lower() for part in carried if part is not None)
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again), vars(again)) == (kind, said, vars(error))
