"""Scripts of the user's own that fill, load and check a place."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from sledsim._core import SledsimError
from sledsim.programs.crashes.outcomes import Verdict
from sledsim.programs.processes import TookTooLongError, run_to_end
from sledsim.programs.program import CrashProgram

if TYPE_CHECKING:
    from sledsim.programs.crashes.outcomes import Inspection

EXIT_CODES = {
    0: "whole",
    10: "lost_unacknowledged",
    11: "lost_acknowledged",
    12: "corrupt_detected",
    13: "corrupt_silent",
}
"""What the exit code of a check script says; any other is a check that failed itself."""


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
        """Take the scripts, and patterns of the files that are logs."""
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
        except TookTooLongError:
            return inspection.hung()
        inspection.ends()
        if code in EXIT_CODES:
            return Verdict(EXIT_CODES[code], said)
        known = ", ".join(map(str, EXIT_CODES))
        return Verdict("check_failed", f"ended with {code}, none of {known}: {said or 'no word'}")

    def _run(self, kind: str, place: Path, acknowledged: Path | None = None) -> None:
        code, said = self._ended(kind, place, acknowledged)
        if code != 0:
            raise SledsimError(
                f"--{kind} {self.scripts[kind]}: ended with {code}: {said or 'no word'}"
            )

    def _ended(
        self, kind: str, place: Path, acknowledged: Path | None, patience_s: float | None = None
    ) -> tuple[int, str]:
        """Run a script to its end; return its exit code and the last line that it printed."""
        where = "SLEDSIM_FOLDER" if place.is_dir() else "SLEDSIM_DEVICE"
        environment = os.environ | {where: str(place)}
        if acknowledged is not None:
            environment["SLEDSIM_ACKNOWLEDGED"] = str(acknowledged)
        done = run_to_end(
            f"--{kind} {self.scripts[kind]}",
            [str(self.scripts[kind])],
            patience_s=patience_s,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,  # all that it starts must not use the device any more
        )
        lines = [line.strip() for line in done.stdout.splitlines() if line.strip()]
        return done.returncode, lines[-1] if lines else ""
