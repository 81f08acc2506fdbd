"""Every item, in its quick form: verdicts, values that can fail, independent computations."""

import dataclasses
import importlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sledsim import papers
from sledsim.cli import main
from sledsim.papers import Published, recorded, values
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
    assert [name for name in NAMES if f'id="{name}"' not in text] == []


def test_a_run_prints_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ["sigmetrics2000/table1", "osdi2000/table1"]
    assert main(["papers", "run", *names, "--quick", "--output", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert all(word in said for word in (*names, "input", str(tmp_path / "quick")))


FOLDER = Path(__file__).parents[1] / "independent"
FILES = sorted(FOLDER.glob("*.py"))
STATED = [
    pytest.param(value, id=f"{item.id}-{value.key}")
    for item in papers.find([])
    for value in item.values
    if value.expected and value.expected.computed
]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_an_independent_computation_imports_nothing_of_ours(file: Path) -> None:
    code = file.read_text("utf-8")
    ours = r"^\s*(from|import) +(sledsim|tests|importlib|subprocess|\.)|__import__"
    assert re.search(ours, code, re.MULTILINE) is None


@pytest.mark.parametrize("value", STATED)
def test_an_independent_computation_gives_what_is_stated(value: Published) -> None:
    assert value.expected is not None
    module, _, name = value.expected.computed.partition(".")
    computed = getattr(importlib.import_module(f"tests.independent.{module}"), name)()
    assert computed == pytest.approx(value.expected.value, abs=value.expected.tolerance)


def value(kind: str, published: Any) -> dict[str, Any]:
    return {"kind": kind, "published": published, "expected": None}


@pytest.mark.parametrize(
    ("published", "simulated", "texts"),
    [
        # As many decimals as are printed, and one more for ours.
        (value("within", "0.90"), 0.90312, ("0.90", "0.903")),
        (value("between", ("-0.5", "2")), 0.25, ("\u22120.5 to 2", "0.25")),
        (value("within", "6400"), 6400.0, ("6,400", "6,400")),
        (value("within", "7e1"), 68.21, ("70", "68.2")),
        # Numbers that would round to zero keep two digits.
        (value("within", "20"), 0.00123, ("20", "0.0012")),
        (value("within", "2.5e-7"), 2.4e-7, ("0.00000025", "2.4 \u00d7 10^\u22127")),
        # Neighbours that differ look different.
        (
            value("order", ("b", "a")),
            {"a": 1.00002, "b": 1.00001},
            ("b < a", "b (1.00001) < a (1.00002)"),
        ),
        (value("order", ("a", "b")), {"a": 2, "b": 2}, ("a < b", "a (2) = b (2)")),
        (
            value("shape", "rises"),
            [0.0, 3.0, 1.5],
            ("rises", "3 numbers from 0 to 1.5, between 0 and 3"),
        ),
    ],
)
def test_values_are_written_as_their_kinds_say(
    published: dict[str, Any], simulated: Any, texts: tuple[str, str]
) -> None:
    written = (
        values.stated(published),
        values.simulated(published, simulated),
    )
    spaces = str.maketrans("\u202f", " ")
    assert tuple(text.translate(spaces) for text in written) == texts
