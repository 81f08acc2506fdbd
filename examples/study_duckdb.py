"""SQL over a study: DuckDB on the Parquet files of its folder.

Run it as ``python examples/study_duckdb.py [--quick] [--folder out/study]``. A study is a folder of
Parquet files with a row for each run, so that any engine can ask it what the study has not
foreseen: which scheduler is the best at each rate, what its lead over the next is, and what the
slowest requests pay for it. A second call with the same folder simulates nothing.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import sledsim as ss

if TYPE_CHECKING:
    from collections.abc import Sequence

BEST = """
with means as (
    select rate, scheduler, avg("response_time_ms.mean") as ms, max("response_time_ms.p99") as p99
    from read_parquet(?, union_by_name = true) group by rate, scheduler
)
select rate, arg_min(scheduler, ms), min(ms), min(ms, 2)[2] / min(ms), arg_min(p99, ms)
from means group by rate order by rate
"""


def run(folder: Path, requests: int) -> ss.Study:
    """Sweep schedulers over rates; what the folder has is not simulated again."""
    return ss.sweep(
        {"device": "g2", "workload": "random", "requests": requests},
        grid={"rate": [300, 600, 900, 1200], "scheduler": ["fcfs", "c_look", "sptf"]},
        replications=3,
        output=folder,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study, and ask DuckDB."""
    parser = argparse.ArgumentParser(description="SQL over the folder of a study")
    parser.add_argument("--folder", type=Path, default=Path("out/study_duckdb"), help="%(default)s")
    parser.add_argument("--quick", action="store_true", help="2,000 requests a run, not 50,000")
    options = parser.parse_args(arguments)
    try:
        study = run(options.folder, 2_000 if options.quick else 50_000).check()
    except ss.SledsimError as error:
        parser.error(str(error))
    print(f"{study.run} of {len(study)} runs simulated")
    for rate, best, ms, lead, p99_ms in duckdb.execute(BEST, [study.table.files]).fetchall():
        print(f"{rate:5.0f}/s: {best}, {ms:.3f} ms; the next x {lead:.2f}; p99 {p99_ms:.3f} ms")


if __name__ == "__main__":
    main()
