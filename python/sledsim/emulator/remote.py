"""A client of the RPC server: the parallel interface of a served device, and batches with data."""

from __future__ import annotations

import json
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

from sledsim import _core
from sledsim._arguments import placed
from sledsim._core import SledsimError, SpecError
from sledsim.hardware import Parallelism, wrap

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import TracebackType

    from sledsim.hardware import Device

Data: TypeAlias = bytes | bytearray | memoryview
"""Data to be written."""

Command: TypeAlias = (
    tuple[Literal["read"], int, int]
    | tuple[Literal["write"], int, Data]
    | tuple[Literal["write"], int, Data, bool]
)
"""``("read", lbn, blocks)``, ``("write", lbn, data)`` with whole blocks of 512 bytes, or
``("write", lbn, data, fua)``: ``fua`` has it answered only when it survives a crash."""


@dataclass(frozen=True, slots=True)
class RemoteOutcome:
    """The outcome of one command of a batch, in time of the device.

    The names are those of the columns of a recording.
    """

    id: int
    """Unique for the export; the commands of a batch are numbered one by one."""
    stream: int
    """Of the connection."""
    op: str
    """``"read"`` or ``"write"``."""
    lbn: int
    blocks: int
    arrival_ns: int
    """The same for all commands of a batch."""
    start_ns: int
    """When the sled began to move for the first pass with blocks of it."""
    completion_ns: int
    queue_depth: int
    """Requests waiting for the mechanism or at it when it arrived."""
    passes: int
    """Uninterrupted sweeps over the media with blocks of it."""
    retries: int
    overhead_ns: int
    queue_ns: int
    seek_ns: int
    x_seek_ns: int
    y_seek_ns: int
    settle_ns: int
    turnaround_ns: int
    rotation_ns: int
    head_switch_ns: int
    transfer_ns: int
    bus_ns: int
    retry_ns: int
    other_ns: int
    energy_nj: int | None
    lateness_ns: int
    """How much later than its completion it was answered."""
    error: str | None
    """Why it failed, if it did."""


class RemoteBatch:
    """The outcome of a batch."""

    def __init__(self, core: _core.RemoteAnswer) -> None:
        self._core = core

    def __repr__(self) -> str:
        return f"<sledsim batch of {len(self._core)} commands>"

    @property
    def data(self) -> list[bytes | None]:
        """The data that each command read, in their order; ``None`` for a write or a failure."""
        return self._core.data()

    @property
    def outcomes(self) -> list[RemoteOutcome]:
        """The outcome of each command, in their order."""
        return [RemoteOutcome(**outcome) for outcome in self._core.outcomes()]

    @property
    def response_s(self) -> float:
        """From the arrival of the batch to the last completion, in seconds of the device."""
        outcomes = self.outcomes
        return (max(one.completion_ns for one in outcomes) - outcomes[0].arrival_ns) / 1e9


