"""Runs and other results are values: equal, hashable and picklable."""

from __future__ import annotations

import copy
import json
import os
import pickle
import subprocess
import sys

import pyarrow as pa
import pytest
import sledsim as ss
from sledsim import _core

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


def table(rows: object) -> pa.Table:
    return pa.table(rows)


IN_ANOTHER_PROCESS = """
import json, pickle, sys
runs = pickle.load(sys.stdin.buffer)
pickle.dump(runs, open(sys.argv[1], "wb"))
print(json.dumps({name: [run.digest, hash(run)] for name, run in runs.items()}))
"""


def test_pickles_make_equal_runs_in_another_process(
    runs: dict[str, ss.Run], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """With rows, series, distributions, and every byte of the document."""
    back = tmp_path_factory.mktemp("runs") / "back"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", IN_ANOTHER_PROCESS, str(back)],
        input=pickle.dumps(runs),
        env=os.environ | {"PYTHONHASHSEED": "7"},
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert json.loads(done.stdout) == {n: [run.digest, hash(run)] for n, run in runs.items()}
    again = pickle.loads(back.read_bytes())
    assert again == runs
    for name, run in runs.items():
        other = again[name]
        assert json.dumps(other.to_dict()) == json.dumps(run.to_dict()), name
        assert other.cdf() == run.cdf(), name
        assert other.cdf(op="write") == run.cdf(op="write"), name
        assert other.cdf("seek") == run.cdf("seek"), name
        if run._rows is not None:
            assert table(other.rows).equals(table(run.rows)), name
            assert table(other.rows).schema == table(run.rows).schema, name
    ours, theirs = (some["rows and series"].series for some in (runs, again))
    assert table(ours).equals(table(theirs))
    assert table(ours).num_rows > 3


def test_no_two_runs_are_equal(runs: dict[str, ss.Run]) -> None:
    assert len(set(runs.values())) == len({run.digest for run in runs.values()}) == len(runs)
    for name, run in runs.items():
        assert [other for other in runs if runs[other] == run] == [name]
        assert run != run.to_dict()
        assert copy.copy(run) == copy.deepcopy(run) == run


def test_the_same_run_again_is_equal(runs: dict[str, ss.Run]) -> None:
    """Whether or not it kept rows."""
    for kept in (True, False):
        again = ss.simulate(LOAD, "g2", rows=kept)
        assert again == runs["rows and series"]
        assert (again.digest, hash(again)) == (
            runs["rows and series"].digest,
            hash(runs["rows and series"]),
        )


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
    comparison = ss.compare(load, ["g1", "g2"])
    crashes = ss.crash_test(load, "g2", points=3)
    for result in (comparison, crashes):
        again = pickle.loads(pickle.dumps(result))
        assert again == result
        assert hash(again) == hash(result)
        assert again.to_dict() == result.to_dict()
    assert pickle.loads(pickle.dumps(comparison)).runs == list(comparison.runs)
    assert comparison != crashes
    assert comparison != ss.compare(load, ["g1", "g3"])
