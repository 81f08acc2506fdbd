"""Simulations of items: equal to any other, and done once."""

from pathlib import Path
from typing import Any

import pytest
import sledsim as ss
from sledsim import papers
from sledsim.papers import simulations, summary_of
from sledsim.papers.outcomes import OutcomeStore

KEYS: list[dict[str, Any]] = [{}, {"scheduler": "sptf"}, {"replications": 2}, {"precision": 0.5}]
KEYS += [{"layout": "columnar"}, {"background": {"task": "scan"}}]


@pytest.fixture(autouse=True)
def _no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(simulations.ENVIRONMENT, raising=False)


@pytest.mark.parametrize("keys", KEYS)
def test_a_summary_is_that_of_the_run(
    keys: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a store, with that of a run of items, and with one that the environment names."""
    load, device = ss.workload(requests=200, rate=300), ss.device("g2")
    alone = ss.simulate(load, device, rows=False, **keys).summary
    assert summary_of(load, device, **keys) == alone
    with simulations.stored_in(tmp_path / "one") as store:
        assert [summary_of(load, device, **keys) for _ in range(2)] == [alone, alone]
    assert (store.simulated, store.read) == (1, 1)
    assert summary_of(load, device, **keys) == alone
    assert (store.simulated, store.read) == (1, 1), "it is out of use"
    monkeypatch.setenv(simulations.ENVIRONMENT, str(tmp_path / "two"))
    assert summary_of(load, device, **keys) == alone
    assert len(list((tmp_path / "two").rglob("*.json"))) == 1


def test_the_folder_of_outcomes(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = Path("out/papers/outcomes")
    assert simulations.folder_of(Path("out/papers")) == usual
    for named, folder in (("elsewhere", Path("elsewhere")), ("", usual)):
        monkeypatch.setenv(simulations.ENVIRONMENT, named)
        assert simulations.folder_of(Path("out/papers")) == folder


def test_an_item_simulates_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulated again if its files are gone; a full run and other items use stored results."""
    stores: list[OutcomeStore] = []

    def counted(folder: Path) -> OutcomeStore:
        stores.append(OutcomeStore(folder))
        return stores[-1]

    monkeypatch.setattr(simulations, "OutcomeStore", counted)
    items = papers.find(["sigmetrics2000/springs"])
    first = papers.run(items, tmp_path, quick=True, workers=1)
    for file in (tmp_path / "quick" / "sigmetrics2000").iterdir():
        file.unlink()
    for _ in range(2):
        assert papers.run(items, tmp_path, quick=True, workers=1) == first
    # One load, with springs and without.
    assert [(store.simulated, store.read) for store in stores] == [(2, 0), (0, 2)]
    assert {store.folder for store in stores} == {tmp_path / "outcomes"}


def test_values_for_later_are_computed_once_and_only_if_asked_for() -> None:
    asked: list[str] = []

    def length(name: str) -> int:
        asked.append(name)
        return len(name)

    values = papers.Later(["one", "three", "never"], length)
    assert (len(values), list(values), asked) == (3, ["one", "three", "never"], [])
    assert [values["three"], values["one"], values["three"]] == [5, 3, 5]
    assert asked == ["three", "one"]
    with pytest.raises(KeyError, match="another"):
        values["another"]
