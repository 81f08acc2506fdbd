"""What a killed run of crash-app or bench-app leaves is cleaned up, and nothing of a live one."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sledsim.cli import main
from sledsim.emulator.mounting import system, work
from sledsim.emulator.mounting.state import Process

from tests.crash_scripts import script, scripts
from tests.mounted import RUN, needs_postgres, needs_root
from tests.processes import descendants
from tests.waiting import LONG_S, alone, eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Begun = Callable[..., "Run"]

pytestmark = needs_root

STALE = ["umount", "--all", "--stale"]


class Run:
    """A command at work in a folder of its own."""

    def __init__(self, *words: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "sledsim", *words],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.records: list[Path] = []
        self.folders: list[str] = []
        self.started: set[Process] = set()

    def is_recorded(self) -> bool:
        assert self.process.poll() is None
        for path in {*RUN.glob("work-*.json")} - {*self.records}:
            with contextlib.suppress(FileNotFoundError):
                record = json.loads(path.read_bytes())
                if record["owner"]["pid"] == self.process.pid:
                    self.records.append(path)
                    self.folders.append(record["folder"])
        return bool(self.records)

    @property
    def folder(self) -> Path:
        return Path(self.folders[0])

    def kill(self) -> None:
        """Kill it, and remember what it has started."""
        self.is_recorded()
        self.started = set(descendants(self.process.pid))
        self.process.kill()

    def left(self) -> list[str]:
        """Find what is left of it."""
        files = [str(path) for path in self.records if path.exists()]
        folders = [folder for folder in self.folders if Path(folder).exists()]
        mounts = [point for point, _, _ in system.mounts() if self._names(point)]
        loops = list(system.loops_named(self.folder.name))
        processes = [f"process {each.pid}" for each in self.started if each.is_alive()]
        return [*files, *folders, *mounts, *loops, *processes]

    def _names(self, point: str) -> bool:
        return any(point.startswith(folder) for folder in self.folders)

    def is_gone(self) -> None:
        eventually(lambda: not self.left(), say=self.left)
        self.process.wait(LONG_S)


def waiting(folder: Path, kind: str, at: str) -> list[str]:
    """Return scripts, of which one waits with a process of its own, and says that it does."""
    program, load, check = scripts(folder)
    fill = script(folder / "fill", "exit 0")
    words = {"fill": f"--fill={fill}", "load": load, "check": check}
    path = script(folder / f"{kind}-waits", f"sleep 600 & touch {folder / at}; wait")
    return ["crash-app", program, *(words | {kind: f"--{kind}={path}"}).values()]


@pytest.fixture
def begun(clean: None) -> Iterator[Begun]:
    """Start runs; end those of a failed test, and see that nothing is left behind."""
    del clean
    runs: list[Run] = []

    def begin(*words: str) -> Run:
        runs.append(Run(*words))
        eventually(runs[-1].is_recorded)
        return runs[-1]

    yield begin
    for run in runs:
        run.process.kill()
        run.process.wait()
        for each in run.started:
            each.signal(signal.SIGKILL)
    work.clean_stale()


def test_kills_leave_nothing(
    tmp_path: Path, begun: Begun, capsys: pytest.CaptureFixture[str]
) -> None:
    """While each script runs, and at other moments; every other run is left to the next one."""
    last: Run | None = None
    for number in range(8):
        kind = ("fill", "load", "check", None)[number % 4]
        if kind is None:
            run = begun("crash-app", *scripts(tmp_path), "--cuts=15")
        else:
            at = f"waits-{number}"
            run = begun(*waiting(tmp_path, kind, at), "--cuts=2")
            eventually((tmp_path / at).exists)
        if last is not None:
            last.is_gone()  # the run cleans up before it begins
        if kind is None:
            time.sleep(0.2 * number)  # wherever it is then
        run.kill()
        assert run.folder.exists()
        assert kind is None or any(run.folder.name in point for point, _, _ in system.mounts())
        last = run
        if number % 2:
            assert main(STALE) == 0
            assert str(run.folder) in capsys.readouterr().out
            run.is_gone()
            last = None


def test_a_live_run_is_left_alone(tmp_path: Path, begun: Begun) -> None:
    program, _, check = scripts(tmp_path)
    here, go = tmp_path / "here", tmp_path / "go"
    load = script(
        tmp_path / "waits", f"touch {here}; while [ ! -e {go} ]; do sleep 0.1; done; exec ./load"
    )
    load.write_text(load.read_text("utf-8").replace("./load", str(tmp_path / "load")), "utf-8")
    live = begun("crash-app", program, f"--load={load}", check, "--cuts=3", "--exit-zero")
    eventually(here.exists)
    before = live.left()
    assert len(before) == 5, before  # its record, its folder, two mounts, a loop device
    killed = begun(*waiting(tmp_path, "load", "other"), "--cuts=2")
    eventually((tmp_path / "other").exists)
    killed.kill()
    assert main(STALE) == 0
    killed.is_gone()
    assert main(["umount", "--all"]) == 0
    assert live.left() == before
    go.touch()
    assert live.process.wait(LONG_S) == 0
    live.is_gone()


@pytest.mark.parametrize(
    ("program", "file"),
    [
        ("sqlite", "records.db"),
        pytest.param("postgres", "pgdata/postmaster.opts", marks=needs_postgres),
    ],
)
def test_databases_end_with_a_killed_run(program: str, file: str, begun: Begun) -> None:
    """By themselves, while they are filled: what they write to is still there."""
    run = begun("crash-app", program, "--cuts=2", "--set=rows=3000000")
    eventually((run.folder / "mnt" / file).exists)
    if program == "sqlite":  # which would come to an end; PostgreSQL would not
        for each in descendants(run.process.pid):
            each.signal(signal.SIGSTOP)
    run.kill()
    assert run.started
    eventually(lambda: not any(each.is_alive() for each in run.started))
    assert main(STALE) == 0
    run.is_gone()


def test_a_killed_bench_app_leaves_nothing(begun: Begun) -> None:
    """Its mount has a supervisor that lives on."""
    run = begun("bench-app", "sqlite", "--devices=g2", "--fs-mib=64", "--set=transactions=1000000")
    eventually((run.folder / "device.img").exists)
    eventually(lambda: system.mounted_at(f"{run.folder}/mnt"))
    run.kill()
    assert main(STALE) == 0
    run.is_gone()


SERVES_ITSELF = """\
import pathlib, sys
import sledsim as ss
from sledsim.programs.crashes.file_systems import CrashFileSystem
from sledsim.emulator.mounting.work import working
device = ss.device("memory", blocks=32768, latency_ms=5.0, ms_per_block=0.0)
with working("sledsim-own-") as folder:
    image, point, mnt = (folder / name for name in ("image", "fuse", "mnt"))
    point.mkdir()
    mnt.mkdir()
    CrashFileSystem(mib=16).make(image)
    with (
        ss.serve(ss.emulator.Export(device=device, name=folder.name, file=image), fuse=point),
        CrashFileSystem().place(point / folder.name, mnt),
        (point / folder.name).open("rb", buffering=0) as file,
    ):
        pathlib.Path(sys.argv[1]).touch()
        while True:
            file.seek(0)
            file.read(512)
