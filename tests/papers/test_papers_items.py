"""Every item of every paper, in its quick form: recorded verdicts, and values that can fail."""

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sledsim import papers
from sledsim.cli import main
from sledsim.papers import Published, recorded
from sledsim.papers.judge import agrees
from sledsim.plots import style

from tests import paper_items
from tests.picture_checks import Seen

ITEMS = papers.find([])
NAMES = [item.id for item in ITEMS]
OURS = {"reproduced", "conditional", "calibrated"}


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.id)
def test_the_verdicts_are_as_recorded(item: papers.Item) -> None:
    missing = [name for name in item.external if papers.external_file(name) is None]
    result = paper_items.run(item.id)
    assert (result.document["id"], result.document["quick"]) == (item.id, True)
    assert result.png.startswith(b"\x89PNG")
    keys = {value.key for value in item.values}
    for run in (True, False):
        assert recorded.items(quick=run)[item.id]["verdicts"].keys() == keys
    if missing:
        pytest.skip(f"without {', '.join(missing)} its verdicts are others")
    assert not recorded.changes([result], quick=True)


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.id)
def test_the_figure_can_be_read(item: papers.Item) -> None:
    assert Seen(paper_items.figure(item.id)).problems(style.COLOURS) == []


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.id)
def test_every_value_that_agrees_can_fail(item: papers.Item) -> None:
    """Moved by three tolerances to either side, or a range by its width, each value disagrees."""
    judged = {value["key"]: value for value in paper_items.run(item.id).document["values"]}
    for value in item.values:
        own = judged[value.key]
        under = own["readings"][own["reading"]] if own["reading"] else own
        if own["verdict"] in OURS:
            assert agrees(value, under["simulated"]), value.key
            for moved in moves(value, under["simulated"]):
                assert not agrees(value, moved), (value.key, moved)


def moves(value: Published, simulated: Any) -> Iterator[Any]:
    """Return what a value is moved to."""
    if value.kind in {"within", "between"}:
        low, high = value.numbers[0], value.numbers[-1]
        step = 3 * value.tolerance or 1e-6 * max(abs(low), 1.0)
        if value.kind == "within":
            yield from (simulated - step, simulated + step)
        else:  # it may stand at either end
            yield from (low - (high - low) - step, high + (high - low) + step)
    elif value.kind == "order":
        names = list(simulated)
        yield {name: -number for name, number in simulated.items()}
        yield dict.fromkeys(names, 1.0)
    else:
        level = str(value.published) == "level"
        step = 3 * value.tolerance + 1e-6 * max(map(abs, simulated))
        yield [*simulated[:-1], max(simulated) + step] if level else [simulated[0]] * len(simulated)
        if value.published != "not level" and not level:
            yield [-number for number in simulated]


def test_a_limit_that_cannot_fail_is_no_kind() -> None:
    for value in (value for item in ITEMS for value in item.values):
        assert value.kind in {"within", "between", "order", "shape"}
        if value.kind == "between":
            assert value.tolerance < value.numbers[1] - value.numbers[0], value


def test_a_planted_verdict_is_found() -> None:
    result = paper_items.run("sigmetrics2000/table1")
    values = [dict(value) for value in result.document["values"]]
    values[0]["verdict"] = "calibrated"
    planted = dataclasses.replace(result, document=result.document | {"values": values})
    (line,) = recorded.changes([planted], quick=True)
    assert line.endswith("now calibrated")


def test_the_report_has_all_items(capsys: pytest.CaptureFixture[str]) -> None:
    """As the command writes it, from the stored results of the runs above."""
    for name in NAMES:
        paper_items.run(name)
    folder = paper_items.KEPT / "papers"
    report = folder / "quick" / "report.html"
    report.unlink(missing_ok=True)
    assert main(["papers", "report", "--quick", "--output", str(folder), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["report"], said["items"]) == (str(report), len(NAMES))
    counted = sum(sum(tally.values()) for tally in said["values"].values())
    assert counted == sum(len(item.values) for item in ITEMS)
    text = report.read_text("utf-8")
    for item in ITEMS:
        assert f'id="{item.id}"' in text, item.id


def test_a_run_prints_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["papers", "run", "sigmetrics2000/table1", "osdi2000/table1", "--quick", "--output"]
    assert main([*words, str(tmp_path)]) == 0
    said = capsys.readouterr().out
    for word in ("sigmetrics2000/table1", "osdi2000/table1", "input", str(tmp_path / "quick")):
        assert word in said
