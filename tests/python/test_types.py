"""Types for checkers and editors: names, classes, the stub, a program under mypy."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import pytest
import sledsim as ss
from sledsim import _core
from sledsim import _name_types as name_types

from scripts import key_types
from scripts import summary_types as script

if TYPE_CHECKING:
    from collections.abc import Iterator


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


CLASSES = {
    **dict.fromkeys(get_args(name_types.SledName), ss.Sled),
    **dict.fromkeys(get_args(name_types.DiskName), ss.Disk),
    **dict.fromkeys(get_args(name_types.CompositeName), ss.Composite),
}


def test_names_and_classes_of_devices_are_those_of_the_core() -> None:
    assert sorted(flat(name_types.DeviceName)) == sorted(ss.devices())
    made = {name: type(ss.device(name)) for name in ss.devices()}
    assert made == dict.fromkeys(ss.devices(), ss.Device) | CLASSES
    cached: ss.Device = ss.device("g2", controller_cache={"cache_mib": 8})
    assert type(cached) is ss.Composite, "a cache before a sled"


@pytest.mark.parametrize("name", [name for name in vars(ss.Sled) if not name.startswith("_")])
@pytest.mark.parametrize("device", ["atlas10k", "memory", "mcd"])
def test_methods_of_sleds_are_refused_on_other_devices(device: str, name: str) -> None:
    made = ss.device(device)
    if name not in vars(type(made)):  # disks have places and seeks of their own
        with pytest.raises(ss.SledsimError) as refused:
            getattr(made, name)
        says = f"device '{device}' has no sled of its own: must be of kind \"mems\""
        assert str(refused.value) == says


@pytest.mark.parametrize("name", ["g2", "memory", "mcd"])
def test_other_names_are_attribute_errors(name: str) -> None:
    with pytest.raises(AttributeError, match="has no attribute 'zones'") as refused:
        ss.device(name).zones()  # type: ignore[attr-defined]
    assert refused.value.name == "zones"
    assert type(refused.value.obj) is CLASSES.get(name, ss.Device)


def test_the_types_of_the_summary_are_up_to_date() -> None:
    for file, text in script.texts().items():
        assert file.read_text(encoding="utf-8") == text, "run python scripts/summary_types.py"


def test_the_types_of_keys_are_up_to_date() -> None:
    text = key_types.FILE.read_text(encoding="utf-8")
    assert text == key_types.text(), "run python -m scripts.key_types"


PROGRAM = """import sledsim as ss
ss.device("atlas10k").zones()
run = ss.simulate("random", "g2", "aged_sptf(age_weight=0.02)")
mean: float = run.summary["response_time_ms"]["mean"]
half = run.summary["energy_j"]["seek"] / 2
parts: ss.Rows = ss.simulate("week.csv", "g2", split=3600).volumes
ss.workload("zipf", rate=3, zipf_exponent=0.9)
ss.device("g2", spring_factor=0.5)
ss.read_trace("x.csv", address="wrap")
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
    'ss.workload("random", rat=3)': "call-arg",
    'ss.device("g2", spring_facter=0.5)': "call-overload",
    'ss.read_trace("x.csv", addr="wrap")': "call-arg",
}


def test_mypy_accepts_what_is_right_and_refuses_what_is_not(tmp_path: Path) -> None:
    """It accepts the program, and refuses each line after it with a code."""
    file, config = tmp_path / "program.py", tmp_path / "mypy.ini"
    file.write_text(PROGRAM + "\n".join(WRONG) + "\n", encoding="utf-8")
    config.write_text(CONFIG, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "-O", "json", str(file)]
    command += ["--cache-dir", str(tmp_path / "cache"), "--config-file", str(config)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    told = {(one["line"], one["code"]): None for one in found if one["severity"] == "error"}
    expected = list(enumerate(WRONG.values(), PROGRAM.count("\n") + 1))
    assert list(told) == expected, done.stdout + done.stderr


ALLOWED = r"sledsim\._core\.__all__ # PyO3 writes it; no one imports * from the module"
STUB_ALONE = """[mypy]
mypy_path = python
explicit_package_bases = True
follow_imports = skip
"""
"""What the stub imports is checked by `make lint`; here it would take most of the time."""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the module has no emulator")
def test_the_stub_fits_the_module(tmp_path: Path) -> None:
    config = tmp_path / "mypy.ini"
    config.write_text(STUB_ALONE, encoding="utf-8")
    command = [sys.executable, "-m", "mypy.stubtest", "sledsim._core", "--concise"]
    command += [f"--mypy-config-file={config}", "--allowlist=/dev/stdin"]
    given: dict[str, Any] = {"input": ALLOWED, "text": True, "cwd": Path(__file__).parents[2]}
    done = subprocess.run(command, capture_output=True, check=False, **given)
    assert done.returncode == 0, done.stdout + done.stderr
