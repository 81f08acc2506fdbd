"""Sweeps: their points, their rows, means over replications."""

import itertools
import math
import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sledsim as ss
from sledsim.cli import main
from sledsim.studies.design import Design, shown
from sledsim.studies.estimate import estimate
from sledsim.studies.runner import Sweep
from sledsim.studies.settings import axis, setting

T95 = {4: 2.7764451}
"""Quantiles of Student's t for 95 %, by degrees of freedom (NIST handbook 1.3.6.7.2)."""
SMALL = {"device": "g2", "workload": "random", "requests": 200, "rate": 500}


def frame(study: ss.Study) -> pl.DataFrame:
    return pl.DataFrame(study.table)


def test_points_are_all_combinations() -> None:
    design = Design(
        {"device": "g2", "seed": 1},
        grid={"rate": range(100, 400, 100), "scheduler": ["fcfs", "sptf"]},
        zip={"device.spring_factor": [0, 0.5], "requests": [10, 20]},
        rows=pd.DataFrame({"read_fraction": [0.1, 0.9]}),
    )
    keys = ["device", "seed", "read_fraction", "device.spring_factor", "requests"]
    by_hand = [
        dict(zip([*keys, "rate", "scheduler"], ("g2", 1, read, *pair, rate, rule), strict=True))
        for read in (0.1, 0.9)
        for pair in ((0, 10), (0.5, 20))
        for rate in (100, 200, 300)
        for rule in ("fcfs", "sptf")
    ]
    assert list(design) == by_hand
    assert design.combinations == len(by_hand) == 24
    few = Design(
        {"device": "g2"},
        grid={"rate": [1, 2, 3], "scheduler": ["fcfs", "sptf"]},
        where=lambda point: point["rate"] > 1,
        exclude=[{"scheduler": "sptf", "rate": [2, 4]}],
    )
    assert [(p["rate"], p["scheduler"]) for p in few] == [(2, "fcfs"), (3, "fcfs"), (3, "sptf")]


ROWS: list[dict[str, Any]] = [{"rate": 100, "seed": 7}, {"rate": 200, "seed": 8}]


@pytest.mark.parametrize("made", [list, pd.DataFrame, pl.DataFrame, pa.Table.from_pylist])
def test_rows_of_any_kind_of_table_are_points(made: Any) -> None:
    found = list(Design({"device": "g2"}, rows=made(ROWS)))
    assert found == [{"device": "g2", **row} for row in ROWS]
    assert all(type(value) is not np.int64 for point in found for value in point.values())


def test_each_row_is_that_of_the_same_simulation_alone() -> None:
    grid = {"scheduler": ["fcfs", "c_look"], "device.spring_factor": [0, np.float64(0.5)]}
    rows = frame(ss.sweep(SMALL, grid=grid, replications=2))
    cases = list(itertools.product(["fcfs", "c_look"], [0, 0.5], [0, 1]))
    assert rows.select("scheduler", "device.spring_factor", "replication").rows() == cases
    assert rows["seed_used"].to_list() == [1, 2] * 4
    assert rows["error"].to_list() == [None] * 8
    for row, (scheduler, spring, replication) in zip(rows.to_dicts(), cases, strict=True):
        load = ss.workload("random", requests=200, rate=500, seed=1 + replication)
        run = ss.simulate(load, ss.device("g2", spring_factor=spring), scheduler)
        for name in ("response_time_ms", "service_time_ms", "seek_ms", "queue_ms"):
            for statistic in ("mean", "p50", "p99", "max"):
                assert row[f"{name}.{statistic}"] == run.summary[name][statistic]
        assert row["energy_j.total"] == run.summary["energy_j"]["total"]
        assert row["result.requests"] == row["requests"] == 200
        assert row["throughput_iops"] == run.summary["throughput_iops"]


def test_every_scalar_of_a_summary_is_a_column() -> None:
    study = ss.sweep({**SMALL, "precision": 0.2, "warm_up_requests": 10, "rate": 3000})
    (row,) = frame(study).to_dicts()
    run = ss.simulate(
        ss.workload("random", requests=200, rate=3000, warm_up_requests=10), "g2", precision=0.2
    )

    found = list(run.summary.items())
    for name, value in found:
        if isinstance(value, dict):
            found += [(f"{name}.{key}", inner) for key, inner in value.items()]
        elif not isinstance(value, list) and (value is not None or name in row):
            assert row[f"result.{name}" if name in study.parameters else name] == value, name
    assert len(found) > 200


