"""The store of outcomes returns the result of a simulation, and never that of another."""

import hashlib
import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sledsim as ss
from sledsim import _core
from sledsim._load import Load
from sledsim.layout_maps import with_layout
from sledsim.papers import outcomes
from sledsim.papers.outcomes import OutcomeStore, core_digest

REQUESTS = 200
TRACE = "us,lbn,blocks\n0,8,8\n1000,{lbn},8\n"
COLUMNS = "time=us:us, offset=lbn:512B, bytes=blocks:512B, op=:read"
RAID = """
title = "Two of something"
kind = "stripe"
unit_blocks = 8
children = 2
[child]
base = "{base}"
"""
MIRROR = """
title = "The same twice"
kind = "raid1"
[[child]]
base = "g2"
[[child]]
base = "g2"
"""


def random(**keys: Any) -> Load:
    return ss.workload("random", **({"requests": REQUESTS, "rate": 300} | keys))


def mix(**parts: Any) -> Load:
    return ss.workload("mix", requests=REQUESTS, part=parts)


def alone(**keys: Any) -> dict[str, Any]:
    """Return the document of a run without a store."""
    return ss.simulate(rows=False, **given(**keys)).to_dict()


def given(**keys: Any) -> dict[str, Any]:
    """Return the arguments of a run, but for those that are given a random load on g2."""
    return {"load": random(), "device": ss.device("g2")} | keys


@pytest.fixture
def store(tmp_path: Path) -> OutcomeStore:
    return OutcomeStore(tmp_path / "outcomes")


def files(store: OutcomeStore) -> list[Path]:
    return sorted(file for file in store.folder.rglob("*") if file.is_file())


ONE, TWO = {"kind": "random", "rate": 9}, {"kind": "zipf", "rate": 9}
RUNS: dict[str, Callable[[], dict[str, Any]]] = {
    "plain": dict,
    "rate": lambda: {"load": random(rate=301)},
    "seed": lambda: {"load": random(seed=2)},
    "generator": lambda: {"load": ss.workload("zipf", requests=REQUESTS, rate=300)},
    "preset": lambda: {"load": ss.workload("cello", requests=REQUESTS)},
    "parts": lambda: {"load": mix(one=ONE, two=TWO)},
    "order of parts": lambda: {"load": mix(two=TWO, one=ONE)},
    "device": lambda: {"device": ss.device("g3")},
    "key of the device": lambda: {"device": ss.device("g2", spring_factor=0.5)},
    "part of the device": lambda: {
        "device": ss.device("mcd", back={"buffer": {"read_ahead": "none"}})
    },
    "whole": lambda: {"device": ss.device("mcd")},
    "scheduler": lambda: {"scheduler": "sptf"},
    "layout": lambda: {"layout": "columnar"},
    "key of the layout": lambda: {"layout": {"name": "columnar", "columns": 5}},
    "background": lambda: {"background": "scan"},
    "key of the background": lambda: {"background": {"task": "scan", "order": "lbn"}},
    "precision": lambda: {"precision": 0.5},
    "seeds": lambda: {"replications": 2},
    "sample": lambda: {"load": ss.read_trace("sample:sqlite", requests=REQUESTS)},
    "key of the trace": lambda: {"load": ss.read_trace("sample:sqlite", requests=REQUESTS - 1)},
}
"""Runs of which any two differ in one thing that an outcome depends on, or in more."""


def test_a_stored_outcome_equals_that_of_a_run(store: OutcomeStore) -> None:
    """Of every kind of run, each beside all others: the same document as :func:`simulate`'s."""
    documents = {name: alone(**run()) for name, run in RUNS.items()}
    for time in range(2):
        for name, run in RUNS.items():
            assert store.simulate(**given(**run())) == documents[name], name
        assert (store.simulated, store.read) == (len(RUNS), time * len(RUNS))
    assert len(files(store)) == len(RUNS)
    again = OutcomeStore(store.folder)
    for name, run in RUNS.items():
        assert json.dumps(again.simulate(**given(**run()))) == json.dumps(documents[name]), name
    assert again.simulated == 0


def test_rows_change_nothing_in_the_document() -> None:
    assert ss.simulate(rows=True, **given()).to_dict() == alone()


def test_a_document_is_the_callers_own(store: OutcomeStore) -> None:
    for _ in range(3):
        document = store.simulate(**given())
        assert document["summary"]
        document["summary"].clear()


def test_keys_that_change_after_a_load_is_made_are_not_taken(store: OutcomeStore) -> None:
    part = {"one": {"kind": "random", "rate": 10}}
    load = ss.workload("mix", requests=REQUESTS, part=part)
    part["one"]["rate"] = 1000
    first = store.simulate(**given(load=load))
    assert store.simulate(**given(load=mix(**part))) != first
    assert store.simulated == 2


# Traces and files


def trace_of(file: Path, lbn: int, **keys: Any) -> Load:
    file.write_text(TRACE.format(lbn=lbn))
    return ss.read_trace(file, columns=COLUMNS, **keys)


