"""Arrays and hybrids: counts, failures, tiers, scenarios, and the rebuild risk."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
import sledsim as ss
from sledsim.cli import main

if TYPE_CHECKING:
    from pathlib import Path

SMALL = {"base": "memory", "blocks": 4096, "latency_ms": 0.1, "ms_per_block": 0.001}
KINDS = ("raid1", "raid5", "raid6", "raid10")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder with an array of each kind."""
    monkeypatch.chdir(tmp_path)
    for kind in KINDS:
        unit = "" if kind == "raid1" else "unit_blocks = 8\n"
        text = f'title = "A"\nkind = "{kind}"\nchildren = 4\n{unit}[child]\nbase = "g2"\n'
        Path(f"{kind}.toml").write_text(text, encoding="utf-8")


def counts(run: ss.Run) -> dict[str, int]:
    """Return the counts of the array."""
    return dict(run.summary["devices"][0]["counts"])


def test_an_array_has_a_spec() -> None:
    device = ss.device("raid5.toml", spares=2, fail_child=[0, 5], fail_at_ms=[1.5, 2])
    spec = device.spec
    assert spec["derived"]["blocks"] == 6_750_000 // 8 * 8 * 3
    assert spec["parameters"]["fail_child"]["value"] == [0, 5]
    assert spec["parameters"]["child.base"]["value"] == "g2"
    assert ss.device("raid1.toml").blocks == 6_750_000
    for kind in ("raid6", "raid10"):  # both hold half of four children
        assert ss.device(f"{kind}.toml").blocks == 6_750_000 // 8 * 8 * 2


