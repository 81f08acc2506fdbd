"""The contract of applications that run on emulated devices."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from sledsim._arguments import placed
from sledsim._core import SpecError
from sledsim.applications.processes import find

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path


@dataclass(frozen=True)
class Key:
    """A numeric setting of an application."""

    default: float
    least: float
    most: float
    what: str
    """Its meaning and unit."""


@dataclass(frozen=True)
class Ran:
    """The results of a run of an application, beside its run time."""

    compute_s: float
    """Seconds of a processor, in the program and in the kernel for it."""
    report: dict[str, Any]
    """Figures that the program reports."""


class Application(ABC):
    """A program with its data and its keys.

    `fill` is called once, on a new file system; what it leaves there is given to each device as an
    exact copy. `started` is called for each device, with cold caches.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    about: ClassVar[str]
    """Its work and its settings, in a sentence or two."""
    keys: ClassVar[dict[str, Key]]
    file_system: ClassVar[str]
    """One of `file_systems.FILE_SYSTEMS`."""
    mount_options: ClassVar[str]
    """For ``mount -o``."""
    read_ahead_kib: int | None = None
    """Read-ahead of the kernel; ``None`` for its default."""
    programs: ClassVar[dict[str, str]]
    """Programs it needs, and how to install each."""
    folders: ClassVar[tuple[str, ...]] = ()
    """Folders of programs outside ``PATH``, as patterns."""

    def __init__(self, keys: Mapping[str, float]) -> None:
        """Take values for some of the keys; the others have their defaults.

        Raises
        ------
        SledsimError
            For an unknown key, or a value out of range.
        """
        self.values = {name: key.default for name, key in self.keys.items()}
        for name, value in keys.items():
            if name not in self.keys:
                raise placed(
                    SpecError,
                    f"{self.name}: unknown key '{name}': must be one of {', '.join(self.keys)}",
                    key=name,
                )
            key = self.keys[name]
            whole = isinstance(key.default, int)
            if not key.least <= value <= key.most or (whole and value != int(value)):
                kind = "an integer" if whole else "a number"
                raise placed(
                    SpecError,
                    f"{self.name}: {name} = {value}: must be {kind} from {key.least} to {key.most}",
                    key=name,
                )
            self.values[name] = int(value) if whole else float(value)

    @abstractmethod
    def fill(self, folder: Path) -> None:
        """Make the initial data in the root of a file system."""

    @abstractmethod
    def started(self, folder: Path) -> AbstractContextManager[Callable[[], Ran]]:
        """Prepare a run on the data of `fill`.

        The function that it gives does the run; it is called once, and its time is the run time.
        Whatever was started has ended when the context is left, also by an exception.
        """

    def check(self) -> None:
        """Check that all programs are installed.

        Raises
        ------
        SledsimError
            If one is missing; the message says how to install it.
        """
        for program in self.programs:
            self.program(program)

    def program(self, name: str) -> str:
        """Return the path of a program.

        Raises
        ------
        SledsimError
            If it is missing.
        """
        return find(name, self.programs[name], self.folders, owner=self.name)
