"""Validations by measured requests and by published numbers; the figures are tested in the core."""

from __future__ import annotations

import json
import math
import tomllib
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


def as_measured(
    path: Path, op: Callable[[int], str], took: Callable[[list[float], int], float]
) -> Path:
    """Write measurements of a drive without a buffer, with times made of those of its model."""

    def text(us: Callable[[int], float]) -> str:
        lines = (
            f"{op(i)} Hit {i * i * 7919 % 17_000_000} {1 + i % 30} {us(i):.3f} 800\n"
            for i in range(400)
        )
        return "".join(lines)

    path.write_text(text(lambda _: 0), encoding="utf-8")
    run = ss.simulate(ss.read_trace(path), ss.device("atlas10k"))
    rows = pa.table(run.rows).sort_by("id").to_pydict()
    ends = zip(rows["arrival_ns"], rows["completion_ns"], strict=True)
    own = [(end - start) / 1e3 for start, end in ends]
    path.write_text(text(lambda i: took(own, i)), encoding="utf-8")
    return path


@pytest.fixture
def measured(tmp_path: Path) -> Path:
    """Return measurements that are 1.5 ms slower in reads, of which there are 300 of 400."""
    path = tmp_path / "drive.validate"
    return as_measured(
        path, lambda i: "RW"[i % 4 == 0], lambda own, i: own[i] + (1500 if i % 4 else 0)
    )


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    def run(*words: object) -> tuple[int, str, str]:
        code = main(["validate", *map(str, words)])
        out, err = capsys.readouterr()
        return code, out, err

    return run


def test_a_known_difference_is_found(measured: Path) -> None:
    found = ss.validate(measured, "atlas10k")
    document = found.to_dict()
    assert found.demerit_ms["write"] == 0.0
    assert found.demerit_ms["read"] == pytest.approx(1.5, abs=1e-12)
    mean = document["measured_ms"]["read"]["mean"]
    assert found.demerit_percent["read"] == pytest.approx(150 / mean)
    assert document["paired_rms_ms"]["all"] == pytest.approx(1.5 * math.sqrt(0.75))
    assert found.class_weighted_ms == pytest.approx(1.5 * math.sqrt(0.75))
    all_ms = found.demerit_ms["all"]
    assert all_ms is not None
    assert found.demerits_disagree is (all_ms**2 < 2 / 3 * 1.5**2 * 0.75)
    theirs, ours = found.sorted_ms("read")
    assert theirs == sorted(theirs)
    differences = [their - our for their, our in zip(theirs, ours, strict=True)]
    assert differences == pytest.approx([1.5] * 300)
    assert found.sorted_ms("all", "queue") == ([], [])
    for op, part in (("trim", "response"), ("all", "seek")):
        with pytest.raises(ss.SledsimError, match="must be one of"):
            found.sorted_ms(op, part)
    assert repr(found).startswith("<sledsim validation of atlas10k: 400 requests, demerit ")
    seen: list[int] = []
    load, device = ss.read_trace(measured, requests=100), ss.device("atlas10k")
    first = ss.validate(load, device, progress=lambda done, _of: seen.append(done)).to_dict()
    assert first["requests"]["all"] == 100
    assert first == ss.validate(load, device).to_dict()


