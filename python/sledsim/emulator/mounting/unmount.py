"""Ends a mount from another process, as ``sledsim umount``."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from sledsim._core import SledsimError
from sledsim.emulator.mounting import supervisor, system

if TYPE_CHECKING:
    from collections.abc import Callable

    from sledsim.emulator.mounting.state import State

_PATIENCE_S = 60.0
_LAZY_S = 0.5


def end(
    state: State, tell: Callable[[str], None], *, lazily: bool = False
) -> dict[str, Any] | None:
    """Unmount, and wait for the end of the server.

    Parameters
    ----------
    state
        The mount.
    tell
        Called with a line for each message.
    lazily
        Unmount even if it is in use; then the server ends with the last user.

    Returns
    -------
    dict or None
        The final statistics of the server, if it stopped normally; ``not_synced`` is set if the
        file system could not write all its data.
    """
    if not state.supervisor.is_alive():
        supervisor.clean(state)
        tell(f"{state.name}: cleaned up: its supervisor was gone")
        return None
    _refuse_if_busy(state)
    state.closing.touch()
    not_synced = None
    try:
        if state.directory is None:
            state.supervisor.signal(15)
        else:
            try:
                system.run("sync", "--file-system", state.directory)
            except SledsimError as error:  # it must be ended all the same
                not_synced = f"{state.name}: the last writes may be lost: {error}"
            try:
                system.unmount(state.directory, lazily=lazily)
            except SledsimError as error:
                _refuse_if_there(state, error)
        until = time.monotonic() + (_LAZY_S if lazily else _PATIENCE_S)
        while state.supervisor.is_alive() and time.monotonic() < until:
            time.sleep(0.02)
        if state.supervisor.is_alive():
            if not lazily:
                raise SledsimError(f"{state.name}: is unmounted, but its server has not ended yet")
            if not_synced is not None:
                raise SledsimError(not_synced)
            tell(f"{state.name}: unmounted; the server ends with the last user")
            return None
        try:
            content = state.closing.read_bytes()
        except FileNotFoundError:  # another process that waited has read and removed it
            content = b""
        document: dict[str, Any] | None = json.loads(content or "null")
        if not_synced is not None:
            if document is None:
                raise SledsimError(not_synced)
            document["not_synced"] = not_synced
        return document
    finally:
        state.closing.unlink(missing_ok=True)


def _refuse_if_there(state: State, error: SledsimError) -> None:
    """Raise an error if the mount still exists after a failed unmount."""
    assert state.directory is not None
    if (system.mounted_at(state.directory) or (None, None))[1] != state.loop:
        return
    users = ", ".join(system.users(state.directory))
    why = f"is in use by {users}" if users else f"is not unmounted: {error}"
    raise SledsimError(f"{state.name}: {why}; end that, or give --lazy") from None


def _refuse_if_busy(state: State) -> None:
    """Refuse a block device that something is mounted from, or a mount with another over it."""
    if state.directory is None:
        points = [point for point, _, source in system.mounts() if source == state.loop]
        if points:
            raise SledsimError(f"{state.name}: is in use: mounted on {', '.join(points)}")
    else:
        kind, source = system.mounted_at(state.directory) or (None, state.loop)
        if source != state.loop:
            raise SledsimError(
                f"{state.name}: something else is mounted over it: {kind} on {source}"
            )
