"""The base class of devices."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sledsim import _above, _core
from sledsim import _arguments as arguments
from sledsim._above import Shown
from sledsim._arguments import placed
from sledsim._core import SledsimError, TraceError
from sledsim._number_text import number, size
from sledsim._values import digest_of, hash_of, refuse_other

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Unpack

    from sledsim.hardware.evidence import Evidence
    from sledsim.plots.frame import How
    from sledsim.plots.picture import Picture


class Device(Shown):
    """A resolved device; made by :func:`device`.

    The attributes of single kinds are in subclasses: :class:`Sled` for those of kind ``mems``,
    :class:`Disk`, and :class:`Composite` for those made of others. ``isinstance`` tells them apart.
    A method of sleds, asked of another device, raises a SpecError that says so.

    Devices are values. Two are equal if they have the same name, the same keys (with those of their
    bases and of the bases of their parts), the same layout (with the content of a trace it was read
    from) and the same background tasks. A key that was given is not equal to the same default.
    Devices are hashable and can be pickled; files they were read from are not needed again, but the
    trace of a layout is.
    """

    _kind = "device"

    def __init__(self, core: _core.Device) -> None:
        self._core = core
        self._digest: str | None = None
        trace = core.layout_trace()
        # Read the file now: the layout keeps what it read, even if the file changes later.
        self._trace = None if trace is None else _content(trace)

    def __repr__(self) -> str:
        return (
            f"<sledsim device {self.name}: {number(self.blocks)} blocks, {size(512 * self.blocks)}>"
        )

    @property
    def name(self) -> str:
        """Name of the preset, or of the file without its ending."""
        return self._core.name

    @property
    def blocks(self) -> int:
        """How many blocks of 512 bytes it offers: LBNs ``0`` to ``blocks - 1``."""
        return self._core.blocks

    @property
    def spec(self) -> dict[str, Any]:
        """The resolved spec: ``name``, ``about``, ``parameters`` and ``derived``.

        Every parameter has its ``value``, its ``source`` and the ``origin`` it was read from.
        """
        spec: dict[str, Any] = json.loads(self._core.show())
        return spec

    @property
    def digest(self) -> str:
        """What identifies the device: equal devices have equal ones, in all processes.

        SHA-256 in hexadecimal digits.

        Raises
        ------
        SledsimError
            If the layout was read from a trace that is no regular file.
        """
        if self._digest is None:
            text = self._core.canonical()
            if (trace := self._core.layout_trace()) is not None:
                if self._trace is None:
                    raise placed(
                        TraceError,
                        f"device {self.name}: its layout was read from {trace}, which is no "
                        "regular file: it cannot be told what was in it",
                        file=trace,
                    )
                text += f"content = {self._trace}\n"
            self._digest = digest_of(text)
        return self._digest

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Device):
            return NotImplemented
        if self._core is other._core:
            return True
        if self._core.canonical() != other._core.canonical():
            return False
        if self._core.layout_trace() is None:
            return other._core.layout_trace() is None
        return self._trace is not None and self._trace == other._trace

    def __hash__(self) -> int:
        return hash_of(self._core.canonical())

    def __copy__(self) -> Device:
        return self

    def __deepcopy__(self, _memo: object) -> Device:
        return self

    def __reduce__(self) -> tuple[Callable[..., Device], tuple[str, ...]]:
        return _restore, (self.to_toml(), self.name, self.digest, _core.NUMBERS)

    def to_toml(self) -> str:
        """Return the device as TOML, from which :meth:`from_toml` makes an equal one.

        It has all keys, with those of the files that it and its parts are based on; a part that is
        a preset names it. A layout is the table ``[layout]``, background tasks are the list
        ``[[background]]``. Sources of values stay as comments. A layout that was read from a trace
        names it as an absolute path or ``"sample:NAME"``, with the ``sha256`` of its content.

        Raises
        ------
        SledsimError
            If the layout was read from a trace that is no regular file.
        """
        if self._core.layout_trace() is None:
            return self._core.to_toml(None)
        _ = self.digest  # refuses a stream
        return self._core.to_toml(self._trace)

    @staticmethod
    def from_toml(text: str, name: str = "device") -> Device:
        """Make a device from TOML, as :meth:`to_toml` writes it.

        Parameters
        ----------
        text
            A device file, also with ``[layout]`` and ``[[background]]`` as in a scenario. Paths in
            it are relative to the current folder.
        name
            The name of the device, which is part of what it is equal to.

        Raises
        ------
        SledsimError
            For any error in a key, and a trace that is missing or has other content.
        """
        from sledsim.hardware.factory import wrap  # it imports this
        from sledsim.traces import files

        sha256, place = files.trace_in_toml(arguments.text("text", text), "layout", "trace")
        if sha256 is not None and place is not None:
            files.require_content(place, sha256, f"device {name}")
        return wrap(
            _core.Device.from_toml(text, arguments.text("name", name), files.samples_folder())
        )

    @property
    def parameters(self) -> dict[str, Any]:
        """The plain value of every key of the spec."""
        return {key: entry["value"] for key, entry in self.spec["parameters"].items()}

    @property
    def evidence(self) -> dict[str, Evidence]:
        """What every value of the spec rests on, by key: measured, published, assumed and so on.

        The mark of the comment behind a value says it: ``[M]``, ``[P]`` or ``[S]``, ``[D]``,
        ``[A]``, ``[F]``; see :class:`sledsim.hardware.evidence.Evidence` and the page on device
        files. Keys of the parts of a composite are dotted: ``back.rpm``. A value that a file takes
        from its base rests on what the base says. ``title``, ``kind`` and ``base`` are no values.
        """
        from sledsim.hardware import evidence  # it makes devices

        return evidence.of(self)

    def plot_seeks(
        self,
        start_um: Sequence[float] | None = None,
        **how: Unpack[How],
    ) -> Picture:
        """Draw how long seeks of a sled or a disk take.

        See :func:`sledsim.plots.seeks` for the parameters.
        """
        figure: Picture = _above.plots().seeks(self, start_um, **how)
        return figure

    if not TYPE_CHECKING:  # type checkers are to refuse what only sleds have

        def __getattr__(self, name: str) -> Any:
            """Refuse attributes of sleds on other devices."""
            from sledsim.hardware.sleds import Sled, sled_of  # it imports this

            if name in vars(Sled):
                sled_of(self)
            raise AttributeError(
                f"'{type(self).__name__}' object has no attribute '{name}'", name=name, obj=self
            )


def _content(trace: str) -> str | None:
    """Return the digest of a trace, or ``None`` if it cannot be told."""
    from sledsim.traces import files  # few devices have one

    try:
        return files.content_of(files.trace_path(trace))
    except SledsimError:
        return None


def _restore(text: str, name: str, digest: str, version: str) -> Device:
    device = Device.from_toml(text, name)
    if device.digest != digest:
        refuse_other(f"device {name}", version)
    return device


class Composite(Device):
    """A device made of others: a hybrid, an array, or one behind the cache of a controller."""