def test_a_trace_is_its_content(store: OutcomeStore, tmp_path: Path) -> None:
    """Also if name, length and times of the file are the same, and for loads made before."""
    file = tmp_path / "reads.csv"
    load = trace_of(file, 1_000_000)
    about = file.stat()
    near = store.simulate(**given(load=load))
    trace_of(file, 2_000_000)
    os.utime(file, ns=(about.st_atime_ns, about.st_mtime_ns))
    assert file.stat().st_size == about.st_size
    far = store.simulate(**given(load=load))
    assert store.simulated == 2
    assert far["summary"] != near["summary"]
    assert far == alone(load=load)
    trace_of(file, 1_000_000)
    assert (store.simulate(**given(load=load)), store.simulated) == (near, 2)


def test_a_trace_that_is_written_meanwhile_is_not_kept(
    store: OutcomeStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "reads.csv"
    run = given(load=trace_of(file, 1_000_000))
    usual = ss.simulate

    def overtaken(*words: Any, **keys: Any) -> ss.Run:
        trace_of(file, 2_000_000)
        run: ss.Run = usual(*words, **keys)
        return run

    with monkeypatch.context() as patch:
        patch.setattr(outcomes, "simulate", overtaken)
        overtook = store.simulate(**run)
    assert not files(store)
    trace_of(file, 1_000_000)
    assert store.simulate(**run)["summary"] != overtook["summary"]


def test_a_device_that_is_a_file_is_its_text(store: OutcomeStore, tmp_path: Path) -> None:
    file = tmp_path / "pair.toml"
    for time, base in enumerate(("g2", "g3", "g2")):
        file.write_text(RAID.format(base=base))
        device = ss.device(file)
        assert store.simulate(**given(device=device)) == alone(device=device)
        assert store.simulated == min(time + 1, 2)
    # A table without keys is in the file of a device, and not in its spec.
    devices = []
    for more in ("", "[faults]"):
        file.write_text(f'base = "g2"\n{more}\n')
        devices.append(ss.device(file))
    assert devices[0].spec == devices[1].spec
    without, with_table = (alone(device=device) for device in devices)
    found = [store.simulate(**given(device=device)) for device in devices]
    assert found == [without, with_table]
    assert without != with_table


def on_files(folder: Path) -> dict[str, dict[str, Any]]:
    """Return runs that differ, most of them by files that they were read from."""
    (folder / "base.toml").write_text('base = "g2"\n')
    (folder / "pair.toml").write_text(RAID.format(base="base.toml"))
    (folder / "above.toml").write_text('base = "base.toml"\n')
    (folder / "mirror.toml").write_text(MIRROR)
    (folder / "load.toml").write_text('kind = "random"\nrate = 300\nrequests = 100\n')
    (folder / "more.toml").write_text('base = "load.toml"\n')
    trace = folder / "reads.csv"
    trace_of(trace, 80)
    g2, part = ss.device("g2"), str(folder / "base.toml")
    by_trace = {"name": "organ_pipe", "trace": {"file": str(trace), "columns": COLUMNS}}
    return {
        "a part that is a file": {"device": ss.device(folder / "pair.toml")},
        "a base that is a file": {"device": ss.device(folder / "above.toml")},
        "a base that is given": {"device": ss.device("g2", base=part)},
        "a part's base that is given": {"device": ss.device("mcd", front={"base": part})},
        "parts in a list": {
            "device": ss.device(folder / "mirror.toml", child=[{"base": "g2"}, {"base": part}])
        },
        "a device that is laid out": {"device": with_layout(g2, "columnar")},
        "a layout by a trace": {"device": g2, "layout": by_trace},
        "a workload that is a file": {"load": ss.workload(str(folder / "load.toml"))},
        "a workload on a file": {"load": ss.workload(str(folder / "more.toml"))},
        "a number of numpy's": {"load": random(rate=np.float32(250))},
        "a load of less": {"load": Load(random()._core.within(10_000), "random")},
    }


def test_runs_on_files_are_told_apart(store: OutcomeStore, tmp_path: Path) -> None:
    """Files of devices and workloads are not needed any more."""
    runs = on_files(tmp_path)
    for file in tmp_path.glob("*.toml"):
        file.unlink()
    for name, run in runs.items():
        found = [store.simulate(**given(**run)) for _ in range(2)]
        assert found == [alone(**run)] * 2, name
    assert (store.simulated, store.read) == (len(runs), len(runs))
    assert len(files(store)) == len(runs)


def test_a_pipe_is_read_once(store: OutcomeStore, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    load = ss.read_trace(pipe, columns=COLUMNS)
    code = "import sys; open(sys.argv[1], 'w').write(sys.argv[2])"
    words = [sys.executable, "-c", code, str(pipe), TRACE.format(lbn=80)]
    writer = subprocess.Popen(words)
    assert store.simulate(**given(load=load))["summary"]["requests"] == 2
    assert writer.wait(20) == 0
    assert not files(store)


def test_failed_runs_are_reported_and_not_stored(store: OutcomeStore, tmp_path: Path) -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"scheduler": "elevator"}, "unknown scheduler 'elevator'"),
        ({"replications": 0}, "replications = 0"),
        ({"load": ss.read_trace(tmp_path / "nowhere.trace")}, "nowhere.trace"),
        ({"layout": "elsewhere"}, "elsewhere"),
    ]
    for keys, says in wrong:
        for _ in range(2):
            with pytest.raises(ss.SledsimError, match=says):
                store.simulate(**given(**keys))
    assert not files(store)
    (tmp_path / "taken").write_text("")
    with pytest.raises(ss.SledsimError, match="taken"):
        OutcomeStore(tmp_path / "taken").simulate(**given())


