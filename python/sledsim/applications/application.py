"""The contract of applications that run on emulated devices."""

from __future__ import annotations

import shutil
import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from sledsim._core import SledsimError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager


@dataclass(frozen=True)
class Key:
    """A number that may be chosen."""

    default: float
    least: float
    most: float
    what: str
    """What it is, with its unit."""


@dataclass(frozen=True)
class Ran:
    """What a run of an application came to, beside the time that it took."""

    compute_s: float
    """Seconds of a processor, in the program and in the kernel for it."""
    report: dict[str, Any]
    """What the program says of itself."""


class Application(ABC):
    """A program with its data and its keys.

    `fill` is called once, on a new file system; what it leaves there is given to each device as an
    exact copy. `started` is called for each device, with cold caches.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    about: ClassVar[str]
    """What it does and how it is set, in a sentence or two."""
    keys: ClassVar[dict[str, Key]]
    file_system: ClassVar[str]
    """One of `file_systems.FILE_SYSTEMS`."""
    mount_options: ClassVar[str]
    """For ``mount -o``."""
    read_ahead_kib: int | None = None
    """How far the kernel reads ahead; ``None`` leaves that to it."""
    programs: ClassVar[dict[str, str]]
    """Which programs it needs, and what installs each."""
    folders: ClassVar[tuple[str, ...]] = ()
    """Where programs may be beside the path, as patterns."""

    def __init__(self, keys: Mapping[str, float]) -> None:
        """Take values for some of the keys; the others have their defaults.

        Raises
        ------
        SledsimError
            For a key that there is not, or a value out of range.
        """
        self.values = {name: key.default for name, key in self.keys.items()}
        for name, value in keys.items():
            if name not in self.keys:
                msg = f"{self.name}: unknown key '{name}': must be one of {', '.join(self.keys)}"
                raise SledsimError(msg)
            key = self.keys[name]
            whole = isinstance(key.default, int)
            if not key.least <= value <= key.most or (whole and value != int(value)):
                kind = "an integer" if whole else "a number"
                msg = (
                    f"{self.name}: {name} = {value}: must be {kind} from {key.least} to {key.most}"
                )
                raise SledsimError(msg)
            self.values[name] = int(value) if whole else float(value)

    @abstractmethod
    def fill(self, folder: Path) -> None:
        """Make the data that the run begins with, in the root of a file system."""

    @abstractmethod
    def started(self, folder: Path) -> AbstractContextManager[Callable[[], Ran]]:
        """Get ready to run on what `fill` has made.

        The function that it gives does the run; it is called once, and its time is the run time.
        Whatever was started has ended when the context is left, also by an exception.
        """

    def check(self) -> None:
        """See that all programs are there.

        Raises
        ------
        SledsimError
            If one is missing; it names what installs it.
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
        beside = [str(Path(sys.executable).parent)]
        for pattern in self.folders:
            beside += [str(path) for path in sorted(Path("/").glob(pattern), reverse=True)]
        found = shutil.which(name)
        for folder in beside:
            found = found or shutil.which(name, path=folder)
        if found is None:
            msg = f"{self.name}: {name} is missing: install {self.programs[name]}"
            raise SledsimError(msg)
        return found
