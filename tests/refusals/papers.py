"""Refusals of the items of the papers."""

from __future__ import annotations

from typing import Any

import sledsim as ss
from sledsim import papers
from sledsim.papers.cmu_cs_03_125 import free_list
from sledsim.papers.cmu_cs_03_125.example import example
from sledsim.papers.msst2005 import prices

CODE: dict[str, Any] = {
    "ss": ss,
    "papers": papers,
    "prices": prices,
    "EXAMPLE": example(),
    "allocated": free_list.allocated,
    "TPCC": ss.workload("tpcc", requests=10),
    "load_info": ss.loads.load_info,
}
LINES: list[tuple[str, ...]] = [
    *((f"papers search {name}", name) for name in ("sigmetrics2000", "sigmetrics2000/table9", "-")),
    ("papers run sigmetrics2000 --reading a", "--reading a: no item of these has it"),
    ("workloads show random", "is a generator"),
    ("workloads show tpcq", "unknown workload 'tpcq'; did you mean"),
    ("workloads info random", "is closed"),
]
CALLS: list[tuple[Any, ...]] = [
    ("load_info(TPCC)", ss.SpecError, "", "give one of them"),
    ("load_info(TPCC, device=ss.device('g2'), blocks=5)", ss.SpecError, "", "give one of them"),
    (
        "load_info(TPCC, blocks=1000)",
        *(ss.SpecError, "tpcc.toml:19 set_mib", "set_mib = 1356: must be at most"),
    ),
    ("allocated(EXAMPLE, set(), 10)", ss.SledsimError, "", "hold 9 capsules"),
    ("prices.ram_ms('hplajw', 0, quick=True)", ValueError, "", "ratio = 0: must be positive"),
    ("papers.find(['a'])", ss.SpecError, "", "unknown paper 'a'", "sigmetrics2000"),
    ("papers.find(['lin2002', ''])", ss.SpecError, "", "unknown paper ''"),
    ("papers.find(['nowhere/table1'])", ss.SpecError, "", "'nowhere/table1'", "sigmetrics2000"),
    (
        "papers.find(['lin2002', 'sigmetrics2000/table9'])",
        *(ss.SpecError, "", "unknown item 'sigmetrics2000/table9'", "sigmetrics2000/table2"),
    ),
]
