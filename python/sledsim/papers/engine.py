"""Runs items of papers in parallel, and reuses their results until something changes."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import multiprocessing
import os
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from sledsim import _core
from sledsim._core import SledsimError
from sledsim.papers import judge, model, simulations, versions

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from pathlib import Path

    from sledsim.papers.model import Found, Item, Published


@dataclass(frozen=True, slots=True)
class Result:
    """The result of an item."""

    item: Item
    document: dict[str, Any]
    """As in the JSON file: ``id``, ``verdict``, ``values``, ``series``, ``caution``, ..."""
    svg: str
    png: bytes

    @property
    def cautions(self) -> list[dict[str, Any]]:
        """The cautions of its runs, by kind, as :attr:`Run.cautions <sledsim.Run.cautions>`."""
        found: list[dict[str, Any]] = self.document["caution"]
        return found

    @property
    def verdict(self) -> judge.Verdict:
        """The verdict on all values together."""
        verdict: judge.Verdict = self.document["verdict"]
        return verdict


def run(
    items: Sequence[Item],
    folder: Path,
    *,
    quick: bool = False,
    workers: int | None = None,
    progress: Callable[[int, int | None], object] | None = None,
) -> list[Result]:
    """Simulate items and write their JSON, PNG and SVG files.

    Items whose files exist, made by the same code from the same data, are read: see
    :mod:`sledsim.papers.versions`. The others share their simulations, whose outcomes are stored in
    the folder ``SLEDSIM_OUTCOMES`` of the environment, or in ``folder/outcomes``. The same code
    writes the same files, byte for byte, but for items that take real time.

    Parameters
    ----------
    items
        The items, as from :func:`sledsim.papers.find`.
    folder
        Where the files go: ``folder/PAPER/ITEM.json``, below ``folder/quick`` if ``quick``.
    quick
        Simulate fewer requests.
    workers
        How many processes; as many as there are cores by default. 1 stays in this one.
    progress
        Is called with the number of items done and of all; what it raises ends the work.

    Raises
    ------
    SledsimError
        For a file that cannot be written, a missing library, or a worker that died.
    """
    outcomes = simulations.folder_of(folder)
    folder = folder / "quick" if quick else folder
    _need_matplotlib()
    beat = progress or (lambda _done, _of: None)
    kept = {
        item.id: result
        for item in items
        if (result := _read(item, folder, quick=quick)) is not None
    }
    missing = [item.id for item in items if item.id not in kept]
    done = dict(kept)

    def keep(result: Result) -> None:
        _write(result, folder, quick=quick)
        done[result.item.id] = result
        beat(len(done), len(items))

    beat(len(done), len(items))
    alone = [item.id for item in items if item.real_time and item.id in missing and not quick]
    together = [name for name in missing if name not in alone]
    workers = min(workers or os.cpu_count() or 1, len(together))
    if workers > 1:
        each = partial(_simulate_in, outcomes, quick=quick)
        _in_processes(together, each, workers, keep, lambda: beat(len(done), len(items)))
        together = []
    for name in (*together, *alone):
        keep(_simulate_in(outcomes, name, quick=quick))
    return [done[item.id] for item in items]


def _in_processes(
    names: Sequence[str],
    each: Callable[[str], Result],
    workers: int,
    keep: Callable[[Result], None],
    beat: Callable[[], object],
) -> None:
    context = multiprocessing.get_context("spawn")
    before = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_ignore_interrupts)
    try:
        running = {pool.submit(each, name) for name in names}
        pool.submit(int)  # else the pool does not watch the last process that it started
        while running:
            finished, running = wait(running, timeout=0.2, return_when=FIRST_COMPLETED)
            for future in finished:
                keep(future.result())
            beat()
    except BaseException as error:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in set(multiprocessing.active_children()) - before:
            process.terminate()
        if isinstance(error, BrokenProcessPool):
            msg = "a process that simulates items has died; was there enough memory?"
            raise SledsimError(msg) from None
        raise
    pool.shutdown()


def _ignore_interrupts() -> None:
    """Leave Ctrl-C, which a terminal sends to all, to the parent."""
    import signal  # noqa: PLC0415 (in the workers only)

    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _simulate_in(outcomes: Path, name: str, *, quick: bool) -> Result:
    with simulations.stored_in(outcomes):
        return simulate(name, quick=quick)


def simulate(name: str, *, quick: bool) -> Result:
    """Simulate the item of that id, judge its values and draw it."""
    from sledsim.papers import pictures  # noqa: PLC0415 (needs an extra)

    (item,) = model.find([name])
    with simulations.collecting() as runs:
        found: Found = item.module.simulate(quick=quick)
    document = _document(item, found, quick) | {"caution": simulations.together(runs)}
    document = _plain(item, document)
    png, svg = pictures.draw(item, found, document)
    return Result(item, document, svg, png)


def _plain(item: Item, document: dict[str, Any]) -> dict[str, Any]:
    """Return a document as it would be read from its file."""
    try:
        plain: dict[str, Any] = json.loads(to_json(document))
    except (TypeError, ValueError) as error:
        msg = f"{item.id}: what it found does not go into JSON: {error}"
        raise SledsimError(msg) from None
    return plain


def _document(item: Item, found: Found, quick: bool) -> dict[str, Any]:
    _same(item, "values", found.values, {value.key for value in item.values})
    _same(item, "hypotheses", found.hypotheses, item.hypotheses)
    for name, other in found.hypotheses.items():
        known = {value.key for value in item.values}
        _same(item, f"values under {name}", known.union(other), known)
    values = [_judged(value, found) for value in item.values]
    return {
        "id": item.id,
        "title": item.title,
        "place": item.place,
        "verdict": judge.worst(value["verdict"] for value in values),
        "quick": quick,
        "how": "\n\n".join(part for part in (item.how, found.note) if part),
        "hypotheses": item.hypotheses,
        "values": values,
        "series": found.series,
    }


def _same(item: Item, what: str, own: Collection[str], stated: Collection[str]) -> None:
    if different := sorted(set(own) ^ set(stated)):
        msg = f"{item.id}: {what} {', '.join(different)}: only its code or its data file has them"
        raise SledsimError(msg)


def _judged(value: Published, found: Found) -> dict[str, Any]:
    simulated = found.values[value.key]
    others = {
        name: other[value.key] for name, other in found.hypotheses.items() if value.key in other
    }
    return asdict(value) | {
        "simulated": simulated,
        "verdict": judge.judge(value, simulated, others),
        "hypotheses": {
            name: {"simulated": other, "verdict": judge.judge(value, other)}
            for name, other in others.items()
        },
    }


def _need_matplotlib() -> None:
    try:
        importlib.metadata.version("matplotlib")
    except importlib.metadata.PackageNotFoundError:
        msg = "papers need matplotlib: pip install matplotlib"
        raise SledsimError(msg) from None


def _files(item: Item, folder: Path) -> dict[str, Path]:
    return {
        end: folder / item.paper / f"{item.name}.{end}" for end in ("json", "png", "svg", "key")
    }


def _read(item: Item, folder: Path, *, quick: bool) -> Result | None:
    """Read the result of an earlier run, if it is complete and of this version and item."""
    files = _files(item, folder)
    try:
        contents = {end: file.read_bytes() for end, file in files.items()}
    except OSError:
        return None
    if contents.pop("key") != _key(item, contents, quick=quick):
        return None
    document = json.loads(contents["json"])
    if (document["id"], document["quick"]) != (item.id, quick):
        return None
    return Result(item, document, contents["svg"].decode(), contents["png"])


def _key(item: Item, contents: dict[str, bytes], *, quick: bool) -> bytes:
    digest = hashlib.sha256(versions.version_of(item, quick=quick).encode())
    for name in item.external:
        file = model.external_file(name)
        digest.update(f"{name} {_digest_of(file)}\n".encode())
    for end in ("json", "png", "svg"):
        digest.update(hashlib.sha256(contents[end]).digest())
    return digest.hexdigest().encode()


def _digest_of(file: Path | None) -> str | None:
    if file is None:
        return None
    try:
        with file.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError as error:
        msg = f"{file}: cannot be read: {error.strerror}"
        raise SledsimError(msg) from None


def _write(result: Result, folder: Path, *, quick: bool) -> None:
    """Write the files of an item; without a key, and never to be read, if its code has changed."""
    files = _files(result.item, folder)
    contents = {
        "json": to_json(result.document).encode(),
        "png": result.png,
        "svg": result.svg.encode(),
    }
    try:
        files["json"].parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = f"{files['json'].parent}: cannot be made: {error.strerror}"
        raise SledsimError(msg) from None
    if versions.is_current(result.item, quick=quick):
        contents["key"] = _key(result.item, contents, quick=quick)
    else:
        files["key"].unlink(missing_ok=True)
    for end, content in contents.items():
        _core.write_atomically(files[end], content)


def to_json(document: object) -> str:
    """Return a document as JSON text, the same for the same document."""
    return json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False) + "\n"
