"""The base class of devices."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sledsim import _core


class Device:
    """A resolved device; made by :func:`device`.

    The attributes of single kinds are in subclasses: :class:`Sled` for those of kind ``mems``,
    :class:`Disk`, and :class:`Composite` for those made of others. ``isinstance`` tells them apart.
    A method of sleds, asked of another device, raises a SledsimError that says so.
    """

    def __init__(self, core: _core.Device) -> None:
        self._core = core
        self._made_from: str | None = None

    def __repr__(self) -> str:
        return f"<sledsim device {self.name}: {self.blocks} blocks>"

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
        """Identifies the device: that of another is equal if name and parameters are."""
        keys = json.dumps([self.name, self.parameters])
        return hashlib.sha256(keys.encode()).hexdigest()

    @property
    def parameters(self) -> dict[str, Any]:
        """The plain value of every key of the spec."""
        return {key: entry["value"] for key, entry in self.spec["parameters"].items()}

    if not TYPE_CHECKING:  # type checkers are to refuse what only sleds have

        def __getattr__(self, name: str) -> Any:
            """Refuse attributes of sleds on other devices."""
            from sledsim.hardware.sleds import Sled, sled_of  # noqa: PLC0415 (it imports this)

            if name in vars(Sled):
                sled_of(self)
            msg = f"'{type(self).__name__}' object has no attribute '{name}'"
            raise AttributeError(msg, name=name, obj=self)


class Composite(Device):
    """A device made of others: a hybrid, an array, or one behind the cache of a controller."""
