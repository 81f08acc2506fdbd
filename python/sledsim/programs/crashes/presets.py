"""Set-ups that are known to keep a program's data, or not to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sledsim._core import SpecError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sledsim.programs.keys import Value


@dataclass(frozen=True)
class Preset:
    """Settings of a program and its file system."""

    what: str
    """What is special, and what comes of it."""
    is_good: bool
    """Whether every promise is kept."""
    keys: Mapping[str, Value] = field(default_factory=dict)
    file_system: Mapping[str, Any] = field(default_factory=dict)
    """Fields of `Setup`."""


_NO_BARRIERS = Preset(
    "ext4 never flushes: a device with a volatile buffer loses acknowledged transactions",
    False,
    {},
    {"barriers": False},
)

PRESETS: dict[str, dict[str, Preset]] = {
    "sqlite": {
        "delete": Preset("a journal that is deleted; whole", True),
        "wal": Preset("a log that is written ahead; whole", True, {"journal": "wal"}),
        "data-journal": Preset("ext4 with data=journal; whole", True, {}, {"data": "journal"}),
        "xfs": Preset("on xfs; whole", True, {}, {"file_system": "xfs"}),
        "full": Preset(
            "synchronous=full: a deletion of the journal that is not flushed loses a transaction",
            False,
            {"synchronous": "full"},
        ),
        "unsynced": Preset(
            "synchronous=off: acknowledged transactions are lost", False, {"synchronous": "off"}
        ),
        "no-journal": Preset(
            "journal=off: half a transaction stays, or the file breaks",
            False,
            {"journal": "off", "updates": 20},
        ),
        "memory-journal": Preset(
            "journal=memory: half a transaction stays, or the file breaks",
            False,
            {"journal": "memory", "updates": 20},
        ),
        "no-barriers": _NO_BARRIERS,
    },
    "postgres": {
        "default": Preset("as it is installed; whole", True),
        "checksums": Preset("with data checksums; whole", True, {"data_checksums": "on"}),
        "unsynced": Preset(
            "fsync=off: acknowledged transactions are lost, or the cluster breaks",
            False,
            {"fsync": "off"},
        ),
        "late-commits": Preset(
            "synchronous_commit=off: the last acknowledged transactions are lost",
            False,
            {"synchronous_commit": "off"},
        ),
        "torn-pages": Preset(
            "full_page_writes=off: a page that was torn stays torn",
            False,
            {
                "full_page_writes": "off",
                "data_checksums": "on",
                "checkpoint_every": 5,
                "updates": 40,
            },
        ),
        "no-barriers": _NO_BARRIERS,
    },
    "scripts": {},
}
"""By program and name."""


def preset(program: str, name: str) -> Preset:
    """Return a preset of a program."""
    known = PRESETS[program]
    if name not in known:
        there = f"must be one of {', '.join(known)}" if known else "it has none"
        raise SpecError(f"--preset {name}: {program}: {there}")
    return known[name]
