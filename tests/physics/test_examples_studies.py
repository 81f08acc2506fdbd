"""Examples of studies: schedulers by load, a Latin hypercube, SQL over a folder."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path
from typing import Any

import pytest
import sledsim as ss
from sledsim.cli import main
from sledsim.papers import find
from sledsim.papers.osdi2000 import curves, figure6a, parts

from tests.example_runs import EXAMPLES, run_once, run_twice

SCHEDULERS = EXAMPLES / "schedulers.toml"
HYPERCUBE = EXAMPLES / "latin_hypercube.py"
DUCKDB = EXAMPLES / "study_duckdb.py"


def rows_of(capsys: pytest.CaptureFixture[str], *words: object) -> dict[str, Any]:
    assert main(["sweep", str(SCHEDULERS), *map(str, words), "--json"]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    document: dict[str, Any] = json.loads(said.out)
    return document


def test_schedulers_are_in_the_order_of_the_paper_and_a_second_run_reads_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few = ("--set", "requests=20000", "--replications", "1", "--output", tmp_path / "study")
    first = rows_of(capsys, *few, "--plot", tmp_path / "figure.svg")
    means: dict[float, dict[str, float]] = {}
    for row in first["rows"]:
        assert "saturated" not in row["caution"]
        means.setdefault(row["rate"], {})[row["scheduler"]] = row["response_time_ms.mean"]
    assert set(means) <= {float(rate) for rate in figure6a.RATES}
    for rate in (1000, 1100, 1200):  # high_ms of the paper's figure 6(a)
        order = ["sptf", "sstf_lbn", "c_look", "fcfs"]
        assert sorted(means[rate], key=means[rate].__getitem__) == order
    drawn = (tmp_path / "figure.svg").read_text(encoding="utf-8")
    assert set(means[1000]) <= set(re.findall(r"<text[^>]*>(.*?)</text>", drawn))
    second = rows_of(capsys, *few)
    assert (first["run_now"], second["run_now"]) == (first["runs"], 0)
    assert second["rows"] == first["rows"]


def test_the_load_of_the_schedulers_is_that_of_the_item(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The device and the load of Figure 6(a), as the item of the paper has them but for turns."""
    (item,) = find(["osdi2000/figure6a"])
    requests = 3000
    few = ("--set", f"requests={requests}", "--set", f"warm_up_requests={requests // 20}")
    found = rows_of(capsys, *few, "--replications", "1", "--vary", "rate=500,1200")
    device = parts.sled(item.setup, turn="after_servo")
    for row in found["rows"]:
        load = curves.random_load(row["rate"], requests)
        run = ss.simulate(load, device, row["scheduler"])
        assert row["response_time_ms.mean"] == run.summary["response_time_ms"]["mean"]
        assert row["energy_j.total"] == run.summary["energy_j"]["total"]


def test_a_latin_hypercube_has_each_tenth_of_each_range_once() -> None:
    example = runpy.run_path(str(HYPERCUBE))
    rows = example["rows"](10)
    for key, (low, high) in example["RANGES"].items():
        tenths = sorted(int(10 * (row[key] - low) / (high - low)) for row in rows)
        assert tenths == list(range(10))


def test_the_ranks_of_the_hypercube_are_physical() -> None:
    _, *printed = run_once(HYPERCUBE, "--quick")
    ranks = {line.split()[0]: float(line.split()[-1]) for line in printed}
    # More force and stiffer springs make a sled faster.
    for key in ("resonance_hz", "acceleration_x_m_s2", "acceleration_y_m_s2"):
        assert ranks[f"device.{key}"] < -0.2
    assert [abs(rank) for rank in ranks.values()] == sorted(map(abs, ranks.values()), reverse=True)


def test_duckdb_finds_the_best_scheduler(tmp_path: Path) -> None:
    folders = [tmp_path / "1", tmp_path / "2"]
    first, second = run_twice(DUCKDB, lambda run: ["--quick", "--folder", str(folders[run])])
    assert first == second
    assert first[0] == "36 of 36 runs simulated"
    again = run_once(DUCKDB, "--quick", "--folder", folders[0])
    assert again == ["0 of 36 runs simulated", *first[1:]]
    printed: dict[int, tuple[str, float, float]] = {}
    for line in first[1:]:
        found = re.fullmatch(
            r" *(\d+)/s: (\w+), ([\d.]+) ms; the next x ([\d.]+); p99 ([\d.]+) ms", line
        )
        assert found
        printed[int(found[1])] = (found[2], float(found[3]), float(found[4]))
    for rate, (best, ms, lead) in printed.items():
        own = {
            scheduler: sum(
                ss.simulate(
                    ss.workload("random", requests=2000, rate=rate, seed=seed), "g2", scheduler
                ).summary["response_time_ms"]["mean"]
                for seed in (1, 2, 3)
            )
            / 3
            for scheduler in ("fcfs", "c_look", "sptf")
        }
        fastest, following, _ = sorted(own.values())
        assert own[best] == fastest
        assert ms == pytest.approx(fastest, abs=5.1e-4)
        assert lead == pytest.approx(following / fastest, abs=5.1e-3)


@pytest.mark.parametrize(
    ("script", "words", "said"),
    [
        (HYPERCUBE, ["--samples", "many"], "--samples"),
        (DUCKDB, ["--folder", "taken"], "taken: cannot be used as the folder of a study"),
    ],
)
def test_wrong_arguments_are_named(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    script: Path,
    words: list[str],
    said: str,
) -> None:
    (tmp_path / "taken").touch()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as exit_:
        runpy.run_path(str(script))["main"](["--quick", *words])
    assert exit_.value.code == 2
    assert said in capsys.readouterr().err
