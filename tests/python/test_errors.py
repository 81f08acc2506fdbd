"""Errors: their classes, and the file, the line and the key that each carries."""

from __future__ import annotations

import pickle
import struct
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import sledsim as ss

if TYPE_CHECKING:
    from collections.abc import Callable

Place = tuple[str | None, int | None, str | None]

LOAD = ss.workload("random", requests=10)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with bad files."""
    monkeypatch.chdir(tmp_path)
    texts = {
        "value.toml": 'base = "g2"\n\nspring_factor = 2\n',
        "unknown.toml": 'base = "g2"\nspring_facter = 0.5\n',
        "table.toml": 'base = "g2"\n[bufer]\nsize_kib = 8\n',
        "syntax.toml": 'base = "g2"\nspring_factor = = 1\n',
        "missing.toml": 'kind = "mems"\n',
        "scenario.toml": '[device]\nbase = "g2"\n[workload]\nkind = "random"\nrate = -1\n',
        "nodevice.toml": "[device]\n",
        "bad.trace": "0 0 5 8 1\n1 0 x 8 1\n",
        "bad.parv": "disk d {\n  Block count = 5\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    # Records of VMware vSCSI, version 1: serial, bytes, nSG, opcode, version, LBN, us.
    records = [struct.pack("<IIIHHQQ", n, 4096, 1, 0x28, 0x0100, 8 * n, 10 * n) for n in range(3)]
    (tmp_path / "cut.vscsi").write_bytes(b"".join(records)[:-5])
    (tmp_path / "damaged.parquet").write_bytes(b"PAR1" + struct.pack("<I", 7) + b"PAR1")
    return tmp_path


BAD: dict[str, tuple[Callable[[], object], type[ss.SledsimError], Place]] = {
    "value": (
        lambda: ss.device("value.toml"),
        ss.SpecError,
        ("value.toml", 3, "spring_factor"),
    ),
    "unknown key": (
        lambda: ss.device("unknown.toml"),
        ss.SpecError,
        ("unknown.toml", 2, "spring_facter"),
    ),
    "unknown table": (lambda: ss.device("table.toml"), ss.SpecError, ("table.toml", 2, "bufer")),
    "syntax": (lambda: ss.device("syntax.toml"), ss.SpecError, ("syntax.toml", 2, None)),
    "missing key": (
        lambda: ss.device("missing.toml"),
        ss.SpecError,
        ("missing.toml", None, "bit_cell_nm"),
    ),
    "no such file": (lambda: ss.device("none.toml"), ss.SpecError, ("none.toml", None, None)),
    "scenario": (
        lambda: ss.scenario("scenario.toml"),
        ss.SpecError,
        ("scenario.toml", 5, "workload.rate"),
    ),
    "no such scenario": (lambda: ss.scenario("no.toml"), ss.SpecError, ("no.toml", None, None)),
    "unknown argument": (
        lambda: ss.device("g2", spring_facter=0.5),  # type: ignore[call-overload]
        ss.SpecError,
        (None, None, "spring_facter"),
    ),
    "argument of a load": (
        lambda: ss.workload("random", rate=-1),
        ss.SpecError,
        (None, None, "rate"),
    ),
    "kind of argument": (
        lambda: ss.workload("random", rate=object()),  # type: ignore[arg-type]
        ss.SpecError,
        (None, None, "rate"),
    ),
    "unknown name": (lambda: ss.device("g22"), ss.SpecError, (None, None, None)),
    "argument": (
        lambda: ss.simulate(LOAD, "g2", replications=1.5),  # type: ignore[call-overload]
        ss.SpecError,
        (None, None, "replications"),
    ),
    "argument of the core": (
        lambda: ss.simulate(LOAD, "g2", replications=10**9),
        ss.SpecError,
        (None, None, "replications"),
    ),
    "block": (lambda: ss.device("g2").locate(10**12), ss.SpecError, (None, None, "lbn")),
    "line of a trace": (
        lambda: ss.simulate(ss.read_trace("bad.trace", trace_format="disksim_ascii"), "g2"),
        ss.TraceError,
        ("bad.trace", 2, None),
    ),
    "binary trace": (
        lambda: ss.trace_info("cut.vscsi", format="vscsi"),
        ss.TraceError,
        ("cut.vscsi", None, None),
    ),
    "Parquet": (
        lambda: ss.trace_info("damaged.parquet"),
        ss.TraceError,
        ("damaged.parquet", None, None),
    ),
    "no such trace": (
        lambda: ss.simulate(ss.read_trace("no.trace"), "g2"),
        ss.TraceError,
        ("no.trace", None, None),
    ),
    "output": (
        lambda: ss.simulate(LOAD, "g2", rows="none/rows.parquet"),
        ss.OutputError,
        ("none/rows.parquet", None, None),
    ),
    "converted trace": (
        lambda: ss.generate_trace(LOAD, "none/out.csv", device="g2"),
        ss.OutputError,
        ("none/out.csv", None, None),
    ),
    "parameter file": (
        lambda: ss.disksim.import_device("bad.parv", "out.toml"),
        ss.SpecError,
        ("bad.parv", 1, None),
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_an_error_has_its_class_and_place(name: str) -> None:
    do, kind, place = BAD[name]
    with pytest.raises(ss.SledsimError) as found:
        do()
    error = found.value
    assert type(error) is kind, error
    assert (error.file, error.line, error.key) == place, error
    # What it carries is what its message says.
    said = str(error).lower()
    assert all(str(part) in said for part in place if part is not None)
    assert _same(error, pickle.loads(pickle.dumps(error)))


def _same(error: Exception, other: Exception) -> bool:
    told = (type(error), str(error), vars(error))
    return told == (type(other), str(other), vars(other))


CLASSES = [ss.SledsimError, ss.SpecError, ss.TraceError, ss.OutputError, ss.RemoteError]


@pytest.mark.parametrize("kind", CLASSES)
def test_each_class_is_a_value_error_that_can_be_pickled(kind: type[ss.SledsimError]) -> None:
    error = kind("f:3: k = 1: must be 2")
    assert isinstance(error, ss.SledsimError)
    assert isinstance(error, ValueError)
    assert (error.file, error.line, error.key) == (None, None, None)
    error.file, error.line, error.key = "f", 3, "k"
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert _same(error, pickle.loads(pickle.dumps(error, protocol)))
    assert kind("other").file is None, "an attribute of one error is not that of the next"


def test_an_error_crosses_processes() -> None:
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        error = pool.submit(ss.device, "value.toml").exception()
    assert isinstance(error, ss.SpecError)
    assert (error.file, error.line, error.key) == BAD["value"][2]


def test_classes_exclude_each_other() -> None:
    for kind in CLASSES[1:]:
        assert [other for other in CLASSES if issubclass(kind, other)] == [ss.SledsimError, kind]


@pytest.mark.parametrize("kind", CLASSES)
def test_each_class_cuts_what_it_repeats(kind: type[ss.SledsimError]) -> None:
    error = kind(f"{'k' * 9000}.toml:3: rate = '{'a b' * 9000}'\x1b[31m\n: must be 2")
    assert str(error).startswith("kkk")
    assert str(error).endswith(r"'\u{1b}[31m\n: must be 2")
    assert str(error).count("characters)...") == 2
    assert len(str(error)) < 500
    assert _same(error, pickle.loads(pickle.dumps(error)))
    assert kind(5).args == (5,)
