"""Traces from pipes give the same results as files."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import json
import lzma
import os
import resource
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import sledsim as ss

from tests.packing import zstd

Reads: TypeAlias = Callable[[str], Any]
Compares: TypeAlias = Callable[[str, str], Any]
MODULE = [sys.executable, "-m", "sledsim"]
LINES = [f"{3 * i}.5 0 {i * 7919 % 90_000} {1 + i % 16} {i % 2}\n" for i in range(6_000)]
"""More than the first bytes that are looked at, and than a pipe holds."""


PACKED: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gzip": gzip.compress,
    "xz": lzma.compress,
    "bzip2": bz2.compress,
    "zstd": zstd,
}


def write_traces() -> None:
    """Write the same requests in several formats."""
    Path("a.trace").write_text("".join(LINES))
    for name in ("a.csv", "a.iolog", "a.parquet"):
        ss.convert_trace("a.trace", name)
    load = ss.workload("random", rate=300, requests=3_000)
    ss.simulate(load, ss.device("g2"), rows="rows.parquet")


@contextlib.contextmanager
def piped(content: bytes) -> Iterator[str]:
    """Hand out the name of a pipe without a name of its own, as `<(...)` does."""
    Path("content").write_bytes(content)
    # Another process: a thread would wait for a call that holds the interpreter.
    with subprocess.Popen(["cat", "content"], stdout=subprocess.PIPE) as feeding:
        assert feeding.stdout is not None
        yield f"/dev/fd/{feeding.stdout.fileno()}"


@pytest.fixture
def said(document: Reads) -> Callable[[str, str], Any]:
    """Run a command about a trace; return its document, without the trace's name."""

    def run(line: str, trace: str) -> Any:
        found = document(line.replace("TRACE", trace))
        return json.loads(json.dumps(found).replace(trace, "TRACE"))

    return run


@pytest.fixture
def compared(said: Callable[[str, str], Any]) -> Callable[[str, str], Any]:
    """Give a file to a command, and then through a pipe: it says the same."""

    def run(line: str, name: str) -> Any:
        expected = said(line, name)
        with piped(Path(name).read_bytes()) as pipe:
            assert said(line, pipe) == expected
        return expected

    return run


ONCE = [
    "run --device g2 --trace TRACE",
    "trace info TRACE",
    "trace convert TRACE -o out.csv",
    "trace hits TRACE --sizes 4",
]
AGAIN = [
    "compare --devices g2,g3 --trace TRACE",
    "run --device g2 --trace TRACE --set address=scale",
    "crash --device g2 --trace TRACE --points 60",
    (
        "run --device g2 --trace TRACE --set layout.name=organ_pipe --set layout.unit_blocks=64 "
        "--set layout.trace.file=TRACE"
    ),
]


@pytest.mark.parametrize("line", ONCE + AGAIN)
def test_every_command_takes_a_pipe(line: str, compared: Compares) -> None:
    Path("a.trace").write_text("".join(LINES))
    compared(line, "a.trace")


@pytest.mark.parametrize("packing", PACKED)
@pytest.mark.parametrize("line", AGAIN[:1] + ONCE[:1])
def test_every_compression_comes_through_a_pipe(
    line: str, packing: str, compared: Compares
) -> None:
    Path("a.bin").write_bytes(PACKED[packing]("".join(LINES).encode()))
    document = compared(line, "a.bin")
    runs = document.get("runs", [document])
    assert {run["summary"]["requests"] for run in runs} == {len(LINES)}


@pytest.mark.parametrize("name", ["a.csv", "a.iolog", "a.parquet", "rows.parquet"])
@pytest.mark.parametrize("line", AGAIN[:1] + ONCE[:2])
def test_every_format_comes_through_a_pipe(name: str, line: str, compared: Compares) -> None:
    """Parquet, too, which is read from its end, and the rows of a run, read twice."""
    write_traces()
    compared(line, name)


def test_standard_input_is_a_dash() -> None:
    content = "".join(LINES).encode()
    Path("a.trace").write_bytes(content)

    def done(words: str, **stdin: Any) -> Any:
        command = [*MODULE, *shlex.split(words), "--json"]
        document = subprocess.run(
            command, capture_output=True, timeout=120, check=True, **stdin
        ).stdout
        return json.loads(document.replace(b'"-"', b'"a.trace"'))

    compare = "compare --devices g2,g3 --trace"
    expected = done(f"{compare} a.trace")
    assert done(f"{compare} -", input=content) == expected
    # A redirected file is read as a file; a partly read one from its position.
    with Path("a.trace").open("rb") as file:
        assert done(f"{compare} -", stdin=file) == expected
    with Path("a.trace").open("rb", buffering=0) as rest:
        rest.seek(sum(map(len, LINES[:2_000])))
        left = done(f"{compare} -", stdin=rest)
    assert {run["summary"]["requests"] for run in left["runs"]} == {len(LINES) - 2_000}
    Path("s.toml").write_text(
        '[device]\nbase = "g2"\n[workload]\nkind = "trace"\nfile = "-"\naddress = "scale"\n'
    )
    assert done("run s.toml", input=content)["summary"]["requests"] == len(LINES)


