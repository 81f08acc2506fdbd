"""Traces of accesses to objects (oracleGeneral): hit ratios alone, no simulation."""

from __future__ import annotations

import contextlib
import gzip
import lzma
import os
import random
import struct
import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import sledsim as ss

from tests.packing import zstd

Says: TypeAlias = Callable[[str], str]
Reads: TypeAlias = Callable[[str], Any]
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


FILE = Path("x.oracleGeneral")
PACKED: dict[str, Callable[[bytes], bytes]] = {
    "x.oracleGeneral": bytes,
    "x.oracleGeneral.bin": bytes,
    "x.oracleGeneral.zst": zstd,
    "x.gz": gzip.compress,
    "x.xz": lzma.compress,
}


@pytest.mark.parametrize("name", PACKED)
def test_hits_are_those_of_the_objects_whatever_their_sizes(name: str) -> None:
    keys = objects(9_000)
    file = Path(name)
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


def test_the_beginning_of_a_file_and_a_warm_up() -> None:
    keys = objects(3_000)
    FILE.write_bytes(packed(keys))
    for policy, hits in (("lru", lru_hits), ("opt", optimal_hits)):
        asked: dict[str, Any] = {"sizes_mib": [100], "segment_kib": 1024, "policies": [policy]}
        (begun,) = ss.hit_ratios(ss.read_trace(FILE, requests=800), **asked)
        assert (begun["hits"], begun["requests"]) == (hits(keys[:800], 100), 800)
        if policy == "lru":
            loads = (
                ss.read_trace(FILE, warm_up_requests=800),
                ss.read_trace(FILE, warm_up_s=16),  # 50 in a second
            )
            for load in loads:
                (warm,) = ss.hit_ratios(load, **asked)
                assert warm["hits"] == hits(keys, 100) - begun["hits"]
                assert warm["requests"] == 2_200


def test_the_command_says_that_these_are_objects(text: Says, document: Reads) -> None:
    keys = objects(2_000)
    FILE.write_bytes(zstd(packed(keys)))
    line = f"trace hits {FILE} --sizes 2 --policies opt,lru"
    said = text(line)
    assert f"{FILE}: 2,000 accesses to objects, one segment of 8 KiB each\n" in said
    assert f"{optimal_hits(keys, 256) / 2_000:.1%}" in said
    zeros = "not_requests empty_requests times_rounded glitches_dropped wrong_next_accesses"
    assert document(line)["workload"] == {
        "workload": "trace",
        "path": str(FILE),
        "format": "oracle_general",
        "requests": 2_000,
        "format_from": "content",
        "format_others": [],
        "compression": "zstd",
        **dict.fromkeys(zeros.split(), 0),
        **dict.fromkeys(("first_glitch", "first_wrong_next_access")),
    }


@pytest.mark.parametrize("first", [0, 1])
def test_next_accesses_are_compared_and_wrong_ones_told(first: int, text: Says) -> None:
    keys = objects(2_000)
    right = packed(keys, first)
    asked: dict[str, Any] = {"sizes_mib": [50], "segment_kib": 1024}

    def told(content: bytes, policy: str = "opt") -> tuple[int, list[str]]:
        FILE.write_bytes(content)
        with warnings.catch_warnings(record=True) as raised:
            warnings.simplefilter("always")
            (row,) = ss.hit_ratios(FILE, policies=[policy], **asked)
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
        f"{FILE}: 2 of 2000 records state a wrong next access, the first in record "
        f"{coming[40] + 1}: "
    )
    assert told(wrong, "lru") == (lru_hits(keys, 50), [])
    assert f"caution: {said}" in text(f"trace hits {FILE} --policies opt")
    # One that never comes.
    last = min(set(range(2_000)) - set(coming))
    records[last][3] = 1_999 + first
    assert ": 3 of 2000 records" in told(b"".join(RECORD.pack(*each) for each in records))[1][0]


def fill(pipe: Path, content: bytes) -> None:
    with contextlib.suppress(BrokenPipeError):
        pipe.write_bytes(content)


