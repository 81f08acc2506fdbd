"""Devices, loads and layouts are values: equal, hashable, picklable, and written as TOML."""

from __future__ import annotations

import contextlib
import copy
import hashlib
import json
import os
import pickle
import re
import socket
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import sledsim as ss
from sledsim import _core
from sledsim.layout_maps import with_layout
from sledsim.simulation import with_background
from sledsim.traces import files as trace_files

from tests.python.pickles import through_another_process

if TYPE_CHECKING:
    from collections.abc import Callable

    from sledsim.simulation import Task

Value = ss.Device | ss.Load | ss.Layout

TRACE = "us,lbn,blocks\n0,8,8\n1000,{lbn},8\n"
COLUMNS = "time=us:us, offset=lbn:512B, bytes=blocks:512B, op=:read"
RAID = """
title = "Two of something"
kind = "raid5"
unit_blocks = 8
[[child]]
base = "parts/base.toml"
[[child]]
base = "g2"
[[child]]
base = "parts/base.toml"
spring_factor = 0.25
"""
KEYS: dict[str, dict[str, Any]] = {
    "files": {"set_mib": 64},
    "scan": {"set_mib": 64},
    "nurand": {"set_mib": 64},
    "mix": {"part": {"b": {"kind": "zipf", "rate": 9}, "a": {"rate": 9, "seed": 3}}},
}
"""Keys of workloads that cannot do without."""

BUFFER = {"size_kib": 1024, "segments": 4}
CACHE = {"cache_mib": 4, "line_kib": 4, "exchange_kib": 128, "buffer_kib": 1024}


def trace_of(file: Path, lbn: int = 80) -> Path:
    file.write_text(TRACE.format(lbn=lbn))
    return file


def all_values(folder: Path) -> dict[str, Value]:
    """Return values of all kinds, no two of them equal."""
    g2 = ss.device("g2")
    (folder / "parts").mkdir(exist_ok=True)
    (folder / "parts" / "base.toml").write_text('base = "g2"\nspring_factor = 0.5 # [P] a paper\n')
    (folder / "raid.toml").write_text(RAID)
    (folder / "own.toml").write_text('base = "cello"\nrequests = 99\n')
    trace = trace_of(folder / "reads.csv")
    by_trace = {"name": "organ_pipe", "trace": {"file": str(trace), "columns": COLUMNS}}
    part: Task = {"task": "scan", "first_lbn": 8, "blocks": 80}
    tasks: list[Task] = ["scan(order=lbn; tail=0.01)", part]
    found: dict[str, Value] = {f"device {name}": ss.device(name) for name in ss.devices()}
    found |= {f"layout {name}": ss.layout(g2, name) for name in ss.layouts()}
    found |= {f"load {name}": ss.workload(name, **KEYS.get(name, {})) for name in ss.workloads()}
    for name in ss.scenarios():
        scenario = ss.scenario(name)
        for value in (scenario.device, scenario.load):
            if value not in found.values():  # some are presets
                found[f"{value!r} of {name}"] = value
    return found | {
        "device with keys": ss.device("g2", spring_factor=0.1 + 0.2, buffer=BUFFER),
        "device without a spring": ss.device("g2", spring_factor=0),
        "device with an empty table": ss.device("g2", faults={}),
        "device on files": ss.device(folder / "raid.toml"),
        "device behind a cache": ss.device("atlas10k", controller_cache=CACHE),
        "device under a trace": with_layout(g2, by_trace | {"unit_blocks": 64}),
        "layout of a sample": ss.layout("g2", "organ_pipe", trace={"file": "sample:sqlite"}),
        "device with tasks": with_background(g2, tasks),
        "device with tasks in another order": with_background(g2, tasks[::-1]),
        "device with both": with_background(with_layout(g2, "columnar"), "scan"),
        "load of a file": ss.workload(str(folder / "own.toml"), seed=7),
        "load of less": ss.Load(ss.workload()._core.within(10_000), "less"),
        "trace": ss.read_trace(trace, columns=COLUMNS, address="wrap"),
        "sample": ss.read_trace("sample:sqlite", requests=10, trace_device="all"),
    }


@pytest.fixture(scope="module")
def values(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Value]:
    folder = tmp_path_factory.mktemp("values")
    made = all_values(folder)
    for file in folder.rglob("*.toml"):
        file.unlink()
    return made


