"""Points of a study: from the values of keys to what is simulated, and to a row of the result."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sledsim import _core
from sledsim._arguments import optional, path_text, placed, refuse, share, text, whole
from sledsim._core import SledsimError, SpecError
from sledsim._own_schedulers import is_path, with_digest
from sledsim._scenario_files import scenario
from sledsim.hardware import device, device_of
from sledsim.layout_maps import with_layout
from sledsim.loads import load_of
from sledsim.simulation import tasks_of, with_background
from sledsim.studies.experiments import EXPERIMENTS

if TYPE_CHECKING:
    from sledsim._load import Load
    from sledsim._scenario_files import Scenario
    from sledsim.hardware import Device
    from sledsim.studies.design import Point


@dataclass(frozen=True)
class Job:
    """A point, checked and ready to be run."""

    load: Load
    device: Device | None
    """``None`` only for hit ratios, which may do without."""
    scheduler: str
    background: Any
    """Background tasks, as :func:`sledsim.simulate` takes them."""
    precision: float | None
    own: dict[str, Any]
    """Keys of the experiment: those of ``crash.`` or ``cache.``, without that."""

    @property
    def digest(self) -> str:
        """What identifies the result: the digests of load and device, and all other choices."""
        parts = (
            self.load.digest,
            self.device and self.device.digest,
            self.scheduler,
            tasks_of(self.background),
            self.precision,
            self.own,
        )
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]

    def replicated(self, replication: int) -> Load:
        """Return the load with the seed of a replication: that of the load, and those after it."""
        return self.load.with_seed_offset(replication) if replication else self.load


class Jobs:
    """Makes jobs of points; devices that many points share are made once.

    Files of devices and scenarios are read once, too: a study sees one content of each.

    Parameters
    ----------
    experiment
        The name of the experiment.
    """

    def __init__(self, experiment: str) -> None:
        self._experiment = experiment
        self._devices: dict[str, Device] = {}
        self._scenarios: dict[str, Scenario] = {}

    def of(self, point: Point) -> Job:
        """Check the keys of a point, and return what is to be run.

        Parameters
        ----------
        point
            Values by key: ``device``, ``workload``, ``trace`` or ``load``, ``scenario``,
            ``scheduler``, ``layout``, ``background``, ``precision``; dotted keys inside ``device``,
            ``scheduler``, ``layout`` and ``workload``; those of the experiment; any other is a key
            of the load.
        """
        groups = self._grouped(point)
        files = self._scenario(groups)
        on = self._device(groups, files)
        background = _only(groups, "background", ())
        if on is not None and self._experiment == "simulate":
            with_background(on, background)  # checks it
        return Job(
            _load(groups, files, on),
            on,
            _scheduler(groups["scheduler"], files),
            background,
            optional(share, "precision", _only(groups, "precision", None)),
            groups["own"],
        )

    def _grouped(self, point: Point) -> dict[str, Point]:
        """Return keys by the part of a simulation that they are of, each without its prefix."""
        groups: dict[str, Point] = {name: {} for name in _GROUPS}
        for key, value in point.items():
            head, _, rest = key.partition(".")
            if head in groups:
                groups[head][rest] = value
            elif head in _OWN and _OWN[head] == self._experiment:
                groups["own"][rest] = self._own(key, rest, value)
            elif head in _OWN:
                raise SledsimError(
                    f"{key}: is a key of {_OWN[head]}, and the experiment is {self._experiment}"
                )
            else:
                groups["workload"][key] = value
        return groups

    def _own(self, key: str, name: str, value: object) -> object:
        known = EXPERIMENTS[self._experiment].keys
        if name not in known:
            raise placed(
                SpecError, f"{key}: unknown key; {self._experiment} has {', '.join(known)}", key=key
            )
        is_text = name in {"policy", "promise"}
        if isinstance(value, bool) or not isinstance(value, str if is_text else int | float):
            refuse(key, value, "text" if is_text else "a number")
        return whole(key, value) if name == "seed" else value

    def _scenario(self, groups: Mapping[str, Point]) -> Scenario | None:
        name = optional(path_text, "scenario", _only(groups, "scenario", None))
        if name is None:
            return None
        if name not in self._scenarios:
            self._scenarios[name] = scenario(name)
        return self._scenarios[name]

    def _device(self, groups: Mapping[str, Point], files: Scenario | None) -> Device | None:
        keys = dict(groups["device"])
        base = keys.pop("", files.device if files else None)
        if base is None:
            if self._experiment != "hit_ratios" or keys:
                raise SledsimError(
                    "device: must be given: the name of one, a path, a mapping or a device"
                )
            return None
        layout = dict(groups["layout"])
        named = layout.pop("", {})
        if not isinstance(named, str | Mapping):
            refuse("layout", named, "the name of a layout, or a mapping of its keys")
        layout = {**({"name": named} if isinstance(named, str) else named), **layout}
        try:
            key = json.dumps([base, keys, layout])
        except TypeError:  # an object
            return _made(base, keys, layout)
        if key not in self._devices:
            self._devices[key] = _made(base, keys, layout)
            if len(self._devices) > _MOST_DEVICES:
                del self._devices[next(iter(self._devices))]
        return self._devices[key]


_MOST_DEVICES = 1024
"""Devices that are kept for further points."""
_GROUPS = (
    "device",
    "workload",
    "trace",
    "load",
    "scenario",
    "scheduler",
    "layout",
    "background",
    "precision",
    "own",
)
_OWN = {"crash": "crash_test", "cache": "hit_ratios"}
"""Prefixes of keys of experiments."""


def _only(groups: Mapping[str, Point], name: str, default: Any) -> Any:
    """Return the value of a group that has no keys inside."""
    keys = groups[name]
    inside = next((key for key in keys if key), None)
    if inside is not None:
        raise SledsimError(f"{name}.{inside}: unknown key; '{name}' has no keys inside")
    return keys.get("", default)


def _made(base: object, keys: Point, layout: Point) -> Device:
    made = device({"base": base}, **keys) if keys else device_of(base)
    return with_layout(made, layout) if layout else made


def _load(groups: Mapping[str, Point], files: Scenario | None, on: Device | None) -> Load:
    keys = dict(groups["workload"])
    given = [("workload", keys.pop("", None))]
    given += [(name, _only(groups, name, None)) for name in ("trace", "load")]
    named = [(name, value) for name, value in given if value is not None]
    if len(named) > 1:
        raise SledsimError(f"{named[0][0]} and {named[1][0]}: give one of them")
    name, base = named[0] if named else ("workload", files.load if files else "random")
    try:
        return load_of({"base": base, **keys} if keys else base, name)
    except SledsimError as error:
        hint = _device_hint(str(error), keys, on)
        if hint is None:
            raise
        raise SledsimError(hint) from None


def _device_hint(problem: str, keys: Point, on: Device | None) -> str | None:
    """Name the key of the device where an unknown key of the load is one."""
    for key in keys:
        if f"unknown key '{key}'" in problem and on is not None and key in on.parameters:
            return f"unknown key '{key}'; did you mean 'device.{key}'?"
    return None


def _scheduler(keys: Point, files: Scenario | None) -> str:
    given = keys.get("", files.scheduler if files else "fcfs")
    if hasattr(given, "pick"):  # its source would not be known to the store
        refuse("scheduler", given, 'where it is, "module:Class" or "file.py:Class", in a study')
    name = text("scheduler", given)
    if is_path(name):
        if len(keys) > 1:
            raise SledsimError(f"scheduler = '{name}': has no keys; write another class")
        return with_digest(name)
    inside = "; ".join(f"{key}={value}" for key, value in keys.items() if key)
    if inside:
        name = f"{name[:-1]}; {inside})" if name.endswith(")") else f"{name}({inside})"
    return _core.scheduler_label(name)
