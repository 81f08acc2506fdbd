"""Schedulers of the user see what waits, and equal those of sledsim that pick the same."""

# ruff: noqa: ARG002 - pick has these parameters

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import sledsim as ss
from sledsim.cli import main

from tests.physics.made import requests

if TYPE_CHECKING:
    from collections.abc import Iterator

LOAD = ss.workload("random", queue_depth=16, requests=2000, read_fraction=0.67)
OPEN = ss.workload("random", rate=700, requests=2000, read_fraction=0.67)


class First:
    """First come, first served."""

    def pick(self, queue: ss.Queue, now_ms: float) -> int:
        assert now_ms >= 0
        assert len(queue)
        return 0


class Nearest:
    """Shortest distance in LBNs from where the last request ended."""

    wants_positioning = False

    def __init__(self) -> None:
        self.position = 0

    def pick(self, queue: ss.Queue, now_ms: float) -> int:
        index = int(np.abs(queue.lbn - self.position).argmin())
        self.position = queue.end_lbn[index]
        return index


class Soonest:
    """Shortest positioning time."""

    def pick(self, queue: ss.Queue, now_ms: float) -> int:
        return int(queue.positioning_ms.argmin())


class Upwards:
    """C-LOOK, without NumPy."""

    def __init__(self) -> None:
        self.position = 0

    def pick(self, queue: ss.Queue, now_ms: float) -> int:
        lbns = queue.lbn.tolist()
        index = min(range(len(lbns)), key=lambda i: (lbns[i] < self.position, lbns[i]))
        self.position = queue.end_lbn.tolist()[index]
        return index


@pytest.mark.parametrize("device", ["g2", "g2-buffered", "atlas10k", "mcd", "g2(idle=coast)"])
@pytest.mark.parametrize(
    ("own", "built_in"),
    [(First, "fcfs"), (Nearest, "sstf_lbn"), (Soonest, "sptf"), (Upwards, "c_look")],
)
@pytest.mark.parametrize("load", [LOAD, OPEN], ids=["closed", "open"])
def test_those_of_sledsim_written_again(
    device: str, own: type[ss.Scheduler], built_in: str, load: ss.Load
) -> None:
    ours, theirs = ss.simulate(load, device, built_in), ss.simulate(load, device, own)
    assert theirs.to_dict()["scheduler"] == own.__name__
    assert ours.rows == theirs.rows
    assert ours.summary == theirs.summary


class Told:
    """Keeps what it saw, in lists that its copies share."""

    def __init__(self, seen: list[dict[str, Any]]) -> None:
        self.seen = seen

    def __deepcopy__(self, memo: object) -> Told:
        return Told(self.seen)

    def pick(self, queue: ss.Queue, now_ms: float) -> int:
        names = ("id", "lbn", "end_lbn", "blocks", "op", "arrival_ms", "cylinder", "positioning_ms")
        self.seen.append({name: getattr(queue, name) for name in names})
        self.seen[-1] |= {"now_ms": now_ms, "at": queue.current_cylinder}
        return len(queue) - 1


@pytest.mark.parametrize(("name", "ops"), [("g2", "RWRWR"), ("atlas10k", "RRRRR")])
def test_the_queue_is_what_waits(name: str, ops: str) -> None:
    device: Any = ss.device(name)
    lbns, blocks, ms = [80, 40_000, 20_000, 1000, 5], [8, 16, 1, 4, 2], [0.0, 0.1, 0.2, 0.3, 300.0]
    load = requests(*zip(ms, lbns, blocks, ops, strict=True))
    seen: list[dict[str, Any]] = []
    run = ss.simulate(load, device, Told(seen))
    assert [one["id"].tolist() for one in seen] == [[0], [1, 2, 3], [1, 2], [1], [4]]
    three = {name: getattr(value, "tolist", lambda v=value: v)() for name, value in seen[1].items()}
    assert three["lbn"] == lbns[1:4]
    assert three["blocks"] == blocks[1:4]
    assert three["end_lbn"] == [40_016, 20_001, 1004]
    assert three["op"] == [{"R": "read", "W": "write"}[op] for op in ops[1:4]]
    assert three["arrival_ms"] == ms[1:4]
    assert three["cylinder"] == [device.locate(lbn).cylinder for lbn in lbns[1:4]]
    assert three["at"] == device.locate(80).cylinder
    assert run.requests == 5
    with pytest.raises(ValueError, match="read-only"):
        seen[1]["lbn"][0] = 1


@pytest.mark.parametrize("name", ["g2", "atlas10k", "g2(idle=coast)"])
def test_positioning_takes_as_long_as_promised(name: str) -> None:
    seen: list[dict[str, Any]] = []
    load = ss.workload(
        "random", queue_depth=8, requests=300, read_fraction=1, size="fixed", mean_size_kib=0.5
    )
    run = ss.simulate(load, name, Told(seen))
    rows = {row["id"]: row for row in run.to_polars().iter_rows(named=True)}
    causes = ("seek_ns", "head_switch_ns", "rotation_ns", "other_ns")
    for one in seen:
        row = rows[int(one["id"][-1])]  # it takes the last
        assert row["start_ns"] == round(one["now_ms"] * 1e6)
        promised_ns = one["positioning_ms"][-1] * 1e6
        assert sum(row[cause] for cause in causes) == pytest.approx(promised_ns, abs=2)


