"""Sweeps on threads, processes, Dask and other executors give the same table."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import sledsim as ss
from sledsim import _core
from sledsim.executors import completed, workers

distributed: Any = pytest.importorskip("distributed")

BASE = {"device": "g2", "workload": "random", "requests": 300}
GRID = {"rate": [200, 600, 1000], "scheduler": ["fcfs", "sptf"]}
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")


class Sequential(Executor):
    """Runs each task when it is submitted, as an executor of another library might."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 (as executors do)
            future.set_exception(error)
        return future


CLUSTER = """
import sys, distributed
if __name__ == "__main__":
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
    ) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a cluster in a process of its own."""
    file = tmp_path_factory.mktemp("cluster") / "cluster.py"
    file.write_text(CLUSTER)
    words = [sys.executable, str(file)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as made:
        assert made.stdout is not None
        yield made.stdout.readline().strip()
        made.communicate("")


def address(cluster: str) -> str:
    return "dask://" + cluster.removeprefix("tcp://")


def table(study: ss.Study) -> pl.DataFrame:
    return pl.DataFrame(study.table).drop("seconds")


def test_the_table_does_not_depend_on_the_executor(cluster: str) -> None:
    expected = table(ss.sweep(BASE, grid=GRID, replications=2, workers="threads:1"))
    assert expected.height == 12
    with ThreadPoolExecutor(3) as threads, distributed.Client(cluster) as client:
        own = [threads, client.get_executor(pure=False), Sequential()]
        for executor in ("threads:2", "processes:2", address(cluster), *own):
            found = table(ss.sweep(BASE, grid=GRID, replications=2, workers=executor))
            assert found.equals(expected), executor


def test_a_killed_dask_worker_does_not_end_the_sweep(cluster: str) -> None:
    killed = threading.Event()
    with distributed.Client(cluster) as client:
        processes = list(client.run(os.getpid).values())

        def kill(done: int, _of: int | None) -> None:
            if done >= 3 and not killed.is_set():
                killed.set()
                os.kill(processes[0], signal.SIGKILL)

        rates = [100 + 5 * k for k in range(60)]
        base = {**BASE, "requests": 20_000}
        study = ss.sweep(base, grid={"rate": rates}, workers=address(cluster), progress=kill)
    assert killed.is_set()
    assert study.run == 60
    assert table(study).equals(table(ss.sweep(base, grid={"rate": rates})))


def test_a_worker_of_another_version_is_refused(cluster: str) -> None:
    def pretend(version: str) -> None:
        from sledsim import _core  # of the worker

        _core.NUMBERS = version  # type: ignore[misc]

    with distributed.Client(cluster) as client:
        client.run(pretend, "0.0.1+other")
        try:
            says = r"worker \d+ on .*: has sledsim 0\.0\.1\+other, and"
            with pytest.raises(ss.SledsimError, match=says):
                ss.sweep(BASE, grid=GRID, workers=address(cluster))
        finally:
            client.run(pretend, _core.NUMBERS)
    assert ss.sweep(BASE, grid=GRID, workers=address(cluster)).run == 6


def test_a_trace_that_one_worker_does_not_have_is_named(cluster: str, tmp_path: Path) -> None:
    """Its path leads through the folder that a process is in."""
    (tmp_path / "mine.trace").write_text("".join(f"{n}.0 0 {n * 8} 8 1\n" for n in range(50)))
    trace = "/proc/self/cwd/mine.trace"
    grid = {"time_scale": [1 + k / 100 for k in range(40)]}
    base = {"device": "g2", "trace": trace, "trace_format": "disksim_ascii"}
    here = Path.cwd()
    with distributed.Client(cluster) as client:
        first, second = client.run(os.getcwd)
        try:
            os.chdir(tmp_path)
            client.run(os.chdir, tmp_path, workers=[first])
            with pytest.raises(ss.SledsimError, match=r"worker \d+ on .*mine\.trace"):
                ss.sweep(base, grid=grid, workers=address(cluster))
            client.run(os.chdir, tmp_path, workers=[second])
            assert ss.sweep(base, grid=grid, workers=address(cluster)).run == 40
        finally:
            os.chdir(here)
            client.run(os.chdir, here)


@contextlib.contextmanager
def scheduler_and_worker(folder: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Start both; give the address and the process of the scheduler."""

    def started(name: str, *options: str) -> subprocess.Popen[bytes]:
        code = f"import distributed.cli.dask_{name} as d; d.main()"
        words = [sys.executable, "-c", code, "--no-dashboard", "--scheduler-file", str(told)]
        null = subprocess.DEVNULL
        return subprocess.Popen([*words, *options], stdout=null, stderr=null)

    folder.mkdir()
    told = folder / "scheduler.json"
    processes = [started("scheduler", "--host", "127.0.0.1", "--port", "0")]
    try:
        while not told.exists() or not told.read_text().endswith("}"):
            assert processes[0].poll() is None
            time.sleep(0.1)
        processes.append(started("worker", "--no-nanny"))
        yield address(json.loads(told.read_text())["address"]), processes[0]
    finally:
        for process in processes:
            process.kill()
            process.wait()


def test_a_lost_scheduler_ends_the_sweep_and_another_resumes_it(tmp_path: Path) -> None:
    rates, output = [100 + k for k in range(400)], tmp_path / "study"
    base = {**BASE, "requests": 20_000}
    with scheduler_and_worker(tmp_path / "one") as (where, scheduler):

        def kill(done: int, _of: int | None) -> None:
            if done >= 3:
                scheduler.kill()

        with pytest.raises(ss.SledsimError, match="scheduler"):
            ss.sweep(base, grid={"rate": rates}, workers=where, output=output, progress=kill)
    there = sum(len(_core.StudyTable.read(part)) for part in output.glob("part-*"))
    assert 3 <= there < 400
    with scheduler_and_worker(tmp_path / "two") as (where, _):
        rest = ss.sweep(base, grid={"rate": rates[: there + 20]}, workers=where, output=output)
    assert 0 < rest.run <= 40
    assert rest.errors == []


def test_executors_that_cannot_be_used_are_refused() -> None:
    shut = ThreadPoolExecutor(1)
    shut.shutdown()
    for executor, said in (
        (shut, "cannot take a task"),
        ("dask://127.0.0.1:1", "no Dask scheduler answers"),
    ):
        with pytest.raises(ss.SledsimError, match=said):
            ss.sweep(BASE, workers=executor)


def test_what_cannot_be_sent_is_named() -> None:
    with pytest.raises(ss.SledsimError, match="cannot be sent"), workers("processes:1") as pool:
        list(completed(pool, lambda task: task, [1]))


def test_a_process_that_dies_ends_the_work() -> None:
    with pytest.raises(ss.SledsimError, match="has died"), workers("processes:2") as pool:
        list(completed(pool, os._exit, [1]))


def test_few_tasks_are_under_way() -> None:
    taken: list[int] = []

    def tasks() -> Iterator[int]:
        for number in range(1, 101):
            taken.append(number)
            yield number

    with workers("threads:2") as pool:
        for done, _ in enumerate(completed(pool, abs, tasks())):
            assert len(taken) <= done + 5
    assert len(taken) == 100
