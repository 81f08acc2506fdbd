"""Replacement policies and hit ratios through Python and the command line."""

from __future__ import annotations

import json
import random
from collections import OrderedDict
from functools import lru_cache
from typing import TYPE_CHECKING

import pytest
import sledsim as ss
from sledsim.cli import main

if TYPE_CHECKING:
    from pathlib import Path

SAMPLE = "sample:postmark-ext4"


def test_lru_is_that_of_the_standard_library() -> None:
    draw = random.Random(1)
    keys = [int(draw.paretovariate(0.7)) % 500 for _ in range(20_000)]
    for slots in (1, 2, 30, 200):
        there = lru_cache(maxsize=slots)(lambda key: key)
        for key in keys:
            there(key)
        ours = ss.caches.cache("lru", slots)
        assert ours.hits(keys) == there.cache_info().hits
        assert len(ours) == there.cache_info().currsize


def as_msst_2005_prints(keys: list[int], slots: int) -> list[bool]:
    """Section 4.2.4 by the letter, with integers of any length."""
    held: dict[int, tuple[int, int]] = {}  # priority, time of last use
    age, answers = 0, []
    for now, key in enumerate(keys):
        answers.append(key in held)
        if key in held:
            held[key] = (held[key][0] + age + 1, now)
            continue
        if len(held) == slots:
            gone = min(held, key=held.__getitem__)
            age = held.pop(gone)[0]
        held[key] = (age + 1, now)
    assert age.bit_length() > 1024  # more than a double can hold
    return answers


@pytest.mark.parametrize("slots", [4, 8])
def test_lfuda_as_msst_2005_prints_it(slots: int) -> None:
    draw = random.Random(4)
    keys = [draw.randrange(2 * slots) for _ in range(40_000)]
    ours = ss.caches.cache("lfuda(age=each_access)", slots)
    assert [ours.access(key) for key in keys] == as_msst_2005_prints(keys, slots)


def test_segmented_lru_protects_keys_hit_again() -> None:
    # Four slots, of which .8 are three: after 1 and 2 came back, a scan takes the other two.
    ours = ss.caches.cache("slru", 4)
    assert ours.hits([1, 2, 1, 2, 3, 4, 5, 6, 7]) == 2
    assert [key for key in range(8) if key in ours] == [1, 2, 6, 7]
    assert len(ours) == ours.slots == 4
    # With a half, two: 3 coming back makes 1 probationary, and it is the newest of these.
    ours = ss.caches.cache("slru(protected=0.5)", 4)
    ours.hits([1, 2, 1, 2, 3, 3, 4])
    assert ours.policy == "slru(protected=0.5)"
    assert ours.hits([8]) == 0
    assert [key for key in range(9) if key in ours] == [2, 3, 4, 8]


def test_a_cache_has_a_policy() -> None:
    ours = ss.caches.cache("arc", 10)
    assert not ours.access(2**64 - 1)
    assert ours.access(2**64 - 1)
    assert -1 not in ours
    assert repr(ours) == "<sledsim cache arc: 1 of 10 slots>"
    assert ss.policies()[0] == ss.caches.cache().policy == "lru"
    assert "opt" not in ss.policies()
    assert ss.caches.cache("s3fifo(fill=main; small=0.2)").policy == "s3fifo(small=0.2; fill=main)"


def test_hit_ratios_of_a_trace_are_those_of_an_ordered_dict(tmp_path: Path) -> None:
    """Of a trace in DiskSim's format, by the segments that each request touches."""
    file = tmp_path / "plain.trace"
    ss.convert_trace(SAMPLE, file, to="disksim_ascii")
    touched = [
        (segment, flags == "1")
        for _, _, lbn, blocks, flags in map(str.split, file.read_text().splitlines())
        for segment in range(int(lbn) // 32, (int(lbn) + int(blocks) - 1) // 32 + 1)
    ]
    reads = sum(read for _, read in touched)
    sizes, keys = [0.125, 1, 2.01], {"policy": "lru", "segment_kib": 16}
    rows = ss.hit_ratios(SAMPLE, segment_kib=16, sizes_mib=sizes, policies=["lru"])
    for row, size, slots in zip(rows, sizes, (8, 64, 128), strict=True):
        kept: OrderedDict[int, None] = OrderedDict()
        hits = {True: 0, False: 0}
        for segment, read in touched:
            hits[read] += segment in kept
            kept[segment] = None
            kept.move_to_end(segment)
            if len(kept) > slots:
                kept.popitem(last=False)
        assert row == keys | {
            "size_mib": size,
            "requests": len(file.read_text().splitlines()),
            "accesses": len(touched),
            "hits": sum(hits.values()),
            "hit_ratio": sum(hits.values()) / len(touched),
            "read_hit_ratio": hits[True] / reads,
            "write_hit_ratio": hits[False] / (len(touched) - reads),
        }


def test_all_policies_see_the_same_requests_and_larger_lru_caches_have_more() -> None:
    load = ss.workload("zipf", requests=20_000, read_fraction=1.0)
    rows = ss.hit_ratios(load, device="g2")
    assert [row["policy"] for row in rows[::5]] == ss.policies()
    assert len({(row["requests"], row["accesses"]) for row in rows}) == 1
    lru = [row["hits"] for row in rows if row["policy"] == "lru"]
    assert lru == sorted(lru)
    assert lru[-1] > lru[0] > 0
    assert all(row["write_hit_ratio"] is None for row in rows)
    timed = ss.workload("zipf", requests=20_000, read_fraction=1.0, rate=1e3)
    for each in (load, timed):
        assert rows == ss.hit_ratios(each, device_blocks=ss.device("g2").blocks)


def test_the_reading_can_be_stopped() -> None:
    def stop(_done: int, _of: int | None) -> None:
        raise RuntimeError("enough")

    load = ss.workload(requests=3_000_000)
    with pytest.raises(RuntimeError, match="enough"):
        ss.hit_ratios(load, device_blocks=1_000_000, progress=stop)


def test_the_command_gives_the_same(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    line = ["trace", "hits", SAMPLE, "--sizes", "1,0.5", "--policies", "arc,lru"]
    assert main([*line, "--segment", "16", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    expected = ss.hit_ratios(
        ss.read_trace(SAMPLE), sizes_mib=[1, 0.5], policies=["arc", "lru"], segment_kib=16
    )
    assert said.pop("workload")["requests"] == expected[0]["requests"]
    assert said == {"path": SAMPLE, "caches": expected}
    picture = tmp_path / "hits.png"
    assert main([*line, "--segment", "16", "--plot", str(picture)]) == 0
    text = capsys.readouterr().out
    for row in expected:
        assert f"{row['hit_ratio']:.1%}" in text
    assert "0.5 MiB" in text
    assert picture.read_bytes().startswith(b"\x89PNG")
