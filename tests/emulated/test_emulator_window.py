"""The batch window for clients that cannot mark batches: served as simulated."""

from __future__ import annotations

import json
import runpy
import struct
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest
import sledsim as ss
from sledsim.cli import main

from tests.emulated.test_emulator import BLOCK, Client, begin, end
from tests.emulated.test_emulator_mount import needs_root
from tests.example_runs import EXAMPLES

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the emulator needs Linux")

TIMES = ("start_ns", "completion_ns", "queue_ns", "seek_ns", "transfer_ns", "other_ns", "passes")


def read_groups(path: Path, device: ss.Sled, groups: int) -> None:
    """Keep ten reads of one class under way, group by group."""
    client = Client(path)
    for n in range(groups):
        lbns = device.equivalent(n * 7919 % 6000 * 1000)[:10]
        heads = [struct.pack(">IHHQQI", 0x25609513, 0, 0, 7, lbn * BLOCK, BLOCK) for lbn in lbns]
        client.socket.sendall(b"".join(heads))
        client._take(10 * (16 + BLOCK))
    client.close()


def replay(recording: Path, device: ss.Sled) -> pl.DataFrame:
    """Simulate the recorded arrivals, in the times of the recording."""
    rows = pl.DataFrame(ss.simulate(ss.read_trace(recording), device).rows).sort("id")
    offset = pl.read_parquet(recording)["arrival_ns"].min() - rows["arrival_ns"].min()  # type: ignore[operator]
    return rows.with_columns(pl.col("arrival_ns", "start_ns", "completion_ns") + offset)


def spec(recording: Path) -> dict[str, Any]:
    """Return the keys of the recorded device."""
    metadata = pq.ParquetFile(recording).metadata.metadata
    keys: dict[str, Any] = json.loads(
        next(value for key, value in metadata.items() if key.endswith(b"spec"))
    )["parameters"]
    return {key: keys[key]["value"] for key in keys if key.startswith("batching.")}


