"""Scans of a table on a served MEMStore: CMU-CS-03-125, Table 5, over the wire.

Run it as ``python examples/capsule_scan.py [--records N] [--connect ADDRESS]`` on Linux. Without
``--connect`` it serves a device itself, in real time; with it, it takes the first one of a server
elsewhere (``sledsim serve --device cmu2003 --rpc ADDRESS``), and writes over what that holds.
Records of 8, 32, 15 and 16 bytes are loaded into each layout by writes, and scanned: one column,
two, and all. What comes back is compared with the source. The table shows the time of a scan on
the device, its time in simulation, where a request is submitted when the one before is complete,
and the time that the program waited. ``--records 10000000``, as in the report, takes some minutes.
"""

from __future__ import annotations

import argparse
import contextlib
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import sledsim as ss

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

WIDTHS = {"a1": 8, "a2": 32, "a3": 15, "a4": 16}
"""Bytes of each column: section 5.2.5."""
SCANS = {"a1": ["a1"], "a1 + a2": ["a1", "a2"], "all": list(WIDTHS)}
LAYOUTS = ("normal", "vertical", "capsule")
SEED = 1


@dataclass(frozen=True)
class Scan:
    """The times of a scan."""

    layout: str
    scan: str
    device_s: float
    """Of the served device, from the first arrival to the last completion."""
    simulated_s: float
    """In process."""
    wall_s: float
    """Until the program had the records."""
    bytes_moved: int

    @property
    def mb_s(self) -> float:
        """Megabytes that the program got in a second."""
        return self.bytes_moved / self.wall_s / 1e6


def records(count: int) -> pa.Table:
    """Make records of random bytes."""
    random = np.random.Generator(np.random.PCG64(SEED))

    def column(width: int) -> pa.Array:
        data = pa.py_buffer(random.bytes(count * width))
        return pa.FixedSizeBinaryArray.from_buffers(pa.binary(width), count, [None, data])

    return pa.table({name: column(width) for name, width in WIDTHS.items()})


def scans(remote: ss.emulator.RemoteDevice, data: pa.Table, layout: str) -> list[Scan]:
    """Load the records into a layout, there and in process, and scan them in both places."""
    begun = time.perf_counter()
    there = ss.tables.table(data, remote, layout)
    loaded_s, moved = time.perf_counter() - begun, there.bytes
    print(f"{layout}: loaded {moved / 1e6:.1f} MB in {loaded_s:.2f} s", flush=True)
    here, found = ss.tables.table(data, remote.device, layout), []
    for name, columns in SCANS.items():
        begun = time.perf_counter()
        got = there.scan(columns)
        wall_s = time.perf_counter() - begun
        simulated = here.scan(columns)
        if not pa.table(got.data).equals(data.select(columns)):
            raise RuntimeError(f"{layout}, {name}: not what was written")
        if (got.blocks, got.requests) != (simulated.blocks, simulated.requests):
            raise RuntimeError(f"{layout}, {name}: not the requests of the simulation")
        found.append(
            Scan(layout, name, got.simulated_s, simulated.simulated_s, wall_s, got.bytes_moved)
        )
    return found


@contextlib.contextmanager
def device(address: str | None) -> Iterator[ss.emulator.RemoteDevice]:
    """Connect to a device, which is served here if no address is given."""
    with contextlib.ExitStack() as stack:
        if address is None:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            address = f"unix:{Path(folder) / 's.sock'}"
            stack.enter_context(ss.serve("cmu2003", rpc=address))
        yield stack.enter_context(ss.connect(address))


def text(found: list[Scan]) -> str:
    """Return the scans as text."""
    lines = ["layout    scan      device s  simulated s   wall s   MB/s"]
    lines += [
        f"{one.layout:<9} {one.scan:<8} {one.device_s:9.3f} {one.simulated_s:12.3f}"
        f" {one.wall_s:8.3f} {one.mb_s:6.1f}"
        for one in found
    ]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the scans and print a table."""
    parser = argparse.ArgumentParser(description="Scans of a table on a served MEMStore")
    parser.add_argument("--records", type=int, default=200_000, help="how many (%(default)s)")
    parser.add_argument("--connect", metavar="ADDRESS", help="of a server: unix:PATH or HOST:PORT")
    options = parser.parse_args(arguments)
    if options.records < 1:
        parser.error(f"--records {options.records}: must be at least 1")
    try:
        with device(options.connect) as remote:
            data = records(options.records)
            found = [scan for layout in LAYOUTS for scan in scans(remote, data, layout)]
    except ss.SledsimError as error:
        parser.error(str(error))
    print(text(found))


if __name__ == "__main__":
    main()
