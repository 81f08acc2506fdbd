"""File systems on emulated devices: a server, a loop device on its file, a mount.

Three processes: the *server* holds the device and its FUSE mount; the *supervisor* puts everything
together, waits, and takes it apart again; the command that
started it returns when it is mounted. Mounts are recorded in ``/run/sledsim``: see `state`. So are
folders of runs that mount for themselves: see `work`.
"""
