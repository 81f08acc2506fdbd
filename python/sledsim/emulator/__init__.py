"""The emulator: simulated devices under the real clock, for real programs."""

from sledsim.emulator.server import Export, Server, serve

__all__ = ["Export", "Server", "serve"]
