"""Every table and figure of the papers, published against simulated.

>>> from sledsim import papers
>>> [paper.name for paper in papers.papers()]
['sigmetrics2000', 'osdi2000', 'lin2002', 'cmu-cs-03-125', 'msst2005']
>>> (table1,) = papers.find(["sigmetrics2000/table1"])
>>> table1.values[0].what
'sled mobility in X and Y'
"""

from sledsim.papers.engine import Result, run
from sledsim.papers.judge import Verdict
from sledsim.papers.model import (
    Change,
    Contradiction,
    Expected,
    Found,
    Item,
    Later,
    LeftOut,
    Paper,
    Point,
    Published,
    Reading,
    Setup,
    Simulated,
    external_file,
    find,
    papers,
)
from sledsim.papers.simulations import once, run_of, service_times_ms, summary_of

__all__ = [
    "Change",
    "Contradiction",
    "Expected",
    "Found",
    "Item",
    "Later",
    "LeftOut",
    "Paper",
    "Point",
    "Published",
    "Reading",
    "Result",
    "Setup",
    "Simulated",
    "Verdict",
    "external_file",
    "find",
    "once",
    "papers",
    "run",
    "run_of",
    "service_times_ms",
    "summary_of",
]
