"""What is shown of results: sheets as data; texts, notebooks and commands show what is in them.

No text shows more digits than are known: judged from outside, by the numbers in it.
"""

import html
import math
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import sledsim as ss
from sledsim import _number_text, papers
from sledsim.cli import main
from sledsim.show import notebook, sheet_of
from sledsim.show import pages as reports
from sledsim.show.sheet import Table
from sledsim.show.text import stacked_table, table

MOST = 4
"""Significant digits of a number that has no interval."""
HOSTILE = '<script>alert("&")</script>'
LOAD = ss.workload("random", rate=500, requests=5000)
FEW = ss.workload("random", rate=500, requests=200)
NUMBER = re.compile(r"(?<![\w.,])[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?(?![\d.])")
LINES = [f"{at},{at % 7},8,R,{400 + at}" for at in range(0, 60_000, 600)]
COLUMNS = "time=t:us, offset=lba:512B, bytes=n:512B, op=rw, response=us:us"
LATE: dict[str, Any] = {"rate": 1e9, "max_queue": 1}
EARLY: dict[str, Any] = {"rate": 300, "requests": 2000}
OPEN: dict[str, Any] = {"rate": 512.0625, "mean_size_kib": 4.7654321, "requests": 9000}
MADE: dict[str, Callable[[], Any]] = {
    "run": lambda: ss.simulate(LOAD, "g2"),
    "bursts": lambda: ss.simulate(ss.workload("cello", requests=20_000), "mems"),
    "few": lambda: ss.simulate(ss.workload("random", requests=5), "g2"),
    "overloaded": lambda: ss.simulate(ss.workload("random", **EARLY), "atlas10k"),
    "noted": lambda: ss.simulate(ss.workload(requests=2000, warm_up_requests=10), "g2"),
    "nothing": lambda: ss.simulate(ss.workload("random", requests=100, **LATE), "g2"),
    "hostile": lambda: ss.simulate(FEW, ss.Device.from_toml(ss.device("g2").to_toml(), HOSTILE)),
    "pair": lambda: ss.compare(ss.workload("random", **OPEN), ["g1", "g2"], ["fcfs", "sptf"]),
    "comparison": lambda: ss.compare(
        ss.read_trace("sample:postmark-ext4", queue_depth=1), ["disk", "mems"]
    ),
    "study": lambda: ss.sweep(
        {"device": "g2", "requests": 20}, grid={"rate": list(range(100, 125))}
    ),
    "rates": lambda: ss.sweep({"device": "g2", "requests": 900}, grid={"rate": [100, 900]}),
    "hits": lambda: ss.sweep(
        {"trace": "sample:postmark", "cache.segment_kib": 4},
        grid={"cache.policy": ["lru"], "cache.size_mib": [1, 2]},
        experiment="hit_ratios",
    ),
    "crash": lambda: ss.crash_test(FEW, "g2", points=20),
    "load": lambda: ss.workload("random", rate=500),
    "trace": lambda: ss.read_trace("sample:pgbench", queue_depth=2),
    "titled": lambda: ss.Device.from_toml(ss.device("g2", title=HOSTILE).to_toml()),
    "named": lambda: ss.Load(ss.workload("random")._core, HOSTILE),
    **{name: lambda name=name: ss.device(name) for name in ss.devices()},  # type: ignore[misc]
    **{name: lambda name=name: ss.workload(name) for name in ss.loads.workload_presets()},  # type: ignore[misc]
    **{item.id: lambda item=item: item for item in papers.find([])},  # type: ignore[misc]
}
of = cache(lambda name: MADE[name]())


def numbers(text: str) -> list[str]:
    """Return the numbers in a text, without commas."""
    return [found.replace(",", "") for found in NUMBER.findall(text)]


def digits(word: str) -> int:
    """Return how many significant digits a decimal number has; none of a whole one."""
    return len(word.partition("e")[0].replace(".", "").lstrip("+-0")) if "." in word else 0


def decimals(word: str) -> int:
    return len(word.partition(".")[2])


