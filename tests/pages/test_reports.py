"""What reports say, as data before it becomes a page; ``test_pages.py`` looks at the pages."""

import html
import json
import re
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import sledsim as ss
from sledsim.cli import main
from sledsim.show import pages as reports
from sledsim.show.pages import glossary
from sledsim.show.pages import writer as pages
from sledsim.show.pages.colours import DARK_PAPER, PAPER, contrast, dark
from sledsim.show.pages.parts import Report, Section
from sledsim.show.sheet import Table

from tests.shown_page import Shown

ROOT = Path(__file__).parents[2]
HOSTILE = "<script>alert('x')</script>\"&`"
LOAD = ss.workload("random", rate=300, requests=4000)
CRASHED = ss.workload(last_lbn=500, queue_depth=8, requests=500)
STUDY: dict[str, Any] = {"device": "g2", "requests": 300}


@pytest.fixture(scope="module")
def soft(tmp_path_factory: pytest.TempPathFactory) -> ss.Device:
    """Return a device that differs from its base in one key."""
    file = tmp_path_factory.mktemp("devices") / "soft.toml"
    file.write_text('base = "g2"\nspring_factor = 0.5\n', encoding="utf-8")
    return ss.device(file)


@pytest.fixture(scope="module")
def comparison(soft: ss.Device) -> ss.Comparison:
    return ss.compare(LOAD, ["g2", soft, "atlas10k"])


def said(result: Any) -> tuple[list[str], list[str]]:
    """Return the warnings and the sentences at the head of a report."""
    report = reports._report(result, ())
    return [*map(str, report.warnings)], [*map(str, report.lead)]


def tables(result: Any, axes: Iterable[str] = ()) -> list[Table]:
    sections = reports._report(result, tuple(axes)).sections
    return [part for section in sections for part in section.parts if isinstance(part, Table)]


def texts(table: Table) -> list[list[str]]:
    return [[*map(str, row)] for row in (table.head, *table.rows)]


def test_a_run_is_told_in_a_sentence() -> None:
    run = ss.simulate(LOAD, "g2", rows=False)
    _, (lead, more) = said(run)
    mean = run.summary["response_time_ms"]["mean"]
    interval = run.summary["confidence"]["response_time_ms"]
    told = re.findall(r"takes ([\d.]+) ms.*95 % interval ([\d.]+) to ([\d.]+) ms", lead)
    wanted = [mean, interval["low"], interval["high"]]
    assert [*map(float, told[0])] == pytest.approx(wanted, rel=0.005)
    names = ("queue", "seek", "transfer", "bus", "overhead")
    summary: Any = run.summary
    causes = {name: summary[f"{name}_ms"]["mean"] for name in names}
    assert max(causes, key=causes.__getitem__) == "seek"
    assert f"seeking: {100 * causes['seek'] / mean:.0f} %" in more


def test_overload_is_said_first(comparison: ss.Comparison) -> None:
    run = comparison.runs[2]
    assert "overloaded" in [caution["code"] for caution in run.cautions]
    for result in (run, comparison):
        (warning, *_), lead = said(result)
        assert warning.startswith("atlas10k cannot keep up with this load (overloaded)")
        assert run.cautions[0]["text"] in warning
        assert result is run or not [sentence for sentence in lead if "atlas10k" in sentence]


def test_a_comparison_names_the_fastest(tmp_path: Path) -> None:
    """Of two equal devices it says that they cannot be told apart."""
    comparison = ss.compare(LOAD, ["g2", "g3"])
    fast, slow = sorted(comparison.table.to_dicts(), key=lambda line: line["mean_ms"])
    assert fast["mean_high_ms"] < slow["mean_low_ms"]
    sentence = said(comparison)[1][0]
    assert sentence.startswith(fast["label"])
    ratio = re.findall(r"is ([\d.]+) times \(([\d.]+) to ([\d.]+)\) as long", sentence)
    middle, low, high = map(float, ratio[0])
    assert low < middle < high
    assert middle == pytest.approx(slow["mean_ms"] / fast["mean_ms"], rel=0.01)
    (tmp_path / "same.toml").write_text('base = "g2"\n', encoding="utf-8")
    alike = ss.compare(LOAD, ["g2", str(tmp_path / "same.toml")])
    assert "cannot be told apart" in said(alike)[1][0]


