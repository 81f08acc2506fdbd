"""The server of one mount: ``python -m sledsim.emulator.mounting.server_process``.

Its first line of input names the export and the mount point; it answers with a line, and serves
until a second line arrives. Then it stops and prints its statistics. It passes signals that would
end it to the supervisor, which unmounts the file system first; without one it stops by itself.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
from typing import TYPE_CHECKING

from sledsim._core import SledsimError
from sledsim.emulator.control import Control, control_path
from sledsim.emulator.export_spec import export_of
from sledsim.emulator.server import serve

if TYPE_CHECKING:
    from types import FrameType

_GRACE_S = 10.0
_LOOK_S = 0.2


def main() -> int:
    """Serve; return the exit code."""
    supervisor = os.getppid()
    stopped = False

    def stop(number: int, _frame: FrameType | None) -> None:
        nonlocal stopped
        try:
            if os.getppid() == supervisor:
                os.kill(supervisor, number)
                return
        except ProcessLookupError:
            pass
        stopped = True

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    # The descriptor, not sys.stdin, whose read-ahead select does not see.
    line = b""
    while not line.endswith(b"\n"):
        some = os.read(0, 65536)
        if not some:
            return 1
        line += some
    wanted = json.loads(line)
    try:
        export = export_of(wanted["serve"], wanted["name"])
        server = serve(export, fuse=wanted["point"])
        try:
            control = Control(server, control_path())
        except SledsimError:
            server.stop(0.0)
            raise
    except SledsimError as error:
        print(error, file=sys.stderr)
        return 2
    facts = server.status()["exports"][0]
    print(json.dumps({key: facts[key] for key in ("bytes", "allocated_bytes")}), flush=True)
    supervised = True
    while server.is_alive and not stopped:
        ready, _, _ = select.select([0] if supervised else [], [], [], _LOOK_S)
        if ready:
            if os.read(0, 4096):
                break
            supervised = False  # the supervisor has ended: its clean-up sends a signal
    control.close()
    try:
        document = server.stop(_GRACE_S)
    except SledsimError:
        document = server.status()  # which names the failures
    try:
        print(json.dumps(document), flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
