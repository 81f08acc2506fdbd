"""Recordings of requests with their data, and devices after a power cut; Linux only."""

from __future__ import annotations

import contextlib
import hashlib
import json
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledsim import _core
from sledsim._arguments import path_text, real, whole
from sledsim._core import SledsimError
from sledsim._input_files import refuse_special

if TYPE_CHECKING:
    from collections.abc import Iterator


class DataRecording:
    """All requests of a served device with their data: what it holds after a cut at any instant.

    An :class:`Export` with ``record_data`` makes one. The same recording and instant give the same
    bytes.
    """

    def __init__(self, core: _core.DataRecording, folder: Path) -> None:
        """Made by :meth:`load`."""
        self._core = core
        self.folder = folder
        """Its folder."""
        self._about: dict[str, Any] = json.loads(core.about())

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> DataRecording:
        """Open the recording in a folder, and compare all of its files with their digests."""
        if not hasattr(_core, "DataRecording"):
            raise SledsimError("recordings with data need Linux")
        path = path_text("folder", folder)
        for name in ("about.json", "base.img", "data.bin", "requests.parquet"):
            refuse_special(Path(path, name))
        return cls(_core.DataRecording(path), Path(path))

    def __repr__(self) -> str:
        return f"<sledsim data recording of {self.device}: {len(self.rows):,} requests>"

    @property
    def device(self) -> str:
        """The name of the device."""
        return str(self._about["device"])

    @property
    def device_toml(self) -> str:
        """The device as TOML, as :meth:`sledsim.Device.to_toml` writes it."""
        return str(self._about["device_toml"])

    @property
    def scheduler(self) -> str:
        """Its scheduler."""
        return str(self._about["scheduler"])

    @property
    def promise(self) -> str:
        """When writes are promised to survive: at their ``"completion"``, or by a ``"flush"``."""
        return str(self._about["promise"])

    @property
    def bytes(self) -> int:
        """Capacity of the device in bytes."""
        return int(self._about["bytes"])

    @property
    def speed(self) -> float:
        """Seconds of the device in a real second."""
        return float(self._about["speed"])

    @property
    def clock_start_ns(self) -> int:
        """Model time zero on the monotonic clock of the machine, in ns."""
        return int(self._about["clock_start_ns"])

    @property
    def rows(self) -> _core.Rows:
        """The requests, for ``pyarrow.table`` and others: one row each.

        ``epoch`` (counts power-ons), ``id``, ``op``, ``lbn``, ``blocks``, ``fua``, ``linked``,
        ``stream``, ``arrival_ns``, ``completion_ns`` (null if power failed first) and
        ``first_token`` of a write.
        """
        return self._core.rows()

    @property
    def duration_ns(self) -> int:
        """Model time of the last completion, in ns; 0 if there is none."""
        import pyarrow as pa  # an extra
        import pyarrow.compute as pc

        return int(pc.max(pa.table(self.rows)["completion_ns"]).as_py() or 0)

    def cut(self, at_ns: int) -> Cut:
        """Let power fail at an instant of model time, in ns.

        Events before that instant have happened. A hybrid then recovers, in its own time.
        """
        return Cut(self, whole("at_ns", at_ns, 0))


@dataclass(frozen=True)
class ServedCut:
    """A device after a power cut, served as a file."""

    path: Path
    """Its file: reads of blocks that cannot be read fail."""
    _server: _core.Server

    def status(self) -> dict[str, Any]:
        """Return the status of its server, as :meth:`Server.status` does; it has one export."""
        status: dict[str, Any] = json.loads(self._server.status())
        return status

    def now_ns(self) -> int:
        """Return the model time since power-on, in ns; its start-up and recovery are part of it."""
        (export,) = self.status()["exports"]
        return int(export["model_time_ns"])


class Cut:
    """A device in which power has failed, and which has recovered."""

    def __init__(self, recording: DataRecording, at_ns: int) -> None:
        """Made by :meth:`DataRecording.cut`."""
        self.recording = recording
        """Its recording."""
        self._core: _core.Cut | None = recording._core.cut(at_ns)  # one module
        self.at_ns = at_ns
        """The instant."""
        said: dict[str, Any] = json.loads(self._core.facts())
        said["changed_bytes"] = self._core.changed_bytes()
        said["digest"] = hashlib.sha256(self._core.runs()).hexdigest()
        self.facts = said
        """The ledger, as of :meth:`Server.power_cut`, with ``changed_bytes`` (of blocks ever
        written) and the ``digest`` of the image: equal for equal images."""

    def __repr__(self) -> str:
        return f"<sledsim cut of {self.recording.device} at {self.at_ns / 1e6:g} ms>"

    def _take(self) -> _core.Cut:
        core, self._core = self._core, None
        return core or self.recording._core.cut(self.at_ns)  # one module

    def save(self, path: str | PathLike[str]) -> str:
        """Write the image to a new sparse file, and return its digest.

        Blocks that cannot be read are zero in it. The digest is made as those of ``base.img`` in
        recordings.
        """
        core = self._take()
        digest = core.save(path_text("path", path))
        self._core = core
        return digest

    @contextlib.contextmanager
    def served(
        self, folder: str | PathLike[str], name: str = "device", speed: float = 1.0
    ) -> Iterator[ServedCut]:
        """Power the device on and serve it as a file in an empty folder, in real time."""
        point = path_text("folder", folder)
        server = self._take().serve(name, real("speed", speed, 0))
        try:
            server.serve_fuse(point)
            yield ServedCut(Path(point) / name, server)
        finally:
            server.stop(0.0)
