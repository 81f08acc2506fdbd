"""What notebooks and ``print`` show of devices, loads, runs and other results."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest
import sledsim as ss
from sledsim import papers
from sledsim.cli import main
from sledsim.show import notebook
from sledsim.show.sheet import Table

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = '<script>alert("&")</script>'


def parsed(shown: Any) -> ET.Element:
    """Return what is shown as a tree, if it is well-formed, deterministic and without colours."""
    text = shown._repr_html_()
    assert shown._repr_html_() == text
    tree = ET.fromstring(text)
    assert tree.tag == "div"
    for element in tree.iter():
        assert element.tag not in {"script", "style", "font"}
        assert set(element.attrib) <= {"style"}
        declared = element.get("style", "")
        assert not re.search("color|background|#", declared), "is read in light and dark alike"
    for each in tree.iter("table"):
        widths = {len(row) for row in each.iter("tr")}
        assert len(widths) == 1, "all rows have the same columns"
    return tree


def cells(tree: ET.Element) -> dict[str, list[str]]:
    """Return the rows by their first cells."""
    rows = ([cell.text or "" for cell in row] for row in tree.iter("tr"))
    return {first: rest for first, *rest in rows}


def text_of(tree: ET.Element) -> str:
    return " ".join(" ".join(tree.itertext()).split())


@pytest.fixture(scope="module")
def run() -> ss.Run:
    return ss.simulate(ss.workload("random", rate=500, requests=5000), "g2")


def test_a_run_tells_its_mean_with_the_interval(run: ss.Run) -> None:
    """``1.240 ms (± 2 %)``: half the interval over the mean, and digits that match it."""
    interval = run.summary["confidence"]["response_time_ms"]
    mean, low, high = (interval[key] for key in ("mean", "low", "high"))
    found = re.fullmatch(
        r"<sledsim run: 5,000 requests on g2, mean response time ([\d.]+) ms \(± ([\d.]+) %\), "
        r"([\d.]+) requests/s>",
        repr(run),
    )
    assert found is not None, repr(run)
    shown, percent, rate = map(float, found.groups())
    assert shown == pytest.approx(run.summary["response_time_ms"]["mean"], abs=(high - low) / 20)
    assert percent == pytest.approx(100 * (high - low) / 2 / mean, abs=0.1)
    assert rate == pytest.approx(run.summary["throughput_iops"], rel=5e-3)
    tree = parsed(run)
    told = re.search(r"in the mean \(95 % interval ([\d.]+) to ([\d.]+) ms\)", text_of(tree))
    assert told is not None
    assert float(told[1]) == pytest.approx(low, abs=0.001)
    assert float(told[2]) == pytest.approx(high, abs=0.001)
    longest = run.summary["response_time_ms"]["max"]
    assert float(cells(tree)["response time"][-1]) == pytest.approx(longest, rel=5e-3)


def test_causes_add_up_to_the_mean(run: ss.Run) -> None:
    rows = cells(parsed(run))
    parts = sum(float(row[0]) for name, row in rows.items() if re.match("\u2003\\w", name))
    assert parts == pytest.approx(run.summary["response_time_ms"]["mean"], abs=0.001)


def test_cautions_are_told() -> None:
    few = ss.simulate(ss.workload("random", requests=5), "g2")
    assert repr(few).endswith("; ! too few requests>")
    assert "! the interval of the mean is not to be relied on" in text_of(parsed(few))
    overloaded = ss.simulate(ss.workload("random", rate=300, requests=2000), "atlas10k")
    assert repr(overloaded).endswith("; ! overloaded>")
    noted = ss.simulate(ss.workload("random", requests=2000, warm_up_requests=10), "g2")
    assert repr(noted).endswith("; * warm up>")
    assert "* 10 requests of the warm-up are not counted" in text_of(parsed(noted))
    for each in (few, overloaded, noted):
        assert "\n" not in repr(each)


def test_a_run_of_nothing() -> None:
    load = ss.workload("random", rate=1e9, requests=100, max_queue=1)
    run = ss.simulate(load, "g2")
    assert repr(run) == "<sledsim run: 0 requests on g2; ! saturated, too few requests>"
    assert "No request was completed on g2." in text_of(parsed(run))


def test_a_comparison() -> None:
    load = ss.read_trace("sample:postmark-ext4", queue_depth=1)
    comparison = ss.compare(load, ["disk", "mems"])
    assert repr(comparison) == (
        "<sledsim comparison, mean response times: disk 4.96 ms, mems 0.62 ms !>"
    )
    tree = parsed(comparison)
    rows = [[cell.text or "" for cell in row] for row in tree.iter("tr")]
    disk, mems = rows[1:3]
    assert (disk[:2], mems[:2]) == (["disk", ""], ["mems", "!"])
    assert mems[-2] == "- (correlated batches)"
    assert mems[-1] == "7.97", "times on this trace: 4.96 / 0.62, by the digits shown"
    assert "! mems: the interval of the mean is not to be relied on" in text_of(tree)


def test_a_device_has_its_parameters_with_units_and_sources() -> None:
    rows = cells(parsed(ss.device("g2")))
    assert rows["capacity"] == ["3.456 GB, 6,750,000 blocks"]
    assert rows["tips"] == ["6400", "published", "DiskSim 4.0 G2; [P] CMU-CS-03-125 section 4"]
    assert rows["settle_ms"] == ["0.2154"]
    for name in ss.devices():
        parsed(ss.device(name))
    assert repr(ss.device("g2")) == "<sledsim device g2: 6,750,000 blocks, 3.456 GB>"


@pytest.mark.parametrize("name", ss.loads.workload_presets())
def test_loads_of_presets(name: str) -> None:
    assert cells(parsed(ss.workload(name)))["preset"] == [name]


def test_loads() -> None:
    assert cells(parsed(ss.workload("random", rate=500))) == {"kind": ["random"], "rate": ["500"]}
    trace = cells(parsed(ss.read_trace("sample:pgbench", queue_depth=2)))
    assert trace == {"kind": ["trace"], "queue_depth": ["2"]}


def test_a_study(tmp_path: Path) -> None:
    base = {"device": "g2", "workload": "random", "requests": 20}
    study = ss.sweep(base, grid={"rate": list(range(100, 125))}, output=tmp_path / "study")
    tree = parsed(study)
    rows = cells(tree)
    assert list(rows)[:2] == ["rate", "100"]
    assert sum(name.isdigit() for name in rows) == 20
    assert "and 5 more" in text_of(tree)
    (first,) = study.means_table().column("response_time_ms.mean")[:1]  # type: ignore[index]
    at = rows["rate"].index("response_time_ms.mean")
    assert float(rows["100"][at]) == pytest.approx(first, rel=5e-3)
    grid = {"cache.policy": ["lru"], "cache.size_mib": [1, 2]}
    hits = {"trace": "sample:postmark", "cache.segment_kib": 4}
    other = ss.sweep(hits, grid=grid, experiment="hit_ratios", output=tmp_path / "hits")
    assert "hit_ratio" in text_of(parsed(other))


def test_a_study_tells_errors(tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("t,lba,n,rw\n1,0,8,R\n2,x,8,R\n", encoding="utf-8")
    columns = "time=t:us, offset=lba:512B, bytes=n:512B, op=rw"
    load = ss.read_trace(tmp_path / "bad.csv", columns=columns)
    study = ss.sweep({"load": load}, grid={"device": ["g2", "g3"]}, output=tmp_path / "study")
    assert "bad.csv" in cells(parsed(study))["g2"][-1]


def test_a_validation(tmp_path: Path) -> None:
    lines = [f"{at},{at % 7},8,R,{400 + at}" for at in range(0, 60_000, 600)]
    (tmp_path / "measured.csv").write_text("\n".join(["t,lba,n,rw,us", *lines, ""]), "utf-8")
    columns = "time=t:us, offset=lba:512B, bytes=n:512B, op=rw, response=us:us"
    found = ss.validate(ss.read_trace(tmp_path / "measured.csv", columns=columns), "g2")
    rows = cells(parsed(found))
    assert rows["reads, measured"] == rows["all, measured"]
    assert rows["all, measured"][:2] == ["100", "30.1"], "the mean of 0.4 to 59.8 ms"
    assert rows["writes"][0] == "0"


def test_items_of_papers(tmp_path: Path) -> None:
    for item in papers.find([]):
        assert len(cells(parsed(item))) >= 2
    (item,) = papers.find(["sigmetrics2000/table1"])
    assert repr(item) == "<sledsim item sigmetrics2000/table1: Device parameters, values: 14>"
    (result,) = papers.run([item], tmp_path, quick=True, workers=1)
    assert repr(result).startswith("<sledsim result of sigmetrics2000/table1: ")
    rows = cells(parsed(result))
    assert rows["number of tips"] == ["6,400", "6,400", "", "0", "input"]


def test_show_prints_what_the_command_prints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def printed(*words: str) -> str:
        assert main([*words]) == 0
        return capsys.readouterr().out

    def shown(result: Any) -> str:
        result.show()
        return capsys.readouterr().out

    load = ss.workload("random", rate=500, requests=200)
    keys = ("--workload", "random", "--set", "rate=500", "--set", "requests=200")
    assert shown(ss.simulate(load, "g2")) == printed("run", "--device", "g2", *keys)
    compared = shown(ss.compare(load, ["g2", "g3"]))
    assert compared == printed("compare", "--devices", "g2,g3", *keys)
    crashed = shown(ss.crash_test(load, "g2", points=20))
    assert crashed == printed("crash", "--device", "g2", "--points", "20", *keys)
    trace = tmp_path / "measured.csv"
    lines = [f"{at},{at % 7},8,R,{400 + at}" for at in range(0, 60_000, 600)]
    trace.write_text("\n".join(["t,lba,n,rw,us", *lines, ""]), "utf-8")
    columns = "time=t:us, offset=lba:512B, bytes=n:512B, op=rw, response=us:us"
    measured = ss.read_trace(trace, columns=columns)
    command = ("validate", "--device", "g2", "--trace", str(trace), "--columns", columns)
    assert shown(ss.validate(measured, "g2")) == printed(*command)


def test_hostile_names_are_text(tmp_path: Path) -> None:
    device = ss.Device.from_toml(ss.device("g2").to_toml(), HOSTILE)
    run = ss.simulate(ss.workload("random", requests=50), device)
    load = ss.Load(ss.workload("random")._core, HOSTILE)
    comparison = ss.compare(ss.workload("random", requests=50), [device, "g2"])
    titled = ss.Device.from_toml(ss.device("g2", title=HOSTILE).to_toml())
    base = {"workload": "random", "requests": 20}
    study = ss.sweep(base, grid={"device": [device, "g2"]}, output=tmp_path / "study")
    for shown in (device, run, load, comparison, titled, study):
        assert HOSTILE in text_of(parsed(shown))
    tree = ET.fromstring(f"<div>{notebook.table(Table([HOSTILE], [[HOSTILE]], HOSTILE))}</div>")
    assert text_of(tree) == " ".join([HOSTILE] * 3)
