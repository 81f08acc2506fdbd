"""Names as types, which editors complete.

Parameters are of type ``SchedulerName | str``: a name may have keys, as in
``"aged_sptf(age_weight=0.02)"``, so type checkers accept any string. A test compares the names with
those of the core.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

SchedulerName: TypeAlias = Literal[
    "fcfs",
    "sstf_lbn",
    "c_look",
    "look",
    "c_scan",
    "scan",
    "fscan",
    "deadline",
    "sptf",
    "aged_sptf",
    "zone_sptf",
]
WorkloadName: TypeAlias = Literal[
    "random",
    "zipf",
    "pareto",
    "hot_cold",
    "sequential",
    "files",
    "scan",
    "nurand",
    "mix",
    "postmark",
    "tpcd",
    "tpcc",
    "cello",
    "hplajw",
]
LayoutName: TypeAlias = Literal["simple", "organ_pipe", "columnar", "subregioned", "bipartite"]
PolicyName: TypeAlias = Literal["lru", "lfuda", "slru", "arc", "s3fifo"]
SledName: TypeAlias = Literal[
    "sigmetrics2000", "osdi2000", "g1", "g2", "g2-buffered", "g3", "cmu2003", "msst2005"
]
DiskName: TypeAlias = Literal[
    "atlas10k", "atlas10k-50mbps", "nearline20t", "barracuda2t", "superdisk"
]
CompositeName: TypeAlias = Literal["exos2x18", "disk", "mwb", "mcd", "disk_ram", "mems"]
DeviceName: TypeAlias = SledName | DiskName | CompositeName | Literal["flash", "memory"]
