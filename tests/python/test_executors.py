"""Executors: what completes, what fails, what stops the rest."""

from __future__ import annotations

import multiprocessing
import signal
import subprocess
import sys
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import sledsim as ss
from sledsim import executors
from sledsim.executors import completed, workers

from tests.waiting import LONG_S, eventually

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sledsim.emulator.mounting.state import Process


class AtOnce(Executor):
    """Runs each task while it is submitted."""

    _max_workers = 8

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


@pytest.fixture
def rarely(monkeypatch: pytest.MonkeyPatch) -> None:
    """Call ``beat`` so rarely that waiting for the next call shows."""
    monkeypatch.setattr(executors, "_BEAT_S", 2 * LONG_S)


@pytest.mark.parametrize("given", [None, "threads:3", "processes:2", AtOnce()], ids=str)
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
