"""Background tasks from Python and the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import sledsim as ss
from sledsim.cli import main

LOAD: dict[str, Any] = {"rate": 10, "requests": 60_000, "size": "fixed", "blocking": 8}
SMALL: dict[str, Any] = {"travel_x_um": 2.0}  # 50 cylinders: 135,000 blocks


def run(background: Any, device: dict[str, Any] | None = None, **keys: Any) -> ss.Run:
    """Run the load with a task on the device of CMU-CS-03-125."""
    load = ss.workload("random", **(LOAD | keys))
    return ss.simulate(
        load, ss.device("cmu2003", **(device or SMALL)), background=background, rows=True
    )


def task(background: Any, device: dict[str, Any] | None = None, **keys: Any) -> dict[str, Any]:
    """Return what a run says about its one task."""
    (found,) = run(background, device, **keys).summary["background"]
    return {**found}


def test_every_block_is_had_once_and_no_row_moves() -> None:
    alone, busy = run(()), run("scan")
    assert pa.table(alone.rows) == pa.table(busy.rows)
    assert alone.summary["background"] == []
    (task,) = busy.summary["background"]
    assert task["complete"]
    assert task["done_blocks"] == task["blocks"] == 135_000
    assert task["foreground_blocks"] + task["free_blocks"] == 135_000
    times = task["percent"]["time_s"]
    assert len(times) == 101
    assert times == sorted(times)
    assert times[0] == 0 < times[100] < busy.summary["duration_s"]


def test_the_run_may_end_with_the_task() -> None:
    # Whether to go on is asked now and then, not at every request.
    short = run({"task": "scan", "ends_run": True})
    needed = short.summary["background"][0]["percent"]["requests"][100]
    assert needed <= short.summary["requests"] < needed + 1000
    longer = run({"task": "scan", "ends_run": False})
    assert longer.summary["requests"] == LOAD["requests"]
    assert longer.summary["background"][0]["percent"] == short.summary["background"][0]["percent"]


@pytest.mark.parametrize(("task", "passes"), [("scan", 1), ("scrub", 1), ("refresh", 2)])
def test_power_of_the_tips(task: str, passes: int) -> None:
    # 64 tips of 1 mW for a row of 90 bits at 700 kbit/s.
    busy = run(task)
    (found,) = busy.summary["background"]
    joules = found["free_blocks"] * 64e-3 * 90 / 700e3
    assert busy.summary["energy_j"]["background"] == pytest.approx(joules, rel=1e-9)
    if found["complete"]:
        most = passes * (found["blocks"] - found["foreground_blocks"])
        assert found["free_blocks"] <= most + passes * found["foreground_blocks"]


def test_a_device_that_is_never_idle_has_no_time_for_an_impatient_task() -> None:
    load = ss.workload("random", queue_depth=1, requests=500)
    device = ss.device("cmu2003", **SMALL)
    alone = ss.simulate(load, device)
    busy = ss.simulate(load, device, background="scan(tail=1)")
    assert pa.table(alone.rows) == pa.table(busy.rows)
    # The task goes on when the load has come to its end.
    assert busy.summary["background"][0]["complete"]
    assert busy.summary["background"][0]["percent"]["time_s"][100] > alone.summary["duration_s"]


def test_the_pace_of_tasks_follows_their_buffer_the_writes_and_the_tips() -> None:
    refreshes = [task({"task": "refresh", "buffer_mib": mib}) for mib in (1, 4, 64)]
    shares = [found["done_blocks"] / found["blocks"] for found in refreshes]
    assert shares == sorted(shares)
    assert shares[0] < shares[-1]
    still, moving = (task("backup", read_fraction=share) for share in (1.0, 0.2))
    assert still["complete"]
    assert still["again_blocks"] == 0
    assert moving["again_blocks"] > 0
    reach, later = "micropositioning_cylinders", {"micropositioning_later": [[800.0, 0]]}
    free, gone, none = (
        task("scan", SMALL | keys)["percent"]["time_s"][99]
        for keys in ({reach: 5}, {reach: 5, **later}, {reach: 0})
    )
    assert free < gone < none


def test_tasks_share_what_they_read() -> None:
    together = run(["scan", "scrub"]).summary["background"]
    assert together[1]["free_blocks"] < 0.2 * together[0]["free_blocks"]
    assert together[0]["percent"] == run("scan").summary["background"][0]["percent"]


def test_a_scenario_file_and_the_command_line_say_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "scan.toml"
    file.write_text(
        '[device]\nbase = "cmu2003"\ntravel_x_um = 2.0\n'
        '[[background]]\ntask = "scan"\norder = "lbn"\ntail = 0.1\n'
        "[workload]\nrate = 10\nrequests = 3000\n"
    )
    assert main(["run", str(file), "--json"]) == 0
    from_file = json.loads(capsys.readouterr().out)
    given = ("--device", "cmu2003", "--set", "device.travel_x_um=2.0", "--set", "rate=10")
    label = "scan(order=lbn; tail=0.1)"
    assert main(["run", *given, "--set", "requests=3000", "--background", label, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["summary"] == from_file["summary"]
    assert main(["run", str(file), "--set", "background[0].tail=0"]) == 0
    out = capsys.readouterr().out
    assert "background scan" in out
    assert "with free tips" in out
    assert "passes of its own" not in out
