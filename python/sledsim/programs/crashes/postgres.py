"""PostgreSQL, with what it does for durability on or off."""

from __future__ import annotations

import contextlib
import random
import time
from typing import TYPE_CHECKING, ClassVar

from sledsim._core import SledsimError
from sledsim.programs.crashes.outcomes import Verdict, counted
from sledsim.programs.keys import SWITCH, Choice, Number
from sledsim.programs.postgres import PostgresProgram
from sledsim.programs.processes import TookTooLongError
from sledsim.programs.program import CrashProgram

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

    from sledsim.programs.crashes.outcomes import Inspection
    from sledsim.programs.postgres import Server

_VALUE_BYTES = 40
"""Of a record: with key and header about 120 bytes, 60 to a page of 8 KiB."""
_TABLE = """\
create table records (key integer primary key, value text not null) with (fillfactor = 80);
"""
_AMCHECK = "select count(*) from {} where {} = 'amcheck';"


class Postgres(PostgresProgram, CrashProgram):
    """Transactions of one client; each changes some records and adds one."""

    name = "postgres"
    title = "PostgreSQL"
    about = (
        "One client changes some records at random and adds one in each transaction. The check "
        "starts the server, which recovers the data, compares every record, by scan and by index, "
        "and has amcheck look at the index where it is installed."
    )
    keys: ClassVar = {
        "transactions": Number(100, 1, 1_000_000, "transactions"),
        "rows": Number(5000, 1, 10_000_000, "records at the beginning, of 120 bytes each"),
        "updates": Number(8, 0, 10_000, "records that a transaction changes"),
        "checkpoint_every": Number(20, 0, 1_000_000, "transactions to a checkpoint; 0 for none"),
        "fsync": Choice("on", SWITCH, "whether PostgreSQL flushes at all"),
        "full_page_writes": Choice("on", SWITCH, "whether whole pages are logged: mends torn ones"),
        "synchronous_commit": Choice("on", SWITCH, "whether a commit waits for its log"),
        "data_checksums": Choice("off", SWITCH, "whether pages have checksums"),
        "shared_buffers_mib": Number(16, 1, 4096, "MiB of PostgreSQL's own cache"),
        "seed": Number(42, 0, 2**31 - 1, "seed of what the transactions write"),
    }
    mib = 192
    data_files = ("pgdata/base/**/*", "pgdata/global/*", "pgdata/pg_xact/*")
    log_files = ("pgdata/pg_wal/*",)

    def fill(self, place: Path) -> None:
        """Make the cluster and the table."""
        server = self._server(place)
        more = ["--data-checksums"] if self.word("data_checksums") == "on" else []
        server.make("--wal-segsize=1", *more)
        with server.running():
            server.psql(_TABLE)
            rows = "\n".join(f"{key}\t{value}" for key, value in self._initial().items())
            server.psql(f"copy records from stdin;\n{rows}\n\\.\n")
            if int(server.psql(_AMCHECK.format("pg_available_extensions", "name"))):
                server.psql("create extension amcheck;")
            server.psql("vacuum (freeze, analyze) records;\ncheckpoint;")

    def run(self, place: Path, acknowledged: Path) -> None:
        """Send the transactions to psql one by one; each waits for the one before it."""
        server, every = self._server(place), self.number("checkpoint_every")
        with server.running(), server.session() as session, acknowledged.open("a", 1) as log:
            for number in range(self.number("transactions")):
                _ask(session, self._transaction(number), number)
                log.write(f"{number} {time.monotonic_ns()}\n")
                if every and (number + 1) % every == 0:
                    _ask(session, "checkpoint;", number)

    def check(self, place: Path, inspection: Inspection) -> Verdict:
        """Start the server on what is left, and compare all records."""
        patience_s = inspection.patience_s
        until = time.monotonic() + patience_s
        inspection.begins()
        try:
            server = self._server(place, "log_min_messages=log")
            with server.running(patience_s=patience_s, after_crash=True) as messages:
                inspection.ends()
                with contextlib.suppress(OSError):
                    inspection.had_work = "redo starts at" in messages.read_text(errors="replace")
                return self._compared(server, inspection, until)
        except TookTooLongError:
            return inspection.hung()
        except SledsimError as error:
            return Verdict("corrupt_detected", str(error))
        except OSError as error:
            return Verdict("corrupt_detected", f"pgdata: {error.strerror}")

    def _compared(self, server: Server, inspection: Inspection, until: float) -> Verdict:
        def ask(script: str) -> str:
            return server.psql(script, max(until - time.monotonic(), 0.1))

        amcheck = int(ask(_AMCHECK.format("pg_extension", "extname")))
        if amcheck:
            ask("select bt_index_check('records_pkey', true);")
        rows = "select key, value from records order by key;"
        by_scan = _records(ask(f"set enable_indexscan = off; set enable_bitmapscan = off; {rows}"))
        by_index = _records(ask(f"set enable_seqscan = off; set enable_sort = off; {rows}"))
        if by_scan != by_index:
            text = f"the table has {len(by_scan)} records, its index leads to {len(by_index)}"
            return Verdict("corrupt_silent", f"{text}; nothing else reports that")
        found = dict(by_scan)
        # Each transaction adds one key: their number is that of the only state that may be there.
        held = sum(key >= self.number("rows") for key in found)
        expected = self._initial()
        for number in range(held):
            expected |= self._changes(number)
        if found == expected and len(by_scan) == len(found):
            return counted(held, inspection.count(), self.number("transactions"))
        wrong = [key for key in expected.keys() | found if found.get(key) != expected.get(key)]
        text = (
            f"PostgreSQL reports nothing, but {len(wrong)} of {len(expected)} records are not as "
            f"after {held} transactions"
        )
        return Verdict("corrupt_silent", text)

    def _server(self, place: Path, *settings: str) -> Server:
        named = ("fsync", "full_page_writes", "synchronous_commit")
        switches = [f"{name}={self.word(name)}" for name in named]
        return self.server(place, *switches, *settings)

    def _initial(self) -> dict[int, str]:
        chance = random.Random(self.number("seed"))
        return {key: _value(chance) for key in range(self.number("rows"))}

    def _changes(self, number: int) -> dict[int, str]:
        """Return what a transaction writes, by key; the largest key is new."""
        chance = random.Random(f"{self.number('seed')} {number}")
        there = self.number("rows") + number
        chosen = chance.sample(range(there), min(self.number("updates"), there))
        return {key: _value(chance) for key in [*chosen, there]}

    def _transaction(self, number: int) -> str:
        *changes, (key, value) = self._changes(number).items()
        updates = [f"update records set value = '{v}' where key = {k};" for k, v in changes]
        return " ".join(
            ["begin;", *updates, f"insert into records values ({key}, '{value}');", "commit;"]
        )


def _value(chance: random.Random) -> str:
    return chance.randbytes(_VALUE_BYTES).hex()


def _records(said: str) -> list[tuple[int, str]]:
    rows = [line.partition("|") for line in said.splitlines()]
    return [(int(key), value) for key, _, value in rows]


def _ask(session: subprocess.Popen[str], script: str, number: int) -> None:
    """Have psql run a script, and wait until it has."""
    assert session.stdin is not None
    assert session.stderr is not None
    said = ""
    with contextlib.suppress(BrokenPipeError):
        session.stdin.write(f"{script}\n\\warn {number}\n")
        session.stdin.flush()
        said = session.stderr.readline().strip()
    if said != str(number):
        rest = session.stderr.read() if said else ""
        raise SledsimError(
            f"psql: transaction {number} failed: {' '.join([said, *rest.split()])}".strip()
        )
