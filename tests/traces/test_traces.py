"""Traces through Python and the command line: statistics, conversion, generation."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl
import pytest
import sledsim as ss

Says: TypeAlias = Callable[[str], str]
Reads: TypeAlias = Callable[[str], Any]
SAMPLE = "sample:postmark-ext4"
SHARED = Path(__file__).parents[3] / "shared" / "traces"


def sample_lines() -> list[list[str]]:
    """Return the fields of the sample trace."""
    path = Path(ss.__file__).parent / "data" / "traces" / "postmark-ext4.trace.gz"
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    return [line.split() for line in lines if not line.startswith("#")]


def small(name: str = "a.trace") -> str:
    """Write three requests."""
    Path(name).write_text("0.5 3 100 8 1\n1.25 3 108 8 0\n4 7 9990 10 0\n")
    return name


# trace info


def test_info_of_the_sample_against_its_lines() -> None:
    info = ss.trace_info(SAMPLE)
    lines = sample_lines()
    frame = pl.DataFrame(
        [(float(ms), int(at), int(size), kind == "1") for ms, _, at, size, kind in lines],
        schema=["ms", "block", "blocks", "read"],
        orient="row",
    )
    assert info["requests"] == len(frame)
    assert info["sizes"]["all"]["total_bytes"] == 512 * frame["blocks"].sum()
    assert info["sizes"]["read"]["max_bytes"] == 512 * frame.filter("read")["blocks"].max()  # type: ignore[operator]
    gaps = frame["ms"].diff().drop_nulls()
    scv = gaps.var(ddof=0) / gaps.mean() ** 2  # type: ignore[operator]
    assert info["arrivals"]["gap_scv"] == pytest.approx(scv, rel=1e-9)
    since = frame["ms"] - frame["ms"][0]
    for window in info["arrivals"]["windows"]:
        counts = (since / (1e3 * window["window_s"])).floor().value_counts()["count"]
        assert window["peak_requests"] == counts.max()
    units = {
        unit
        for block, blocks in zip(frame["block"], frame["blocks"], strict=True)
        for unit in range(block // 8, -(-(block + blocks) // 8))
    }
    assert info["footprint"]["units"] == len(units)
    assert info["footprint"]["bytes"] == 4096 * len(units)


def test_the_text_says_what_the_document_does(text: Says, document: Reads) -> None:
    info, out = document(f"trace info {SAMPLE}"), text(f"trace info {SAMPLE}")
    assert f"{info['requests']:,}" in out
    assert f"{info['sizes']['write']['requests']:,}" in out
    for line in info["reuse"]["lru_hit_ratio"]:
        assert f"{line['hit_ratio']:.1%}" in out
    quick = text(f"trace info {SAMPLE} --quick")
    assert "LRU" not in quick
    assert "footprint" not in quick
    sampled = text(f"trace info {SAMPLE} --max-units 1000")
    rate = ss.trace_info(SAMPLE, max_units=1000)["reuse"]["sampling_rate"]
    assert f"from a sample of {rate:.2%} of the units" in sampled
    # The units are known: 1,000 of them by chance.
    assert rate == pytest.approx(1000 / info["footprint"]["units"], rel=0.15)


def test_late_requests_are_counted_and_sorted(text: Says, document: Reads) -> None:
    Path("late.trace").write_text("5 0 0 8 1\n3.5 0 8 8 1\n7 0 16 8 1\n")
    out = text("trace info late.trace")
    assert "1 are late by up to 1.500 ms and counted late; see --sort" in out
    assert document("trace info late.trace --sort 1.5")["arrivals"]["late_requests"] == 0
    report = document("trace convert late.trace -o sorted.trace --sort 1.5")
    assert report["output"]["requests"] == 3
    times = [line.split()[0] for line in Path("sorted.trace").read_text().splitlines()]
    assert times == ["3.500000", "5.000000", "7.000000"]


def test_many_devices_are_cut_short_in_text_only(text: Says, document: Reads) -> None:
    Path("many.trace").write_text("".join(f"{n} {n % 30} 0 8 1\n" for n in range(100)))
    assert "... and 10 more devices (--json lists them)" in text("trace info many.trace")
    assert len(document("trace info many.trace")["devices"]) == 30


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_a_picture_of_a_trace(ending: str, text: Says) -> None:
    out = text(f"trace info {SAMPLE} --plot a.{ending}")
    assert out.endswith(f"\n\nwritten: a.{ending}\n")
    head = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[ending]
    assert Path(f"a.{ending}").read_bytes().startswith(head)
    assert [path.name for path in Path().iterdir()] == [f"a.{ending}"]


def test_pictures_of_little_traces_too(text: Says, document: Reads) -> None:
    small()
    Path("one.trace").write_text("5 0 0 8 1\n")
    Path("same.trace").write_text("5 0 0 8 0\n5 0 8 8 0\n")
    for name in ("a", "one", "same"):
        text(f"trace info {name}.trace --plot {name}.png --quick")
    # Data of the picture alone are not in the document.
    with_picture = document("trace info a.trace --plot a.png")
    assert with_picture == document("trace info a.trace")


@pytest.mark.parametrize("function", [ss.trace_info, ss.convert_trace])
def test_ctrl_c_interrupts_in_a_notebook(function: Callable[..., object]) -> None:
    # Without the command line's thread: the call itself must look for signals.
    endless = "f = open('pipe', 'w')\nwhile True: f.write('1 0 0 8 1\\n' * 1000)"
    os.mkfifo("pipe")
    output = ["out.trace"] if function is ss.convert_trace else []
    with subprocess.Popen([sys.executable, "-c", endless], stderr=subprocess.DEVNULL) as writer:
        try:
            threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
            with pytest.raises(KeyboardInterrupt):
                function("pipe", *output, format="disksim_ascii")
        finally:
            writer.kill()
    assert [path.name for path in Path().iterdir()] == ["pipe"]


def test_progress_is_told_and_may_stop_it() -> None:
    lines = "".join(f"{n} 0 {n % 1000} 8 1\n" for n in range(400_000))
    Path("long.trace").write_text(lines)
    seen: list[tuple[int, int | None]] = []
    ss.trace_info(
        "long.trace", format="disksim_ascii", progress=lambda done, of: seen.append((done, of))
    )
    assert all(of == len(lines) and 0 < done <= of for done, of in seen)
    assert seen == sorted(seen)

    def stop(_done: int, _of: int | None) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ss.convert_trace(["long.trace"] * 9, "out.trace", format="disksim_ascii", progress=stop)
    load = ss.workload("random", rate=500, requests=100_000_000)
    with pytest.raises(ZeroDivisionError):
        ss.generate_trace(load, "out.trace", blocks=100_000, progress=stop)
    assert not Path("out.trace").exists()


# trace convert


def test_converting_the_sample_changes_nothing() -> None:
    report = ss.convert_trace(SAMPLE, "out.trace")
    lines = [line.split() for line in Path("out.trace").read_text().splitlines()]
    source = sample_lines()
    assert len(lines) == len(source) == report["output"]["requests"]
    for ours, theirs in zip(lines, source, strict=True):
        assert float(ours[0]) == pytest.approx(float(theirs[0]), abs=1e-6)
        assert ours[1:] == theirs[1:]
    before, after = ss.trace_info(SAMPLE), ss.trace_info("out.trace")
    for key in before.keys() - {"path", "compression"}:
        assert after[key] == before[key], key


def test_a_real_trace_of_another_format(document: Reads) -> None:
    path = SHARED / "tpcc-small.mqsim"
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    report = document(f"trace convert {path} --format mqsim -o out.trace --device 3")
    mqsim = [line.split() for line in path.read_text().splitlines()]
    expected = [
        [f"{int(ns) // 1_000_000}.{int(ns) % 1_000_000:06}", device, block, blocks, kind]
        for ns, device, block, blocks, kind in mqsim
        if device == "3"
    ]
    assert [line.split() for line in Path("out.trace").read_text().splitlines()] == expected
    assert report["left_out"]["other_devices"] == len(mqsim) - len(expected)


def test_merged_traces_map_their_devices(text: Says, document: Reads) -> None:
    small("a.trace")
    small("b.trace")
    report = document("trace convert a.trace b.trace -o c.trace")
    table = [(line["input"], line["device"], line["output_device"]) for line in report["devices"]]
    assert table == [("a.trace", 3, 0), ("b.trace", 3, 1), ("a.trace", 7, 2), ("b.trace", 7, 3)]
    lines = [line.split()[:3] for line in Path("c.trace").read_text().splitlines()]
    assert [line[1] for line in lines] == ["0", "1", "0", "1", "2", "3"]
    out = text("trace convert a.trace b.trace -o c.trace --keep-devices --requests 3")
    assert "reading ended by --requests" in out
    lines = [line.split()[:3] for line in Path("c.trace").read_text().splitlines()]
    assert [line[1] for line in lines] == ["3", "3", "3"]


def test_a_sample_keeps_the_hit_ratios_of_smaller_caches() -> None:
    # A quarter of the places with a quarter of the cache: the principle of SHARDS.
    keys: dict[str, Any] = {"requests": 300_000, "size": "fixed", "mean_size_kib": 4, "blocking": 8}
    load = ss.workload("random", rate=1000, **keys)
    ss.generate_trace(load, "whole.trace", blocks=1_000_000)
    report = ss.convert_trace("whole.trace", "part.trace", sample=0.25, seed=3)
    assert report["output"]["requests"] == pytest.approx(75_000, rel=0.02)
    ss.convert_trace("whole.trace", "thin.trace", every=4)

    def ratio(path: str, mib: int) -> float:
        lines = ss.trace_info(path)["reuse"]["lru_hit_ratio"]
        found: float = next(line["hit_ratio"] for line in lines if line["cache_mib"] == mib)
        return found

    whole = ratio("whole.trace", 256)
    assert 0.3 < whole < 0.7
    assert ratio("part.trace", 64) == pytest.approx(whole, abs=0.01)
    assert ratio("thin.trace", 64) < whole - 0.2


# trace generate


def test_an_open_load_is_written_as_it_would_run(document: Reads) -> None:
    load = "--workload random --set rate=500 --set requests=2000"
    report = document(f"trace generate {load} --device g2 -o open.trace")
    assert report["arrivals"] == "open"
    run = ss.simulate(ss.workload("random", rate=500, requests=2000), ss.device("g2"))
    again = ss.simulate(ss.read_trace("open.trace"), ss.device("g2"))
    same_requests(run, again)
    blocks = document(f"trace generate {load} --blocks {ss.device('g2').blocks} -o b.trace")
    assert Path("b.trace").read_bytes() == Path("open.trace").read_bytes()
    assert blocks["device"] is None


def test_a_closed_load_is_written_with_the_arrivals_that_happened() -> None:
    g2, load = ss.device("g2"), ss.workload("random", queue_depth=4, think_ms=1, requests=2000)
    report = ss.generate_trace(load, "closed.trace", device=g2)
    assert report["arrivals"] == "closed, as simulated"
    run = ss.simulate(load, g2)
    # As an open trace it meets the same queue, and so takes the same times.
    same_requests(run, ss.simulate(ss.read_trace("closed.trace"), g2))


def same_requests(one: ss.Run, other: ss.Run) -> None:
    """Compare requests, arrivals and completions."""
    columns = ["arrival_ns", "lbn", "blocks", "op", "completion_ns"]
    frames = [
        pl.DataFrame(run.rows).select(columns).with_columns(pl.col("op").cast(pl.String))
        for run in (one, other)
    ]
    assert len(frames[0]) == 2000
    assert frames[0].equals(frames[1])
