"""The engine of the papers: runs, documents, reuse of earlier runs; and the headline claims."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import sledsim as ss
from sledsim import papers
from sledsim.cli import main
from sledsim.papers import claims, engine, model, recorded, versions

from tests.own_paper import GOOD, PAPER, TABLE, folder, runs

__all__ = ["folder", "runs"]  # fixtures

IMPORT = "import no_such_library\n"


def test_a_second_run_reads_what_the_first_has_left(tmp_path: Path, runs: list[str]) -> None:
    calls: list[tuple[int, int | None]] = []
    items, own = papers.find([]), tmp_path / "out" / "paper2001"

    def run() -> engine.Result:
        calls.clear()
        (result,) = papers.run(
            items, tmp_path / "out", workers=1, progress=lambda *told: calls.append(told)
        )
        return result

    first = run()
    assert (runs, calls[0], calls[-1]) == (["paper2001/table1"], (0, 1), (1, 1))
    files = {file.name: file.read_bytes() for file in own.iterdir()}
    assert set(files) == {"table1.json", "table1.png", "table1.svg", "table1.key"}
    assert json.loads(files["table1.json"]) == first.document
    assert (files["table1.svg"].decode(), files["table1.png"]) == (first.svg, first.png)
    second = run()
    assert (len(runs), set(calls)) == (1, {(1, 1)})
    assert second == first
    wrong = [(name, content[:-1] + b"?") for name, content in files.items()]
    for count, (name, content) in enumerate([*wrong, ("table1.svg", files["table1.svg"][:-1])], 2):
        (own / name).write_bytes(content)
        assert run() == first
        assert len(runs) == count, f"{name} has changed"
        assert (own / name).read_bytes() == files[name], "the same bytes"
    (own / "table1.png").unlink()
    assert run() == first
    assert len(runs) == count + 1


def test_the_latest_paper_is_run_first(tmp_path: Path) -> None:
    """Its items take longest; the results are in the order that was asked for."""
    names = ["sigmetrics2000/table1", "osdi2000/table1", "osdi2000/density"]
    order: list[str] = []
    told: Any = {"finished": lambda result, _seconds: order.append(result.item.id)}
    results = papers.run(papers.find(names), tmp_path, quick=True, workers=1, **told)
    assert order == [*names[1:], names[0]]
    assert [result.item.id for result in results] == names


def test_another_version_reads_nothing(
    tmp_path: Path, runs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    papers.run(papers.find([]), tmp_path, workers=1)
    monkeypatch.setattr(versions, "version_of", lambda _item: "another")
    for _ in range(2):
        papers.run(papers.find([]), tmp_path, workers=1)
        assert len(runs) == 2


def test_results_of_code_that_changes_meanwhile_are_not_stored(
    tmp_path: Path, folder: Path, runs: list[str]
) -> None:
    """The code of a worker is unknown: the files are written, and never read."""
    items = papers.find([])
    papers.run(items, tmp_path, workers=1)
    own = tmp_path / "paper2001"
    (own / "table1.json").unlink()
    (folder / "table1.py").write_text(GOOD + "\n")
    for count in (2, 3):
        papers.run(items, tmp_path, workers=1)
        assert len(runs) == count
        left = {file.name for file in own.iterdir()}
        assert left == {"table1.json", "table1.png", "table1.svg"}


def test_quick_and_full_runs_are_kept_apart(tmp_path: Path, runs: list[str]) -> None:
    items = papers.find([])
    (quick,) = papers.run(items, tmp_path, quick=True, workers=1)
    (full,) = papers.run(items, tmp_path, workers=1)
    assert papers.run(items, tmp_path, quick=True, workers=1) == [quick]
    assert papers.run(items, tmp_path, workers=1) == [full]
    assert len(runs) == 2
    assert [result.document["values"][0]["simulated"] for result in (quick, full)] == [2.05, 2.0]
    assert (quick.document["quick"], full.document["quick"]) == (True, False)
    # Nor does one pass for the other when its files are copied.
    shutil.copytree(tmp_path / "quick" / "paper2001", tmp_path / "paper2001", dirs_exist_ok=True)
    assert papers.run(items, tmp_path, workers=1) == [full]
    assert len(runs) == 3


def test_a_document_has_values_verdicts_and_readings(tmp_path: Path, runs: list[str]) -> None:
    (result,) = papers.run(papers.find([]), tmp_path, workers=1)
    assert runs
    document = result.document
    mean, fastest, curve = document["values"]
    assert (document["id"], document["verdict"]) == ("paper2001/table1", "reproduced")
    assert mean["readings"] == {"other": {"simulated": 4.0, "agrees": False, "distance": 1.0}}
    assert (mean["simulated"], mean["published"], mean["tolerance"]) == (2.0, "2.0", 0.1)
    assert (fastest["simulated"], curve["simulated"]) == ({"a": 1.0, "b": 2.0}, [1.0, 2.0, 3.0])
    (other,) = curve["readings"].values()
    assert (other["simulated"], other["agrees"]) == ([1.0, 2.0, 3.0], True)
    assert document["line"] == "agrees"
    assert document["series"] == {"drawn": [[1.0, 2.0], [3.0, 4.0]]}


@pytest.mark.usefixtures("runs")
def test_a_reading_is_run_alone(tmp_path: Path, folder: Path) -> None:
    for published, verdict in (("4.0", "conditional"), ("2.0", "missed")):
        text = TABLE.replace('published = "2.0"', f'published = "{published}"')
        (folder / "table1.toml").write_text(text)
        model.papers.cache_clear()
        (item,) = papers.find([])
        (result,) = papers.run([item], tmp_path / published, reading="other", workers=1)
        mean, fastest, _ = result.document["values"]
        assert (mean["simulated"], mean["verdict"], mean["readings"]) == (4.0, verdict, {})
        # A reading that does not hold for all values explains none.
        assert (fastest["agrees"], fastest["verdict"]) == (True, verdict)
        assert (tmp_path / published / "readings/other/paper2001/table1.png").exists()
        with pytest.raises(ss.SledsimError, match=r"reading = 'others': must be .*: other"):
            papers.run([item], tmp_path, reading="others", workers=1)


@pytest.mark.usefixtures("runs")
def test_an_item_with_readings_must_take_the_setup(tmp_path: Path, folder: Path) -> None:
    code = GOOD.replace(", setup: Setup", "").replace('setup["factor"]', "1")
    (folder / "table1.py").write_text(code)
    with pytest.raises(ss.SledsimError, match="takes no setup"):
        papers.run(papers.find([]), tmp_path, workers=1)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"mean": mean, ', "", "paper2001/table1: values mean"),
        ('"mean": mean', '"mean": mean, "more": 1.0', "paper2001/table1: values more"),
        ("else 2.0)", 'else float("nan"))', "paper2001/table1: .*JSON"),
        ("[[1.0, 2.0]", "[object()", "paper2001/table1: .*JSON"),
    ],
)
@pytest.mark.usefixtures("runs")
def test_mismatched_data_are_one_clear_error(
    folder: Path, tmp_path: Path, old: str, new: str, says: str
) -> None:
    assert GOOD.count(old) == 1
    (folder / "table1.py").write_text(GOOD.replace(old, new))
    with pytest.raises(ss.SledsimError, match=says):
        papers.run(papers.find([]), tmp_path / "out", workers=1)
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("runs")
def test_a_folder_that_cannot_be_made_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(ss.SledsimError, match="taken"):
        papers.run(papers.find([]), tmp_path / "taken", workers=1)


def test_an_interrupted_run_leaves_whole_items(tmp_path: Path) -> None:
    items = papers.find(["sigmetrics2000/table1", "sigmetrics2000/table2"])

    def stop(done: int, _of: int | None) -> None:
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        papers.run(items, tmp_path, quick=True, workers=1, progress=stop)
    left = {file.name for file in (tmp_path / "quick").rglob("*.*")}
    assert left == {"table1.json", "table1.key", "table1.png", "table1.svg"}
    assert engine._read(items[0], tmp_path / "quick", quick=True, reading="") is not None


def test_the_same_bytes_in_one_process_as_in_two(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each with a store of its own, which has the same bytes, too."""
    monkeypatch.delenv("SLEDSIM_OUTCOMES", raising=False)
    items = papers.find(["osdi2000/access", "osdi2000/turnarounds"])
    one, two = tmp_path / "1", tmp_path / "2"
    results = papers.run(items, one, quick=True, workers=1)
    assert papers.run(items, two, quick=True, workers=2) == results
    assert [result.item for result in results] == items
    files, others = (
        {str(file.relative_to(own)): file.read_bytes() for file in own.rglob("*.*")}
        for own in (one, two)
    )
    assert files == others
    assert len([name for name in files if name.startswith("quick")]) == 8
    assert any(name.startswith("outcomes") for name in files)
    (one / "quick" / "osdi2000" / "access.key").unlink()
    assert papers.run(items, one, quick=True, workers=1) == results
    for name, content in files.items():
        assert str(tmp_path).encode() not in content, name


