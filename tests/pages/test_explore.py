"""What pages that explain runs are given, and what is refused."""

from __future__ import annotations

import base64
import gzip
import json
import math
import re
import struct
import subprocess
import sys
from bisect import bisect_right
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import sledsim as ss

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
    given = _given(ss.simulate(_load(), device, scheduler))
    (run,) = given.head["runs"]
    (about,) = run["devices"]
    rows, own = given.columns(run), given.columns(about)
    assert about["role"] == "sled"
    assert set(own["exact"]) == {1}
    assert len(own["row"]) == 400
    for axis in "xy":
        durations = _parts(own[f"{axis}_s"], own[f"{axis}_count"])
        for row, segments in zip(own["row"], durations, strict=True):
            busy = rows["seek_ns"][row] + rows["transfer_ns"][row]
            assert abs(sum(segments) * 1e9 - busy) < 2
    places = own["x_m"]
    assert all(abs(place) <= about["reach_x_m"] * (1 + 1e-12) for place in places)
    assert sum(count for count in own["pass_count"]) == sum(rows["passes"])


def test_a_sled_that_nothing_is_known_of_between_is_marked() -> None:
    """The kinematics of DiskSim have no way between the ends."""
    given = _given(ss.simulate(_load(100), "g2(kinematics=disksim)"))
    own = given.columns(given.head["runs"][0]["devices"][0])
    assert set(own["exact"]) == {0}


@pytest.mark.parametrize("device", ["atlas10k", "nearline20t", "superdisk"])
def test_a_pass_begins_where_its_block_comes_by(device: str) -> None:
    """The platter has then turned to the angle at which the first block lies."""
    disk = ss.device(device)
    assert isinstance(disk, ss.Disk)
    given = _given(ss.simulate(_load(300, 100), disk, "sptf"))
    (run,) = given.head["runs"]
    (about,) = run["devices"]
    rows, own = given.columns(run), given.columns(about)
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
    given = _given(ss.simulate(_load(2000, rate), device, "sptf"))
    (run,) = given.head["runs"]
    rows, own = given.columns(run), given.columns(run["devices"][0])
    groups = _parts(
        tuple(zip(own["candidate_ns"], own["candidate_row"], strict=True)), own["choice_count"]
    )
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
    given = _given(ss.simulate(_load(), "g2", "c_look"))
    (run,) = given.head["runs"]
    rows, own = given.columns(run), given.columns(run["devices"][0])
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
    run = ss.simulate(_load(300, 80), "mcd")
    given = _given(run)
    (shown,) = given.head["runs"]
    assert [device["role"] for device in shown["devices"]].count("sled") == 1
    assert [device["role"] for device in shown["devices"]].count("disk") == 1
    (note,) = given.head["notes"]
    assert note == (
        "All 300 requests, run again with the same seed: the run kept no rows of the parts of its "
        "device."
    )
    rows = given.columns(shown)
    hosts = [row for row, parent in enumerate(rows["parent"]) if parent == -1]
    assert len(hosts) == 300
    for row, parent in enumerate(rows["parent"]):
        if parent >= 0:
            assert rows["device"][parent] < rows["device"][row]
            assert rows["arrival_ns"][parent] <= rows["arrival_ns"][row]
    kept = ss.simulate(_load(300, 80), "mcd", parts=True)
    again = _given(kept)
    assert again.head["notes"] == []
    assert again.columns(again.head["runs"][0]) == rows


@pytest.mark.parametrize("kind", ["raid5", "raid6", "raid10"])
def test_an_array_has_all_its_members(kind: str) -> None:
    text = f'kind = "{kind}"\nchildren = 4\nunit_blocks = 128\n[child]\nbase = "g2"\n'
    given = _given(ss.simulate(_load(200, 300), ss.Device.from_toml(text, "array")))
    roles = [device["role"] for device in given.head["runs"][0]["devices"]]
    assert roles.count("sled") == 4


def test_a_run_without_rows_is_run_again() -> None:
    run = ss.simulate(_load(3000), "g2", "sptf", rows=False)
    kept = ss.simulate(_load(3000), "g2", "sptf")
    given, whole = _given(run, requests=500), _given(kept, requests=500)
    assert given.head["notes"][0].startswith("The first 500 of 3,000 requests, run again with")
    assert whole.head["notes"] == [
        "g2: shows 500 requests, of 3,000: those that arrive from 0 ms on."
    ]
    ours, theirs = (one.columns(one.head["runs"][0]) for one in (given, whole))
    assert sum(parent == -1 for parent in ours["parent"]) == 500
    # The last ones may be overtaken in the longer run.
    first = 400
    for name in ("id", "lbn", "arrival_ns"):
        assert sorted(ours[name])[:first] == sorted(theirs[name])[:first]


def test_a_window_begins_where_it_is_asked_to() -> None:
    run = ss.simulate(_load(3000), "g2", "sptf")
    arrivals = sorted(run.rows["arrival_ns"])
    given = _given(run, start_ms=1000, requests=100)
    shown = sorted(given.columns(given.head["runs"][0])["arrival_ns"])
    later = [arrival for arrival in arrivals if arrival >= 1e9]
    assert shown == later[:100]
    without = ss.simulate(_load(3000), "g2", "sptf", rows=False)
    again = _given(without, start_ms=1000, requests=100)
    assert sorted(again.columns(again.head["runs"][0])["arrival_ns"]) == later[:100]


