"""What pages that explain runs are given, and what is refused."""

import base64
import gzip
import json
import math
import re
import struct
from bisect import bisect_right
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import sledsim as ss
from sledsim.cli import main

FORMS = {"f64": "d", "f32": "f", "u32": "I", "i32": "i", "u16": "H", "u8": "B"}


class Given:
    """What a page is given: its head, and columns by name."""

    def __init__(self, text: str) -> None:
        head = re.search(r'id="head">(.*?)</script>', text, re.DOTALL)
        data = re.search(r'id="data">(.*?)</script>', text, re.DOTALL)
        assert head is not None
        assert data is not None
        self.head = json.loads(head[1])
        self._data = gzip.decompress(base64.b64decode(data[1]))

    def columns(self, of: dict[str, Any]) -> dict[str, tuple[Any, ...]]:
        """Return the columns of a run or a device."""
        return {
            name: struct.unpack_from(f"<{one['count']}{FORMS[one['type']]}", self._data, one["at"])
            for name, one in of["columns"].items()
        }


def _load(requests: int = 400, rate: float = 1500, **keys: Any) -> ss.Load:
    return ss.workload("random", rate=rate, requests=requests, **keys)


def _given(run: ss.Run | ss.Comparison, **window: Any) -> Given:
    return Given(run.explore(**window).text)


def _first(run: ss.Run, **window: Any) -> tuple[Given, dict[str, Any], Any, Any]:
    """Return what the page of a run is given: its first device, the rows, and those of it."""
    given = _given(run, **window)
    shown = given.head["runs"][0]
    about = shown["devices"][0]
    return given, about, given.columns(shown), given.columns(about)


def _parts(values: tuple[Any, ...], counts: tuple[int, ...]) -> list[tuple[Any, ...]]:
    """Return values in groups of so many."""
    ends = [0]
    for count in counts:
        ends.append(ends[-1] + count)
    return [values[begin:end] for begin, end in pairwise(ends)]


@pytest.mark.parametrize("scheduler", ["fcfs", "sptf"])
@pytest.mark.parametrize(
    "device", ["g1", "g2", "g3", 'g2(idle="coast")', "g2(kinematics=piecewise)"]
)
def test_a_sled_is_followed_from_row_to_row(device: str, scheduler: str) -> None:
    """Segments last as long as the row says, and are all exact; the sled never jumps."""
    _, about, rows, own = _first(ss.simulate(_load(), device, scheduler))
    assert about["role"] == "sled"
    assert set(own["exact"]) == {1}
    assert len(own["row"]) == 400
    for axis in "xy":
        durations = _parts(own[f"{axis}_s"], own[f"{axis}_count"])
        for row, segments in zip(own["row"], durations, strict=True):
            busy = rows["seek_ns"][row] + rows["transfer_ns"][row]
            assert abs(sum(segments) * 1e9 - busy) < 2
    assert all(abs(place) <= about["reach_x_m"] * (1 + 1e-12) for place in own["x_m"])
    assert sum(own["pass_count"]) == sum(rows["passes"])


def test_a_sled_that_nothing_is_known_of_between_is_marked() -> None:
    """The kinematics of DiskSim have no way between the ends."""
    *_, own = _first(ss.simulate(_load(100), "g2(kinematics=disksim)"))
    assert set(own["exact"]) == {0}


@pytest.mark.parametrize("device", ["atlas10k", "nearline20t", "superdisk"])
def test_a_pass_begins_where_its_block_comes_by(device: str) -> None:
    """The platter has then turned to the angle at which the first block lies."""
    disk = ss.device(device)
    assert isinstance(disk, ss.Disk)
    _, about, rows, own = _first(ss.simulate(_load(300, 100), disk, "sptf"))
    assert about["role"] == "disk"
    firsts = _parts(tuple(range(len(own["angle"]))), own["pass_count"])
    checked = 0
    for access, row in enumerate(own["row"]):
        first = firsts[access][0]
        begin = rows["start_ns"][row] + own["delay_ns"][access]
        begin += sum(own[part][first] for part in ("seek_ns", "switch_ns", "wait_ns"))
        turned = math.modf(about["angle_at_0"] + begin * 1e-9 / about["revolution_s"])[0]
        # Truncated to whole ns.
        slack = 2e-9 / about["revolution_s"]
        assert abs((turned - own["angle"][first] + 0.5) % 1 - 0.5) < slack
        at = disk.locate(int(rows["lbn"][row]))
        assert (own["cylinder"][first], own["head"][first]) == (at.cylinder, at.head)
        if own["exact"][access] and own["turn"][first] < 0.9:  # else it begins within the blocks
            off = (own["angle"][first] - at.angle + 0.5) % 1 - 0.5
            inside = rows["blocks"][row] / 100
            assert -slack < off < inside
            checked += abs(off) < slack
    assert checked > 0.8 * len(own["row"])