def borne(low: float, high: float) -> int:
    """Return the decimals that an interval bears: two digits of its half."""
    return max(0, 1 - math.floor(math.log10((high - low) / 2)))


def tables(result: Any) -> list[Table]:
    sheet = sheet_of(result)
    return [*([sheet.facts] if sheet.facts else []), *sheet.tables]


def rows(result: Any, which: int = 0) -> dict[str, list[str]]:
    """Return the rows of a table of a sheet, by their first cells; those of facts come first."""
    return {str(head).strip(): [*map(str, more)] for head, *more in tables(result)[which].rows}


def told(result: Any) -> str:
    """Return the sentences and the cautions of a sheet."""
    sheet = sheet_of(result)
    cautions = [one["text"] for found in sheet.cautions.values() for one in found]
    return " ".join(map(str, [*sheet.lead, *cautions, *sheet.warnings, *sheet.notes]))


def parsed(shown: str) -> str:
    """Return the text of HTML, if that is well-formed, without colours, and has whole tables."""
    tree = ET.fromstring(shown)
    assert tree.tag == "div"
    for element in tree.iter():
        assert element.tag not in {"script", "style", "font"}
        assert set(element.attrib) <= {"style"}
        declared = element.get("style", "")
        assert not re.search("color|background|#", declared), "is read in light and dark alike"
    for each in tree.iter("table"):
        assert len({len(row) for row in each.iter("tr")}) == 1, "all rows have the same columns"
    return " ".join(" ".join(tree.itertext()).split())


@pytest.mark.parametrize("name", MADE)
def test_a_notebook_shows_the_whole_sheet(name: str) -> None:
    result = of(name)
    shown = result._repr_html_()
    assert result._repr_html_() == shown
    text, sheet = parsed(shown), sheet_of(result)
    all_of_them = [*sheet.tables, *([sheet.facts] if sheet.facts else [])]
    assert "\n" not in repr(result)
    assert all(" ".join(str(sentence).split()) in text for sentence in sheet.lead)
    for one in all_of_them:
        for row in one.rows[:20] if one is all_of_them[0] else one.rows:
            assert all(" ".join(str(cell).split()) in text for cell in row), row
    if name in {"run", "pair", "comparison", "rates", "g2"}:
        plain = html.unescape(re.sub(r"<[^>]+>", "  ", shown.partition("<details>")[0]))
        for each in (repr(result), plain):
            assert [word for word in numbers(each) if digits(word) > MOST] == [], each


@pytest.mark.parametrize("name", ["run", "bursts"])
def test_a_run_has_the_digits_of_its_interval(name: str) -> None:
    run = of(name)
    interval = run.summary["confidence"]["response_time_ms"]
    shown = rows(run, 1)
    mean = shown["response time"][0]
    assert decimals(mean) <= borne(interval["low"], interval["high"])
    for head, cells in shown.items():
        assert decimals(cells[0]) <= decimals(mean), head
        assert all(digits(cell) <= 3 for cell in cells[1:]), head
    assert len(shown) > 5
    times: Any = run.summary["response_time_ms"]
    values = [times[key] for key in ("sd", "p50", "p90", "p99", "p99_9", "p99_99", "max")]
    assert [*map(float, shown["response time"][1:])] == pytest.approx(values, rel=5.1e-3)
    half, most = re.findall(r"at most ([\d.]+) ms", told(run))[:2]
    assert [float(half), float(most)] == pytest.approx([values[1], values[3]], rel=5.1e-3)
    parts = [row for row in tables(run)[1].rows if re.match(r"  \w", str(row[0]))]
    total = sum(float(str(row[1])) for row in parts)
    unit = 10.0 ** -decimals(mean)
    assert total == pytest.approx(run.summary["response_time_ms"]["mean"], abs=2 * unit)


def test_a_run_tells_its_mean_with_the_interval() -> None:
    """``1.240 ms (± 2 %)``: half the interval over the mean, and digits that match it."""
    run = of("run")
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
    ends = re.search(r"in the mean \(95 % interval ([\d.]+) to ([\d.]+) ms\)", told(run))
    assert ends is not None
    assert [*map(float, ends.groups())] == pytest.approx([low, high], abs=0.001)


