"""Commands of each protocol that read, change or keep data, with what its standard promises.

Numbers of commands and flags are those of the standards and of the kernel, spelled out.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from typing import TYPE_CHECKING, Any

import sledsim as ss
from sledsim.papers.cmu_cs_03_125.scsi_initiator import Initiator

from tests.promise_model import BLOCK, ZERO, Host, Step
from tests.served import CACHE, FLUSH, FUA, READ, TRIM, WRITE, WRITE_ZEROES, Client

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

    Draw = Callable[[], Step]

FIRST = 1000
"""The first block of the device that is used."""


SLEDS = ("g2",)
"""Devices that serve batches of several commands."""


class PowerOffError(Exception):
    """The device has no power."""


def joined(contents: dict[int, bytes]) -> bytes:
    return b"".join(contents.values())


class Door:
    """A way to a served device."""

    server: ss.emulator.Server
    FUA = FUA
    """The flag of a command whose data survive."""

    def __init__(self, host: Host, device: str, folder: Path) -> None:
        self.host, self.device, self.folder = host, device, folder
        self.everything = range(host.blocks)

    def address(self) -> dict[str, Any]:
        """Return the arguments of ``ss.serve``."""
        raise NotImplementedError

    def enter(self) -> None:
        """Connect to the server."""
        raise NotImplementedError

    def leave(self) -> None:
        """End the connection."""

    def draws(self) -> list[Draw]:
        """Return what draws commands, each as likely as the others."""
        raise NotImplementedError

    def fua(self, where: Collection[int], share: float = 0.5) -> tuple[int, Collection[int]]:
        """FUA: no reply until the data have reached permanent storage."""
        return (self.FUA, where) if self.host.chance(share) else (0, ())

    def is_off(self, error: Exception) -> bool:
        """Whether an error says that there is no power."""
        raise NotImplementedError

    def call(self, work: Callable[[], Any]) -> Callable[[], bytes | None]:
        """Return what executes a command."""

        def run() -> bytes | None:
            try:
                done = work()
            except Exception as error:
                if self.is_off(error):
                    raise PowerOffError from error
                raise
            return done if isinstance(done, bytes) else None

        return run

    def reads(self, where: range) -> Callable[[], bytes | None]:
        """Return what reads blocks."""
        raise NotImplementedError

    def reading(self) -> Step:
        where = self.host.some()
        return Step("read", self.reads(where), reads=where)

    def read(self, where: range) -> bytes | None:
        """Read blocks; None if one cannot be read."""
        try:
            return self.reads(where)()
        except (OSError, ss.RemoteError, PowerOffError):
            return None

    def empty(self, block: int) -> Callable[[], bytes | None]:
        """Return what writes zeroes to a block so that they survive."""
        raise NotImplementedError

    def repair(self, blocks: Collection[int]) -> list[Step]:
        """Return commands that write torn blocks anew."""
        return [Step("repair", self.empty(block), {block: ZERO}, keeps=[block]) for block in blocks]


class Nbd(Door):
    """NBD: doc/proto.md of the NetworkBlockDevice project, "Request types", "Command flags"."""

    NO_HOLE = 1 << 1

    def address(self) -> dict[str, Any]:
        self._path = self.folder / "nbd"
        return {"nbd": f"unix:{self._path}"}

    def enter(self) -> None:
        self._client = Client(self._path)

    def leave(self) -> None:
        self._client.close()

    def ask(
        self, kind: int, where: range, *, data: bytes = b"", flags: int = 0
    ) -> Callable[[], bytes | None]:
        offset, length = (where.start + FIRST) * BLOCK, len(where) * BLOCK
        if kind == FLUSH:
            offset, length = 0, 0

        def run() -> bytes | None:
            error = self._client.error(kind, offset, length, data, flags)
            if error:
                raise OSError(error, os.strerror(error))
            return self._client.take(length) if kind == READ else None

        return self.call(run)

    def is_off(self, error: Exception) -> bool:
        return isinstance(error, (AssertionError, ConnectionError))

    def reads(self, where: range) -> Callable[[], bytes | None]:
        return self.ask(READ, where)

    def draws(self) -> list[Draw]:
        often = [self.writing, self.zeroing]
        return [*often, *often, self.reading, self.caching, self.trimming, self.flushing]

    def caching(self) -> Step:
        return Step("cache", self.ask(CACHE, self.host.some()))

    def writing(self) -> Step:
        where = self.host.some()
        writes = self.host.fresh(where)
        flags, keeps = self.fua(where, 0.4)
        run = self.ask(WRITE, where, data=joined(writes), flags=flags)
        return Step(f"write, flags {flags}", run, writes=writes, keeps=keeps)

    def zeroing(self) -> Step:
        """WRITE_ZEROES is a write of zeroes; NO_HOLE is about allocation alone."""
        where = self.host.some()
        flags, keeps = self.fua(where, 0.4)
        flags |= self.NO_HOLE if self.host.chance() else 0
        run = self.ask(WRITE_ZEROES, where, flags=flags)
        return Step(f"zeroes, flags {flags}", run, dict.fromkeys(where, ZERO), keeps=keeps)

    def trimming(self) -> Step:
        """TRIM is a hint: no assumptions about the contents until they are written."""
        where = self.host.some(4)
        flags, _ = self.fua(where, 0.4)
        return Step("trim", self.ask(TRIM, where, flags=flags), hints=where)

    def flushing(self) -> Step:
        """FLUSH: writes whose replies were sent before have reached permanent storage."""
        return Step("flush", self.ask(FLUSH, range(1)), keeps=self.everything)

    def empty(self, block: int) -> Callable[[], bytes | None]:
        return self.ask(WRITE, range(block, block + 1), data=ZERO, flags=FUA)


class Fuse(Door):
    """FUSE: open(2), pwritev2(2), fsync(2), fallocate(2) of Linux, and include/uapi."""

    O_DSYNC, O_SYNC, O_DIRECT = 0o10000, 0o4010000, 0o40000
    RWF_DSYNC, RWF_SYNC = 0x2, 0x4
    KEEP_SIZE, PUNCH_HOLE, ZERO_RANGE = 0x01, 0x02, 0x10

    def address(self) -> dict[str, Any]:
        point = self.folder / "mnt"
        point.mkdir()
        self._file = point / "d"
        return {"fuse": point}

    def enter(self) -> None:
        flags = {"plain": 0, "dsync": self.O_DSYNC, "sync": self.O_SYNC}
        self._files = {name: os.open(self._file, os.O_RDWR | own) for name, own in flags.items()}

    def leave(self) -> None:
        for file in self._files.values():
            os.close(file)

    def is_off(self, error: Exception) -> bool:
        return isinstance(error, OSError) and error.errno in {errno.EIO, errno.ENOTCONN}

    def reads(self, where: range) -> Callable[[], bytes | None]:
        length, offset = len(where) * BLOCK, (FIRST + where.start) * BLOCK
        return self.call(lambda: os.pread(self._files["plain"], length, offset))

    def draws(self) -> list[Draw]:
        often = [self.writing, self.emptying]
        return [*often, *often, self.reading, self.patching, self.syncing]

    def _how(self) -> tuple[int, int, bool, str]:
        """Draw a file, flags of pwritev2 and whether they promise the data of the write."""
        name = self.host.rng.choice(["plain", "plain", "dsync", "sync"])
        flags = self.host.rng.choice([0, 0, self.RWF_DSYNC, self.RWF_SYNC])
        return self._files[name], flags, name != "plain" or flags != 0, f"{name}, flags {flags}"

    def _write(self, offset: int, data: bytes, name: str) -> Step:
        """O_SYNC and O_DSYNC: as if each write were followed by fsync(2), fdatasync(2)."""
        file, flags, is_kept, how = self._how()
        place = FIRST * BLOCK + offset
        writes = self._patched(offset, data)

        def work() -> None:
            assert os.pwritev(file, [data], place, flags) == len(data)

        keeps = writes if is_kept else ()
        return Step(f"{name}, {how}", self.call(work), writes, keeps=keeps)

    def _patched(self, offset: int, data: bytes) -> dict[int, bytes]:
        """Return the contents of blocks of which some bytes are replaced."""
        last = (offset + len(data) - 1) // BLOCK
        where = range(offset // BLOCK, last + 1)
        old = b"".join(self.host.now(block) or ZERO for block in where)
        at = offset % BLOCK
        new = old[:at] + data + old[at + len(data) :]
        return {block: new[n * BLOCK : (n + 1) * BLOCK] for n, block in enumerate(where)}

    def writing(self) -> Step:
        where = self.host.some()
        return self._write(where.start * BLOCK, joined(self.host.fresh(where)), "write")

    def _bytes(self) -> tuple[int, int]:
        """Draw an offset and a length."""
        where = self.host.some(6)
        offset = where.start * BLOCK + self.host.rng.randrange(BLOCK)
        return offset, self.host.rng.randint(1, where.stop * BLOCK - offset)

    def patching(self) -> Step:
        offset, length = self._bytes()
        return self._write(offset, self.host.rng.randbytes(length), "write of bytes")

    def emptying(self) -> Step:
        """PUNCH_HOLE and ZERO_RANGE: reads return zeroes from then on, so a sync keeps these."""
        where = self.host.some()
        offset, length = where.start * BLOCK, len(where) * BLOCK
        if self.host.chance(0.3):
            offset, length = self._bytes()
        hole = self.host.chance()
        mode = self.PUNCH_HOLE | self.KEEP_SIZE if hole else self.ZERO_RANGE
        place, file = FIRST * BLOCK + offset, self._files["plain"]

        def work() -> None:
            long = ctypes.c_long
            done = libc().fallocate(file, mode, long(place), long(length))
            if done:
                raise OSError(ctypes.get_errno(), "fallocate")

        writes = self._patched(offset, bytes(length))
        return Step("hole" if hole else "zeroed range", self.call(work), writes)

    def syncing(self) -> Step:
        """Return one of fsync(2), fdatasync(2): all that was written before survives."""
        sync = self.host.rng.choice([os.fsync, os.fdatasync])
        file = self._files["plain"]
        return Step(sync.__name__, self.call(lambda: sync(file)), keeps=self.everything)

    def empty(self, block: int) -> Callable[[], bytes | None]:
        file = self._files["sync"]
        return self.call(lambda: os.pwrite(file, ZERO, (FIRST + block) * BLOCK))


def libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


class Iscsi(Door):
    """SCSI over iSCSI: SBC-3, of which the sections are named."""

    FUA, UNMAP, IMMED, NO_DATA, BYTCHK = 1 << 3, 1 << 3, 1 << 1, 1 << 0, 1 << 1
    NO_FLUSH = 1 << 2

    def address(self) -> dict[str, Any]:
        return {"iscsi": "127.0.0.1:0"}

    def enter(self) -> None:
        self._initiator = Initiator(self.server.uris[0])
        while self._initiator.end(self._initiator.begin(bytes(6)))[0]:  # also unit attentions
            self._initiator.end(self._initiator.begin(bytes([0x1B, 0, 0, 0, 1, 0])))

    def leave(self) -> None:
        self._initiator.__exit__()

    def ask(
        self, cdb: bytes, data: bytes = b"", expected: int = 0, also: tuple[int, ...] = ()
    ) -> Callable[[], bytes | None]:
        """Return what executes a command; sense keys ``also`` are as good as its success."""

        def run() -> bytes | None:
            tag = self._initiator.begin(cdb, data, expected=expected)
            status, answer = self._initiator.end(tag)
            if status == 0 or (status == 2 and answer[4] & 15 in also):
                return answer
            key, code = answer[4] & 15, answer[14]
            # Not ready: no power. Aborted: it fails now.
            if key in {0x2, 0xB}:
                raise PowerOffError
            raise OSError(errno.EIO, f"{cdb.hex()}: sense {key:x}/{code:x}")

        return self.call(run)

    def is_off(self, error: Exception) -> bool:
        return isinstance(error, (ss.SledsimError, ConnectionError))

    def reads(self, where: range) -> Callable[[], bytes | None]:
        return self.ask(self.cdb(0x28, where), expected=len(where) * BLOCK)

    def cdb(self, code: int, where: range, flags: int = 0) -> bytes:
        first, count = FIRST + where.start, len(where)
        if code < 0x60:
            return struct.pack(">BBIBHB", code, flags, first, 0, count, 0)
        if code >= 0xA0:
            return struct.pack(">BBIIBB", code, flags, first, count, 0, 0)
        return struct.pack(">BBQIBB", code, flags, first, count, 0, 0)

    def one_of(self, *codes: int) -> int:
        return self.host.rng.choice(codes)

    def draws(self) -> list[Draw]:
        often = [self.writing, self.writing_same]
        writes = [*often, *often, self.writing_and_verifying, self.oring, self.scattering]
        others = [self.reading, self.verifying, self.unmapping, self.comparing]
        return [*writes, *others, self.synchronizing, self.stopping]

    def reading(self) -> Step:
        """READ, 5.8 on; with FUA, what was cached is on the medium before it is read (4.15)."""
        where = self.host.some()
        flags, keeps = self.fua(where)
        cdb = self.cdb(self.one_of(0x28, 0xA8, 0x88), where, flags)
        run = self.ask(cdb, expected=len(where) * BLOCK)
        return Step(f"READ, flags {flags}", run, reads=where, keeps=keeps)

    def verifying(self) -> Step:
        """VERIFY, 5.29 on: implies the synchronization of what it verifies (4.15)."""
        where = self.host.some()
        return Step("VERIFY", self.ask(self.cdb(self.one_of(0x2F, 0xAF, 0x8F), where)), keeps=where)

    def writing(self) -> Step:
        """WRITE, 5.32 on; with FUA, the data are on the medium before the status."""
        where = self.host.some()
        writes = self.host.fresh(where)
        flags, keeps = self.fua(where, 0.4)
        cdb = self.cdb(self.one_of(0x2A, 0xAA, 0x8A), where, flags)
        return Step(f"WRITE, flags {flags}", self.ask(cdb, joined(writes)), writes, keeps=keeps)

    def writing_and_verifying(self) -> Step:
        """WRITE AND VERIFY, 5.37 on: implies FUA (4.15)."""
        where = self.host.some()
        writes = self.host.fresh(where)
        flags = self.BYTCHK if self.host.chance() else 0
        cdb = self.cdb(self.one_of(0x2E, 0xAE, 0x8E), where, flags)
        return Step("WRITE AND VERIFY", self.ask(cdb, joined(writes)), writes, keeps=where)

    def writing_same(self) -> Step:
        """WRITE SAME, 5.43 and 5.44: a write; UNMAP and NDOB do not change what reads return."""
        where = self.host.some()
        content = self.host.rng.choice([ZERO, self.host.rng.randbytes(BLOCK)])
        code, flags = self.one_of(0x41, 0x93), self.UNMAP if self.host.chance() else 0
        writes = dict.fromkeys(where, content)
        data = content
        if code == 0x93 and content == ZERO and self.host.chance():
            flags, data = flags | self.NO_DATA, b""
        run = self.ask(self.cdb(code, where, flags), data)
        return Step(f"WRITE SAME, flags {flags}", run, writes)

    def unmapping(self) -> Step:
        """UNMAP, 5.28: blocks may be deallocated or stay as they are: no contents are promised."""
        where = self.host.some(4)
        descriptor = struct.pack(">QII", FIRST + where.start, len(where), 0)
        data = struct.pack(">HHI", 6 + 16, 16, 0) + descriptor
        run = self.ask(struct.pack(">BBIBHB", 0x42, 0, 0, 0, len(data), 0), data)
        return Step("UNMAP", run, hints=where)

    def comparing(self) -> Step:
        """COMPARE AND WRITE, 5.2: writes if the data are equal, else nothing."""
        where = self.host.some(4)
        old = [self.host.now(block) for block in where]
        if None in old:
            return self.writing()
        is_equal = self.host.chance(0.7)
        compared = b"".join(content or b"" for content in old)
        if not is_equal:
            compared = bytes([255]) * len(compared)
        new = self.host.fresh(where)
        flags, keeps = self.fua(where)
        first = FIRST + where.start
        cdb = struct.pack(">BBQ3xBBB", 0x89, flags, first, len(where), 0, 0)
        run = self.ask(cdb, compared + joined(new), also=() if is_equal else (0xE,))
        if not is_equal:
            return Step("COMPARE AND WRITE of others", run)
        return Step(f"COMPARE AND WRITE, flags {flags}", run, new, keeps=keeps)

    def oring(self) -> Step:
        """ORWRITE, 5.9: writes what is there, or'ed with the data."""
        where = self.host.some(4)
        old = [self.host.now(block) for block in where]
        if None in old:
            return self.writing()
        data = self.host.fresh(where)
        new = {
            block: bytes(a | b for a, b in zip(content or b"", data[block], strict=True))
            for block, content in zip(where, old, strict=True)
        }
        flags, keeps = self.fua(where)
        run = self.ask(self.cdb(0x8B, where, flags), joined(data))
        return Step(f"ORWRITE, flags {flags}", run, new, keeps=keeps)

    def scattering(self) -> Step:
        """WRITE SCATTERED (16), SBC-4 5.60: several writes, with FUA for all."""
        one, other = range(4), range(4)
        while set(one) & set(other):
            one, other = self.host.some(6), self.host.some(6)
        writes = self.host.fresh([*one, *other])
        flags, keeps = self.fua(writes)
        ranges = (struct.pack(">QI20x", FIRST + each.start, len(each)) for each in (one, other))
        head = (bytes(32) + b"".join(ranges)).ljust(BLOCK, b"\0")
        cdb = struct.pack(">BBBxHBxHIBB", 0x9F, 0x12, flags, 1, 0, 2, len(writes), 0, 0)
        run = self.ask(cdb, head + joined(writes))
        return Step(f"WRITE SCATTERED, flags {flags}", run, writes, keeps=keeps)

    def synchronizing(self) -> Step:
        """SYNCHRONIZE CACHE, 5.26 and 5.27: the blocks of a range, or all; not with IMMED."""
        where = self.host.some()
        flags = self.IMMED if self.host.chance(0.2) else 0
        cdb, keeps = self.cdb(self.one_of(0x35, 0x91), where, flags), where
        if self.host.chance():
            cdb, keeps = struct.pack(">BBIBHB", 0x35, flags, 0, 0, 0, 0), self.everything
        run = self.ask(cdb)
        return Step("SYNCHRONIZE CACHE", run, keeps=() if flags else keeps)

    def stopping(self) -> Step:
        """START STOP UNIT, 5.25: STOP flushes all, unless NO_FLUSH is set; then START."""
        no_flush = self.NO_FLUSH if self.host.chance(0.3) else 0
        stop = self.ask(bytes([0x1B, 0, 0, 0, no_flush, 0]))
        start = self.ask(bytes([0x1B, 0, 0, 0, 1, 0]))

        def run() -> None:
            stop()
            start()

        return Step(f"STOP, {no_flush}", run, keeps=() if no_flush else self.everything)

    def formatting(self) -> Step:
        """FORMAT UNIT, 5.3: the media hold the initialization pattern, zeroes."""
        run = self.ask(bytes([0x04, 0, 0, 0, 0, 0]))
        zeroes = dict.fromkeys(self.everything, ZERO)
        return Step("FORMAT UNIT", run, zeroes, keeps=self.everything)

    def empty(self, block: int) -> Callable[[], bytes | None]:
        return self.ask(self.cdb(0x2A, range(block, block + 1), self.FUA), ZERO)