def test_means_and_intervals_are_those_of_the_replications() -> None:
    study = ss.sweep(SMALL, grid={"rate": [300, 900]}, replications=5)
    rows, means = frame(study), pl.DataFrame(study.means).to_dicts()
    assert [mean["rate"] for mean in means] == [300, 900]
    for mean in means:
        values = rows.filter(pl.col("rate") == mean["rate"])["response_time_ms.p99"].to_list()
        assert mean["rows"] == len(values) == 5
        assert mean["response_time_ms.p99"] == pytest.approx(statistics.fmean(values), rel=1e-14)
        half = T95[4] * statistics.stdev(values) / math.sqrt(5)
        for end, sign in (("high", 1), ("low", -1)):
            found = sign * (mean[f"response_time_ms.p99.{end}"] - mean["response_time_ms.p99"])
            assert found == pytest.approx(half, rel=1e-5)
    (alone,) = pl.DataFrame(ss.sweep(SMALL).means).to_dicts()
    assert alone["response_time_ms.mean.low"] is None


def test_points_draw_the_same_random_numbers() -> None:
    """Under the same arrivals and places a faster sled is faster in every replication."""
    rows = frame(ss.sweep(SMALL, grid={"device": ["g1", "g3"]}, replications=4))
    old, new = (rows.filter(pl.col("device") == name) for name in ("g1", "g3"))
    assert old["seed_used"].to_list() == new["seed_used"].to_list()
    assert (old["response_time_ms.mean"] > new["response_time_ms.mean"]).all()
    assert old["duration_s"].round(1).to_list() == new["duration_s"].round(1).to_list()