class RemoteDevice:
    """A served device; made by :func:`connect`. Leaving its ``with`` block ends the connection.

    Its methods wait for the server without the interpreter, and may be called by several threads.
    """

    def __init__(self, client: _core.RpcClient, name: str) -> None:
        self._remote: _core.Remote | None = client.open(name)
        self._client: _core.RpcClient | None = client
        self._about: dict[str, Any] = json.loads(self._remote.about())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        state = f"{self.name}: {self.blocks} blocks" if self._remote else "closed"
        return f"<sledsim remote device {state}>"

    @property
    def _core(self) -> _core.Remote:
        if self._remote is None:
            raise SledsimError("the connection was closed")
        return self._remote

    @property
    def name(self) -> str:
        """Its name on the server."""
        return self._core.name

    @property
    def blocks(self) -> int:
        """How many blocks of 512 bytes it has: LBNs ``0`` to ``blocks - 1``."""
        return self._core.blocks

    @property
    def read_only(self) -> bool:
        """Whether writes are refused."""
        return bool(self._about["read_only"])

    @property
    def scheduler(self) -> str:
        """The scheduler of its mechanisms."""
        return str(self._about["scheduler"])

    @property
    def layout(self) -> str | None:
        """Its layout, if it has one other than that of the device."""
        return self._about["layout"] or None

    @property
    def speed(self) -> float:
        """Seconds of the device in a real second."""
        return float(self._about["speed"])

    @property
    def exports(self) -> list[str]:
        """The names of all exports of the server."""
        return [] if self._client is None else list(self._client.exports)

    @property
    def device(self) -> Device:
        """The same device here, to be asked for seek times or simulated.

        Raises
        ------
        SledsimError
            If a part of it is based on a file that only the server has.
        """
        return wrap(self._core.device())

    @property
    def parallelism(self) -> Parallelism:
        """The parallelism of the sled, as :attr:`Sled.parallelism`; ``M`` is as of now."""
        return Parallelism(**self._core.parallelism())

    def equivalent(self, lbn: int, at_s: float | None = None) -> list[int]:
        """Return the equivalence class of a block, as :meth:`Sled.equivalent`.

        Parameters
        ----------
        lbn
            A block.
        at_s
            At which time of the device; now by default.

        Raises
        ------
        SledsimError
            For a block that the device does not have, or a device that is no single sled.
        """
        return self._core.equivalent(_lbn("lbn", lbn), at_s)

    def conflicting(self, a: int, b: int, at_s: float | None = None) -> bool:
        """Return whether two blocks cannot be accessed together, as :meth:`Sled.conflicting`.

        Parameters
        ----------
        a, b
            Blocks.
        at_s
            At which time of the device; now by default.

        Raises
        ------
        SledsimError
            For a block that the device does not have, or a device that is no single sled.
        """
        return self._core.conflicting(_lbn("a", a), _lbn("b", b), at_s)

    def boundaries(self, lbn: int) -> tuple[int, int]:
        """Return first and last block of the track of a block, as :meth:`Sled.boundaries`.

        Under a layout it is the part of the track that lies side by side with the block.

        Raises
        ------
        SledsimError
            For a block that the device does not have, or a device that is no single sled.
        """
        return self._core.boundaries(_lbn("lbn", lbn))

    def batch(self, commands: Iterable[Command], must_be_parallel: bool = False) -> RemoteBatch:
        """Serve reads and writes as one batch, and wait until the last is complete.

        Parameters
        ----------
        commands
            ``("read", lbn, blocks)`` and ``("write", lbn, data)``, which must not overlap.
        must_be_parallel
            Refuse the batch unless one pass over the media accesses all of it.

        Raises
        ------
        RemoteError
            If the server refused it, of which nothing was done then, or the device or its store
            failed to serve a command; the attribute ``batch`` has the outcome of all.
        """
        batch = RemoteBatch(self._core.batch(commands, must_be_parallel))
        _check(batch, 0)
        return batch

    def batches(
        self,
        batches: Iterable[Iterable[Command]],
        under_way: int = 64,
        must_be_parallel: bool = False,
    ) -> Iterator[RemoteBatch]:
        """Serve batches of which several are under way, and yield the outcome of each, in order.

        Parameters
        ----------
        batches
            Each as for :meth:`batch`; taken as there is room for them.
        under_way
            How many may be under way.
        must_be_parallel
            As for :meth:`batch`.

        Raises
        ------
        RemoteError
            As :meth:`batch`; the attribute ``index`` says which batch, from 0. Those that are under
            way by then are served all the same.
        """
        if under_way < 1:
            raise placed(SpecError, f"under_way = {under_way}: must be at least 1", key="under_way")
        return _pipelined(self._core.pipeline(under_way), batches, under_way, must_be_parallel)

    def flush(self) -> None:
        """Make completed writes survive a crash of the server's machine.

        Raises
        ------
        RemoteError
            If that failed.
        """
        self._core.flush()

    def power_cut(self) -> dict[str, int]:
        """Let power fail now, as :meth:`Server.power_cut` does; returns the counts of its ledger.

        Raises
        ------
        RemoteError
            If power is off, or the export was started without a power cut.
        """
        return self._core.set_power(on=False)

    def power_on(self) -> dict[str, int]:
        """Let power return, as :meth:`Server.power_on` does.

        Raises
        ------
        RemoteError
            If power is on, or the export was started without a power cut.
        """
        return self._core.set_power(on=True)

    def close(self) -> None:
        """End the connection."""
        self._remote = self._client = None


def _pipelined(
    pipeline: _core.Pipeline,
    batches: Iterable[Iterable[Command]],
    under_way: int,
    must_be_parallel: bool,
) -> Iterator[RemoteBatch]:
    answers: dict[int, _core.RemoteAnswer | _core.RemoteError] = {}
    rest = iter(batches)
    sent = next_one = 0
    while True:
        while sent - next_one < under_way:
            try:
                commands = next(rest)
            except StopIteration:
                break
            sent = pipeline.send(commands, must_be_parallel) + 1
        if next_one == sent:
            return
        while next_one not in answers:
            received = pipeline.receive()
            if received is not None:
                answers[received[0]] = received[1]
        answer = answers.pop(next_one)
        if isinstance(answer, _core.RemoteError):
            answer.index = next_one
            raise answer
        batch = RemoteBatch(answer)
        _check(batch, next_one)
        next_one += 1
        yield batch


def _check(batch: RemoteBatch, index: int) -> None:
    """Raise the error of a command that failed."""
    failure = batch._core.failure()  # one module
    if failure is None:
        return
    command, why = failure
    error = _core.RemoteError(f"commands[{command}] failed: {why}")
    error.code = "DATA_LOSS"
    error.index = index
    error.batch = batch
    raise error


def _lbn(name: str, value: int) -> int:
    if not 0 <= value < 1 << 64:
        raise placed(SpecError, f"{name} = {value}: must be a block of the device", key=name)
    return value


def connect(
    address: str,
    export: str | None = None,
    *,
    tls: str | PathLike[str] | None = None,
    timeout_s: float = 10.0,
) -> RemoteDevice:
    """Connect to a device that ``sledsim serve --rpc`` or :func:`serve` serves; Linux only.

    Parameters
    ----------
    address
        ``unix:PATH``, ``HOST:PORT`` or ``:PORT``, or one of ``Server.uris``.
    export
        The name of the device on the server; by default its first one.
    tls
        A folder with ``ca-cert.pem``, which must have signed the server's certificate, and
        ``client-cert.pem`` with ``client-key.pem``, if the server asks for them.
    timeout_s
        Timeout for the handshake with the server.

    Raises
    ------
    RemoteError
        If there is no server, or something else, or no such export.
    """
    if not hasattr(_core, "RpcClient"):
        raise SledsimError("the client of the emulator needs Linux")
    client = _core.RpcClient(address, None if tls is None else str(tls), float(timeout_s))
    return RemoteDevice(client, "" if export is None else export)
