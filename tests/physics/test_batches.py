"""Batches through the Python interface, the command line, and traces."""

from __future__ import annotations

import contextlib
from itertools import combinations, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
import sledsim as ss

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

COLUMNS = "time=us:us, device=host, offset=lbn:512B, bytes=n:512B, op=op, linked=more"
BARE: dict[str, Any] = {"command_overhead_ms": 0.0, "bus_ms_per_block": 0.0}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> Iterator[Path]:
    """Work in an empty folder."""
    with contextlib.chdir(tmp_path):
        yield tmp_path


def trace(*rows: tuple[int, int, int, int, str, int]) -> Path:
    """Write commands (us, host, lbn, blocks, op, linked) as a trace."""
    lines = ["us,host,lbn,n,op,more", *(",".join(map(str, row)) for row in rows)]
    path = Path("commands.csv")
    path.write_text("\n".join(lines) + "\n", encoding="ascii")
    return path


def load(path: Path, **keys: Any) -> ss.Load:
    return ss.read_trace(path, columns=COLUMNS, trace_device="all", **keys)


# The calculator ---------------------------------------------------------------------------------


def conflicts_of(device: ss.Sled, lbns: Iterable[int]) -> bool:
    return any(device.conflicting(*pair) for pair in combinations(lbns, 2))


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"micropositioning_cylinders": 2},
        {"conflicts": {"kind": "channel", "channels": 7}, "micropositioning_cylinders": 1},
    ],
)
def test_blocks_of_a_pass_do_not_conflict(keys: dict[str, Any]) -> None:
    device = ss.device("cmu2003", **keys)
    commands: list[tuple[Any, int, int]] = [
        ("read" if number % 3 else "write", 1_000_000 + 1350 * number, 1 + number % 13)
        for number in range(12)
    ]
    batch = device.batch(commands)
    wanted = [lbn for _, first, blocks in commands for lbn in range(first, first + blocks)]
    assert sorted(lbn for one in batch.passes for lbn in one.lbns) == wanted
    assert batch.blocks == len(wanted)
    for one in batch.passes:
        assert len(one.lbns) <= device.parallelism.p
        assert one.step.blocks == len(one.lbns)
        assert not conflicts_of(device, one.lbns)
        assert {device.locate(lbn).row for lbn in one.lbns} == {one.row}
    cylinders = [one.cylinder for one in batch.passes]
    assert cylinders == sorted(cylinders), "upwards"
    assert batch.total_s == pytest.approx(batch.seek_s + batch.transfer_s, rel=1e-12)
    # No pass can take in all of the next one of its row: then there would be one less.
    for one, two in combinations(batch.passes, 2):
        both = (*one.lbns, *two.lbns)
        fits = len(both) <= device.parallelism.p and one.row == two.row
        assert keys or not fits or conflicts_of(device, both)


def test_a_class_costs_what_one_block_does() -> None:
    device, start = ss.device("cmu2003"), (10e-6, -20e-6, "up")
    class_ = device.equivalent(4_000_000)
    alone = device.access(class_[0], 1, start=start)
    batch = device.batch([("read", lbn, 1) for lbn in class_[3:13]], start)
    assert (len(batch.passes), batch.total_s, batch.end) == (1, alone.total_s, alone.end)
    assert batch.passes[0].direction == alone.steps[0].direction
    all_ = device.batch([("write", lbn, 1) for lbn in class_])
    assert [len(one.lbns) for one in all_.passes] == [10] * 10
    directions = [one.direction for one in all_.passes]
    assert all(one == -two for one, two in pairwise(directions))


def test_micropositioning_may_change() -> None:
    """A block of the next cylinder goes with the first as long as tips reach it."""
    device = ss.device("cmu2003", micropositioning_cylinders=1)
    first = 2700 * 9
    row = device.locate(first).row
    beside = (lbn for lbn in range(2700 * 11, 2700 * 12) if device.locate(lbn).row == row)
    other = next(lbn for lbn in beside if not device.conflicting(lbn, first))
    pair: list[tuple[Any, int, int]] = [("read", first, 1), ("read", other, 1)]
    (only,) = device.batch(pair).passes
    assert only.cylinder == 10, "between them"
    later = ss.device("cmu2003", micropositioning_cylinders=1, micropositioning_later=[[2.0, 0]])
    assert [len(later.batch(pair, at_s=at).passes) for at in (0.0, 1.9, 2.0)] == [1, 1, 2]


