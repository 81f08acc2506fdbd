"""Types of the extension module; see the package around it for what they do."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias, final

VERSION: Final[str]

_Given: TypeAlias = tuple[str | None, str | None, float | None]
_Progress: TypeAlias = Callable[[int, int | None], object] | None
_Arguments: TypeAlias = Sequence[tuple[str, object]]
_Point: TypeAlias = tuple[float, float, int]
_Step: TypeAlias = tuple[float, float, float, float, float, float, int, int, int, int]

class SledsimError(ValueError): ...

@final
class Device:
    def __new__(cls, name: str, arguments: _Arguments) -> Device: ...
    @property
    def name(self) -> str: ...
    @property
    def blocks(self) -> int: ...
    def show(self) -> str: ...
    def seek(self, start: _Point, end: _Point) -> tuple[float, float, float, float, float, int]: ...
    def access(self, lbn: int, blocks: int, start: _Point | None) -> tuple[list[_Step], _Point]: ...
    def locate(self, lbn: int) -> tuple[int, int, int, int, int, int, float, float]: ...
    def lbn(self, cylinder: int, track: int, row: int, cell: int) -> int: ...

@final
class Load:
    @staticmethod
    def workload(name: str, arguments: _Arguments) -> Load: ...
    @staticmethod
    def trace(path: str | Path, arguments: _Arguments) -> Load: ...
    def within(self, blocks: int) -> Load: ...

@final
class Rows:
    @property
    def column_names(self) -> list[str]: ...
    def __len__(self) -> int: ...
    def __arrow_c_schema__(self) -> Any: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> Any: ...

@final
class Statistics:
    def cdf(self, time: str, op: str | None) -> list[tuple[float, float]]: ...

def presets() -> list[str]: ...
def run(
    device: Device,
    load: Load,
    scheduler: str,
    rows: bool | str | Path,
    series: bool | str | Path,
    series_ms: float | None,
    precision: float | None,
    seeds: int,
    threads: int,
    progress: Callable[[int, int | None], object] | None,
) -> tuple[str, Rows | None, Rows | None, Statistics]: ...
def scenario(
    file: str | Path | None,
    device: str | None,
    scheduler: str | None,
    workload: str | None,
    trace: str | None,
    settings: Sequence[str],
    samples: str | Path | None = None,
) -> tuple[Device, Load, str]: ...
def trace_convert(
    inputs: Sequence[str],
    output: str,
    to: str | None,
    given: _Given,
    choices: dict[str, object],
    progress: _Progress,
) -> str: ...
def trace_generate(
    load: Load,
    output: str,
    to: str | None,
    place: tuple[Device | None, str, int | None],
    progress: _Progress,
) -> str: ...
def trace_info(
    path: str,
    given: _Given,
    look: tuple[bool, int | None, int | None, bool],
    progress: _Progress,
) -> str: ...
def workload_of_settings(name: str, settings: Sequence[str]) -> Load: ...
def write_atomically(path: str | Path, content: bytes) -> None: ...
