"""Wrong input of crash-app gives one clear line, and leaves nothing behind."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from sledsim.cli import main
from sledsim.programs.crashes import Setup

from tests.emulated.test_applications import clean as clean  # noqa: PLC0414 (a fixture)
from tests.emulated.test_crash_app_checks import script
from tests.emulated.test_emulator_mount import needs_root

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="programs run on Linux")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> Iterator[Path]:
    with contextlib.chdir(tmp_path):
        script(tmp_path / "good.sh", "true")
        (tmp_path / "plain.sh").write_text("true\n", encoding="utf-8")
        (tmp_path / "used").mkdir()
        (tmp_path / "used" / "file").touch()
        yield tmp_path


@pytest.fixture
def refused(folder: Path, capfd: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Run a command that is refused; return its last line, the error."""

    def run(*words: object) -> str:
        before = sorted(folder.rglob("*"))
        assert main(["crash-app", *map(str, words)]) == 2
        said = capfd.readouterr()
        assert said.out == ""
        *steps, error = said.err.splitlines()
        assert not any("Traceback" in line for line in steps)
        assert error.startswith("sledsim: error: ")
        assert sorted(folder.rglob("*")) == before
        return error.removeprefix("sledsim: error: ")

    return run


WRONG = [
    ("mysql", "unknown program 'mysql'", "sqlite, postgres, scripts"),
    ("sqlite --set diary=wal", "unknown key 'diary'", "journal, synchronous"),
    ("sqlite --set journal=fast", "journal = fast", "delete, truncate, persist, wal"),
    ("sqlite --set rows=0", "rows = 0", "an integer from 1"),
    ("sqlite --set rows=1.5", "rows = 1.5", "an integer"),
    ("sqlite --set page_size=5000", "page_size = 5000", "power of two"),
    ("sqlite --set rows", "--set rows", "KEY=VALUE"),
    ("postgres --set fsync=maybe", "fsync = maybe", "on, off"),
    ("sqlite --preset best", "--preset best", "delete, wal"),
    ("scripts --preset best", "--preset best", "none"),
    ("sqlite --load good.sh", "sqlite: takes no scripts", "--load"),
    ("scripts --check good.sh", "--load SCRIPT is missing"),
    ("scripts --load good.sh", "--check SCRIPT is missing"),
    ("scripts --load none.sh --check good.sh", "none.sh", "exists"),
    ("scripts --load plain.sh --check good.sh", "plain.sh", "chmod +x"),
    ("scripts --load good.sh --check good.sh --set rows=1", "unknown key 'rows'"),
    ("sqlite --file-system btrfs", "file_system = btrfs", "ext4, xfs, raw"),
    ("sqlite --file-system raw", "file_system = raw", "sqlite needs files"),
    ("sqlite --data fast", "data = fast", "ordered, journal, writeback"),
    ("sqlite --file-system xfs --data journal", "data = journal", "only ext4"),
    ("sqlite --file-system xfs --no-barriers", "barriers = off", "only ext4"),
    ("sqlite --fs-mib 1", "fs_mib = 1", "at least 8"),
    ("sqlite --file-system xfs --fs-mib 64", "fs_mib = 64", "at least 300"),
    ("sqlite --cuts 0", "cuts = 0", "at least 1"),
    ("sqlite --patience 0", "patience = 0", "above 0"),
    ("sqlite --replay 1", "--replay 1", "--folder DIR"),
    ("sqlite --replay 1 --folder used", "used/experiment.json", "an experiment kept"),
    ("sqlite --plot a.txt", "--plot a.txt", ".png"),
    ("sqlite --report a.txt", "--report a.txt", ".html"),
]


@pytest.mark.parametrize(("line", "parts"), [(line, parts) for line, *parts in WRONG])
def test_wrong_words_are_refused(line: str, parts: list[str], refused: Callable[..., str]) -> None:
    said = refused(*line.split())
    assert all(part in said for part in parts), said


MOUNTED = [
    ("sqlite --device g9", "g9"),
    ("sqlite --scheduler fast", "fast"),
    ("sqlite --set device.taps=3", "taps"),
    ("sqlite --folder used", "--folder used", "must be empty"),
]


@needs_root
@pytest.mark.parametrize(("line", "parts"), [(line, parts) for line, *parts in MOUNTED])
def test_wrong_devices_and_folders_are_refused(
    line: str, parts: list[str], refused: Callable[..., str]
) -> None:
    said = refused(*line.split())
    assert all(part in said for part in parts), said


def test_without_root_the_raw_device_is_offered(
    refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    said = refused("sqlite")
    assert said.startswith("crash-app needs root")
    assert "--file-system raw" in said


@needs_root
def test_a_missing_postgres_is_named(
    refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sledsim.programs.crashes.postgres.Postgres.folders", ("no/such/*",))
    monkeypatch.setattr(
        "sledsim.programs.crashes.postgres.Postgres.packages", {"postgres-0": "the sun"}
    )
    assert refused("postgres") == "postgres: postgres-0 is missing: install the sun"


@needs_root
def test_a_full_folder_is_refused(refused: Callable[..., str], folder: Path, clean: None) -> None:
    del clean
    small = folder / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "none", small], check=True)
    try:
        assert refused("sqlite", "--folder", small).startswith(f"{small}: has 2 MiB of room")
    finally:
        subprocess.run(["umount", small], check=True)


def test_keys_and_presets_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    for program in ("sqlite", "postgres", "scripts"):
        assert main(["crash-app", program, "--keys"]) == 0
        text = capsys.readouterr().out
        assert main(["crash-app", program, "--keys", "--json"]) == 0
        document = json.loads(capsys.readouterr().out)
        assert all(name in text for name in [*document["keys"], *document["presets"]])
        for name in document["presets"]:
            assert main(["crash-app", program, "--preset", name, "--patience", "0"]) == 2
            assert "patience" in capsys.readouterr().err


def test_presets_are_set_ups(tmp_path: Path) -> None:
    from sledsim.programs.crashes.presets import PRESETS  # one test

    del tmp_path
    for program, presets in PRESETS.items():
        for each in presets.values():
            setup = Setup(program, "g2", each.keys, **each.file_system)
            assert setup == Setup.of(json.loads(json.dumps(setup.to_dict())))
            setup.made_file_system(setup.made_program())
