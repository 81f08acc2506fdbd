"""The batch window for clients that cannot mark batches: served as simulated."""

from __future__ import annotations

import json
import runpy
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow.parquet as pq
import pytest
import sledsim as ss
from sledsim.cli import main

from tests.example_runs import EXAMPLES
from tests.mounted import needs_root
from tests.served import BLOCK, READ, Client, Command, Serve, rows, same

if TYPE_CHECKING:
    from pathlib import Path

    Keys = dict[str, Any]

TIMES = ("start_ns", "completion_ns", "queue_ns", "seek_ns", "transfer_ns", "other_ns", "passes")
SLED = ss.device("cmu2003")


def read_groups(client: Client, groups: int) -> None:
    """Keep ten reads of one class under way, group by group."""
    for n in range(groups):
        for lbn in SLED.equivalent(n * 7919 % 6000 * 1000)[:10]:
            client.send(READ, lbn * BLOCK, BLOCK)
        client.take(10 * (16 + BLOCK))


def replay(recording: Path, batching: Keys, layout: str | None) -> pl.DataFrame:
    """Simulate the recorded arrivals, in the times of the recording."""
    load = ss.read_trace(recording, time_origin="file")
    return rows(ss.simulate(load, ss.device("cmu2003", batching=batching), layout=layout))


def spec(recording: Path) -> dict[str, Any]:
    """Return the keys of the recorded device about batches."""
    metadata = pq.ParquetFile(recording).metadata.metadata
    (text,) = (value for key, value in metadata.items() if key.endswith(b"spec"))
    keys: dict[str, Any] = json.loads(text)["parameters"]
    return {key: keys[key]["value"] for key in keys if key.startswith("batching.")}


@pytest.mark.parametrize("layout", [None, "columnar"])
@pytest.mark.parametrize("batching", [None, {"kind": "none"}, {"kind": "window", "window_ms": 9.0}])
@pytest.mark.parametrize("window_ms", [0.0, 0.3, 2.0])
def test_a_window_is_what_the_key_of_the_device_is(
    serve: Serve, tmp_path: Path, batching: Keys | None, layout: str | None, window_ms: float
) -> None:
    """Independent of the table of the device, of its layout, and of the arrivals of clients."""
    recording = tmp_path / "r.parquet"
    device = SLED if batching is None else ss.device("cmu2003", batching=batching)
    server, client = serve(device, layout=layout, batch_window_ms=window_ms, record=recording)
    read_groups(client, 20)
    server.stop()
    recorded = rows(recording)
    assert len(recorded) == 200
    keys = {"kind": "window", "window_ms": window_ms}
    same(recorded, replay(recording, keys, layout), TIMES)
    assert spec(recording) == {f"batching.{key}": value for key, value in keys.items()}
    # The first of a group waits for the window.
    waits = recorded.group_by(pl.col("id") // 10).agg(pl.col("queue_ns").max())["queue_ns"]
    assert waits.min() >= window_ms * 1e6  # type: ignore[operator]
    if window_ms > 0:
        other = replay(recording, {"kind": "none"}, layout)
        assert other["start_ns"].to_list() != recorded["start_ns"].to_list()


def test_commands_that_are_there_in_time_are_served_together(serve: Serve, tmp_path: Path) -> None:
    """A second of the device is a hundred here: a window of 10 s lasts as long as any stall."""
    recording = tmp_path / "r.parquet"
    server, client = serve("cmu2003", batch_window_ms=10_000, speed=100.0, record=recording)
    read_groups(client, 3)
    server.stop()
    recorded = rows(recording)
    for at in range(0, 30, 10):
        group = recorded[at : at + 10]
        arrivals = group["arrival_ns"].to_list()
        late = max(arrivals) - min(arrivals) >= 10e9 / 100
        assert group["start_ns"].n_unique() == 1 or late
        assert set(group["passes"]) == {1}


def test_the_command_line(runtime: Path, serve: Serve) -> None:
    recordings = [runtime / f"{n}.parquet" for n in range(3)]
    server = Command(
        "--device=cmu2003",
        "--batch-window-ms=0.25",
        f"--record={recordings[0]}",
        f"--export=b=cmu2003,batch-window-ms=2,record={recordings[1]}",
        f"--export=c=cmu2003,record={recordings[2]}",
        f"--nbd=unix:{serve.nbd}",
    )
    server.end()
    found = [spec(recording) for recording in recordings]
    assert [keys.get("batching.window_ms") for keys in found] == [0.25, 2.0, None]


@needs_root
def test_a_mounted_sled_has_the_window(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recording = tmp_path / "r.parquet"
    words = ["--device=cmu2003", "--batch-window-ms=0.25", f"--record={recording}"]
    assert main(["mount", "--json", "--fs=none", *words]) == 0
    loop = json.loads(capsys.readouterr().out)["loop"]
    assert main(["umount", loop]) == 0
    assert spec(recording) == {"batching.kind": "window", "batching.window_ms": 0.25}


@needs_root
def test_a_mount_refuses_it_as_a_server_does(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--device=atlas10k", "--batch-window-ms=1", "--fs=none"]
    assert main(["mount", *words]) == 2
    assert "only a single sled" in capsys.readouterr().err


def test_the_example(capsys: pytest.CaptureFixture[str]) -> None:
    """Its bytes are checked as it reads them; times are the machine's."""
    example = runpy.run_path(str(EXAMPLES / "window.py"))
    example["main"](["--groups=20"])
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split()[0] == "way"
    assert [line.split()[0] for line in lines] == ["plain", *["window"] * 6, "explicit"]
    # A batch is one on any machine.
    assert lines[-1].split()[-2:] == ["100.0%", "1.00"]
    with pytest.raises(SystemExit):
        example["main"](["--groups=0"])
    assert "--groups 0: must be at least 1" in capsys.readouterr().err
