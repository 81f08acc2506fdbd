"""Parameters without a counterpart in a device file, and the effect of ignoring them.

What they do, and which of them can be told from the measured times of five drives, is in the study
beside the disk model (``crates/sledsim-core/src/devices/disk/BEHAVIOUR.md``, section 9).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim.disksim.parameter_coverage import ALWAYS

if TYPE_CHECKING:
    from sledsim.disksim.parameter_coverage import Unread

_STATISTICS = "nothing: it is about DiskSim's output"
_BUS_ONLY = "only with several devices on the bus:"
_QUEUE_ONLY = "only with several requests at the drive:"
_DISCONNECTS = "a request may take so much less; in measured drives it hides behind the seek"
_OTHER_SEEKS = "nothing: it is for another 'Seek type'"

DISK: Unread = {
    "Print stats": (ALWAYS, _STATISTICS),
    "Max queue length": (
        1.0,
        f"{_QUEUE_ONLY} they wait at the scheduler of the run, however many there are",
    ),
    "Avg sectors per cylinder": (ALWAYS, "nothing: DiskSim's schedulers estimate by it"),
    "Allow almost read hits": (0.0, f"{_QUEUE_ONLY} none is preferred for being partly buffered"),
    "Allow sneaky full read hits": (0.0, f"{_QUEUE_ONLY} a hit waits for its turn"),
    "Allow sneaky partial read hits": (0.0, f"{_QUEUE_ONLY} a partial hit waits for its turn"),
    "Allow sneaky intermediate read hits": (
        0.0,
        f"{_QUEUE_ONLY} a hit on what is being read waits for its turn",
    ),
    "Allow write prebuffering": (
        0.0,
        f"{_QUEUE_ONLY} the data of a write are not taken before its turn",
    ),
    "Preseeking level": (
        0.0,
        f"{_QUEUE_ONLY} the arm does not leave for the next before the last is complete",
    ),
    "Hold bus entire write xfer": (
        0.0,
        "only with others on the bus or several requests: they may use it between a write's blocks",
    ),
    "Low (write) water mark": (
        0.0,
        f"{_BUS_ONLY} a write takes the bus once, not again whenever the buffer runs low",
    ),
    "Calc sector by sector": (ALWAYS, "nothing: sectors are always simulated one by one"),
    "Disconnect write if seek": (0.0, f"{_BUS_ONLY} a write does not free it for its seek"),
    "Read directly to buffer": (ALWAYS, "nothing: the drives measured show no difference"),
    "Data preparation overhead": (0.0, _DISCONNECTS),
    "Other reselect overhead": (0.0, _DISCONNECTS),
    "Read disconnect afterread": (0.0, _DISCONNECTS),
    "Read disconnect afterwrite": (0.0, _DISCONNECTS),
    "Write disconnect overhead": (0.0, _DISCONNECTS),
    "Extra write disconnect": (
        0.0,
        "writes disconnect once, not twice; the drive measured starts none later for that",
    ),
    "Extradisc command overhead": (0.0, _DISCONNECTS),
    "Extradisc disconnect overhead": (0.0, _DISCONNECTS),
    "Extradisc inter-disconnect delay": (0.0, _DISCONNECTS),
    "Extradisc 2nd disconnect overhead": (0.0, _DISCONNECTS),
    "Extradisc seek delta": (0.0, _DISCONNECTS),
}
"""``disksim_disk``."""

MEMS: Unread = {
    "Print stats": DISK["Print stats"],
    "Max queue length": (
        ALWAYS,
        "nothing: requests wait at the scheduler of the run, however many there are",
    ),
    "Points in precomputed seek curve": (
        0.0,
        "every seek is computed, not interpolated between so many points",
    ),
}
"""``memsmodel_mems``."""

_ORDER = "only with several requests waiting: the order in which they are served"

SCHEDULER: Unread = {
    "Scheduling policy": (1.0, f"{_ORDER} is that of --scheduler, by default fcfs"),
    "Cylinder mapping strategy": (ALWAYS, "nothing: DiskSim's schedulers by cylinder use it"),
    "Write initiation delay": (0.0, "every write is faster by so much"),
    "Read initiation delay": (0.0, "every read is faster by so much"),
    "Sequential stream scheme": (0.0, f"{_ORDER} and their being joined"),
    "Maximum concat size": (ALWAYS, "nothing: requests are not joined"),
    "Overlapping request scheme": (0.0, f"{_ORDER} where they overlap"),
    "Sequential stream diff maximum": (ALWAYS, "nothing: there are no streams"),
    "Scheduling timeout scheme": (0.0, f"{_ORDER} after a timeout"),
    "Timeout time/weight": (ALWAYS, "nothing: there are no timeouts"),
    "Timeout scheduling": (ALWAYS, "nothing: there are no timeouts"),
    "Scheduling priority scheme": (0.0, f"{_ORDER} by priority"),
    "Priority scheduling": (ALWAYS, "nothing: there are no priorities"),
}
"""``disksim_ioqueue``, the queue inside a device."""

BUS: Unread = {
    "type": (ALWAYS, "nothing: one device has the bus for itself"),
    "Arbitration type": (ALWAYS, "nothing: one device has the bus for itself"),
    "Arbitration time": (0.0, "every request is faster by so much each time it takes the bus"),
    "Print stats": (ALWAYS, _STATISTICS),
}
"""``disksim_bus``."""

MODEL: Unread = {}
"""``dm_disk``."""

MECHANICS: Unread = {
    "Percent error in rpms": (
        0.0,
        "every drive turns at exactly the stated speed, not up to so many percent off it",
    ),
    "Constant access time": (ALWAYS, "nothing: it is for another 'Access time type'"),
    "Average seek time": (ALWAYS, _OTHER_SEEKS),
    "Constant seek time": (ALWAYS, _OTHER_SEEKS),
    "Single cylinder seek time": (ALWAYS, _OTHER_SEEKS),
    "Full strobe seek time": (ALWAYS, _OTHER_SEEKS),
    "Full seek curve": (ALWAYS, _OTHER_SEEKS),
    "First ten seek times": (ALWAYS, _OTHER_SEEKS),
    "HPL seek equation values": (ALWAYS, _OTHER_SEEKS),
}
"""``dm_mech_g1``."""

LAYOUT: Unread = {
    "Rangesize for sparing": (ALWAYS, "nothing: it is for sparing scheme 8"),
}
"""``dm_layout_g1``."""

ZONE: Unread = {}
"""``dm_layout_g1_zone``."""
