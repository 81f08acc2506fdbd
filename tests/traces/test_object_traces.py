"""Traces of accesses to objects (oracleGeneral): hit ratios alone, no simulation."""

from __future__ import annotations

import contextlib
import gzip
import json
import lzma
import os
import random
import struct
import threading
import warnings
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import pytest
import sledsim as ss
from sledsim.cli import main

from tests.packing import zstd

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

RECORD = struct.Struct("<IQIq")
"""u32 time in s, u64 id, u32 size, i64 number of the next access (libCacheSim, oracleGeneral)."""


def objects(count: int, seed: int = 1) -> list[int]:
    draw = random.Random(seed)
    return [(int(draw.paretovariate(0.7)) % 700) * 0x9E3779B97F4A7C15 % 2**64 for _ in range(count)]


def packed(keys: list[int], first: int = 1, never: int = -1) -> bytes:
    """Write accesses; the numbers of accesses begin with `first` (1 in libCacheSim's)."""
    coming: dict[int, int] = {}
    records = []
    for now in range(len(keys) - 1, -1, -1):
        following = coming.get(keys[now], never)
        coming[keys[now]] = now + first
        records.append(RECORD.pack(1_700_000_000 + now // 50, keys[now], 1 + now % 9000, following))
    return b"".join(reversed(records))


def lru_hits(keys: list[int], slots: int) -> int:
    kept: OrderedDict[int, None] = OrderedDict()
    hits = 0
    for key in keys:
        hits += key in kept
        kept[key] = None
        kept.move_to_end(key)
        if len(kept) > slots:
            kept.popitem(last=False)
    return hits


def optimal_hits(keys: list[int], slots: int) -> int:
    """Evict whose next access is farthest, word for word."""
    at: dict[int, list[int]] = {}
    for now in range(len(keys) - 1, -1, -1):
        at.setdefault(keys[now], []).append(now)
    kept: set[int] = set()
    hits = 0
    for key in keys:
        at[key].pop()
        hits += key in kept
        if key not in kept and len(kept) == slots:
            kept.remove(max(kept, key=lambda other: at[other][-1] if at[other] else len(keys)))
        kept.add(key)
    return hits


PACKED: dict[str, Callable[[bytes], bytes]] = {
    "x.oracleGeneral": bytes,
    "x.oracleGeneral.bin": bytes,
    "x.oracleGeneral.zst": zstd,
    "x.gz": gzip.compress,
    "x.xz": lzma.compress,
}


@pytest.mark.parametrize("name", PACKED)
def test_hits_are_those_of_the_objects_whatever_their_sizes(name: str, tmp_path: Path) -> None:
    keys = objects(9_000)
    file = tmp_path / name
    file.write_bytes(PACKED[name](packed(keys, never=2**63 - 1 if name == "x.gz" else -1)))
    # A segment of 1 MiB: sizes in MiB are numbers of objects.
    slots = [1, 20, 300]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rows = ss.hit_ratios(file, sizes_mib=slots, segment_kib=1024, policies=["lru", "opt"])
    assert [row["hits"] for row in rows[:3]] == [lru_hits(keys, each) for each in slots]
    assert [row["hits"] for row in rows[3:]] == [optimal_hits(keys, each) for each in slots]
    for row in rows:
        assert row["requests"] == row["accesses"] == 9_000
        assert row["hit_ratio"] == row["hits"] / 9_000
        assert row["read_hit_ratio"] is row["write_hit_ratio"] is None
    (small,) = ss.hit_ratios(file, sizes_mib=[300 / 128], policies=["lru"])
    assert small["hits"] == rows[2]["hits"]


def test_the_beginning_of_a_file_and_a_warm_up(tmp_path: Path) -> None:
    keys = objects(3_000)
    file = tmp_path / "x.oracleGeneral"
    file.write_bytes(packed(keys))
    for policy, hits in (("lru", lru_hits), ("opt", optimal_hits)):
        asked: dict[str, Any] = {"sizes_mib": [100], "segment_kib": 1024, "policies": [policy]}
        (begun,) = ss.hit_ratios(ss.read_trace(file, requests=800), **asked)
        assert (begun["hits"], begun["requests"]) == (hits(keys[:800], 100), 800)
        if policy == "lru":
            loads = (
                ss.read_trace(file, warm_up_requests=800),
                ss.read_trace(file, warm_up_s=16),  # 50 in a second
            )
            for load in loads:
                (warm,) = ss.hit_ratios(load, **asked)
                assert warm["hits"] == hits(keys, 100) - begun["hits"]
                assert warm["requests"] == 2_200


def test_the_command_says_that_these_are_objects(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "x.oracleGeneral.zst"
    keys = objects(2_000)
    file.write_bytes(zstd(packed(keys)))
    line = ["trace", "hits", str(file), "--sizes", "2", "--policies", "opt,lru"]
    assert main(line) == 0
    said = capsys.readouterr().out
    assert f"{file}: 2,000 accesses to objects, one segment of 8 KiB each\n" in said
    assert f"{optimal_hits(keys, 256) / 2_000:.1%}" in said
    assert main([*line, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["workload"] == {
        "workload": "trace",
        "path": str(file),
        "format": "oracle_general",
        "format_from": "content",
        "format_others": [],
        "compression": "zstd",
        "not_requests": 0,
        "empty_requests": 0,
        "times_rounded": 0,
        "glitches_dropped": 0,
        "first_glitch": None,
        "requests": 2_000,
        "wrong_next_accesses": 0,
        "first_wrong_next_access": None,
    }


@pytest.mark.parametrize("first", [0, 1])
def test_next_accesses_are_compared_and_wrong_ones_told(
    first: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keys = objects(2_000)
    right = packed(keys, first)
    file = tmp_path / "x.oracleGeneral"
    asked: dict[str, Any] = {"sizes_mib": [50], "segment_kib": 1024}

    def told(content: bytes, policy: str = "opt") -> tuple[int, list[str]]:
        file.write_bytes(content)
        with warnings.catch_warnings(record=True) as raised:
            warnings.simplefilter("always")
            (row,) = ss.hit_ratios(file, policies=[policy], **asked)
        return row["hits"], [str(each.message) for each in raised]

    # Right, and of a file whose end was cut off: later accesses are not there to compare.
    assert told(right) == (optimal_hits(keys, 50), [])
    assert told(right[: 24 * 1500]) == (optimal_hits(keys[:1500], 50), [])
    # A next access one later, and one that is said not to come: hits do not change.
    records = [list(RECORD.unpack_from(right, 24 * now)) for now in range(2_000)]
    coming = [now for now, record in enumerate(records) if record[3] >= 0]
    records[coming[40]][3] += 1
    records[coming[90]][3] = -1
    wrong = b"".join(RECORD.pack(*record) for record in records)
    hits, (said,) = told(wrong)
    assert hits == optimal_hits(keys, 50)
    assert said.startswith(
        f"{file}: 2 of 2000 records state a wrong next access, the first in record "
        f"{coming[40] + 1}: "
    )
    assert told(wrong, "lru") == (lru_hits(keys, 50), [])
    assert main(["trace", "hits", str(file), "--policies", "opt"]) == 0
    assert f"caution: {said}" in capsys.readouterr().out
    # One that never comes.
    last = min(set(range(2_000)) - set(coming))
    records[last][3] = 1_999 + first
    assert ": 3 of 2000 records" in told(b"".join(RECORD.pack(*each) for each in records))[1][0]


def fill(pipe: Path, content: bytes) -> None:
    with contextlib.suppress(BrokenPipeError):
        pipe.write_bytes(content)


def test_a_pipe_needs_the_format(tmp_path: Path) -> None:
    """It can be read once, so that nothing is looked at before it is read as requests."""
    file, pipe = tmp_path / "x.oracleGeneral", tmp_path / "pipe"
    file.write_bytes(zstd(packed(objects(9_000))))
    asked: dict[str, Any] = {"sizes_mib": [1, 4], "policies": ["arc", "opt"]}
    for named in (True, False):
        os.mkfifo(pipe)
        writer = threading.Thread(target=fill, args=(pipe, file.read_bytes()))
        writer.start()
        load = ss.read_trace(pipe)
        if named:
            load = load.with_keys(trace_format="oracle_general")
            assert ss.hit_ratios(load, **asked) == ss.hit_ratios(file, **asked)
        else:
            with pytest.raises(ss.TraceError, match="of a pipe only if trace_format"):
                ss.hit_ratios(load, **asked)
        writer.join()
        pipe.unlink()


def refused(says: str, file: Path, **keys: Any) -> ss.SledsimError:
    load = ss.read_trace(file, **keys)
    with pytest.raises(ss.SledsimError, match=says) as error:
        ss.hit_ratios(load, sizes_mib=[1], policies=["lru"])
    return error.value


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "x.oracleGeneral"
    right = packed(objects(100))
    file.write_bytes(right[:-5])
    error = refused("x.oracleGeneral: byte 2376: the file ends in the middle of a record", file)
    assert isinstance(error, ss.TraceError)
    assert error.file == str(file)
    file.write_bytes(right[:23])
    refused("ends in the middle of a record: 23 of 24 bytes", file, trace_format="oracle_general")
    assert isinstance(refused("x.oracleGeneral", file), ss.TraceError)
    for keys in ({}, {"trace_format": "oracle_general"}):
        file.write_bytes(b"")
        assert isinstance(refused("no requests|no accesses", file, **keys), ss.TraceError)
    for content in (right, packed(objects(9_000))):
        file.write_bytes(zstd(content)[:-9])
        refused("the zstd data end in the middle", file)
    refused("x.none", tmp_path / "x.none")


def test_records_of_size_0_are_counted_and_passed_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "x.bin"
    file.write_bytes(b"".join(RECORD.pack(5, key, size, -1) for key, size in [(1, 4), (2, 0)] * 9))
    keys = ["--format", "oracle_general", "--policies", "lru"]
    assert main(["trace", "hits", str(file), *keys]) == 0
    said = capsys.readouterr().out
    assert "9 accesses to objects" in said
    assert "passed over: 9 requests of size 0 left out" in said
    assert "88.9%" in said  # 8 of 9


def test_what_has_no_effect_is_refused_by_name(tmp_path: Path) -> None:
    file = tmp_path / "x.oracleGeneral"
    file.write_bytes(packed(objects(100)))
    for keys in ({"address": "wrap"}, {"time_scale": 2.0}, {"queue_depth": 4}, {"sort_ms": 1.0}):
        (key,) = keys
        error = refused(f"^{key}: has no effect on accesses to objects", file, **keys)
        assert error.key == key
    ways: list[dict[str, Any]] = [{"device": "g2"}, {"device_blocks": 10**6}]
    for given in ways:
        with pytest.raises(ss.SledsimError, match="device, device_blocks: have no effect"):
            ss.hit_ratios(file, **given)


def test_nothing_else_takes_it(tmp_path: Path) -> None:
    file, out = tmp_path / "x.oracleGeneral", tmp_path / "y.csv"
    file.write_bytes(packed(objects(100)))
    why = (
        "oracleGeneral traces cannot drive a timing simulation: their times are whole seconds, and "
        "they do not say what is a read and what a write; .* or hit_ratios"
    )
    for work in (
        lambda: ss.simulate(file, "g2"),
        lambda: ss.trace_info(file),
        lambda: ss.convert_trace(file, out),
        lambda: ss.compare(file, "g2", ["fcfs", "sptf"]),
        lambda: ss.simulate(ss.read_trace(file, trace_format="oracle_general"), "g2"),
    ):
        with pytest.raises(ss.TraceError, match=why):
            work()
    assert not out.exists()


def test_other_formats_are_not_taken_for_it(tmp_path: Path) -> None:
    """Also not by their ending: the content tells."""
    plain = tmp_path / "x.oracleGeneral"
    ss.convert_trace("sample:postmark-ext4", plain, to="disksim_ascii")
    ours = ss.hit_ratios(plain, sizes_mib=[1], policies=["lru"])
    assert ours == ss.hit_ratios("sample:postmark-ext4", sizes_mib=[1], policies=["lru"])
    assert ours[0]["read_hit_ratio"] is not None
