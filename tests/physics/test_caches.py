"""Replacement policies, ours and those of a user in Python, and the hit ratios of traces."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import random
import signal
import threading
import weakref
from collections import OrderedDict, deque
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import pytest
import sledsim as ss
from sledsim.cli import main

if TYPE_CHECKING:
    from pathlib import Path

SAMPLE = "sample:postmark-ext4"


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


class Lru:
    """The least recently used goes."""

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self.order: OrderedDict[int, None] = OrderedDict()

    def hit(self, key: int) -> None:
        self.order.move_to_end(key)

    def admit(self, key: int) -> None:
        assert len(self.order) < self.slots
        self.order[key] = None

    def evict(self) -> int:
        assert len(self.order) == self.slots
        return self.order.popitem(last=False)[0]


class Fifo:
    """The oldest goes."""

    def __init__(self, _slots: int) -> None:
        self.queue: deque[int] = deque()

    def hit(self, key: int) -> None:
        assert key in self.queue

    def admit(self, key: int) -> None:
        self.queue.append(key)

    def evict(self) -> int:
        return self.queue.popleft()


class Failing(Fifo):
    """Does something else when 2 is to go."""

    def __init__(self, what: Any) -> None:
        super().__init__(0)
        self.what = what

    def evict(self) -> Any:
        key = super().evict()
        return key if key != 2 else self.what() if callable(self.what) else self.what


KEYS = [1, 2, 3, 1, 4, 5, 6, 1, 2]
"""In three slots, access 5 evicts 1 and access 6 evicts 2."""


def test_lru_in_python_is_the_lru_here_request_for_request() -> None:
    """And the standard library's."""
    draw = random.Random(7)
    for slots in (1, 2, 17, 300):
        keys = [int(draw.paretovariate(0.6)) % 1000 + 2**63 for _ in range(5_000)]
        theirs, ours = ss.caches.cache(Lru, slots), ss.caches.cache("lru", slots)
        there = lru_cache(maxsize=slots)(lambda key: key)
        for key in keys:
            there(key)
        answers = [ours.access(key) for key in keys]
        assert answers == [theirs.access(key) for key in keys]
        assert sum(answers) == there.cache_info().hits > 0
        assert len(theirs) == len(ours) == there.cache_info().currsize
        assert theirs.policy == "Lru"


def test_what_fails_in_hit_and_admit_is_named_too() -> None:
    class Picky(Fifo):
        def hit(self, key: int) -> None:
            raise ValueError(key)

        def admit(self, key: int) -> None:
            if key == 8:
                raise ArithmeticError
            super().admit(key)

    for keys, says in (
        ([4, 4], r"access 2 \(key 4\): ValueError: 4"),
        ([8, 8], r"access 1 \(key 8\): ArithmeticError$"),
    ):
        with pytest.raises(ss.SledsimError, match=rf"policy Picky: {says}") as error:
            ss.caches.cache(Picky, 2).hits(keys)
        assert isinstance(error.value.__cause__, ValueError | ArithmeticError)


def test_and_on_a_trace_at_every_size() -> None:
    rows = ss.hit_ratios(SAMPLE, sizes_mib=[0.5, 4, 64], policies=["lru", Lru, Fifo])
    assert [row["policy"] for row in rows] == ["lru"] * 3 + ["Lru"] * 3 + ["Fifo"] * 3
    ours, theirs, fifo = ([{**row, "policy": ""} for row in rows[n : n + 3]] for n in (0, 3, 6))
    assert ours == theirs != fifo
    for policy, name in ((Lru(512), "Lru"), (partial(Lru), "partial")):
        one = ss.hit_ratios(SAMPLE, sizes_mib=[4], policies=[policy])
        assert one == [{**rows[4], "policy": name}]


def test_the_strings_of_the_literature_have_their_faults() -> None:
    """Silberschatz and others, Operating System Concepts; Belady and others, CACM 12(6), 1969."""
    string = [7, 0, 1, 2, 0, 3, 0, 4, 2, 3, 0, 3, 2, 1, 2, 0, 1, 7, 0, 1]
    assert 20 - ss.caches.cache(Fifo, 3).hits(string) == 15
    assert 20 - ss.caches.cache(Lru, 3).hits(string) == 12
    load = ss.read_trace([{"at": at, "lbn": key} for at, key in enumerate(string)], columns=COLUMNS)
    rows = ss.hit_ratios(load, sizes_mib=[3 / 2048], segment_kib=0.5, policies=["opt", Fifo, "lru"])
    assert [20 - row["hits"] for row in rows] == [9, 15, 12]
    anomaly = [1, 2, 3, 4, 1, 2, 5, 1, 2, 3, 4, 5]
    assert [12 - ss.caches.cache(Fifo, slots).hits(anomaly) for slots in (3, 4)] == [9, 10]


