"""Comparisons equal single runs, whatever the number of workers."""

from __future__ import annotations

import json
import re
import time
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
import sledsim as ss
from sledsim.cli import main

from tests.waiting import LONG_S

if TYPE_CHECKING:
    from pathlib import Path

DEVICES = ["g1", "g2", "g3"]


def test_each_line_is_the_run_on_that_device_alone() -> None:
    load = ss.workload("random", rate=300, requests=4000, seed=5)
    compared = ss.compare(load, DEVICES)
    assert compared.labels == list(DEVICES)
    lines = zip(compared.to_dict()["runs"], compared.table.to_dicts(), strict=True)
    for name, (line, record) in zip(DEVICES, lines, strict=True):
        alone = ss.simulate(load, name, rows=False)
        assert alone.to_dict().items() <= line.items()
        times, energy_j = alone.summary["response_time_ms"], alone.summary["energy_j"]["total"]
        assert (record["mean_ms"], record["p99_ms"]) == (times["mean"], times["p99"])
        assert record["energy_mj_per_request"] == pytest.approx(energy_j / 4)
    # The same requests: as many reads, as many blocks.
    for key in ("reads", "blocks_read", "blocks_written"):
        assert len({line["summary"][key] for line in compared.to_dict()["runs"]}) == 1


@pytest.mark.parametrize("workers", [1, 4])
def test_the_number_of_workers_changes_nothing(workers: int) -> None:
    load = ss.workload("random", rate=300, seed=2)
    options: dict[str, Any] = {"precision": 0.05, "replications": 2}
    few = ss.compare(load, DEVICES, workers=workers, **options)
    assert few.to_dict() == ss.compare(load, DEVICES, workers=2, **options).to_dict()


def test_speed_ups_are_ratios_of_means_with_intervals_that_hold() -> None:
    """Over seeds, the interval must hold the ratio of two long runs as often as it says."""
    pair = ["g1", "g2"]
    long = ss.compare(ss.workload("random", requests=400_000, seed=99), pair)
    truth = long.table[1]["speed_up"]
    means = [line["mean_ms"] for line in long.table.to_dicts()]
    assert truth == means[0] / means[1]
    assert [long.table[0][f"speed_up{end}"] for end in ("", "_low", "_high")] == [1, 1, 1]
    held = 0
    for seed in range(100):
        record = ss.compare(ss.workload("random", requests=4000, seed=seed), pair).table[1]
        assert record["speed_up_low"] < record["speed_up"] < record["speed_up_high"]
        held += record["speed_up_low"] < truth < record["speed_up_high"]
    assert held >= 90  # 95 of 100 and more; fewer than 90 in one of 30 at 95 %


def test_the_same_lbns_are_those_of_the_smallest_device() -> None:
    pair, blocks = ["g3", "g1"], ss.device("g1").blocks
    load: dict[str, Any] = {"rate": 300, "requests": 3000, "seed": 3}
    compared = ss.compare(ss.workload("random", **load), pair, same_lbns=True)
    limited = ss.workload("random", **load, last_lbn=blocks - 1)
    for device, line in zip(pair, compared.to_dict()["runs"], strict=True):
        assert line["summary"] == ss.simulate(limited, device, rows=False).summary
    own = ss.compare(ss.workload("random", **load), pair)
    assert own.table[0]["mean_ms"] > compared.table[0]["mean_ms"]  # the whole sled is farther
    assert own.to_dict()["lbns"] != compared.to_dict()["lbns"]
    assert str(blocks - 1) in compared.to_dict()["lbns"]


@pytest.mark.parametrize(
    "layout", ["simple", {"name": "subregioned", "regions": 3}, {"name": "organ_pipe"}]
)
def test_every_device_is_laid_out(layout: str | dict[str, Any]) -> None:
    pair = ["g2", "g3"]
    load = ss.workload("random", queue_depth=8, requests=2000, mean_size_kib=32)
    compared = ss.compare(load, pair, ["fcfs", "sptf"], layout=layout)
    name = layout if isinstance(layout, str) else layout["name"]
    cases = product(pair, ("fcfs", "sptf"))
    for line, (device, scheduler) in zip(compared.to_dict()["runs"], cases, strict=True):
        alone = ss.simulate(load, device, scheduler, layout=layout, rows=False).to_dict()
        assert alone["layout"]["name"] == name
        own = {key: line[key] for key in ("label", "speed_up", "no_speed_up")}
        assert line == alone | own | dict.fromkeys(("trace_ratio", "no_trace_ratio", "pairs"))
        assert own["no_speed_up"] is None
        plain = ss.simulate(load, device, scheduler, rows=False)
        assert (line["summary"] == plain.summary) == (name == "simple")


