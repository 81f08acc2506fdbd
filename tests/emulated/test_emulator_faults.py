"""Served sleds whose tips fail while clients read and write."""

from __future__ import annotations

import itertools
import json
import random
import struct
import sys
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
import sledsim as ss
from prometheus_client.parser import text_string_to_metric_families
from sledsim.cli import main
from sledsim.emulator.control import Control, ask

from tests.emulated.test_emulator import BLOCK, Client, begin, end

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the emulator needs Linux")

EIO = 5
LBN = 1_000_000
"""Under the tips of square 20."""


def faults_of(server: ss.emulator.Server) -> dict[str, int]:
    """Return what has failed of the only export."""
    (export,) = server.status()["exports"]
    faults: dict[str, int] = export["faults"]
    return faults


def serve(tmp_path: Path, faults: dict[str, object], **more: Any) -> ss.emulator.Server:
    export = ss.emulator.Export(device="g2", faults=faults, **more)
    return ss.serve(export, nbd=f"unix:{tmp_path / 's.sock'}")


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
def test_what_is_read_without_an_error_is_right(tmp_path: Path, faults: dict[str, object]) -> None:
    """Two clients at once, of blocks of their own, while 300 tips fail."""
    draw = random.Random(7)
    rate = {"tip_failures_per_hour": 360_000, "failing_tips": draw.sample(range(6400), 300)}
    written: dict[int, bytes] = {}
    unsure: set[int] = set()
    counts = {"read": 0, "lost": 0}
    with serve(tmp_path, faults | rate) as server:
        clients = [Client(tmp_path / "s.sock") for _ in range(2)]
        # How many tips have failed by which turn is up to the machine: go on until enough
        # was read and lost, and enough have failed.
        for turn in itertools.count():
            enough = turn >= 2500 and counts["read"] > 300 and counts["lost"] > 10
            if enough and faults_of(server)["tips_failed"] > 250:
                break
            assert turn < 100_000
            asked = []
            for number, client in enumerate(clients):
                lbn, count = draw.randrange(400) * 14000 + 8 * number, draw.randint(1, 8)
                data = draw.randbytes(count * BLOCK) if draw.random() < 0.5 else b""
                head = struct.pack(
                    ">IHHQQI", 0x25609513, 0, int(bool(data)), 7, lbn * BLOCK, count * BLOCK
                )
                client.socket.sendall(head + data)
                asked.append((client, lbn, count, data))
            for client, lbn, count, data in asked:
                error = struct.unpack(">IIQ", client._take(16))[1]
                assert error in {0, EIO}
                blocks = range(lbn, lbn + count)
                if data:
                    # Of a write that failed some blocks may have been written.
                    (unsure.difference_update if error == 0 else unsure.update)(blocks)
                    for at, block in enumerate(blocks):
                        written[block] = data[at * BLOCK : (at + 1) * BLOCK]
                elif error == 0:
                    counts["read"] += 1
                    got = client._take(count * BLOCK)
                    for at, block in enumerate(blocks):
                        if block not in unsure:
                            expected = written.get(block, bytes(BLOCK))
                            assert got[at * BLOCK : (at + 1) * BLOCK] == expected
                else:
                    counts["lost"] += 1
        for client in clients:
            client.close()
        seen = faults_of(server)
        (export,) = server.stop()["exports"]
    assert seen["tips_failed"] > 250
    assert counts["read"] > 300
    assert counts["lost"] > 10
    assert seen["blocks_lost"] + seen["blocks_given_up"] > 0
    device = export["summary"]["devices"][0]["counts"]
    assert seen["tips_failed"] == device["tips_failed"]
    assert seen["tips_replaced"] == device["tips_replaced"]
    assert seen["blocks_given_up"] == device["blocks_given_up"]


def read_while_tips_fail(tmp_path: Path, per_hour: float) -> tuple[dict[str, Any], pl.DataFrame]:
    """Read the same two blocks until three tips have failed, and 50 times more."""
    faults: dict[str, Any] = {"ecc_tips": 1, "remap": "elsewhere", "spare_cylinders": 200}
    faults |= {"failing_tips": [70, 200, 20 * 65], "tip_failures_per_hour": per_hour}
    recording = tmp_path / f"{per_hour}.parquet"
    with serve(tmp_path, faults, record=recording) as server:
        client = Client(tmp_path / "s.sock")
        while faults_of(server)["tips_failed"] < 3:
            client.read(LBN * BLOCK, 2 * BLOCK)
        for _ in range(50):
            client.read(LBN * BLOCK, 2 * BLOCK)
        client.close()
    return faults, pl.read_parquet(recording).sort("id")


