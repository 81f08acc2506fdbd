"""TPC-H query 4, which is TPC-D's: how many urgent orders were late, by priority."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from sledsim._core import SledsimError
from sledsim.programs.keys import PlainNumber
from sledsim.programs.postgres import PostgresProgram
from sledsim.programs.processes import run
from sledsim.programs.program import Benchmark, Ran

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from sledsim.programs.keys import Value

_TABLES = """\
create table orders (
  o_orderkey bigint, o_custkey bigint, o_orderstatus char(1), o_totalprice decimal(15, 2),
  o_orderdate date, o_orderpriority char(15), o_clerk char(15), o_shippriority integer,
  o_comment varchar(79));
create table lineitem (
  l_orderkey bigint, l_partkey bigint, l_suppkey bigint, l_linenumber integer,
  l_quantity decimal(15, 2), l_extendedprice decimal(15, 2), l_discount decimal(15, 2),
  l_tax decimal(15, 2), l_returnflag char(1), l_linestatus char(1), l_shipdate date,
  l_commitdate date, l_receiptdate date, l_shipinstruct char(25), l_shipmode char(10),
  l_comment varchar(44));
"""

_LAST = """\
alter table orders add primary key (o_orderkey);
alter table lineitem add primary key (l_orderkey, l_linenumber);
vacuum (freeze, analyze) orders;
vacuum (freeze, analyze) lineitem;
checkpoint;
"""

QUERY = """\
select o_orderpriority, count(*) as order_count
from orders
where o_orderdate >= date '1993-07-01'
  and o_orderdate < date '1993-07-01' + interval '3' month
  and exists (
    select * from lineitem where l_orderkey = o_orderkey and l_commitdate < l_receiptdate)
group by o_orderpriority
order by o_orderpriority;
"""
"""As the specification of TPC-H words it (2.4.4)."""


class TpchQ4(PostgresProgram, Benchmark):
    """One query that reads two tables, alone on the machine."""

    name = "tpch-q4"
    title = "TPC-H query 4 on PostgreSQL"
    about = (
        "The tables orders and lineitem, made by tpchgen-cli, with their primary keys; the query "
        "runs once with cold caches. On ext4; the kernel reads ahead by read_ahead_kib."
    )
    keys: ClassVar = {
        "shared_buffers_mib": PlainNumber(16, 1, 4096, "MiB of PostgreSQL's own cache"),
        "scale_factor": PlainNumber(0.1, 0.001, 10.0, "size of the data, in GB"),
        "read_ahead_kib": PlainNumber(24, 0, 4096, "how far the kernel reads ahead, in KiB"),
    }
    packages: ClassVar = {
        **PostgresProgram.packages,
        "tpchgen-cli": "tpchgen-cli (pip install tpchgen-cli)",
    }

    def __init__(self, given: Mapping[str, Value]) -> None:
        """As the base class."""
        super().__init__(given)
        self.read_ahead_kib = self.number("read_ahead_kib")

    def fill(self, place: Path) -> None:
        """Make the tables."""
        server = self.server(place)
        server.make()
        with tempfile.TemporaryDirectory(prefix="sledsim-tpch-") as made:
            Path(made).chmod(0o755)
            words = ["-s", str(self.values["scale_factor"]), "--tables=orders,lineitem"]
            command = [self.executable("tpchgen-cli"), "csv", *words, f"--output-dir={made}"]
            run("tpchgen-cli", command)
            with server.running():
                server.psql(_TABLES)
                for table in ("orders", "lineitem"):
                    file = Path(made) / f"{table}.csv"
                    server.psql(f"\\copy {table} from '{file}' with (format csv, header)")
                server.psql(_LAST)

    @contextmanager
    def start(self, place: Path) -> Iterator[Callable[[], Ran]]:
        """Give the run: the query, from the connection to its last row."""
        server = self.server(place)

        def work() -> dict[str, Any]:
            rows = [line.split("|") for line in server.psql(QUERY).splitlines()]
            if not rows or any(len(row) != 2 for row in rows):
                raise SledsimError(f"tpch-q4: the query gave {rows}")
            return {priority.strip(): int(count) for priority, count in rows}

        with server.running():
            yield lambda: server.timed(work)