"""


@pytest.mark.usefixtures("clean")
def test_a_killed_process_that_waits_for_itself_is_freed(tmp_path: Path) -> None:
    """It reads the file that it serves, so that it never ends: the clean-up must not wait, too."""
    here = tmp_path / "here"
    process = subprocess.Popen([sys.executable, "-c", SERVES_ITSELF, str(here)])
    try:
        eventually(here.exists)
    finally:
        process.kill()
        assert main(STALE) == 0
    assert process.wait(LONG_S) == -signal.SIGKILL
    assert not [point for point, _, _ in system.mounts() if "sledsim-own-" in point]


def test_a_reused_process_number_is_not_taken_for_the_owner() -> None:
    with alone(), work.working("sledsim-reused-") as folder:
        (path,) = RUN.glob(f"work-{folder.name}.json")
        assert folder not in [each.folder for each in work.stale()]
        record = json.loads(path.read_bytes())
        record["owner"]["start"] -= 1
        path.write_text(json.dumps(record), encoding="utf-8")
        assert main(STALE) == 0
        assert not folder.exists()
        assert not path.exists()


def test_a_link_in_the_place_of_a_folder_is_not_followed(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").touch()
    with alone(), work.working("sledsim-link-", tmp_path) as folder:
        folder.rmdir()
        folder.symlink_to(kept)
    assert [path.name for path in kept.iterdir()] == ["file"]
    assert not list(RUN.glob(f"work-{folder.name}*"))
    assert os.path.lexists(folder)