@pytest.mark.parametrize(("device", "rate"), [("g2", 1500), ("atlas10k", 140)])
def test_sptf_takes_the_least_estimate(device: str, rate: float) -> None:
    """What the page calls the choice of SPTF is what the scheduler SPTF took."""
    _, _, rows, own = _first(ss.simulate(_load(2000, rate), device, "sptf"))
    candidates = tuple(zip(own["candidate_ns"], own["candidate_row"], strict=True))
    groups = _parts(candidates, own["choice_count"])
    same = sum(
        taken == min(group, key=lambda one: (one[0], rows["arrival_ns"][one[1]]))[1]
        for taken, group in zip(own["choice_row"], groups, strict=True)
    )
    # A request whose command still waits for the bus is counted among those that wait.
    assert same >= 0.98 * len(groups) > 500
    for taken, group in zip(own["choice_row"], groups, strict=True):
        estimate = next(ns for ns, row in group if row == taken)
        positioning = rows["seek_ns"][taken]
        if rows["passes"][taken] == 1 and device == "g2":
            assert abs(estimate - positioning) <= 1


def test_those_that_wait_have_arrived_and_are_taken_later() -> None:
    _, _, rows, own = _first(ss.simulate(_load(), "g2", "c_look"))
    groups = _parts(own["candidate_row"], own["choice_count"])
    starts = sorted(rows["start_ns"])
    for taken, group in zip(own["choice_row"], groups, strict=True):
        now = rows["start_ns"][taken]
        assert taken in group
        assert len(set(group)) == len(group) > 1
        for row in group:
            assert rows["arrival_ns"][row] <= now <= rows["start_ns"][row]
        arrived = sum(arrival + 2e5 <= now for arrival in rows["arrival_ns"])
        assert len(group) == arrived - bisect_right(starts, now) + 1


def test_a_hybrid_has_both_its_parts() -> None:
    """It is run again with the rows of its parts, and the page says so."""
    given, _, rows, _ = _first(ss.simulate(_load(300, 80), "mcd"))
    roles = [device["role"] for device in given.head["runs"][0]["devices"]]
    assert roles.count("sled") == roles.count("disk") == 1
    (note,) = given.head["notes"]
    assert note.startswith("All 300 requests, run again with the same seed: the run kept no rows")
    hosts = [row for row, parent in enumerate(rows["parent"]) if parent == -1]
    assert len(hosts) == 300
    for row, parent in enumerate(rows["parent"]):
        if parent >= 0:
            assert rows["device"][parent] < rows["device"][row]
            assert rows["arrival_ns"][parent] <= rows["arrival_ns"][row]
    again, _, kept, _ = _first(ss.simulate(_load(300, 80), "mcd", parts=True))
    assert again.head["notes"] == []
    assert kept == rows


@pytest.mark.parametrize("kind", ["raid5", "raid6", "raid10"])
def test_an_array_has_all_its_members(kind: str) -> None:
    text = f'kind = "{kind}"\nchildren = 4\nunit_blocks = 128\n[child]\nbase = "g2"\n'
    given = _given(ss.simulate(_load(200, 300), ss.Device.from_toml(text, "array")))
    roles = [device["role"] for device in given.head["runs"][0]["devices"]]
    assert roles.count("sled") == 4


