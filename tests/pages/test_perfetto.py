"""Traces for Perfetto, read back with the classes of its package."""

import contextlib
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sledsim as ss
from sledsim.cli import main
from sledsim.traces.files import trace_path

from tests.perfetto_traces import Slice, read

pytest.importorskip("perfetto", reason="perfetto is not installed")

CAUSES = (
    *("overhead", "queue", "other", "seek", "head switch", "rotation", "transfer", "retry", "bus"),
)
"""In the order in which they happen."""

Row = dict[str, Any]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> Iterator[Path]:
    """Work in an empty folder."""
    with contextlib.chdir(tmp_path):
        yield tmp_path


def rows_of(run: ss.Run) -> list[Row]:
    """Return the rows of a run."""
    rows: list[Row] = pa.table(run.rows).to_pylist()
    return rows


def outstanding(rows: list[Row], device: str) -> list[tuple[int, float]]:
    """Count the host's requests to a device under way after each instant, where it changes."""
    change: Counter[int] = Counter()
    for row in rows:
        if row["device"] == device and row["parent"] is None:
            change[row["arrival_ns"]] += 1
            change[row["completion_ns"]] -= 1
    count, found = 0, []
    for at, by in sorted(change.items()):
        count += by
        if by:
            found.append((at, float(count)))
    return found


def check(path: str | Path, rows: list[Row]) -> None:
    """Compare a trace with the rows that it was made of."""
    trace = read(path)
    found = trace.requests()
    assert set(found) == {(row["device"], row["id"]) for row in rows}
    assert len(found) == len(rows)
    for row in rows:
        compare(found[row["device"], row["id"]], row)
    for uuid, track in trace.tracks.items():
        for before, after in zip(track.slices, track.slices[1:], strict=False):
            assert before.end <= after.start, f"overlap on {trace.path(uuid)}"
    places = {trace.path(uuid)[:2] for uuid, track in trace.tracks.items() for _ in track.slices}
    assert places == {(row["device"], f"stream {row['stream']}") for row in rows}
    for device in {row["device"] for row in rows}:
        counted = trace.counters().get((device, "outstanding requests"), [])
        assert counted == outstanding(rows, device)


def compare(request: Slice, row: Row) -> None:
    """Compare a request with its row, to the nanosecond."""
    assert (request.name, request.category) == (row["op"], "request")
    assert (request.start, request.end) == (row["arrival_ns"], row["completion_ns"])
    same = ("id", "lbn", "blocks", "op", "status", "queue_depth", "passes")
    for name in same:
        assert request.arguments[name] == row[name]
    for name in ("energy_nj", "parent", "lateness_ns"):
        assert request.arguments.get(name) == row.get(name)
    assert request.arguments.get("retries", 0) == row["retries"]
    times = {cause: row[f"{cause.replace(' ', '_')}_ns"] for cause in CAUSES}
    assert [part.name for part in request.parts] == [c for c in CAUSES if times[c]]
    at = request.start
    for part in request.parts:
        assert (part.category, part.parts) == ("cause", [])
        assert (part.start, part.end) == (at, at + times[part.name])
        at = part.end
        if part.name == "seek":
            kinds = ("x_seek_ns", "y_seek_ns", "settle_ns", "turnaround_ns")
            assert part.arguments == {kind: row[kind] for kind in kinds if row[kind]}
    assert at == request.end


