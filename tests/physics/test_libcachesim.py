"""Replacement policies beside libCacheSim's, request for request (docs/reference/caches.md)."""

from __future__ import annotations

import itertools
import random
import struct
from typing import TYPE_CHECKING

import pytest
import sledsim as ss

if TYPE_CHECKING:
    from pathlib import Path

THEIRS = pytest.importorskip(
    "libcachesim", reason="libCacheSim is not installed (wheels are for Linux on x86-64)"
)
REQUESTS = 6000
PAIRS = {
    "lru": "LRU",
    "arc": "ARC",
    "slru(segments=4)": "SLRU",
    "s3fifo(fill=main)": "S3FIFO",
    "lfuda(age=each_hit)": "LFUDA",
}
"""Our policies, with the keys that make them libCacheSim's, and its classes."""


def test_every_policy_is_compared() -> None:
    assert {policy.partition("(")[0] for policy in PAIRS} == set(ss.policies())


def zipf() -> list[int]:
    """Draw keys by a Zipf law with exponent 0.9."""
    weights = itertools.accumulate(1 / rank**0.9 for rank in range(1, 1001))
    return random.Random(1).choices(range(1000), cum_weights=list(weights), k=REQUESTS)


def mix() -> list[int]:
    """Mix them with scans of 1 to 500 keys, some of which come back."""
    draw, keys = random.Random(2), iter(zipf())
    mixed: list[int] = []
    while len(mixed) < REQUESTS:
        mixed += itertools.islice(keys, draw.randrange(1, 500))
        start = 1000 + draw.randrange(3000)
        mixed += range(start, start + draw.randrange(1, 500))
    return mixed[:REQUESTS]


def answers(name: str, slots: int, keys: list[int]) -> list[bool]:
    """Ask libCacheSim for objects of size 1."""
    theirs = getattr(THEIRS, name)(slots, hashpower=12)
    request = THEIRS.Request()
    request.obj_size = 1
    found = []
    for key in keys:
        request.obj_id = key
        found.append(bool(theirs.get(request)))
    return found


def test_what_a_hit_leaves_below_the_age_stays() -> None:
    # 4 and 2 rise to 10 and more; the hit on 3, the last with the age 1, makes that 10.
    keys = [1, 2, 3, 4, *[4] * 8, *[2] * 9, 3, 5, 6, 7, 8, 3]
    expected = answers("LFUDA", 3, keys)
    ours = ss.caches.cache("lfuda(age=each_hit)", 3)
    assert [ours.access(key) for key in keys] == expected
    assert expected[-1]


@pytest.mark.parametrize("keys", [zipf(), mix()], ids=["zipf", "mix"])
@pytest.mark.parametrize("slots", [40, 100, 300])
@pytest.mark.parametrize("policy", PAIRS)
def test_every_request_is_a_hit_in_both_or_in_neither(
    policy: str, slots: int, keys: list[int]
) -> None:
    ours = ss.caches.cache(policy, slots)
    expected = answers(PAIRS[policy], slots, keys)
    assert [ours.access(key) for key in keys] == expected
    assert 0.1 < sum(expected) / len(keys) < 0.9
    plain = policy.partition("(")[0]
    if plain != policy:
        other = ss.caches.cache(plain, slots)
        assert [other.access(key) for key in keys] != expected, "the key changes nothing"


@pytest.mark.parametrize("keys", [zipf(), mix()], ids=["zipf", "mix"])
def test_a_file_of_accesses_has_the_same_hits_also_at_the_optimum(
    keys: list[int], tmp_path: Path
) -> None:
    """Both read the file; its class Belady follows the next accesses that are stated there."""
    file, records = tmp_path / "x.oracleGeneral", []
    coming: dict[int, int] = {}
    for now in range(REQUESTS - 1, -1, -1):
        records.append(struct.pack("<IQIq", now // 99, keys[now], 512, coming.get(keys[now], -1)))
        coming[keys[now]] = now + 1
    file.write_bytes(b"".join(reversed(records)))
    slots = [40, 100, 300]
    rows = ss.hit_ratios(file, sizes_mib=slots, segment_kib=1024, policies=["opt", "lru"])
    theirs = []
    for kind, size in itertools.product((THEIRS.Belady, THEIRS.LRU), slots):
        as_they_are = THEIRS.ReaderInitParam(ignore_obj_size=True)
        reader = THEIRS.TraceReader(str(file), THEIRS.TraceType.ORACLE_GENERAL_TRACE, as_they_are)
        miss_ratio, _ = kind(size, hashpower=12).process_trace(reader)
        theirs.append(REQUESTS - round(REQUESTS * miss_ratio))
    assert [row["hits"] for row in rows] == theirs
