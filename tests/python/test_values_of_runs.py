"""Runs and other results are values: equal, hashable and picklable."""

from __future__ import annotations

import copy
import json
import pickle
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
import sledsim as ss
from sledsim import _core

from tests.python.pickles import through_another_process

if TYPE_CHECKING:
    from pathlib import Path

LOAD = {"base": "random", "requests": 3000, "rate": 400}


@pytest.fixture(scope="module")
def runs() -> dict[str, ss.Run]:
    """Return runs of which no two are equal."""
    return {
        "rows and series": ss.simulate(LOAD, "g2", series=True),
        "another seed": ss.simulate(LOAD | {"seed": 2}, "g2"),
        "several seeds": ss.simulate(LOAD, "g2", replications=2),
        "no requests of a kind": ss.simulate(LOAD | {"read_fraction": 1}, "mcd", rows=False),
        "a composite": ss.simulate(LOAD, "mwb"),
        "a trace": ss.simulate("sample:sqlite", "g2"),
        "tasks": ss.simulate(LOAD, "g2", background="scan", rows=False),
    }


def test_pickles_make_equal_runs_in_another_process(
    runs: dict[str, ss.Run], tmp_path: Path
) -> None:
    """With rows, series, distributions, and every byte of the document."""
    again = through_another_process(runs, tmp_path)
    assert again == runs
    for name, run in runs.items():
        other = again[name]
        assert json.dumps(other.to_dict()) == json.dumps(run.to_dict()), name
        for given in ({}, {"op": "write"}, {"time": "seek"}):
            assert other.cdf(**given) == run.cdf(**given), name
        for kept in ("_rows", "_series"):
            if getattr(run, kept) is not None:
                ours, theirs = (pa.table(getattr(each, kept)) for each in (run, other))
                assert theirs.equals(ours, check_metadata=True), name
    assert len(again["rows and series"].series) > 3


def test_no_two_runs_are_equal(runs: dict[str, ss.Run]) -> None:
    assert len(set(runs.values())) == len({run.digest for run in runs.values()}) == len(runs)
    for name, run in runs.items():
        assert [other for other in runs if runs[other] == run] == [name]
        assert run != run.to_dict()
        assert copy.copy(run) == copy.deepcopy(run) == run


def test_the_same_run_again_is_equal(runs: dict[str, ss.Run]) -> None:
    """Whether or not it kept rows."""
    run = runs["rows and series"]
    for kept in (True, False):
        again = ss.simulate(LOAD, "g2", rows=kept)
        assert again == run
        assert (again.digest, hash(again)) == (run.digest, hash(run))


def test_statistics_and_rows_count(runs: dict[str, ss.Run]) -> None:
    """Each alone makes two runs differ."""
    run, other = runs["rows and series"], runs["another seed"]
    document, statistics, rows = run.to_dict(), run._statistics, run._rows
    assert ss.Run(document, statistics, rows) == run
    assert ss.Run(document, other._statistics, rows) != run
    assert ss.Run(document, other._statistics, rows).digest != run.digest
    assert ss.Run(document, statistics, other._rows) != run
    assert ss.Run(document, statistics, rows, rows) != run
    assert ss.Run(document | {"device": "g3"}, statistics, rows) != run


def test_damaged_bytes_are_refused(runs: dict[str, ss.Run]) -> None:
    run = runs["rows and series"]
    content = run._statistics.to_bytes()
    assert len(content) < 40_000
    for bad in (content[:-1], content + b"\0", b"\1" + content[1:], b"\3" + content[1:], b""):
        with pytest.raises(ss.SledsimError, match="statistics: "):
            type(run._statistics)(bad)
    for bad in (b"", b"abc", pa.table({}).schema.serialize().to_pybytes()[:9]):
        with pytest.raises(ss.SledsimError, match="Arrow stream: "):
            _core.Rows(bad)


def test_other_results_are_values_too() -> None:
    load = ss.workload(requests=200, rate=100)
    comparison, crashes = ss.compare(load, ["g1", "g2"]), ss.crash_test(load, "g2", points=3)
    for result in (comparison, crashes):
        again = pickle.loads(pickle.dumps(result))
        assert again == result
        assert (hash(again), again.to_dict()) == (hash(result), result.to_dict())
    assert pickle.loads(pickle.dumps(comparison)).runs == list(comparison.runs)
    assert comparison not in (crashes, ss.compare(load, ["g1", "g3"]))
