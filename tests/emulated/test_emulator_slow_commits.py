"""Slow commits of SQLite on a served disk, found in the ledger of its slow episodes; needs root."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import polars as pl
import sledsim as ss
from sledsim.emulator import DataRecording
from sledsim.programs.crashes.sqlite import Sqlite

from tests.mounted import needs_root

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tests.mounted import Place

SPEED = 5.0
EPISODE_NS = 500_000_000
FAULTS = "episodes_per_hour=3600,episode_ms=500"
COMMITS = 60

Span = tuple[float, float]


def small_disk() -> ss.Device:
    """Make a disk whose write cache is destaged before a flush is complete, as barracuda2t's."""
    shape: dict[str, Any] = {"capacity_tb": 0.0005, "platters": 1, "rpm": 7200}
    shape |= {"outer_mb_s": 210, "inner_mb_s": 100}
    shape |= {"seek_track_ms": 1, "seek_average_ms": 8, "seek_full_ms": 16}
    cache = {"blocks": 65_536, "runs": 120, "idle_ms": 20}
    return ss.device(ss.disk(**shape), cache=cache, buffer={"write_back": "none"})


def in_device_ns(span: Span, requests: list[Span]) -> float:
    """Return the time of a span in which any request was in the device."""
    total, seen = 0.0, span[0]
    for begin, end in sorted(requests):
        total += max(0.0, min(end, span[1]) - max(begin, seen))
        seen = max(seen, min(end, span[1]))
    return total


@needs_root
def test_the_slowest_commits_are_those_of_the_ledger(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How late a busy machine is does not count: commits are compared by their time in the device.

    The program and the server read one clock. A commit in which a pass was delayed returned when
    that pass could have gone on, and not before.
    """
    monkeypatch.chdir(tmp_path)  # the path of the recording is relative to it
    place.device.write_text(small_disk().to_toml(), encoding="utf-8")
    program = Sqlite({"transactions": COMMITS, "rows": 300})
    acknowledged = tmp_path / "acknowledged"
    place.mount(f"--faults={FAULTS}", f"--speed={SPEED}", "--record-data=slow", "--fs=ext4")
    program.fill(place.directory)
    program.run(place.directory, acknowledged)
    (export,) = place.umount()["exports"]
    recording = DataRecording.load(tmp_path / "slow")
    requests: list[Span] = pl.DataFrame(recording.rows).select("arrival_ns", "completion_ns").rows()
    ends = [int(line.split()[1]) for line in acknowledged.read_text("ascii").splitlines()]
    assert len(ends) == COMMITS
    at_ns = [(end - recording.clock_start_ns) * recording.speed for end in ends]
    commits = list(itertools.pairwise(at_ns))

    delays: list[list[dict[str, Any]]] = [[] for _ in commits]
    for episode in export["summary"]["devices"][0]["episodes"]:
        assert episode["end_ns"] - episode["begin_ns"] == EPISODE_NS
        for one in episode["delayed"]:
            assert episode["begin_ns"] <= one["at_ns"] < episode["end_ns"]
            assert one["at_ns"] + one["by_ns"] >= episode["end_ns"]
            for own, (begin, end) in zip(delays, commits, strict=True):
                if begin <= one["at_ns"] < end:
                    assert end > one["at_ns"] + one["by_ns"]
                    own.append(one)
    times = [
        (in_device_ns(commit, requests), own) for commit, own in zip(commits, delays, strict=True)
    ]
    # Others came late into the episode.
    slow = [time for time, own in times if any(one["by_ns"] > EPISODE_NS / 2 for one in own)]
    others = [time for time, own in times if not own]
    assert len(slow) >= 2
    assert len(others) > COMMITS / 2
    assert min(slow) > max(others)
