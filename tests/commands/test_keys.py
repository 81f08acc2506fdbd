"""The list of keys: the command, and what a device file lacks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import sledsim as ss
from sledsim import _core, _keys
from sledsim.cli import main

if TYPE_CHECKING:
    from pathlib import Path

    from tests.commands.conftest import Document, Text


def test_the_list_has_everything_that_is_registered() -> None:
    families: dict[str, Any] = {
        "workloads": "workloads",
        "devices": "device_kinds",
        "caches": "policies",
    }
    families |= {"schedulers": "schedulers", "layouts": "layouts"}
    names = {(family, name) for family, what in families.items() for name in _core.names(what)}
    listed = {(thing["family"], thing["name"]) for thing in _keys.things()}
    assert {each for each in listed if each[0] in {*families, "traces"}} == names | {
        ("traces", "trace")
    }


@pytest.mark.parametrize("name", ["random", "zipf", "hot_cold", "sequential", "mix", "postmark"])
def test_keys_of_a_workload_are_those_that_a_wrong_one_is_told(name: str) -> None:
    """The error about an unknown key lists what the reader knows."""
    (thing,) = _keys.things(name)
    wrong: dict[str, Any] = {"?": 0}
    if name == "mix":
        wrong["part"] = {"a": {"kind": "random"}}
    with pytest.raises(ss.SledsimError, match="known are") as refused:
        ss.workload(name, **wrong)
    known = str(refused.value).partition("known are ")[2].split(", ")
    assert {*known} <= {key["key"] for key in thing["keys"]} | {"title", "base", "kind", "part"}


def test_values_outside_the_ranges_that_are_told_are_refused() -> None:
    tried = 0
    for thing in _keys.things():
        if thing["family"] != "workloads" or thing["name"] in ("mix", "files", "nurand"):
            continue
        for key in thing["keys"]:
            takes, _, most = key["takes"].rpartition(" and at most ")
            if takes:
                tried += 1
                wrong: dict[str, Any] = {key["key"]: float(most) * 1.01 + 1}
                with pytest.raises(ss.SledsimError):
                    ss.workload(thing["name"], **wrong)
    assert tried > 70


def test_defaults_that_are_told_are_those_in_effect() -> None:
    """Giving a default changes nothing of a run."""
    for name in ("random", "zipf", "hot_cold", "sequential"):
        (thing,) = _keys.things(name)
        plain = ss.simulate(ss.workload(name, requests=50), "g2").to_dict()
        open_too = ss.simulate(ss.workload(name, requests=50, rate=100), "g2").to_dict()
        tried = 0
        for key in thing["keys"]:
            try:
                value = json.loads(key["default"] or "")
                load = ss.workload(name, **({"requests": 50} | {key["key"]: value}))
            except (ValueError, ss.SledsimError):
                continue
            if key["key"] != "requests":
                tried += 1
                run = ss.simulate(load, "g2").to_dict()
                assert run["summary"] in (plain["summary"], open_too["summary"]), key
        assert tried >= 8


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("zipf", ["zipf_exponent", "at least 0 and at most 10", "default: 1.0", "--set"]),
        ("g2", ["mems (devices)", "spring_factor", "must be given"]),
        ("aged_sptf", ["age_weight", "default: 0.006", "device_depth"]),
        ("arc", ["It has no keys"]),
        ("think_ms", ["Of random, zipf", "Of trace"]),
        ("device.spring_factor", ["pull of the springs", "Of mems"]),
        ("p99", ["response_time_ms.p99", "queue_ms.p99"]),
        ("throughput_iops", ["result"]),
    ],
)
def test_the_command(name: str, words: list[str], text: Text) -> None:
    said = " ".join(text("keys", name).split())
    assert all(word in said for word in words), said
    assert "None" not in said


def test_the_command_without_a_name(text: Text, document: Document) -> None:
    assert "zone_sptf" in text("keys")
    (thing,) = document("keys", "zipf")["things"]
    assert thing["name"] == "zipf"


def test_a_device_file_is_told_all_that_it_lacks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the usual values that the error lists, the file gives a device."""
    for kind in _core.names("device_kinds"):
        file = tmp_path / f"{kind}.toml"
        file.write_text(f'kind = "{kind}"\n', encoding="utf-8")
        for _ in range(4):  # a part that is missing may lack keys itself
            assert main(["devices", "show", str(file)]) in (0, 2)
            lines = capsys.readouterr().err.splitlines()
            if not lines:
                break
            assert "missing" in lines[0]
            assert len(lines) > 1
            usual = [line.strip().partition(": ")[::2] for line in lines[1:]]
            added = [f"{key} = {told.rpartition('; usual: ')[2]}\n" for key, told in usual]
            old = file.read_text(encoding="utf-8")
            file.write_text(old + "".join(added), encoding="utf-8")
        assert ss.device(file).blocks > 0


def test_a_title_may_be_left_out(tmp_path: Path, text: Text) -> None:
    file = tmp_path / "plain.toml"
    keys = "blocks = 1000\nlatency_ms = 0.1\nms_per_block = 0.1\n"
    file.write_text(f'kind = "memory"\n{keys}', encoding="utf-8")
    assert "\n\n\n" not in text("devices", "show", file)
    assert ss.simulate(ss.workload("random", requests=5), file).requests == 5
