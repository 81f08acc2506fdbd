"""The checks of programs see what is wrong; no device is involved."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import sqlite3
import time
from typing import TYPE_CHECKING, Any

import pytest
from sledsim.programs.crashes.outcomes import Inspection, Verdict, counted
from sledsim.programs.crashes.postgres import Postgres
from sledsim.programs.crashes.scripts import EXIT_CODES, Scripts
from sledsim.programs.crashes.sqlite import Sqlite

from tests.crash_scripts import script
from tests.mounted import command_lines, needs_postgres
from tests.waiting import LONG_S, eventually

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sledsim.programs.program import CrashProgram

    Ran = Callable[..., tuple[Sqlite, Path]]


@pytest.mark.parametrize("acknowledged", range(5))
@pytest.mark.parametrize("held", range(7))
def test_prefixes_are_judged_by_what_was_acknowledged(held: int, acknowledged: int) -> None:
    """At most one transaction is under way, and only what is acknowledged must be there."""
    outcome = counted(held, acknowledged, 4).outcome
    under_way = acknowledged < 4
    if held < acknowledged:
        assert outcome == "lost_acknowledged"
    elif held > acknowledged + 1:
        assert outcome == "corrupt_silent"
    elif held == acknowledged and under_way:
        assert outcome == "lost_unacknowledged"
    else:
        assert outcome == "whole"


def inspected(
    program: CrashProgram, folder: Path, acknowledged: int, patience_s: float = 60.0
) -> tuple[Verdict, Inspection]:
    file = folder.parent / f"{folder.name}.acknowledged"
    file.write_text("".join(f"{n} {n}\n" for n in range(acknowledged)), encoding="ascii")
    inspection = Inspection(file, patience_s)
    return program.check(folder, inspection), inspection


# SQLite


@pytest.fixture
def ran(tmp_path: Path) -> Ran:
    def run(**keys: Any) -> tuple[Sqlite, Path]:
        program = Sqlite({"transactions": 12, "rows": 300, **keys})
        folder = tmp_path / "data"
        folder.mkdir()
        program.fill(folder)
        log = tmp_path / "log"
        log.touch()
        before = time.monotonic_ns()
        program.run(folder, log)
        lines = [line.split() for line in log.read_text("ascii").splitlines()]
        assert [int(token) for token, _ in lines] == list(range(12))
        times = [int(at) for _, at in lines]
        assert times == sorted(times)
        assert before < times[0] < times[-1] < time.monotonic_ns()
        return program, folder

    return run


@pytest.mark.parametrize("journal", ["delete", "truncate", "persist", "wal", "memory", "off"])
def test_sqlite_that_ended_well_is_whole(journal: str, ran: Ran) -> None:
    program, folder = ran(journal=journal)
    verdict, inspection = inspected(program, folder, 12)
    assert verdict == Verdict("whole", "", 12)
    assert not inspection.had_work
    assert inspected(program, folder, 11)[0] == Verdict("whole", "", 12)
    assert inspected(program, folder, 10)[0].outcome == "corrupt_silent"
    assert inspected(program, folder, 13)[0].outcome == "lost_acknowledged"


@pytest.mark.parametrize("seed", range(4))
def test_one_record_that_differs_is_silent_corruption(seed: int, ran: Ran) -> None:
    program, folder = ran()
    key = random.Random(seed).randrange(312)
    changed(folder, f"update records set value = zeroblob(84) where key = {key}")
    verdict, _ = inspected(program, folder, 12)
    assert verdict.outcome == "corrupt_silent"
    assert f"the first with key {key}" in verdict.text


def changed(folder: Path, statement: str) -> None:
    with contextlib.closing(sqlite3.connect(folder / "records.db")) as database, database:
        database.execute(statement)


def test_a_transaction_that_is_missing_in_the_middle_is_no_prefix(ran: Ran) -> None:
    program, folder = ran(updates=0)
    changed(folder, "delete from records where key = 305")
    assert inspected(program, folder, 11)[0].outcome == "corrupt_silent"


def test_a_file_that_broke_is_detected(ran: Ran) -> None:
    program, folder = ran()
    file = folder / "records.db"
    content = file.read_bytes()
    file.write_bytes(content[:4096] + bytes(4096) + content[8192:])
    assert inspected(program, folder, 12)[0].outcome == "corrupt_detected"
    file.write_bytes(content[: len(content) // 2])
    assert inspected(program, folder, 12)[0].outcome == "corrupt_detected"
    file.unlink()
    verdict, _ = inspected(program, folder, 12)
    assert verdict.outcome == "corrupt_detected"
    assert "unable to open" in verdict.text


def test_a_hot_journal_is_rolled_back_and_counts_as_work(
    ran: Ran,
) -> None:
    """As a commit leaves it that is cut off after the journal and before its end."""
    program, folder = ran()
    file, journal = folder / "records.db", folder / "records.db-journal"
    database = sqlite3.connect(file, isolation_level=None)
    database.execute("pragma cache_size = 1")  # so that changes reach the file before the commit
    database.execute("begin immediate")
    database.execute("update records set value = zeroblob(84)")
    copies = file.read_bytes(), journal.read_bytes()
    database.close()
    file.write_bytes(copies[0])
    journal.write_bytes(copies[1])
    verdict, inspection = inspected(program, folder, 12)
    assert verdict == Verdict("whole", "", 12)
    assert inspection.had_work
    # Without the journal, half of the update would be there.
    file.write_bytes(copies[0])
    assert inspected(program, folder, 12)[0].outcome == "corrupt_silent"


def test_recovery_is_timed_between_its_begin_and_its_end(ran: Ran) -> None:
    program, folder = ran()
    told: list[str] = []
    begins, ends = (lambda said=said: told.append(said) for said in ("begins", "ends"))
    program.check(folder, Inspection(folder.parent / "log", 60.0, begins=begins, ends=ends))
    assert told == ["begins", "ends"]


def test_a_check_of_sqlite_that_hangs_is_ended(
    ran: Ran, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, folder = ran()
    process = tmp_path / "process.py"
    process.write_text("print('opens', flush=True)\nimport time\ntime.sleep(999)\n", "ascii")
    monkeypatch.setattr("sledsim.programs.sqlite._PROCESS", process)
    begin = time.monotonic()
    verdict, _ = inspected(program, folder, 12, patience_s=0.5)
    assert verdict.outcome == "check_hung"
    assert time.monotonic() - begin < LONG_S


# Scripts


@pytest.mark.parametrize("code", [*EXIT_CODES, 1, 2, 127])
def test_exit_codes_of_a_check_are_outcomes(code: int, tmp_path: Path) -> None:
    check = script(tmp_path / "check", f"echo one; echo the last; exit {code}")
    verdict, _ = inspected(Scripts(None, check, check, []), tmp_path, 3)
    assert verdict.outcome == EXIT_CODES.get(code, "check_failed")
    assert "the last" in verdict.text


def test_scripts_are_told_where_they_work(tmp_path: Path) -> None:
    folder, device, log = tmp_path / "data", tmp_path / "device", tmp_path / "log"
    folder.mkdir()
    device.write_bytes(bytes(512))
    say = 'echo "$0 ${SLEDSIM_FOLDER} ${SLEDSIM_DEVICE} ${SLEDSIM_ACKNOWLEDGED}" >> '
    fill, load = (script(tmp_path / n, f"{say}{tmp_path}/said") for n in ("fill", "load"))
    check = script(tmp_path / "check", "wc -l < $SLEDSIM_ACKNOWLEDGED")
    program = Scripts(fill, load, check, [])
    program.fill(device)
    program.run(folder, log)
    said = (tmp_path / "said").read_text("utf-8").splitlines()
    assert [line.split() for line in said] == [
        [str(fill), str(device)],
        [str(load), str(folder), str(log)],
    ]
    assert inspected(program, folder, 5)[0] == Verdict("whole", "5")


def test_a_script_that_hangs_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    check = script(tmp_path / "check", f"(sleep 977.5; touch {tmp_path}/late) & sleep 977.5")
    begin = time.monotonic()
    verdict, _ = inspected(Scripts(None, check, check, []), tmp_path, 0, patience_s=0.3)
    assert verdict.outcome == "check_hung"
    assert time.monotonic() - begin < LONG_S
    eventually(lambda: not any(b"977.5" in command for _, command in command_lines()))


# PostgreSQL


@needs_postgres
def test_postgres_is_whole_after_a_crash_and_damage_is_seen(everyones: Path) -> None:
    program = Postgres({"transactions": 8, "rows": 400, "checkpoint_every": 3})
    folder, log = everyones / "data", everyones / "log"
    folder.mkdir()
    log.touch()
    program.fill(folder)
    program.run(folder, log)
    assert [line.split()[0] for line in log.read_text("ascii").splitlines()] == list("01234567")
    (folder / "pgdata" / "postmaster.pid").write_text("1\n", encoding="ascii")
    for acknowledged, outcome in ((8, "whole"), (9, "lost_acknowledged"), (7, "whole")):
        verdict, _ = inspected(program, folder, acknowledged)
        assert (verdict.outcome, verdict.transactions) == (outcome, 8), verdict

    def changed(statement: str) -> Verdict:
        copy = everyones / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(folder, copy)
        for path in (copy, *copy.rglob("*")):
            about = (folder / path.relative_to(copy)).stat()
            os.chown(path, about.st_uid, about.st_gid)
        server = program._server(copy)
        with server.running(after_crash=True):
            server.psql(f"{statement}\ncheckpoint;")
        return inspected(program, copy, 8)[0]

    wrong = changed("update records set value = 'x' where key = 17;")
    assert wrong.outcome == "corrupt_silent"
    assert "1 of 408" in wrong.text
    # The updates of the transaction that added it are still there: half of it was lost.
    half = changed("delete from records where key = 407;")
    assert half.outcome == "corrupt_silent", half.text
    gone = changed("drop table records;")
    assert gone.outcome == "corrupt_detected"
    assert "does not exist" in gone.text
    for segment in (everyones / "copy" / "pgdata" / "pg_wal").glob("0*"):
        segment.unlink()
    verdict, _ = inspected(program, everyones / "copy", 8)
    assert verdict.outcome == "corrupt_detected"
    # The cause, not what the server does then.
    assert "PANIC:  could not locate a valid checkpoint record" in verdict.text
    assert "aborting startup" not in verdict.text