@pytest.mark.usefixtures("runs")
def test_the_command_runs_what_has_a_reading(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["papers", "run", "paper2001", "-o", str(tmp_path), "--reading", "other"]) == 0
    assert "as published" in capsys.readouterr().out


@pytest.mark.parametrize(
    "code", [IMPORT + GOOD, GOOD.replace("    mean =", f"    {IMPORT}    mean =")]
)
def test_an_item_names_the_library_that_it_needs(
    tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str], code: str
) -> None:
    (folder / "table1.py").write_text(code)
    assert main(["papers", "run", "paper2001", "--workers", "1", "-o", str(tmp_path)]) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    needs = "paper2001/table1 needs no_such_library: pip install no_such_library"
    assert said == f"sledsim: error: {needs}"


def test_a_miss_is_a_result_and_a_changed_verdict_an_error(
    tmp_path: Path,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(recorded, "FILE", tmp_path / "verdicts.json")
    (folder / "table1.toml").write_text(TABLE.replace('readings = ["other"]', ""))
    for mean, code in ((2.25, 0), (2.0, 1)):
        (folder / "table1.py").write_text(GOOD.replace("2.05 if quick else 2.0", str(mean)))
        sys.modules.pop("sledsim.papers.paper2001.table1", None)
        model.papers.cache_clear()
        output = tmp_path / str(mean)
        assert main(["papers", "run", "paper2001/table1", "-o", str(output)]) == code
        said = capsys.readouterr().out
        assert ("1 missed" in said, "2.25" in said) == (not code, not code)
        changed = [
            "paper2001/table1 line: recorded as order and shape only, now agrees",
            "paper2001/table1 mean: recorded as missed, now reproduced",
        ]
        assert all((line in said) == bool(code) for line in changed)
        assert main(["papers", "report", "-o", str(output), "--json"]) == code
        document = json.loads(capsys.readouterr().out)
        near = document.pop("nearness")["paper2001/table1"]["stated"]
        assert (near["numbers"], near["within"]["5"]) == (1, code)
        assert document == {
            "report": str(output / "report.html"),
            "items": 1,
            "values": {"paper2001": {"reproduced": 3} if code else {"missed": 1, "reproduced": 2}},
            "changed": changed if code else [],
        }
        assert "A table" in (output / "report.html").read_text("utf-8")
        if not code:
            recorded.write(papers.run(papers.find([]), output, workers=1), quick=False)


CLAIMS = """
[[claims]]
claim = "The mean is two."
value = "table1.mean"
[[claims]]
claim = "The quick mean is two."
value = "table1.mean"
quick = true
[[claims]]
claim = "One is faster."
value = "table1.fastest"
"""


def test_each_claim_is_simulated(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "paper.toml").write_text(PAPER + CLAIMS)
    (folder / "table1.py").write_text(GOOD)
    words = ["papers", "claims", "--workers", "1", "-o", str(tmp_path)]
    assert main([*words, "--json"]) == 0
    mean, quick, order = json.loads(capsys.readouterr().out)["claims"]
    assert (mean["published"], mean["simulated"], mean["distance"]) == ("2.0", 2.0, 0)
    command = "sledsim papers run paper2001/table1 --quick"
    assert (quick["simulated"], quick["command"]) == (2.05, command)
    assert order["distance"] is None
    assert {one["verdict"] for one in (mean, quick, order)} == {"reproduced"}
    assert mean["seconds"] >= 0
    assert main(words) == 0
    said = capsys.readouterr().out
    assert all(text in said for text in ("The mean is two.", command, "+2.5"))
    assert [one.seconds for one in claims.run(tmp_path, workers=1)] == [None] * 3, "read again"


@pytest.mark.parametrize("value", ["table1.none", "table2.mean", "mean"])
def test_a_claim_needs_a_value(folder: Path, value: str) -> None:
    (folder / "paper.toml").write_text(PAPER + CLAIMS.replace("table1.fastest", value))
    model.papers.cache_clear()
    with pytest.raises(ss.SledsimError, match=r"claims\.2\.value = .*: must be the ITEM.KEY"):
        papers.papers()


def test_the_claims_of_the_docs_are_those_of_the_papers() -> None:
    stated = [claim for paper in papers.papers() for claim in paper.claims]
    assert 25 <= len(stated) <= 35
    rows = recorded.claims()
    assert list(rows) == [claim.claim for claim in stated]
    assert [row[-1] for row in rows.values()] == [claim.command for claim in stated]
