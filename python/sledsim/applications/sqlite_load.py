"""The program that uses SQLite, as ``python sqlite_load.py fill|work KEYS``."""

from __future__ import annotations

import json
import random
import sqlite3
import sys
from typing import Any


def _record(chance: random.Random) -> bytes:
    return chance.randbytes(84)  # with its key and its header 100 bytes, or nearly


def fill(keys: dict[str, Any]) -> None:
    """Make the table."""
    chance = random.Random(keys["seed"])
    database = sqlite3.connect(keys["file"])
    if keys["wal"]:
        database.execute("pragma journal_mode = wal")
    with database:
        database.execute("create table records (key integer primary key, value blob)")
        rows = ((key, _record(chance)) for key in range(keys["rows"]))
        database.executemany("insert into records values (?, ?)", rows)
    database.close()


def work(keys: dict[str, Any]) -> dict[str, Any]:
    """Do the transactions; return how many records there are, and their journal."""
    chance = random.Random(keys["seed"] + 1)
    database = sqlite3.connect(keys["file"], isolation_level=None)
    database.execute("pragma synchronous = full")
    database.execute(f"pragma cache_size = -{keys['cache_kib']}")
    for _ in range(keys["transactions"]):
        database.execute("begin")
        key = chance.randrange(keys["rows"])
        database.execute("update records set value = ? where key = ?", (_record(chance), key))
        database.execute("insert into records (value) values (?)", (_record(chance),))
        database.execute("commit")
    (journal,) = database.execute("pragma journal_mode").fetchone()
    (last,) = database.execute("select max(key) from records").fetchone()
    database.close()
    return {"transactions": keys["transactions"], "records": last + 1, "journal": journal}


if __name__ == "__main__":
    said = {"fill": fill, "work": work}[sys.argv[1]](json.loads(sys.argv[2]))
    if said is not None:
        sys.stdout.write(json.dumps(said))
