"""File systems on emulated devices: a server, a loop device on its file, a mount.

Three processes: the *server* holds the device and its FUSE mount; the *supervisor* puts everything
together, waits, and takes it apart again; whoever asked for it is told when it is mounted, and
goes. What there is, is written down in ``/run/sledsim``, so that others find it: see `state`.
"""
