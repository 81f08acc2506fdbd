"""Device files of MEMS devices: the presets, other values, reports."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
import sledsim as ss

from tests import disksim_files as files
from tests.imported_devices import ignored, imported, values

GENERATIONS = {
    "g1": """
        Command overhead = 0.3, Bit cell length = 50, Simultaneously active tips = 640,
        Bidirectional access = 0, Sled acceleration X = 688.8, Sled acceleration Y = 688.8,
        Sled access speed = 400000, Settling time constants = 2.0
    """,
    "g2": "Bit cell length = 40",
    "g3": """
        Command overhead = 0.1, Bit cell length = 30, Simultaneously active tips = 3200,
        Sled acceleration X = 1033.2, Sled acceleration Y = 1033.2, Sled access speed = 1000000,
        Sled resonant frequency = 1108
    """,
}


@pytest.mark.parametrize("name", GENERATIONS)
def test_the_published_mems_devices_are_the_presets(name: str, tmp_path: Path) -> None:
    out = tmp_path / "mems.toml"
    text = files.mems(files.told(GENERATIONS[name]), f"mems.{name}")
    wiring = files.system([("mems0", "memsmodel_mems", f"mems.{name}")])
    imported(text + wiring, output=out)
    device, preset = ss.device(out), ss.device(name, kinematics="disksim")
    own, known = device.parameters, preset.parameters
    buffer = {"buffer.size_kib", "buffer.segments", "buffer.read_ahead"}
    assert {key for key in own if own[key] != known.get(key)} == {"title"} | buffer
    assert own["buffer.size_kib"] == 10 * 128 / 2
    assert known.keys() - {"base"} <= own.keys()
    assert device.blocks == preset.blocks
    # On blocks at random the buffer never hits, and nothing else tells them apart.
    load = ss.workload("random", requests=2000, queue_depth=4, seed=5)
    ours, theirs = (ss.simulate(load, device=one).summary for one in (device, preset))
    for key in ("response_time_ms", "service_time_ms", "seek_ms", "simulated_s"):
        assert ours[key] == theirs[key], key


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ("Layout policy = 6", {"lbn_map": "ascending"}),
        ("Seek function = 1", {"kinematics": "analytic"}),
        ("Sled movement X = 80000", {"travel_x_um": 80, "spring_reference_um": 50}),
        ("Sled movement X = 80000, Sled movement Y = 60000", {"spring_reference_um": 40}),
        ("Sled movement Y = 60500", {"travel_y_um": 60.5}),
        ("Sled active power = 70.0", {"power_active_mw": 70, "power_idle_mw": 70}),
        ("Prefetch depth = 16", {"buffer": {"size_kib": 640, "segments": 10, "read_ahead": 16}}),
    ],
)
def test_values_of_mems_devices(changes: str, expected: dict[str, object]) -> None:
    document = values(files.mems(files.told(changes)))
    assert {key: document[key] for key in expected} == expected


@pytest.mark.parametrize("none", ["Number of buffer segments = 0", "Segment size (in blks) = 0"])
def test_a_mems_device_without_segments_has_no_buffer(none: str) -> None:
    """Read-ahead without one is reported."""
    taken = imported(files.mems(files.told(f"{none}, Prefetch depth = 7")))
    assert "buffer" not in tomllib.loads(taken.toml)
    assert "Prefetch depth" in taken.report["without_effect"]
    assert "#   Prefetch depth = 7" in taken.toml.splitlines()


@pytest.mark.parametrize(
    "name", [name for name in files.MEMS if name not in {"Number of sleds", "Layout policy"}]
)
def test_no_parameter_of_a_mems_device_is_dropped(name: str) -> None:
    old = files.MEMS[name]
    assert isinstance(old, (int, float))
    halved = old / 2 if isinstance(old, float) else old // 2 if old > 1 else 1 - old
    # Blocks must come to 512 bytes, and tips to whole blocks.
    together = {"Tip sectors per lbn": 128, "Tip sector length": 40}
    changes = together if name in together else {name: halved}
    if name == "Number of usable tips":
        changes = {name: 12800}
    before = imported(files.mems())
    after = imported(files.mems(changes))
    keys = tomllib.loads(before.toml) != tomllib.loads(after.toml)
    told = name in {*ignored(after.report), *after.report["without_effect"]}
    assert keys or told


def test_the_error_of_hongs_formula_is_reported() -> None:
    taken = imported(files.mems({"Seek function": 1}))
    assert "half as stiff" in ignored(taken.report)["Seek function"]
