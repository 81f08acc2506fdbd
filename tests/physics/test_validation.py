"""Validations in Python and on the command line; the figures are tested in the core."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sledsim as ss
from sledsim.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable

DRIVES = Path(__file__).parents[3] / "shared" / "reference" / "drives"
COLUMNS = "time=t:us, offset=lba:512B, bytes=n:512B, op=op, response=r:us, queue=q:us, origin=zero"


@pytest.fixture
def measured(tmp_path: Path) -> Path:
    """Return measurements of a drive without a buffer, 1.5 ms slower in reads than its model."""
    blank = tmp_path / "blank.validate"

    def line(index: int, us: float) -> str:
        op = "W" if index % 4 == 0 else "R"
        return f"{op} Hit {index * index * 7919 % 17_000_000} {1 + index % 30} {us:.3f} 800\n"

    blank.write_text("".join(line(index, 0) for index in range(400)), encoding="utf-8")
    run = ss.simulate(ss.read_trace(blank), ss.device("atlas10k"))
    rows = pa.table(run.rows).sort_by("id").to_pydict()
    own = [
        (end - start) / 1e3
        for start, end in zip(rows["arrival_ns"], rows["completion_ns"], strict=True)
    ]
    path = tmp_path / "drive.validate"
    slower = [line(i, us + (1500 if i % 4 else 0)) for i, us in enumerate(own)]
    path.write_text("".join(slower), encoding="utf-8")
    return path


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    def run(*words: object) -> tuple[int, str, str]:
        code = main(["validate", *map(str, words)])
        out, err = capsys.readouterr()
        return code, out, err

    return run


def test_a_known_difference_is_found(measured: Path) -> None:
    found = ss.validate(measured, "atlas10k")
    assert found.demerit_ms["write"] == 0.0
    assert found.demerit_ms["read"] == pytest.approx(1.5, abs=1e-12)
    mean = found.to_dict()["measured_ms"]["read"]["mean"]
    assert found.demerit_percent["read"] == pytest.approx(150 / mean)
    assert found.to_dict()["paired_rms_ms"]["all"] == pytest.approx(1.5 * math.sqrt(0.75))
    theirs, ours = found.sorted_ms("read")
    assert len(theirs) == 300
    assert theirs == sorted(theirs)
    assert [their - our for their, our in zip(theirs, ours, strict=True)] == pytest.approx(
        [1.5] * 300
    )
    assert found.sorted_ms("all", "queue") == ([], [])
    for op, part in (("trim", "response"), ("all", "seek")):
        with pytest.raises(ss.SledsimError, match="must be one of"):
            found.sorted_ms(op, part)
    assert repr(found).startswith("<sledsim validation of atlas10k: 400 requests, demerit ")


def root_mean_square(pairs: list[tuple[list[float], list[float]]]) -> float:
    """Pair the sorted times of each kind, and take all kinds together."""
    squares = [
        (ours - theirs) ** 2
        for kind in pairs
        for ours, theirs in zip(sorted(kind[0]), sorted(kind[1]), strict=True)
    ]
    return math.sqrt(sum(squares) / len(squares))


@pytest.fixture
def exchanged(tmp_path: Path) -> Path:
    """Return measurements with the times of reads and writes of the model exchanged."""

    def text(us: Callable[[int], float]) -> str:
        lines = [
            f"{'RW'[i % 2]} Hit {i * i * 7919 % 17_000_000} {1 + i % 30} {us(i):.3f} 800\n"
            for i in range(300)
        ]
        return "".join(lines)

    path = tmp_path / "exchanged.validate"
    path.write_text(text(lambda _: 0), encoding="utf-8")
    rows = pa.table(ss.simulate(ss.read_trace(path), ss.device("atlas10k")).rows)
    rows = rows.sort_by("id").to_pydict()
    own = [
        (end - start) / 1e3
        for start, end in zip(rows["arrival_ns"], rows["completion_ns"], strict=True)
    ]
    path.write_text(text(lambda i: own[i ^ 1]), encoding="utf-8")
    return path


def test_errors_that_cancel_are_in_the_class_weighted_figure(
    exchanged: Path, measured: Path, said: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    found = ss.validate(exchanged, "atlas10k")
    assert found.demerit_ms["all"] == 0
    kinds = [found.sorted_ms(kind) for kind in ("read", "write")]
    assert found.class_weighted_ms == pytest.approx(root_mean_square(kinds), rel=1e-9)
    mean = found.to_dict()["measured_ms"]["all"]["mean"]
    assert found.class_weighted_percent == pytest.approx(100 * root_mean_square(kinds) / mean)
    assert found.demerits_disagree
    assert f"class-weighted {found.class_weighted_ms:.3g} ms" in repr(found)
    picture = tmp_path / "cdf.svg"
    words = ["--device", "atlas10k", "--trace", exchanged]
    code, out, err = said(*words, "--plot", picture)
    assert (code, err) == (0, "")
    assert f"class-weighted demerit: {found.class_weighted_ms:.1f}" in out
    assert "that of all is 0: they DISAGREE" in out
    svg = picture.read_text(encoding="utf-8")
    assert "they disagree" in svg
    assert json.loads(said(*words, "--json")[1])["demerits_disagree"] is True

    # Reads 1.5 ms slower than the model: 300 of 400.
    slower = ss.validate(measured, "atlas10k")
    assert slower.class_weighted_ms == pytest.approx(1.5 * math.sqrt(0.75))
    all_ms = slower.demerit_ms["all"]
    assert all_ms is not None
    assert slower.demerits_disagree is (all_ms**2 < 2 / 3 * 1.5**2 * 0.75)


def test_a_device_and_a_load_may_be_made_before(measured: Path) -> None:
    load = ss.read_trace(measured, requests=100)
    device = ss.device("atlas10k")
    seen: list[int] = []
    found = ss.validate(load, device, progress=lambda done, _of: seen.append(done))
    assert found.to_dict()["requests"]["all"] == 100
    assert found.to_dict() == ss.validate(load, device).to_dict()
    with pytest.raises(ss.SledsimError, match="no measured times"):
        ss.validate(ss.workload("random"), device)


def test_the_requests_are_those_of_the_run(measured: Path, tmp_path: Path) -> None:
    found = ss.validate(measured, "atlas10k")
    table = pa.table(found.rows)
    run = pa.table(ss.simulate(ss.read_trace(measured), ss.device("atlas10k")).rows)
    assert table.column_names[: run.num_columns] == run.column_names
    for name in run.column_names:
        assert table[name].to_pylist() == run[name].to_pylist(), name
    lines = measured.read_text(encoding="utf-8").splitlines()
    took = [int(1e3 * float(line.split()[4]) + 0.5) for line in lines]
    assert table["measured_ns"].to_pylist() == took
    assert table.schema.field("measured_ns").metadata[b"unit"] == b"ns"
    assert set(table["place"].to_pylist()) <= {"first", "sequential", "overlapping", "near", "far"}
    path = tmp_path / "each.parquet"
    found.write_rows(path)
    written = pq.read_table(path)
    assert written.to_pydict() == table.to_pydict()
    with pytest.raises(ss.SledsimError, match="nowhere"):
        found.write_rows(tmp_path / "nowhere" / "each.parquet")


def test_the_command_says_what_the_function_says(
    measured: Path, said: Callable[..., tuple[int, str, str]]
) -> None:
    code, out, err = said("--device", "atlas10k", "--trace", measured, "--json")
    assert (code, err) == (0, "")
    document = json.loads(out)
    assert document == ss.validate(measured, "atlas10k").to_dict()
    assert set(document["demerit_ms"]) == {"all", "read", "write"}


def test_the_text_the_picture_and_the_table(
    measured: Path, tmp_path: Path, said: Callable[..., tuple[int, str, str]]
) -> None:
    picture, each = tmp_path / "cdf.png", tmp_path / "each.parquet"
    words = ["--device", "atlas10k", "--trace", measured, "--plot", picture, "--rows", each]
    code, out, err = said(*words, "--max-demerit", "50%")
    assert (code, err) == (0, "")
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert pq.read_table(each).num_rows == 400
    for word in (
        "closed, 1 outstanding",
        "reads, measured",
        "1.50 ",
        "worst request",
        "read after a write",
        "within 50 %",
        "class-weighted demerit: 1.30",
        f"written: {picture}",
    ):
        assert word in out, word


def test_a_figure_above_the_limit_is_a_failed_check(
    measured: Path, said: Callable[..., tuple[int, str, str]]
) -> None:
    share = ss.validate(measured, "atlas10k").demerit_percent["all"]
    assert share is not None
    words = ["--device", "atlas10k", "--trace", measured]
    for limit, expected in ((share * 1.01, 0), (share * 0.99, 1)):
        code, out, err = said(*words, f"--max-demerit={limit}")
        assert (code, err) == (expected, "")
        assert ("NOT within" in out) == (expected == 1)
        code, out, _ = said(*words, f"--max-demerit={limit}%", "--json")
        assert code == expected
        assert json.loads(out)["demerit_percent"]["all"] == share


def open_trace(tmp_path: Path, queued: bool) -> Path:
    """Return requests that took 9 ms, of which they were queued for 2."""
    path = tmp_path / "open.csv"
    lines = [
        f"{20_000 * i},{i * 7919 % 10**6},8,{'rw'[i % 2]},9000,{2000 if queued else ''}"
        for i in range(50)
    ]
    path.write_text("\n".join(["t,lba,n,op,r,q", *lines]) + "\n", encoding="utf-8")
    return path


def test_an_open_replay_has_parts(
    tmp_path: Path, said: Callable[..., tuple[int, str, str]]
) -> None:
    for queued in (True, False):
        trace = open_trace(tmp_path, queued)
        words = ["--device", "memory", "--trace", trace, "--columns", COLUMNS]
        picture = tmp_path / f"{queued}.svg"
        code, out, err = said(*words, "--plot", picture)
        assert (code, err) == (0, "")
        assert ("queue time, ms" in out) == queued
        assert "response time, ms" in out
        assert b"<svg" in picture.read_bytes()
    found = ss.validate(ss.read_trace(open_trace(tmp_path, True), columns=COLUMNS), "memory")
    document = found.to_dict()
    assert document["replay"] == "open"
    assert document["parts"]["queue"]["measured_ms"]["all"]["mean"] == 2.0
    assert document["parts"]["service"]["measured_ms"]["all"]["mean"] == 7.0
    assert document["parts"]["queue"]["demerit_ms"]["all"] == 2.0  # nothing waits in a memory
    assert document["parts"]["queue"]["class_weighted_ms"] == 2.0
    assert document["parts"]["queue"]["demerits_disagree"] is False
    found.plot(tmp_path / "parts.png")
    assert (tmp_path / "parts.png").read_bytes().startswith(b"\x89PNG")


def test_far_reads_of_a_measured_drive_agree() -> None:
    """A buffer does not help far reads: seeks, rotation and transfer must do for them."""
    if not DRIVES.is_dir():
        pytest.skip("no reference drives beside the repository")
    found = ss.validate(DRIVES / "atlas10k.measured.trace", "atlas10k")
    assert found.to_dict()["requests"] == {"all": 10_000, "read": 6569, "write": 3431}
    far: list[dict[str, Any]] = [
        line
        for line in found.to_dict()["classes"]
        if (line["op"], line["place"]) == ("read", "far")
    ]
    assert {line["after"] for line in far} == {"read", "write"}
    for line in far:
        assert line["requests"] > 1000
        assert line["demerit_ms"] < 0.05 * line["measured_mean_ms"]


def test_the_week_of_hplajw_agrees_where_the_page_says_so() -> None:
    """The fitted values come from the second disk; the first must be the better for them."""
    week = DRIVES.parents[1] / "traces" / "hplajw-1992-week.srt"
    if not week.is_file():
        pytest.skip("no trace of hplajw beside the repository")
    specs = Path(__file__).parents[2] / "examples" / "hplajw"
    first = ss.read_trace(week, trace_device=0)
    header, fitted = (
        ss.validate(first, specs / f"{name}.toml").to_dict()["parts"]
        for name in ("hp335h", "hp335h_fitted")
    )
    assert header["service"]["requests"] == {"all": 42_252, "read": 10_887, "write": 31_365}
    assert header["service"]["demerit_percent"]["all"] < 20
    assert fitted["service"]["demerit_percent"]["all"] < 8
    waits = [header["queue"][f"{side}_ms"]["write"] for side in ("measured", "simulated")]
    for statistic in ("mean", "p95"):
        assert waits[1][statistic] == pytest.approx(waits[0][statistic], rel=0.15)
