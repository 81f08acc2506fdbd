"""Power cuts of served devices: from Python, over RPC, by commands; ledgers of recordings."""

from __future__ import annotations

import contextlib
import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
import sledsim as ss
from sledsim.cli import ledger, main
from sledsim.emulator import DataRecording
from sledsim.emulator.control import Control, control_path

from tests.served import BLOCK, Serve
from tests.waiting import LONG_S, eventually

if TYPE_CHECKING:
    from pathlib import Path

    Served = tuple[ss.emulator.Server, ss.emulator.RemoteDevice, Path]


@pytest.fixture
def served(serve: Serve, tmp_path: Path) -> Served:
    """Serve a sled that can lose its power, with a client of its parallel interface."""
    recording = tmp_path / "recording"
    server, device = serve.remote(name="d", power_cut="manual", record_data=recording)
    return server, device, recording


def write(device: ss.emulator.RemoteDevice, lbn: int, value: int) -> None:
    device.batch([("write", lbn, bytes([value]) * BLOCK)])


def test_power_fails_and_returns(served: Served) -> None:
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


def test_power_fails_while_the_device_starts(serve: Serve, tmp_path: Path) -> None:
    # It starts for 0.5 ms, here half a second, before it takes requests.
    recording = tmp_path / "recording"
    keys = {"name": "d", "speed": 0.001, "power_cut": "manual"}
    server, device = serve.remote(**keys, record_data=recording)
    with ThreadPoolExecutor() as pool:
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
        assert device.batch([("read", 5, 1)]).data == [bytes([1]) * BLOCK]
    server.stop()
    starts = json.loads((recording / "about.json").read_text(encoding="utf-8"))["epochs"]
    assert [epoch["requests"] for epoch in starts] == [1, 1, 1, 1]
    image = tmp_path / "image"
    DataRecording.load(recording).cut(starts[1]["zero_ns"] + 1000).save(image)
    with image.open("rb") as file:
        file.seek(5 * BLOCK)
        assert file.read(BLOCK) == bytes([1]) * BLOCK


def test_commands_cut_the_power(served: Served, capsys: pytest.CaptureFixture[str]) -> None:
    server, device, recording = served
    name = server.uris[0]

    def said(*words: object, code: int = 0) -> str:
        assert main([*map(str, words)]) == code
        out, errors = capsys.readouterr()
        return errors if code else out

    with contextlib.closing(Control(server, control_path())):
        write(device, 7, 1)
        assert "has not failed" in said("ledger", name, code=2)
        assert "acknowledged and lost" in said("power-cut", name)
        assert "off already" in said("power-cut", name, "--export", "d", code=2)
        assert json.loads(said("ledger", name, "--json"))["acknowledged"] == 1
        assert "must be one of d" in said("power-on", name, "--export", "e", code=2)
        assert "ready after 0.5000 ms" in said("power-on", name)
        assert name in said("power-on", "nbd://nowhere", code=2)
    server.stop()
    assert "needs --at" in said("ledger", recording, code=2)
    assert "must be from 0 to 1e9" in said("ledger", recording, "--at", "-1", code=2)
    assert "writes since power-on              0" in said("ledger", recording, "--at", "0")
    assert "about.json" in said("ledger", recording.parent, "--at", "0", code=2)


def test_what_a_power_cut_cannot_be(serve: Serve) -> None:
    for power_cut, says in (("soon", "must be manual"), ("at=1,back=-1", "from 0 to 1e9")):
        with pytest.raises(ss.SledsimError, match=says):
            serve(power_cut=power_cut)
    with pytest.raises(ss.SledsimError, match="must be started with"):
        serve()[0].power_cut()


def test_a_ledger_lists_what_is_lost() -> None:
    lost = dict.fromkeys(("id", "lbn", "blocks", "completion_ns", "old_blocks", "torn_blocks"), 3)
    counts = ("writes", "acknowledged", "acknowledged_unflushed", "promised_lost", "promised_torn")
    others = ("at_ns", "torn", "unreadable", "startup_ns", "recovery_ns")
    facts = dict.fromkeys((*counts, *others), 0)
    lost_writes = [lost | {"promised": False}] * 12
    text = "\n".join(ledger.lines(facts | {"lost": 12, "lost_writes": lost_writes}))
    assert text.count("request 3") == 10
    assert "and 2 more" in text
