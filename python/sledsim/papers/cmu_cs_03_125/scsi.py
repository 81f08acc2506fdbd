"""Section 3.4 over iSCSI: a served sled, and what an initiator gets by commands of SCSI."""

from __future__ import annotations

import random
import struct
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sledsim._core import SledsimError
from sledsim.emulator import Export, serve
from sledsim.hardware import Parallelism, Sled
from sledsim.papers.cmu_cs_03_125.scsi_initiator import INTERMEDIATE, Initiator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sledsim.papers.cmu_cs_03_125.equations import Equations

MODE_SENSE, MODE_SELECT, READ_CAPACITY, READ, VENDOR = 0x5A, 0x55, 0x25, 0x28, 0xC0
GET_EQUIVALENT, CHECK_CONFLICTING = 0x01, 0x02
PAGE, PAGE_BYTES, LINK, PMI = 0x20, 48, 1, 1
NAMES = ("p", "N", "S_x", "S_y", "M", "N_x", "N_y", "S_T", "S_C")
BLOCK = 512


class Scsi(Initiator):
    """Commands for a sled."""

    def __init__(self, uri: str) -> None:
        super().__init__(uri)
        self.end(self.begin(bytes(6)))  # TEST UNIT READY takes the unit attention of a new session
        head = struct.pack(">BBBxxxxHx", MODE_SENSE, 8, PAGE, 255)
        self.page = self.command(head, expected=255)[8:]
        self.parallelism = Parallelism(
            **dict(zip(NAMES, struct.unpack_from(">9I", self.page, 4), strict=True))
        )

    def batch_by_link(self) -> None:
        """Let the Link bit make batches."""
        changed = bytes(8) + self.page[:2] + bytes([self.page[2] | LINK]) + self.page[3:]
        self.command(struct.pack(">BBxxxxxHx", MODE_SELECT, 0x10, len(changed)), changed)

    def track_end(self, lbn: int) -> int:
        """Return the last LBN before a substantial delay."""
        cdb = struct.pack(">BxIxxBx", READ_CAPACITY, lbn, PMI)
        return int.from_bytes(self.command(cdb, expected=8)[:4], "big")

    def equivalent(self, lbn: int) -> list[int]:
        """Return the class of a block, as the target says."""
        size = 4 + 8 * self.parallelism.N
        data = self.command(
            struct.pack(">BBQIxx", VENDOR, GET_EQUIVALENT, lbn, size), expected=size
        )
        return list(struct.unpack_from(f">{len(data) // 8}Q", data, 4))

    def conflicting(self, one: int, other: int) -> bool:
        """Return whether two blocks exclude each other, as the target says."""
        lbns = one.to_bytes(6, "big") + other.to_bytes(6, "big")
        cdb = bytes([VENDOR, CHECK_CONFLICTING]) + lbns + bytes(2)
        return any(self.command(cdb, expected=4))

    def read(self, lbn: int, *, linked: bool = False) -> int:
        """Send a read of a block; return its tag."""
        cdb = struct.pack(">BxIxHB", READ, lbn, 1, LINK if linked else 0)
        return self.begin(cdb, expected=BLOCK)


@dataclass(frozen=True)
class OverScsi:
    """What an initiator gets."""

    parallelism: int
    track_end: int
    wrong_blocks: int
    """Blocks of classes that the equations of the host give otherwise than the target."""
    wrong_pairs: int
    """Pairs of blocks of which the host and the target do not say the same."""
    passes: int
    """Passes of linked reads."""
    between: int
    """Commands of another session that are executed in the middle of them."""


def over_scsi(
    device: Sled, equations: Equations, own: Sequence[int], other: int, sample: int
) -> OverScsi:
    """Serve a sled; link reads of the blocks ``own`` while another session reads ``other``."""
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "record.parquet"
        with (
            serve(Export(device=device, record=record), iscsi="127.0.0.1:0") as server,
            Scsi(server.uris[0]) as host,
            Scsi(server.uris[0]) as second,
        ):
            host.batch_by_link()
            second.end(second.begin(bytes(6)))  # its unit attention: the mode page has changed
            _linked(host, second, own, other)
            wrong = mistaken(host, device.blocks, equations, sample)
            parallelism, track_end = host.parallelism.p, host.track_end(0)
        passes, between = _served(record, len(own))
    return OverScsi(parallelism, track_end, *wrong, passes, between)


def _linked(host: Scsi, second: Scsi, own: Sequence[int], other: int) -> None:
    """Link reads; another session reads before the last one of them is sent, and after it."""
    tags = [host.read(lbn, linked=True) for lbn in own[:-1]]
    answers = [second.end(second.read(other))]
    tags.append(host.read(own[-1]))
    answers += [second.end(second.read(other)), *map(host.end, tags)]
    expected = [0, 0, *[INTERMEDIATE] * (len(own) - 1), 0]
    if [status for status, _ in answers] != expected:
        raise SledsimError(f"linked reads end with {[status for status, _ in answers]}")


def mistaken(of: Scsi | Sled, blocks: int, equations: Equations, sample: int) -> tuple[int, int]:
    """Compute classes and conflicts of a sample of blocks from the parameters alone.

    Return how many blocks and pairs of blocks are not as the target, or the device, says.
    """
    shape = of.parallelism
    stranger, *lbns = random.Random(34).sample(range(blocks), sample + 1)
    wrong_blocks = wrong_pairs = 0
    for lbn in lbns:
        true = of.equivalent(lbn)
        computed = {int(block) for block in equations.equivalent(shape, [lbn])[0]}
        wrong_blocks += len(set(true) - computed)
        neighbour = lbn + 1 if lbn + 1 < blocks else lbn - 1
        pairs = {true[0], true[-1], neighbour, stranger} - {lbn}
        wrong_pairs += sum((each not in computed) != of.conflicting(lbn, each) for each in pairs)
    return wrong_blocks, wrong_pairs


def _served(record: Path, linked: int) -> tuple[int, int]:
    """Return the passes of the linked reads, and the reads of others in the middle of them."""
    import pyarrow.parquet as pq  # an extra

    rows = pq.read_table(record).to_pylist()
    streams = [row["stream"] for row in rows]
    host = next(each for each in set(streams) if streams.count(each) == linked)
    starts = {row["start_ns"] for row in rows if row["stream"] == host}
    end = max(row["completion_ns"] for row in rows if row["stream"] == host)
    others = [row["start_ns"] for row in rows if row["stream"] != host]
    return len(starts), sum(min(starts) < start < end for start in others)