def test_remapped_blocks_take_the_time_of_the_simulated_device(tmp_path: Path) -> None:
    # A busy machine reads less often between two failures: there they come later.
    for per_hour in (14400, 3600, 900, 225):
        faults, recorded = read_while_tips_fail(tmp_path, per_hour)
        recording = tmp_path / f"{per_hour}.parquet"
        if len(recorded.filter(pl.col("passes") == 1)) > 10:
            break
    else:
        pytest.fail("too few reads before the failures")
    trace = ss.read_trace(recording, time_origin="file")
    run = ss.simulate(trace, ss.device("g2", faults=faults))
    simulated = pl.DataFrame(run.rows).sort("id")
    for column in ("arrival_ns", "start_ns", "completion_ns", "seek_ns", "passes"):
        assert recorded[column].to_list() == simulated[column].to_list()
    assert run.summary["devices"][0]["counts"]["blocks_moved"] > 0
    # One of the two blocks has moved: what was one pass are two, far apart.
    before, after = (recorded.filter(pl.col("passes") == passes)["seek_ns"] for passes in (1, 2))
    assert len(before) > 10
    assert len(after) >= 50
    assert after.median() > 1.5 * before.median()  # type: ignore[operator]


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give control sockets a folder of their own."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return tmp_path


def test_top_and_metrics_tell_what_failed(
    runtime: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    control = runtime / "c.control"
    failing = {"ecc_tips": 1, "spare_tips": 2, "failed_tips": [0, 1, 2, 70]}
    exports = [
        ss.emulator.Export(device="g2", name="sled", faults=failing),
        ss.emulator.Export(device="memory"),
    ]
    with ss.serve(exports, nbd=f"unix:{tmp_path / 's.sock'}") as server:
        told = Control(server, control)
        found = server.status()["exports"]
        text = ask(control, "/metrics").decode()
        assert main(["top", str(control), "--once"]) == 0
        told.close()
    assert "faults" not in found[1]
    faults = found[0]["faults"]
    per_square = ss.device("g2").blocks // 100
    # Two of the first square are replaced, the third is not, nor one of the second.
    assert (faults["tips_failed"], faults["spares_left"]) == (4, 0)
    assert (faults["blocks_at_risk"], faults["blocks_lost"]) == (2 * per_square, 0)
    samples = {
        sample.name: sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.labels.get("export") == "sled"
    }
    assert samples["sledsim_tips_failed"] == 4
    assert samples["sledsim_blocks_at_risk"] == 2 * per_square
    lines = capsys.readouterr().out.splitlines()
    title = next(at for at, line in enumerate(lines) if "tips lost" in line)
    assert lines[title + 1].split() == ["sled", "4", "2", "0", "135,000", "0", "0"]


@pytest.mark.usefixtures("runtime")
@pytest.mark.parametrize("how", ["words", "file", "table", "export"])
def test_ways_to_say_faults(tmp_path: Path, how: str) -> None:
    keys = "ecc_tips = 2\nspare_tips = 9\nout_of_spares = 'capacity'\n"
    file = tmp_path / "faults.toml"
    file.write_text(("[faults]\n" if how == "table" else "") + keys, encoding="utf-8")
    words = "ecc_tips=2,spare_tips=9,out_of_spares=capacity"
    options = {
        "words": ["--device=g2", f"--faults={words}"],
        "file": ["--device=g2", f"--faults={file}"],
        "table": ["--device=g2", f"--faults={file}"],
        "export": [f"--export=a=g2,faults=({words}),read-only"],
    }
    server = begin(*options[how], f"--nbd=unix:{tmp_path / 's.sock'}", "--json")
    (export,) = json.loads(end(server))["exports"]
    assert export["faults"]["spares_left"] == 9


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--device=atlas10k", "--faults=ecc_tips=1"], "unknown key 'device.faults.ecc_tips'"),
        (["--device=mwb", "--faults=ecc_tips=1"], "'mwb' is no single sled or disk: how memories"),
        (["--device=g2", "--faults=x"], "--faults x: 'x': must be KEY=VALUE"),
        (["--device=g2", "--faults=ecc_tip=1"], "did you mean"),
        (["--device=g2", "--faults=ecc_tips=-1"], "faults.ecc_tips = -1: must be"),
        (["--device=g2", "--faults=seed=1,seed=2"], "'seed=2': seed must be given once"),
        (["--device=g2", "--faults=/none.toml"], "--faults /none.toml: No such file"),
        (["--device=g2", "--faults=ecc_tips=200"], "ecc_tips = 200; the words of a served sled"),
        (["--device=g2", "--faults=failing_tips=[1]"], "must come with tip_failures_per_hour"),
        (["--export=a=g2,faults=(ecc_tips)"], "'ecc_tips': must be KEY=VALUE"),
        (["--device=g2", "--faults=seed=2", "--layout=columnar"], "has to have none"),
        (
            [
                "--device=g2",
                "--faults=seed=2",
                "--set=device.buffer={size_kib=1024, segments=4, write_back_segments=2}",
            ],
            "it needs write_back_segments = 0",
        ),
    ],
)
def test_refusals(
    runtime: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    assert main(["serve", *arguments]) == 2
    error = capsys.readouterr().err
    assert says in error
    assert error.count("\n") == 1
    assert list(runtime.glob("sledsim/*")) == []


def test_a_file_with_other_tables_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "f.toml"
    file.write_text("speed = 1\n[faults]\necc_tips = 1\n", encoding="utf-8")
    assert main(["serve", "--device=g2", f"--faults={file}"]) == 2
    assert "must have the keys of [faults] only" in capsys.readouterr().err
    with pytest.raises(ss.SledsimError, match="faults = 5: must be a mapping"):
        ss.serve(ss.emulator.Export(device="g2", faults=5), nbd=f"unix:{tmp_path}/s")  # type: ignore[arg-type]
