"""Table 2 of MSST 2005 against the workloads for its traces; characteristics of real traces."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import sledsim as ss
from sledsim.cli import main
from sledsim.papers.characteristics import PUBLISHED, characteristics, table2

TRACES = Path(__file__).parents[3] / "shared" / "traces"


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Callable[[str], str]:
    """Return what runs a command and returns what it prints."""

    def run(line: str) -> str:
        assert main(line.split()) == 0
        return capsys.readouterr().out

    return run


@pytest.mark.parametrize("name", PUBLISHED)
@pytest.mark.parametrize("seed", range(1, 4))
def test_every_column_of_table_2_is_met(name: str, seed: int) -> None:
    # Within 2 % for seed 1, and for others but for sequentiality: where the most popular unit is
    # the last of its extent, which is a matter of the seed, a good part of all runs ends there.
    for column in table2(name, ss.workload(name, seed=seed)):
        bound = 0.05 if seed > 1 and column.quantity == "sequentiality" else 0.02
        assert abs(column.relative_error) <= bound, column


def test_the_published_table_is_the_paper_s() -> None:
    # The text of the table, read again: rows of its four columns.
    paper = TRACES.parent / "papers" / "msst2005.txt"
    if not paper.is_file():
        pytest.skip("needs ../shared/papers")
    lines = [line.split("\t") for line in paper.read_text(encoding="utf-8").splitlines()]
    rows = {line[0]: line[1:] for line in lines if len(line) == 5}
    labels = {
        "Num. of requests": "requests",
        "Duration (hours)": "duration",
        "Percentage of reads": "reads",
        "Avg. request size (KB)": "mean_size",
        "Working set size (MB)": "working_set",
        "Logical sequentiality": "sequentiality",
    }
    for label, quantity in labels.items():
        values = [float(value.replace(",", "").rstrip("%")) for value in rows[label]]
        assert values == [PUBLISHED[name][quantity] for name in ("tpcd", "tpcc", "cello", "hplajw")]


def test_a_burst_of_the_generators_is_within_a_factor_of_two_of_the_trace() -> None:
    # hplajw of 1992, from which the biases were taken, and hplajw and cello as generated: the
    # index of dispersion, by operation, between 1/16 s and 16 s. Levels are a compromise between
    # the scales, so that single ones are off by more: twice at most in the geometric mean.
    trace = TRACES / "hplajw-1992-week.srt"
    if not trace.is_file():
        pytest.skip("needs ../shared/traces")
    real = characteristics(trace)
    for name in ("hplajw", "cello"):
        made = characteristics(ss.workload(name))
        ratio = 1.0
        for window, dispersion in made["index_of_dispersion"].items():
            ratio *= dispersion / real["index_of_dispersion"][window]
        assert 0.5 < ratio ** (1 / 3) < 2
    # Poisson arrivals are far from it.
    made = characteristics(ss.workload("tpcc", requests=200_000, bias=0.5))
    assert all(0.8 < value < 1.2 for value in made["index_of_dispersion"].values())


def test_real_traces_are_described() -> None:
    if not TRACES.is_dir():
        pytest.skip("needs ../shared/traces")
    week = characteristics(TRACES / "hplajw-1992-week.srt")
    assert week["requests"] == 44_519
    assert week["reads"] == pytest.approx(29.3, abs=0.05)  # FACTS of the trace
    assert week["working_set"] == pytest.approx(26, abs=1)
    tpcc = characteristics(TRACES / "tpcc-small.mqsim")
    assert tpcc["reads_below_8kb"] == 0
    assert tpcc["first_references"] > 0.95  # a fraction of a second: hardly any reuse
    search = characteristics(TRACES / "websearch-minute.mqsim")
    assert search["reads"] > 99.9


def test_cyclic_scans_defeat_lru() -> None:
    # 1242 MB in order: nothing is left of it in 512 MB when it comes again; only pages of 2 KB
    # that share a unit of 4 KiB are hits. Three scans, each a third behind the one before, bring
    # every place back three times as soon, but in the meantime read all the rest between them.
    one, three = (
        characteristics(ss.workload("tpcd", scans=scans, order="in_order"))["lru_miss_ratio"]
        for scans in (1, 3)
    )
    assert one[512] == pytest.approx(one[64])
    assert one[512] > 0.95
    assert three[256] > 0.95
    assert three[512] > 0.95


def test_the_names_work_wherever_a_workload_is_named(
    said: Callable[[str], str], tmp_path: Path
) -> None:
    assert set(ss.loads.workload_presets()) == set(PUBLISHED)
    line = "run --device msst2005 --workload cello --set requests=300"
    document = json.loads(said(f"{line} --json"))
    assert document["workload"]["preset"] == "cello"
    run = ss.simulate(ss.workload("cello", requests=300), ss.device("msst2005"))
    assert run.to_dict()["summary"] == document["summary"]
    # Also in a scenario, and as a file of the user's beside it.
    (tmp_path / "mine.toml").write_text('base = "cello"\nrequests = 300\n', encoding="utf-8")
    scenario = tmp_path / "cello.toml"
    for kind in ("cello", "mine.toml"):
        text = f'[device]\nbase = "msst2005"\n[workload]\nkind = "{kind}"\nrequests = 300\n'
        scenario.write_text(text, encoding="utf-8")
        assert json.loads(said(f"run {scenario} --json"))["summary"] == document["summary"]
    told = said(line)
    assert "cello: mix, seed 1" in told
    assert "bursty on all scales up to 32 s (b-model, bias 0.74)" in told


def test_the_command_lists_shows_and_tells(said: Callable[[str], str]) -> None:
    listed = said("workloads")
    assert "1,088,407" in listed
    assert "Generators: random, zipf" in listed
    parameters = json.loads(said("workloads show tpcc --json"))["parameters"]
    assert parameters["requests"]["value"] == PUBLISHED["tpcc"]["requests"]
    assert "NURand" in parameters["tables"]["source"]
    reads = json.loads(said("workloads info hplajw --json"))["reads"]
    assert reads == pytest.approx(60.3, abs=0.5)
    assert "8 KB" in said("workloads info tpcc --set requests=2000")
