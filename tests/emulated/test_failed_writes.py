"""Files that cannot be written, closed or synced: an error of the command that names the file.

A system may take what it is given and find only later that it cannot keep it; fsync then says so.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
from pathlib import Path

import pytest

from tests.failing_sync import Failing, needs_cc
from tests.mounted import small_disk

RUN, CONVERT = "run --device g2 --set requests=200", "trace convert sample:sqlite -o {file}"
COMMANDS = {
    "rows.parquet": f"{RUN} --rows {{file}}",
    "series.csv": f"{RUN} --series {{file}}",
    "series.parquet": f"{RUN} --series {{file}}",
    "plot.svg": f"{RUN} --plot {{file}}",
    "compared.svg": "compare --devices g2,g3 --set requests=200 --plot {file}",
    **{f"converted.{kind}": CONVERT for kind in ("csv", "csv.gz", "parquet")},
    "converted.trace": f"{CONVERT} --to disksim_ascii",
    "converted.iolog": f"{CONVERT} --to fio_iolog",
    "generated.csv": "trace generate --workload random --device g2 -o {file}",
}
"""The command that writes each file."""

ALL = """
import contextlib, io, sys
from sledsim.cli import main
for line in sys.stdin:
    errors = io.StringIO()
    with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
        code = main(line.rstrip("\\n").split(" "))
    print(code, errors.getvalue().strip().replace("\\n", " | "))
"""


def answers(folder: Path) -> dict[str, str]:
    """Return the exit code and the error of each command, all run by one process."""
    commands = "\n".join(each.format(file=folder / name) for name, each in COMMANDS.items())
    done = subprocess.run(
        [sys.executable, "-c", ALL], input=commands, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    return dict(zip(COMMANDS, lines, strict=True))


def test_these_commands_write(tmp_path: Path) -> None:
    assert answers(tmp_path) == dict.fromkeys(COMMANDS, "0 ")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(COMMANDS)


@needs_cc
def test_a_failed_sync_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    out.mkdir()
    failing = Failing(out, tmp_path, monkeypatch)
    failing.always()
    for name, said in answers(out).items():
        assert said == f"2 sledsim: error: {out / name}: Input/output error (os error 5)"
    assert list(out.iterdir()) == []


def test_no_space_is_an_error(tmp_path: Path) -> None:
    with small_disk(tmp_path / "full", "64k") as full:
        with (
            contextlib.suppress(OSError),
            (full / "ballast").open("wb", buffering=0) as ballast,
        ):
            while True:
                ballast.write(bytes(4096))
        for name, said in answers(full).items():
            assert said.startswith("2 sledsim: error: "), said
            assert str(full / name) in said
            assert "No space left on device" in said
        assert [path.name for path in full.iterdir()] == ["ballast"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize(
    "words",
    [
        "run --device g2 --json",
        "compare --devices g2,g3 --json",
        "trace info sample:sqlite",
        "devices show g2",
        "--version",
        "run --help",
    ],
)
def test_output_that_cannot_be_written_is_an_error(words: str) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "sledsim", *words.split()],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr == "sledsim: error: cannot write the output: No space left on device\n"
