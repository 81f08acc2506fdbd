"""Served sleds whose tips fail while clients read and write."""

from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
import sledsim as ss
from sledsim.cli import main
from sledsim.emulator.control import Control, ask

from tests.served import BLOCK, READ, WRITE, Command, Serve, rows, same, samples

if TYPE_CHECKING:
    from pathlib import Path

EIO = 5
LBN = 1_000_000
"""Under the tips of square 20."""


def faults_of(server: ss.emulator.Server) -> dict[str, int]:
    """Return what has failed of the only export."""
    (export,) = server.status()["exports"]
    faults: dict[str, int] = export["faults"]
    return faults


@pytest.mark.parametrize(
    "faults",
    [
        {"ecc_tips": 2, "spare_tips": 20},
        {"spare_tips": 200},
        {"ecc_tips": 1, "spare_tips": 10, "out_of_spares": "capacity"},
        {"ecc_tips": 1, "remap": "elsewhere", "spare_cylinders": 300},
    ],
    ids=["code", "spares", "capacity", "elsewhere"],
)
def test_what_is_read_without_an_error_is_right(serve: Serve, faults: dict[str, Any]) -> None:
    """Two clients at once, of blocks of their own, while 300 tips fail."""
    draw = random.Random(7)
    rate = {"tip_failures_per_hour": 360_000, "failing_tips": draw.sample(range(6400), 300)}
    written: dict[int, bytes] = {}
    unsure: set[int] = set()
    read = lost = 0
    server, first = serve(faults=faults | rate)
    clients = [first, serve.client()]
    # How many tips have failed by which turn is up to the machine: go on until enough was read
    # and lost, and enough have failed.
    for turn in itertools.count():
        enough = turn >= 1000 and read > 300 and lost > 10
        if enough and faults_of(server)["tips_failed"] > 250:
            break
        assert turn < 100_000
        asked = []
        for number, client in enumerate(clients):
            lbn, count = draw.randrange(400) * 14000 + 8 * number, draw.randint(1, 8)
            data = draw.randbytes(count * BLOCK) if draw.random() < 0.5 else b""
            client.send(WRITE if data else READ, lbn * BLOCK, count * BLOCK, data)
            asked.append((client, range(lbn, lbn + count), data))
        for client, blocks, data in asked:
            error = client.reply()
            assert error in {0, EIO}
            if data:
                # Of a write that failed some blocks may have been written.
                (unsure.difference_update if error == 0 else unsure.update)(blocks)
                for at, block in enumerate(blocks):
                    written[block] = data[at * BLOCK : (at + 1) * BLOCK]
            elif error == 0:
                read += 1
                got = client.take(len(blocks) * BLOCK)
                for at, block in enumerate(blocks):
                    expected = written.get(block, bytes(BLOCK))
                    assert block in unsure or got[at * BLOCK : (at + 1) * BLOCK] == expected
            else:
                lost += 1
    seen = faults_of(server)
    (export,) = server.stop()["exports"]
    assert seen["blocks_lost"] + seen["blocks_given_up"] > 0
    device = export["summary"]["devices"][0]["counts"]
    for name in ("tips_failed", "tips_replaced", "blocks_given_up"):
        assert seen[name] == device[name], name


def test_remapped_blocks_take_the_time_of_the_simulated_device(
    serve: Serve, tmp_path: Path
) -> None:
    """Read the same two blocks until three tips have failed, and 50 times more."""
    faults: dict[str, Any] = {"ecc_tips": 1, "remap": "elsewhere", "spare_cylinders": 200}
    faults |= {"failing_tips": [70, 200, 20 * 65]}
    # A busy machine reads less often between two failures: there they come later.
    recorded, recording = pl.DataFrame(), tmp_path
    for per_hour in (14400, 3600, 900, 225):
        faults["tip_failures_per_hour"] = per_hour
        recording = tmp_path / f"{per_hour}.parquet"
        server, client = serve(faults=faults, record=recording)
        while faults_of(server)["tips_failed"] < 3:
            client.read(LBN * BLOCK, 2 * BLOCK)
        for _ in range(50):
            client.read(LBN * BLOCK, 2 * BLOCK)
        server.stop()
        recorded = rows(recording)
        if len(recorded.filter(pl.col("passes") == 1)) > 10:
            break
    # One of the two blocks moves: what was one pass are two, far apart.
    before, after = (recorded.filter(pl.col("passes") == n)["seek_ns"] for n in (1, 2))
    assert len(before) > 10, "too few reads before the failures"
    assert len(after) >= 50
    assert after.median() > 1.5 * before.median()  # type: ignore[operator]
    trace = ss.read_trace(recording, time_origin="file")
    run = ss.simulate(trace, ss.device("g2", faults=faults))
    same(recorded, rows(run), ("arrival_ns", "start_ns", "completion_ns", "seek_ns", "passes"))
    assert run.summary["devices"][0]["counts"]["blocks_moved"] > 0


def test_top_and_metrics_tell_what_failed(
    runtime: Path, serve: Serve, capsys: pytest.CaptureFixture[str]
) -> None:
    control = runtime / "c.control"
    failing = {"ecc_tips": 1, "spare_tips": 2, "failed_tips": [0, 1, 2, 70]}
    exports = [
        ss.emulator.Export(device="g2", name="sled", faults=failing),
        ss.emulator.Export(device="memory"),
    ]
    server, _ = serve(exports)
    told = Control(server, control)
    text = ask(control, "/metrics")
    assert main(["top", str(control), "--once"]) == 0
    told.close()
    sled, memory = server.status()["exports"]
    assert "faults" not in memory
    per_square = ss.device("g2").blocks // 100
    # Two of the first square are replaced, the third is not, nor one of the second.
    expected = {"tips_failed": 4, "spares_left": 0, "blocks_lost": 0}
    expected["blocks_at_risk"] = 2 * per_square
    assert {name: sled["faults"][name] for name in expected} == expected
    found = {
        sample.name: sample.value
        for sample in samples(text)
        if sample.labels.get("export") == "sled"
    }
    assert found["sledsim_tips_failed"] == 4
    assert found["sledsim_blocks_at_risk"] == 2 * per_square
    lines = capsys.readouterr().out.splitlines()
    title = next(at for at, line in enumerate(lines) if "tips lost" in line)
    assert lines[title + 1].split() == ["sled", "4", "2", "0", "135,000", "0", "0"]


def test_ways_to_say_faults(runtime: Path, serve: Serve) -> None:
    keys = "ecc_tips = 2\nspare_tips = 9\nout_of_spares = 'capacity'\n"
    file, table = runtime / "faults.toml", runtime / "table.toml"
    file.write_text(keys, encoding="utf-8")
    table.write_text(f"[faults]\n{keys}", encoding="utf-8")
    words = "ecc_tips=2,spare_tips=9,out_of_spares=capacity"
    exports = [f"--export=a=g2,faults=({words}),read-only"]
    exports += [f"--export={path.stem}=g2,faults={path}" for path in (file, table)]
    for more in ([f"--faults={words}"], [f"--faults={file}"], [f"--faults={table}"]):
        server = Command("--device=g2", *more, *exports, f"--nbd=unix:{serve.nbd}", "--json")
        exports = []
        assert {each["faults"]["spares_left"] for each in server.document()} == {9}
