"""The folder of a study: what is there is not run again, and nothing harms it."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import sledsim as ss
from sledsim import _core
from sledsim.studies import store

BASE = {"device": "g2", "workload": "random", "requests": 100}
RATES = [200, 400, 600]


def sweep(folder: Path, rates: list[int], **more: Any) -> ss.Study:
    return ss.sweep(BASE, grid={"rate": rates}, output=folder, **more)


def python(folder: Path, code: str) -> subprocess.Popen[str]:
    """Run a program that knows ``ss``, ``BASE`` and ``folder``."""
    head = f"import sledsim as ss\nBASE, folder = {BASE!r}, {str(folder)!r}\n"
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [sys.executable, "-c", head + code], stdout=pipe, stderr=pipe, text=True
    )


def means(study: ss.Study) -> list[float]:
    return study.table.column("response_time_ms.mean")


def test_only_what_is_missing_is_run(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    assert sweep(folder, RATES).run == 3
    assert sweep(folder, RATES).run == 0
    grown = sweep(folder, [*RATES, 800], replications=2)
    assert grown.run == 1 + 4
    fresh = sweep(tmp_path / "fresh", [*RATES, 800], replications=2)
    assert means(grown) == means(fresh)
    fewer = sweep(folder, [400])
    assert (fewer.run, len(fewer.table)) == (0, 1)
    assert len(pl.DataFrame(fewer.means)) == 1
    assert {*folder.iterdir()} == {folder / "study.json", *folder.glob("part-*.parquet")}


def test_a_point_is_found_again_however_it_is_written(tmp_path: Path) -> None:
    sweep(tmp_path, RATES)
    rows = [{"rate": float(rate), "requests": 100} for rate in RATES]
    again = ss.sweep({"workload": "random", "device": "g2"}, rows=rows, output=tmp_path)
    assert again.run == 0


def test_a_device_file_that_has_changed_is_run_again(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    for spring, runs in ((0.1, 1), (0.1, 0), (0.2, 1)):
        file.write_text(f'base = "g2"\nspring_factor = {spring}\n')
        study = ss.sweep({**BASE, "device": str(file), "rate": 300}, output=tmp_path / "study")
        assert study.run == runs
        run = ss.simulate(ss.workload(requests=100, rate=300), file)
        assert means(study) == [run.summary["response_time_ms"]["mean"]]


def test_a_damaged_part_is_named_and_run_again(tmp_path: Path) -> None:
    before = means(sweep(tmp_path, RATES))
    (part,) = tmp_path.glob("part-*")
    content = bytearray(part.read_bytes())
    content[len(content) // 2] ^= 0xFF
    part.write_bytes(content)
    with pytest.warns(RuntimeWarning, match=f"{part.name}: is damaged; it is set aside"):
        mended = sweep(tmp_path, RATES)
    assert mended.run == 3
    assert means(mended) == before
    assert part.with_name(part.name + ".damaged").exists()
    assert sweep(tmp_path, RATES).run == 0


def test_another_study_is_refused(tmp_path: Path) -> None:
    sweep(tmp_path, RATES)
    listed = sorted(tmp_path.iterdir())
    for base, grid, said in (
        ({**BASE, "device": "g3"}, {"rate": RATES}, "device = g2; this one has g3"),
        (BASE, {"rate": RATES, "seed": [1]}, "with parameters .*; this one has .*seed"),
        (BASE, {"rate": RATES, "scheduler": ["fcfs"]}, "parameters"),
    ):
        with pytest.raises(ss.SledsimError, match=said):
            ss.sweep(base, grid=grid, output=tmp_path)
    with pytest.raises(ss.SledsimError, match="experiment simulate; this one has crash_test"):
        sweep(tmp_path, RATES, experiment="crash_test")
    assert sorted(tmp_path.iterdir()) == listed


def test_runs_of_another_version_are_refused_unless_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_core, "NUMBERS", "0.1.9+old")
    sweep(tmp_path, RATES[:2])
    monkeypatch.undo()
    with pytest.raises(ss.SledsimError, match=r"version 0\.1\.9\+old, and this is"):
        sweep(tmp_path, RATES)
    mixed = sweep(tmp_path, RATES, keep_versions=True)
    assert mixed.run == 1
    assert mixed.table.column("version") == ["0.1.9+old", "0.1.9+old", _core.NUMBERS]


def test_two_processes_share_a_folder(tmp_path: Path) -> None:
    code = """
