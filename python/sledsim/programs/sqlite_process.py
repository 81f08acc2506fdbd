"""The process that uses SQLite, as ``python sqlite_process.py fill|measure|work|check KEYS``."""

from __future__ import annotations

import json
import random
import sqlite3
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


def _value(chance: random.Random) -> bytes:
    return chance.randbytes(84)  # with its key and its header 100 bytes, or nearly


def _initial(keys: dict[str, Any]) -> Iterator[tuple[int, bytes]]:
    chance = random.Random(keys["seed"])
    return ((key, _value(chance)) for key in range(keys["rows"]))


def _changes(keys: dict[str, Any], number: int) -> dict[int, bytes]:
    """Return what a transaction writes, by key; the largest key is new."""
    chance = random.Random(f"{keys['seed']} {number}")
    there = keys["rows"] + number
    chosen = chance.sample(range(there), min(keys["updates"], there))
    return {key: _value(chance) for key in [*chosen, there]}


def _opened(keys: dict[str, Any], mode: str) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{keys['file']}?mode={mode}", uri=True, isolation_level=None)


def fill(keys: dict[str, Any]) -> None:
    """Make the table."""
    database = _opened(keys, "rwc")
    database.execute(f"pragma page_size = {keys['page_size']}")
    database.execute(f"pragma journal_mode = {'wal' if keys['journal'] == 'wal' else 'delete'}")
    database.execute("create table records (key integer primary key, value blob)")
    database.execute("begin")
    database.executemany("insert into records values (?, ?)", _initial(keys))
    database.execute("commit")
    database.close()


def measure(keys: dict[str, Any]) -> dict[str, Any]:
    """Do transactions, as fast as they go; return how many records there are, and their journal."""
    chance = random.Random(keys["seed"] + 1)
    database = _opened(keys, "rw")
    database.execute("pragma synchronous = full")
    database.execute(f"pragma cache_size = -{keys['cache_kib']}")
    for _ in range(keys["transactions"]):
        database.execute("begin")
        key = chance.randrange(keys["rows"])
        database.execute("update records set value = ? where key = ?", (_value(chance), key))
        database.execute("insert into records (value) values (?)", (_value(chance),))
        database.execute("commit")
    (journal,) = database.execute("pragma journal_mode").fetchone()
    (last,) = database.execute("select max(key) from records").fetchone()
    database.close()
    return {"transactions": keys["transactions"], "records": last + 1, "journal": journal}


def work(keys: dict[str, Any]) -> None:
    """Do the transactions; tell the time of each commit that has returned."""
    database = _opened(keys, "rw")
    mode = database.execute(f"pragma journal_mode = {keys['journal']}").fetchone()[0]
    if mode != keys["journal"]:
        sys.exit(f"this SQLite has no journal_mode {keys['journal']}: it is {mode}")
    database.execute(f"pragma synchronous = {keys['synchronous']}")
    database.execute(f"pragma wal_autocheckpoint = {keys['checkpoint_pages']}")
    with Path(keys["acknowledged"]).open("a", encoding="ascii", buffering=1) as log:
        for number in range(keys["transactions"]):
            changes = _changes(keys, number)
            database.execute("begin immediate")
            for key, value in changes.items():
                database.execute("insert or replace into records values (?, ?)", (key, value))
            database.execute("commit")
            log.write(f"{number} {time.monotonic_ns()}\n")
    database.close()


def check(keys: dict[str, Any]) -> dict[str, Any]:
    """Recover the database, and compare it with the state after each number of transactions."""
    _say("opens")
    try:
        database = _opened(keys, "rw")
        database.execute("select count(*) from records").fetchone()
        _say("recovered")
        broken = [text for (text,) in database.execute("pragma integrity_check(3)")]
        found = dict(database.execute("select key, value from records"))
        database.close()
    except sqlite3.DatabaseError as error:
        return _said("corrupt_detected", f"SQLite: {error}")
    if broken != ["ok"]:
        return _said("corrupt_detected", f"integrity_check: {'; '.join(broken)}")
    # Each transaction adds one key: their number is that of the only state that may be there.
    held = sum(key >= keys["rows"] for key in found)
    expected = dict(_initial(keys))
    for number in range(held):
        expected |= _changes(keys, number)
    if found == expected:
        return _said(None, "", held)
    wrong = [key for key in expected.keys() | found.keys() if found.get(key) != expected.get(key)]
    text = (
        f"integrity_check finds nothing, but {len(wrong)} of {len(expected)} records are not as "
        f"after {held} transactions, the first with key {min(wrong)}"
    )
    return _said("corrupt_silent", text)


def _said(outcome: str | None, text: str, transactions: int | None = None) -> dict[str, Any]:
    return {"outcome": outcome, "text": text, "transactions": transactions}


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    todo = {"fill": fill, "measure": measure, "work": work, "check": check}[sys.argv[1]]
    if (said := todo(json.loads(sys.argv[2]))) is not None:
        _say(json.dumps(said))
