"""Job files of fio as loads.

Options, their defaults and their meaning are those of the manual of fio 3.33 (``man fio``); where
its program does otherwise, as seen in the log that it writes of its requests, those of the program.
"""

from __future__ import annotations

import json
import re
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

from sledsim import _core
from sledsim._arguments import path_text, text
from sledsim._load import Load

if TYPE_CHECKING:
    from os import PathLike

    from sledsim.fio_jobs.requests import Client
    from sledsim.hardware import DeviceLike


class FioJob(NamedTuple):
    """What a job file stands for: ``simulate(fio_job("job.fio").load, "g2")``."""

    load: Load
    """The workload: a generator, or a mix of one for each job and each of its ``numjobs``."""
    cautions: list[str]
    """What fio would do otherwise than the load does, each with file, line and section."""
    ignored: list[str]
    """Options of the file that change no request."""


def fio_job(
    path: str | PathLike[str], *, device: DeviceLike | None = None, **keys: object
) -> FioJob:
    """Make a load of a job file of fio; see the page on fio.

    Parameters
    ----------
    path
        The file.
    device
        What it is to run on: needed for a ``size`` or an ``offset`` in percent, and for a job
        without a ``size``. Regions are compared with its size.
    **keys
        Keys of the workload that override those of the file: ``requests``, ``seed``, ...

    Raises
    ------
    SledsimError
        For a line that is wrong, an option that would change the requests and is not taken, and a
        file that cannot be read.
    """
    from sledsim.hardware import device_of  # few loads need one

    blocks = None if device is None else device_of(device).blocks
    file = text("path", path_text("path", path))
    made, cautions, ignored = _made(file, blocks, "requests" in keys)
    core = _core.Load.workload(made.pop("kind"), list(made.items()))
    load = Load(core, file)
    return FioJob(load.with_keys(**keys) if keys else load, cautions, ignored)


def load_of_job(file: str, keys: dict[str, Any]) -> Load:
    """Return the load of a job file, and warn of what fio would do otherwise."""
    job = fio_job(file, **keys)
    for caution in job.cautions:
        warnings.warn(caution, UserWarning, stacklevel=4)
    return job.load


def settings_of_job(
    file: str, blocks: int | None, *, counted: bool
) -> tuple[str, list[str], list[str]]:
    """Return a job file as a command line has it: kind, settings and cautions.

    Parameters
    ----------
    file
        The job file.
    blocks
        How many blocks the device has, if known.
    counted
        Whether the number of requests is given elsewhere.
    """
    made, cautions, _ = _made(file, blocks, counted)
    kind = made.pop("kind")
    parts = made.pop("part", {})
    settings = [f"{key}={json.dumps(value)}" for key, value in made.items()]
    settings += [
        f"part.{name}.{key}={json.dumps(value)}"
        for name, part in parts.items()
        for key, value in part.items()
    ]
    return kind, settings, cautions


def _made(
    file: str, blocks: int | None, counted: bool
) -> tuple[dict[str, Any], list[str], list[str]]:
    """Return the keys of the workload, the cautions, and the options that were ignored."""
    from sledsim.fio_jobs.job_file import sections  # loads that are no job files do without
    from sledsim.fio_jobs.options import IGNORED
    from sledsim.fio_jobs.requests import clients_of
    from sledsim.fio_jobs.values import Job

    cautions: list[str] = []
    ignored: dict[str, None] = {}
    clients: dict[str, Client] = {}
    jobs = sections(file)
    for section in jobs:
        job = Job(file, section, cautions)
        ignored |= dict.fromkeys(name for name in section.options if name in IGNORED)
        made_of = clients_of(job, blocks)
        for number, client in enumerate(made_of):
            clients[_part_name(section.name, number, clients)] = client
        if made_of[0].requests is None and not counted:
            problem = (
                "ends by the clock, and a closed load by its number of requests; give requests, as "
                "in --set requests=10000"
            )
            job.refuse("time_based", problem)
    counts = [client.requests for client in clients.values()]
    if len(jobs) > 1 and any(counts):
        each = ", ".join(f"{name} {client.requests or 'all'}" for name, client in clients.items())
        cautions.append(
            f"{file}: jobs go on here until all together have sent all requests; in fio each "
            f"ends with its own ({each[:200]}), so other shares of the requests are theirs"
        )
    made: dict[str, Any] = dict(next(iter(clients.values())).keys)
    if len(clients) > 1:
        made = {"kind": "mix", "part": {name: each.keys for name, each in clients.items()}}
    if None not in counts:
        made["requests"] = sum(count for count in counts if count is not None)
    return made, cautions, list(ignored)


def _part_name(section: str, number: int, taken: dict[str, Client]) -> str:
    """Return the name of a part of a mix, which has letters, digits, ``_`` and ``-`` alone."""
    name = re.sub(r"[^A-Za-z0-9_-]", "_", section) + (f"_{number}" if number else "")
    while name in taken:
        name += "_"
    return name
