"""Devices with keys behind their names, ``devices list`` and ``devices show``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import sledsim as ss
from sledsim.cli.parser import split_names
from sledsim.hardware import labels

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.commands.conftest import Document, Text

LABEL = "g2(spring_factor=0)"
FEW: dict[str, Any] = {"requests": 300}
"""A load too short for intervals, whose times are compared alone."""


FRONT = {"base": "g2", "spring_factor": 0}
TWO = {"spring_factor": 0, "active_tips": 640}


@pytest.mark.parametrize(
    ("label", "base", "keys"),
    [
        (LABEL, "g2", {"spring_factor": 0}),
        ("g2( spring_factor = 0.5 )", "g2", {"spring_factor": 0.5}),
        ("g2(spring_factor=0; active_tips=640)", "g2", TWO),
        ("g2(spring_factor=0, active_tips=640)", "g2", TWO),
        ("g2(kinematics=disksim)", "g2", {"kinematics": "disksim"}),
        ("mcd(front.spring_factor=0)", "mcd", {"front.spring_factor": 0}),
        ('mcd(front={base="g2", spring_factor=0})', "mcd", {"front": FRONT}),
    ],
)
def test_keys_are_those_of_the_device(label: str, base: str, keys: dict[str, Any]) -> None:
    made, same = ss.device(label), ss.device(base, **keys)
    assert made.name == label
    values = {key: one["value"] for key, one in made.spec["parameters"].items()}
    assert values == {key: one["value"] for key, one in same.spec["parameters"].items()}
    load = ss.workload("random", **FEW)
    served, expected = (ss.simulate(load, each, rows=False) for each in (made, same))
    assert served.summary["response_time_ms"] == expected.summary["response_time_ms"]


def test_the_name_is_part_of_the_value() -> None:
    assert ss.device(LABEL) == ss.device(LABEL)
    assert ss.device(LABEL) != ss.device("g2", spring_factor=0.0)
    assert ss.device(LABEL, active_tips=640).spec["parameters"]["active_tips"]["value"] == 640
    again = ss.Device.from_toml(ss.device(LABEL).to_toml(), name=LABEL)
    assert again == ss.device(LABEL)


def test_files_and_parts_may_have_keys(tmp_path: Path) -> None:
    (tmp_path / "my (old).toml").write_text('base = "g2(spring_factor=0)"\ntitle = "Mine"\n')
    (tmp_path / "pair.toml").write_text(
        'title = "Two"\nkind = "raid1"\n[[child]]\nbase = "my (old).toml(active_tips=640)"\n'
        '[[child]]\nbase = "g2(active_tips=640)"\n'
    )
    plain = ss.device(tmp_path / "my (old).toml")
    assert plain.name == "my (old)"
    assert plain.spec["parameters"]["spring_factor"]["value"] == 0
    label = ss.device(f"{tmp_path}/my (old).toml(active_tips=640)")
    assert label.name == "my (old)(active_tips=640)"
    assert label.spec["parameters"]["active_tips"]["value"] == 640
    assert label.spec["parameters"]["spring_factor"]["value"] == 0
    assert ss.device(tmp_path / "pair.toml").blocks == label.blocks


def test_lists_of_names_are_split_outside_of_parentheses() -> None:
    text = "g2, g2(spring_factor=0, active_tips=640) ,mcd(front={a=1, b=2}),x(y=',')"
    assert split_names(text, "--devices") == [
        "g2",
        "g2(spring_factor=0, active_tips=640)",
        "mcd(front={a=1, b=2})",
        "x(y=',')",
    ]


def test_the_command_line_labels_by_what_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, document: Document
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.toml").write_text('base = "g2"\ntitle = "Mine"\n')
    names = ["g2", LABEL, "my.toml(spring_factor=0, active_tips=640)"]
    few = ["--workload", "random", "--set", "requests=100", "--set", "rate=100"]
    runs = document("compare", "--devices", ",".join(names), *few)["runs"]
    shown = [*names[:2], "my(spring_factor=0, active_tips=640)"]
    assert [run["device"] for run in runs] == shown
    rows = document("sweep", "--vary", f"device={','.join(names)}", *few)["rows"]
    assert [row["device"] for row in rows] == names


def test_show_lists_what_differs_from_the_device_without_keys(document: Document) -> None:
    shown = document("devices", "show", LABEL)
    assert shown["base"] == "g2"
    assert shown["changes"] == [{"parameter": "spring_factor", "base_value": 0.75, "value": 0}]
    assert document("seek", "--device", LABEL, "--start=0,0,up", "--end=10um,0,up")["seek_s"] > 0


def test_names_of_files_are_safe_and_differ(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.toml").write_text('base = "g2"\n')
    assert labels.file_name("parts/my.toml") == "my"
    assert "/" not in labels.file_name("mcd(front.base=parts/my.toml)")
    for before in ("", "title=x; " * 99):
        one, other = (labels.file_name(f"g2({before}spring_factor=0.{n})") for n in "25")
        assert one != other
        assert len(one) < 100
    assert labels.absolute("my.toml(tips=6400)") == f"{tmp_path}/my.toml(tips=6400)"
    assert labels.absolute(LABEL) == LABEL


# Lists and tables of devices


@pytest.fixture
def changed(text: Text) -> Callable[..., list[list[str]]]:
    """Return the cells of the table of changes of a device."""

    def cells(*words: object) -> list[list[str]]:
        parts = text("devices", "show", *words).split("\n\n")
        return [
            each.split()
            for part in parts
            if part.startswith("changed ")
            for each in part.splitlines()
        ]

    return cells


@pytest.mark.parametrize("words", [["list"], *(["show", name] for name in ss.devices())])
def test_lines_fit_80_columns(words: list[str], text: Text) -> None:
    assert [line for line in text("devices", *words).splitlines() if len(line) > 80] == []


def test_nothing_of_a_device_is_lost_by_wrapping(text: Text) -> None:
    shown = " ".join(text("devices", "show", "disk_ram", "--all").split())
    device = ss.device("disk_ram")
    spec = device.spec
    assert " ".join(spec["about"].split()) in shown
    for key, entry in spec["parameters"].items():
        value = entry["value"] if isinstance(entry["value"], str) else json.dumps(entry["value"])
        source = f" {entry['source']}" if entry["source"] else ""
        if key in device.evidence:
            one = device.evidence[key]
            source = f" {one.kind} {one.said}"
        assert f"{key} {value}{source} ({entry['origin']})" in shown


def test_set_keys_are_compared_with_the_device_as_it_comes(
    changed: Callable[..., list[list[str]]], text: Text, document: Document
) -> None:
    words = ["g3", "--set", "active_tips=640", "--set", "inactive_after_ms=50"]
    assert changed(*words) == [
        ["changed", "g3", "here"],
        ["active_tips", "3200", "640"],
        ["inactive_after_ms", "100", "50"],
    ]
    spec = document("devices", "show", *words)
    assert spec["base"] == "g3"
    assert [list(change.values()) for change in spec["changes"]] == [
        ["active_tips", 3200, 640],
        ["inactive_after_ms", 100, 50],
    ]
    assert spec["changes"][0].keys() == {"parameter", "base_value", "value"}
    same = text("devices", "show", "g2", "--set", "active_tips=1280")
    assert "No parameter differs from g2." in same


def test_a_preset_is_compared_with_its_base(
    changed: Callable[..., list[list[str]]], document: Document
) -> None:
    for name, *cells in (
        ("cmu2003", "active_tips", "1280", "640"),
        ("msst2005", "command_overhead_ms", "0.2", "0"),
        ("disk_ram", "controller_cache.cache_mib", "4", "256"),
    ):
        assert changed(name)[1:] == [cells]
    assert changed("cmu2003")[0] == ["changed", "g2", "here"]
    assert "base" not in document("devices", "show", "g2")
    assert ss.device("g2").spec.items() <= document("devices", "show", "g2").items()


def test_the_base_of_a_file_is_relative_to_the_file(
    tmp_path: Path, changed: Callable[..., list[list[str]]]
) -> None:
    folder = tmp_path / "devices"
    folder.mkdir()
    (folder / "first.toml").write_text('base = "g2"\ntitle = "first"\nactive_tips = 640\n')
    second = folder / "second.toml"
    second.write_text('base = "first.toml"\ntitle = "second"\nactive_tips = 320\n')
    assert changed(second) == [["changed", "first", "here"], ["active_tips", "640", "320"]]


@pytest.mark.parametrize("word", ["hybrid", "Hybrid"])
def test_devices_are_found_by_a_word_of_their_description(word: str, document: Document) -> None:
    assert [line["name"] for line in document("devices", "list", word)["devices"]] == ["mwb", "mcd"]
