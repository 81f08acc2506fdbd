"""The parallel interface over iSCSI: a client of a few lines on libiscsi, by ctypes.

Run it as ``python examples/iscsi_parallel.py [--url iscsi://HOST:PORT/TARGET] [--lbn N]``.
CMU-CS-03-125, section 3.4, says how its interface fits SCSI. Here an initiator that knows only CDBs
asks a target of sledsim for the parallelism of its sled and for an equivalence class. It writes
blocks of the class as one batch (WRITE SCATTERED), and reads them as another (group numbers).
Without ``--url`` it serves a sled by itself, and shows from its recording that each batch took one
pass. The library is in Debian's package libiscsi7.
"""

from __future__ import annotations

import argparse
import ctypes
import ctypes.util
import select
import struct
import tempfile
from pathlib import Path
from typing import Any, Self

import polars as pl
import sledsim as ss

BLOCK = 512
MODE_SENSE_10, MODE_SELECT_10, READ_16, SERVICE_ACTION_OUT_16 = 0x5A, 0x55, 0x88, 0x9F
READ_CAPACITY_10, PARALLEL = 0x25, 0xC0
WRITE_SCATTERED_16 = 0x12
GET_PARALLELISM, GET_EQUIVALENT, CHECK_CONFLICTING, GET_BOUNDARIES = range(4)
PARAMETERS = ("p", "N", "S_x", "S_y", "M", "N_x", "N_y", "S_T", "S_C")
PARALLEL_PAGE, GROUP = 0x20, 1 << 1
PATIENCE_S = 120  # for the answer of a command
LAST = 16  # added to the group number of the last command of a batch


class _Sense(ctypes.Structure):
    _fields_ = (
        ("error_type", ctypes.c_ubyte),
        ("key", ctypes.c_int),
        ("code", ctypes.c_int),
        ("flags", ctypes.c_ubyte),
        ("bit", ctypes.c_ubyte),
        ("field", ctypes.c_uint16),
    )


class _Data(ctypes.Structure):
    _fields_ = (("size", ctypes.c_int), ("data", ctypes.c_void_p))


class _Task(ctypes.Structure):
    """The first fields of ``struct scsi_task``."""

    _fields_ = (
        ("status", ctypes.c_int),
        ("cdb_size", ctypes.c_int),
        ("direction", ctypes.c_int),
        ("expected", ctypes.c_int),
        ("cdb", ctypes.c_ubyte * 16),
        ("residual_status", ctypes.c_int),
        ("residual", ctypes.c_size_t),
        ("sense", _Sense),
        ("data", _Data),
    )


class _Out(ctypes.Structure):
    """``struct iscsi_data``."""

    _fields_ = (("size", ctypes.c_size_t), ("data", ctypes.c_char_p))


_Callback = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(_Task), ctypes.c_void_p
)


class ScsiError(Exception):
    """A command with another status than GOOD."""

    def __init__(self, task: _Task) -> None:
        sense = task.sense
        super().__init__(f"status {task.status}: sense key {sense.key}, code {sense.code:#06x}")
        self.status: int = task.status
        self.key: int = sense.key
        self.code: int = sense.code


def library() -> Any:
    """Load libiscsi; raise OSError if it is not there."""
    name = ctypes.util.find_library("iscsi")
    if name is None:
        raise OSError("libiscsi is not installed: Debian has it in the package libiscsi7")
    lib = ctypes.CDLL(name)
    lib.iscsi_create_context.restype = ctypes.c_void_p
    lib.iscsi_get_error.restype = ctypes.c_char_p
    lib.scsi_create_task.restype = ctypes.POINTER(_Task)
    return lib


