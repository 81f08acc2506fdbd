"""Runs items of papers in parallel, and reuses their results until something changes."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import inspect
import json
import os
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from sledsim import _core, executors
from sledsim._above import Shown
from sledsim._arguments import placed
from sledsim._core import OutputError, SledsimError, SpecError
from sledsim._progress import told
from sledsim.papers import documents, model, simulations, versions
from sledsim.results import cautions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from sledsim._progress import ProgressLike
    from sledsim.papers.judge import Verdict
    from sledsim.papers.model import Found, Item, Reading, Setup
    from sledsim.show.sheet import Sheet

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Result(Shown):
    """The result of an item."""

    item: Item
    document: dict[str, Any]
    """As in the JSON file: ``id``, ``verdict``, ``values``, ``series``, ``caution``, ..."""
    svg: str
    png: bytes

    def __repr__(self) -> str:
        mark = cautions.mark(self.cautions)
        verdict = f"{self.verdict.replace('_', ' ')}{' ' * bool(mark)}{mark}"
        return f"<sledsim result of {self.item.id}: {verdict}, values: {len(self.item.values)}>"

    def _sheet(self) -> Sheet:
        from sledsim.papers import shown  # it imports this

        return shown.result(self)

    @property
    def cautions(self) -> list[dict[str, Any]]:
        """The cautions of its runs, by kind, as :attr:`Run.cautions <sledsim.Run.cautions>`."""
        found: list[dict[str, Any]] = self.document["caution"]
        return found

    @property
    def verdict(self) -> Verdict:
        """The verdict on all values together."""
        verdict: Verdict = self.document["verdict"]
        return verdict


def run(
    items: Sequence[Item],
    folder: Path,
    *,
    quick: bool = False,
    reading: str = "",
    workers: int | None = None,
    progress: ProgressLike = None,
    finished: Callable[[Result, float], object] | None = None,
) -> list[Result]:
    """Simulate items and write their JSON, PNG and SVG files.

    Items whose files exist, made by the same code from the same data, are read: see
    :mod:`sledsim.papers.versions`. The others share their simulations, whose outcomes are stored in
    the folder ``SLEDSIM_OUTCOMES`` of the environment, or in ``folder/outcomes``. The same code
    writes the same files, byte for byte.

    Parameters
    ----------
    items
        The items, as from :func:`sledsim.papers.find`.
    folder
        Where the files go: ``folder/PAPER/ITEM.json``, below ``folder/quick`` if ``quick``, and
        below ``readings/READING`` of that for a reading.
    quick
        Simulate fewer requests.
    reading
        A reading of the paper of the items. Their values, figures and verdicts are then those
        under it alone.
    workers
        How many processes; as many as there are cores by default. 1 stays in this one.
    progress
        ``True`` for a bar on stderr, or what is called with the number of items done and of all;
        what it raises ends the work.
    finished
        Is called with each result that was simulated and the seconds that it took.

    Raises
    ------
    SledsimError
        For a reading that an item does not have, a file that cannot be written, a missing library,
        or a worker that died.
    """
    for item in items if reading else ():
        _reading_of(item, reading)
    outcomes = simulations.folder_of(folder)
    folder = folder / "quick" if quick else folder
    folder = folder / "readings" / reading if reading else folder
    _need_matplotlib()
    done = {
        item.id: result
        for item in items
        if (result := _read(item, folder, quick=quick, reading=reading)) is not None
    }
    missing = _longest_first([item for item in items if item.id not in done])

    each = partial(_simulate_in, outcomes, quick=quick, reading=reading)
    with told(progress, "items") as beat:

        def tell() -> None:
            if beat is not None:
                beat(len(done), len(items))

        def keep(result: Result, seconds: float) -> None:
            _write(result, folder)
            done[result.item.id] = result
            if finished is not None:
                finished(result, seconds)
            tell()

        tell()
        for _, (result, seconds) in spread(each, missing, workers, tell):
            keep(result, seconds)
    return [done[item.id] for item in items]


def spread(
    function: Callable[[T], R], tasks: Sequence[T], workers: int | None, beat: Callable[[], object]
) -> Iterator[tuple[T, R]]:
    """Yield tasks with their results as they complete, of several processes or in this one.

    Parameters
    ----------
    function, tasks, beat
        As for :func:`sledsim.executors.completed`.
    workers
        How many processes, as for :func:`run`.
    """
    workers = min(workers or os.cpu_count() or 1, len(tasks))
    if workers > 1:
        with executors.workers(f"processes:{workers}") as pool:
            yield from executors.completed(pool, function, tasks, beat)
    else:
        for task in tasks:
            yield task, function(task)


def _longest_first(items: Sequence[Item]) -> list[str]:
    """Return the ids of items in the order to run them: the latest paper first.

    Its items take longest, and those of the first paper least: no worker is left with a long one
    at the end. The items of a paper stay in their order.
    """
    of: dict[str, list[str]] = {}
    for item in items:
        of.setdefault(item.paper, []).append(item.id)
    return [name for names in reversed(of.values()) for name in names]


def _reading_of(item: Item, name: str) -> Reading:
    """Return a reading of an item by its name."""
    for reading in item.readings:
        if reading.name == name:
            return reading
    known = ", ".join(reading.name for reading in item.readings) or "none"
    raise placed(
        SpecError,
        f"{item.id}: reading = '{name}': must be one of its readings: {known}",
        key="reading",
    )


def _simulate_in(outcomes: Path, name: str, *, quick: bool, reading: str) -> tuple[Result, float]:
    """Simulate an item; return its result and the seconds that it took, which no file has."""
    begun = time.monotonic()
    with simulations.stored_in(outcomes):
        result = simulate(name, quick=quick, reading=reading)
    return result, time.monotonic() - begun


def simulate(name: str, *, quick: bool, reading: str = "") -> Result:
    """Simulate the item of that id, judge its values and draw it.

    It is simulated under the set-up of its paper, under each of its readings and with that of
    DiskSim, or under one reading alone.
    """
    from sledsim.papers import pictures  # needs an extra

    (item,) = model.find([name])
    readings = [_reading_of(item, reading)] if reading else item.readings
    setups = {own.name: own.setup for own in readings}
    setups = setups if reading else {"": item.setup, **setups}
    with simulations.collecting() as runs:
        found = {own: found_of(item, setup, quick=quick) for own, setup in setups.items()}
        other = None if reading else item.disksim
        disksim = None if other is None else found_of(item, other.setup, quick=quick)
        document = documents.document(item, found, quick=quick, reading=reading, disksim=disksim)
    document = _plain(item, document | {"caution": simulations.together(runs)})
    png, svg = pictures.draw(item, found[reading], document)
    return Result(item, document, svg, png)


def found_of(item: Item, setup: Setup, *, quick: bool) -> Found:
    """Simulate an item under a set-up."""
    with _named(item):
        simulate = item.module.simulate
        takes_setup = "setup" in inspect.signature(simulate).parameters
        if (item.readings or item.disksim) and not takes_setup:
            raise SledsimError(f"{item.id}: it has readings, and its simulate() takes no setup")
        keys = {"setup": setup} if takes_setup else {}
        found: Found = simulate(quick=quick, **keys)
    return found


@contextlib.contextmanager
def _named(item: Item) -> Iterator[None]:
    """Say which library an item needs, if one is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise SledsimError(f"{item.id} needs {error.name}: pip install {error.name}") from None


