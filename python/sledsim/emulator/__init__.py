"""The emulator: simulated devices under the real clock, for real programs."""

from sledsim.emulator.remote import RemoteBatch, RemoteDevice, RemoteOutcome, connect
from sledsim.emulator.server import Export, Server, serve

__all__ = [
    "Export",
    "RemoteBatch",
    "RemoteDevice",
    "RemoteOutcome",
    "Server",
    "connect",
    "serve",
]