class Initiator:
    """A session with one logical unit of a target."""

    def __init__(self, portal: str, target: str, lun: int = 0) -> None:
        self._lib = library()
        name = b"iqn.2026-11.com.example.sledsim:initiator"
        self._context = ctypes.c_void_p(self._lib.iscsi_create_context(name))
        self._lun = lun
        self._under_way: list[object] = []
        # A lost connection is an error, and so is a command without an answer.
        self._lib.iscsi_set_noautoreconnect(self._context, 1)
        self._lib.iscsi_set_timeout(self._context, PATIENCE_S)
        self._lib.iscsi_set_targetname(self._context, target.encode())
        self._lib.iscsi_set_session_type(self._context, 2)  # normal
        self._check(self._lib.iscsi_full_connect_sync(self._context, portal.encode(), lun))

    @classmethod
    def to(cls, url: str, lun: int = 0) -> Self:
        """Log in to ``iscsi://HOST:PORT/TARGET``."""
        portal, _, target = url.removeprefix("iscsi://").partition("/")
        return cls(portal, target, lun)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._lib.iscsi_logout_sync(self._context)
        self._lib.iscsi_destroy_context(self._context)

    def _check(self, result: int) -> None:
        if result != 0:
            raise OSError(self._lib.iscsi_get_error(self._context).decode())

    def command(self, cdb: bytes, data: bytes = b"", expected: int = 0) -> bytes:
        """Execute one command with data for the target or from it; return the latter."""
        return self.commands([(cdb, data, expected)])[0]

    def commands(self, wanted: list[tuple[bytes, bytes, int]]) -> list[bytes]:
        """Send commands at once, without waiting in between; return the data of each."""
        done: dict[int, bytes | ScsiError | None] = {}

        def take(_: object, status: int, task: Any, index: int | None) -> None:
            if not task:
                done[index or 0] = None  # the connection is lost
            elif status:
                done[index or 0] = ScsiError(task.contents)
            else:
                data = task.contents.data
                done[index or 0] = ctypes.string_at(data.data, data.size) if data.data else b""

        callback = _Callback(take)
        tasks = []
        for index, (cdb, data, expected) in enumerate(wanted):
            direction = 2 if data else 1 if expected else 0
            size = len(data) or expected
            task = self._lib.scsi_create_task(len(cdb), cdb, direction, size)
            out = _Out(len(data), data)
            tasks.append(task)
            # The library uses them until the command is done.
            self._under_way += [callback, data, out]
            sent = self._lib.iscsi_scsi_command_async(
                self._context,
                self._lun,
                task,
                callback,
                ctypes.byref(out) if data else None,
                ctypes.c_void_p(index),
            )
            self._check(sent)
        poll = select.poll()
        descriptor = self._lib.iscsi_get_fd(self._context)
        while len(done) < len(wanted):
            poll.register(descriptor, self._lib.iscsi_which_events(self._context))
            ready = dict(poll.poll(100))
            # Without an event it looks at the clock.
            self._check(self._lib.iscsi_service(self._context, ready.get(descriptor, 0)))
        self._under_way.clear()
        for task in tasks:
            self._lib.scsi_free_scsi_task(task)
        answers = []
        for index in range(len(wanted)):
            answer = done[index]
            if answer is None:
                raise OSError("the connection is lost")
            if isinstance(answer, ScsiError):
                raise answer
            answers.append(answer)
        return answers

    def parallelism(self) -> dict[str, int]:
        """Return the parameters of the sled, as get_parallelism() of the paper."""
        cdb = struct.pack(">BB8xIxx", PARALLEL, GET_PARALLELISM, 36)
        values = struct.unpack(">9I", self.command(cdb, expected=36))
        return dict(zip(PARAMETERS, values, strict=True))

    def equivalent(self, lbn: int, most: int = 1 << 16) -> list[int]:
        """Return the equivalence class of a block, as get_equivalent() of the paper."""
        size = 4 + 8 * most
        cdb = struct.pack(">BBQIxx", PARALLEL, GET_EQUIVALENT, lbn, size)
        data = self.command(cdb, expected=size)
        (count,) = struct.unpack_from(">I", data)
        return list(struct.unpack_from(f">{min(count, most)}Q", data, 4))

    def conflicting(self, a: int, b: int) -> bool:
        """Return whether two blocks exclude each other, as check_conflicting() of the paper."""
        cdb = struct.pack(">BB", PARALLEL, CHECK_CONFLICTING)
        cdb += a.to_bytes(6, "big") + b.to_bytes(6, "big") + bytes(2)
        return self.command(cdb, expected=4) != bytes(4)

    def boundaries(self, lbn: int) -> tuple[int, int]:
        """Return the first and the last block of a track, as get_boundaries() of the paper."""
        cdb = struct.pack(">BBQIxx", PARALLEL, GET_BOUNDARIES, lbn, 16)
        first, last = struct.unpack(">QQ", self.command(cdb, expected=16))
        return first, last

    def track_end(self, lbn: int) -> int:
        """Return the last block before a substantial delay: READ CAPACITY with PMI."""
        cdb = struct.pack(">BBIxxBx", READ_CAPACITY_10, 0, lbn, 1)
        last, _ = struct.unpack(">II", self.command(cdb, expected=8))
        return int(last)

    def write_scattered(self, blocks: dict[int, bytes]) -> None:
        """Write blocks as one batch, one descriptor each."""
        descriptors = b"".join(struct.pack(">QI20x", lbn, 1) for lbn in blocks)
        head = bytes(32) + descriptors
        offset = -(-len(head) // BLOCK)
        data = head.ljust(offset * BLOCK, b"\0") + b"".join(blocks.values())
        codes = (SERVICE_ACTION_OUT_16, WRITE_SCATTERED_16)
        cdb = struct.pack(">BBxxHxxHIxx", *codes, offset, len(blocks), len(blocks))
        self.command(cdb, data)

    def batch_by_group(self) -> None:
        """Let reads and writes with a group number form batches."""
        cdb = struct.pack(">BBBxxxxHx", MODE_SENSE_10, 8, PARALLEL_PAGE, 255)
        page = self.command(cdb, expected=255)
        (descriptors,) = struct.unpack_from(">H", page, 6)
        page = bytes(8) + page[8 + descriptors :]
        page = page[:10] + bytes([page[10] | GROUP]) + page[11:]
        self.command(struct.pack(">BBxxxxxHx", MODE_SELECT_10, 0x10, len(page)), page)

    def read_batch(self, lbns: list[int], group: int = 1) -> list[bytes]:
        """Read blocks as one batch, one command each."""
        groups = [group] * (len(lbns) - 1) + [group + LAST]
        return self.commands(
            [
                (struct.pack(">BBQIBx", READ_16, 0, lbn, 1, number), b"", BLOCK)
                for lbn, number in zip(lbns, groups, strict=True)
            ]
        )


def show(initiator: Initiator, lbn: int) -> None:
    """Use the parallel interface, and print what it says."""
    parameters = initiator.parallelism()
    print(", ".join(f"{name} = {value}" for name, value in parameters.items()))
    members = initiator.equivalent(lbn)
    print(f"LBN {lbn}: {len(members)} blocks in its class, {members[:3]} to {members[-1]}")
    print(f"its track ends at LBN {initiator.track_end(lbn)}, of {initiator.boundaries(lbn)}")
    chosen: list[int] = []
    for member in members:
        if len(chosen) == parameters["p"]:
            break
        if not any(initiator.conflicting(member, other) for other in chosen):
            chosen.append(member)
    written = {member: struct.pack(">Q", member).ljust(BLOCK, b"\0") for member in chosen}
    initiator.write_scattered(written)
    initiator.batch_by_group()
    is_same = initiator.read_batch(chosen) == list(written.values())
    said = "as they were written" if is_same else "and they differ"
    print(f"{len(chosen)} blocks of it written as a batch, and read as another, {said}")


def show_passes(rows: pl.DataFrame) -> None:
    """Print how many passes each batch of a recording took.

    The commands of a batch arrive at one instant, and those of a pass begin at one instant.
    """
    batches = rows.group_by("arrival_ns", "op").agg(
        commands=pl.len(), passes=pl.n_unique("start_ns")
    )
    for batch in batches.sort("arrival_ns").iter_rows(named=True):
        passes = "1 pass" if batch["passes"] == 1 else f"{batch['passes']} passes"
        print(f"recorded: {batch['op']}, {batch['commands']} commands in {passes}")


def main() -> None:
    """Run the example."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--url", help="a target with a single sled; by default its own")
    parser.add_argument("--lbn", type=int, default=1_000_000)
    options = parser.parse_args()
    if options.url:
        with Initiator.to(options.url) as initiator:
            show(initiator, options.lbn)
        return
    device = ss.device("cmu2003", batching={"kind": "explicit"})
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "record.parquet"
        export = ss.emulator.Export(device=device, record=record)
        with ss.serve(export, iscsi="127.0.0.1:0") as server:
            (url,) = server.uris
            with Initiator.to(url) as initiator:
                show(initiator, options.lbn)
        rows = pl.read_parquet(record)
    show_passes(rows)


if __name__ == "__main__":
    main()
