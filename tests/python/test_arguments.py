"""Arguments of the Python interface: names, numpy numbers, what is refused, and the errors."""

from __future__ import annotations

import math
import pickle
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import sledsim as ss
from sledsim.programs import Recording

np = pytest.importorskip("numpy")

G2 = ss.device("g2")
LOAD = ss.workload("random", requests=200)


@pytest.fixture
def short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a trace of two requests, in a folder to work in."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "short.trace"
    path.write_text("1 0 5 8 1\n2 0 50 8 1\n", encoding="utf-8")
    return path


# Names


def test_names_stand_for_devices_and_loads(short: Path, tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text('base = "g2"\n', encoding="utf-8")
    summary = ss.simulate(LOAD, G2).summary
    for device in ("g2", tmp_path / "own.toml", "own.toml"):
        run = ss.simulate(LOAD, device)
        assert run.summary["response_time_ms"] == summary["response_time_ms"]
    assert ss.simulate("random", "g2") == ss.simulate(ss.workload("random"), G2)
    for load in (short, str(short)):
        assert ss.simulate(load, "g2").summary == ss.simulate(ss.read_trace(short), G2).summary
    assert ss.compare(LOAD, [G2, "g3"], "sptf").labels == ["g2", "g3"]
    assert ss.compare(LOAD, "g2", ["fcfs", "sptf"]).labels == ["fcfs", "sptf"]
    assert ss.loads.load_info("cello", device="atlas10k")["requests"] > 0
    assert ss.hit_ratios(LOAD, sizes_mib=np.array([1, 2]), policies="lru", device="g2")
    assert ss.layout("g2", "columnar").facts == ss.layout(G2, "columnar").facts
    out = ss.generate_trace("random", tmp_path / "out.trace", device="g2")
    assert out["output"]["requests"] == 10_000


# Numbers

NUMBERS: list[Any] = [np.int64(100), np.uint8(100), np.float32(100), np.array(100), 1e2]


@pytest.mark.parametrize("given", NUMBERS, ids=repr)
def test_numbers_of_any_kind(given: Any) -> None:
    load = ss.workload("random", requests=given, rate=given)
    run = ss.simulate(load, ss.device("g2", spring_factor=given / 200), replications=np.int8(1))
    plain, half = ss.workload("random", requests=100, rate=100), ss.device("g2", spring_factor=0.5)
    assert run.to_dict() == ss.simulate(plain, half).to_dict()
    assert run.summary["requests"] == 100
    assert G2.locate(given) == G2.locate(100)
    assert ss.device("g2", active_tips=np.int32(1280)).parameters["active_tips"] == 1280


def test_a_precision_may_be_in_percent() -> None:
    runs = [ss.simulate(LOAD, G2, precision=p) for p in ("10%", "0.1", 0.1, np.float64(0.1))]
    assert len({str(run.to_dict()) for run in runs}) == 1


def test_lists_of_numpy() -> None:
    sizes, shares = np.array([4.0, 8.0]), np.array([0.5, 0.5])
    load = ss.workload("random", size="listed", sizes_kib=sizes, size_shares=shares)
    assert ss.simulate(load, G2).workload["sizes_kib"] == [4.0, 8.0]


# Refusals

WRONG: list[Any] = [object(), [object()], {}, b"bytes", "zzzz", -1, 1.5, math.nan, None, (), 10**30]


def _calls(short: Path, folder: Path) -> list[tuple[Any, dict[str, Any]]]:
    """List public functions, with arguments that they take."""
    disk, run, cache = ss.device("atlas10k"), ss.simulate(LOAD, G2), ss.caches.cache()
    table = ss.tables.table(pa.table({"a": pa.array([1, 2, 3], pa.int64())}), "g2")
    at, rows, once = (0.0, 0.0, "up"), folder / "rows.parquet", {"replications": 1, "workers": 1}
    kept = {"rows": rows, "parts": True, "series": True, "series_ms": 1.0, "precision": 0.1}
    on, places = {"load": LOAD, "device": "g2"}, {"axis": "x", "start_m": 0.0, "end_m": 1e-5}
    part = {"devices": [0], "from_s": 0.0, "until_s": 10.0, "every": 1, "seed": 1, "requests": 1}
    laid = {"scheduler": "fcfs", "layout": "simple", "background": "scan"}
    crash = {"points": 2, "seed": 1, "fua": 0.1, "flush": 0.1}
    tips = {"tips": 640, "failed_tips": 1, "trials": 2, "seed": 1, "out_of_spares": "capacity"}
    given = {"path": short, "format": None, "columns": None, "sort_ms": 1.0, "max_units": 16}
    ratios = {"sizes_mib": [1], "policies": ["lru"], "segment_kib": 8}
    return [
        (ss.simulate, {**on, **laid, **kept, **once}),
        (ss.compare, {"load": LOAD, "devices": ["g2"], "schedulers": ["fcfs"], **once}),
        (ss.device, {"name": "g2", "tips": 6400, "buffer": {"size_kib": 1024}}),
        (ss.workload, {"name": "random", "requests": 5, "read_fraction": 0.5}),
        (ss.read_trace, {"trace": short, "sort_ms": 5.0, "address": "wrap"}),
        (ss.trace_info, given),
        (ss.loads.load_info, {**on, "interleave_blocks": 1}),
        (
            ss.convert_trace,
            {"inputs": short, "output": folder / "o.csv", "to": "csv", "time_scale": 1.0, **part},
        ),
        (ss.generate_trace, {**on, "output": folder / "g.csv", "scheduler": "fcfs"}),
        (ss.hit_ratios, {**on, **ratios}),
        (ss.caches.cache, {"policy": "lru", "slots": 4}),
        (cache.access, {"key": 5}),
        (ss.layout, {"device": "g2", "name": "subregioned", "regions": 5}),
        (ss.crash_test, {**on, **crash}),
        (ss.failures.tip_failures, tips),
        (ss.failures.rebuild_risk, {"rebuild_s": 5.0, "mttf_hours": 1e6, "survivors": 4}),
        (ss.tables.table, {"data": rows, "device": "g2", "layout": "normal", "first_lbn": 0}),
        (table.scan, {"columns": ["a"], "first": 0, "count": 1}),
        (table.read, {"indices": [0], "columns": ["a"]}),
        (table.place, {"record": 0, "column": "a"}),
        (table.lbns, {"column": "a"}),
        (table.idle, {"seconds": 1.0}),
        (table.update, {"first": 0, "data": pa.table({"a": [5]})}),
        (G2.seek, {"start": at, "end": at}),
        (G2.trajectory, places),
        (G2.access, {"lbn": 0, "blocks": 8, "op": "read", "start": at}),
        (G2.batch, {"commands": [("read", 0, 8)], "start": at, "at_s": 0.0}),
        (G2.locate, {"lbn": 0}),
        (G2.lbn, {"cylinder": 0, "track": 0, "row": 0, "cell": 0}),
        (G2.equivalent, {"lbn": 0, "at_s": 0.0}),
        (G2.conflicting, {"a": 0, "b": 1, "at_s": 0.0}),
        (G2.boundaries, {"lbn": 0}),
        (disk.locate, {"lbn": 0}),
        (disk.lbn, {"cylinder": 0, "head": 0, "sector": 0}),
        (disk.seek, {"start": 0, "end": 5, "op": "write"}),
        (disk.seek_ms, {"cylinders": 5, "op": "read"}),
        (run.cdf, {"time": "response_time", "op": "read"}),
        (ss.validate, {"device": "g2", "trace": short, "scheduler": "fcfs"}),
        (ss.loads.workload_spec, {"name": "cello"}),
        (ss.disksim.import_device, {"path": short, "output": folder / "o.toml"}),
        (Recording.load, {"path": short}),
    ]


def test_wrong_arguments_are_errors_of_sledsim(short: Path, tmp_path: Path) -> None:
    """Each argument in turn is each wrong thing: it does, or it is refused in one line."""
    others = []
    for do, arguments in _calls(short, tmp_path):
        for key, wrong in product(arguments, WRONG):
            call = f"{do.__qualname__}({key}={wrong!r})"
            try:
                do(**{**arguments, key: wrong})
            except ss.SledsimError as error:
                if "\n" in str(error):
                    others.append(f"{call}: of several lines: {error}")
            except Exception as error:  # noqa: BLE001 (each is a finding)
                others.append(f"{call}: {type(error).__name__}: {error}")
    assert not others, "\n".join(others)


# Classes of errors

CLASSES = [ss.SledsimError, ss.SpecError, ss.TraceError, ss.OutputError, ss.RemoteError]


def _same(error: Exception, other: Exception) -> bool:
    told = (type(error), str(error), vars(error))
    return told == (type(other), str(other), vars(other))


@pytest.mark.parametrize("kind", CLASSES)
def test_each_class_is_a_value_error_that_can_be_pickled(kind: type[ss.SledsimError]) -> None:
    error = kind("f:3: k = 1: must be 2")
    assert isinstance(error, ValueError)
    assert {*kind.__mro__} & {*CLASSES} == {ss.SledsimError, kind}
    assert (error.file, error.line, error.key) == (None, None, None)
    error.file, error.line, error.key = "f", 3, "k"
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert _same(error, pickle.loads(pickle.dumps(error, protocol)))
    assert kind("other").file is None, "an attribute of one error is not that of the next"


def test_an_error_crosses_processes(tmp_path: Path) -> None:
    file = tmp_path / "value.toml"
    file.write_text('base = "g2"\n\nspring_factor = 2\n')
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        error = pool.submit(ss.device, str(file)).exception()
    assert isinstance(error, ss.SpecError)
    assert (error.file, error.line, error.key) == (str(file), 3, "spring_factor")


@pytest.mark.parametrize("kind", CLASSES)
def test_each_class_cuts_what_it_repeats(kind: type[ss.SledsimError]) -> None:
    error = kind(f"{'k' * 9000}.toml:3: rate = '{'a b' * 9000}'\x1b[31m\n: must be 2")
    assert str(error).startswith("kkk")
    assert str(error).endswith(r"'\u{1b}[31m\n: must be 2")
    assert str(error).count("characters)...") == 2
    assert len(str(error)) < 500
    assert _same(error, pickle.loads(pickle.dumps(error)))
    assert kind(5).args == (5,)
