"""Real programs on emulated devices.

`bench` runs one on several devices and splits its run time; `replay` replays a recording of that.
:mod:`sledsim.programs.crashes` fails the power under a program, recovers, and checks its data.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

from sledsim.hardware import device as device_named
from sledsim.programs.benchmarks.outcome import Outcome, Outcomes, Prediction
from sledsim.programs.benchmarks.recordings import Recording, need_pyarrow
from sledsim.programs.registry import BENCHMARKS
from sledsim.programs.registry import benchmark as kind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sledsim.hardware import Device
    from sledsim.programs.benchmarks.emulated import Settings

DEVICES = ("sigmetrics2000", "g2", "superdisk", "atlas10k", "mcd")
"""Default devices."""

NAMES = BENCHMARKS
"""The benchmarks, which are the programs that run on several devices."""


def check(name: str, keys: Mapping[str, float] | None = None) -> None:
    """Check that an application can run on this machine.

    Raises
    ------
    SledsimError
        If something is missing; the message says how to get it.
    """
    application = kind(name)(keys or {})
    from sledsim.programs.benchmarks import emulated  # Linux only

    emulated.check(application, emulated.Settings())


def bench(
    name: str,
    devices: Sequence[str] = DEVICES,
    *,
    keys: Mapping[str, float] | None = None,
    settings: Settings | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Outcomes:
    """Run an application on emulated devices, one after the other; needs Linux and root.

    All devices begin with the same bytes, and cold caches. Each outcome has what the closed replay
    of another device's recording predicts: that of the first device, or for itself of the second.

    Parameters
    ----------
    name
        One of `NAMES`.
    devices
        Presets, or paths of device files.
    keys
        Keys of the application to set.
    settings
        How it is run.
    tell
        Called with a line about each step.

    Raises
    ------
    SledsimError
        If anything is missing or wrong; everything is cleaned up.
    """
    from sledsim.programs.benchmarks.emulated import Settings, prepare  # Linux only

    settings = settings or Settings()
    models = {device: device_named(device) for device in devices}
    application = kind(name)(keys or {})
    outcomes, recordings = [], []
    tell(f"{application.title}: making its data")
    with prepare(application, settings) as ready:
        for device in models:
            tell(f"{application.title} on {device}")
            outcome, file = ready.run(device)
            outcomes.append(outcome)
            recordings.append(Recording.load(file))
        predicted = []
        for place, model in enumerate(models.values()):
            source = recordings[0 if place > 0 or len(recordings) == 1 else 1]
            predicted.append(source.predict(model, settings.scheduler))
    return Outcomes(
        dataclasses.replace(outcome, predicted=prediction)
        for outcome, prediction in zip(outcomes, predicted, strict=True)
    )


def replay(
    recording: str | Path, devices: Sequence[str | Device] = DEVICES, scheduler: str = "fcfs"
) -> Outcomes:
    """Replay a recording of an application on simulated devices; needs no rights.

    Parameters
    ----------
    recording
        The path of one, or ``"sample:NAME"``.
    devices
        Devices, presets, or paths of device files.
    scheduler
        Of every mechanism of them.

    Raises
    ------
    SledsimError
        If it cannot be read or replayed.
    """
    from sledsim.traces.files import trace_path  # it imports much

    need_pyarrow()
    source = Recording.load(Path(trace_path(recording)))
    models = (device_named(each) if isinstance(each, str) else each for each in devices)
    return Outcomes(source.replay(model, scheduler) for model in models)


__all__ = [
    "DEVICES",
    "NAMES",
    "Outcome",
    "Outcomes",
    "Prediction",
    "Recording",
    "bench",
    "check",
    "kind",
    "replay",
]