grid = {'rate': [100 + 10 * k for k in range(60)]}
study = ss.sweep(BASE, grid=grid, workers='threads:1', output=folder)
print(len(study.table), sum(study.table.column('response_time_ms.mean')))
"""
    said = [process.communicate()[0] for process in [python(tmp_path, code) for _ in range(2)]]
    assert said[0] == said[1]
    assert said[0].startswith("60 ")


def test_a_killed_process_loses_a_second_of_runs_at_most(tmp_path: Path) -> None:
    """Each run is of one request more, so that the rows say how far it came."""
    base = {"device": "g2", "workload": "random", "rate": 500}
    with python(
        tmp_path,
        f"ss.sweep({base}, workers='threads:1', grid={{'requests': range(20000, 24000)}},"
        " output=folder)",
    ) as process:
        while not list(tmp_path.glob("part-*")):
            assert process.poll() is None
            time.sleep(0.05)
        process.kill()
    there = sum(len(_core.StudyTable.read(part)) for part in tmp_path.glob("part-*"))
    assert there > 0
    rest = ss.sweep(base, grid={"requests": range(20000, 20000 + there + 5)}, output=tmp_path)
    assert rest.run <= 5
    assert rest.errors == []


def test_an_interrupt_leaves_a_study_that_resumes(tmp_path: Path) -> None:
    def stop(done: int, _of: int | None) -> None:
        if done >= 5:
            raise KeyboardInterrupt

    rates = [100 + k for k in range(150)]
    with pytest.raises(KeyboardInterrupt):
        sweep(tmp_path, rates, progress=stop)
    rest = sweep(tmp_path, rates)
    assert rest.run <= 145
    assert len(rest.table) == 150


def test_a_full_disk_ends_the_sweep_and_leaves_no_half_file(tmp_path: Path) -> None:
    """The limit on the size of files stands for the disk."""
    code = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))
ss.sweep(BASE, grid={'rate': [1, 2]}, output=folder)
"""
    said = python(tmp_path, code).communicate()[1]
    assert re.search(r"sledsim\.\w+Error: .*File too large", said)
    assert [file.name for file in tmp_path.iterdir()] == ["study.json"]
    assert sweep(tmp_path, [1, 2]).run == 2


def test_small_parts_are_joined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_MOST_SECONDS", 0.0)
    monkeypatch.setattr(store, "_MOST_SMALL", 4)
    rates = [100 + k for k in range(40)]
    study = sweep(tmp_path, rates)
    assert len(list(tmp_path.glob("part-*"))) == 1
    assert means(study) == means(ss.sweep(BASE, grid={"rate": rates}))


def test_rows_of_requests_are_written_by_the_workers(tmp_path: Path) -> None:
    study = sweep(tmp_path, [300], run_rows=True, workers="processes:1")
    (key,) = study.table.column("key")
    rows = pl.read_parquet(tmp_path / "rows" / f"{key}.parquet")
    assert rows.height == 100
    response = rows["completion_ns"] - rows["arrival_ns"]
    assert int(response.sum()) / 1e8 == pytest.approx(means(study)[0])


def test_the_file_about_the_study_tells_what_it_is(tmp_path: Path) -> None:
    sweep(tmp_path, RATES)
    about = json.loads((tmp_path / "study.json").read_text())
    assert about["fixed"] == BASE
    assert about["varied"] == ["rate"]
    assert about["sledsim"] == _core.NUMBERS


def test_temporary_results_go_with_the_study() -> None:
    study = ss.sweep(BASE)
    folder = study.folder
    assert folder.is_dir()
    del study
    assert not folder.exists()


def test_a_pipe_in_place_of_results_is_named(tmp_path: Path) -> None:
    sweep(tmp_path, RATES)
    (part,) = tmp_path.glob("part-*.parquet")
    part.unlink()
    os.mkfifo(part)
    said = python(tmp_path, "ss.sweep(BASE, grid={'rate': [1]}, output=folder)").communicate(
        timeout=60
    )
    assert f"SledsimError: {part}: cannot be read: must be a regular file" in said[1]
    assert "remove it, and its points run again" in said[1]