def test_a_run_without_rows_is_run_again() -> None:
    (given, _, ours, _), (whole, _, theirs, _) = (
        _first(ss.simulate(_load(3000), "g2", "sptf", rows=rows), requests=500)
        for rows in (False, True)
    )
    assert given.head["notes"][0].startswith("The first 500 of 3,000 requests, run again with")
    assert whole.head["notes"] == [
        "g2: shows 500 requests, of 3,000: those that arrive from 0 ms on."
    ]
    assert sum(parent == -1 for parent in ours["parent"]) == 500
    # The last ones may be overtaken in the longer run.
    first = 400
    for name in ("id", "lbn", "arrival_ns"):
        assert sorted(ours[name])[:first] == sorted(theirs[name])[:first]


def test_a_window_begins_where_it_is_asked_to() -> None:
    kept, none = (ss.simulate(_load(3000), "g2", "sptf", rows=rows) for rows in (True, False))
    later = [arrival for arrival in sorted(kept.rows["arrival_ns"]) if arrival >= 1e9]
    for run in (kept, none):
        _, _, rows, _ = _first(run, start_ms=1000, requests=100)
        assert sorted(rows["arrival_ns"]) == later[:100]


def test_estimates_are_kept_around_an_instant() -> None:
    """A long queue has more estimates than fit: those around the instant are kept."""
    given, _, rows, own = _first(ss.simulate(_load(3000, 20_000), "g2", "sptf"), at_ms=700)
    times = [rows["start_ns"][row] / 1e6 for row in own["choice_row"]]
    kept = [time for time, count in zip(times, own["choice_count"], strict=True) if count]
    assert 0 < len(kept) < len(times)
    assert min(kept) < 700 < max(kept)
    assert sum(own["choice_count"]) <= 20 * 3000
    assert given.head["at_ns"] == 7e8


def test_pages_are_small() -> None:
    """At most 2 MB for 10,000 requests, and 150 kB of code."""
    files = (Path(ss.__file__).with_name("explore") / "page").iterdir()
    code = sum(file.stat().st_size for file in files)
    assert code < 150_000
    for device, rate in (("g2", 1500), ("atlas10k", 140)):
        page = ss.simulate(_load(10_000, rate), device, "sptf").explore()
        assert len(page.text) - code < 2_000_000


def test_two_runs_go_in_step() -> None:
    compared = ss.compare(_load(), ["g2"], ["fcfs", "sptf"])
    given = _given(compared)
    assert [run["scheduler"] for run in given.head["runs"]] == ["fcfs", "sptf"]
    first, second = (given.columns(run) for run in given.head["runs"])
    assert sorted(first["arrival_ns"]) == sorted(second["arrival_ns"])


def test_the_commands_write_pages(tmp_path: Path) -> None:
    file, both = tmp_path / "run.html", tmp_path / "both.html"
    keys = ["--set", "rate=900", "--set", "requests=200", "--explore"]
    assert main(["run", "--device", "g2", *keys, str(file)]) == 0
    two = ["compare", "--devices", "g2", "--schedulers", "fcfs,sptf", *keys, str(both)]
    assert main([*two, "--explore-requests", "100"]) == 0
    for page, count, requests in ((file, 1, 200), (both, 2, 100)):
        given = Given(page.read_text(encoding="utf-8"))
        assert len(given.head["runs"]) == count
        assert len(given.columns(given.head["runs"][0])["id"]) == requests


def test_notebooks_show_a_page() -> None:
    page = ss.simulate(_load(50), "g2").explore()
    shown = page._repr_html_()
    assert shown.startswith('<iframe title="The run, explained"')
    assert repr(page).startswith("<sledsim page: 0.")


def test_a_queue_of_the_host_stands_before_the_device() -> None:
    run = ss.simulate(_load(), "g2", "fcfs(host=c_look)", parts=True)
    given = _given(run)
    shown = given.head["runs"][0]
    assert [(one["name"], one["role"]) for one in shown["devices"]] == [
        ("g2.host", "other"),
        ("g2", "sled"),
    ]
    own = given.columns(shown["devices"][1])
    assert set(own["exact"]) == {1}
    assert len(own["row"]) == 400
