"""What an experiment is made of, and how it is kept."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledsim._arguments import placed
from sledsim._core import SpecError
from sledsim.applications.recordings import need_pyarrow
from sledsim.crash_app.file_systems import FileSystem
from sledsim.emulator import export_spec
from sledsim.emulator.mounting import system
from sledsim.hardware.labels import absolute

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sledsim.crash_app.keys import Value
    from sledsim.crash_app.program import CrashProgram
    from sledsim.emulator import Export

PROGRAMS = ("sqlite", "postgres", "scripts")
"""The programs by name."""


@dataclass(frozen=True)
class Setup:
    """A program on a file system on a device."""

    program: str
    """One of `PROGRAMS`."""
    device: str
    """A preset, or the path of a device file."""
    keys: Mapping[str, Value] = field(default_factory=dict)
    """Settings of the program; the others have their defaults."""
    scripts: Mapping[str, str | list[str] | None] = field(default_factory=dict)
    """``fill``, ``load``, ``check`` and ``log_files`` of `scripts`."""
    file_system: str = "ext4"
    data: str = "ordered"
    barriers: bool = True
    options: str = ""
    """For ``mount -o``."""
    fs_mib: int | None = None
    """Size of the file system; by default what the program needs."""
    scheduler: str = "fcfs"
    settings: tuple[str, ...] = ()
    """Changes of the device, as ``device.KEY=VALUE``."""

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return asdict(self)

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Setup:
        """Return what `to_dict` gave."""
        return cls(**{**document, "settings": tuple(document["settings"])})

    def export(self, name: str | None = None, **more: Any) -> Export:
        """Return the device as it is served.

        Parameters
        ----------
        name
            Its name for clients.
        more
            Further options of `export_spec`.

        Raises
        ------
        SledsimError
            If there is no such device, or a setting is wrong.
        """
        options = {
            "device": absolute(self.device),
            "scheduler": self.scheduler,
            "set": list(self.settings),
        }
        return export_spec.export_of(export_spec.DEFAULTS | options | more, name)

    def made_program(self) -> CrashProgram:
        """Return the program.

        Raises
        ------
        SledsimError
            If there is none of that name, or a key or a script is wrong.
        """
        if self.program != "scripts" and any(self.scripts.values()):
            raise SpecError(
                f"{self.program}: takes no scripts; --fill, --load and --check are of 'scripts'"
            )
        if self.program == "scripts":
            return self._scripts()
        return kind(self.program)(self.keys)

    def _scripts(self) -> CrashProgram:
        from sledsim.crash_app.scripts import Scripts  # few need it

        if self.keys:
            raise SpecError(f"scripts: unknown key '{next(iter(self.keys))}': it has none")
        found: dict[str, Path | None] = {}
        for name in ("fill", "load", "check"):
            given = self.scripts.get(name)
            found[name] = Path(str(given)) if given else None
            if not given and name != "fill":
                raise SpecError(f"scripts: --{name} SCRIPT is missing")
        load, check = found["load"], found["check"]
        assert load is not None
        assert check is not None
        return Scripts(found["fill"], load, check, list(self.scripts.get("log_files") or ()))

    def made_file_system(self, program: CrashProgram) -> FileSystem:
        """Return the file system.

        Raises
        ------
        SledsimError
            If it is unknown, cannot be so, or the program cannot do with it.
        """
        mib = self.fs_mib
        if mib is None:
            least = system.LEAST_BYTES.get(self.file_system, 0) >> 20
            mib = max(program.mib, least)
        made = FileSystem(self.file_system, self.data, self.barriers, self.options, mib)
        if made.is_raw and not program.takes_device:
            raise placed(
                SpecError,
                f"file_system = raw: {program.name} needs files; raw is for scripts",
                key="file_system",
            )
        return made

    def need(self, program: CrashProgram, file_system: FileSystem) -> None:
        """Check the requirements on this machine.

        Raises
        ------
        SledsimError
            If rights, programs, libraries or loop devices are missing.
        """
        if not file_system.is_raw:
            instead = "; without it, --file-system raw lets scripts of your own use the device"
            system.need_root("crash-app", instead)
        need_pyarrow()
        file_system.need()
        program.need()


def kind(name: str) -> type[CrashProgram]:
    """Return a program by its name.

    Raises
    ------
    SledsimError
        If there is none.
    """
    from sledsim.crash_app.postgres import Postgres  # only one is needed
    from sledsim.crash_app.scripts import Scripts
    from sledsim.crash_app.sqlite import Sqlite

    kinds: dict[str, type[CrashProgram]] = {each.name: each for each in (Sqlite, Postgres, Scripts)}
    if name not in kinds:
        raise SpecError(f"unknown program '{name}': must be one of {', '.join(PROGRAMS)}")
    return kinds[name]


__all__ = ["PROGRAMS", "Setup", "kind"]
