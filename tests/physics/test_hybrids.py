"""Hybrids: presets, counts, refusals, scenarios."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
import sledsim as ss
from sledsim.cli import main

if TYPE_CHECKING:
    from pathlib import Path

PRESETS = ["disk", "mwb", "mcd", "disk_ram", "mems"]
"""The architectures of MSST 2005."""


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_as_large_as_the_disk(name: str) -> None:
    disk = ss.device("atlas10k-50mbps").spec["derived"]["blocks"]
    blocks = ss.device(name).spec["derived"]["blocks"]
    assert blocks >= disk if name == "mems" else blocks == disk


def test_a_write_buffer_is_no_more_than_its_disk_where_nothing_is_written() -> None:
    load = ss.workload("tpcd", requests=3000)
    disk, mwb = (pl.DataFrame(ss.simulate(load, name).rows) for name in ("disk", "mwb"))
    for column in ("id", "arrival_ns", "completion_ns", "seek_ns", "rotation_ns"):
        assert disk[column].equals(mwb[column]), column


def told(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main([*words, "--json"]) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def test_architectures_are_compared_on_a_trace_and_run_by_the_name_of_a_scenario(
    capsys: pytest.CaptureFixture[str],
) -> None:
    names = ",".join(PRESETS)
    runs = told(capsys, "compare", "--devices", names, "--trace", "sample:postmark-ext4")["runs"]
    assert [run["label"] for run in runs] == PRESETS
    summary = told(capsys, "run", "mcd-hplajw-like", "--set", "requests=3000")["summary"]
    parts = ["mcd.controller_cache", "mcd.device", "mcd.device.front", "mcd.device.back"]
    assert [part["name"] for part in summary["devices"]] == ["mcd", *parts]


def test_hits_of_a_tier_are_those_of_its_policy(tmp_path: Path) -> None:
    spec = tmp_path / "tier.toml"
    spec.write_text(
        'title = "Tier"\nkind = "mcd"\nsegment_kib = 8\nfront_mib = 4\npolicy = "arc"\n'
        '[front]\nbase = "msst2005"\n[back]\nbase = "atlas10k"\n'
    )
    keys: dict[str, Any] = {"size": "fixed", "blocking": 16, "unit_blocks": 16}
    load = ss.workload("zipf", requests=4000, last_lbn=99_999, **keys)
    devices = ss.simulate(load, ss.device(spec)).summary["devices"]
    (tier,) = (part["counts"] for part in devices if part["name"] == "tier")
    # A header block goes with every segment: 481 of 17 blocks.
    cache = ss.caches.cache("arc", 4 * 2048 // 17)
    lbns = ss.simulate(load, "memory").to_polars().sort("id")["lbn"].to_list()
    assert tier["segments_read"] + tier["segments_written"] == len(lbns)
    found = tier["segments_read_found"] + tier["segments_written_found"]
    assert found == sum(cache.access(lbn // 16) for lbn in lbns)


def test_placement_on_the_sled_decides_how_far_it_moves() -> None:
    """FACTS section 5: 8 KB take .617 ms in the centre, .639 at the edge, .818 over all."""
    means, keys = {}, {"size": "fixed", "mean_size_kib": 8, "blocking": 16, "read_fraction": 1}
    load = ss.workload(requests=60_000, last_lbn=400_000, seed=3, **keys)  # type: ignore[arg-type]
    for place in ("centre", "first", "whole"):
        device = ss.device("mcd", front_placement=place, segment_kib=8)
        rows = pl.DataFrame(ss.simulate(load, device, parts=True).rows)
        reads = rows.filter((pl.col("device") == "mcd.device.front") & (pl.col("op") == "read"))
        means[place] = reads.select((pl.col("seek_ns") + pl.col("transfer_ns")).mean()).item()
    assert means["centre"] < means["first"] < means["whole"]
    assert means["whole"] / means["centre"] == pytest.approx(0.818 / 0.617, rel=0.06)
