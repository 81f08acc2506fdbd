"""What the values of devices rest on: the marks of their files, and where they are shown."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import sledsim as ss
from sledsim.cli import main
from sledsim.hardware.evidence import Evidence
from sledsim.layout_maps import with_layout

from tests.physics.made import sheet_disk

if TYPE_CHECKING:
    from collections.abc import Iterator

PRESETS = Path(__file__).parents[2] / "crates" / "sledsim-core" / "data" / "devices"
EXAMPLES = Path(__file__).parents[2] / "examples" / "hplajw"
MARKS = {
    "[M]": "measured",
    "[P]": "published",
    "[S]": "published",
    "[D]": "derived",
    "[A]": "assumed",
    "[F]": "fitted",
    "sle": "assumed",  # "sledsim default"
}
LABEL = re.compile(r"(^|\.)(title|base)$|^kind$")
OWN = """\
base = "g2"
title = "Mine"
settling_constants = 0.5 # [M] interferometer, 40 moves
spring_factor = 0.375    # [F] to the mean of 900 seeks
servo_bits = 8           # [X] a mark that is none
tip_rate_kbit_s = 600    # [m] nor is this
resonance_hz = 800       # half as much again
startup_ms = 1           # sledsim default: as good as any
power_idle_mw = 90       #[P]a paper; [M] and a meter
power_tip_mw = 2
power_active_mw = 80     # measured [M]
bus_ms_per_block = 0.01  # [D]
"""


def kinds(device: ss.Device) -> dict[str, tuple[str, str]]:
    return {key: (one.kind, one.said) for key, one in device.evidence.items()}


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    file = tmp_path / "mine.toml"
    file.write_text(OWN)
    return file


@pytest.mark.parametrize("name", [*ss.devices(), "hp335h.toml", "hp335h_fitted.toml"])
def test_presets_say_what_every_value_rests_on(name: str) -> None:
    device = ss.device(EXAMPLES / name if "." in name else name)
    found = device.evidence
    assert {one.kind for one in found.values()} <= set(MARKS.values())
    assert not {key for key in found if LABEL.search(key)}
    plain = {key for key in device.parameters if not key.endswith(("title", "kind", "base"))}
    assert plain <= found.keys()
    if "hp335h" in name:
        fitted = Counter(one.kind for one in found.values())["fitted"]
        assert fitted == (5 if "fitted" in name else 0)


def stated(file: Path) -> Iterator[tuple[str, str]]:
    """Yield keys of plain values of a file, and the first three letters of the comment."""
    table = ""
    for line in file.read_text().splitlines():
        if heading := re.fullmatch(r"\[([\w.]+)\]", line):
            table = f"{heading[1]}."
        if plain := re.fullmatch(r"(\w+) += (?!\[)[^#]+# (...).*", line):
            yield table + plain[1], plain[2]


@pytest.mark.parametrize("name", ss.devices())
def test_kinds_are_those_of_the_marks_in_the_file(name: str) -> None:
    found = ss.device(name).evidence
    marks = dict(stated(PRESETS / f"{name}.toml"))
    assert len(marks) >= 1
    assert {key: found[key].kind for key in marks} == {k: MARKS[m] for k, m in marks.items()}


def test_a_file_of_a_user(mine: Path) -> None:
    device = ss.device(mine)
    found = kinds(device)
    own = {
        "settling_constants": ("measured", "interferometer, 40 moves"),
        "spring_factor": ("fitted", "to the mean of 900 seeks"),
        "servo_bits": ("unknown", "[X] a mark that is none"),
        "tip_rate_kbit_s": ("unknown", "[m] nor is this"),
        "resonance_hz": ("unknown", "half as much again"),
        "startup_ms": ("assumed", "sledsim default: as good as any"),
        "power_idle_mw": ("published", "a paper; [M] and a meter"),
        "power_tip_mw": ("unknown", ""),
        "power_active_mw": ("unknown", "measured [M]"),
        "bus_ms_per_block": ("derived", ""),
    }
    assert found == kinds(ss.device("g2")) | own, "the rest is the base's"
    plain = {key: value for key, value in device.parameters.items() if not LABEL.search(key)}
    assert {key: one.value for key, one in device.evidence.items()} == plain
    assert kinds(ss.Device.from_toml(device.to_toml(), device.name)) == found


def test_values_that_were_given(mine: Path) -> None:
    given = kinds(ss.device(mine, spring_factor=0.1))["spring_factor"]
    assert given == ("given", "argument spring_factor")
    found = kinds(ss.device("g2(spring_factor=0)", buffer={"size_kib": 64, "segments": 2}))
    assert {key: one for key, one in found.items() if one[0] == "given"} == {
        "spring_factor": ("given", "g2(spring_factor=0)"),
        "buffer.size_kib": ("given", "argument buffer.size_kib"),
        "buffer.segments": ("given", "argument buffer.segments"),
    }
    windows = ss.device("g2", batching={"kind": "window", "window_ms": 1}).evidence
    expected = Evidence("window", "given", "argument batching.kind")
    assert windows["batching.kind"] == expected, "a value, not the kind of a device"


def test_composites_have_the_values_of_their_parts(mine: Path, tmp_path: Path) -> None:
    found = ss.device("mcd").evidence
    for part, preset in (("front.", "msst2005"), ("back.", "atlas10k-50mbps")):
        inner = {key.removeprefix(part): one for key, one in found.items() if part in key}
        assert inner == ss.device(preset).evidence
    assert found["segment_kib"].kind == "published"
    hybrid = tmp_path / "hybrid.toml"
    hybrid.write_text(
        'kind = "mcd"\nsegment_kib = 64 # [A] a guess\n[front]\nbase = "mine.toml"\n'
        'servo_bits = 10 # [M] counted\n[back]\nbase = "atlas10k"\nrpm = 10000\n'
    )
    made = ss.device(hybrid, front={"startup_ms": 2})
    text = made.to_toml()
    mine.unlink()
    hybrid.unlink()
    for device in (made, ss.Device.from_toml(text)):
        found = device.evidence
        expected = {
            "segment_kib": Evidence(64, "assumed", "a guess"),
            "front.servo_bits": Evidence(10, "measured", "counted"),
            "front.spring_factor": Evidence(0.375, "fitted", "to the mean of 900 seeks"),
            "back.surfaces": Evidence(6, "published", "DiskSim 4.0 Atlas 10K"),
            "back.rpm": Evidence(10000, "unknown", ""),
        }
        assert {key: found[key] for key in expected} == expected
        assert found["front.startup_ms"].value == 2
        assert not [key for key in found if re.search(r"(title|kind|base)$", key)]
    assert made.evidence["front.startup_ms"].kind == "given"


def test_parts_of_parts_and_lists_of_them(tmp_path: Path) -> None:
    file = tmp_path / "array.toml"
    file.write_text('kind = "raid1"\n[[child]]\nbase = "g2"\n[[child]]\nbase = "g2"\ntips = 6400\n')
    found, g2 = ss.device(file).evidence, ss.device("g2").evidence
    assert len(found) == 2 * len(g2)
    assert found["child[0].tips"] == g2["tips"]
    assert found["child[1].tips"] == Evidence(6400, "unknown", "")
    keys = 'kind = "stripe"\nchildren = 2\nunit_blocks = 8\n'
    file.write_text(f'{keys}[child]\nbase = "mcd(segment_kib=8)"\n')
    found = ss.device(file).evidence
    assert found["child.back.rpm"].said == "DiskSim 4.0 Atlas 10K"
    assert found["child.segment_kib"].kind == "given"


ZONE = {"first_cylinder": 0, "last_cylinder": 10_041, "blocks_per_track": 400}
ZONES = [ZONE | {"track_skew_sectors": 60, "cylinder_skew_sectors": 100}]


def test_a_list_of_a_part_takes_the_place_of_that_of_its_base() -> None:
    changed: dict[str, Any] = {"zone": ZONES, "blocks": 24_100_800, "unused_end_blocks": 0}
    alone = ss.device("atlas10k", sparing="none", **changed)
    found = ss.device("mcd", back={"base": "atlas10k", "sparing": "none", **changed}).evidence
    back = {key.removeprefix("back."): one.value for key, one in found.items() if "back." in key}
    assert back == {key: one.value for key, one in alone.evidence.items()}
    assert sum(key.startswith("back.zone[") for key in found) == len(ZONES[0])


def test_a_layout_does_not_matter_even_without_its_trace(mine: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace.txt"
    trace.write_text("0 0 0 8 0\n1 0 64 8 1\n")
    plain = ss.device("mcd", front={"base": str(mine)})
    keys = {"file": str(trace), "trace_format": "disksim_ascii"}
    laid = with_layout(plain, {"name": "organ_pipe", "trace": keys})
    trace.unlink()
    assert laid.evidence == plain.evidence
    assert plain.evidence["front.spring_factor"].kind == "fitted"


def test_devices_of_data_sheets() -> None:
    found = sheet_disk().evidence
    by_kind: dict[str, set[str]] = {}
    for key, one in found.items():
        by_kind.setdefault(one.kind, set()).add(re.sub(r"\[\d+\]", "", key))
    seeks = {"seek_min_ms", "seek_average_ms", "seek_full_ms"}
    assert by_kind["published"] == {"rpm", "blocks", *seeks}
    assert "unknown" not in by_kind
    assert {"surfaces", "cylinders", "zone.blocks_per_track"} <= by_kind["derived"]
    assert {"write_settle_ms", "mapping", "buffer.read_ahead"} <= by_kind["assumed"]
    sled = ss.sled(
        travel_um=100, tips=6400, bit_nm=30, acceleration_m_s2=900, resonance_hz=1000, servo_bits=8
    )
    of_sled = sled.evidence
    given = {"tips", "bit_cell_nm", "travel_x_um", "travel_y_um", "acceleration_x_m_s2"}
    given |= {"acceleration_y_m_s2", "resonance_hz", "servo_bits"}
    assert {key for key, one in of_sled.items() if one.kind == "published"} == given
    assert of_sled["spring_factor"].kind == "assumed", "as g2, in place of its own mark"
    assert {one.kind for one in of_sled.values()} == {"published", "derived", "assumed"}


def test_the_command_has_a_column_and_counts(
    mine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["devices", "show", str(mine), "--set", "power_idle_mw=1"]) == 0
    text = capsys.readouterr().out
    for line in (
        r"^parameter +value  rests on   source \(from\)$",
        r"^settling_constants +0\.5  measured +interferometer",
        r"^servo_bits +8  not said +\[X\] a mark",
        r"^power_idle_mw +1  given +\(--set device",
        r"^35 values: 1 measured, 22 published, 1 derived, 4 assumed, 1 fitted, 1 given by$",
        r"^you, 5 not said$",
    ):
        assert re.search(line, text, re.MULTILINE), line
    assert main(["devices", "show", "mcd", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    found = ss.device("mcd").evidence
    assert document["evidence"] == {key: asdict(one) for key, one in found.items()}
    assert document["evidence_counts"] == Counter(one.kind for one in found.values())
    assert main(["devices", "show", "mcd"]) == 0
    counted = "237 values, those of its parts among them: 65 published, 164 derived, 8 assumed"
    assert counted in capsys.readouterr().out
    assert counted in ss.device("mcd")._repr_html_()
