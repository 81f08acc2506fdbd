"""Power cuts of served devices: from Python, over RPC, by commands; ledgers of recordings."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from tests.waiting import LONG_S, eventually

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the emulator needs Linux")

if sys.platform == "linux":
    import sledsim as ss
    from sledsim.cli import ledger
    from sledsim.emulator import DataRecording, Export
    from sledsim.emulator.control import Control, control_path

if TYPE_CHECKING:
    from collections.abc import Iterator

BLOCK = 512


def sledsim(*words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sledsim", *map(str, words)]
    return subprocess.run(command, check=False, capture_output=True, text=True)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[ss.emulator.Server, ss.emulator.RemoteDevice, Path]]:
    """Serve a sled that can lose its power, with a client of its parallel interface."""
    recording = tmp_path / "recording"
    export = Export(device="cmu2003", name="d", power_cut="manual", record_data=recording)
    server = ss.serve(export, rpc=f"unix:{tmp_path / 'r.sock'}")
    with server, ss.connect(server.uris[0]) as device:
        yield server, device, recording


def write(device: ss.emulator.RemoteDevice, lbn: int, value: int) -> None:
    device.batch([("write", lbn, bytes([value]) * BLOCK)])


def test_power_fails_and_returns(
    served: tuple[ss.emulator.Server, ss.emulator.RemoteDevice, Path],
) -> None:
    server, device, recording = served
    for lbn in range(20):
        write(device, lbn * 100, lbn + 1)
    said = device.power_cut()
    assert said["writes"] == said["acknowledged"] == 20
    assert said["lost"] == said["promised_lost"] == said["torn"] == 0
    with pytest.raises(ss.SledsimError, match="off already"):
        server.power_cut()
    with pytest.raises(ss.RemoteError, match="power is off"):
        write(device, 0, 99)
    with pytest.raises(ss.RemoteError, match="power is off") as off:
        device.flush()
    assert off.value.code == "UNAVAILABLE"
    back = server.power_on()
    assert back["startup_ns"] == 500_000
    with pytest.raises(ss.RemoteError, match="on already"):
        device.power_on()
    (data,) = device.batch([("read", 1900, 1)]).data
    assert data == bytes([20]) * BLOCK
    (export,) = server.status()["exports"]
    assert export["power"]["cuts"] == 1
    assert export["power"]["last_cut"]["at_ns"] == said["at_ns"]
    server.stop()
    loaded = DataRecording.load(recording)
    assert (loaded.device, loaded.promise) == ("cmu2003", "completion")
    assert loaded.rows.column_names[:3] == ["epoch", "id", "op"]
    assert len(loaded.rows) == 21
    cut = loaded.cut(said["at_ns"])
    assert cut.facts["acknowledged"] == 20
    assert cut.facts["digest"] == loaded.cut(said["at_ns"]).facts["digest"]
    tenth_ns = sorted(pa.table(loaded.rows)["completion_ns"].to_pylist())[9]
    assert loaded.cut(tenth_ns + 1).facts["acknowledged"] == 10
    assert loaded.cut(tenth_ns + 1).facts["digest"] != cut.facts["digest"]
    with pytest.raises(ss.SledsimError, match="the device was off"):
        loaded.cut(said["at_ns"] + 1)


def test_power_fails_while_the_device_starts(tmp_path: Path) -> None:
    # It starts for 0.5 ms, here half a second, before it takes requests.
    recording = tmp_path / "recording"
    export = Export(
        device="cmu2003", name="d", speed=0.001, power_cut="manual", record_data=recording
    )
    server = ss.serve(export, rpc=f"unix:{tmp_path / 'r.sock'}")
    with server, ss.connect(server.uris[0]) as device, ThreadPoolExecutor() as pool:
        write(device, 5, 1)
        server.power_cut()
        for value in (2, 3):
            assert server.power_on()["startup_ns"] == 500_000
            waits = pool.submit(write, device, 5, value)
            eventually(lambda: server.status()["exports"][0]["outstanding"] == 1)
            said = server.power_cut()
            assert (said["writes"], said["acknowledged"], said["lost"]) == (1, 0, 0)
            with pytest.raises(ss.RemoteError, match="power"):
                waits.result(LONG_S)
        server.power_on()
        (data,) = device.batch([("read", 5, 1)]).data
        assert data == bytes([1]) * BLOCK
    starts = json.loads((recording / "about.json").read_text(encoding="utf-8"))["epochs"]
    assert [epoch["requests"] for epoch in starts] == [1, 1, 1, 1]
    image = tmp_path / "image"
    DataRecording.load(recording).cut(starts[1]["zero_ns"] + 1000).save(image)
    with image.open("rb") as file:
        file.seek(5 * BLOCK)
        assert file.read(BLOCK) == bytes([1]) * BLOCK


def test_commands_cut_the_power(
    served: tuple[ss.emulator.Server, ss.emulator.RemoteDevice, Path],
) -> None:
    server, device, recording = served
    control = Control(server, control_path())
    try:
        write(device, 7, 1)
        name = server.uris[0]
        assert "has not failed" in sledsim("ledger", name).stderr
        shown = sledsim("power-cut", name)
        assert "acknowledged and lost" in shown.stdout, shown.stderr
        again = sledsim("power-cut", name, "--export", "d")
        assert again.returncode == 2
        assert "off already" in again.stderr
        last = json.loads(sledsim("ledger", name, "--json").stdout)
        assert last["acknowledged"] == 1
        assert "must be one of d" in sledsim("power-on", name, "--export", "e").stderr
        assert "ready after 0.5000 ms" in sledsim("power-on", name).stdout
        missing = sledsim("power-on", "nbd://nowhere")
        assert missing.returncode == 2
        assert name in missing.stderr
    finally:
        control.close()
    server.stop()
    assert "needs --at" in sledsim("ledger", recording).stderr
    assert "must be from 0 to 1e9" in sledsim("ledger", recording, "--at", "-1").stderr
    text = sledsim("ledger", recording, "--at", "0").stdout
    assert "writes since power-on              0" in text
    assert "about.json" in sledsim("ledger", recording.parent, "--at", "0").stderr


def test_an_address_takes_no_commands(
    served: tuple[ss.emulator.Server, ss.emulator.RemoteDevice, Path],
) -> None:
    from http.client import HTTPConnection

    server, _, _ = served
    control = Control(server, ("127.0.0.1", 0))
    try:
        connection = HTTPConnection("127.0.0.1", control.port, timeout=LONG_S)
        connection.request("POST", "/power-cut?export=d")
        assert connection.getresponse().status == 404
        connection.close()
    finally:
        control.close()
    (export,) = server.status()["exports"]
    assert export["power"]["on"]


def test_wrong_words_are_refused(tmp_path: Path) -> None:
    array = tmp_path / "raid5.toml"
    array.write_text(
        'title = "Array"\nkind = "raid5"\nchildren = 3\nunit_blocks = 8\nchild.base = "g2"\n'
    )
    wrong: list[tuple[dict[str, object], str]] = [
        ({"power_cut": "soon"}, "must be manual"),
        ({"power_cut": "at=1,back=-1"}, "from 0 to 1e9"),
        ({"record_data": tmp_path / "no" / "folder"}, "No such file"),
        ({"device": str(array), "power_cut": "manual"}, "write hole"),
    ]
    address = f"unix:{tmp_path / 's.sock'}"
    for said, what in wrong:
        with pytest.raises(ss.SledsimError, match=what):
            ss.serve(Export(**({"device": "g2"} | said)), nbd=address)  # type: ignore[arg-type]
    with (
        ss.serve("g2", nbd=address) as server,
        pytest.raises(ss.SledsimError, match="must be started with"),
    ):
        server.power_cut()


def test_a_ledger_lists_what_is_lost() -> None:
    lost = {
        "id": 3,
        "lbn": 70,
        "blocks": 8,
        "completion_ns": 1_500_000,
        "promised": False,
        "old_blocks": 8,
        "torn_blocks": 0,
    }
    facts = dict.fromkeys(
        ("writes", "acknowledged", "acknowledged_unflushed", "promised_lost", "promised_torn"), 0
    )
    facts |= {"at_ns": 10**6, "torn": 0, "unreadable": 0, "startup_ns": 0, "recovery_ns": 0}
    text = "\n".join(ledger.lines(facts | {"lost": 12, "lost_writes": [lost] * 12}))
    assert text.count("request 3") == 10
    assert "and 2 more" in text
