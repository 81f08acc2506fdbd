#!/usr/bin/env python3
"""Turn the log of nbdkit's log filter into a DiskSim ascii trace.

    nbdlog_to_disksim.py LOG TRACE --device-blocks N

One line a request, `time devno blkno blocks flags`: the arrival at the server
in ms since the first request, device 0, LBN and length in 512 B blocks, and 1
for a read or 0 for a write. Flushes have no place in the format: they are
counted and dropped. The figures of the trace go to standard output as TOML.
"""

import argparse
import re
import sys
from collections import deque
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from pathlib import Path

BLOCK = 512
WINDOW_US = 100_000  # the peak rate is taken over this time
CLOCK_STEP_US = 100_000  # threads may log out of order by less than this

LINE = re.compile(
    r"(?P<when>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}) connection=(?P<conn>\d+) "
    r"(?P<reply>\.\.\.)?(?P<action>\w+) id=(?P<id>\d+)(?P<rest>.*)"
)
EXTENT = re.compile(r" offset=0x(?P<offset>[0-9a-f]+) count=0x(?P<count>[0-9a-f]+) ")


@dataclass
class Request:
    """One read or write as the server saw it."""

    arrival_us: int
    lbn: int
    blocks: int
    read: bool
    reply_us: int = -1  # -1: not answered yet


class LogError(Exception):
    """The log cannot be turned into a trace; the text says where and why."""


def read_log(path: Path, device_blocks: int) -> tuple[list[Request], int]:
    """All reads and writes in order of arrival, and the number of flushes."""
    requests: list[Request] = []
    waiting: dict[tuple[str, str], Request | None] = {}
    flushes = 0
    epoch: datetime | None = None
    latest_us = 0
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        where = f"{path.name}, line {number}"
        if (match := LINE.fullmatch(line)) is None:
            raise LogError(f"{where}: not a line of nbdkit's log filter: {line[:80]!r}")
        when = datetime.fromisoformat(match["when"])
        epoch = epoch or when
        since = when - epoch
        now_us = (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
        if now_us < latest_us - CLOCK_STEP_US:
            raise LogError(f"{where}: the clock was set back while recording")
        latest_us = max(latest_us, now_us)
        key = (match["conn"], match["id"])

        if match["reply"]:
            if key not in waiting:
                raise LogError(f"{where}: a reply without its request (is the log cut off?)")
            if not match["rest"].startswith(" return=0"):
                raise LogError(f"{where}: the request failed: {line[:80]!r}")
            if request := waiting.pop(key):
                request.reply_us = now_us
        elif match["action"] == "Flush":
            flushes += 1
            waiting[key] = None
        elif match["action"] in ("Read", "Write"):
            if (extent := EXTENT.match(match["rest"])) is None:
                raise LogError(f"{where}: no offset and count: {line[:80]!r}")
            lbn, odd = divmod(int(extent["offset"], 16), BLOCK)
            blocks, odd_too = divmod(int(extent["count"], 16), BLOCK)
            if odd or odd_too or blocks == 0:
                raise LogError(f"{where}: offset or count is not in whole {BLOCK} B blocks")
            if lbn + blocks > device_blocks:
                raise LogError(f"{where}: LBN {lbn + blocks - 1} is beyond {device_blocks} blocks")
            request = Request(now_us, lbn, blocks, match["action"] == "Read")
            requests.append(request)
            waiting[key] = request
        else:
            raise LogError(f"{where}: a trace cannot hold the request {match['action']!r}")
    if waiting:
        raise LogError(f"{path.name}: {len(waiting)} requests have no reply (is the log cut off?)")
    if len(requests) < 2:
        raise LogError(f"{path.name}: fewer than two reads and writes")
    requests.sort(key=lambda request: request.arrival_us)  # stable
    return requests, flushes


def peak_rate(requests: list[Request]) -> float:
    """Most arrivals in any 100 ms, as requests per second."""
    window: deque[int] = deque()
    most = 0
    for request in requests:
        window.append(request.arrival_us)
        while window[0] <= request.arrival_us - WINDOW_US:
            window.popleft()
        most = max(most, len(window))
    return most * 1_000_000 / WINDOW_US


def outstanding(requests: list[Request]) -> tuple[int, int]:
    """Most requests at the server at once, and the us it had none."""
    events = [(r.arrival_us, 1) for r in requests] + [(r.reply_us, -1) for r in requests]
    events.sort(key=lambda event: (event[0], -event[1]))
    now = most = idle_us = 0
    last_us = events[0][0]
    for at_us, change in events:
        if now == 0:
            idle_us += at_us - last_us
        last_us = at_us
        now += change
        most = max(most, now)
    return most, idle_us


def figures(requests: list[Request], flushes: int, device_blocks: int) -> str:
    """Describe the trace in numbers, as lines of TOML."""
    reads = [r for r in requests if r.read]
    writes = [r for r in requests if not r.read]
    blocks_read = sum(r.blocks for r in reads)
    blocks_written = sum(r.blocks for r in writes)
    duration_s = (requests[-1].arrival_us - requests[0].arrival_us) / 1e6
    if duration_s == 0:
        raise LogError("all requests arrived in the same microsecond")
    follows = sum(a.lbn + a.blocks == b.lbn for a, b in pairwise(requests))
    most, idle_us = outstanding(requests)
    longest_gap_us = max(b.arrival_us - a.arrival_us for a, b in pairwise(requests))
    longest_reply_us = max(r.reply_us - r.arrival_us for r in requests)
    return f"""\
requests = {len(requests)}
reads = {len(reads)}
writes = {len(writes)}
flushes_dropped = {flushes}  # the format cannot hold them
read_share = {len(reads) / len(requests):.4f}
blocks_read = {blocks_read}
blocks_written = {blocks_written}
mean_blocks = {(blocks_read + blocks_written) / len(requests):.2f}
max_blocks = {max(r.blocks for r in requests)}
sequential_share = {follows / len(requests):.4f}  # begin where the one before ended
end_lbn = {max(r.lbn + r.blocks for r in requests)}  # highest LBN touched + 1
device_blocks = {device_blocks}  # size of the device recorded on
duration_s = {duration_s:.6f}  # first to last arrival
mean_rate_per_s = {len(requests) / duration_s:.1f}
peak_rate_per_s = {peak_rate(requests):.1f}  # in the busiest {WINDOW_US // 1000} ms
longest_gap_ms = {longest_gap_us / 1000:.3f}  # between two arrivals
longest_reply_ms = {longest_reply_us / 1000:.3f}  # arrival to reply while recording
max_outstanding = {most}  # at the server at once while recording
idle_share = {idle_us / duration_s / 1e6:.4f}  # of the time nothing was at the server
"""


def main() -> int:
    """Convert and return the exit code: 2 if the log will not do."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("log", type=Path, help="log of requests and replies")
    parser.add_argument("trace", type=Path, help="DiskSim ascii trace to write")
    parser.add_argument("--device-blocks", type=int, required=True, help="size in 512 B blocks")
    args = parser.parse_args()
    try:
        requests, flushes = read_log(args.log, args.device_blocks)
        summary = figures(requests, flushes, args.device_blocks)
        start_us = requests[0].arrival_us
        with args.trace.open("w", encoding="ascii", newline="\n") as out:
            for r in requests:
                ms, us = divmod(r.arrival_us - start_us, 1000)
                out.write(f"{ms}.{us:03d} 0 {r.lbn} {r.blocks} {int(r.read)}\n")
    except (LogError, OSError, UnicodeError) as error:
        print(f"nbdlog_to_disksim: {error}", file=sys.stderr)
        return 2
    print(summary, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