@pytest.mark.parametrize(
    ("name", "end", "text"),
    [
        ("few", "; ! too few requests>", "the interval of the mean is not to be relied on"),
        ("overloaded", "; ! overloaded>", "requests arrived faster"),
        ("noted", "; * warm up>", "10 requests of the warm-up are not counted"),
        (
            "nothing",
            "run: 0 requests on g2; ! saturated, too few requests>",
            "No request was completed on g2.",
        ),
        (
            "comparison",
            ", mean response times: disk 4.96 ms, mems 0.62 ms !>",
            "the interval of the mean is not to be relied on",
        ),
    ],
)
def test_cautions_are_told(name: str, end: str, text: str) -> None:
    assert repr(of(name)).endswith(end)
    assert text in told(of(name))
    assert text in parsed(of(name)._repr_html_())


def test_a_comparison_has_the_digits_of_its_intervals() -> None:
    pair = of("pair")
    for label, run in zip(pair.labels, pair.runs, strict=True):
        interval = run.summary["confidence"]["response_time_ms"]
        mark, mean, _, *others = rows(pair, 1)[label]
        assert decimals(mean) <= borne(interval["low"], interval["high"])
        assert all(digits(cell) <= 3 for cell in others[:4]), others
        assert max(map(decimals, rows(pair, 2)[label])) <= decimals(mean)
        summary: Any = run.summary
        assert (mark == "!") == bool(interval["caution"] or summary["overloaded"])
        times = summary["response_time_ms"]
        values = [times[key] for key in ("mean", "p50", "p99", "p99_9", "max")]
        values += [summary["throughput_iops"], 100 * summary["utilisation"]]
        values.append(1e3 * summary["energy_j"]["total"] / summary["requests"])
        for cell, value in zip((mean, *others[:7]), values, strict=True):
            told = cell.split()[0].replace(",", "")
            unit = 10.0 ** -decimals(told)
            assert float(told) == pytest.approx(value, rel=5.1e-3, abs=0.51 * unit), label
    disk, mems = rows(of("comparison"), 1).values()
    assert (disk[0], mems[0]) == ("", "!")
    assert mems[-2:] == ["- (correlated batches)", "7.97"], (
        "times on this trace: 4.96 / 0.62, by the digits shown"
    )


def test_a_device_has_its_parameters_with_units_and_sources() -> None:
    assert rows(of("g2"), 1)["capacity"] == ["3.456 GB, 6,750,000 blocks"]
    facts = rows(of("g2"))
    assert facts["tips"] == ["6400", "published", "DiskSim 4.0 G2; [P] CMU-CS-03-125 section 4"]
    assert rows(of("g2"), 1)["settle_ms"] == ["0.2154"]
    assert repr(of("g2")) == "<sledsim device g2: 6,750,000 blocks, 3.456 GB>"


def test_loads_are_told() -> None:
    assert all(rows(of(name))["preset"] == [name] for name in ss.loads.workload_presets())
    assert rows(of("load")) == {"kind": ["random"], "rate": ["500"]}
    assert rows(of("trace")) == {"kind": ["trace"], "queue_depth": ["2"]}
    facts = " ".join(str(row[1]) for row in tables(of("bursts"))[0].rows)
    assert "sizes from a list with mean 6.58 KiB" in facts
    assert "open, 7.23 per s, bursty on all scales up to 32 s (b-model, bias 0.74)" in facts


def test_a_study_has_the_digits_of_its_intervals_and_twenty_rows() -> None:
    for mean, half, _ in rows(of("rates"), 1).values():
        width = float(half.removeprefix("± "))
        assert decimals(mean) <= max(0, 1 - math.floor(math.log10(width)))
    shown = parsed(of("study")._repr_html_())
    assert "and 5 more" in shown
    means = of("study").means_table().column("response_time_ms.mean")
    assert len(rows(of("study"), 1)) == 25
    assert float(rows(of("study"), 1)["100"][0]) == pytest.approx(means[0], rel=5e-3)
    assert "hit_ratio" in parsed(of("hits")._repr_html_())


