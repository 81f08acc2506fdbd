"""The whole experiment: one run, many cuts, one result."""

from __future__ import annotations

import contextlib
import json
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledsim._core import SledsimError, SpecError
from sledsim.hardware import device_of
from sledsim.programs.crashes import kept, run, strata
from sledsim.programs.crashes.result import CutResult, Result
from sledsim.programs.crashes.trial import Trial, Trials
from sledsim.programs.folders import need_empty, need_room, work_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sledsim.programs.crashes.kept import Kept
    from sledsim.programs.crashes.setup import Setup
    from sledsim.programs.crashes.strata import Instant

AT_ONCE = 2
"""How many cuts are tried at once."""


def experiment(
    setup: Setup,
    *,
    cuts: int = 200,
    seed: int = 1,
    patience_s: float = 60.0,
    fsck: bool = False,
    folder: Path | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Result:
    """Run a program once on an emulated device, and fail its power at many instants of that run.

    Parameters
    ----------
    setup
        Program, file system and device.
    cuts
        At how many instants the power fails.
    seed
        Seed of the instants.
    patience_s
        How long the check of one cut may take.
    fsck
        Look the file system over after every check; by default only after bad ones.
    folder
        An empty folder that keeps the recording, and each bad outcome with its image.
    tell
        Called with a line about each step.
    """
    if cuts < 1:
        raise SpecError(f"cuts = {cuts}: must be at least 1")
    _need_patience(patience_s)
    program = setup.made_program()
    file_system = setup.made_file_system(program)
    setup.need(program, file_system)
    served = device_of(setup.export().device)
    if folder is not None:
        need_empty(folder)
        need_room(folder)
    with _working() as work:
        keep = work / "kept" if folder is None else folder
        keep.mkdir(exist_ok=True)
        title = f"{program} on {file_system}, {served.name}"
        tell(f"{title}: fills the device, runs")
        try:
            made = run.record(setup, program, file_system, work, keep)
        except BaseException:
            kept.remove_run(keep)
            raise
        found = kept.Kept(keep, setup, made, title)
        facts, instants = _drawn(found, cuts, seed)
        found.save(facts, instants)
        trials = Trials(program, file_system, work, patience_s, made.journal, fsck)
        numbered = list(enumerate(instants, 1))
        tell(f"{title}: {len(numbered)} cuts")
        results = _tried(found, trials, numbered, tell, folder is not None)
        result = Result(setup, facts, results, title)
        if folder is not None:
            (folder / "result.json").write_text(
                json.dumps(result.to_dict(), indent=1), encoding="utf-8"
            )
        return result


def replay(
    folder: Path,
    number: int,
    *,
    program: str | None = None,
    device: str | None = None,
    patience_s: float = 60.0,
) -> Result:
    """Repeat one cut of an experiment that was kept.

    Parameters
    ----------
    folder
        The one that `experiment` kept it in.
    number
        That of the cut, from 1.
    program, device
        Those that are asked for; ``None`` for those of the folder.
    patience_s
        How long the check may take.

    Raises
    ------
    SledsimError
        If the folder keeps no experiment, another one, or no such cut; if a file is damaged.
    """
    _need_patience(patience_s)
    found, facts, instants = kept.load(folder)
    for name, asked in (("program", program), ("device", device)):
        if asked not in (None, (there := getattr(found.setup, name))):
            raise SpecError(f"{name} = {asked}: {folder} keeps an experiment of {name} {there}")
    if not 1 <= number <= len(instants):
        raise SpecError(f"--replay {number}: {folder} keeps cuts 1 to {len(instants)}")
    found.check_outcome(number)
    made = found.setup.made_program()
    file_system = found.setup.made_file_system(made)
    found.setup.need(made, file_system)
    with _working() as work:
        trials = Trials(made, file_system, work, patience_s, found.run.journal, fsck=True)
        results = _tried(found, trials, [(number, instants[number - 1])], lambda _: None, False)
        return Result(found.setup, facts, results, found.title)


def _need_patience(patience_s: float) -> None:
    if not 0 < patience_s < 1e6:
        raise SpecError(f"patience = {patience_s:g}: must be a number of seconds above 0")


@contextlib.contextmanager
def _working() -> Iterator[Path]:
    """Give a folder for the time of the experiment, in memory if there is some."""
    with work_folder("sledsim-crash-") as folder:
        need_room(folder)
        yield folder


def _drawn(found: Kept, cuts: int, seed: int) -> tuple[dict[str, Any], list[Instant]]:
    """Draw the instants; return what is known of the run beside them."""
    requests = found.requests()
    logs, data = found.run.places
    kinds = [strata.kind_of(request, logs, data) for request in requests]
    first, last = window = found.window_ns
    instants = strata.drawn(requests, kinds, window, cuts, seed)
    ours = [
        (request, kind)
        for request, kind in zip(requests, kinds, strict=True)
        if first <= request["arrival_ns"] <= last
    ]
    writes = [request for request, _ in ours if request["op"] == "write"]
    facts = {
        "device": found.recording.device,
        "promise": found.recording.promise,
        "duration_s": (last - first) / 1e9,
        "transactions": len(found.acknowledged(last)),
        "requests": len(ours),
        "writes": len(writes),
        "blocks_written": sum(request["blocks"] for request in writes),
        "flushes": sum(kind == "flush" for _, kind in ours),
        "seed": seed,
    }
    return facts, instants


def _tried(
    found: Kept,
    trials: Trials,
    instants: Sequence[tuple[int, Instant]],
    tell: Callable[[str], None],
    keep: bool,
) -> list[CutResult]:
    """Try cuts, equal ones once; keep the images of bad ones."""
    first_of: dict[tuple[str, int], int] = {}
    futures: dict[int, Future[Trial]] = {}
    places: dict[int, tuple[Instant, int, dict[str, Any], int]] = {}
    slots = threading.Semaphore(AT_ONCE + 1)  # a cut holds its image until it is tried
    done = threading.Event()

    def work(number: int, cut: Any, lines: list[bytes]) -> Trial:
        try:
            if done.is_set():
                raise SledsimError("interrupted")
            trial = trials(number, cut, lines)
            if keep and not trial.verdict.is_good:
                found.keep_image(number, cut)
            return trial
        finally:
            slots.release()

    with ThreadPoolExecutor(AT_ONCE) as pool:
        try:
            for number, instant in instants:
                cut = found.recording.cut(instant.at_ns)
                lines = found.acknowledged(instant.at_ns)
                facts = {k: v for k, v in cut.facts.items() if not isinstance(v, list | dict)}
                key = (str(facts["digest"]), len(lines))
                first = first_of.setdefault(key, number)
                places[number] = (instant, len(lines), facts, first)
                if first == number:
                    slots.acquire()
                    futures[number] = pool.submit(work, number, cut, lines)
                for other in [n for n, future in futures.items() if future.done()]:
                    futures[other].result()  # an error ends the experiment now
                if number % 50 == 0:
                    tell(f"{number} of {len(instants)} cuts")
            results = [
                CutResult(
                    number,
                    instant,
                    acknowledged,
                    facts,
                    _own(futures[first].result(), facts),
                    None if first == number else first,
                )
                for number, (instant, acknowledged, facts, first) in places.items()
            ]
        except BaseException:
            done.set()
            raise
    if keep:
        for result in results:
            if not result.trial.verdict.is_good:
                found.keep_outcome(result)
    return results


def _own(trial: Trial, facts: dict[str, Any]) -> Trial:
    """Return a trial with the device's own times; cuts with equal images share the others."""
    times = {"startup": facts["startup_ns"] / 1e6, "recovery": facts["recovery_ns"] / 1e6}
    work = trial.work | {"device": facts["recovery_ns"] > 0}
    return replace(trial, times_ms=trial.times_ms | times, work=work)
