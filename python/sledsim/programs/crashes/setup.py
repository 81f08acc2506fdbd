"""What an experiment is made of, and how it is kept."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledsim._arguments import placed
from sledsim._core import SpecError
from sledsim.emulator import export_spec
from sledsim.emulator.mounting import system
from sledsim.hardware.labels import absolute
from sledsim.programs.benchmarks.recordings import need_pyarrow
from sledsim.programs.crashes.file_systems import CrashFileSystem
from sledsim.programs.keys import values_of
from sledsim.programs.registry import crash_program

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sledsim.emulator import Export
    from sledsim.programs.keys import Value
    from sledsim.programs.program import CrashProgram


@dataclass(frozen=True)
class Setup:
    """A program on a file system on a device."""

    program: str
    """One of `CRASH_PROGRAMS`."""
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
        """Return the device as it is served by a name, with further options of `export_spec`."""
        options = {
            "device": absolute(self.device),
            "scheduler": self.scheduler,
            "set": list(self.settings),
        }
        return export_spec.export_of(export_spec.DEFAULTS | options | more, name)

    def made_program(self) -> CrashProgram:
        """Return the program."""
        if self.program != "scripts" and any(self.scripts.values()):
            raise SpecError(
                f"{self.program}: takes no scripts; --fill, --load and --check are of 'scripts'"
            )
        if self.program == "scripts":
            return self._scripts()
        return crash_program(self.program)(self.keys)

    def _scripts(self) -> CrashProgram:
        from sledsim.programs.crashes.scripts import Scripts  # few need it

        values_of("scripts", {}, self.keys)
        paths = {
            name: Path(str(given))
            for name in ("fill", "load", "check")
            if (given := self.scripts.get(name))
        }
        for name in ("load", "check"):
            if name not in paths:
                raise SpecError(f"scripts: --{name} SCRIPT is missing")
        logs = list(self.scripts.get("log_files") or ())
        return Scripts(paths.get("fill"), paths["load"], paths["check"], logs)

    def made_file_system(self, program: CrashProgram) -> CrashFileSystem:
        """Return the file system."""
        mib = self.fs_mib
        if mib is None:
            least = system.LEAST_BYTES.get(self.file_system, 0) >> 20
            mib = max(program.mib, least)
        made = CrashFileSystem(self.file_system, self.options, mib, self.data, self.barriers)
        if made.is_raw and not program.takes_device:
            raise placed(
                SpecError,
                f"file_system = raw: {program.name} needs files; raw is for scripts",
                key="file_system",
            )
        return made

    def need(self, program: CrashProgram, file_system: CrashFileSystem) -> None:
        """Check the requirements on this machine."""
        if not file_system.is_raw:
            instead = "; without it, --file-system raw lets scripts of your own use the device"
            system.need_root("crash-app", instead)
        need_pyarrow()
        file_system.need()
        program.need()