def test_a_study_names_its_ends() -> None:
    study = ss.sweep(STUDY, grid={"rate": [100, 500], "scheduler": ["fcfs", "sptf"]})
    lead = said(study)[1][0]
    values, rates = study.means["response_time_ms.mean"], study.means["rate"]
    least = min(range(len(values)), key=values.__getitem__)
    assert f"at rate = {rates[least]:g}" in lead
    assert lead.startswith("Over 4 points the mean response time goes from")


@pytest.mark.parametrize("replications", [1, 3])
@pytest.mark.parametrize("result", ["response_time_ms.mean", "queue_ms.mean", "queue_ms.p99"])
def test_a_study_has_its_intervals_or_no_column_of_them(replications: int, result: str) -> None:
    grid = {"rate": [300, 500]}
    study = ss.sweep({"device": "g2", "requests": 2000}, grid=grid, replications=replications)
    (points,) = (table for table in tables(study, ["rate", result]) if table.about == "2 points")
    heads, *rows = texts(points)
    single_tail = replications == 1 and result.endswith("p99")  # a run tells those of means alone
    assert heads == ["rate", result, *([] if single_tail else ["95 %"])]
    means = study.means
    told = "confidence.queue_ms" if "queue" in result else "confidence.response_time_ms"
    of = told if replications == 1 else result
    for at, (_, mean, *half) in enumerate(rows):
        assert float(mean) == pytest.approx(means[result][at], rel=0.05)
        if half:
            width = means[f"{of}.high"][at] - means[f"{of}.low"][at]
            assert float(half[0].removeprefix("± ")) == pytest.approx(width / 2, rel=0.05)


