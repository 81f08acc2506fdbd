"""Types for checkers and editors: names, the summary, and what mypy makes of a program."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Any,
    NotRequired,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

import pytest
import sledsim as ss
from sledsim import _core
from sledsim import _name_types as name_types
from sledsim.results import summaries as summary_types

from scripts import key_types
from scripts import summary_types as script

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]


def flat(alias: Any) -> Iterator[str]:
    """Yield the names of a Literal, or of a union of them."""
    for arg in get_args(alias):
        yield from (arg,) if isinstance(arg, str) else flat(arg)


@pytest.mark.parametrize(
    ("alias", "names"),
    [
        (name_types.SchedulerName, _core.names("schedulers")),
        (name_types.WorkloadName, ss.workloads()),
        (name_types.LayoutName, _core.names("layouts")),
        (name_types.PolicyName, _core.names("policies")),
    ],
)
def test_names_are_those_of_the_core(alias: Any, names: list[str]) -> None:
    assert list(flat(alias)) == names


def test_names_of_devices_are_those_of_the_core() -> None:
    assert sorted(flat(name_types.DeviceName)) == sorted(ss.devices())


def test_the_types_of_the_summary_are_up_to_date() -> None:
    for file, text in script.texts().items():
        assert file.read_text(encoding="utf-8") == text, "run python scripts/summary_types.py"


def test_the_types_of_keys_are_up_to_date() -> None:
    text = key_types.FILE.read_text(encoding="utf-8")
    assert text == key_types.text(), "run python -m scripts.key_types"


def test_a_summary_is_of_its_type() -> None:
    load = ss.workload("random", rate=500, requests=600, warm_up_requests=10)
    assert_of(ss.simulate(load, "g2", precision=0.5, replications=2).summary, summary_types.Summary)
    slow = ss.device("atlas10k", faults={"episodes_per_hour": 9000, "episode_ms": 100})
    faulty = ss.simulate(ss.workload("random", requests=500), slow).summary
    assert faulty["devices"][0]["episodes"][0]["delayed"]
    assert_of(faulty, summary_types.Summary)
    task = ss.simulate(ss.workload("random", requests=50), "g2", background="scan").summary
    assert_of(task, summary_types.Summary)
    with pytest.raises(AssertionError):
        assert_of({**task, "requests": "50"}, summary_types.Summary)


def assert_of(value: object, kind: Any) -> None:
    """Check a value of plain Python against its type."""
    if kind is Any:
        assert value is None or isinstance(value, int | float)
    elif is_typeddict(kind):
        assert isinstance(value, dict)
        hints = get_type_hints(kind)
        written = get_type_hints(kind, include_extras=True).items()
        optional = {key for key, hint in written if get_origin(hint) is NotRequired}
        assert hints.keys() - optional <= value.keys() <= hints.keys()
        for key in value:
            assert_of(value[key], hints[key])
    elif get_origin(kind) is list:
        assert isinstance(value, list)
        for item in value:
            assert_of(item, *get_args(kind))
    elif get_origin(kind) is dict:
        assert isinstance(value, dict)
        for item in value.values():
            assert_of(item, get_args(kind)[1])
    elif get_args(kind):
        fits = []
        for each in get_args(kind):
            try:
                assert_of(value, each)
                fits.append(each)
            except AssertionError:
                continue
        assert fits, (value, kind)
    else:
        assert type(value) is kind or (kind is float and type(value) is int), (value, kind)


PROGRAM = """import sledsim as ss
ss.device("atlas10k").zones()
run = ss.simulate("random", "g2", "aged_sptf(age_weight=0.02)")
mean: float = run.summary["response_time_ms"]["mean"]
half = run.summary["energy_j"]["seek"] / 2
parts: ss.Rows = ss.simulate("week.csv", "g2", split=3600).volumes
"""
LIBRARIES = ("IPython", "google", "matplotlib", "numpy", "pandas", "polars")
"""The program uses none of their types, and to read these takes most of the time."""
CONFIG = f"""[mypy]
[mypy-{",".join(f"{name}.*" for name in LIBRARIES)}]
follow_imports = skip
follow_imports_for_stubs = True
"""
WRONG = {
    'ss.device("g2").zones()': "attr-defined",
    'run.summary["response_time"]': "typeddict-item",
    'run.summary["saturated"]["queue"]': "index",
    'run.summary["requests"].real + ""': "operator",
    "run.volumes": "attr-defined",
    'ss.simulate("random", "g2", folder="parts")': "call-overload",
    'ss.simulate("week.csv", "g2", split=5, rows=True)': "call-overload",
    'ss.SpecError("no").file.upper()': "union-attr",
}


KEYS = """import sledsim as ss
ss.workload("zipf", rate=3, zipf_exponent=0.9)
ss.device("g2", spring_factor=0.5)
ss.read_trace("x.csv", address="wrap")
"""
WRONG_KEYS = {
    'ss.workload("random", rat=3)': "call-arg",
    'ss.device("g2", spring_facter=0.5)': "call-overload",
    'ss.read_trace("x.csv", addr="wrap")': "call-arg",
}


def test_mypy_accepts_what_is_right_and_refuses_what_is_not(tmp_path: Path) -> None:
    assert_refused(tmp_path, PROGRAM, WRONG)


def test_mypy_knows_the_keys(tmp_path: Path) -> None:
    assert_refused(tmp_path, KEYS, WRONG_KEYS)


def assert_refused(tmp_path: Path, right: str, wrong: dict[str, str]) -> None:
    """Check that mypy accepts a program and refuses each line after it, with a code."""
    file = tmp_path / "program.py"
    file.write_text(right + "\n".join(wrong) + "\n", encoding="utf-8")
    config = tmp_path / "mypy.ini"
    config.write_text(CONFIG, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "-O", "json", str(file)]
    command += ["--cache-dir", str(tmp_path / "cache"), "--config-file", str(config)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    first = right.count("\n") + 1
    told = {(one["line"], one["code"]): None for one in found if one["severity"] == "error"}
    assert list(told) == list(enumerate(wrong.values(), first)), done.stdout + done.stderr