def test_errors_that_cancel_are_in_the_class_weighted_figure(
    said: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    """The times of reads and writes of the model are exchanged."""
    path = tmp_path / "exchanged.validate"
    exchanged = as_measured(path, lambda i: "RW"[i % 2], lambda own, i: own[i ^ 1])
    found = ss.validate(exchanged, "atlas10k")
    assert found.demerit_ms["all"] == 0
    pairs = [zip(*found.sorted_ms(kind), strict=True) for kind in ("read", "write")]
    squares = [(theirs - ours) ** 2 for kind in pairs for theirs, ours in kind]
    weighted = math.sqrt(sum(squares) / len(squares))
    assert found.class_weighted_ms == pytest.approx(weighted, rel=1e-9)
    mean = found.to_dict()["measured_ms"]["all"]["mean"]
    assert found.class_weighted_percent == pytest.approx(100 * weighted / mean)
    assert found.demerits_disagree
    assert f"class-weighted {found.class_weighted_ms:.3g} ms" in repr(found)
    picture = tmp_path / "cdf.svg"
    words = ["--device", "atlas10k", "--trace", exchanged]
    code, out, err = said(*words, "--plot", picture)
    assert (code, err) == (0, "")
    assert f"class-weighted demerit: {found.class_weighted_ms:.1f}" in out
    assert "that of all is 0: they DISAGREE" in out
    assert "they disagree" in picture.read_text(encoding="utf-8")


def test_the_requests_are_those_of_the_run(measured: Path, tmp_path: Path) -> None:
    found = ss.validate(measured, "atlas10k")
    table, load = pa.table(found.rows), ss.read_trace(measured)
    run = pa.table(ss.simulate(load, "atlas10k").rows)
    assert table.select(run.column_names).to_pydict() == run.to_pydict()
    assert table.column_names[: run.num_columns] == run.column_names
    lines = measured.read_text(encoding="utf-8").splitlines()
    took = [int(1e3 * float(line.split()[4]) + 0.5) for line in lines]
    assert table["measured_ns"].to_pylist() == took
    assert table.schema.field("measured_ns").metadata[b"unit"] == b"ns"
    assert set(table["place"].to_pylist()) <= {"first", "sequential", "overlapping", "near", "far"}
    path = tmp_path / "each.parquet"
    found.write_rows(path)
    assert pq.read_table(path).to_pydict() == table.to_pydict()
    with pytest.raises(ss.SledsimError, match="nowhere"):
        found.write_rows(tmp_path / "nowhere" / "each.parquet")


def test_the_text_the_picture_and_the_table(
    measured: Path, tmp_path: Path, said: Callable[..., tuple[int, str, str]]
) -> None:
    picture, each = tmp_path / "cdf.png", tmp_path / "each.parquet"
    words = ["--device", "atlas10k", "--trace", measured]
    more = ["--plot", picture, "--rows", each, "--max-demerit", "50%"]
    code, out, err = said(*words, *more)
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
    code, out, err = said(*words, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out) == ss.validate(measured, "atlas10k").to_dict()


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
    queue, service = (found.to_dict()["parts"][part] for part in ("queue", "service"))
    assert found.to_dict()["replay"] == "open"
    assert queue["measured_ms"]["all"]["mean"] == 2.0
    assert service["measured_ms"]["all"]["mean"] == 7.0
    assert queue["demerit_ms"]["all"] == 2.0  # nothing waits in a memory
    assert queue["class_weighted_ms"] == 2.0
    assert queue["demerits_disagree"] is False


def test_far_reads_of_a_measured_drive_agree() -> None:
    """A buffer does not help far reads: seeks, rotation and transfer must do for them."""
    if not DRIVES.is_dir():
        pytest.skip("no reference drives beside the repository")
    found = ss.validate(DRIVES / "atlas10k.measured.trace", "atlas10k")
    assert found.to_dict()["requests"] == {"all": 10_000, "read": 6569, "write": 3431}
    classes: list[dict[str, Any]] = found.to_dict()["classes"]
    far = [line for line in classes if (line["op"], line["place"]) == ("read", "far")]
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


FOLDER = Path(ss.__file__).parent / "data" / "published"
SHARED = Path(__file__).parents[3] / "shared" / "MODERN-DEVICES.md"
MOST_FITTED = 8


@pytest.fixture(scope="module")
def found() -> ss.Published:
    return ss.validate_published("barracuda2t")


@pytest.mark.parametrize("name", ["barracuda2t", "exos2x18", "nearline20t"])
def test_the_numbers_are_those_that_were_published(name: str) -> None:
    if not SHARED.exists():
        pytest.skip("../shared is absent")
    table = SHARED.read_text()
    for line in tomllib.loads((FOLDER / f"{name}.toml").read_text())["number"]:
        told = f"{line['measured']:g}"
        assert told in table or told == "124.5"  # 124-125


@pytest.mark.parametrize("name", ["exos2x18", "nearline20t"])
def test_disks_of_which_no_one_was_measured_are_near_what_is_known(name: str) -> None:
    for line in ss.validate_published(name).table.to_dicts():
        assert abs(line["distance"]) < 0.25, line["what"]


@pytest.mark.parametrize(
    ("name", "random_w", "sequential_w"),
    [
        ("barracuda2t", 9.59, 8.18),
        ("nearline20t", 9.44, 8.52),
        # One of its two arms works: half of what both add to the 7.2 W of an idle drive.
        ("exos2x18", (7.2 + 13.5) / 2, None),
    ],
)
def test_disks_draw_what_drives_like_them_are_published_to_draw(
    name: str, random_w: float, sequential_w: float | None
) -> None:
    """The values of [power] are by state; manuals state the mean under a load."""
    # The arm without a request does not read ahead.
    calm: dict[str, Any] = {"child.buffer.read_ahead": "none"} if name == "exos2x18" else {}
    assert _mean_w("random", 4, 4000, ss.device(name, **calm)) == pytest.approx(random_w, rel=0.05)
    if sequential_w is not None:
        assert _mean_w("sequential", 1024, 2000, name) == pytest.approx(sequential_w, rel=0.02)


def _mean_w(kind: Any, kib: int, requests: int, device: ss.Device | str) -> float:
    keys: dict[str, Any] = {"read_fraction": 1, "size": "fixed", "queue_depth": 1, "blocking": 8}
    load = ss.workload(kind, mean_size_kib=kib, requests=requests, **keys)
    run = ss.simulate(load, device, rows=False)
    seconds = run.summary["requests"] / run.summary["throughput_iops"]
    return float(run.summary["energy_j"]["total"]) / seconds


def test_tests_are_within_their_goals_but_for_what_is_known(found: ss.Published) -> None:
    assert found.missed == [
        "random reads of 4 KiB at depth 1, 1 %",
        "sequential writes of 1 MiB, the whole range",
    ]
    for line in found.table.to_dicts():
        assert line["distance"] == pytest.approx(line["simulated"] / line["measured"] - 1)
        if line["role"] == "fitted":
            assert abs(line["distance"]) < (0.2 if line["what"] == "99.9 %" else 0.04)
    fitted = (
        Path(__file__).parents[2] / "crates/sledsim-core/data/devices/barracuda2t.toml"
    ).read_text()
    assert 0 < fitted.count("# [F]") <= MOST_FITTED


def test_the_numbers_are_what_rows_say(found: ss.Published) -> None:
    """Another way to each: places of one's own, and times from the rows."""
    lines = {line["what"]: line for line in found.table.to_dicts()}
    keys: dict[str, Any] = {"size": "fixed", "mean_size_kib": 4, "blocking": 8, "seed": 77}
    load = ss.workload("random", queue_depth=4, requests=8000, read_fraction=1, **keys)
    rows = ss.simulate(load, "barracuda2t").to_polars()
    last: Any = rows["completion_ns"].max()
    taken_s = last / 1e9  # the first come at once
    assert rows.height / taken_s == pytest.approx(lines["at depth 4"]["simulated"], rel=0.02)
    assert lines["10 %"]["simulated"] < lines["50 %"]["simulated"] < lines["90 %"]["simulated"]
    # Through the zones, a track and its skew in turn.
    device: Any = ss.device("barracuda2t")
    zones = device.zones()
    passing = sum(
        zone.blocks / zone.blocks_per_track * (1 + zone.track_skew_ms / (60e3 / 7200)) * 60 / 7200
        for zone in zones
    )
    rate = sum(zone.blocks for zone in zones) * 512e-6 / passing
    told = lines["sequential reads of 1 MiB, the whole range"]["simulated"]
    assert told == pytest.approx(rate, rel=0.03)


def test_other_models_and_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert ss.published_devices() == ["barracuda2t", "exos2x18", "nearline20t"]
    other = ss.validate_published("barracuda2t", device="nearline20t")
    assert other.to_dict()["device"] == "nearline20t"
    assert len(other.missed) > 5
    assert "nearline20t" in repr(other)
    assert main(["validate", "--published", "barracuda2t"]) == 0
    said = capsys.readouterr().out
    assert "MISSED 10 %" in said
    assert "within 10 %" in said
    assert main(["validate", "--published", "barracuda2t", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["numbers"]) == 13