def test_a_saturated_device_has_no_speed_up() -> None:
    load = ss.workload("random", rate=1500, requests=20_000, max_queue=500)
    table = ss.compare(load, ["g3", "g1"]).table
    assert [line["saturated"] for line in table.to_dicts()] == [False, True]
    assert table[1]["speed_up"] is None


def test_an_interrupt_stops_all_runs() -> None:
    def stop(done: int, _of: int | None) -> None:
        if done > 1000:
            raise KeyboardInterrupt

    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        ss.compare(ss.workload(requests=10**9), DEVICES, workers=2, progress=stop)
    assert time.monotonic() - start < LONG_S


def test_progress_is_told_while_runs_go_on() -> None:
    told: list[tuple[int, int | None]] = []
    load = ss.workload("random", rate=300, requests=4_000_000)
    ss.compare(load, ["g1", "g2"], progress=lambda done, of: told.append((done, of)))
    assert told[0] == (0, None)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert told[-1][0] > 0
    assert told[-1][1] == 8_000_000


def test_the_command_says_what_the_function_says(capsys: pytest.CaptureFixture[str]) -> None:
    load, columnar = ss.workload("random", rate=300), {"name": "columnar", "columns": 5}
    laid = ["--layout", "columnar", "--set", "layout.columns=5"]
    words = ["compare", "--set", "rate=300", "--precision", "3%", "--json", "--devices"]
    for more, names, layout in (
        (["g1, flash"], ["g1", "flash"], "simple"),
        (["g2,g3", *laid], ["g2", "g3"], columnar),
    ):
        assert main([*words, *more]) == 0
        said = json.loads(capsys.readouterr().out)
        assert said == ss.compare(load, names, layout=layout, precision=0.03).to_dict()
        assert all(line["summary"]["precision"]["met"] for line in said["runs"])


def test_the_text_and_the_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "compare.png"
    words = ["compare", "--devices", "g2,g3", "--set", "rate=1200", "--plot", str(picture)]
    assert main([*words, "--set", "max_queue=20", "--set", "requests=3000"]) == 0
    said = capsys.readouterr().out
    assert picture.read_bytes().startswith(b"\x89PNG")
    for word in ("g2", "g3", "speed-up", "saturated", "transfer", "each device's own", "written:"):
        assert word in said, word


def test_the_tables_of_five_devices_fit_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    names = ["disk", "mems", "mcd", "mwb", "atlas10k-50mbps"]
    words = ["--devices", ",".join(names), "--schedulers", "fcfs,c_look"]
    assert main(["compare", *words, "--set", "rate=50", "--set", "requests=3000"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if len(line) > 80] == []
    for name, scheduler in product(names, ("fcfs", "c_look")):
        rows = [line for line in lines if line.startswith(f"{name}, {scheduler} ")]
        assert len(rows) >= 3, "times, rates and causes"
    for head in ("p50", "p99.9", "max", "busy", "speed-up", "queue", "transfer"):
        assert any(head in line.split() for line in lines), head


def test_means_have_the_digits_of_their_intervals(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["compare", "--devices", "atlas10k,g2", "--set", "rate=50", "--set", "requests=1000"]
    assert main([*words, "--json"]) == 0
    interval = json.loads(capsys.readouterr().out)["runs"][0]["summary"]["confidence"]
    told = interval["response_time_ms"]
    assert 1 <= told["mean"] * told["half_width_share"] < 10
    assert main(words) == 0
    shown = rf"^atlas10k +!? +{told['mean']:.1f} "
    assert re.search(shown, capsys.readouterr().out, re.MULTILINE)
