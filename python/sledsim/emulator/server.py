"""Servers of emulated devices."""

from __future__ import annotations

import contextlib
import json
import os
import time
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from sledsim import _core
from sledsim._arguments import as_list, optional, path_text, placed, real, text, whole
from sledsim._core import SledsimError, SpecError
from sledsim.emulator.tip_faults import with_faults
from sledsim.hardware import Device, device_of
from sledsim.layout_maps import with_layout

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sledsim._name_types import LayoutName, SchedulerName
    from sledsim.hardware import DeviceLike

Path: TypeAlias = str | PathLike[str]

_LOOK_S = 0.1
MOST_GRACE_S = 1e6
"""How long requests under way may take at most when a server stops."""


@dataclass(frozen=True, kw_only=True)
class Export:
    """A device to be served; by itself a device has the defaults of the rest."""

    device: DeviceLike
    """The device, or the name of a preset."""
    name: str | None = None
    """Its name for clients; by default that of the device."""
    scheduler: SchedulerName | str = "fcfs"
    """Of every mechanism of it."""
    layout: LayoutName | str | Mapping[str, object] | None = None
    """The layout, as in :func:`sledsim.simulate`."""
    batch_window_ms: float | None = None
    """Group the commands that are there so long after the first, in ms of the device, whatever its
    table ``[batching]`` says; a single sled only."""
    file: Path | None = None
    """The backing file, made if there is none; without one the data are in memory."""
    read_only: bool = False
    """Whether writes are refused."""
    speed: float = 1.0
    """Seconds of the device in a real second."""
    faults: Mapping[str, object] | None = None
    """Keys of the table ``[faults]``, on top of the device's; a single sled or disk only."""
    record: Path | None = None
    """A Parquet file for the recording of requests; it is complete when the server stops."""
    power_cut: str | None = None
    """When power fails: ``"manual"`` (by :meth:`Server.power_cut` only), ``"at=SECONDS"``,
    ``"after=REQUESTS"``, ``"flush=COUNT"`` or ``"rate=PER_SECOND,seed=NUMBER"``, in model time;
    with ``",back=SECONDS"`` power returns so much later, else by :meth:`Server.power_on`."""
    record_data: Path | None = None
    """A new folder for a recording of all requests with their data, from which
    :class:`sledsim.emulator.DataRecording` rebuilds what the device holds after a power cut at any
    instant; it is complete when the server stops."""

    def _core(self) -> dict[str, object]:
        base = with_faults(device_of(self.device), self.faults)
        core = with_layout(base, self.layout)._core
        if self.batch_window_ms is not None:
            window_ms = real("batch_window_ms", self.batch_window_ms)
            core = core.with_batch_window(window_ms, "batch_window_ms")
        return {
            "name": base.name if self.name is None else text("name", self.name),
            "device": core,
            "scheduler": text("scheduler", self.scheduler),
            "file": optional(path_text, "file", self.file),
            "read_only": bool(self.read_only),
            "speed": real("speed", self.speed),
            "record": optional(path_text, "record", self.record),
            "power_cut": optional(text, "power_cut", self.power_cut),
            "record_data": optional(path_text, "record_data", self.record_data),
        }