def test_a_pipe_needs_the_format() -> None:
    """It can be read once, so that nothing is looked at before it is read as requests."""
    pipe = Path("pipe")
    FILE.write_bytes(zstd(packed(objects(9_000))))
    asked: dict[str, Any] = {"sizes_mib": [1, 4], "policies": ["arc", "opt"]}
    for named in (True, False):
        os.mkfifo(pipe)
        writer = threading.Thread(target=fill, args=(pipe, FILE.read_bytes()))
        writer.start()
        load = ss.read_trace(pipe)
        if named:
            load = load.with_keys(trace_format="oracle_general")
            assert ss.hit_ratios(load, **asked) == ss.hit_ratios(FILE, **asked)
        else:
            with pytest.raises(ss.TraceError, match="of a pipe only if trace_format"):
                ss.hit_ratios(load, **asked)
        writer.join()
        pipe.unlink()


RIGHT = packed(objects(100))
LONG = packed(objects(9_000))
NAMED = {"trace_format": "oracle_general"}
SIMULATED = (
    "oracleGeneral traces cannot drive a timing simulation: their times are whole seconds, and "
    "they do not say what is a read and what a write; .* or hit_ratios"
)


@pytest.mark.parametrize(
    ("content", "keys", "says"),
    [
        (RIGHT[:-5], {}, "x.oracleGeneral: byte 2376: the file ends in the middle of a record"),
        (RIGHT[:23], NAMED, "ends in the middle of a record: 23 of 24 bytes"),
        (RIGHT[:23], {}, "x.oracleGeneral"),
        (b"", {}, "no requests|no accesses"),
        (b"", NAMED, "no requests|no accesses"),
        (zstd(RIGHT)[:-9], {}, "the zstd data end in the middle"),
        (zstd(LONG)[:-9], {}, "the zstd data end in the middle"),
    ],
)
def test_damaged_files_are_refused(content: bytes, keys: dict[str, Any], says: str) -> None:
    FILE.write_bytes(content)
    with pytest.raises(ss.TraceError, match=says) as error:
        ss.hit_ratios(ss.read_trace(FILE, **keys), sizes_mib=[1], policies=["lru"])
    assert error.value.file == str(FILE)


def test_records_of_size_0_are_counted_and_passed_over(text: Says) -> None:
    FILE.write_bytes(b"".join(RECORD.pack(5, key, size, -1) for key, size in [(1, 4), (2, 0)] * 9))
    said = text(f"trace hits {FILE} --format oracle_general --policies lru")
    assert "9 accesses to objects" in said
    assert "passed over: 9 requests of size 0 left out" in said
    assert "88.9%" in said  # 8 of 9


def test_what_has_no_effect_is_refused_by_name() -> None:
    FILE.write_bytes(RIGHT)
    cases: list[dict[str, Any]] = [{"address": "wrap"}, {"time_scale": 2.0}, {"queue_depth": 4}]
    for keys in (*cases, {"sort_ms": 1.0}):
        (key,) = keys
        with pytest.raises(ss.SpecError, match=f"^{key}: has no effect on accesses to ob") as error:
            ss.hit_ratios(ss.read_trace(FILE, **keys))
        assert error.value.key == key
    ways: list[dict[str, Any]] = [{"device": "g2"}, {"device_blocks": 10**6}]
    for given in ways:
        with pytest.raises(ss.SledsimError, match="device, device_blocks: have no effect"):
            ss.hit_ratios(FILE, **given)


def test_nothing_else_takes_it() -> None:
    FILE.write_bytes(RIGHT)
    for work in (
        lambda: ss.simulate(FILE, "g2"),
        lambda: ss.trace_info(FILE),
        lambda: ss.convert_trace(FILE, "y.csv"),
        lambda: ss.compare(FILE, "g2", ["fcfs", "sptf"]),
        lambda: ss.simulate(ss.read_trace(FILE, trace_format="oracle_general"), "g2"),
    ):
        with pytest.raises(ss.TraceError, match=SIMULATED):
            work()
    assert not Path("y.csv").exists()


def test_other_formats_are_not_taken_for_it() -> None:
    """Also not by their ending: the content tells."""
    ss.convert_trace("sample:postmark-ext4", FILE, to="disksim_ascii")
    ours = ss.hit_ratios(FILE, sizes_mib=[1], policies=["lru"])
    assert ours == ss.hit_ratios("sample:postmark-ext4", sizes_mib=[1], policies=["lru"])
    assert ours[0]["read_hit_ratio"] is not None
