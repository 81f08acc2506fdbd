"""Executors: what completes, what fails, what stops the rest; sweeps on all give one table."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
import sledsim as ss
from sledsim import _core, executors
from sledsim.executors import completed, workers

from tests.waiting import LONG_S, eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sledsim.emulator.mounting.state import Process


BASE = {"device": "g2", "workload": "random", "requests": 300}
GRID = {"rate": [200, 600, 1000], "scheduler": ["fcfs", "sptf"]}
distributed: Any = pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")


class AtOnce(Executor):
    """Runs each task while it is submitted, as an executor of another library might."""

    _max_workers = 8

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 (as executors do)
            future.set_exception(error)
        return future


@pytest.fixture
def rarely(monkeypatch: pytest.MonkeyPatch) -> None:
    """Call ``beat`` so rarely that waiting for the next call shows."""
    monkeypatch.setattr(executors, "_BEAT_S", 2 * LONG_S)


@pytest.mark.parametrize(
    "given",
    [None, "3", "threads:3", "processes:2", pytest.param(AtOnce(), id="at once")],
)
def test_each_task_completes_once(given: executors.ExecutorLike) -> None:
    tasks = list(range(-20, 0))
    with workers(given) as pool:
        found = list(completed(pool, abs, tasks))
    assert sorted(found) == [(task, -task) for task in tasks]


def test_tasks_that_complete_together_come_in_their_order() -> None:
    tasks = list(range(-16, 0))
    with workers(AtOnce()) as pool:
        assert list(completed(pool, abs, tasks)) == [(task, -task) for task in tasks]


def test_an_executor_of_the_caller_stays_open() -> None:
    with ThreadPoolExecutor(2) as own:
        with workers(own) as pool:
            assert (pool.count, pool.shares_memory) == (2, True)
            assert list(completed(pool, abs, [-1])) == [(-1, 1)]
        assert own.submit(abs, -2).result() == 2


@pytest.mark.usefixtures("rarely")
def test_the_end_of_the_last_task_is_not_waited_for_by_the_clock() -> None:
    start = time.monotonic()
    with workers("threads:2") as pool:
        assert len(list(completed(pool, time.sleep, [0, 0.1]))) == 2
    assert time.monotonic() - start < LONG_S


@pytest.mark.usefixtures("rarely")
def test_the_first_failure_stops_the_others() -> None:
    """At once and unchanged, without waiting for the next beat."""
    begun: list[int] = []
    stopped: list[int] = []

    def run(task: int) -> None:
        begun.append(task)
        if task == 1:
            time.sleep(0.1)
            raise ss.SledsimError("on purpose")
        if pool.stopped.wait(2 * LONG_S):
            stopped.append(task)

    start = time.monotonic()
    with workers("threads:2") as pool, pytest.raises(ss.SledsimError, match="on purpose"):
        list(completed(pool, run, [0, 1, 2, 3]))
    assert time.monotonic() - start < LONG_S
    assert 0 in stopped
    assert 3 not in begun


def test_worker_processes_leave_interrupts_to_the_parent() -> None:
    with workers("processes:1") as pool:
        ((_, handler),) = completed(pool, signal.getsignal, [signal.SIGINT])
    assert handler == signal.SIG_IGN


def test_worker_processes_end_with_what_the_caller_raises() -> None:
    before = set(multiprocessing.active_children())

    def stop() -> None:
        if len(set(multiprocessing.active_children()) - before) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), workers("processes:2") as pool:
        list(completed(pool, time.sleep, [600, 600], stop))
    eventually(lambda: not set(multiprocessing.active_children()) - before)


@pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc")
@pytest.mark.parametrize(
    "words",
    [
        "sweep --device g2 --vary rate=300,400 --set requests=1e12 --workers processes:2",
        "papers run --workers 2 -o {folder}",
    ],
    ids=["sweep", "papers"],
)
def test_worker_processes_end_with_a_killed_parent(words: str, tmp_path: Path) -> None:
    """While they compute; what the standard library has started beside them ends, too."""
    from tests.processes import compute_s, descendants  # Linux only

    command = [sys.executable, "-m", "sledsim", *words.format(folder=tmp_path).split()]
    started: list[Process] = []
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as parent:
        try:
            eventually(lambda: sum(compute_s(each) > 3 for each in descendants(parent.pid)) == 2)
            started += descendants(parent.pid)
        finally:
            parent.kill()
    try:
        eventually(lambda: not any(each.is_alive() for each in started))
    finally:
        for each in started:
            each.signal(signal.SIGKILL)


def test_a_number_may_be_of_numpy() -> None:
    with workers(np.int64(2)) as pool:  # type: ignore[arg-type]
        assert pool.count == 2


# Sweeps

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
        own = [threads, client.get_executor(pure=False), AtOnce()]
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
