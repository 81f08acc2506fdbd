"""Every item of every paper, in its quick form: none is missed, and all are on one page."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from sledsim import papers
from sledsim.cli import main

from tests import paper_items

if TYPE_CHECKING:
    from pathlib import Path

NAMES = [item.id for item in papers.find([])]


@pytest.mark.parametrize("name", NAMES)
def test_an_item_is_drawn_and_not_missed(name: str) -> None:
    result = paper_items.run(name)
    assert result.verdict in {"reproduced", "explained"}
    assert (result.document["id"], result.document["quick"]) == (name, True)
    assert result.png.startswith(b"\x89PNG")


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
    assert said["verdicts"].keys() == {"reproduced", "explained"}
    text = report.read_text("utf-8")
    for item in papers.find([]):
        assert f'id="{item.id}"' in text, item.id


def test_a_run_prints_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["papers", "run", "sigmetrics2000/table1", "osdi2000/table1", "--quick", "--output"]
    assert main([*words, str(tmp_path)]) == 0
    said = capsys.readouterr().out
    for word in ("sigmetrics2000/table1", "osdi2000/table1", "reproduced", str(tmp_path / "quick")):
        assert word in said