COLUMNS = "time=at:s, offset=lbn:512B, bytes=:512B, op=:read"


def test_no_policy_has_more_hits_than_the_optimum() -> None:
    load = ss.workload("hot_cold", requests=20_000, read_fraction=0.7, warm_up_requests=0)
    sizes = [1, 4, 16, 64]
    rows = ss.hit_ratios(
        load, device="g2", sizes_mib=sizes, policies=["opt", *ss.policies(), Fifo], segment_kib=64
    )
    optimum = [row["hits"] for row in rows if row["policy"] == "opt"]
    assert optimum == sorted(optimum)
    assert all(row["hits"] <= optimum[sizes.index(row["size_mib"])] for row in rows)
    assert optimum[0] > max(row["hits"] for row in rows[4:] if row["size_mib"] == 1)
    reads = rows[0]["read_hit_ratio"], rows[0]["write_hit_ratio"]
    assert 0 < min(reads) < rows[0]["hit_ratio"] < max(reads)


def boom() -> int:
    raise LookupError("no idea")


@pytest.mark.parametrize(
    ("what", "says"),
    [
        (None, r"evict\(\) returned None: must return the key to evict"),
        (99, r"evict\(\) returned 99: is not in the cache"),
        (1, r"evict\(\) returned 1: is not in the cache"),  # it went in access 5
        (-3, r"evict\(\) returned -3 \(int\): must return a key"),
        ("3", r"evict\(\) returned '3' \(str\): must return a key"),
        (3.0, r"evict\(\) returned 3.0 \(float\): must return a key"),
        (boom, "LookupError: no idea"),
    ],
)
def test_a_policy_that_fails_names_the_access_and_the_key(what: object, says: str) -> None:
    cache = ss.caches.cache(Failing(what), 3)
    assert [cache.access(key) for key in KEYS[:5]] == [False] * 3 + [True, False]
    says = rf"access 6 \(key 5\): {says}"
    with pytest.raises(ss.SledsimError, match=f"^policy Failing: {says}") as error:
        cache.access(5)
    assert (type(error.value.__cause__) is LookupError) == (what is boom)
    with pytest.raises(ss.SledsimError, match="the policy of the cache failed at an earlier acc"):
        cache.access(1)
    assert 5 not in cache
    # In the count of a load, other policies are not asked further, and nothing is returned.
    rows = [{"at": at, "lbn": key} for at, key in enumerate(KEYS)]
    load = ss.read_trace(rows, columns=COLUMNS)
    make: Any = lambda _slots: Failing(what)  # noqa: E731
    with pytest.raises(ss.SledsimError, match=rf"policy <lambda>: {says}"):
        ss.hit_ratios(load, sizes_mib=[3 / 2048], segment_kib=0.5, policies=["lru", make])


def test_what_ends_a_program_stays_as_it_is() -> None:
    class Interrupted(Lru):
        calls = 0

        def admit(self, key: int) -> None:
            super().admit(key)
            Interrupted.calls += 1
            if Interrupted.calls == 5_000:
                os.kill(os.getpid(), signal.SIGINT)

    assert threading.current_thread() is threading.main_thread()
    load = ss.workload(requests=3_000_000)
    with pytest.raises(KeyboardInterrupt):
        ss.hit_ratios(load, device="g2", sizes_mib=[1], policies=[Interrupted])
    assert 5_000 <= Interrupted.calls < 200_000

    class Leaving(Fifo):
        def evict(self) -> int:
            raise SystemExit(3)

    with pytest.raises(SystemExit):
        ss.hit_ratios(load, device="g2", sizes_mib=[1], policies=[Leaving])


def test_a_policy_must_not_use_its_own_cache() -> None:
    class Curious(Fifo):
        def admit(self, key: int) -> None:
            assert key not in mine

    mine = ss.caches.cache(Curious, 2)
    with pytest.raises(ss.SledsimError, match="the cache is in use"):
        mine.access(1)


def test_all_objects_die_with_the_cache() -> None:
    made: list[Any] = [partial(Lru, 4), partial(Failing, boom)]
    for make in made:
        policy = make()
        gone = weakref.ref(policy)
        cache = ss.caches.cache(policy, 4)
        with contextlib.suppress(ss.SledsimError):
            cache.hits(range(10))
        del policy, cache
        gc.collect()
        assert gone() is None