def test_a_run_that_fails_is_a_row_with_its_error(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.trace", tmp_path / "bad.trace"
    lines = [f"{n}.0 0 {n * 8} 8 1" for n in range(5)]
    good.write_text("\n".join(lines) + "\n")
    bad.write_text("\n".join([*lines[:3], "4.0 0 nonsense"]) + "\n")
    study = ss.sweep({"device": "g2", "trace_format": "disksim_ascii"}, grid={"trace": [bad, good]})
    first, second = frame(study).to_dicts()
    assert "bad.trace:4" in first["error"]
    assert first["response_time_ms.mean"] is None
    assert second["error"] is None
    assert second["result.requests" if "requests" in study.parameters else "requests"] == 5
    assert study.errors == [first["error"]]
    with pytest.raises(ss.SledsimError, match=r"1 of 2 runs failed: .*bad\.trace:4"):
        study.check()
    one = ss.sweep({"device": "g2", "trace_format": "disksim_ascii", "trace": good})
    assert one.check() is one
    failed, fine = pl.DataFrame(study.means).to_dicts()
    assert failed["error"] == first["error"]
    assert (fine["error"], fine["response_time_ms.mean"]) == (None, second["response_time_ms.mean"])


def test_an_overloaded_point_says_so() -> None:
    study = ss.sweep({**SMALL, "requests": 3000}, grid={"rate": [100, 5000]})
    calm, busy = frame(study)["caution"].to_list()
    assert calm == ""
    assert "overloaded" in busy
    assert [m["caution"] for m in pl.DataFrame(study.means).to_dicts()] == [None, busy]


def test_devices_loads_and_layouts_may_be_objects_and_mappings(tmp_path: Path) -> None:
    slow = tmp_path / "slow.toml"
    slow.write_text('base = "g2"\nspring_factor = 0.9\n')
    study = ss.sweep(
        {"workload": ss.workload("zipf", requests=100, rate=100), "layout": "columnar"},
        grid={"device": [ss.device("g3"), {"base": "g2", "spring_factor": 0.5}, slow]},
    )
    rows = frame(study)
    assert rows["device"].to_list() == ["g3", "g2(spring_factor=0.5)", str(slow)]
    assert rows["workload"].to_list() == ["zipf"] * 3
    load, device = ss.workload("zipf", requests=100, rate=100), ss.device("g2", spring_factor=0.5)
    own = ss.simulate(load, device, layout="columnar")
    assert rows["response_time_ms.mean"][1] == own.summary["response_time_ms"]["mean"]


def test_a_scenario_and_a_scheduler_with_keys() -> None:
    study = ss.sweep(
        {"scenario": "mcd-hplajw-like", "requests": 300, "scheduler": "aged_sptf"},
        grid={"scheduler.age_weight": [0.02, 0.9]},
    )
    load, device, _ = ss.scenario("mcd-hplajw-like")
    for row in frame(study).to_dicts():
        label = f"aged_sptf(age_weight={row['scheduler.age_weight']})"
        alone = ss.simulate({"base": load, "requests": 300}, device, label)
        assert row["response_time_ms.mean"] == alone.summary["response_time_ms"]["mean"]


def test_crash_tests_and_hit_ratios_are_swept_too() -> None:
    base = {"device": "mwb", "workload": "random", "requests": 500, "crash.points": 5}
    given: dict[str, Any] = {"experiment": "crash_test", "replications": 2}
    rows = frame(ss.sweep(base, grid={"crash.flush": [0.0, 0.5]}, **given)).to_dicts()
    assert [row["passed"] for row in rows] == [True] * 4
    for row in rows:
        seed = int(row["seed_used"])
        load = ss.workload("random", requests=500, seed=seed)
        alone = ss.crash_test(load, "mwb", points=5, flush=row["crash.flush"], seed=seed)
        assert row["blocks_checked"] == alone.to_dict()["blocks_checked"]
        assert row["recovery_ms.mean"] == alone.recovery_ms["mean"]

    base = {"device": "disk", "workload": "zipf", "requests": 2000}
    grid = {"cache.policy": ["lru", "opt"], "cache.size_mib": [0.5, 4]}
    hits = ss.sweep(base, grid=grid, experiment="hit_ratios")
    load = ss.workload("zipf", requests=2000)
    counted = ss.hit_ratios(load, sizes_mib=[0.5, 4], policies=["lru", "opt"], device="disk")
    assert frame(hits)["hit_ratio"].to_list() == [row["hit_ratio"] for row in counted]


def test_the_table_is_read_by_all_libraries(tmp_path: Path) -> None:
    import duckdb

    study = ss.sweep(SMALL, grid={"rate": [300, 600]}, output=tmp_path / "study")
    means = frame(study)["response_time_ms.mean"].to_list()
    assert pa.table(study.table).column("response_time_ms.mean").to_pylist() == means
    assert study.table.column("response_time_ms.mean") == means
    lazy = study.table.lazy().filter(pl.col("rate") > 300).select("response_time_ms.mean")
    assert lazy.collect().to_series().to_list() == means[1:]
    columns = 'rate, "response_time_ms.mean"'
    query = f"select {columns} from '{tmp_path}/study/*.parquet' order by rate"
    found = duckdb.connect().execute(query).fetchall()
    assert found == list(zip([300, 600], means, strict=True))
    folder = pd.read_parquet(tmp_path / "study" / Path(study.table.files[0]).name)
    assert sorted(folder["response_time_ms.mean"]) == sorted(means)


def test_the_study_is_drawn(tmp_path: Path) -> None:
    grid = {"scheduler": ["fcfs", "sptf"], "rate": [300, 600, 900]}
    study = ss.sweep(SMALL, grid=grid, replications=2)
    picture = tmp_path / "p.png"
    (axes,) = study.plot("rate", "response_time_ms.mean", by="scheduler", path=picture).axes
    assert picture.read_bytes().startswith(b"\x89PNG")
    means = pl.DataFrame(study.means)
    for line, name in zip(axes.get_lines(), ("fcfs", "sptf"), strict=True):
        assert line.get_label() == name
        of = means.filter(pl.col("scheduler") == name)
        assert np.asarray(line.get_xdata()).tolist() == of["rate"].to_list()
        assert np.asarray(line.get_ydata()).tolist() == of["response_time_ms.mean"].to_list()


def test_values_are_shown_as_they_were_given() -> None:
    assert shown({"base": "g2", "power": {"policy": "never"}}) == 'g2(power.policy="never")'
    assert shown({"base": {"base": "g2", "idle": "coast"}, "x": 1}) == 'g2(idle="coast")(x=1)'
    assert shown([1, 2]) == "[1, 2]"
    assert shown(Path("a.toml")) == "a.toml"


def test_keys_and_values_of_the_command_line() -> None:
    assert setting("requests=5000") == ("requests", 5000)
    assert setting("scheduler = sptf") == ("scheduler", "sptf")
    assert axis("rate=100,3e2") == ("rate", [100, 300.0])
    aged = "aged_sptf(age_weight=0.1)"
    assert axis(f"scheduler=fcfs,{aged}") == ("scheduler", ["fcfs", aged])
    assert axis('x=[1,2],"a,b"') == ("x", [[1, 2], "a,b"])


def test_what_takes_minutes_is_estimated_from_a_part() -> None:
    """A thousand million requests take more than ten seconds on any machine."""
    begun = time.perf_counter()
    sweep = Sweep(Design(SMALL | {"requests": 10**9}, grid={"rate": [100, 200]}))
    assert estimate(sweep, 1) > 10
    assert time.perf_counter() - begun < 10


def test_the_command_lists_and_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "study.toml"
    file.write_text(
        'title = "S"\nreplications = 2\n[base]\ndevice = "g2"\nworkload = "random"\n'
        "requests = 200\n[grid]\nscheduler = ['fcfs', 'sptf']\n"
        "rate = { from = 300, to = 600, step = 150 }\n"
        '[plot]\nx = "rate"\ny = "response_time_ms.mean"\nby = "scheduler"\n'
    )
    folder, picture = tmp_path / "out", tmp_path / "p.svg"
    words = ["sweep", str(file), "--output", str(folder)]
    for more, said in (
        (["--dry-run"], "6 points, 12 runs"),
        (["--plot", str(picture)], "12 runs made, 0 were there"),
        (["--resume"], "0 runs made, 12 were there"),
        (["--vary", "rate=300,450,600,750"], "4 runs made, 12 were there"),
    ):
        assert main([*words, *more]) == 0
        assert said in capsys.readouterr().out
    assert picture.read_text().lstrip().startswith("<?xml")
    assert main([*words, "--device", "g3"]) == 2
    assert "another study, with device = g2" in capsys.readouterr().err