class Rpc(Door):
    """The interface of sledsim.proto: `Batch`, `Write.fua`, `Flush`."""

    def address(self) -> dict[str, Any]:
        return {"rpc": f"unix:{self.folder / 'rpc'}"}

    def enter(self) -> None:
        self._remote = ss.connect(self.server.uris[0])
        self._most = 4 if self.device in SLEDS else 1

    def leave(self) -> None:
        self._remote.close()

    def is_off(self, error: Exception) -> bool:
        is_on = self.server.status()["exports"][0]["power"]["on"]
        return isinstance(error, ss.RemoteError) and not is_on

    def reads(self, where: range) -> Callable[[], bytes | None]:
        commands: list[Any] = [("read", FIRST + where.start, len(where))]
        return self.call(lambda: self._remote.batch(commands).data[0])

    def draws(self) -> list[Draw]:
        return [self.batching, self.batching, self.batching, self.flushing]

    def batching(self) -> Step:
        """Draw reads and writes that have no block in common, each write with FUA or without."""
        commands: list[Any] = []
        writes: dict[int, bytes] = {}
        keeps: list[int] = []
        reads: list[int] = []
        used: set[int] = set()
        for _ in range(self.host.rng.randint(1, self._most)):
            where = self.host.some(6)
            if used & set(where):
                continue
            used |= set(where)
            if self.host.chance(0.3):
                commands.append(("read", FIRST + where.start, len(where)))
                reads += where
                continue
            own = self.host.fresh(where)
            fua = self.host.chance(0.4)
            commands.append(("write", FIRST + where.start, joined(own), fua))
            writes |= own
            keeps += where if fua else ()

        def work() -> bytes:
            return b"".join(data or b"" for data in self._remote.batch(commands).data)

        return Step("batch", self.call(work), writes, keeps=keeps, reads=reads)

    def flushing(self) -> Step:
        return Step("flush", self.call(self._remote.flush), keeps=self.everything)

    def empty(self, block: int) -> Callable[[], bytes | None]:
        return self.call(lambda: self._remote.batch([("write", FIRST + block, ZERO, True)]))


DOORS: dict[str, type[Door]] = {"nbd": Nbd, "fuse": Fuse, "iscsi": Iscsi, "rpc": Rpc}
