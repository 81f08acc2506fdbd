"""Loads: generated workloads and replayed traces."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from sledsim import _core
from sledsim._arguments import as_list, based, optional, path_text, real, refuse, text, whole
from sledsim._core import SpecError
from sledsim._load import Load
from sledsim._progress import told
from sledsim.hardware import device_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from os import PathLike
    from typing import Unpack

    from sledsim._key_types import TraceKeys, WorkloadKeys
    from sledsim._name_types import WorkloadName
    from sledsim._progress import ProgressLike
    from sledsim.hardware import DeviceLike
    from sledsim.traces.information import TraceInfo


class SupportsStream(Protocol):
    """A table with the Arrow PyCapsule interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Hand out the table as a stream of Arrow."""


LoadLike: TypeAlias = (
    "Load | WorkloadName | str | PathLike[str] | Mapping[str, object] | SupportsStream"
)
"""A load, or what one is made of: see :func:`load_of`."""


def load_of(given: object, name: str = "load") -> Load:
    """Return a load as it is, or make the one that a name or a mapping stands for.

    That is a workload's name (one of :func:`workloads`, or the path of a TOML file or, ending in
    ``.fio``, of a job file of fio), or a trace
    (``"sample:NAME"``, or the path of a file); a mapping has it, or a load, as its ``base``, beside
    keys of :func:`workload` or :func:`read_trace`.
    """
    if isinstance(given, Load):
        return given
    keys: dict[str, Any] = {}
    if isinstance(given, Mapping):
        given, keys = based(name, given, "a load, the name of a workload, or the path of a trace")
        if isinstance(given, Load):
            return given.with_keys(**keys)
    if hasattr(given, "__arrow_c_stream__"):
        return read_trace(given, **keys)
    if not isinstance(given, str | os.PathLike):
        must = "a load, the name of a workload, the path of a trace, or a mapping with a base"
        refuse(name, given, must)
    named = path_text(name, given)
    if named in workloads() or named.endswith((".toml", ".fio")):
        return workload(named, **keys)
    if not named.startswith("sample:") and not os.path.exists(named):  # noqa: PTH110 (it stays text)
        if named in _core.names("presets"):
            refuse(name, named, "a load; this is a device, which stands behind the load")
        known = ", ".join(workloads())
        refuse(name, named, f"a workload ({known}), or the path of a trace that exists")
    return read_trace(named, **keys)


def workload(name: WorkloadName | str = "random", **keys: Unpack[WorkloadKeys]) -> Load:
    """Make a generated workload.

    Parameters
    ----------
    name
        ``"random"`` (uniform places), ``"zipf"`` (a few places are asked for most),
        ``"hot_cold"`` (a part of the device gets most requests), ``"sequential"`` (streams),
        ``"files"``, ``"scan"``, ``"nurand"`` (parts of a working set), ``"mix"`` of several
        of these, or ``"postmark"`` (PostMark on a file system of about 1999); one of
        :func:`workload_presets`, or the path of a TOML file or of a job file of fio (``.fio``; see
        :func:`sledsim.fio_job`), whose keys are overridden by those given.
    **keys
        ``requests``, ``rate`` (open, per s) or ``queue_depth`` and ``think_ms`` (closed),
        ``read_fraction``, ``mean_size_kib``, ``seed``, ...; see the page on workloads. The parts
        of a mix are a dict of their keys by name:
        ``part={"hot": {"kind": "zipf", "rate": 300}, "scan": {"kind": "sequential"}}``.

    Raises
    ------
    SledsimError
        For an unknown name or key, or a value out of range.
    """
    name = text("workload", path_text("workload", name))
    if name.endswith(".fio"):
        from sledsim.fio_jobs import load_of_job  # many runs do without

        return load_of_job(name, dict(keys))
    return Load(_core.Load.workload(name, list(keys.items())), name)


def read_trace(
    trace: str | PathLike[str] | SupportsStream | Iterable[Mapping[str, object]],
    **keys: Unpack[TraceKeys],
) -> Load:
    """Take a trace as a load; the file is read as the simulation goes.

    Parameters
    ----------
    trace
        The path of a trace in any known format, plain or compressed by gzip, zstd, xz or bzip2,
        ``"sample:NAME"`` for one of :func:`sample_traces`, or ``"-"`` for standard input. A pipe
        is read as the simulation goes; what reads a trace twice (a comparison, and
        ``address="scale"``) copies it to a temporary file before, and a further run needs
        :meth:`Load.keep`.
        Or a frame of polars, pandas, pyarrow or any library with the Arrow PyCapsule interface, or
        mappings, one for each request: ``columns`` gives their names roles and units, as for a
        file; rows of sledsim need none. It is kept in a temporary file until the process ends.
    **keys
        ``trace_format`` (told by the content unless given), ``trace_device`` (a number, a name,
        ``"all"`` or ``"separate"``), ``columns``, ``time_unit``, ``place_unit``, ``length_unit``,
        ``address`` (``"error"``, ``"wrap"``, ``"scale"`` or
        ``"compact"``), ``address_offset``, ``time_scale``, ``time_origin``, ``sort_ms``,
        ``glitches``, ``requests``,
        ``queue_depth``, ``think_ms``, ...; see the page on workloads. ``think="recorded"`` replays
        a recording closed: each request as long after the completion it waited for as it was
        recorded, among those of its own stream or, with ``depends_on="all"``, of any. What was done
        to the trace is in :attr:`Run.workload`.

    Raises
    ------
    SledsimError
        For an unknown key, a value out of range, or an unknown sample.
    """
    from sledsim.traces import files, frames  # many runs do without

    if isinstance(trace, str | os.PathLike) or not frames.is_frame(trace):
        path, name = files.trace_path(trace), str(trace)
    else:
        path, name = str(frames.file_of(trace)), "frame"
    return Load(_core.Load.trace(path, list(keys.items())), name)


def trace_info(
    path: str | PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 (as the option is called)
    columns: str | None = None,
    time_unit: str | None = None,
    place_unit: str | None = None,
    length_unit: str | None = None,
    sort_ms: float | None = None,
    blk_action: str | None = None,
    drop_glitches: bool = False,
    quick: bool = False,
    interleave_blocks: int | None = None,
    max_units: int | None = None,
    picture: bool = False,
    progress: ProgressLike = None,
) -> TraceInfo:
    """Read a whole trace and return its characteristics; see the page on traces.

    Memory does not grow with the trace.

    Parameters
    ----------
    path
        A trace, ``"sample:NAME"``, or ``"-"`` for standard input.
    format
        Its format; recognised by its content by default.
    columns
        The columns of fields, for formats without fixed ones.
    time_unit, place_unit, length_unit
        The units of times, first bytes and lengths in a text trace, where they are not those of
        its format: ``"s"``, ``"ms"``, ``"us"``, ``"ns"``; ``"B"``, ``"KiB"``, ``"MiB"``,
        ``"GiB"``; or a number of one, such as ``"512B"``.
    sort_ms
        Puts requests in order that are late by up to this.
    blk_action
        Which events of a ``blkparse`` trace are the requests: ``"Q"`` (queued, the default),
        ``"D"`` (issued) or ``"C"`` (complete).
    drop_glitches
        Drops single requests whose time is more than a minute above, or below, the times of both
        their neighbours, as after a glitch of the clock, and counts them.
    quick
        Leaves footprint and reuse out, which take most of the time.
    interleave_blocks
        Counts requests as sequential also if they leave out exactly so many blocks.
    max_units
        How many distinct units of 4 KiB footprint and reuse follow exactly, 2^18 by default.
        Of larger traces they follow a sample of this size, and the result tells its rate.
    picture
        Adds the data of a picture, for :meth:`TraceInfo.plot`: ``timeline``, ``map`` and
        ``lru_curve``.
    progress
        ``True`` for a bar on stderr, or what is called now and then with the number of bytes read
        and of all, if known.

    Raises
    ------
    SledsimError
        For a file that cannot be read, or its first bad line.
    """
    from sledsim.traces import files  # many runs do without

    with told(progress, "bytes") as beat:
        document = _core.trace_info(
            files.trace_path(path),
            _reading(
                format,
                columns,
                (time_unit, place_unit, length_unit),
                sort_ms,
                blk_action,
                drop_glitches,
            ),
            _look(quick, interleave_blocks, max_units, picture),
            beat,
        )
    return _information(document)


def load_info(
    load: LoadLike,
    *,
    device: DeviceLike | None = None,
    blocks: int | None = None,
    quick: bool = False,
    interleave_blocks: int | None = None,
    max_units: int | None = None,
    picture: bool = False,
    progress: ProgressLike = None,
) -> TraceInfo:
    """Draw all requests of an open load and return their characteristics; nothing is simulated.

    The result is that of :func:`trace_info`, with ``streams`` in place of devices: sequential is
    what starts where the request before of its stream ended. The parts of a mix are streams.

    Parameters
    ----------
    load
        An open workload, or a trace as it is replayed.
    device, blocks
        The space it is laid on: a device, or a number of blocks.
    quick, interleave_blocks, max_units, picture
        As in :func:`trace_info`.
    progress
        ``True`` for a bar on stderr, or what is called now and then with the number of requests
        drawn and of all, if known.

    Raises
    ------
    SledsimError
        For errors in the load, or a closed one.
    """
    if (device is None) == (blocks is None):
        raise SpecError(
            "device or blocks: give one of them; where requests go depends on how many blocks "
            "there are"
        )
    with told(progress) as beat:
        document = _core.load_info(
            load_of(load)._core,
            device_of(device).blocks if device is not None else whole("blocks", blocks),
            _look(quick, interleave_blocks, max_units, picture),
            beat,
        )
    return _information(document)


def _information(document: str) -> TraceInfo:
    from sledsim.traces.information import TraceInfo  # runs do without

    return TraceInfo(json.loads(document))


def workloads() -> list[str]:
    """Names of the workloads: the kinds, and the files that come with sledsim."""
    return [*_core.names("workloads"), *_core.names("workload_presets")]


def workload_presets() -> list[str]:
    """Return the names of the workloads that come with sledsim."""
    return _core.names("workload_presets")


def workload_spec(name: str) -> dict[str, Any]:
    """Return the keys of a workload of :func:`workload_presets` or of a TOML file.

    Returns
    -------
    dict
        ``name``, ``about``, and ``parameters``: each key with its ``value``, ``source`` and
        ``origin``.

    Raises
    ------
    SledsimError
        For an unknown name, a file that cannot be read, or an error in a key.
    """
    spec: dict[str, Any] = json.loads(
        _core.workload_show(text("workload", path_text("workload", name)))
    )
    return spec


def convert_trace(
    inputs: str | PathLike[str] | Sequence[str | PathLike[str]],
    output: str | PathLike[str],
    *,
    to: str | None = None,
    format: str | None = None,  # noqa: A002
    columns: str | None = None,
    time_unit: str | None = None,
    place_unit: str | None = None,
    length_unit: str | None = None,
    sort_ms: float | None = None,
    blk_action: str | None = None,
    drop_glitches: bool = False,
    devices: Sequence[int | str] = (),
    from_s: float | None = None,
    until_s: float | None = None,
    every: int | None = None,
    sample: float | None = None,
    seed: int = 1,
    requests: int | None = None,
    rebase: bool = False,
    time_scale: float = 1.0,
    widen: bool = False,
    keep_devices: bool = False,
    progress: ProgressLike = None,
) -> dict[str, Any]:
    """Write traces in another format: merged, cut, sampled, scaled.

    Returns a report; see the page on traces. The file appears when it is complete.

    Parameters
    ----------
    inputs
        A trace, or several to merge by time; ``"sample:NAME"`` and ``"-"`` too.
    output, to
        The file to write, and its format; that of its ending by default.
    format, columns, time_unit, place_unit, length_unit, sort_ms, blk_action, drop_glitches
        As in :func:`trace_info`.
    devices
        Takes only these devices, by number or name.
    from_s, until_s
        Takes only requests from this time on and before that, on the clock of the output.
    every
        Takes every n-th request, from the first on.
    sample, seed
        Takes a share of the 4 KiB units in which requests begin, chosen by hash, so that reuse
        stays what it is.
    requests
        Takes the first so many.
    rebase
        Makes the first request taken time zero.
    time_scale
        Divides the times.
    widen
        Takes in the whole of every block of 512 bytes that is touched.
    keep_devices
        Keeps the device numbers of several traces, even if they collide.
    progress
        ``True`` for a bar on stderr, or what is called now and then with the number of bytes read
        and of all, if known.

    Raises
    ------
    SledsimError
        For a file that cannot be read or written, a bad line, a request that the format cannot
        hold, or when no request is left.
    """
    choices: dict[str, object] = {
        "devices": [
            device if isinstance(device, str) else str(whole("devices", device))
            for device in as_list("devices", devices)
        ],
        "from_s": optional(real, "from_s", from_s),
        "until_s": optional(real, "until_s", until_s),
        "requests": optional(whole, "requests", requests),
        "every": optional(whole, "every", every),
        "sample": optional(real, "sample", sample),
        "seed": whole("seed", seed),
        "rebase": bool(rebase),
        "time_scale": real("time_scale", time_scale),
        "widen": bool(widen),
        "keep_devices": bool(keep_devices),
    }
    from sledsim.traces import files  # many runs do without

    with told(progress, "bytes") as beat:
        document = _core.trace_convert(
            [files.trace_path(file) for file in as_list("inputs", inputs)],
            path_text("output", output),
            optional(text, "to", to),
            _reading(
                format,
                columns,
                (time_unit, place_unit, length_unit),
                sort_ms,
                blk_action,
                drop_glitches,
            ),
            choices,
            beat,
        )
    report: dict[str, Any] = json.loads(document)
    return report


def generate_trace(
    load: LoadLike,
    output: str | PathLike[str],
    *,
    device: DeviceLike | None = None,
    blocks: int | None = None,
    scheduler: str = "fcfs",
    to: str | None = None,
    progress: ProgressLike = None,
) -> dict[str, Any]:
    """Write the requests of a load as a trace.

    Returns a report; see the page on traces. The file appears when it is complete.

    Parameters
    ----------
    load
        A workload; what is open is written as it is drawn.
    output, to
        The file to write, and its format; that of its ending by default.
    device, scheduler
        What the requests go to; a closed load is simulated on it and written with the arrivals
        that happened.
    blocks
        Instead of a device, how many blocks there are.
    progress
        ``True`` for a bar on stderr, or what is called now and then with the number of requests
        done and of all, if known.

    Raises
    ------
    SledsimError
        For errors in the load or the output, or a closed load without a device.
    """
    with told(progress) as beat:
        document = _core.trace_generate(
            load_of(load)._core,
            path_text("output", output),
            optional(text, "to", to),
            (
                None if device is None else device_of(device)._core,
                text("scheduler", scheduler),
                optional(whole, "blocks", blocks),
            ),
            beat,
        )
    report: dict[str, Any] = json.loads(document)
    return report


def _reading(
    trace_format: object,
    columns: object,
    units: tuple[object, object, object],
    sort_ms: object,
    blk_action: object,
    drop_glitches: object,
) -> dict[str, object]:
    return {
        "format": optional(text, "format", trace_format),
        "columns": optional(text, "columns", columns),
        **{
            key: optional(text, key, unit)
            for key, unit in zip(("time_unit", "place_unit", "length_unit"), units, strict=True)
        },
        "sort_ms": optional(real, "sort_ms", sort_ms),
        "blk_action": optional(text, "blk_action", blk_action),
        "drop_glitches": bool(drop_glitches),
    }


def _look(
    quick: object, interleave_blocks: object, max_units: object, picture: object
) -> dict[str, object]:
    return {
        "quick": bool(quick),
        "interleave_blocks": optional(whole, "interleave_blocks", interleave_blocks),
        "max_units": optional(whole, "max_units", max_units),
        "picture": bool(picture),
    }
