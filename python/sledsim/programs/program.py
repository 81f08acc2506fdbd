"""The contract of programs: what they need, and how they are filled, run and checked."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from sledsim.programs.keys import Key, PlainNumber, Value, values_of
from sledsim.programs.processes import find

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from sledsim.programs.crashes.outcomes import Inspection, Verdict


class Program(ABC):
    """A program with its settings, which works in a place.

    The place is a mounted folder, or the file of a raw device.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    about: ClassVar[str]
    """Its work and its settings or its check, in a sentence or two."""
    keys: ClassVar[Mapping[str, Key]] = {}
    packages: ClassVar[Mapping[str, str]] = {}
    """Executables it needs, and how to install each."""
    folders: ClassVar[tuple[str, ...]] = ()
    """Folders of executables outside ``PATH``, as patterns."""

    def __init__(self, given: Mapping[str, Value]) -> None:
        """Take values for some of the keys; the others have their defaults."""
        self.values = values_of(self.name, self.keys, given)

    def __str__(self) -> str:
        changed = [
            f"{name}={value}"
            for name, value in self.values.items()
            if value != self.keys[name].default
        ]
        return f"{self.title} ({', '.join(changed)})" if changed else self.title

    def number(self, name: str) -> int:
        """Return the value of a key that is a whole number."""
        return int(self.values[name])

    def word(self, name: str) -> str:
        """Return the value of a key that is a name."""
        return str(self.values[name])

    def need(self) -> None:
        """Check that all executables are installed."""
        for name in self.packages:
            self.executable(name)

    def executable(self, name: str) -> str:
        """Return the path of an executable."""
        return find(name, self.packages[name], self.folders, owner=self.name)

    @abstractmethod
    def fill(self, place: Path) -> None:
        """Make the initial data, on a new file system."""


@dataclass(frozen=True)
class Ran:
    """The results of a run of a benchmark, beside its run time."""

    compute_s: float
    """Seconds of a processor, in the program and in the kernel for it."""
    report: dict[str, Any]
    """Figures that the program reports."""


class Benchmark(Program):
    """A program that is run on several devices.

    `fill` is called once; what it leaves is given to each device as an exact copy. `start` is
    called for each device, with cold caches.
    """

    keys: ClassVar[Mapping[str, PlainNumber]] = {}
    file_system: ClassVar[str] = "ext4"
    """One of `file_systems.KINDS`."""
    mount_options: ClassVar[str] = ""
    """For ``mount -o``."""
    read_ahead_kib: int | None = None
    """Read-ahead of the kernel; ``None`` for its default."""

    @abstractmethod
    def start(self, place: Path) -> AbstractContextManager[Callable[[], Ran]]:
        """Prepare a run on the data of `fill`.

        The function that it gives does the run; it is called once, and its time is the run time.
        All that was started has ended when the context is left, also after an exception.
        """


class CrashProgram(Program):
    """A program that does transactions, and checks what a failure of power has left of them."""

    mib: ClassVar[int] = 64
    """Size of its file system, in MiB."""
    data_files: tuple[str, ...] = ("**/*",)
    """Its data files, as patterns below the folder."""
    log_files: tuple[str, ...] = ()
    """Its logs and journals, as patterns below the folder; they are no data files."""
    takes_device: ClassVar[bool] = False
    """Whether it can work on a raw device, without a file system."""

    @abstractmethod
    def run(self, place: Path, acknowledged: Path) -> None:
        """Do the load, and append ``token monotonic_ns`` to a file after each transaction.

        That file is not on the device. A transaction begins when the one before it is acknowledged.
        """

    @abstractmethod
    def check(self, place: Path, inspection: Inspection) -> Verdict:
        """Recover the data after a cut and compare all of them with what they may be."""
