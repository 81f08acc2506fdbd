"""``devices list`` and ``devices show``: width, changes, search by description."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import sledsim as ss
from sledsim.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def shown(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    def run(*words: object) -> str:
        assert main(["devices", *map(str, words)]) == 0
        out = capsys.readouterr()
        assert out.err == ""
        return out.out

    return run


@pytest.fixture
def document(shown: Callable[..., str]) -> Callable[..., Any]:
    return lambda *words: json.loads(shown(*words, "--json"))


def changed(text: str) -> list[list[str]]:
    """Return the cells of the table of changes."""
    part = next(part for part in text.split("\n\n") if part.startswith("changed "))
    return [line.split() for line in part.splitlines()]


@pytest.mark.parametrize("words", [["list"], *(["show", name] for name in ss.devices())])
def test_lines_fit_80_columns(words: list[str], shown: Callable[..., str]) -> None:
    assert [line for line in shown(*words).splitlines() if len(line) > 80] == []


def test_nothing_of_a_device_is_lost_by_wrapping(shown: Callable[..., str]) -> None:
    text = " ".join(shown("show", "disk_ram", "--all").split())
    device = ss.device("disk_ram")
    spec = device.spec
    assert " ".join(spec["about"].split()) in text
    for key, entry in spec["parameters"].items():
        value = entry["value"] if isinstance(entry["value"], str) else json.dumps(entry["value"])
        source = f" {entry['source']}" if entry["source"] else ""
        if key in device.evidence:
            one = device.evidence[key]
            source = f" {one.kind} {one.said}"
        assert f"{key} {value}{source} ({entry['origin']})" in text


def test_set_keys_are_compared_with_the_device_as_it_comes(
    shown: Callable[..., str], document: Callable[..., Any]
) -> None:
    words = ["show", "g3", "--set", "active_tips=640", "--set", "inactive_after_ms=50"]
    assert changed(shown(*words)) == [
        ["changed", "g3", "here"],
        ["active_tips", "3200", "640"],
        ["inactive_after_ms", "100", "50"],
    ]
    spec = document(*words)
    assert (spec["base"], spec["changes"]) == (
        "g3",
        [
            {"parameter": "active_tips", "base_value": 3200, "value": 640},
            {"parameter": "inactive_after_ms", "base_value": 100, "value": 50},
        ],
    )
    same = shown("show", "g2", "--set", "active_tips=1280")
    assert "No parameter differs from g2." in same


def test_a_preset_is_compared_with_its_base(
    shown: Callable[..., str], document: Callable[..., Any]
) -> None:
    assert changed(shown("show", "cmu2003")) == [
        ["changed", "g2", "here"],
        ["active_tips", "1280", "640"],
    ]
    assert changed(shown("show", "msst2005"))[1:] == [["command_overhead_ms", "0.2", "0"]]
    assert changed(shown("show", "disk_ram"))[1:] == [["controller_cache.cache_mib", "4", "256"]]
    assert "base" not in document("show", "g2")
    assert ss.device("g2").spec.items() <= document("show", "g2").items()


def test_the_base_of_a_file_is_relative_to_the_file(
    tmp_path: Path, shown: Callable[..., str]
) -> None:
    folder = tmp_path / "devices"
    folder.mkdir()
    (folder / "first.toml").write_text('base = "g2"\ntitle = "first"\nactive_tips = 640\n')
    second = folder / "second.toml"
    second.write_text('base = "first.toml"\ntitle = "second"\nactive_tips = 320\n')
    assert changed(shown("show", second)) == [
        ["changed", "first", "here"],
        ["active_tips", "640", "320"],
    ]


@pytest.mark.parametrize("word", ["hybrid", "Hybrid"])
def test_devices_are_found_by_a_word_of_their_description(
    word: str, document: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert [line["name"] for line in document("list", word)["devices"]] == ["mwb", "mcd"]
    assert main(["run", "--device", word]) == 2
    assert capsys.readouterr().err == (
        f"sledsim: error: unknown device '{word}': presets with this word in their "
        "description are mwb (MEMS write buffer of MSST 2005), "
        "mcd (MEMS caching disk of MSST 2005)\n"
    )


def test_a_word_that_describes_no_device(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["devices", "list", "zzzz"]) == 2
    assert "no device is described by 'zzzz'" in capsys.readouterr().err