# Files of the store


def test_another_core_reads_nothing_and_removes_what_was_there(
    store: OutcomeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.simulate(**given())
    (old,) = files(store)
    ours = store.folder / "notes.txt"
    ours.write_text("kept")
    monkeypatch.setattr(outcomes, "core_digest", lambda: "f" * 64)
    store.simulate(**given())
    assert store.simulated == 2
    assert not old.parent.exists()
    (new,) = (file for file in files(store) if file != ours)
    assert ours.read_text() == "kept"
    # Nor does a file that was moved pass for one of this core.
    monkeypatch.undo()
    old.parent.mkdir()
    new.rename(old)
    with pytest.warns(RuntimeWarning, match="is damaged"):
        store.simulate(**given())
    assert store.simulated == 3


def test_the_digest_is_that_of_the_core_that_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = Path(_core.__file__).read_bytes()
    assert core_digest() == hashlib.sha256(content).hexdigest()
    other = tmp_path / "core"
    other.write_bytes(b"another")
    core_digest.cache_clear()
    monkeypatch.setattr(_core, "__file__", str(other))
    with pytest.raises(ss.SledsimError, match="replaced since it was loaded"):
        core_digest()
    monkeypatch.undo()
    assert core_digest() == hashlib.sha256(content).hexdigest()


def damaged(content: bytes) -> dict[str, bytes]:
    digest, _, entry = content.partition(b"\n")
    requests = b'"requests": '
    assert requests in entry
    return {
        "empty": b"",
        "half": content[: len(content) // 2],
        "a byte short": content[:-1],
        "a byte more": content + b" ",
        "another number": digest + b"\n" + entry.replace(requests, requests + b"9", 1),
        "no digest": entry,
        "no text": b"\xff\xfe\x00\n\xff",
    }


def test_a_damaged_file_is_reported_and_written_again(store: OutcomeStore) -> None:
    first = store.simulate(**given())
    (file,) = files(store)
    whole = file.read_bytes()
    for name, content in damaged(whole).items():
        file.write_bytes(content)
        with pytest.warns(RuntimeWarning, match=r"\.json: is damaged, simulated again"):
            assert store.simulate(**given()) == first, name
        assert file.read_bytes() == whole, name


def test_the_file_of_another_run_is_not_taken(store: OutcomeStore) -> None:
    """Whole as it is: the key that it holds is another."""
    store.simulate(**given())
    (one,) = files(store)
    first = store.simulate(**given(load=random(seed=2)))
    (other,) = set(files(store)) - {one}
    other.write_bytes(one.read_bytes())
    with pytest.warns(RuntimeWarning, match="is damaged"):
        assert store.simulate(**given(load=random(seed=2))) == first


def test_the_folder_may_be_deleted_meanwhile(
    store: OutcomeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Just before a file is written, too: it is made again."""
    usual, calls = _core.write_atomically, []

    def late(path: Path, content: bytes) -> None:
        calls.append(path)
        if len(calls) == 1:
            path.parent.rmdir()
        usual(path, content)

    monkeypatch.setattr(_core, "write_atomically", late)
    store.simulate(**given())
    assert len(calls) == 2
    assert len(files(store)) == 1


# Processes


def several(folder: str, times: int) -> list[str]:
    """Simulate the same runs as others do at the same time."""
    store = OutcomeStore(folder)
    return [
        json.dumps(store.simulate(**given(load=random(seed=seed))))
        for _ in range(times)
        for seed in range(5)
    ]


def test_processes_share_a_folder(store: OutcomeStore) -> None:
    """All results are equal, in any order; and only complete files are left."""
    with get_context("spawn").Pool(4) as pool:
        said = pool.starmap(several, [(str(store.folder), 4)] * 4)
    wanted = [json.dumps(alone(load=random(seed=seed))) for seed in range(5)]
    assert said == [4 * wanted] * 4
    assert len(files(store)) == 5
    assert several(str(store.folder), 1) == wanted


def test_another_process_finds_what_this_one_has_left(store: OutcomeStore) -> None:
    """With any hash seed, in any folder."""
    first = store.simulate(**given())
    code = f"""
        import json, sledsim as ss
        from sledsim.papers.outcomes import OutcomeStore
        store = OutcomeStore({str(store.folder)!r})
        load = ss.workload("random", requests={REQUESTS}, rate=300)
        print(json.dumps([store.simulate(load, ss.device("g2")), store.simulated]))
    """
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(code)],
        env=os.environ | {"PYTHONHASHSEED": "123"},
        cwd=store.folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert json.loads(done.stdout) == [first, 0]
