"""An experiment in a folder: its recording, its instants, and each bad outcome with its image."""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import asdict
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sledsim import _core
from sledsim._core import SledsimError
from sledsim._input_files import content, refuse_special
from sledsim.programs.crashes import sealed
from sledsim.programs.crashes.run import ACKNOWLEDGED, RECORDING, Run
from sledsim.programs.crashes.setup import Setup
from sledsim.programs.crashes.strata import Instant

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sledsim.emulator.recordings import DataRecording
    from sledsim.programs.crashes.result import CutResult

_FILE = "experiment.json"
_BAD = "bad"


class Kept:
    """A run and its recording."""

    def __init__(self, folder: Path, setup: Setup, run: Run, title: str) -> None:
        """Load the recording of a run from its folder."""
        from sledsim.emulator.recordings import DataRecording  # it imports much

        self.folder = folder
        self.setup = setup
        self.run = run
        self.title = title
        self.recording: DataRecording = DataRecording.load(folder / RECORDING)
        try:
            self._acknowledged = content(folder / ACKNOWLEDGED)
        except OSError as error:
            raise SledsimError(f"{folder / ACKNOWLEDGED}: {error.strerror}") from None
        self._images: dict[int, str] = {}
        """The digests of the images kept, by the numbers of their cuts."""

    @property
    def acknowledged_sha256(self) -> str:
        """The digest of the file of what was acknowledged."""
        return hashlib.sha256(self._acknowledged).hexdigest()

    def _model_ns(self, clock_ns: int) -> int:
        return int((clock_ns - self.recording.clock_start_ns) * self.recording.speed)

    @property
    def window_ns(self) -> tuple[int, int]:
        """Begin and end of the load, in model time."""
        first, last = self.run.window_ns
        return self._model_ns(first), self._model_ns(last)

    def requests(self) -> list[dict[str, Any]]:
        """Return the requests of the recording."""
        import pyarrow as pa  # an extra

        rows: list[dict[str, Any]] = pa.table(self.recording.rows).to_pylist()
        return rows

    @cached_property
    def _lines(self) -> list[tuple[int, bytes]]:
        """The lines of what was acknowledged, with their model times."""
        path = self.folder / ACKNOWLEDGED
        found = []
        for number, line in enumerate(self._acknowledged.splitlines(keepends=True), 1):
            fields = line.split()
            if len(fields) != 2 or not fields[1].isdigit():
                text = line.decode(errors="replace").strip()
                raise SledsimError(f"{path}: line {number}: '{text}': must be TOKEN MONOTONIC_NS")
            found.append((self._model_ns(int(fields[1])), line))
        return found

    def acknowledged(self, at_ns: int) -> list[bytes]:
        """Return the lines of what was acknowledged by an instant of model time."""
        return [line for time_ns, line in self._lines if time_ns <= at_ns]

    def save(self, facts: dict[str, Any], instants: Sequence[Instant]) -> None:
        """Write what a replay needs."""
        document = {
            "title": self.title,
            "setup": self.setup.to_dict(),
            "run": asdict(self.run),
            "facts": facts,
            "cuts": [[each.at_ns, each.stratum] for each in instants],
            "acknowledged_sha256": self.acknowledged_sha256,
        }
        sealed.write(self.folder / _FILE, document)

    def keep_image(self, number: int, cut: Any) -> None:
        """Keep the image of a cut."""
        (self.folder / _BAD).mkdir(exist_ok=True)
        self._images[number] = cut.save(str(self.folder / _BAD / f"{number:04}.img"))

    def keep_outcome(self, result: CutResult) -> None:
        """Write what a cut came to, with the digest of its image."""
        of = result.same_as or result.number
        image = {"image": f"{of:04}.img", "image_sha256": self._images[of]}
        path = self.folder / _BAD / f"{result.number:04}.json"
        sealed.write(path, result.to_dict() | image)

    def check_outcome(self, number: int) -> None:
        """Compare what is kept of a bad cut with its digests."""
        path = self.folder / _BAD / f"{number:04}.json"
        if not path.exists():  # a good one
            return
        about = sealed.read(path)
        image = self.folder / _BAD / about["image"]
        refuse_special(image)
        wanted = about["image_sha256"]
        if (found := _core.image_digest(str(image))) != wanted:
            raise SledsimError(
                f"{image}: is damaged: its digest is {found}, and {path.name} says {wanted}"
            )


def load(folder: Path) -> tuple[Kept, dict[str, Any], list[Instant]]:
    """Read an experiment: the run, what is known of it, its instants."""
    try:
        document = sealed.read(folder / _FILE)
        setup, run = Setup.of(document["setup"]), Run.of(document["run"])
        instants = [Instant(int(at), str(stratum)) for at, stratum in document["cuts"]]
        facts, title = dict(document["facts"]), str(document["title"])
        wanted = str(document["acknowledged_sha256"])
    except OSError as error:
        raise SledsimError(
            f"{folder / _FILE}: {error.strerror}; --folder must be one that an experiment kept"
        ) from None
    except (ValueError, KeyError, TypeError) as error:
        raise SledsimError(
            f"{folder / _FILE}: does not describe an experiment ({error!r})"
        ) from None
    found = Kept(folder, setup, run, title)
    if (digest := found.acknowledged_sha256) != wanted:
        raise SledsimError(
            f"{folder / ACKNOWLEDGED}: is damaged: its SHA-256 is {digest}, not {wanted}"
        )
    if found.recording.device != facts["device"]:
        raise SledsimError(
            f"{folder}: the recording is of {found.recording.device}, not of {facts['device']}"
        )
    return found, facts, instants


def remove_run(folder: Path) -> None:
    """Remove the files of a run that has failed."""
    shutil.rmtree(folder / RECORDING, ignore_errors=True)
    (folder / ACKNOWLEDGED).unlink(missing_ok=True)
