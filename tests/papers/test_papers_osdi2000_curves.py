"""OSDI 2000: the schedulers' loads and curves, computed independently."""

import json
from math import exp
from pathlib import Path
from typing import Any

import pytest
import sledsim as ss
from sledsim import papers
from sledsim.papers.osdi2000 import curves, gaps

from tests.paper_items import Paper

SLED: dict[str, Any] = {"inactive_after_ms": float("inf")}
"""Between requests the sled stays ready."""


@pytest.mark.parametrize("depth", [1, 64])
def test_closed_loops_keep_littles_law(depth: int) -> None:
    for name in curves.SCHEDULERS:
        run = gaps.closed(ss.device("osdi2000", **SLED), name, 20_000, 2, depth)
        assert run["per_s"] * run["response_ms"] / 1e3 == pytest.approx(depth, rel=0.02)


def test_the_random_load_is_that_of_section_3() -> None:
    """FCFS on g2 at 500 and 1000 a second: 1.236 and 2.30 ms, for sizes 6 % shorter."""
    for rate, mean_ms in ((500, 1.236), (1000, 2.30)):
        load = curves.random_load(rate, 50_000)
        point = curves.measure(load, ss.device("osdi2000", **SLED), "FCFS", replications=3)
        assert mean_ms < point.mean_ms < 1.05 * mean_ms
        summary = ss.simulate(load, ss.device("memory"), rows=False).summary
        assert summary["read_fraction"] == pytest.approx(0.67, abs=0.01)
        blocks = (summary["blocks_read"] + summary["blocks_written"]) / summary["requests"]
        assert blocks == pytest.approx(1 / (1 - exp(-1 / 8)), rel=0.02)


def test_curves_against_an_independent_program() -> None:
    """Mean response times in ms of g2 at 1500 requests a second; ours within 5 %."""
    device = ss.device("osdi2000", **SLED)
    other = {"C-LOOK": 5.50, "SSTF_LBN": 5.07, "SPTF": 4.74}
    for scheduler, mean_ms in other.items():
        load = ss.workload(rate=1500, requests=50_000, size="geometric", warm_up_requests=2500)
        point = curves.measure(load, device, scheduler, replications=4)
        assert point.mean_ms == pytest.approx(mean_ms, rel=0.05), scheduler


def test_a_knee_lies_where_the_curve_says() -> None:
    """Of 1 / (1 - load), the response time of a queue with one exponential server."""
    loads = [step / 100 for step in range(50, 100)]
    points = [curves.Point(1 / (1 - load), 1, None, saturated=False) for load in loads]
    curve = curves.Curve(loads, points)
    assert curve.knee(5) == pytest.approx(0.8)
    assert curve.knee(30) == pytest.approx(1 - 1 / 30, abs=5e-4)  # a step is 0.01
    assert curve.at(0.805) == pytest.approx(1 / 0.195, rel=1e-3)
    assert curve.turns(0.5, 0.99) == 0
    with pytest.raises(ValueError, match="reaches 200"):
        curve.knee(200)
    bent = curves.Curve([1, 2, 3, 4], [points[9], points[8], points[10], points[7]])
    assert bent.turns(1, 4) == 2
    assert bent.turns(2, 3) == 0


def test_steps_between_knees() -> None:
    knees = {"FCFS": 10.0, "C-LOOK": 15.0, "SSTF_LBN": 16.0, "SPTF": 19.0}
    assert curves.steps(knees) == {"from FCFS": 5.0, "widest among the others": 3.0}


def test_an_item_runs_and_says_which_load_it_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """End to end; and a trace that appears or disappears is not served from stored results."""
    folder = tmp_path / "shared"
    folder.mkdir()
    monkeypatch.setenv("SLEDSIM_SHARED", str(folder))
    figure = Paper("osdi2000").item("figure7a")
    monkeypatch.setattr("sledsim.papers.osdi2000.traces.REQUESTS", 8000)

    def run() -> tuple[dict[str, Any], bytes]:
        (result,) = papers.run([figure], tmp_path, quick=True, workers=1)
        written = tmp_path / "quick" / "osdi2000" / "figure7a.json"
        assert json.loads(written.read_text("utf-8"))["how"] == result.document["how"]
        return result.document, written.read_bytes()

    document, first = run()
    assert "This run used a generator" in document["how"]
    load = ss.workload("random", rate=40, requests=8000, seed=7)
    trace = tmp_path / "made.trace"
    ss.generate_trace(load, str(trace), blocks=6_750_000)
    (folder / "hplajw-1992-week.srt").write_bytes(trace.read_bytes())
    document, second = run()
    assert "This run replayed the trace" in document["how"]
    (folder / "hplajw-1992-week.srt").unlink()
    assert run()[1] == first != second