@pytest.mark.parametrize("batching", [None, {"kind": "none"}, {"kind": "window", "window_ms": 9.0}])
@pytest.mark.parametrize("window_ms", [0.0, 0.3, 2.0])
def test_a_window_is_what_the_key_of_the_device_is(
    tmp_path: Path, batching: dict[str, Any] | None, window_ms: float
) -> None:
    """Independent of the table of the device, and of the arrivals of clients."""
    path, recording = tmp_path / "s.sock", tmp_path / "r.parquet"
    keys: dict[str, Any] = {} if batching is None else {"batching": batching}
    device = ss.device("cmu2003", **keys)
    export = ss.emulator.Export(device=device, batch_window_ms=window_ms, record=recording)
    with ss.serve(export, nbd=f"unix:{path}"):
        read_groups(path, device, 20)
    recorded = pl.read_parquet(recording).sort("id")
    assert len(recorded) == 200
    keys = {"kind": "window", "window_ms": window_ms}
    simulated = replay(recording, ss.device("cmu2003", batching=keys))
    for column in TIMES:
        assert recorded[column].to_list() == simulated[column].to_list(), column
    assert spec(recording) == {f"batching.{key}": value for key, value in keys.items()}
    # The first of a group waits for the window.
    waits = recorded.group_by(pl.col("id") // 10).agg(pl.col("queue_ns").max())["queue_ns"]
    assert waits.min() >= window_ms * 1e6  # type: ignore[operator]
    if window_ms > 0:
        other = replay(recording, ss.device("cmu2003", batching={"kind": "none"}))
        assert other["start_ns"].to_list() != recorded["start_ns"].to_list()


def test_commands_that_are_there_in_time_are_served_together(tmp_path: Path) -> None:
    """A second of the device is a hundred here: a window of 10 s lasts as long as any stall."""
    path, recording = tmp_path / "s.sock", tmp_path / "r.parquet"
    device = ss.device("cmu2003")
    export = ss.emulator.Export(
        device=device, batch_window_ms=10_000, speed=100.0, record=recording
    )
    with ss.serve(export, nbd=f"unix:{path}"):
        read_groups(path, device, 3)
    rows = pl.read_parquet(recording).sort("id")
    groups = rows.group_by(pl.col("id") // 10, maintain_order=True)
    for group in groups.agg(pl.col("start_ns"), pl.col("arrival_ns"), pl.col("passes")).rows():
        _, starts, arrivals, passes = group
        assert len(set(starts)) == 1 or max(arrivals) - min(arrivals) >= 10e9 / 100
        assert set(passes) == {1}


def test_a_layout_stays(tmp_path: Path) -> None:
    path, recording = tmp_path / "s.sock", tmp_path / "r.parquet"
    export = ss.emulator.Export(
        device="cmu2003", layout="columnar", batch_window_ms=0.5, record=recording
    )
    with ss.serve(export, nbd=f"unix:{path}"):
        read_groups(path, ss.device("cmu2003"), 10)
    keys = {"kind": "window", "window_ms": 0.5}
    load = ss.read_trace(recording)
    run = ss.simulate(load, ss.device("cmu2003", batching=keys), layout="columnar")
    simulated = pl.DataFrame(run.rows).sort("id")
    recorded = pl.read_parquet(recording).sort("id")
    for column in TIMES[2:]:
        assert recorded[column].to_list() == simulated[column].to_list(), column


def test_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    recordings = [tmp_path / f"{n}.parquet" for n in range(3)]
    server = begin(
        "--device=cmu2003",
        "--batch-window-ms=0.25",
        f"--record={recordings[0]}",
        f"--export=b=cmu2003,batch-window-ms=2,record={recordings[1]}",
        f"--export=c=cmu2003,record={recordings[2]}",
        f"--nbd=unix:{tmp_path / 's.sock'}",
    )
    end(server)
    found = [spec(recording) for recording in recordings]
    assert [keys.get("batching.window_ms") for keys in found] == [0.25, 2.0, None]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--device=cmu2003", "--batch-window-ms=-1"], "window_ms = -1"),
        (["--device=cmu2003", "--batch-window-ms=nan"], "window_ms = nan"),
        (["--device=cmu2003", "--batch-window-ms=1e9"], "window_ms = 1000000000"),
        (["--device=atlas10k", "--batch-window-ms=1"], "is of kind 'disk'; only a single sled"),
        (["--device=mcd", "--batch-window-ms=1"], "is of kind 'mcd'; only a single sled"),
        (
            ["--device=g2", "--set=device.buffer={size_kib=64, segments=2}", "--batch-window-ms=1"],
            "batch_window_ms = 1: the device 'g2' has a buffer",
        ),
        (["--device=g2", "--background=scan", "--batch-window-ms=1"], "has background tasks"),
        (["--export=a=atlas10k,batch-window-ms=1"], "only a single sled"),
        (["--export=a=g2,batch-window-ms=soon"], "batch-window-ms = soon: must be a number"),
        (["--export=a=g2,batch-window-ms"], "'batch-window-ms': must be file=PATH"),
    ],
)
def test_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    says: str,
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert main(["serve", *arguments]) == 2
    error = capsys.readouterr().err
    assert says in error
    assert error.count("\n") == 1
    if arguments[0].startswith("--device"):
        assert main(["mount", *arguments, "--fs=none"]) == 2
        assert says in capsys.readouterr().err


@needs_root
def test_a_mounted_sled_has_the_window(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recording = tmp_path / "r.parquet"
    words = ["--device=cmu2003", "--batch-window-ms=0.25", f"--record={recording}"]
    assert main(["mount", "--json", "--fs=none", *words]) == 0
    loop = json.loads(capsys.readouterr().out)["loop"]
    assert main(["umount", loop]) == 0
    assert spec(recording) == {"batching.kind": "window", "batching.window_ms": 0.25}


def test_the_example(capsys: pytest.CaptureFixture[str]) -> None:
    """Its bytes are checked as it reads them; times are the machine's."""
    example = runpy.run_path(str(EXAMPLES / "window.py"))
    example["main"](["--groups=20"])
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split()[0] == "way"
    assert [line.split()[0] for line in lines] == ["plain", *["window"] * 6, "explicit"]
    # A batch is one on any machine.
    assert lines[-1].split()[-2:] == ["100.0%", "1.00"]
    for arguments, says in ((["--groups=0"], "--groups 0: must be at least 1"),):
        with pytest.raises(SystemExit):
            example["main"](arguments)
        assert says in capsys.readouterr().err
