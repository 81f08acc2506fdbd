"""The headline claims: each is simulated, and shown as its item has it."""

import json
from pathlib import Path

import pytest
import sledsim as ss
from sledsim import papers
from sledsim.cli import main
from sledsim.papers import claims, model, recorded

from tests.own_paper import GOOD, PAPER, folder

__all__ = ["folder"]  # a fixture

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
    assert (quick["simulated"], quick["command"]) == (
        2.05,
        "sledsim papers run paper2001/table1 --quick",
    )
    assert order["distance"] is None
    assert {one["verdict"] for one in (mean, quick, order)} == {"reproduced"}
    assert mean["seconds"] >= 0
    assert main(words) == 0
    said = capsys.readouterr().out
    for text in ("The mean is two.", "sledsim papers run paper2001/table1 --quick", "+2.5"):
        assert text in said, text
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