def test_a_validation_is_told(soft: ss.Device, tmp_path: Path) -> None:
    measured = tmp_path / "drive.validate"
    lines = [f"{'RW'[i % 4 == 0]} Hit {i * i * 7919 % 6_000_000} 8 900.0 800" for i in range(200)]
    measured.write_text("\n".join([*lines, ""]), encoding="utf-8")
    validation = ss.validate(measured, soft)
    share = validation.demerit_percent["all"]
    validation.report(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == reports.page(validation)
    assert f"{float(f'{share:.2g}'):g} % of the measured mean" in " ".join(said(validation)[1])
    assert ["spring_factor", "0.75", "0.5", f"{soft.name}.toml:2"] in _differences(validation)


def _differences(result: Any) -> list[list[str]]:
    """Return the rows of the table of differences from the base, with names of files alone."""
    return [
        [cell.rpartition("/")[2] for cell in row]
        for table in tables(result)
        for row in texts(table)
        if row[:1] == ["spring_factor"]
    ]


def test_differences_from_the_base_are_listed(comparison: ss.Comparison, soft: ss.Device) -> None:
    row = ["spring_factor", "0.75", "0.5"]
    for result in (comparison.runs[1], ss.crash_test(CRASHED, soft, points=4)):
        assert _differences(result) == [[*row, "soft.toml:2"]]
    assert _differences(comparison) == [[*row, "-"]]


@pytest.mark.parametrize(("device", "asked"), [("g2", {}), ("atlas10k", {"promise": "completion"})])
def test_a_crash_test_is_told_and_lost_data_first(device: str, asked: Any) -> None:
    test = ss.crash_test(CRASHED, device, points=300, **asked)
    warnings, lead = said(test)
    document = test.to_dict()
    if test.passed:
        assert "kept its promise in all of 300 power failures" in lead[0]
        assert f"{document['under_way']['lost']} of them were lost" in lead[1]
    else:
        broken = f"atlas10k broke the asked-for promise {document['violations']:,} times: "
        assert warnings[0].startswith(broken)
        assert test.violations[0]["text"] in warnings[0]
    assert test.passed == (device == "g2")


def test_digests_are_those_of_device_and_load(comparison: ss.Comparison, soft: ss.Device) -> None:
    digests = [("device", soft.digest), ("load", LOAD.digest)]
    assert comparison.runs[1].made_from() == digests
    assert list(reports._report(comparison.runs[1], ()).made_from) == digests
    text = reports.page(comparison)
    assert all(f"<code>{digest}</code>" in text for _, digest in digests)


def test_meanings_are_those_of_the_docs() -> None:
    page = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    entries = dict(re.findall(r"^### (.+)\n(.+)$", page, re.MULTILINE))
    for term, meaning in glossary.terms().items():
        told = re.sub(r"[;.]? [Ss]ee \[.*$", "", entries[term])
        told = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", told)
        assert meaning == told.rstrip(".") + ".", term


def test_all_that_is_given_is_escaped() -> None:
    table = Table([HOSTILE, HOSTILE], [[HOSTILE, HOSTILE]], HOSTILE)
    parts = [Section(HOSTILE, [table])]
    report = Report(HOSTILE, [HOSTILE], [HOSTILE], parts, [(HOSTILE, HOSTILE)])
    text = pages.html(report, ["run", HOSTILE])
    assert "<script" not in text
    assert "script" not in [tag for tag, _ in Shown(text).tags]


def test_the_command_can_be_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    own, report = Path("a device & 'more'.toml"), Path("a b.html")
    own.write_text('base = "g2"\n', encoding="utf-8")
    words = ["run", "--device", str(own), "--set", "rate=300", "--set", "requests=500"]
    assert main([*words, "--report", str(report)]) == 0
    assert "written: a b.html" in capsys.readouterr().out
    text = report.read_text(encoding="utf-8")
    (command,) = re.findall(r'<code id="command">(.*?)</code>', text)
    again = shlex.split(html.unescape(command))
    assert again == ["sledsim", *words, "--report", str(report)]
    summaries = []
    for line in (again[1:], words):
        assert main([*line, "--json"]) == 0
        summaries.append(json.loads(capsys.readouterr().out)["summary"])
    assert summaries[0] == summaries[1]
    assert report.read_text(encoding="utf-8").replace(" --json", "") == text


def test_python_writes_the_page_of_a_result(
    comparison: ss.Comparison, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "page.html"
    for result in (
        comparison.runs[0],
        comparison,
        ss.sweep(STUDY, grid={"rate": [100, 500]}),
        ss.crash_test(CRASHED, "g2", points=4),
    ):
        result.report(file)
        text = file.read_text(encoding="utf-8")
        assert text == reports.page(result)
        assert "Made in Python" in text
        result.report(file, title="Mine")
        assert "<h1>Mine</h1>" in file.read_text(encoding="utf-8")
    monkeypatch.setattr(reports, "_NEEDED", {"no_such_library": "Jinja"})
    with pytest.raises(ss.SledsimError, match=r"need Jinja: pip install 'sledsim\[reports\]'"):
        reports.check(str(tmp_path / "a.html"))


def test_a_folder_is_no_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "folder.html").mkdir()
    line = ["run", "--device", "g2", "--set", "requests=999999999", "--report"]
    assert main([*line, str(tmp_path / "folder.html")]) == 2
    assert "is a folder" in capsys.readouterr().err


@pytest.mark.parametrize("colour", ["#0072b2", "#6c0004", "#11188d", "#fbda1a", "#1f77b4"])
def test_colours_stand_out_on_dark_paper(colour: str) -> None:
    assert contrast(dark(colour), DARK_PAPER) >= min(max(contrast(colour, PAPER), 3), 4.5)


@pytest.mark.parametrize("grey", ["#56606b", "#d3d7dc", "#8b949e", "#000000"])
def test_greys_keep_their_contrast(grey: str) -> None:
    wanted = min(contrast(grey, PAPER), contrast(PAPER, DARK_PAPER))
    assert contrast(dark(grey), DARK_PAPER) == pytest.approx(wanted, rel=0.05)