def test_a_copy_serves_each_run_and_each_part() -> None:
    one = Nearest()
    first, second = (ss.simulate(LOAD, "g2", one) for _ in range(2))
    assert first.rows == second.rows
    assert one.position == 0
    two, own = (ss.simulate(LOAD, "mcd", by, parts=True) for by in (one, "sstf_lbn"))
    assert two.rows == own.rows
    two, own = (ss.simulate(LOAD, "g2", by, replications=3) for by in (one, "sstf_lbn"))
    assert two.summary == own.summary


class Wrong:
    def __init__(self, answer: object) -> None:
        self.answer, self.left = answer, 500

    def pick(self, queue: ss.Queue, now_ms: float) -> Any:
        self.left -= 1
        if self.left:
            return 0
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


@pytest.mark.parametrize("answer", [15, -1, None, True, 1.0, "0", np.float64(0), 1 << 80])
def test_a_choice_that_does_not_wait(answer: object, tmp_path: Path) -> None:
    rows = tmp_path / "rows.parquet"
    with pytest.raises(ss.SpecError) as caught:
        ss.simulate(LOAD, "g2", Wrong(answer), rows=rows)
    said = str(caught.value)
    assert said.startswith(f"scheduler 'Wrong': pick() returned {answer!r} at ")
    assert " ms with requests " in said
    assert ", ... waiting; must be an index from 0 to 14" in said
    assert caught.value.key == "scheduler"
    assert list(tmp_path.iterdir()) == []


def test_an_exception_of_the_user_is_the_cause(tmp_path: Path) -> None:
    wrong, rows = ZeroDivisionError("too near"), tmp_path / "rows.csv"
    said = r"pick\(\) raised ZeroDivisionError: too near"
    with pytest.raises(ss.SpecError, match=said) as caught:
        ss.simulate(LOAD, "g2", Wrong(wrong), rows=rows)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    for stop in (KeyboardInterrupt(), SystemExit(3)):
        with pytest.raises(type(stop)):
            ss.simulate(LOAD, "g2", Wrong(stop))
    with pytest.raises(ss.SpecError, match="ZeroDivisionError"):
        ss.simulate(LOAD, "g2", Wrong(wrong), replications=3)
    with pytest.raises(ss.SpecError, match="ZeroDivisionError"):
        ss.compare(LOAD, ["g2"], ["fcfs", Wrong(wrong)])
    # The last request of a run, after which nothing is asked again.
    few = ss.workload("random", queue_depth=1, requests=500)
    with pytest.raises(ss.SpecError, match="with request 499 waiting"):
        ss.simulate(few, "g2", Wrong(7), rows=rows)
    assert list(tmp_path.iterdir()) == []


def test_a_device_without_positioning_times_has_a_queue() -> None:
    assert ss.simulate(LOAD, "memory", First).rows == ss.simulate(LOAD, "memory").rows


SOURCE = """
class Newest:
    def pick(self, queue, now_ms):
        return len(queue) - {back}
"""


@pytest.fixture
def newest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Work in a folder with a module, and forget it afterwards."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "mine.py"
    file.write_text(SOURCE.format(back=1))
    yield file
    sys.modules.pop("mine", None)


def test_import_paths(newest: Path) -> None:
    by_file = ss.simulate(LOAD, "g2", f"{newest}:Newest")
    assert by_file.to_dict()["scheduler"] == f"{newest}:Newest"
    by_name = ss.simulate(LOAD, "g2", "mine:Newest")
    assert by_name.rows == by_file.rows
    assert by_name.rows != ss.simulate(LOAD, "g2").rows
    Path("broken.py").write_text("import nothing_of_this_name\n")
    for path, said in [
        ("mine:Oldest", "with pick.*; mine has Newest"),
        ("yours:Newest", "cannot be imported: ModuleNotFoundError: No module named 'yours'"),
        ("broken.py:Newest", "cannot be imported: ModuleNotFoundError"),
        ("absent.py:Newest", "cannot be imported: FileNotFoundError"),
        (":Newest", "cannot be imported"),
        ("mine:Newest#0123456789ab", "must be of the source it was"),
    ]:
        with pytest.raises(ss.SpecError, match=said):
            ss.simulate(LOAD, "g2", path)
    newest.write_text(SOURCE.format(back=2))
    with pytest.raises(ss.SpecError, match="has changed since it was imported"):
        ss.simulate(LOAD, "g2", "mine:Newest")


def test_a_study_knows_the_source(newest: Path) -> None:
    few: dict[str, Any] = {"requests": 300, "queue_depth": 8}
    own = f"{newest}:Newest"

    def means(workers: int) -> dict[str, float]:
        grid = {"scheduler": ["fcfs", own]}
        study = ss.sweep({"device": "g2", **few}, grid=grid, output="study", workers=workers)
        return {row["scheduler"]: row["response_time_ms.mean"] for row in study.means.to_dicts()}

    first = means(2)
    alone = ss.simulate(ss.workload("random", **few), "g2", own)
    assert first[own] == alone.summary["response_time_ms"]["mean"]
    newest.write_text(SOURCE.format(back="len(queue)"))
    second = means(1)
    assert second["fcfs"] == first["fcfs"]
    assert second[own] != first[own]


def test_it_is_named_in_comparisons_and_commands(
    newest: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ss.compare(LOAD, ["g2"], ["fcfs", Nearest, "sptf"]).labels == ["fcfs", "Nearest", "sptf"]
    few = ["--set", "queue_depth=4", "--set", "requests=50"]
    for words in (
        ["run", "--device", "g2", "--scheduler", f"{newest}:Newest"],
        ["compare", "--devices", "g2", "--schedulers", f"fcfs,{newest}:Newest"],
    ):
        assert main([*words, *few]) == 0
        assert "Newest" in capsys.readouterr().out