def test_estimates_are_kept_around_an_instant() -> None:
    """A long queue has more estimates than fit: those around the instant are kept."""
    run = ss.simulate(_load(3000, 20_000), "g2", "sptf")
    given = _given(run, at_ms=700)
    shown = given.head["runs"][0]
    rows, own = given.columns(shown), given.columns(shown["devices"][0])
    times = [rows["start_ns"][row] / 1e6 for row in own["choice_row"]]
    kept = [time for time, count in zip(times, own["choice_count"], strict=True) if count]
    assert 0 < len(kept) < len(times)
    assert min(kept) < 700 < max(kept)
    assert sum(own["choice_count"]) <= 20 * 3000
    assert given.head["at_ns"] == 7e8


def test_the_same_run_gives_the_same_page() -> None:
    pages = {ss.simulate(_load(), "g2", "sptf").explore().text for _ in range(2)}
    assert len(pages) == 1


def test_pages_are_small() -> None:
    """At most 2 MB for 10,000 requests, and 150 kB of code."""
    files = (Path(ss.__file__).with_name("explore") / "page").iterdir()
    code = sum(file.stat().st_size for file in files)
    assert code < 150_000
    for device, rate in (("g2", 1500), ("atlas10k", 140)):
        page = ss.simulate(_load(10_000, rate), device, "sptf").explore()
        assert len(page.text) - code < 2_000_000


def test_a_page_needs_no_network() -> None:
    text = ss.simulate(_load(50), "g2").explore().text
    code = text.replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?://|\bsrc=|@import|\bfetch\(|<link|XMLHttpRequest", code)


def test_two_runs_go_in_step() -> None:
    compared = ss.compare(_load(), ["g2"], ["fcfs", "sptf"])
    given = _given(compared)
    assert [run["scheduler"] for run in given.head["runs"]] == ["fcfs", "sptf"]
    first, second = (given.columns(run) for run in given.head["runs"])
    assert sorted(first["arrival_ns"]) == sorted(second["arrival_ns"])


def test_names_are_only_text() -> None:
    """No name of a device ends an element of the page."""
    device = ss.device("g2")
    hostile = ss.Device.from_toml(device.to_toml(), "</script><script>alert(1)</script>")
    text = ss.simulate(_load(50), hostile).explore().text
    assert "<script>alert(1)" not in text
    assert Given(text).head["runs"][0]["device"] == "</script><script>alert(1)</script>"


@pytest.mark.parametrize(
    ("window", "said"),
    [
        ({"start_ms": 1e9}, "start_ms = 1e\\+09: no request arrives from then on"),
        ({"start_ms": -1}, "start_ms = -1: must be"),
        ({"requests": 0}, "requests = 0: must be"),
        ({"at_ms": "x"}, "at_ms = 'x': must be"),
        ({"path": "run.pdf"}, r"run\.pdf: must end in \.html"),
    ],
)
def test_wrong_windows_are_refused(window: dict[str, Any], said: str) -> None:
    run = ss.simulate(_load(50), "g2")
    with pytest.raises(ss.SledsimError, match=said):
        run.explore(**window)


def test_what_cannot_be_explored_is_refused(tmp_path: Path) -> None:
    three = ss.compare(_load(50), ["g1", "g2", "g3"])
    with pytest.raises(ss.SledsimError, match=r"3 runs.*must be one of two runs"):
        three.explore()
    frame = _load(50).to_polars("mcd")
    run = ss.simulate(ss.read_trace(frame), "mcd")
    with pytest.raises(ss.SledsimError, match="its load cannot be read again"):
        run.explore()
    split = ss.simulate("sample:sqlite", "g2", split=20.0)
    with pytest.raises(ss.SledsimError, match="do not keep their device"):
        split.explore()
    target = tmp_path / "none" / "run.html"
    with pytest.raises(ss.SledsimError, match="none"):
        ss.simulate(_load(50), "g2").explore(target)
    assert not target.parent.exists()


def test_the_commands_write_pages(tmp_path: Path) -> None:
    file, both = tmp_path / "run.html", tmp_path / "both.html"
    program = [sys.executable, "-m", "sledsim"]
    keys = ["--set", "rate=900", "--set", "requests=200"]
    subprocess.run([*program, "run", "--device", "g2", *keys, "--explore", str(file)], check=True)
    devices = ["--devices", "g2", "--schedulers", "fcfs,sptf"]
    subprocess.run(
        [*program, "compare", *devices, *keys, "--explore", str(both), "--explore-requests", "100"],
        check=True,
    )
    assert len(Given(file.read_text(encoding="utf-8")).head["runs"]) == 1
    assert len(Given(both.read_text(encoding="utf-8")).head["runs"]) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--explore-requests", "9"], "--explore-requests 9: must come with --explore FILE"),
        (["--explore", "run.txt"], "--explore run.txt: must end in .html"),
        (["--explore", "x.html", "--explore-from", "-1"], "--explore-from -1.0: must be"),
        (["--explore", "x.html", "--explore-requests", "0"], "--explore-requests 0: must be"),
        (
            ["--schedulers", "fcfs,sptf,c_look", "--explore", "x.html"],
            "--explore x.html: there are 3 runs; must be one of two runs",
        ),
    ],
)
def test_wrong_options_are_refused_before_the_run(
    words: list[str], said: str, tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sledsim", "compare", "--devices", "g2", *words],
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=60,
    )
    assert done.returncode == 2
    assert said in done.stderr
    assert list(tmp_path.iterdir()) == []


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