def test_no_two_are_equal(values: dict[str, Value]) -> None:
    assert len({value.digest for value in values.values()}) == len(values)
    assert len(set(values.values())) == len(values)
    for name, value in values.items():
        assert [other for other in values if values[other] == value] == [name]
        assert re.fullmatch("[0-9a-f]{64}", value.digest), name
        assert value != value.digest, name


def test_values_that_are_made_again_are_equal(values: dict[str, Value], tmp_path: Path) -> None:
    """Of other files, too, with the same content."""
    for name, other in all_values(tmp_path).items():
        file = other._core.file if isinstance(other, ss.Load) else None
        if file is not None and file.is_relative_to(tmp_path):
            assert other != values[name], "a trace lies elsewhere"
        else:
            assert other == values[name], name
        assert (hash(other), other.digest) == (hash(values[name]), values[name].digest), name


def again(value: Value) -> Value:
    """Return what the TOML of a value makes."""
    text = value.to_toml()
    if isinstance(value, ss.Load):
        return ss.Load.from_toml(text)
    device = value.device if isinstance(value, ss.Layout) else value
    return type(value).from_toml(text, device.name)


def test_toml_makes_equal_values(values: dict[str, Value]) -> None:
    """Files that parts were based on are gone; traces are there."""
    for name, value in values.items():
        made = again(value)
        assert made == value, name
        assert (made.digest, made.to_toml()) == (value.digest, value.to_toml()), name
        assert type(made) is type(value), name


def test_the_toml_of_a_device_keeps_what_its_spec_says(values: dict[str, Value]) -> None:
    """Every key with its source, unless it was a file's base; the description, too."""

    def said(device: ss.Device) -> dict[str, Any]:
        keys = device.spec["parameters"].items()
        return {key: (entry["value"], entry["source"]) for key, entry in keys if key != "base"}

    for name, value in values.items():
        if isinstance(value, ss.Device):
            made = ss.Device.from_toml(value.to_toml(), value.name)
            for part in ("about", "derived"):
                assert made.spec[part] == value.spec[part], name
            if name != "device on files":
                assert said(made) == said(value), name
    parts = ss.Device.from_toml(values["device on files"].to_toml(), "raid").spec["parameters"]
    first = parts["child[0].spring_factor"]
    assert (first["value"], first["source"]) == (0.5, "[P] a paper")
    assert parts["child[1].base"]["value"] == "g2"
    assert parts["child[2].spring_factor"]["value"] == 0.25
    tips = [parts[f"child[{n}].tips"] | {"origin": ""} for n in (0, 2)]
    assert tips[0] == tips[1]


def test_pickles_make_equal_values_in_another_process(
    values: dict[str, Value], tmp_path: Path
) -> None:
    back = through_another_process(values, tmp_path)
    assert back == values
    assert [*map(type, back.values())] == [*map(type, values.values())]
    assert back["sample"].name == "sample:sqlite"


def test_copies_are_equal(values: dict[str, Value]) -> None:
    for name, value in values.items():
        assert copy.copy(value) == copy.deepcopy(value) == value, name
    scenario = ss.scenario("mcd-hplajw-like")
    assert pickle.loads(pickle.dumps(scenario)) == scenario


def test_equal_values_give_equal_results(values: dict[str, Value]) -> None:
    """The round trip changes no byte of a document."""
    load = ss.workload(rate=50, requests=200, last_lbn=100_000)
    for name, value in values.items():
        made = again(value)
        if isinstance(value, ss.Device) and isinstance(made, ss.Device):
            runs = [ss.simulate(load, device, rows=False) for device in (value, made)]
        elif isinstance(value, ss.Load) and isinstance(made, ss.Load):
            few = [each.with_keys(requests=100) for each in (value, made)]
            runs = [ss.simulate(each, "nearline20t", rows=False) for each in few]
        else:
            continue
        assert json.dumps(runs[0].to_dict()) == json.dumps(runs[1].to_dict()), name


# What is equal


def test_any_key_is_told() -> None:
    """Each key of presets, changed alone, makes another device; so does another kind of value."""
    changed = 0
    for name in ("g2", "atlas10k", "flash", "mwb", "disk"):
        device = ss.device(name)
        seen = {device.digest}
        for key, value in device.parameters.items():
            found = device
            for other in others(key, value):
                given: dict[str, Any] = {key: other}
                if other != value and found is device:
                    with contextlib.suppress(ss.SledsimError):
                        found = ss.device(name, **given)
                        assert found != device, (name, key, other)
            if found is not device:
                assert found.digest not in seen, (name, key)
                seen.add(found.digest)
                changed += 1
    assert changed > 100


