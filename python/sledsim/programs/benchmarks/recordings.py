"""Recordings of applications: Parquet files of rows, each with a TOML file about the run.

A replay is closed: a request arrives as long after the completion that it waited for as in the
recording, and so the program goes as fast as the device lets it.
"""

from __future__ import annotations

import importlib.util
import io
import json
import math
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledsim import _core
from sledsim._arguments import path_text
from sledsim._core import SledsimError
from sledsim._input_files import content, toml
from sledsim._load import Load
from sledsim.loads import read_trace
from sledsim.programs.benchmarks.io_statistics import facts_of
from sledsim.programs.benchmarks.outcome import Outcome, Prediction
from sledsim.simulation import simulate

if TYPE_CHECKING:
    import pyarrow as pa

    from sledsim.hardware import Device


@dataclass(frozen=True)
class Recording:
    """A run of an application, recorded."""

    path: Path
    application: str
    device: str
    run_s: float
    compute_s: float

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Recording:
        """Read the TOML file beside it.

        Raises
        ------
        SledsimError
            If that is missing, or lacks the run time.
        """
        path = Path(path_text("recording", path))
        about = path.with_suffix(".toml")
        try:
            run = toml(content(about))["run"]
            said = {key: float(run[key]) for key in ("run_s", "compute_s")}
            return cls(path, str(run["application"]), str(run["device"]), **said)
        except OSError as error:
            raise SledsimError(f"{about}: {error.strerror}; it describes the recording") from None
        except (KeyError, TypeError, ValueError) as error:
            raise SledsimError(
                f"{about}: does not describe a run of an application ({error})"
            ) from None

    @cached_property
    def _load(self) -> Load:
        # One load for all replays, as a pipe can be read only once.
        return read_trace(self.path, think="recorded", depends_on="all")

    def replay(self, device: Device | str | PathLike[str], scheduler: str = "fcfs") -> Outcome:
        """Return how long the run would take on another device.

        Its computing takes as long as it was recorded, and so do the ways to the emulator and back.

        Raises
        ------
        SledsimError
            If the recording cannot be read, or the device is too small for it.
        """
        import pyarrow as pa  # an extra

        run = simulate(self._load, device, scheduler)
        outside_s = self.run_s - run.workload["recorded_duration_s"]
        return Outcome(
            application=self.application,
            device=run.to_dict()["device"],
            run_s=outside_s + run.summary["duration_s"],
            compute_s=self.compute_s,
            facts=facts_of(pa.table(run.rows)),
            emulated=False,
        )

    def predict(self, device: Device | str | PathLike[str], scheduler: str = "fcfs") -> Prediction:
        """Return how long the run would take on another device, and no more."""
        return Prediction(self.replay(device, scheduler).run_s, self.device)


def need_pyarrow() -> None:
    """Check that pyarrow is installed."""
    if importlib.util.find_spec("pyarrow") is None:
        raise SledsimError("applications need pyarrow: pip install pyarrow")


def save(rows: pa.Table, path: Path, about: dict[str, Any]) -> None:
    """Write a recording and the file beside it.

    Parameters
    ----------
    rows
        The rows of the requests.
    path
        Of the Parquet file.
    about
        Tables of names and values for the TOML file; ``run`` must tell what `Recording` reads.
    """
    import pyarrow.parquet as pq  # an extra

    text = "\n".join(_toml(about)) + "\n"
    content = io.BytesIO()
    pq.write_table(rows, content, compression="zstd", compression_level=19)
    _core.write_atomically(path, content.getvalue())
    _core.write_atomically(path.with_suffix(".toml"), text.encode())


def _toml(about: dict[str, Any]) -> list[str]:
    lines = [f"{key} = {_value(each)}" for key, each in about.items() if not isinstance(each, dict)]
    for name, table in about.items():
        if isinstance(table, dict):
            lines += ["", f"[{name}]"]
            lines += [f"{_key(key)} = {_value(each)}" for key, each in table.items()]
    return lines


def _key(key: str) -> str:
    plain = all(c.isalnum() or c in "-_" for c in key) and key.isascii() and key
    return key if plain else _value(key)


def _value(value: object) -> str:
    if isinstance(value, date) or (isinstance(value, float) and not math.isfinite(value)):
        return str(value)
    plain = value if isinstance(value, bool | int | float | list) else str(value)
    return json.dumps(plain, ensure_ascii=False)  # of these, TOML is the same
