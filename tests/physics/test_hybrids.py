"""Hybrids: presets, counts, refusals, scenarios."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import polars as pl
import pytest
import sledsim as ss

if TYPE_CHECKING:
    from pathlib import Path

PRESETS = ["disk", "mwb", "mcd", "disk_ram", "mems"]
"""The architectures of MSST 2005."""


def sledsim(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command line."""
    command = [sys.executable, "-m", "sledsim", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def counts(run: ss.Run, name: str) -> dict[str, int]:
    """Return the counts of a device of the tree."""
    (found,) = (part["counts"] for part in run.summary["devices"] if part["name"] == name)
    return dict(found)


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_as_large_as_the_disk(name: str) -> None:
    disk = ss.device("atlas10k-50mbps").spec["derived"]["blocks"]
    blocks = ss.device(name).spec["derived"]["blocks"]
    assert blocks >= disk if name == "mems" else blocks == disk


def test_all_architectures_are_compared_on_one_trace() -> None:
    done = sledsim(
        *("compare", "--devices", ",".join(PRESETS), "--trace", "sample:postmark-ext4", "--json")
    )
    assert done.returncode == 0, done.stderr
    runs = json.loads(done.stdout)["runs"]
    assert [run["label"] for run in runs] == PRESETS


def test_a_shipped_scenario_runs_by_name() -> None:
    done = sledsim("run", "mcd-hplajw-like", "--set", "requests=3000", "--json")
    assert done.returncode == 0, done.stderr
    devices = [part["name"] for part in json.loads(done.stdout)["summary"]["devices"]]
    assert devices == [
        *("mcd", "mcd.controller_cache", "mcd.device", "mcd.device.front", "mcd.device.back")
    ]
    wrong = sledsim("run", "mcd-hplaj-like")
    assert wrong.returncode == 2
    assert "did you mean 'mcd-hplajw-like'?" in wrong.stderr


def test_a_write_buffer_is_no_more_than_its_disk_where_nothing_is_written() -> None:
    load = ss.workload("tpcd", requests=3000)
    disk, mwb = (pl.DataFrame(ss.simulate(load, name).rows) for name in ("disk", "mwb"))
    for column in ("id", "arrival_ns", "completion_ns", "seek_ns", "rotation_ns"):
        assert disk[column].equals(mwb[column]), column


def test_hits_of_a_tier_are_those_of_its_policy(tmp_path: Path) -> None:
    spec = tmp_path / "tier.toml"
    spec.write_text(
        'title = "Tier"\nkind = "mcd"\nsegment_kib = 8\nfront_mib = 4\npolicy = "arc"\n'
        '[front]\nbase = "msst2005"\n[back]\nbase = "atlas10k"\n'
    )
    load = ss.workload(
        "zipf", requests=4000, size="fixed", blocking=16, unit_blocks=16, last_lbn=99_999
    )
    tier = counts(ss.simulate(load, ss.device(spec)), "tier")
    asked = tier["segments_read"] + tier["segments_written"]
    found = tier["segments_read_found"] + tier["segments_written_found"]
    # A header block goes with every segment: 481 of 17 blocks.
    cache = ss.caches.cache("arc", 4 * 2048 // 17)
    run = ss.simulate(load, ss.device("memory"))
    lbns = pl.DataFrame(run.rows).sort("id")["lbn"].to_list()
    assert asked == len(lbns)
    assert found == sum(cache.access(lbn // 16) for lbn in lbns)


def test_placement_on_the_sled_decides_how_far_it_moves() -> None:
    """FACTS section 5: 8 KB take .617 ms in the centre, .639 at the edge, .818 over all."""
    means = {}
    for place in ("centre", "first", "whole"):
        device = ss.device("mcd", front_placement=place, segment_kib=8)
        load = ss.workload(
            requests=60_000,
            size="fixed",
            mean_size_kib=8,
            blocking=16,
            last_lbn=400_000,
            read_fraction=1,
            seed=3,
        )
        rows = pl.DataFrame(ss.simulate(load, device, parts=True).rows)
        reads = rows.filter((pl.col("device") == "mcd.device.front") & (pl.col("op") == "read"))
        times = reads.select((pl.col("seek_ns") + pl.col("transfer_ns")).mean() / 1e6)
        means[place] = times.item()
    assert means["centre"] < means["first"] < means["whole"]
    assert means["whole"] / means["centre"] == pytest.approx(0.818 / 0.617, rel=0.06)