def _plain(item: Item, document: dict[str, Any]) -> dict[str, Any]:
    """Return a document as it would be read from its file."""
    try:
        plain: dict[str, Any] = json.loads(to_json(document))
    except (TypeError, ValueError) as error:
        raise SledsimError(f"{item.id}: what it found does not go into JSON: {error}") from None
    return plain


def _need_matplotlib() -> None:
    try:
        importlib.metadata.version("matplotlib")
    except importlib.metadata.PackageNotFoundError:
        raise SledsimError("papers need matplotlib: pip install matplotlib") from None


def _files(item: Item, folder: Path) -> dict[str, Path]:
    return {
        end: folder / item.paper / f"{item.name}.{end}" for end in ("json", "png", "svg", "key")
    }


def _read(item: Item, folder: Path, *, quick: bool, reading: str) -> Result | None:
    """Read the result of an earlier run, if it is complete and of this version and item."""
    files = _files(item, folder)
    try:
        contents = {end: file.read_bytes() for end, file in files.items()}
    except OSError:
        return None
    if contents.pop("key") != _key(item, contents):
        return None
    document = json.loads(contents["json"])
    if (document["id"], document["quick"], document["reading"]) != (item.id, quick, reading):
        return None
    return Result(item, document, contents["svg"].decode(), contents["png"])


def _key(item: Item, contents: dict[str, bytes]) -> bytes:
    digest = hashlib.sha256(versions.version_of(item).encode())
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
        raise SledsimError(f"{file}: cannot be read: {error.strerror}") from None


def _write(result: Result, folder: Path) -> None:
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
        raise placed(
            OutputError,
            f"{files['json'].parent}: cannot be made: {error.strerror}",
            file=files["json"].parent,
        ) from None
    if versions.is_current(result.item):
        contents["key"] = _key(result.item, contents)
    else:
        files["key"].unlink(missing_ok=True)
    for end, content in contents.items():
        _core.write_atomically(files[end], content)


def to_json(document: object) -> str:
    """Return a document as JSON text, the same for the same document."""
    return json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False) + "\n"
