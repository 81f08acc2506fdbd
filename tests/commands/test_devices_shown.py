"""``devices list`` and ``devices show``: width, changes, search by description."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import sledsim as ss

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def changed(text: Callable[..., str]) -> Callable[..., list[list[str]]]:
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
def test_lines_fit_80_columns(words: list[str], text: Callable[..., str]) -> None:
    assert [line for line in text("devices", *words).splitlines() if len(line) > 80] == []


def test_nothing_of_a_device_is_lost_by_wrapping(text: Callable[..., str]) -> None:
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
    changed: Callable[..., list[list[str]]],
    text: Callable[..., str],
    document: Callable[..., Any],
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
    changed: Callable[..., list[list[str]]], document: Callable[..., Any]
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
def test_devices_are_found_by_a_word_of_their_description(
    word: str, document: Callable[..., Any]
) -> None:
    assert [line["name"] for line in document("devices", "list", word)["devices"]] == ["mwb", "mcd"]
