"""Devices with keys behind their names: ``g2(spring_factor=0)``."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
import sledsim as ss
from sledsim.cli.parser import split_names
from sledsim.hardware import labels

if TYPE_CHECKING:
    from pathlib import Path

LABEL = "g2(spring_factor=0)"
FEW: dict[str, Any] = {"requests": 300}
"""A load too short for intervals, whose times are compared alone."""


def command(*arguments: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "sledsim", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )


@pytest.mark.parametrize(
    ("label", "base", "keys"),
    [
        (LABEL, "g2", {"spring_factor": 0}),
        ("g2( spring_factor = 0.5 )", "g2", {"spring_factor": 0.5}),
        ("g2(spring_factor=0; active_tips=640)", "g2", {"spring_factor": 0, "active_tips": 640}),
        ("g2(spring_factor=0, active_tips=640)", "g2", {"spring_factor": 0, "active_tips": 640}),
        ("g2(kinematics=disksim)", "g2", {"kinematics": "disksim"}),
        ("mcd(front.spring_factor=0)", "mcd", {"front.spring_factor": 0}),
        (
            'mcd(front={base="g2", spring_factor=0})',
            "mcd",
            {"front": {"base": "g2", "spring_factor": 0}},
        ),
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


@pytest.mark.parametrize(
    ("label", "says"),
    [
        ("g2(spring_facto=0)", "unknown key 'spring_facto'; did you mean 'spring_factor'?"),
        ("g2(spring_factor=7)", "spring_factor = 7: must be at least 0 and below 1"),
        ("g2(spring_factor=8KiB)", 'spring_factor = "8KiB": must be a number'),
        ("g2(spring_factor)", "'spring_factor' must be of the form key=value"),
        ("g2()", "'' must be of the form key=value"),
        ("g2(=1)", "'=1' must be of the form key=value"),
        ("g2(spring_factor=0", "must be NAME or NAME(key=value; key=value)"),
        ("g4(spring_factor=0)", "unknown device 'g4': did you mean"),
        ("no.toml(spring_factor=0)", "no.toml"),
    ],
)
def test_a_wrong_name_is_refused(label: str, says: str) -> None:
    with pytest.raises(ss.SledsimError) as raised:
        ss.device(label)
    assert says in str(raised.value)
    with pytest.raises(ss.SledsimError) as raised:
        ss.simulate("random", label)
    assert says in str(raised.value)


def test_lists_of_names_are_split_outside_of_parentheses() -> None:
    text = "g2, g2(spring_factor=0, active_tips=640) ,mcd(front={a=1, b=2}),x(y=',')"
    assert split_names(text, "--devices") == [
        "g2",
        "g2(spring_factor=0, active_tips=640)",
        "mcd(front={a=1, b=2})",
        "x(y=',')",
    ]
    with pytest.raises(ss.SledsimError, match="none of them empty"):
        split_names("g2,,g3", "--devices")


def test_the_command_line_labels_by_what_was_written(tmp_path: Path) -> None:
    (tmp_path / "my.toml").write_text('base = "g2"\ntitle = "Mine"\n')
    names = ["g2", LABEL, "my.toml(spring_factor=0, active_tips=640)"]
    given = ("--workload", "random", "--set", "requests=300", "--json")
    done = command("compare", "--devices", ",".join(names), *given, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    runs = json.loads(done.stdout)["runs"]
    labels_of = [run["device"] for run in runs]
    assert labels_of == [*names[:2], "my(spring_factor=0, active_tips=640)"]
    swept = command(
        "sweep", "--vary", f"device={','.join(names)}", "--set", "requests=100",
        "--workload", "random", "--set", "rate=100", "--json", folder=tmp_path,
    )  # fmt: skip
    assert swept.returncode == 0, swept.stderr
    rows = json.loads(swept.stdout)["rows"]
    assert [row["device"] for row in rows] == names


def test_show_lists_what_differs_from_the_device_without_keys() -> None:
    shown = json.loads(command("devices", "show", LABEL, "--json").stdout)
    assert shown["base"] == "g2"
    assert shown["changes"] == [{"parameter": "spring_factor", "base_value": 0.75, "value": 0}]
    for words in (("seek", "--device", LABEL, "--start=0,0,up", "--end=10um,0,up"),):
        assert command(*words).returncode == 0


def test_names_of_files_are_safe_and_differ(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.toml").write_text('base = "g2"\n')
    assert labels.file_name("parts/my.toml") == "my"
    one, other = (labels.file_name(f"g2(spring_factor=0.{digit})") for digit in "25")
    assert one != other
    assert "/" not in labels.file_name("mcd(front.base=parts/my.toml)")
    one, other = (labels.file_name(f"g2({'title=x; ' * 99}spring_factor=0.{n})") for n in "25")
    assert one != other
    assert len(one) < 100
    assert labels.absolute("my.toml(tips=6400)") == f"{tmp_path}/my.toml(tips=6400)"
    assert labels.absolute(LABEL) == LABEL