def refused(line: str, content: bytes, **options: Any) -> str:
    command = [*MODULE, *shlex.split(line)]
    options |= {"input": content, "capture_output": True, "timeout": 120}
    done = subprocess.run(command, check=False, **options)
    assert (done.returncode, done.stdout) == (2, b"")
    error = str(done.stderr, "utf-8")
    assert error.count("\n") == 1, error
    return error


def test_a_pipe_too_large_to_keep_is_an_error_and_leaves_nothing(folder: Path) -> None:
    content, compare = "".join(LINES).encode(), "compare --devices g2,g3 --trace -"
    kept, nowhere = ({**os.environ, "TMPDIR": str(at)} for at in (folder, folder / "none"))
    error = refused(compare, content, env=nowhere)
    assert "standard input: can be read once only, and is copied to" in error
    assert "give a file, or another folder by TMPDIR" in error
    # As on a disk that is full, of which there is none here.
    limit = (100_000, resource.RLIM_INFINITY)
    full = {"env": kept, "preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit)}
    error = refused(compare, content, **full)
    assert "File too large" in error
    assert str(folder) in error
    # One pass needs no copy.
    run = [*MODULE, "run", "--device", "g2", "--trace", "-"]
    subprocess.run(run, input=content, env=nowhere, capture_output=True, timeout=120, check=True)
    # Errors in the trace leave nothing, either.
    assert "standard input:6001: " in refused(compare, content + b"x\n", env=kept)
    twice = "trace convert - /dev/stdin -o two.trace"
    assert "was read before: give a file, or name it once" in refused(twice, content, env=kept)
    assert list(folder.iterdir()) == []


def test_ctrl_c_while_a_pipe_is_kept_leaves_nothing(folder: Path) -> None:
    os.mkfifo("pipe")
    compare = [*MODULE, "compare", "--devices", "g2,g3", "--trace", "pipe"]
    kept = {**os.environ, "TMPDIR": str(folder)}
    with (
        subprocess.Popen(compare, env=kept, stderr=subprocess.PIPE) as process,
        Path("pipe").open("wb") as pipe,
    ):
        pipe.write("".join(LINES * 5).encode())  # more than a pipe holds: it is being read
        pipe.flush()
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=60)
    assert (process.returncode, error) == (130, b"sledsim: interrupted\n")
    assert [path.name for path in folder.iterdir()] == ["pipe"]


def test_a_load_from_a_pipe_is_run_once_or_kept() -> None:
    content = "".join(LINES[:100]).encode()
    device = ss.device("g2")
    with piped(content) as pipe:
        load = ss.read_trace(pipe)
        assert ss.simulate(load, device).summary["requests"] == 100
        with pytest.raises(ss.SledsimError, match=r"was read before.*Load.keep\(\)"):
            ss.simulate(load, device)
        with pytest.raises(ss.SledsimError, match="was read before"):
            ss.compare(load, [device, ss.device("g3")])
    with piped(content) as pipe:
        load = ss.read_trace(pipe).keep()
        times = [ss.simulate(load, device).summary["response_time_ms"] for _ in range(3)]
    assert times[0] == times[1] == times[2]
    with piped(content) as pipe:
        load = ss.read_trace(pipe)
        comparison = ss.compare(load, [device, ss.device("g3")], ["fcfs", "sptf"])
        assert {run.summary["requests"] for run in comparison.runs} == {100}
    assert ss.workload("random").keep().name == "random"


def test_an_exception_in_progress_ends_the_copy() -> None:
    def stop(_done: int, _of: int | None) -> None:
        raise InterruptedError

    read, write = os.pipe()
    text = "".join(LINES).encode()

    def feed() -> None:  # for as long as it is read
        with contextlib.suppress(BrokenPipeError), os.fdopen(write, "wb") as pipe:
            while True:
                pipe.write(text)

    feeding = threading.Thread(target=feed)
    feeding.start()
    with pytest.raises(InterruptedError):
        ss.read_trace(f"/dev/fd/{read}").keep(stop)
    os.close(read)
    feeding.join()
