"""The code shared by the examples."""

from pathlib import Path

import pytest
from matplotlib.figure import Figure
from shared import write


@pytest.mark.parametrize("content", ["text", Figure()])
def test_a_file_that_cannot_be_written_leaves_nothing_behind(
    tmp_path: Path, content: str | Figure, capsys: pytest.CaptureFixture[str]
) -> None:
    taken = tmp_path / "taken.png"
    taken.mkdir()
    with pytest.raises(OSError, match="taken"):
        write(taken, content)
    assert list(tmp_path.iterdir()) == [taken]
    assert capsys.readouterr().out == ""


def test_a_file_is_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "new" / "page.html"
    for text in ("one\n", "two\n"):
        write(file, text)
        assert file.read_bytes() == text.encode()
        assert capsys.readouterr().out == f"Written: {file}\n"
    assert list(file.parent.iterdir()) == [file]