class Server:
    """A server at work; made by :func:`serve`. Leaving its ``with`` block stops it."""

    def __init__(self, core: _core.Server) -> None:
        self._core = core
        self.uris: list[str] = []
        """Where clients find it, one for each address: those of NBD, then iSCSI, then RPC."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<sledsim server: {', '.join(self.uris) or 'no address'}>"

    @property
    def is_alive(self) -> bool:
        """Whether clients can connect.

        Not once it has stopped, its only mount point is gone or a device has failed.
        """
        return self._core.is_alive()

    def status(self) -> dict[str, Any]:
        """Return the statistics so far; of a stopped server, the final ones.

        Returns
        -------
        dict
            ``exports``, each with its ``name``, ``bytes``, ``allocated_bytes``, ``outstanding``
            requests, the ``summary`` of its device's times, as of a simulation, and
            ``lateness_us``: how much later than that requests were answered, in real time; and
            ``front_ends``. Of an export whose backing file could not be flushed, ``store_failed``
            says why, of one whose recording failed, ``recording_failed``, and of one whose model
            met an error in sledsim, ``device_failed``. A sled with a table
            ``[faults]`` has ``faults``: ``tips_failed``, ``tips_replaced``, ``spares_left``,
            ``blocks_at_risk`` (with missing tip sectors that the code still recovers),
            ``blocks_lost``, ``blocks_given_up``, ``tip_sectors_rebuilt`` and ``blocks_recovered``
            for reads. Of a disk with such a table, ``summary["devices"]`` has the ``counts`` of its
            errors, and in ``episodes`` those in which it was slow, with what they delayed.
        """
        status: dict[str, Any] = json.loads(self._core.status())
        return status

    def power_cut(self, export: str = "") -> dict[str, Any]:
        """Let power fail now.

        In one instant the device stops. Requests under way are never answered, and connections
        end. What it then holds is what its model says: the blocks on its media, the block under
        the tips torn, nothing of a volatile buffer.

        Parameters
        ----------
        export
            The name of the export, which was started with a ``power_cut``; by default the first.

        Returns
        -------
        dict
            The ledger: ``at_ns``; how many ``writes`` since power-on, ``acknowledged`` ones,
            ``acknowledged_unflushed`` ones (not promised to survive), ``lost`` acknowledged ones,
            ``promised_lost`` (0 unless the device breaks its promise), ``promised_torn`` (promised
            data in a block that a later write tore), ``torn`` blocks, of these ``unreadable`` and
            ``silent`` ones; the ``lost_writes``; ``startup_ns`` and ``recovery_ns`` until it takes
            requests when power returns.

        Raises
        ------
        SledsimError
            If power is off, or the export keeps no record of what power cuts leave.
        """
        ledger: dict[str, Any] = json.loads(self._core.power(text("export", export), on=False))
        return ledger

    def power_on(self, export: str = "") -> dict[str, Any]:
        """Let power return; the device starts and recovers, and requests wait for that.

        Parameters
        ----------
        export
            The name of the export; by default the first.

        Returns
        -------
        dict
            ``at_ns`` of model time; from then ``startup_ns``, and then ``recovery_ns`` of a hybrid,
            until it takes requests.

        Raises
        ------
        SledsimError
            If power is on.
        """
        said: dict[str, Any] = json.loads(self._core.power(text("export", export), on=True))
        return said

    def wait(self) -> None:
        """Wait until no client can connect any more."""
        while self.is_alive:
            time.sleep(_LOOK_S)

    def stop(self, grace_s: float = 10.0) -> dict[str, Any]:
        """Stop: take no more requests, answer those under way, flush, complete recordings.

        Parameters
        ----------
        grace_s
            How long requests under way may take, at most a million seconds; those that take longer
            are never answered. Signals do not interrupt it: Ctrl-C is raised when all is complete.

        Returns
        -------
        dict
            The final statistics, as :meth:`status`.

        Raises
        ------
        SledsimError
            If a backing file could not be flushed or a recording not be completed, now or before;
            the server is stopped all the same, and :meth:`status` has its statistics. A second call
            raises nothing.
        """
        self._core.stop(real("grace_s", grace_s, 0, MOST_GRACE_S))
        return self.status()


def serve(
    exports: Device | Export | str | Sequence[Device | Export | str],
    *,
    nbd: str | Sequence[str] = (),
    iscsi: str | Sequence[str] = (),
    rpc: str | Sequence[str] = (),
    fuse: Path | None = None,
    iscsi_secrets: Path | None = None,
    tls: Path | None = None,
    allow_unauthenticated_remote: bool = False,
    max_clients: int | None = None,
    max_outstanding: int | None = None,
    busy_poll_us: int = 0,
) -> Server:
    """Serve devices to real programs, in real time; Linux only.

    Parameters
    ----------
    exports
        The exports: a device, the name of a preset, an :class:`Export`, or several. To NBD
        clients the first also has the empty name.
    nbd
        Addresses for NBD clients: ``unix:PATH``, ``HOST:PORT`` or ``:PORT`` (on this machine only).
    iscsi
        Addresses for iSCSI initiators: ``HOST:PORT``, or ``HOST:PORT/NAME`` with the name of the
        target. Export n is logical unit n of it.
    rpc
        Addresses for RPC clients, such as :func:`sledsim.connect`.
    fuse
        A mount point that shows each export as a file of its name.
    iscsi_secrets
        A file, readable by its owner only, with lines ``initiator NAME SECRET`` and perhaps
        ``target NAME SECRET``: initiators must authenticate by CHAP. Needed at addresses beyond
        this machine.
    tls
        A folder with ``server-cert.pem``, ``server-key.pem`` and ``ca-cert.pem``: clients must show
        a certificate that the last one signed. Not for iSCSI, which has no TLS.
    allow_unauthenticated_remote
        Accept NBD and RPC clients without authentication at addresses beyond this machine.
    max_clients
        How many connections there may be at once, of each address.
    max_outstanding
        How many requests (RPC: batches) of a connection may be under way; more wait in the socket.
    busy_poll_us
        For how many microseconds an NBD or iSCSI connection polls for its next request before it
        sleeps. Each connection then keeps a processor busy for so long after each request.

    Raises
    ------
    SledsimError
        For errors in a device or an address, a file that is in use or of another size,
        or a mount point. Nothing is served then.
    """
    if not hasattr(_core, "Server"):
        raise SledsimError("the emulator needs Linux")
    wanted = as_list("exports", exports)
    nbd = [text("nbd", address) for address in as_list("nbd", nbd)]
    iscsi = [text("iscsi", address) for address in as_list("iscsi", iscsi)]
    rpc = [text("rpc", address) for address in as_list("rpc", rpc)]
    if not wanted:
        raise placed(SpecError, "there is no device to serve", key="exports")
    if not nbd and not iscsi and not rpc and fuse is None:
        raise SpecError(
            "no client could connect: give an address (nbd, iscsi, rpc) or a mount point (fuse)"
        )
    if iscsi_secrets is not None and not iscsi:
        raise SpecError("iscsi_secrets: has no effect without an address for iSCSI")
    if tls is not None and not nbd and not rpc:
        raise SpecError("tls: has no effect without an address for NBD or RPC")
    max_clients = optional(whole, "max_clients", max_clients, 1, 1 << 16)
    max_outstanding = optional(whole, "max_outstanding", max_outstanding, 1, 1 << 16)
    busy_poll_us = whole("busy_poll_us", busy_poll_us, 0, 1000)
    specs = [
        each if isinstance(each, Export) else Export(device=device_of(each)) for each in wanted
    ]
    _check_files(specs)
    server = Server(_core.Server([spec._core() for spec in specs]))
    try:
        core = server._core
        who = (optional(path_text, "tls", tls), bool(allow_unauthenticated_remote))
        limits = (max_clients, max_outstanding)
        server.uris += [core.serve_nbd(each, *who, limits, busy_poll_us) for each in nbd]
        secrets = optional(path_text, "iscsi_secrets", iscsi_secrets)
        server.uris += [core.serve_iscsi(each, secrets, limits, busy_poll_us) for each in iscsi]
        server.uris += [core.serve_rpc(each, *who, limits) for each in rpc]
        if fuse is not None:
            core.serve_fuse(path_text("fuse", fuse))
    except SledsimError:
        with contextlib.suppress(SledsimError):
            server.stop(0.0)
        raise
    return server


def _check_files(specs: Sequence[Export]) -> None:
    """Check that no recording replaces a file that is served, or another recording."""
    files = [path_text("file", each.file) for each in specs if each.file is not None]
    taken: set[str] = set()
    for each in specs:
        if each.record is None:
            continue
        record = path_text("record", each.record)
        _core.refuse_overwriting(record, files)
        if os.path.realpath(record) in taken:
            raise placed(
                SpecError, f"record = {record}: is the recording of another export", key="record"
            )
        taken.add(os.path.realpath(record))