def others(key: str, value: object) -> list[object]:
    """Return other values that a key may take."""
    if key == "title" or isinstance(value, list):
        return []
    if key.endswith("base"):
        return [] if key == "base" else ["g1", "atlas10k"]
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int | float):
        return [value + 1, value / 2, value * 2, value * 1.0000001]
    return ["piecewise", "none", "seek", "park", "off", "lru", "paper", "all", "middle", "keep"]


def test_the_form_of_a_number_does_not_matter() -> None:
    loads = [ss.workload(rate=rate) for rate in (1, 1.0, np.float32(1), np.int64(1))]
    assert len({load.digest for load in loads}) == 1
    assert ss.workload(rate=0.1) == ss.Load.from_toml("rate = 1e-1")
    assert ss.workload(rate=0.1) != ss.workload(rate=0.1 + 2**-56)
    assert ss.device("g2", spring_factor=0) == ss.device("g2", spring_factor=0.0)


def test_comments_titles_and_the_order_of_keys_do_not_matter(tmp_path: Path) -> None:
    texts = [
        '# One.\nbase = "g2"\nspring_factor = 0.5 # [P] a paper\nstartup_ms = 1\ntitle = "A"\n',
        'base = "g2"\ntitle = "B"\nstartup_ms = 1\nspring_factor = 0.50\n',
        ss.device("g2", startup_ms=1, spring_factor=0.5).to_toml(),
    ]
    devices = []
    for text in texts:
        (tmp_path / "own.toml").write_text(text)
        devices.append(ss.device(tmp_path / "own.toml"))
    assert len(set(devices)) == 1
    assert devices[0] != ss.device("g2", startup_ms=1, spring_factor=0.5), "another name"


def test_what_parts_are_based_on_is_told_by_its_keys(tmp_path: Path) -> None:
    """Not by its name."""
    (tmp_path / "base.toml").write_text(ss.device("g3").to_toml())
    own = ss.device("mcd", front={"base": str(tmp_path / "base.toml")})
    assert own == ss.device("mcd", front={"base": "g3"})
    assert own != ss.device("mcd")
    (tmp_path / "base.toml").write_text(ss.device("g2", spring_factor=0.5).to_toml())
    other = ss.device("mcd", front={"base": str(tmp_path / "base.toml")})
    assert own != other
    assert other == ss.device("mcd", front={"base": "g2", "spring_factor": 0.5})


def test_parts_of_parts_have_the_keys_of_their_files(tmp_path: Path) -> None:
    (tmp_path / "low.toml").write_text('base = "g2"\nspring_factor = 0.125\n')
    child = {"base": "mwb", "front": {"base": str(tmp_path / "low.toml")}}
    keys = {"kind": "stripe", "title": "Two", "children": 2, "unit_blocks": 8}
    (tmp_path / "top.toml").write_text("\n".join(f"{k} = {json.dumps(v)}" for k, v in keys.items()))
    made = ss.device(tmp_path / "top.toml", child=child)
    (tmp_path / "low.toml").unlink()
    again = ss.Device.from_toml(made.to_toml(), "top")
    assert again == made == pickle.loads(pickle.dumps(made))
    assert again.parameters["child.front.spring_factor"] == 0.125
    assert again.parameters["child.back.base"] == ss.device("mwb").parameters["back.base"]


def test_the_order_of_parts_of_a_mix_is_told() -> None:
    """It decides which request comes first at one instant."""
    parts = {"one": {"rate": 9}, "two": {"kind": "zipf", "rate": 9}}
    loads = [ss.workload("mix", part=dict(list(parts.items())[::step])) for step in (1, -1)]
    assert loads[0] != loads[1]
    for load in loads:
        assert ss.Load.from_toml(load.to_toml()) == load


# Overrides


