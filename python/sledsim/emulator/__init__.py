"""The emulator: simulated devices under the real clock, for real programs."""

from sledsim.emulator.recordings import Cut, DataRecording
from sledsim.emulator.remote import RemoteBatch, RemoteDevice, RemoteOutcome, connect
from sledsim.emulator.server import Export, Server, serve

__all__ = [
    "Cut",
    "DataRecording",
    "Export",
    "RemoteBatch",
    "RemoteDevice",
    "RemoteOutcome",
    "Server",
    "connect",
    "serve",
]