def test_a_study_tells_errors(tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("t,lba,n,rw\n1,0,8,R\n2,x,8,R\n", encoding="utf-8")
    load = ss.read_trace(tmp_path / "bad.csv", columns=COLUMNS.rpartition(",")[0])
    study = ss.sweep({"load": load}, grid={"device": ["g2", "g3"]})
    assert "bad.csv" in parsed(study._repr_html_())


def test_a_validation(tmp_path: Path) -> None:
    (tmp_path / "measured.csv").write_text("\n".join(["t,lba,n,rw,us", *LINES, ""]), "utf-8")
    load = ss.read_trace(tmp_path / "measured.csv", columns=COLUMNS)
    validation = ss.validate(load, "g2")
    assert "100 requests" in parsed(validation._repr_html_())
    shown = rows(validation, 1)
    assert shown["reads, measured"] == shown["all, measured"]
    assert shown["all, measured"][:2] == ["100", "30.1"], "the mean of 0.4 to 59.8 ms"
    assert shown["writes"][0] == "0"


def test_items_of_papers(tmp_path: Path) -> None:
    (item,) = papers.find(["sigmetrics2000/table1"])
    assert repr(item) == "<sledsim item sigmetrics2000/table1: Device parameters, values: 14>"
    (result,) = papers.run([item], tmp_path, quick=True, workers=1)
    assert repr(result).startswith("<sledsim result of sigmetrics2000/table1: ")
    assert "number of tips 6,400 6,400 0 input" in parsed(result._repr_html_())


def test_hostile_names_are_text() -> None:
    study = ss.sweep({"requests": 20}, grid={"device": [of("hostile").origin.device, "g2"]})
    for result in (*map(of, ("hostile", "titled", "named")), study):
        assert HOSTILE in parsed(result._repr_html_())
    own = Table([HOSTILE], [[HOSTILE]], HOSTILE)
    assert parsed(f"<div>{notebook.table(own)}</div>") == " ".join([HOSTILE] * 3)


# Texts

CELLO = "--workload=cello --set=requests=20000"
RANDOM = "--workload=random --set=rate=512.0625 --set=mean_size_kib=4.7654321"
COMMANDS = [
    f"run --device=mems {CELLO}",
    f"run --device=g2 {RANDOM} --set=requests=3000",
    "run --device=g2 --set=requests=5",
    "run --device=atlas10k --set=rate=400 --set=requests=3000",
    "run --device=mcd --trace=sample:postmark-ext4",
    "run --device=g2 --set=bias=0.71234 --set=rate=100.5 --set=requests=3000",
    f"run --device=g2 {RANDOM} --set=on_ms=10.12345 --set=off_ms=7.654321",
    f"compare --devices=disk,mcd,mems {CELLO}",
    f"compare --devices=g1,g2 --schedulers=fcfs,sptf {RANDOM} --set=requests=9000",
    "sweep --device=g2 --vary=rate=100,900 --set=requests=3000",
    "sweep --device=g2 --vary=rate=100,900 --set=requests=900 --replications=3",
    "seek --device=g2 --start=-50um,-50um,up --end=50um,0,down",
    "seek --device=atlas10k",
    "seek --device=atlas10k --start=0 --end=1000000",
    "trace info sample:postmark-ext4",
    "trace hits sample:postmark-ext4",
    "faults --ecc-tips=2 --spare-tips=128 --failed-tips=400 --trials=300",
    "crash --device=mwb --points=50 --set=last_lbn=500 --set=queue_depth=8",
    "workloads info cello --set=requests=5000",
    "devices list",
]


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_show_four_digits_at_most(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(line.split()) == 0
    text = capsys.readouterr().out
    assert [word for word in numbers(text) if digits(word) > MOST] == [], text


def test_a_report_shows_four_digits_at_most() -> None:
    page = re.sub(r"(?s)<(svg|style|script|table).*?</\1>", "", reports.page(of("run")))
    plain = html.unescape(re.sub(r"<[^>]+>", "  ", page.partition("<body")[2]))
    assert [word for word in numbers(plain) if digits(word) > MOST] == []


def test_show_prints_what_the_command_prints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = tmp_path / "measured.csv"
    trace.write_text("\n".join(["t,lba,n,rw,us", *LINES, ""]), "utf-8")
    measured = ss.read_trace(trace, columns=COLUMNS)
    keys = ["--workload", "random", "--set", "rate=500", "--set", "requests=200"]
    validate = ["validate", "--device", "g2", "--trace", str(trace), "--columns", COLUMNS]
    for result, words in (
        (ss.simulate(FEW, "g2"), ["run", "--device", "g2", *keys]),
        (ss.compare(FEW, ["g2", "g3"]), ["compare", "--devices", "g2,g3", *keys]),
        (of("crash"), ["crash", "--device", "g2", "--points", "20", *keys]),
        (ss.validate(measured, "g2"), validate),
    ):
        result.show()
        shown = capsys.readouterr().out
        assert main(words) == 0
        assert capsys.readouterr().out == shown


WRITTEN = """
mean(17.1475, 1.5175) = 17.1; mean(1234.5, 234.0) = 1,230; mean(1.24302, 0.00052) = 1.243
mean(0.0012345, 0.0000012) = 0.0012; mean(4.9591) = 4.96; mean(0.0) = 0; mean(123_456.0) = 123,456
mean(123_456.0, 1000.0) = 123,500; mean(None) = -; part(0.006, 1) = 0.0; part(0.0, 1) = 0
part(None, 1) = -; part(1234.5, -1) = 1,230; measured(1249.059158) = 1,250; measured(253.493) = 253
measured(5.709823) = 5.71; measured(9.5997) = 9.60; measured(9.9961) = 10.0
measured(0.99961) = 1.00; number(9.8124) = 9.812; number(0.99996) = 1.000; part(3.7, -2) = 4
measured(0.712) = 0.712; measured(0.049) = 0.049; measured(0.00058) = 0.00058
measured(999.7) = 1,000; measured(0) = 0; measured(None) = -; given(6.58294170583) = 6.58
given(17.96361) = 18; given(12_345.6) = 12,346; given(0.00012345) = 0.00012; given(500) = 500
number(19_997.3) = 20,000; number(123_456) = 123,456
" ".join(interval(58_876.2502, 105_813.4214)) = 59,000 106,000
" ".join(interval(4_445.9194, 8_935.6651)) = 4,400 8,900
" ".join(interval(1.2971, 1.3813)) = 1.297 1.381; " ".join(interval(12.2, 15.5)) = 12.2 15.5
" ".join(interval(80.0, 100.0)) = 80 100; " ".join(interval(0.5, 0.5)) = 0.500000 0.500000
" ".join(interval(0.000123, 0.000125)) = 0.000123 0.000125
"""


@pytest.mark.parametrize("line", re.split(r"[;\n] *", WRITTEN.strip()))
def test_numbers_are_written_with_the_digits_they_bear(line: str) -> None:
    """Those of an interval with two digits of half its width."""
    code, _, text = line.partition(" = ")
    assert eval(code, dict(vars(_number_text))) == text


def test_tables_fit_their_width() -> None:
    """The last column is wrapped, or columns beyond the width are in further tables."""
    names = [["name", "title"], ["a", "one two three four"], ["long name", "five"]]
    wrapped = "name       title\na          one two\n           three\n           four\n"
    assert table(names, "<<", 20) == f"{wrapped}long name  five"
    assert table(names, "<<").splitlines()[1] == "a          one two three four"
    wide = [["", "one", "two", "three"], ["a", "1", "2", "3"], ["b", "4", "5", "6"]]
    assert stacked_table(wide, "<>>>", width=11) == (
        "   one  two\na    1    2\nb    4    5\n\n   three\na      3\nb      6"
    )
    assert stacked_table(wide, "<>>>") == table(wide, "<>>>")
