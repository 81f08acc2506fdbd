"""Executors: tasks on threads, processes, a Dask cluster, or any ``concurrent.futures.Executor``.

>>> from sledsim.executors import completed, workers
>>> with workers("threads:2") as pool:
...     sorted(result for task, result in completed(pool, abs, [-3, 2, -1]))
[1, 2, 3]

A task is a call of a function with one argument. With processes and clusters the function is one of
a module, and it, its argument and its result can be pickled.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn, SupportsIndex, TypeAlias, TypeVar

from sledsim._arguments import refuse, whole
from sledsim._core import SledsimError

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

T = TypeVar("T")
R = TypeVar("R")

ExecutorLike: TypeAlias = "int | Executor | str | None"
"""An executor, or what :func:`workers` makes one of."""

_BEAT_S = 0.05
"""Seconds between calls of ``beat`` while no task completes."""
_PATIENCE_S = 10.0
"""Seconds after which a Dask scheduler is taken for lost, or for one without workers."""
_MUST = (
    'a number, "threads", "processes", "threads:N", "processes:N", "dask://HOST:PORT", or an'
    " Executor"
)


@dataclass
class Workers:
    """An executor with what is known of it; made by :func:`workers`."""

    executor: Executor
    count: int
    """How many tasks run at a time."""
    shares_memory: bool
    """Whether tasks run in this process: they need not be pickled then."""
    check: Callable[[], None] = lambda: None
    """Raises an error if no task can complete any more."""
    stopped: threading.Event = field(default_factory=threading.Event)
    """Set when the rest is not wanted. Tasks that share memory should look at it."""


@contextmanager
def workers(given: ExecutorLike = None, most: int | None = None) -> Iterator[Workers]:
    """Open an executor.

    Parameters
    ----------
    given
        A number of threads; ``"threads"`` (also if ``None``) or ``"processes"``, as many as there
        are processors, or with their number, ``"processes:4"``; ``"dask://HOST:PORT"``, the
        scheduler of a Dask cluster; or an executor, which stays open. How many tasks that runs at
        a time is known of those of the standard library and of Dask; of others as many are taken
        as there are processors.
    most
        At most so many tasks at a time.

    Raises
    ------
    SledsimError
        For anything else, or a scheduler that does not answer.
    """
    if isinstance(given, Executor):
        yield _of_another(given)
        return
    if isinstance(given, SupportsIndex) and not isinstance(given, bool):
        given = f"threads:{whole('workers', given, 1, 1024)}"
    if not isinstance(given, str | None):
        refuse("workers", given, _MUST)
    if given is not None and given.isdecimal():
        given = f"threads:{given}"
    name, _, number = ("threads" if given is None else given).partition(":")
    if given is not None and name == "dask":
        with _dask(given.removeprefix("dask://")) as pool:
            yield pool
        return
    if name not in {"threads", "processes"} or not (number.isdecimal() or number == ""):
        refuse("workers", given, _MUST)
    count = int(number[:9]) if number else os.cpu_count() or 1  # as wrong as a longer one
    if not 1 <= count <= 1024:
        refuse("workers", given, f"{_MUST}; N from 1 to 1024")
    count = min(count, most or count)
    with _threads(count) if name == "threads" else _processes(count) as pool:
        yield pool


def completed(
    pool: Workers,
    function: Callable[[T], R],
    tasks: Iterable[T],
    beat: Callable[[], object] = lambda: None,
) -> Iterator[tuple[T, R]]:
    """Run a function on each task, and yield tasks with their results as they complete.

    Tasks are taken one by one, and at most two for each worker are under way: there may be more of
    them than fit into memory. Those that complete together are yielded in their order. If one
    fails, or the caller stops, those not begun are dropped.

    Parameters
    ----------
    pool
        Where they run.
    function
        What is called with each task.
    tasks
        The tasks.
    beat
        Called often, in this thread; what it raises ends the work.

    Raises
    ------
    SledsimError
        For an executor that was shut down, a worker process that died, or a task that cannot be
        sent.
    """
    rest = iter(tasks)
    under_way: dict[Future[R], T] = {}
    try:
        while True:
            while len(under_way) < 2 * pool.count and (task := next(rest, None)) is not None:
                under_way[_submitted(pool, function, task)] = task
            if not under_way:
                return
            done, _ = wait(under_way, _BEAT_S, return_when=FIRST_COMPLETED)
            beat()
            pool.check()
            for future in [future for future in under_way if future in done]:
                yield under_way.pop(future), _result(future)
    except BaseException:
        pool.stopped.set()
        for future in under_way:
            future.cancel()
        raise


def _submitted(pool: Workers, function: Callable[[T], R], task: T) -> Future[R]:
    try:
        return pool.executor.submit(function, task)
    except BrokenProcessPool:
        _died()
    except RuntimeError as error:
        raise SledsimError(f"executor: cannot take a task: {error}") from None


def _result(future: Future[R]) -> R:
    import pickle  # for errors

    try:
        return future.result()
    except BrokenProcessPool:
        _died()
    except CancelledError:
        raise SledsimError(
            "executor: tasks were cancelled there, as by a Dask scheduler that was lost"
        ) from None
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        if "pickle" not in str(error).lower():
            raise
        raise SledsimError(
            f"executor: what a worker is to run cannot be sent to another process: {error}"
        ) from None


def _died() -> NoReturn:
    raise SledsimError("a worker process has died; was there enough memory?") from None


@contextmanager
def _threads(count: int) -> Iterator[Workers]:
    from concurrent.futures import ThreadPoolExecutor  # not of processes

    with ThreadPoolExecutor(count, thread_name_prefix="sledsim-worker") as executor:
        yield Workers(executor, count, shares_memory=True)


@contextmanager
def _processes(count: int) -> Iterator[Workers]:
    from concurrent.futures import ProcessPoolExecutor

    before = set(multiprocessing.active_children())
    context = multiprocessing.get_context("spawn")
    executor = ProcessPoolExecutor(count, mp_context=context, initializer=_begin)

    def check() -> None:
        """Notice a process that died; the pool itself does not watch the last that it started."""
        if not all(process.is_alive() for process in [*executor._processes.values()]):
            _died()

    try:
        yield Workers(executor, count, shares_memory=False, check=check)
    except BaseException:
        executor.shutdown(wait=False, cancel_futures=True)
        _terminate(set(multiprocessing.active_children()) - before)
        raise
    executor.shutdown()


def _terminate(processes: set[BaseProcess]) -> None:
    for process in processes:
        process.terminate()


def _begin() -> None:
    """Leave Ctrl-C, which a terminal sends to all, to the parent; end with it, also if killed."""
    import signal  # in the workers only

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _of_another(executor: Executor) -> Workers:
    """Return what is known of an executor of the caller."""
    from concurrent.futures import ThreadPoolExecutor

    client = getattr(executor, "_client", None)  # of Dask
    if client is not None:
        return _of_client(client, executor)
    count = getattr(executor, "_max_workers", None) or os.cpu_count() or 1
    return Workers(executor, count, isinstance(executor, ThreadPoolExecutor))


@contextmanager
def _dask(address: str) -> Iterator[Workers]:
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError:
        raise SledsimError("executor dask://: needs Dask: pip install 'sledsim[dask]'") from None
    try:
        client = distributed.Client(f"tcp://{address}", timeout="10s")
    except (OSError, ValueError) as error:
        raise SledsimError(
            f"executor = 'dask://{address}': no Dask scheduler answers there: {error}"
        ) from None
    with client:
        yield _of_client(client, client.get_executor(pure=False))


def _of_client(client: Any, executor: Executor) -> Workers:
    """Return an executor of a Dask client."""
    try:
        client.wait_for_workers(1, timeout=_PATIENCE_S)
    except (TimeoutError, OSError):
        raise SledsimError(
            f"executor: the Dask scheduler at {client.scheduler.address} has no worker"
        ) from None
    lost_at: list[float] = []

    def check() -> None:
        if client.status == "running":
            lost_at.clear()
            return
        lost_at.append(time.monotonic())
        if lost_at[-1] - lost_at[0] > _PATIENCE_S or client.status == "closed":
            raise SledsimError("executor: the Dask scheduler was lost")

    threads = sum(client.nthreads().values())
    return Workers(executor, threads, shares_memory=False, check=check)
