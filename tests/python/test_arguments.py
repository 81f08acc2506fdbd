"""Arguments of the Python interface: names, numpy numbers, refusals."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
import sledsim as ss
from sledsim.programs import Recording

np = pytest.importorskip("numpy")

if TYPE_CHECKING:
    from collections.abc import Callable

G2 = ss.device("g2")
LOAD = ss.workload("random", requests=200)
SHORT = "1 0 5 8 1\n2 0 50 8 1\n"


@pytest.fixture
def short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a trace of two requests, in a folder to work in."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "short.trace"
    path.write_text(SHORT, encoding="utf-8")
    return path


# Names


def test_names_stand_for_devices_and_loads(short: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text('base = "g2"\n', encoding="utf-8")
    for device in ("g2", own, str(own), G2):
        run = ss.simulate(LOAD, device)
        assert run.summary["response_time_ms"] == ss.simulate(LOAD, G2).summary["response_time_ms"]
    for load, made in (
        ("random", ss.workload("random")),
        (short, ss.read_trace(short)),
        (str(short), ss.read_trace(short)),
    ):
        named, whole = ss.simulate(load, "g2").to_dict(), ss.simulate(made, G2).to_dict()
        assert named["summary"] == whole["summary"]
    both = ss.compare(LOAD, [G2, "g3"], "sptf")
    assert both.labels == ["g2", "g3"]
    assert ss.compare(LOAD, "g2", ["fcfs", "sptf"]).labels == ["fcfs", "sptf"]
    assert ss.loads.load_info("cello", device="atlas10k")["requests"] > 0
    assert ss.hit_ratios(LOAD, sizes_mib=np.array([1, 2]), policies="lru", device="g2")
    assert ss.layout("g2", "columnar").facts == ss.layout(G2, "columnar").facts
    out = ss.generate_trace("random", tmp_path / "out.trace", device="g2")
    assert out["output"]["requests"] == 10_000


# Numbers


NUMBERS: list[tuple[Any, Any]] = [
    (np.int64(100), 100),
    (np.uint8(100), 100),
    (np.float32(100), 100),
    (np.array(100), 100),
    (1e2, 100),
    (100.0, 100),
]


@pytest.mark.parametrize(("given", "plain"), NUMBERS, ids=repr)
def test_numbers_of_any_kind(given: Any, plain: Any) -> None:
    keys = {"requests": given, "rate": given}
    run = ss.simulate(ss.workload("random", **keys), G2, replications=np.int8(1))
    assert run.summary["requests"] == plain
    assert (
        run.to_dict() == ss.simulate(ss.workload("random", requests=100, rate=100.0), G2).to_dict()
    )
    assert G2.locate(given) == G2.locate(plain)
    assert ss.device("g2", active_tips=np.int32(1280)).parameters["active_tips"] == 1280


def test_a_precision_may_be_in_percent() -> None:
    runs = [ss.simulate(LOAD, G2, precision=p) for p in ("10%", "0.1", 0.1, np.float64(0.1))]
    assert len({str(run.to_dict()) for run in runs}) == 1


def test_lists_of_numpy() -> None:
    sizes = np.array([4.0, 8.0])
    load = ss.workload(
        "random", requests=100, size="listed", sizes_kib=sizes, size_shares=np.array([0.5, 0.5])
    )
    assert ss.simulate(load, G2).workload["sizes_kib"] == [4.0, 8.0]


@pytest.mark.parametrize("number", [2.5, 1e300, -1e2, 2.0**63, math.nan, np.float64(0.5)])
def test_non_integers_are_refused(number: float) -> None:
    with pytest.raises(ss.SledsimError, match=r"requests = .*: must be an integer"):
        ss.workload("random", requests=number)


# Refusals

WRONG: list[Any] = [object(), [object()], {}, b"bytes", "zzzz", -1, 1.5, math.nan, None, (), 10**30]

Do = Any


def _calls(short: Path, folder: Path) -> dict[str, tuple[Do, dict[str, Any]]]:
    """List public functions, with arguments that they take."""
    disk = ss.device("atlas10k")
    table = ss.tables.table(pa.table({"a": pa.array([1, 2, 3], pa.int64())}), "g2")
    cache = ss.caches.cache()
    run = ss.simulate(LOAD, G2)
    at = (0.0, 0.0, "up")
    rows = folder / "rows.parquet"
    return {
        "simulate": (
            ss.simulate,
            {
                "load": LOAD,
                "device": "g2",
                "scheduler": "fcfs",
                "layout": "simple",
                "background": "scan",
                "rows": rows,
                "parts": True,
                "series": True,
                "series_ms": 1.0,
                "replications": 1,
                "workers": 1,
                "precision": 0.1,
            },
        ),
        "compare": (
            ss.compare,
            {
                "load": LOAD,
                "devices": ["g2"],
                "schedulers": ["fcfs"],
                "replications": 1,
                "workers": 1,
            },
        ),
        "device": (ss.device, {"name": "g2", "tips": 6400, "buffer": {"size_kib": 1024}}),
        "workload": (ss.workload, {"name": "random", "requests": 5, "read_fraction": 0.5}),
        "read_trace": (ss.read_trace, {"trace": short, "sort_ms": 5.0, "address": "wrap"}),
        "trace_info": (
            ss.trace_info,
            {"path": short, "format": None, "columns": None, "sort_ms": 1.0, "max_units": 16},
        ),
        "load_info": (ss.loads.load_info, {"load": LOAD, "device": "g2", "interleave_blocks": 1}),
        "convert_trace": (
            ss.convert_trace,
            {
                "inputs": short,
                "output": folder / "o.csv",
                "to": "csv",
                "devices": [0],
                "from_s": 0.0,
                "until_s": 10.0,
                "every": 1,
                "seed": 1,
                "requests": 1,
                "time_scale": 1.0,
            },
        ),
        "generate_trace": (
            ss.generate_trace,
            {"load": LOAD, "output": folder / "g.csv", "device": "g2", "scheduler": "fcfs"},
        ),
        "hit_ratios": (
            ss.hit_ratios,
            {"load": LOAD, "sizes_mib": [1], "policies": ["lru"], "segment_kib": 8, "device": "g2"},
        ),
        "cache": (ss.caches.cache, {"policy": "lru", "slots": 4}),
        "cache.access": (cache.access, {"key": 5}),
        "layout": (ss.layout, {"device": "g2", "name": "subregioned", "regions": 5}),
        "crash_test": (
            ss.crash_test,
            {"load": LOAD, "device": "g2", "points": 2, "seed": 1, "fua": 0.1, "flush": 0.1},
        ),
        "tip_failures": (
            ss.failures.tip_failures,
            {"tips": 640, "failed_tips": 1, "trials": 2, "seed": 1, "out_of_spares": "capacity"},
        ),
        "rebuild_risk": (
            ss.failures.rebuild_risk,
            {"rebuild_s": 5.0, "mttf_hours": 1e6, "survivors": 4},
        ),
        "table": (
            ss.tables.table,
            {"data": rows, "device": "g2", "layout": "normal", "first_lbn": 0},
        ),
        "table.scan": (table.scan, {"columns": ["a"], "first": 0, "count": 1}),
        "table.read": (table.read, {"indices": [0], "columns": ["a"]}),
        "table.place": (table.place, {"record": 0, "column": "a"}),
        "table.lbns": (table.lbns, {"column": "a"}),
        "table.idle": (table.idle, {"seconds": 1.0}),
        "table.update": (table.update, {"first": 0, "data": pa.table({"a": [5]})}),
        "seek": (G2.seek, {"start": at, "end": at}),
        "trajectory": (G2.trajectory, {"axis": "x", "start_m": 0.0, "end_m": 1e-5}),
        "access": (G2.access, {"lbn": 0, "blocks": 8, "op": "read", "start": at}),
        "batch": (G2.batch, {"commands": [("read", 0, 8)], "start": at, "at_s": 0.0}),
        "locate": (G2.locate, {"lbn": 0}),
        "lbn": (G2.lbn, {"cylinder": 0, "track": 0, "row": 0, "cell": 0}),
        "equivalent": (G2.equivalent, {"lbn": 0, "at_s": 0.0}),
        "conflicting": (G2.conflicting, {"a": 0, "b": 1, "at_s": 0.0}),
        "boundaries": (G2.boundaries, {"lbn": 0}),
        "disk.locate": (disk.locate, {"lbn": 0}),
        "disk.lbn": (disk.lbn, {"cylinder": 0, "head": 0, "sector": 0}),
        "disk.seek": (disk.seek, {"start": 0, "end": 5, "op": "write"}),
        "seek_ms": (disk.seek_ms, {"cylinders": 5, "op": "read"}),
        "cdf": (run.cdf, {"time": "response_time", "op": "read"}),
        "validate": (ss.validate, {"device": "g2", "trace": short, "scheduler": "fcfs"}),
        "workload_spec": (ss.loads.workload_spec, {"name": "cello"}),
        "import_device": (ss.disksim.import_device, {"path": short, "output": folder / "o.toml"}),
        "recording": (Recording.load, {"path": short}),
    }


def test_wrong_arguments_are_errors_of_sledsim(short: Path, tmp_path: Path) -> None:
    """Each argument in turn is each wrong thing: it does, or it is refused."""
    others = []
    for name, (do, arguments) in _calls(short, tmp_path).items():
        for key in arguments:
            for wrong in WRONG:
                try:
                    do(**{**arguments, key: wrong})
                except ss.SledsimError as error:
                    if "\n" in str(error):
                        others.append(f"{name}({key}={wrong!r}): of several lines: {error}")
                except Exception as error:  # noqa: BLE001 (each is a finding)
                    others.append(f"{name}({key}={wrong!r}): {type(error).__name__}: {error}")
    assert not others, "\n".join(others)


@pytest.mark.parametrize(
    ("do", "says"),
    [
        (lambda: G2.seek(0, 1000), "point = 0: must be (x_m, y_m, direction)"),  # type: ignore[arg-type]
        (lambda: ss.simulate("g2", LOAD), "device = <sledsim load random>: must be a device"),  # type: ignore[call-overload]
        (lambda: ss.simulate(G2, "g2"), "load = <sledsim device g2"),  # type: ignore[call-overload]
        (lambda: ss.simulate("rnadom", "g2"), "load = 'rnadom': must be a workload (random"),
        (lambda: ss.simulate(LOAD, G2, rows=10_000), "rows = 10000: must be True, False"),  # type: ignore[call-overload]
        (lambda: ss.simulate(LOAD, G2, precision="x%"), "precision = 'x%': must be above 0%"),
        (lambda: ss.simulate(LOAD, G2, replications=2.5), "replications = 2.5: must be an integer"),  # type: ignore[call-overload]
        (lambda: ss.read_trace("postmark"), "did you mean sample:postmark-ext4?"),
        (lambda: ss.workload("zipf", alpha=0.9), "did you mean 'zipf_exponent'?"),  # type: ignore[call-arg]
    ],
)
def test_the_message_says_what_is_taken(do: Callable[[], object], says: str) -> None:
    with pytest.raises(ss.SledsimError) as refused:
        do()
    assert says in str(refused.value)


def test_a_wrong_call_is_still_a_type_error() -> None:
    with pytest.raises(TypeError):
        ss.simulate(LOAD)  # type: ignore[call-overload]
    with pytest.raises(TypeError):
        ss.simulate(LOAD, G2, thread=1)  # type: ignore[call-overload]