# Runs -------------------------------------------------------------------------------------------


def test_a_linked_trace_is_served_in_one_pass() -> None:
    device = ss.device("cmu2003", **BARE)
    class_ = device.equivalent(2_000_000)[::10]
    rows = [(0, 3, lbn, 1, "rw"[i % 2], int(i < 9)) for i, lbn in enumerate(class_)]
    run = ss.simulate(load(trace(*rows)), device)
    each = pl.DataFrame(run.rows)
    assert each["completion_ns"].n_unique() == 1
    assert each["passes"].to_list() == [1] * 10
    alone = device.access(class_[0], 1).total_s
    assert each["completion_ns"][0] == pytest.approx(1e9 * alone, abs=1)


def test_a_closed_replay_takes_a_batch_as_one_request() -> None:
    device = ss.device("cmu2003", **BARE)
    rows = []
    for number, first in enumerate((100_000, 5_000_000, 3_000_000)):
        class_ = device.equivalent(first)[::10]
        rows += [(number, 0, lbn, 1, "r", int(i < 9)) for i, lbn in enumerate(class_)]
        rows.append((number, 1, first // 2, 8, "r", 0))
    path = trace(*rows)
    each = pl.DataFrame(ss.simulate(load(path, queue_depth=1, think_ms=2), device).rows)
    each = each.sort("id")
    for number in range(3):
        batch = each[11 * number : 11 * number + 10]
        single = each[11 * number + 10]
        assert batch["arrival_ns"].n_unique() == batch["completion_ns"].n_unique() == 1
        assert single["arrival_ns"][0] == batch["completion_ns"][0] + 2_000_000
        if number:
            before = each[11 * number - 1]["completion_ns"][0]
            assert batch["arrival_ns"][0] == before + 2_000_000
    # Two at a time: the batch and the single one overlap.
    two = pl.DataFrame(ss.simulate(load(path, queue_depth=2), device).rows).sort("id")
    assert two["arrival_ns"][10] == 0


def test_tasks_respect_conflicts_of_requests_in_several_passes() -> None:
    """A row of ten blocks over five channels takes two passes, with five tips to spare in none.

    Eight blocks over six channels: 0, 1, 2 and 4, then 3, 5, 6 and 7. Channels 3 and 5 are free in
    the first pass: the task has those two blocks before the request; then it has 2 and 4 for two
    others.
    """
    for blocks, channels, expected in ((10, 5, (10, 0)), (8, 6, (6, 4))):
        shared = ss.device("cmu2003", conflicts={"kind": "channel", "channels": channels})
        run = ss.simulate(load(trace((0, 0, 0, blocks, "r", 0))), shared, background="scan")
        assert pl.DataFrame(run.rows)["passes"].to_list() == [2]
        scan = run.summary["background"][0]
        assert (scan["foreground_blocks"], scan["free_blocks"]) == expected


# Traces -----------------------------------------------------------------------------------------


def test_links_are_written_to_formats_that_hold_them() -> None:
    path = last = trace((0, 0, 0, 1, "r", 1), (1, 4, 50, 1, "w", 0), (2, 0, 99, 1, "r", 0))
    for name in ("one.csv", "two.parquet", "three.csv.gz"):
        columns = COLUMNS if last is path else None
        report = ss.convert_trace([last], name, columns=columns)
        assert report["lost_fields"] == {}
        last = Path(name)
    text = Path("one.csv").read_text(encoding="ascii").splitlines()
    assert [line.rsplit(",", 1)[1] for line in text] == ["linked", "1", "", ""]
    assert pl.read_parquet("two.parquet")["linked"].to_list() == [True, False, False]
    loads = [load(path), ss.read_trace(last, trace_device="all")]
    one, two = (ss.simulate(each, "cmu2003").rows for each in loads)
    assert one == two
    report = ss.convert_trace([path], "plain.trace", columns=COLUMNS)
    assert report["lost_fields"] == {"links": 1}


# The example ------------------------------------------------------------------------------------
