"""The contract of programs whose data must survive a failure of power."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from sledsim.applications.processes import find
from sledsim.crash_app.keys import Key, Value, values_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from sledsim.crash_app.outcomes import Verdict


def _nothing() -> None:
    pass


@dataclass
class Inspection:
    """What the check of a program needs, and what it reports beside its verdict."""

    acknowledged: Path
    """A file of the lines ``token monotonic_ns`` that were written before the power failed."""
    patience_s: float
    """How long the check may take."""
    begins: Callable[[], None] = field(default=_nothing)
    """Called when the program's own recovery begins."""
    ends: Callable[[], None] = field(default=_nothing)
    """Called when the program is back in service."""
    had_work: bool = False
    """Set by the check: whether the program's recovery had anything to do."""

    def count(self) -> int:
        """Return how many transactions were acknowledged before the power failed."""
        return len(self.acknowledged.read_bytes().splitlines())


class CrashProgram(ABC):
    """A program that fills a place, does transactions there, and checks what is left of them.

    The place is a mounted folder, or the file of a raw device.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    about: ClassVar[str]
    """Its work and its check, in a sentence or two."""
    keys: ClassVar[Mapping[str, Key]] = {}
    packages: ClassVar[Mapping[str, str]] = {}
    """Programs it needs, and how to install each."""
    folders: ClassVar[tuple[str, ...]] = ()
    """Folders of programs outside ``PATH``, as patterns."""
    mib: ClassVar[int] = 64
    """Size of its file system, in MiB."""
    data_files: tuple[str, ...] = ("**/*",)
    """Its data files, as patterns below the folder."""
    log_files: tuple[str, ...] = ()
    """Its logs and journals, as patterns below the folder; they are no data files."""
    takes_device: ClassVar[bool] = False
    """Whether it can work on a raw device, without a file system."""

    def __init__(self, given: Mapping[str, Value]) -> None:
        """Take values for some of the keys; the others have their defaults.

        Raises
        ------
        SledsimError
            For an unknown key, or a value that is not allowed.
        """
        self.values = values_of(self.name, self.keys, given)

    def __str__(self) -> str:
        changed = [
            f"{name}={value}"
            for name, value in self.values.items()
            if value != self.keys[name].default
        ]
        return f"{self.title} ({', '.join(changed)})" if changed else self.title

    def number(self, name: str) -> int:
        """Return the value of a key that is a number."""
        return int(self.values[name])

    def word(self, name: str) -> str:
        """Return the value of a key that is a name."""
        return str(self.values[name])

    def need(self) -> None:
        """Check that all programs are installed.

        Raises
        ------
        SledsimError
            If one is missing; the message says how to install it.
        """
        for program in self.packages:
            self.program(program)

    def program(self, name: str) -> str:
        """Return the path of a program.

        Raises
        ------
        SledsimError
            If it is missing.
        """
        return find(name, self.packages[name], self.folders, owner=self.name)

    @abstractmethod
    def fill(self, place: Path) -> None:
        """Make the initial data."""

    @abstractmethod
    def run(self, place: Path, acknowledged: Path) -> None:
        """Do the load, and append ``token monotonic_ns`` to a file after each transaction.

        That file is not on the device. A transaction begins when the one before it is acknowledged.

        Raises
        ------
        SledsimError
            If the load fails.
        """

    @abstractmethod
    def check(self, place: Path, inspection: Inspection) -> Verdict:
        """Recover the data after a cut and compare all of them with what they may be.

        Raises
        ------
        SledsimError
            If the check cannot be done at all.
        """
