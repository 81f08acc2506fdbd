"""Layouts: the mapping of logical blocks to blocks of a device."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sledsim import _core
from sledsim._arguments import placed, text, whole
from sledsim._core import SpecError
from sledsim.hardware import Device, DeviceLike, device_of, dotted_keys, wrap
from sledsim.traces.files import samples_folder

if TYPE_CHECKING:
    from sledsim._name_types import LayoutName


@dataclass(frozen=True, slots=True)
class LayoutPart:
    """A part of the logical space and its place on the device; ranges include both ends."""

    first_lbn: int
    last_lbn: int
    cylinders: tuple[int, int]
    rows: tuple[int, int] | None
    """Physical rows; ``None`` for all."""
    data: str | None
    """``"small"`` or ``"large"`` for the two classes of ``bipartite``."""


class Layout:
    """A layout laid on a device; made by :func:`layout`.

    Layouts are values, as devices are: two are equal if the devices under them are.
    """

    def __init__(self, device: Device) -> None:
        core = device._core.layout()
        if core is None:
            raise placed(SpecError, f"device {device.name}: has no layout", key="layout")
        self._core = core
        self._device = device

    def __repr__(self) -> str:
        return f"<sledsim layout: {self.facts}>"

    @property
    def device(self) -> Device:
        """The device under this layout, as runs take it."""
        return self._device

    @property
    def digest(self) -> str:
        """What identifies the layout: the :attr:`Device.digest` of the device under it.

        Raises
        ------
        SledsimError
            If it was read from a trace that is no regular file.
        """
        return self._device.digest

    def __eq__(self, other: object) -> bool:
        return self._device == other._device if isinstance(other, Layout) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._device)

    def __reduce__(self) -> tuple[type[Layout], tuple[Device]]:
        return Layout, (self._device,)

    def to_toml(self) -> str:
        """Return device and layout as TOML: see :meth:`Device.to_toml`.

        Raises
        ------
        SledsimError
            If it was read from a trace that is no regular file.
        """
        return self._device.to_toml()

    @classmethod
    def from_toml(cls, text: str, name: str = "device") -> Layout:
        """Make a layout from TOML, as :meth:`to_toml` writes it.

        Parameters
        ----------
        text, name
            As those of :meth:`Device.from_toml`; the text must have a table ``[layout]``.

        Raises
        ------
        SledsimError
            For any error in a key, and a device without a layout.
        """
        return cls(Device.from_toml(text, name))

    @property
    def facts(self) -> dict[str, Any]:
        """Its name and every key in effect."""
        facts: dict[str, Any] = json.loads(self._core.to_json())
        return facts

    @property
    def parts(self) -> list[LayoutPart]:
        """Its columns, regions or classes in logical order; none if there are none."""
        return [LayoutPart(**part) for part in self._core.parts()]

    def place(self, lbn: int) -> tuple[int, int]:
        """Return the place of a logical block.

        Returns
        -------
        (int, int)
            The block of the device, and how many logical blocks from ``lbn`` on lie side by side
            there.

        Raises
        ------
        SledsimError
            For an LBN outside the device.
        """
        return self._core.map(whole("lbn", lbn))

    def lbn(self, block: int) -> int:
        """Return the logical block in a block of the device.

        Raises
        ------
        SledsimError
            For a block outside the device.
        """
        return self._core.logical(whole("block", block))


def layout(device: DeviceLike, name: LayoutName | str = "simple", **keys: object) -> Layout:
    """Lay out a device, to look at where blocks go.

    Runs take a name or a mapping instead: ``simulate(load, device, layout="columnar")``.

    Parameters
    ----------
    device
        What to lay out: a device, a preset's name or the path of a TOML file.
    name
        A name from the page on layouts: ``"columnar"``.
    **keys
        The keys of the layout: ``layout(g2, "subregioned", regions=5)``.

    Raises
    ------
    SledsimError
        For an unknown name or key, a value out of range, or a layout that the device cannot have.
    """
    return Layout(with_layout(device, {"name": name, **keys}))


def layouts() -> list[str]:
    """Names of the layouts, the default first."""
    return _core.names("layouts")


def with_layout(device: object, given: str | Mapping[str, object] | None) -> Device:
    """Return the device under a layout, given by name or by keys; unchanged if there is none."""
    device = device_of(device)
    if given is None:
        return device
    keys = given if isinstance(given, Mapping) else {"name": text("layout", given)}
    core = device._core.with_layout(list(dotted_keys(keys)), samples_folder())
    return wrap(core)
