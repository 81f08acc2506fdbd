"""pgbench: small transactions, each made durable, after TPC-B."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

from sledsim.programs.keys import PlainNumber
from sledsim.programs.postgres import PACKAGE, PostgresProgram
from sledsim.programs.program import Benchmark, Ran

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


class PgBench(PostgresProgram, Benchmark):
    """Transactions of pgbench's default script: three updates, a select, an insert, a commit."""

    name = "pgbench"
    title = "pgbench on PostgreSQL"
    about = (
        "Clients send transactions one after the other; each ends when its log is on the device. "
        "On ext4, with cold caches."
    )
    keys: ClassVar = {
        "shared_buffers_mib": PlainNumber(16, 1, 4096, "MiB of PostgreSQL's own cache"),
        "scale": PlainNumber(5, 1, 1000, "hundred thousands of accounts, of 15 MB each"),
        "clients": PlainNumber(1, 1, 16, "clients at once"),
        "transactions": PlainNumber(500, 1, 10_000_000, "transactions of each client"),
        "seed": PlainNumber(42, 0, 2**31 - 1, "seed of its random numbers"),
    }
    packages: ClassVar = {**PostgresProgram.packages, "pgbench": PACKAGE}

    def fill(self, place: Path) -> None:
        """Make the tables."""
        server = self.server(place)
        server.make()
        with server.running():
            server.client("pgbench", "-i", "-q", "-s", str(self.values["scale"]))
            server.psql("checkpoint;")

    @contextmanager
    def start(self, place: Path) -> Iterator[Callable[[], Ran]]:
        """Give the run: all transactions of all clients."""
        server, values = self.server(place), self.values

        def work() -> dict[str, Any]:
            said = server.client(
                "pgbench",
                *("-n", "-M", "prepared", f"--random-seed={values['seed']}"),
                *("-c", str(values["clients"]), "-t", str(values["transactions"])),
            )
            latency = re.search(r"latency average = ([\d.]+) ms", said)
            done = re.search(r"actually processed: (\d+)/", said)
            return {
                "transactions": int(done[1]) if done else None,
                "latency_ms": float(latency[1]) if latency else None,
            }

        with server.running():
            yield lambda: server.timed(work)
