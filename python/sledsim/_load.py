"""Loads as values: equal, hashable, picklable, and written as TOML."""

from __future__ import annotations

import json
import os
import stat
from typing import TYPE_CHECKING, Any

from sledsim import _arguments as arguments
from sledsim import _core
from sledsim._above import Shown
from sledsim._arguments import whole
from sledsim._core import SledsimError
from sledsim._progress import told
from sledsim._values import digest_of, hash_of, refuse_other

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sledsim._progress import ProgressLike
    from sledsim.hardware import DeviceLike

_FRAME = "a frame of another process"
"""Stands for the file of a frame in a pickle."""


class Load(Shown):
    """A checked load; made by :func:`workload` or :func:`read_trace`.

    Loads are values. Two are equal if they have the same workload, the same keys (those of a file
    merged with those given) and the same file of a trace; :attr:`digest` tells whether the contents
    of two files are the same. A key that was given is not equal to the same default. Loads are
    hashable and can be pickled: a pickle names the file of a trace, which must have the same
    content when it is read back. A load of a pipe or of standard input is equal to itself alone and
    cannot be pickled.
    """

    _kind = "load"

    def __init__(self, core: _core.Load, name: str) -> None:
        self._core = core
        self.name = name

    def __repr__(self) -> str:
        return f"<sledsim load {self.name}>"

    @property
    def digest(self) -> str:
        """What identifies the load: equal loads have equal ones, in all processes.

        SHA-256 in hexadecimal digits. That of a trace depends on the present content of the file.

        Raises
        ------
        SledsimError
            For a trace that is no regular file, or that cannot be read.
        """
        return digest_of_load(self._core.canonical(), self._core.file)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Load):
            return NotImplemented
        if self._core is other._core:
            return True
        if self._core.canonical() != other._core.canonical():
            return False
        ours, theirs = self._core.file, other._core.file
        if ours is None or theirs is None:
            return ours == theirs
        same = os.path.abspath(ours) == os.path.abspath(theirs)  # noqa: PTH100 (links stay)
        return same and not _is_stream(ours)

    def __hash__(self) -> int:
        # Not of the content: that of a file may change while the load is in a dict.
        return hash_of(self._core.canonical())

    def __copy__(self) -> Load:
        return self

    def __deepcopy__(self, _memo: object) -> Load:
        return self

    def __reduce__(self) -> tuple[Callable[..., Load], tuple[Any, ...]]:
        from sledsim.traces import files, frames  # many runs do without

        file = self._core.file
        if file is not None and frames.is_kept(file):
            text = self._core.to_toml(_FRAME, files.content_of(file))
            how = (text, file.read_bytes(), file.suffix, self.name, self.digest, _core.NUMBERS)
            return _restore_frame, how
        return _restore, (self.to_toml(), self.name, self.digest, _core.NUMBERS)

    def to_polars(self, device: DeviceLike | None = None, *, blocks: int | None = None) -> Any:
        """Return the requests as a data frame of Polars.

        Parameters
        ----------
        device
            What the requests go to. A closed load is simulated on it, and has the arrivals that
            happened.
        blocks
            Instead of a device, how many blocks there are.

        Raises
        ------
        SledsimError
            For a load that needs a device, or if Polars is missing.
        """
        return self._requests("polars", "read_parquet", device, blocks)

    def to_pandas(self, device: DeviceLike | None = None, *, blocks: int | None = None) -> Any:
        """Return the requests as a data frame of pandas; see :meth:`to_polars`."""
        return self._requests("pandas", "read_parquet", device, blocks)

    def to_arrow(self, device: DeviceLike | None = None, *, blocks: int | None = None) -> Any:
        """Return the requests as a table of pyarrow; see :meth:`to_polars`."""
        return self._requests("pyarrow.parquet", "read_table", device, blocks)

    def _requests(
        self, library: str, read: str, device: DeviceLike | None, blocks: int | None
    ) -> Any:
        import tempfile  # few programs need these
        from importlib import import_module

        from sledsim.loads import generate_trace

        try:
            reading = getattr(import_module(library), read)
        except ImportError:
            raise SledsimError(f"{self!r}: its requests need {library}") from None
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "requests.parquet")  # noqa: PTH118 (it is text)
            generate_trace(self, file, device=device, blocks=blocks)
            return reading(file)

    def to_toml(self) -> str:
        """Return the load as TOML, from which :meth:`from_toml` makes an equal one.

        It is the table ``[workload]`` of a scenario: ``kind``, and all keys that were given, with
        those of the file of a workload. A trace has its ``file``, as an absolute path or
        ``"sample:NAME"``, and the ``sha256`` of its content.

        Raises
        ------
        SledsimError
            For a trace that is no regular file, or that cannot be read.
        """
        from sledsim.traces import files, frames  # many runs do without

        file = self._core.file
        if file is None:
            return self._core.to_toml(None, None)
        if frames.is_kept(file):
            raise SledsimError(
                f"load {self.name}: is a frame, which no file keeps; write it with to_polars() or"
                " generate_trace(), and read the file"
            )
        return self._core.to_toml(files.place_of(file), files.content_of(file))

    @classmethod
    def from_toml(cls, text: str) -> Load:
        """Make a load from TOML, as :meth:`to_toml` writes it.

        Parameters
        ----------
        text
            A ``kind``, by default ``"random"``, and its keys; ``kind = "trace"`` with a ``file``.
            If it has a ``sha256``, the content of the file must have it.

        Raises
        ------
        SledsimError
            For any error in a key, and a trace that is missing or has other content.
        """
        from sledsim.traces import files  # many runs do without

        sha256, place = files.trace_in_toml(arguments.text("text", text))
        if sha256 is not None and place is not None:
            files.require_content(place, sha256, "load")
        core = _core.Load.from_toml(text, files.samples_folder())
        return cls(core, core.kind if place is None else place)

    @property
    def seed(self) -> int | None:
        """The seed of a generated load; ``None`` for a trace."""
        return self._core.seed

    def with_seed_offset(self, k: int) -> Load:
        """Return the same load with ``k`` added to its seed; a trace is unchanged."""
        return Load(self._core.with_seed_offset(whole("k", k)), self.name)

    def keep(self, progress: ProgressLike = None) -> Load:
        """Make the load readable by several runs, and return it.

        A pipe can be read once. It is copied to a temporary file without a name (in ``TMPDIR``, up
        to 16 GiB), which is removed when the process ends. Files and workloads need none.

        Parameters
        ----------
        progress
            ``True`` for a bar on stderr, or what is called now and then, with 0 and ``None``.

        Raises
        ------
        SledsimError
            If it cannot be read or copied, or was read before.
        """
        with told(progress) as beat:
            self._core.keep(beat)
        return self

    def with_keys(self, **keys: object) -> Load:
        """Return the same load with other values of some keys: ``load.with_keys(rate=500)``.

        Raises
        ------
        SledsimError
            For an unknown key, or a value out of range.
        """
        return Load(self._core.with_overrides(list(keys.items())), self.name)


def digest_of_load(text: str, trace: Path | None) -> str:
    """Return what identifies a load of these keys and the content of the file of its trace."""
    if trace is None:
        return digest_of(text)
    from sledsim.traces.files import content_of  # many runs do without

    return digest_of(f"{text}content = {content_of(trace)}\n")


def _restore_frame(
    text: str, content: bytes, ending: str, name: str, digest: str, version: str
) -> Load:
    from sledsim.traces import frames  # many runs do without

    place = json.dumps(str(frames.place(content, ending)))
    return _restore(text.replace(json.dumps(_FRAME), place), name, digest, version)


def _restore(text: str, name: str, digest: str, version: str) -> Load:
    load = Load.from_toml(text)
    load.name = name
    if load.digest != digest:
        refuse_other(f"load {name}", version)
    return load


def _is_stream(path: os.PathLike[str]) -> bool:
    """Whether a path is there, and no regular file."""
    try:
        return os.fspath(path) == "-" or not stat.S_ISREG(os.stat(path).st_mode)  # noqa: PTH116
    except OSError:
        return False
