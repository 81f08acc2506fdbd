"""A paper of the tests in place of those of the package, with an item that runs."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sledsim import papers
from sledsim.papers import engine, model

PAPER = """
order = 2001
title = "A paper"
authors = "Its authors"
published = "Somewhere 2001"
summary = "All of it comes out."
items = ["table1"]
[[left_out]]
place = "Figure 1"
because = "A drawing."
"""
SETUP = """
how = "One disk."
[setup]
factor = 1.0
disk = { base = "atlas10k", bus = 2 }
[readings.other]
what = "Something else."
setup = { factor = 2.0, disk = { bus = 3 } }
"""
TABLE = """
title = "A table"
place = "Table 1"
how = "Somehow."
readings = ["other"]
[values.mean]
what = "mean"
published = "2.0"
error = 0.05
error_from = "sampling"
error_because = "Two standard errors."
[values.fastest]
what = "devices"
published = ["a", "b"]
kind = "order"
[values.curve]
what = "curve"
published = "rises"
kind = "shape"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give a folder of papers in place of the package's, with one paper in it."""
    own = tmp_path / "papers" / "paper2001"
    own.mkdir(parents=True)
    (own / "paper.toml").write_text(PAPER)
    (own / "setup.toml").write_text(SETUP)
    (own / "table1.toml").write_text(TABLE)
    (own / "table1.py").write_text("")
    monkeypatch.setattr(model, "_FOLDER", tmp_path / "papers")
    monkeypatch.setattr(papers, "__path__", [str(tmp_path / "papers"), *papers.__path__])
    model.papers.cache_clear()
    yield own
    model.papers.cache_clear()
    for name in [name for name in sys.modules if name.startswith("sledsim.papers.paper2001")]:
        del sys.modules[name]


GOOD = """
from matplotlib.figure import Figure
from sledsim.papers import Found, Setup

def simulate(*, quick: bool, setup: Setup) -> Found:
    mean = (2.05 if quick else 2.0) * setup["factor"]
    return Found(
        {"mean": mean, "fastest": {"a": 1.0, "b": 2.0}, "curve": (1.0, 2.0, 3.0)},
        {"drawn": [[1.0, 2.0], [3.0, 4.0]]},
    )
"""


@pytest.fixture
def runs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Write the code of the item, and list its simulations."""
    (folder / "table1.py").write_text(GOOD)
    simulated: list[str] = []
    usual = engine.simulate

    def counted(name: str, *, quick: bool, reading: str = "") -> engine.Result:
        simulated.append(name)
        return usual(name, quick=quick, reading=reading)

    monkeypatch.setattr(engine, "simulate", counted)
    return simulated
