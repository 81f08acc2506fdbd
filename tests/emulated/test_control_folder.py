"""Other users cannot place a socket in the folder of the control sockets."""

from pathlib import Path

import pytest
import sledsim as ss
from sledsim.emulator.control import folder


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Set XDG_RUNTIME_DIR; return the folder of the sockets."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return tmp_path / "sledsim"


def test_the_folder_is_private_to_the_user(home: Path) -> None:
    assert folder() == home
    assert home.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("mode", [0o770, 0o702])
def test_a_folder_that_others_write_to_is_refused(home: Path, mode: int) -> None:
    home.mkdir()
    home.chmod(mode)
    with pytest.raises(ss.SledsimError, match=rf"{home}: must be a folder that you own"):
        folder()


def test_a_link_is_refused(home: Path, tmp_path: Path) -> None:
    """Its target may be good now, and another one later."""
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    home.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ss.SledsimError, match=rf"{home}: must be a folder that you own"):
        folder()


def test_a_file_in_its_place_is_named(home: Path) -> None:
    home.write_text("")
    with pytest.raises(ss.SledsimError, match=rf"{home}: File exists"):
        folder()
