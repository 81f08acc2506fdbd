"""Set-up of the tests of served and mounted devices."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.mounted import Place, nothing_left
from tests.served import Command, Serve
from tests.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

if sys.platform != "linux":
    collect_ignore_glob = ["test_*.py"]  # the emulator needs Linux


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give control sockets a folder of their own."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return tmp_path


@pytest.fixture
def everyones() -> Iterator[Path]:
    """Give a folder that other users may enter; each run of pytest closes its own to them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        path.chmod(0o711)
        yield path


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Serve devices until the test ends."""
    with contextlib.ExitStack() as stack:
        stack.callback(Command.kill_all)
        yield Serve(tmp_path, stack)


@pytest.fixture
def clean(tmp_path: Path) -> Iterator[None]:
    """See that nothing is left behind."""
    with nothing_left(tmp_path):
        yield


@pytest.fixture
def place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Place]:
    """Give what is needed to mount; see that nothing is left behind."""
    place = Place(tmp_path, capsys)
    with nothing_left(place.directory):
        yield place
        eventually(lambda: not place.is_mounted)
