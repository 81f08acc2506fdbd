"""Devices with keys behind their names: ``g2(spring_factor=0)``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import sledsim as ss
from sledsim.cli.parser import split_names
from sledsim.hardware import labels

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

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
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, document: Callable[..., Any]
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


def test_show_lists_what_differs_from_the_device_without_keys(
    document: Callable[..., Any],
) -> None:
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