def test_overrides_are_laid_over_a_device(tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text('base = "g3"\n')
    trace = {"file": "sample:sqlite"}
    g2 = with_background(
        with_layout(ss.device("g2"), {"name": "organ_pipe", "trace": trace}), "scan"
    )
    keys: dict[str, Any] = {"spring_factor": 0.5, "batching": {"kind": "explicit"}}
    changed = ss.device(g2, **keys)
    assert changed == ss.device({"base": g2, **keys}) != g2
    base = with_layout(ss.device("g2", **keys), {"name": "organ_pipe", "trace": trace})
    assert changed == with_background(base, "scan")
    assert ss.device(g2) == g2
    pair = ss.device("mcd", front={"base": str(tmp_path / "base.toml")})
    (tmp_path / "base.toml").unlink()
    assert ss.device(pair, front={"spring_factor": 0.25}).parameters["front.spring_factor"] == 0.25
    assert ss.device(pair, back={"base": "atlas10k"}).parameters["back.base"] == "atlas10k"
    for wrong in ({"front": {"base": "g1"}}, {"base": "g1"}):
        with pytest.raises(ss.SledsimError, match="its base cannot be replaced"):
            ss.device(pair, **wrong)


def test_overrides_are_laid_over_a_load(tmp_path: Path) -> None:
    load = ss.workload("zipf", rate=5)
    assert load.with_keys(rate=6) == ss.workload("zipf", rate=6)
    run = ss.simulate({"base": load, "requests": 10}, "g2")
    assert run.workload["rate"] == 5
    assert run.summary["requests"] == 10
    file = trace_of(tmp_path / "reads.csv")
    first = ss.read_trace(file, columns=COLUMNS, requests=1)
    assert ss.read_trace(file, columns=COLUMNS).with_keys(requests=1) == first
    assert ss.workload("cello").with_keys(requests=5) == ss.workload("cello", requests=5)


def test_the_next_seed_is_another_value() -> None:
    parts = {"a": {"rate": 9, "seed": 3}, "b": {"rate": 9}}
    for load in (ss.workload(rate=5), ss.workload("mix", part=parts)):
        moved = ss.Load(load._core.with_seed_offset(2), load.name)
        assert moved != load
        made = ss.Load.from_toml(moved.to_toml())
        assert made == moved
        runs = [ss.simulate({"base": each, "requests": 100}, "g2") for each in (moved, made)]
        assert runs[0] == runs[1]
        assert runs[0].workload["seed"] == 3


# Files of traces


def trace_values(folder: Path) -> list[tuple[Value, Callable[[str], Value]]]:
    trace = trace_of(folder / "reads.csv")
    load = ss.read_trace(trace, columns=COLUMNS)
    keys = {"name": "organ_pipe", "trace": {"file": str(trace), "columns": COLUMNS}}
    device = with_layout(ss.device("g2"), keys)
    return [(load, ss.Load.from_toml), (device, lambda text: ss.Device.from_toml(text, "g2"))]


def test_a_trace_must_be_there_with_its_content(tmp_path: Path) -> None:
    """The message names the file, the machine, and what is wrong."""
    for value, read in trace_values(tmp_path):
        file = trace_of(tmp_path / "reads.csv")
        text, pickled, about = value.to_toml(), pickle.dumps(value), file.stat()
        trace_of(file, 88)
        os.utime(file, ns=(about.st_atime_ns, about.st_mtime_ns))
        for wrong in ("has other content", "is missing"):
            says = rf"{re.escape(str(file))} {wrong} on {re.escape(socket.gethostname())}"
            refused(says, read, text)
            refused(says, pickle.loads, pickled)
            file.unlink(missing_ok=True)
        trace_of(file)
        assert pickle.loads(pickled) == read(text) == value


def refused(says: str, call: Callable[..., object], *given: object) -> None:
    with pytest.raises(ss.SledsimError, match=says):
        call(*given)


def test_the_content_of_a_trace_counts_and_not_its_place(tmp_path: Path) -> None:
    load, device = (value for value, _ in trace_values(tmp_path))
    moved = ss.read_trace(trace_of(tmp_path / "moved.csv"), columns=COLUMNS)
    assert moved.digest == load.digest
    assert moved != load, "no trace is read to compare loads"
    kept = {load: 1}
    trace_of(tmp_path / "reads.csv", 88)
    assert moved.digest != load.digest
    assert kept[load] == 1
    trace = {"file": str(tmp_path / "moved.csv"), "columns": COLUMNS}
    laid = with_layout(ss.device("g2"), {"name": "organ_pipe", "trace": trace})
    assert device.digest == laid.digest, "the layout keeps what it read"
    (tmp_path / "reads.csv").unlink()
    assert load == ss.read_trace(tmp_path / "reads.csv", columns=COLUMNS)
    with pytest.raises(ss.SledsimError, match=r"reads\.csv: cannot be read: No such file"):
        _ = load.digest


def test_a_content_is_read_once_until_the_file_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that changed just now is read again: a further change may leave no sign."""
    file = trace_of(tmp_path / "reads.csv")
    first = trace_files.content_of(file)
    assert str(file) not in trace_files._known
    monkeypatch.setattr(trace_files, "_SETTLED_NS", -(2**62))
    assert trace_files.content_of(file) == first
    with monkeypatch.context() as patch:
        patch.setattr("hashlib.file_digest", None)
        assert trace_files.content_of(file) == first
    about = file.stat()
    while file.stat().st_ctime_ns == about.st_ctime_ns:
        trace_of(file, 88)
        os.utime(file, ns=(about.st_atime_ns, about.st_mtime_ns))
    assert (file.stat().st_size, file.stat().st_mtime_ns) == (about.st_size, about.st_mtime_ns)
    assert trace_files.content_of(file) == hashlib.sha256(file.read_bytes()).hexdigest() != first


def test_a_relative_path_is_written_as_an_absolute_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    trace_of(Path("reads.csv"))
    load = ss.read_trace("reads.csv", columns=COLUMNS)
    device = with_layout(
        ss.device("g2"), {"name": "organ_pipe", "trace": {"file": "reads.csv", "columns": COLUMNS}}
    )
    pickled = pickle.dumps((load, device))
    monkeypatch.chdir("/")
    for value in pickle.loads(pickled):
        assert f'file = "{tmp_path}/reads.csv"' in value.to_toml()


def test_a_stream_has_no_digest(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for load in (ss.read_trace(tmp_path / "pipe"), ss.read_trace("-")):
        assert load == load  # noqa: PLR0124 (equal to itself)
        assert load != ss.read_trace(str(load._core.file))
        assert hash(load) == hash(ss.read_trace(str(load._core.file)))
        for call in (ss.Load.to_toml, pickle.dumps, lambda load: load.digest):
            refused("is no regular file", call, load)


def test_a_pickle_whose_preset_is_another_here_is_refused() -> None:
    """The keys of a part that is a preset are those of this version."""
    for value, other in (
        (ss.device("mcd"), ss.device("mwb")),
        (ss.workload("cello"), ss.workload()),
    ):
        made, (text, name, _, version) = value.__reduce__()[:2]
        with pytest.raises(ss.SledsimError, match=f"pickle is of sledsim {re.escape(version)}"):
            made(text, name, other.digest, version)


# The version of the numbers


FOLDERS = ["base/src", "traces/src", "core/src", "core/data", "experiments/src", "experiments/data"]


def test_the_version_of_the_numbers_is_that_of_the_sources() -> None:
    """Computed here as the build computes it, and other for any other source."""
    version, _, digest = _core.NUMBERS.partition("+")
    assert version == _core.VERSION
    root = Path(__file__).parents[2]
    if not (root / "crates/sledsim-base/src").is_dir():
        pytest.skip("the sources are not here")
    parts: list[bytes] = []
    for folder in FOLDERS:
        top = root / f"crates/sledsim-{folder}"
        paths = [path for path in top.rglob("*") if path.is_file()]
        files = {path.relative_to(top).as_posix(): path for path in paths}
        for name in sorted(files, key=str.encode):
            if not {"tests", "tests.rs"} & set(name.split("/")):
                parts += [name.encode(), files[name].read_bytes()]
    state = 0xCBF29CE484222325
    for part in parts + [package.encode() for package in sorted(packages(root))]:
        for byte in len(part).to_bytes(8, "little") + part:
            state = (state ^ byte) * 0x100000001B3 % 2**64
    assert digest == f"{state:016x}"


def packages(root: Path) -> set[str]:
    """Return name and version of what the core depends on."""
    locked = tomllib.loads((root / "Cargo.lock").read_text())["package"]
    names = {"sledsim-experiments"}
    while True:
        found = [package for package in locked if package["name"] in names]
        needed = {each.split()[0] for one in found for each in one.get("dependencies", [])}
        if needed <= names:
            return {f"{package['name']} {package['version']}" for package in found}
        names |= needed
