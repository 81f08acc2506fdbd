"""The gain of a batch window for programs that cannot mark batches, on a served device.

Run it as ``python examples/window.py [--groups N]`` on Linux. A sled is served in real time. A
plain NBD client keeps ten reads of an equivalence class under way, without a window and with some
(``batch_window_ms`` of ``ss.emulator.Export``); a client of the parallel interface sends the same
ten as one batch. The next group is read when the one before is there. The table shows what a
group takes on the device, from its first arrival to its last completion, and what the program
waited; how many groups were served as a whole, and how often the sled began to move for one.
"""

from __future__ import annotations

import argparse
import random
import socket
import struct
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Self

import polars as pl
import sledsim as ss

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

BLOCK = 512
TOGETHER = 10
"""As many blocks as the device accesses at once."""
WINDOWS_MS = (0.0, 0.1, 0.2, 0.5, 1.0, 2.0)


class Client:
    """A minimal NBD client."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(path))
        self._take(18)  # what the server is
        self._socket.sendall(struct.pack(">I8sII", 3, b"IHAVEOPT", 1, 0))  # its first export
        self._take(10)  # size and flags

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def read(self, lbns: Sequence[int]) -> list[bytes]:
        """Read single blocks, all under way at once."""
        requests = (
            struct.pack(">IHHQQI", 0x25609513, 0, 0, place, lbn * BLOCK, BLOCK)
            for place, lbn in enumerate(lbns)
        )
        self._socket.sendall(b"".join(requests))
        blocks = [b""] * len(lbns)
        for _ in lbns:
            _, error, place = struct.unpack(">IIQ", self._take(16))
            if error:
                raise OSError(f"block {lbns[place]}: error {error}")
            blocks[place] = self._take(BLOCK)
        return blocks

    def _take(self, count: int) -> bytes:
        taken = self._socket.recv(count, socket.MSG_WAITALL)
        if len(taken) < count:
            raise OSError("the server hung up")
        return taken


@dataclass(frozen=True)
class Found:
    """The times of the groups in one way."""

    way: str
    device_ms: float
    """Of a group, in the mean: from its first arrival to its last completion."""
    program_ms: float
    """Until the program had it."""
    whole: float
    """The share of groups for which the sled moved once."""
    moves: float
    """How often it moved for a group, in the mean."""


def content(lbn: int) -> bytes:
    """Return the content of a block."""
    return struct.pack(">Q", lbn) * (BLOCK // 8)


def choose(device: ss.Sled, groups: int, seed: int) -> list[list[int]]:
    """Choose ten blocks of a class for each group, in any order."""
    chance, chosen = random.Random(seed), []
    for _ in range(groups):
        class_ = device.equivalent(chance.randrange(device.blocks))
        chosen.append(chance.sample(class_, TOGETHER))
    return chosen


def measure(
    way: str, read: Callable[[list[int]], list[bytes]], groups: list[list[int]]
) -> list[float]:
    """Read all groups; return what the program waited for each, in ms."""
    waited = []
    for group in groups:
        begun = time.perf_counter()
        blocks = read(group)
        waited.append(1e3 * (time.perf_counter() - begun))
        if blocks != [content(lbn) for lbn in group]:
            raise RuntimeError(f"{way}: not what was written")
    return waited


def serve(way: str, window_ms: float | None, groups: list[list[int]], folder: Path) -> Found:
    """Serve the device, and read all groups in one way; ``"explicit"`` sends batches."""
    image, recording, path = folder / "device.img", folder / f"{way}.parquet", folder / "s.sock"
    export = ss.emulator.Export(
        device=sled(), file=image, read_only=True, record=recording, batch_window_ms=window_ms
    )
    if way == "explicit":
        with ss.serve(export, rpc=f"unix:{path}"), ss.connect(f"unix:{path}") as remote:

            def batch(lbns: list[int]) -> list[bytes]:
                return [
                    bytes(data or b"")
                    for data in remote.batch([("read", lbn, 1) for lbn in lbns]).data
                ]

            waited = measure(way, batch, groups)
    else:
        with ss.serve(export, nbd=f"unix:{path}"), Client(path) as client:
            waited = measure(way, client.read, groups)
    own = (
        pl.read_parquet(recording)
        .sort("id")
        .group_by(pl.col("id") // TOGETHER, maintain_order=True)
        .agg(
            ms=(pl.col("completion_ns").max() - pl.col("arrival_ns").min()) / 1e6,
            moves=pl.col("start_ns").n_unique(),
        )
    )
    whole = fmean(own["moves"] == 1)
    return Found(way, fmean(own["ms"]), fmean(waited), whole, fmean(own["moves"]))


def sled() -> ss.Sled:
    """Return the device; commands take only the time that this machine takes for them."""
    return ss.device("cmu2003", command_overhead_ms=0.0)


def explore(count: int, seed: int) -> list[Found]:
    """Read the same groups in every way."""
    device = sled()
    groups = choose(device, count, seed)
    ways: dict[str, float | None] = {"plain": None}
    ways |= {f"window {ms:g} ms": ms for ms in WINDOWS_MS} | {"explicit": None}
    with tempfile.TemporaryDirectory() as folder:
        image = Path(folder) / "device.img"
        with image.open("wb") as file:
            for lbn in {lbn for group in groups for lbn in group}:
                file.seek(lbn * BLOCK)
                file.write(content(lbn))
            file.truncate(device.blocks * BLOCK)
        return [serve(way, window_ms, groups, Path(folder)) for way, window_ms in ways.items()]


def text(found: list[Found]) -> str:
    """Return the table."""
    lines = ["way            device ms  program ms   whole  moves"]
    lines += [
        f"{one.way:<14} {one.device_ms:9.3f} {one.program_ms:11.3f} {one.whole:7.1%}"
        f" {one.moves:6.2f}"
        for one in found
    ]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the groups in every way, and print a table."""
    parser = argparse.ArgumentParser(description="A window of time for plain NBD clients")
    parser.add_argument("--groups", type=int, default=300, help="of ten reads (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the blocks (%(default)s)")
    options = parser.parse_args(arguments)
    if options.groups < 1:
        parser.error(f"--groups {options.groups}: must be at least 1")
    try:
        print(text(explore(options.groups, options.seed)))
    except (ss.SledsimError, OSError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