def out(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Run a command that succeeds, and return its output."""
    assert main(words) == 0
    said = capsys.readouterr()
    assert said.err == ""
    return said.out


def test_a_small_file_is_told_all_that_it_lacks(capsys: pytest.CaptureFixture[str]) -> None:
    for kind, least in (("raid6", 4), ("raid10", 2)):
        Path("small.toml").write_text(f'kind = "{kind}"\n', encoding="utf-8")
        assert main(["run", "--device", "small.toml"]) == 2
        said = capsys.readouterr().err
        assert "3 keys are missing: device.children, device.child, device.unit_blocks" in said
        assert f"an integer from {least} to 64" in said
        assert "title" not in said
        # And with these, nothing more.
        text = f'kind = "{kind}"\nchildren = 4\nunit_blocks = 8\n[child]\nbase = "g2"\n'
        Path("small.toml").write_text(text, encoding="utf-8")
        assert ss.device("small.toml").blocks == 6_750_000 // 8 * 8 * 2


@pytest.mark.parametrize("kind", KINDS)
def test_a_failure_in_the_rows_and_the_counts(kind: str) -> None:
    load = ss.workload("random", rate=1000, requests=3000, read_fraction=0.5)
    device = ss.device(f"{kind}.toml", child=SMALL, spares=1, fail_child=2, fail_at_ms=500)
    run = ss.simulate(load, device, parts=True)
    rows = pl.DataFrame(run.rows).with_columns(pl.col("device", "status").cast(pl.String))
    assert run.summary["errors"] == 0
    assert [part["name"] for part in run.summary["devices"]][-1] == f"{kind}.spare0"
    found = counts(run)
    assert (found["failed_children"], found["lost"]) == (1, 0)
    assert found["rebuilt_blocks"] == 4096
    last = rows.filter(pl.col("device") == f"{kind}.child2")["arrival_ns"].max()
    assert isinstance(last, int)
    assert 480_000_000 < last <= 500_000_000
    # Writes to the spare for no request of the host are the rebuild, each block once.
    is_own = pl.col("parent") >= 2**63
    own = rows.filter(pl.col("device") == f"{kind}.spare0", is_own)
    assert own["blocks"].sum() == 4096
    # The rows of the host add up, those that began anew too.
    times = [name for name in rows.columns if name.endswith("_ns")]
    parts = set(times) - {"arrival_ns", "start_ns", "completion_ns", "settle_ns", "turnaround_ns"}
    whole = rows.filter(pl.col("device") == kind)
    total = whole.select(pl.sum_horizontal(parts - {"x_seek_ns", "y_seek_ns"})).to_series()
    assert (total == whole["completion_ns"] - whole["arrival_ns"]).all()


def test_a_second_failure_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    sets = ["fail_child=[0,1]", "fail_at_ms=[100,200]", "child.base=g3"]
    words = [f"--set=device.{key}" for key in sets]
    said = out(capsys, "run", "--device", "raid5.toml", *words, "--set", "requests=3000")
    assert "requests could not be served" in said
    assert "2 children failed; LOST: " in said
    said = out(capsys, "run", "--device", "raid1.toml", *words, "--set", "requests=3000")
    assert "2 children failed; nothing is lost" in said
    assert "could not be served" not in said


def test_the_scenario_runs_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    summary: dict[str, Any] = json.loads(out(capsys, "run", "raid5-rebuild", "--json"))["summary"]
    found = summary["devices"][0]["counts"]
    assert (found["failed_children"], found["lost"], summary["errors"]) == (1, 0, 0)
    # All whole units of a sled, at 10 MB/s at least and no faster than its media are written.
    assert found["rebuilt_blocks"] == 6_750_000 // 128 * 128
    media_mb_s = ss.device("g2").spec["derived"]["streaming_mb_s"]
    rate = 512e3 * found["rebuilt_blocks"] / found["rebuild_ns"]
    assert 10 < rate < media_mb_s / 2


def test_the_risk_is_that_of_independent_failures() -> None:
    # Of two, one fails in an hour with an MTTF of an hour: 1 - 1/e^2.
    assert ss.failures.rebuild_risk(3600, 1, 2) == pytest.approx(1 - math.exp(-2))
    # No failure in two hours is none in the first and none in the second.
    once, twice = (ss.failures.rebuild_risk(hours * 3600, 50, 3) for hours in (1, 2))
    assert 1 - twice == pytest.approx((1 - once) ** 2)
    # No digits are lost where it is small.
    assert ss.failures.rebuild_risk(1e-6, 1e9, 1) == pytest.approx(1e-6 / 3600 / 1e9, rel=1e-12)
    assert ss.failures.rebuild_risk(0, 1e5, 4) == 0


def failing(kind: str, load: ss.Load, failed: list[int], apart_ms: float) -> tuple[ss.Run, float]:
    """Run an array whose children fail one after the other; return the share of blocks lost."""
    times = [apart_ms * (1 + index) for index in range(len(failed))]
    device = ss.device(f"{kind}.toml", child=SMALL, fail_child=failed, fail_at_ms=times)
    run = ss.simulate(load, device)
    return run, counts(run)["lost_blocks"] / device.blocks


def test_a_raid_6_survives_two_failures_and_a_raid_10_one_of_each_pair() -> None:
    load = ss.workload("random", rate=1000, requests=2000, read_fraction=0.5)
    for failed in ([0, 3], [0, 3, 1]):
        run, share = failing("raid6", load, failed, 300.0)
        is_lost = len(failed) == 3
        assert (counts(run)["lost"] == 1, run.summary["errors"] > 0) == (is_lost, is_lost)
        assert share == (0.75 if is_lost else 0), "all that lies on the three of four"
        assert counts(run)["degraded_reads"] > 0
    load = ss.workload("random", rate=1000, requests=2000, size="fixed", mean_size_kib=0.5)
    for failed, expected in (([0, 3], 0.0), ([0, 1], 0.5)):
        run, share = failing("raid10", load, failed, 0)
        assert share == expected
        # A request of one block is lost with its unit.
        assert run.summary["errors"] / 2000 == pytest.approx(share, abs=0.05)


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


def test_architectures_are_compared_on_a_trace_and_run_by_the_name_of_a_scenario(
    capsys: pytest.CaptureFixture[str],
) -> None:
    names = ",".join(PRESETS)
    words = ("--devices", names, "--trace", "sample:postmark-ext4", "--json")
    runs = json.loads(out(capsys, "compare", *words))["runs"]
    assert [run["label"] for run in runs] == PRESETS
    few = ("--set", "requests=3000", "--json")
    summary = json.loads(out(capsys, "run", "mcd-hplajw-like", *few))["summary"]
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
