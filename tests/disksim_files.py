"""Writes DiskSim parameter files for the tests: small drives, and published ones by their numbers.

Values of published drives are facts of DiskSim 4.0's ``valid`` folder; the texts are ours.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeAlias

Values: TypeAlias = Mapping[str, object]


def told(text: str) -> dict[str, object]:
    """Read ``KEY = VALUE, ...``, without lists and blocks; whole numbers are integers."""
    pairs = (part.partition(" = ") for part in text.split(","))
    found: dict[str, object] = {}
    for key, _, value in pairs:
        word = value.strip()
        number = re.fullmatch(r"-?\d+(\.\d+)?", word)
        found[key.strip()] = (float(word) if number[1] else int(word)) if number else word
    return found


DISK = told(
    """
    Per-request overhead time = 0.0, Time scale for overheads = 1.0,
    Bulk sector transfer time = 0.05, Hold bus entire read xfer = 0, Hold bus entire write xfer = 0,
    Allow almost read hits = 0, Allow sneaky full read hits = 0, Allow sneaky partial read hits = 0,
    Allow sneaky intermediate read hits = 0, Allow read hits on write data = 1,
    Allow write prebuffering = 0, Preseeking level = 0, Never disconnect = 0, Print stats = 1,
    Avg sectors per cylinder = 400, Max queue length = 1, Number of buffer segments = 4,
    Maximum number of write segments = 2, Segment size (in blks) = 256,
    Use separate write segment = 0, Low (write) water mark = 0.0, High (read) water mark = 0.0,
    Set watermark by reqsize = 1, Calc sector by sector = 1, Enable caching in buffer = 1,
    Buffer continuous read = 3, Minimum read-ahead (blks) = 0, Maximum read-ahead (blks) = 128,
    Read-ahead over requested = 0, Read-ahead on idle hit = 0, Read any free blocks = 0,
    Fast write level = 0, Immediate buffer read = 0, Immediate buffer write = 0,
    Combine seq writes = 1, Stop prefetch in sector = 0, Disconnect write if seek = 0,
    Write hit stop prefetch = 1, Read directly to buffer = 1, Immed transfer partial hit = 1,
    Read hit over. after read = 0.11, Read hit over. after write = 0.12,
    Read miss over. after read = 0.13, Read miss over. after write = 0.14,
    Write hit over. after read = 0.15, Write hit over. after write = 0.16,
    Write miss over. after read = 0.17, Write miss over. after write = 0.18,
    Read completion overhead = 0.19, Write completion overhead = 0.21,
    Data preparation overhead = 0.0, First reselect overhead = 0.22, Other reselect overhead = 0.0,
    Read disconnect afterread = 0.0, Read disconnect afterwrite = 0.0,
    Write disconnect overhead = 0.0, Extra write disconnect = 0, Extradisc command overhead = 0.0,
    Extradisc disconnect overhead = 0.0, Extradisc inter-disconnect delay = 0.0,
    Extradisc 2nd disconnect overhead = 0.0, Extradisc seek delta = 0.0, Minimum seek delay = 0.0
    """
)

QUEUE = told(
    """
    Scheduling policy = 1, Cylinder mapping strategy = 0, Write initiation delay = 0.0,
    Read initiation delay = 0.0, Sequential stream scheme = 0, Maximum concat size = 0,
    Overlapping request scheme = 0, Sequential stream diff maximum = 0,
    Scheduling timeout scheme = 0, Timeout time/weight = 0, Timeout scheduling = 0,
    Scheduling priority scheme = 0, Priority scheduling = 0
    """
)

MECHANICS = told(
    """
    Access time type = trackSwitchPlusRotation, Seek type = linear, Single cylinder seek time = 1.0,
    Average seek time = 4.0, Full strobe seek time = 8.0, Add. write settling delay = 0.5,
    Head switch time = 0.75, Rotation speed (in rpms) = 6000, Percent error in rpms = 0.0
    """
)

LAYOUT = told("LBN-to-PBN mapping scheme = 0, Sparing scheme used = 0, Rangesize for sparing = 1")

ZONE = told(
    """
    First cylinder number = 0, Last cylinder number = 99, Blocks per track = 100,
    Offset of first block = 0, Empty space at zone front = 0, Skew for track switch = 10,
    Skew for cylinder switch = 20, Number of spares = 0, slips = [], defects = []
    """
)

MEMS = told(
    """
    Points in precomputed seek curve = 0, Seek function = 0, Command overhead = 0.2,
    Bulk sector transfer time = 0.00512, Print stats = 1, Max queue length = 100000,
    Number of buffer segments = 10, Segment size (in blks) = 128, Number of sleds = 1,
    Layout policy = 7, Sled movement X = 100000, Sled movement Y = 100000, Bit cell length = 40,
    Tip sector length = 80, Servo burst length = 10, Tip sectors per lbn = 64,
    Number of usable tips = 6400, Simultaneously active tips = 1280, Bidirectional access = 1,
    Sled acceleration X = 803.6, Sled acceleration Y = 803.6, Sled access speed = 700000,
    Sled resonant frequency = 739, Settling time constants = 1.0, Spring constant factor = 0.75,
    Prefetch depth = 0, Time before sled inactive = 100.0, Startup delay = 0.5,
    Sled active power = 100.0, Sled inactive power = 50.0, Tip access power = 1.0
    """
)

BUS = told(
    """
    type = 1, Arbitration type = 1, Arbitration time = 0.0, Read block transfer time = 0.0,
    Write block transfer time = 0.0, Print stats = 1
    """
)


def block(head: str, values: Values) -> str:
    """Return ``HEAD { KEY = VALUE, ... }``, a parameter a line."""
    body = ",\n".join(f"{key} = {value}" for key, value in values.items())
    return f"{head} {{\n{body}\n}}"


def zone(**values: object) -> str:
    """Return a zone; keywords spell the parameters with ``_`` for blanks."""
    return block("dm_layout_g1_zone", {**ZONE, **spelt(values)})


def spelt(values: Values) -> dict[str, object]:
    """Spell parameters that were given as keywords."""
    return {key.replace("_", " "): value for key, value in values.items()}


def disk(
    changes: Values | None = None,
    *,
    name: str = "SMALL",
    zones: list[str] | None = None,
    surfaces: int = 4,
    cylinders: int = 100,
    blocks: int = 1,
    layout: Values | None = None,
    mechanics: Values | None = None,
    queue: Values | None = None,
) -> str:
    """Return a disk of 40,000 sectors, with changes."""
    listed = "[\n" + ",\n".join([zone()] if zones is None else zones) + "\n]"
    model = block(
        f"dm_disk {name}.model",
        {
            "Block count": blocks,
            "Number of data surfaces": surfaces,
            "Number of cylinders": cylinders,
            "Mechanical Model": block("dm_mech_g1", {**MECHANICS, **(mechanics or {})}),
            "Layout Model": block("dm_layout_g1", {**LAYOUT, **(layout or {}), "Zones": listed}),
        },
    )
    scheduler = block("disksim_ioqueue", {**QUEUE, **(queue or {})})
    parts = {"Model": model, "Scheduler": scheduler}
    return block(f"disksim_disk {name}", {**parts, **DISK, **(changes or {})}) + "\n"


def mems(changes: Values | None = None, name: str = "mems.g2") -> str:
    """Return the MEMS device G2 of DiskSim 4.0, with changes."""
    parts = {"Scheduler": block("disksim_ioqueue", QUEUE)}
    return block(f"memsmodel_mems {name}", {**parts, **MEMS, **(changes or {})}) + "\n"


def system(devices: list[tuple[str, str, str]], bus: Values | None = None) -> str:
    """Return buses and the wiring of devices, each a name, its type and its block."""
    wired = ", ".join(f"{type_} {name} []" for name, type_, _ in devices)
    made = "\n".join(f"instantiate [ {name} ] as {spec}" for name, _, spec in devices)
    return "\n".join(
        [
            block("disksim_bus OUTER", {**BUS, "Read block transfer time": 9.0}),
            block("disksim_bus INNER", {**BUS, **(bus or {})}),
            "disksim_ctlr CTLR { type = 1 }",
            "disksim_global Global { Init Seed = 42 }",
            made,
            "instantiate [ outer ] as OUTER",
            "instantiate [ inner ] as INNER",
            "instantiate [ ctlr ] as CTLR",
            f"topology disksim_bus outer [ disksim_ctlr ctlr [ disksim_bus inner [ {wired} ] ] ]",
            "",
        ]
    )


def rz26() -> str:
    """Return the layout of the DEC RZ26: a spare on each track, and reserved cylinders."""
    size = "Last cylinder number = 2598, Blocks per track = 58, Empty space at zone front = 23142"
    skews = "Skew for track switch = 7, Skew for cylinder switch = 25, Number of spares = 1"
    only = zone(**told(f"{size}, {skews}"))
    scheme = {"Sparing scheme used": 3}
    return disk(zones=[only], surfaces=14, cylinders=2599, blocks=2_050_860, layout=scheme)


def _spared(rows: str, *, surfaces: int, blocks: int, **layout: object) -> str:
    """Return a drive of zones: first and last cylinder, sectors, reserved sectors, spares."""
    names = ["First_cylinder_number", "Last_cylinder_number", "Blocks_per_track"]
    names += ["Empty_space_at_zone_front", "Number_of_spares"]
    zones = [zone(**dict(zip(names, row.split(), strict=True))) for row in rows.split(",")]
    cylinders = int(rows.rsplit(",", maxsplit=1)[-1].split()[1]) + 1
    scheme = spelt(layout)
    return disk(zones=zones, surfaces=surfaces, cylinders=cylinders, blocks=blocks, layout=scheme)


def c3323a() -> str:
    """Return the layout of the HP C3323A: whole tracks spared."""
    rows = """
        0 993 120 1320 224, 994 1134 116 0 35, 1135 1310 112 0 28, 1311 1625 104 0 49,
        1626 1966 96 0 49, 1967 2255 88 0 35, 2256 2608 80 0 35, 2609 2981 72 0 35
    """
    return _spared(rows, surfaces=7, blocks=2_056_008, Sparing_scheme_used=1)


def c2249a() -> str:
    """Return the layout of the HP C2249A: the same."""
    rows = """
        0 558 96 1632 425, 559 760 92 0 170, 761 901 88 0 85, 902 1051 84 0 102,
        1052 1193 80 0 68, 1194 1519 72 0 136, 1520 1793 64 0 102, 1794 2050 56 0 85
    """
    return _spared(rows, surfaces=17, blocks=2_687_632, Sparing_scheme_used=1)


def st41601n() -> str:
    """Return the layout of the Seagate ST41601N: spares in every cylinder, without its slips."""
    rows = """
        0 625 85 0 6, 626 700 83 0 6, 701 800 82 0 6, 801 925 79 0 6, 926 1050 78 0 6,
        1051 1175 76 0 6, 1176 1300 73 0 6, 1301 1400 72 0 6, 1401 1500 69 0 6, 1501 1600 68 0 6,
        1601 1800 65 0 6, 1801 1900 63 0 6, 1901 2000 62 0 6, 2001 2097 61 0 6
    """
    return _spared(rows, surfaces=17, blocks=2_676_846, Sparing_scheme_used=2)


def cheetah_4lp() -> str:
    """Return the layout of the Seagate Cheetah 4LP: ranges of 12 cylinders, gaps, odd defects."""
    rows = """
        0 1343 195 0 108, 1345 2448 187 0 108, 2450 3541 176 0 108, 3543 4406 166 0 108,
        4408 5223 155 0 108, 5225 5956 145 0 108, 5958 6580 131 0 108
    """
    scheme = {"Sparing_scheme_used": 8, "Rangesize_for_sparing": 12}
    text = _spared(rows, surfaces=8, blocks=8_887_200, **scheme)
    first, second, rest = text.split("defects = []", 2)
    return f"{first}defects = []{second}defects = [ 233375, 233375 ]{rest}"