RUNS: dict[str, tuple[str, dict[str, Any]]] = {
    "sled": ("g2", {"rate": 900, "requests": 2000}),
    "disk": ("atlas10k", {"rate": 80, "requests": 1000}),
    "controller": ("disk", {"rate": 60, "requests": 1000}),
    "mcd": ("mcd", {"rate": 60, "requests": 1000}),
    "mwb": ("mwb", {"rate": 60, "requests": 1000}),
    "many at once": ("g2", {"queue_depth": 40, "requests": 2000}),
    "saturated": ("g2", {"rate": 50_000, "requests": 3000, "max_queue": 500}),
    "streams": ("g2", {"streams": 5, "queue_depth": 8, "requests": 500}),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_trace_has_every_request_once_with_its_causes(name: str) -> None:
    """Those that were served; and the power, if a series has been kept and it is known."""
    device, keys = RUNS[name]
    scheduler = "sptf" if name == "many at once" else "fcfs"
    load = ss.workload("sequential" if name == "streams" else "random", **keys)
    series = name != "streams"
    run = ss.simulate(load, device, scheduler, parts=True, series=series)
    run.to_perfetto("a.perfetto-trace")
    rows = rows_of(run)
    check("a.perfetto-trace", rows)
    saturated = [caution for caution in run.cautions if caution["code"] == "saturated"]
    assert bool(saturated) == (name == "saturated") == (0 < len(rows) < keys["requests"])
    watts: list[Any] = []
    if series:
        kept = pa.table(run.series).to_pydict()
        watts = list(zip(kept["start_ns"], kept["power_w"], strict=True))
        if run.summary["energy_j"] is None:
            assert {power for _, power in watts} == {None}
            watts = []
    assert read("a.perfetto-trace").counters().get(("power of all devices",), []) == watts


@pytest.mark.parametrize("depth", [1, 2, 7])
def test_there_are_as_many_lanes_as_requests_at_once(depth: int) -> None:
    run = ss.simulate(ss.workload("random", queue_depth=depth, requests=300), "g2", "sptf")
    run.to_perfetto("a.pftrace")
    trace = read("a.pftrace")
    lanes = {
        trace.path(uuid)[2]: track.rank for uuid, track in trace.tracks.items() if track.slices
    }
    assert sorted(lanes) == [f"lane {number}" for number in range(1, depth + 1)]
    assert sorted(lanes, key=lanes.__getitem__) == sorted(lanes)


@pytest.mark.parametrize("parts", [False, True])
@pytest.mark.parametrize("device", ["g2", "mcd"])
def test_the_command_and_python_write_the_same_bytes(device: str, parts: bool) -> None:
    line = f"run --device {device} --set rate=60 --set requests=500 --rows a.parquet"
    line += " --parts" * parts
    for name in ("a", "b"):
        assert main([*line.split(), "--perfetto", f"{name}.pftrace"]) == 0
    load = ss.workload("random", rate=60, requests=500)
    run = ss.simulate(load, device, parts=parts, series=True)
    run.to_perfetto("c.pftrace")
    assert len({Path(f"{name}.pftrace").read_bytes() for name in "abc"}) == 1
    check("a.pftrace", pq.read_table("a.parquet").to_pylist())
    assert pq.read_table("a.parquet").to_pylist() == rows_of(run)
    groups = {trace.path(uuid)[0] for trace in [read("a.pftrace")] for uuid in trace.tracks}
    assert (len(groups - {"power of all devices"}) > 1) == (parts and device == "mcd")


def test_the_document_of_a_run_is_the_same_with_a_trace(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["run", "--device", "g2", "--set", "rate=500", "--set", "requests=300", "--json"]
    said = []
    for more in ([], ["--perfetto", "a.pftrace"], ["--perfetto", "a.pftrace", "--series-ms", "5"]):
        assert main([*line, *more]) == 0
        said.append(json.loads(capsys.readouterr().out))
    assert said[0] == said[1] == said[2]
    starts = [at for at, _ in read("a.pftrace").counters()["power of all devices",]]
    assert starts == [5_000_000 * place for place in range(len(starts))]


def test_rows_in_a_file_give_the_same_but_for_the_power(capsys: pytest.CaptureFixture[str]) -> None:
    run = ss.simulate(ss.workload("random", rate=900, requests=1000), "g2")
    ss.simulate(ss.workload("random", rate=900, requests=1000), "g2", rows="a.parquet")
    run.to_perfetto("a.pftrace")
    assert ss.rows_to_perfetto("a.parquet", "b.pftrace") == 1000
    assert main(["trace", "perfetto", "a.parquet", "-o", "c.pftrace"]) == 0
    assert capsys.readouterr().out == "1,000 rows\n\nwritten: c.pftrace\n"
    assert len({Path(f"{name}.pftrace").read_bytes() for name in "abc"}) == 1


def test_rows_of_several_devices_in_a_file() -> None:
    ss.simulate(ss.workload("random", rate=60, requests=500), "mcd", rows="a.parquet", parts=True)
    table = pq.read_table("a.parquet")
    assert len(table["device"].unique()) > 2
    ss.rows_to_perfetto("a.parquet", "a.pftrace")
    check("a.pftrace", table.to_pylist())
    # As other programs write them, without dictionaries.
    names = {"device": pa.string(), "op": pa.string(), "status": pa.large_string()}
    for name, kind in names.items():
        place = table.column_names.index(name)
        table = table.set_column(place, name, table[name].cast(kind))
    pq.write_table(table, "b.parquet")
    ss.rows_to_perfetto("b.parquet", "b.pftrace")
    assert Path("a.pftrace").read_bytes() == Path("b.pftrace").read_bytes()


@pytest.mark.parametrize("name", ["sqlite", "pgbench"])
def test_a_recording_shows_latenesses(name: str) -> None:
    count = ss.rows_to_perfetto(f"sample:{name}", "a.pftrace")
    rows = pq.read_table(trace_path(f"sample:{name}")).to_pylist()
    assert count == len(rows)
    assert any(row["lateness_ns"] for row in rows)
    check("a.pftrace", rows)


def test_an_empty_file_of_rows_is_an_empty_trace() -> None:
    ss.simulate(ss.workload("random", requests=10), "g2", rows="a.parquet")
    pq.write_table(pq.read_table("a.parquet").slice(0, 0), "empty.parquet")
    assert ss.rows_to_perfetto("empty.parquet", "a.pftrace") == 0
    trace = read("a.pftrace")
    assert not trace.requests()
    assert not trace.counters()


def test_one_file_for_two_outputs_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.parquet").touch()
    Path("a.pftrace").symlink_to("a.parquet")
    line = "run --device g2 --set requests=10 --perfetto a.pftrace --rows a.parquet"
    assert main(line.split()) == 2
    assert "is named for both" in capsys.readouterr().err
    assert Path("a.parquet").read_bytes() == b""


def test_the_trace_that_is_read_is_not_overwritten(capsys: pytest.CaptureFixture[str]) -> None:
    ss.simulate(ss.workload("random", requests=10), "g2", rows="a.parquet")
    Path("a.parquet").rename("a.pftrace")
    before = Path("a.pftrace").read_bytes()
    run = ["run", "--device", "g2", "--trace", "a.pftrace", "--perfetto", "a.pftrace"]
    for line in (run, ["trace", "perfetto", "a.pftrace", "-o", "a.pftrace"]):
        assert main(line) == 2
    assert capsys.readouterr().err.count("is read by the same command") == 2
    assert Path("a.pftrace").read_bytes() == before


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("seek_ns", 1, "row 3: the causes do not add up to completion - arrival"),
        ("arrival_ns", None, "row 3: arrival_ns: must be a whole number from 0 on"),
        ("lbn", -1, "row 3: lbn: must be a whole number from 0 on"),
        ("op", "dance", "row 3: op: must be read, write, flush or trim"),
        ("device", None, "row 3: has no device"),
        ("passes", ..., "has no column passes: must be the rows of a run"),
    ],
)
def test_other_rows_are_refused_and_leave_nothing(name: str, value: object, problem: str) -> None:
    ss.simulate(ss.workload("random", requests=10), "g2", rows="a.parquet")
    columns = pq.read_table("a.parquet").to_pydict()
    if value is ...:
        del columns[name]
    else:
        columns[name][2] = value
    pq.write_table(pa.table(columns), "a.parquet")
    with pytest.raises(ss.TraceError, match=problem) as caught:
        ss.rows_to_perfetto("a.parquet", "a.pftrace")
    assert str(caught.value).startswith("a.parquet: ")
    assert [file.name for file in Path().iterdir()] == ["a.parquet"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_pipe_or_device_may_have_any_name_and_a_full_disk_is_an_error() -> None:
    run = ss.simulate(ss.workload("random", requests=10), "g2")
    run.to_perfetto("/dev/null")
    assert main(["run", "--device", "g2", "--set", "requests=10", "--perfetto", "/dev/null"]) == 0
    with pytest.raises(ss.OutputError, match=r"/dev/full: .*[Ss]pace"):
        run.to_perfetto("/dev/full")
