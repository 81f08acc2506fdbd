"""Scripts of the user's own that fill, load and check a place."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from sledsim._core import SledsimError
from sledsim.applications.processes import ending_with_us
from sledsim.crash_app.outcomes import Verdict
from sledsim.crash_app.program import CrashProgram

if TYPE_CHECKING:
    from sledsim.crash_app.program import Inspection

EXIT_CODES = {
    0: "whole",
    10: "lost_unacknowledged",
    11: "lost_acknowledged",
    12: "corrupt_detected",
    13: "corrupt_silent",
}
"""What the exit code of a check script says; any other is a check that failed itself."""
_PATIENCE_S = 3600.0
"""How long the scripts that fill and load may take."""


class Scripts(CrashProgram):
    """A load and a check by programs of the user."""

    name = "scripts"
    title = "Own scripts"
    about = (
        "SLEDSIM_FOLDER is the mounted folder (SLEDSIM_DEVICE: the file of the raw device); the "
        "load appends 'TOKEN MONOTONIC_NS' to SLEDSIM_ACKNOWLEDGED after each step that is to "
        "last, and the check gets those before the cut. Exit codes of the check: 0 whole, 10 lost "
        "unacknowledged only, 11 lost acknowledged, 12 corrupt, detected, 13 corrupt, silent."
    )
    takes_device = True

    def __init__(self, fill: Path | None, load: Path, check: Path, log_files: list[str]) -> None:
        """Take the scripts, and patterns of the files that are logs.

        Raises
        ------
        SledsimError
            If a script is missing or cannot be run.
        """
        super().__init__({})
        given = {"fill": fill, "load": load, "check": check}
        self.scripts = {kind: path and path.absolute() for kind, path in given.items()}
        for kind, path in self.scripts.items():
            if path is None:
                continue
            if not path.is_file():
                raise SledsimError(f"--{kind} {path}: must be a script that exists")
            if not os.access(path, os.X_OK):
                raise SledsimError(f"--{kind} {path}: must be executable (chmod +x)")
        self.log_files = tuple(log_files)

    def fill(self, place: Path) -> None:
        """Run the script that fills, if there is one."""
        if self.scripts["fill"] is not None:
            self._run("fill", place)

    def run(self, place: Path, acknowledged: Path) -> None:
        """Run the load."""
        self._run("load", place, acknowledged)

    def check(self, place: Path, inspection: Inspection) -> Verdict:
        """Run the check; its exit code is the outcome, its last line the text."""
        inspection.begins()
        try:
            code, said = self._ended("check", place, inspection.acknowledged, inspection.patience_s)
        except subprocess.TimeoutExpired:
            return Verdict("check_hung", f"did not end in {inspection.patience_s:g} s")
        inspection.ends()
        if code in EXIT_CODES:
            return Verdict(EXIT_CODES[code], said)
        known = ", ".join(map(str, EXIT_CODES))
        return Verdict("check_failed", f"ended with {code}, none of {known}: {said or 'no word'}")

    def _run(self, kind: str, place: Path, acknowledged: Path | None = None) -> None:
        try:
            code, said = self._ended(kind, place, acknowledged, _PATIENCE_S)
        except subprocess.TimeoutExpired:
            raise SledsimError(
                f"--{kind} {self.scripts[kind]}: took more than {_PATIENCE_S:g} s"
            ) from None
        if code != 0:
            raise SledsimError(
                f"--{kind} {self.scripts[kind]}: ended with {code}: {said or 'no word'}"
            )

    def _ended(
        self, kind: str, place: Path, acknowledged: Path | None, patience_s: float
    ) -> tuple[int, str]:
        """Run a script to its end; return its exit code and the last line that it printed."""
        where = "SLEDSIM_FOLDER" if place.is_dir() else "SLEDSIM_DEVICE"
        environment = os.environ | {where: str(place)}
        if acknowledged is not None:
            environment["SLEDSIM_ACKNOWLEDGED"] = str(acknowledged)
        try:
            started = subprocess.Popen(
                ending_with_us([str(self.scripts[kind])]),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                env=environment,
                start_new_session=True,
            )
        except OSError as error:
            raise SledsimError(
                f"--{kind} {self.scripts[kind]}: cannot be run: {error.strerror}"
            ) from None
        with started as process:
            try:
                said, _ = process.communicate(timeout=patience_s)
            finally:
                # End all processes that it has started: they must not use the device any more.
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
        lines = [line.strip() for line in said.splitlines() if line.strip()]
        return process.returncode, lines[-1] if lines else ""
