"""Device files of MEMS devices: the presets, other values, reports."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import sledsim as ss

from tests import disksim_files as files
from tests.imported_devices import ignored, imported, values

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["imported", "values"]  # fixtures


GENERATIONS: dict[str, dict[str, object]] = {
    "g1": {
        "Command overhead": 0.3,
        "Bit cell length": 50,
        "Simultaneously active tips": 640,
        "Bidirectional access": 0,
        "Sled acceleration X": 688.8,
        "Sled acceleration Y": 688.8,
        "Sled access speed": 400000,
        "Settling time constants": 2.0,
    },
    "g2": {},
    "g3": {
        "Command overhead": 0.1,
        "Bit cell length": 30,
        "Simultaneously active tips": 3200,
        "Sled acceleration X": 1033.2,
        "Sled acceleration Y": 1033.2,
        "Sled access speed": 1000000,
        "Sled resonant frequency": 1108,
    },
}


@pytest.mark.parametrize("name", GENERATIONS)
def test_the_published_mems_devices_are_the_presets(
    name: str, imported: Callable[..., ss.disksim.Imported], tmp_path: Path
) -> None:
    out = tmp_path / "mems.toml"
    text = files.mems(GENERATIONS[name], f"mems.{name}")
    wiring = files.system([("mems0", "memsmodel_mems", f"mems.{name}")])
    imported(text + wiring, output=out)
    device, preset = ss.device(out), ss.device(name, kinematics="disksim")
    own, known = device.parameters, preset.parameters
    assert {key for key in own if own[key] != known.get(key)} == {
        "title",
        "buffer.size_kib",
        "buffer.segments",
        "buffer.read_ahead",
    }
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
        ({"Layout policy": 6}, {"lbn_map": "ascending"}),
        ({"Seek function": 1}, {"kinematics": "analytic"}),
        ({"Sled movement X": 80000}, {"travel_x_um": 80, "spring_reference_um": 50}),
        (
            {"Sled movement X": 80000, "Sled movement Y": 60000},
            {"travel_x_um": 80, "spring_reference_um": 40},
        ),
        ({"Sled movement Y": 60500}, {"travel_y_um": 60.5}),
        ({"Sled active power": 70.0}, {"power_active_mw": 70, "power_idle_mw": 70}),
        ({"Prefetch depth": 16}, {"buffer": {"size_kib": 640, "segments": 10, "read_ahead": 16}}),
    ],
)
def test_values_of_mems_devices(
    changes: dict[str, object], expected: dict[str, object], values: Callable[..., dict[str, Any]]
) -> None:
    document = values(files.mems(changes))
    assert {key: document[key] for key in expected} == expected


def test_a_mems_device_without_segments_has_no_buffer(
    values: Callable[..., dict[str, Any]],
) -> None:
    assert "buffer" not in values(files.mems({"Number of buffer segments": 0}))


@pytest.mark.parametrize(
    "name", [name for name in files.MEMS if name not in {"Number of sleds", "Layout policy"}]
)
def test_no_parameter_of_a_mems_device_is_dropped(
    name: str, imported: Callable[..., ss.disksim.Imported]
) -> None:
    old = files.MEMS[name]
    assert isinstance(old, (int, float))
    halved = old / 2 if isinstance(old, float) else old // 2 if old > 1 else 1 - old
    # Blocks must come to 512 bytes, and tips to whole blocks.
    together = {
        "Tip sectors per lbn": {"Tip sectors per lbn": 128, "Tip sector length": 40},
        "Tip sector length": {"Tip sectors per lbn": 128, "Tip sector length": 40},
        "Number of usable tips": {"Number of usable tips": 12800},
    }
    changes = together.get(name, {name: halved})
    before = imported(files.mems())
    after = imported(files.mems(changes))
    keys = tomllib.loads(before.toml) != tomllib.loads(after.toml)
    told = name in {*ignored(after.report), *after.report["without_effect"]}
    assert keys or told


def test_the_error_of_hongs_formula_is_reported(
    imported: Callable[..., ss.disksim.Imported],
) -> None:
    assert (
        "half as stiff"
        in ignored(imported(files.mems({"Seek function": 1})).report)["Seek function"]
    )
