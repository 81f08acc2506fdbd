"""Types of keyword arguments that are keys: checkers refuse other names.

``scripts/key_types.py`` writes this file from the keys that the core reads. The keys of parts of
composites (``front.spring_factor``) and of tables that are given whole are checked by the core.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, SupportsFloat, TypeAlias, TypedDict

Real: TypeAlias = float | SupportsFloat
"""A number, also one of numpy."""
Whole: TypeAlias = Real
"""A whole number, also 1e6."""
Table: TypeAlias = Mapping[str, Any] | Sequence[Mapping[str, Any]]
"""The keys of a table, or those of several."""


class WorkloadKeys(TypedDict, total=False):
    """Keys of :func:`sledsim.workload`."""

    rate: Real
    """Open: mean arrivals per second in the long run; without it the load is closed."""
    time_scale: Real
    """Open: times are divided by it, so 2 halves the gaps."""
    arrivals: Literal["poisson", "constant"]
    """Open: gaps are exponential (``"poisson"``) or all the same (``"constant"``)."""
    on_ms: Real
    """Open: mean time that a burst lasts; with ``off_ms``."""
    off_ms: Real
    """Open: mean time between bursts; with ``on_ms``."""
    burst_lengths: Literal["exponential", "fixed"]
    """Open: times on and off are ``"exponential"`` or ``"fixed"``."""
    bias: Real
    """Open: bursts at many scales; share of the busier half."""
    cascade_s: Real
    """With ``bias``: the longest scale."""
    cascade_levels: Whole
    """With ``bias``: how often the longest scale is halved."""
    queue_depth: Whole
    """Closed: customers, each with a request outstanding or being thought about."""
    think_ms: Real
    """Closed: mean time from a completion to the customer's next request."""
    think: Literal["fixed", "exponential"]
    """Closed: think times are all the same (``"fixed"``) or ``"exponential"``; with ``think_ms``
    above 0.
    """
    max_queue: Whole
    """How many requests may be outstanding; with more, the device is saturated and the run ends."""
    warm_up_requests: Whole
    """How many requests at the beginning are simulated and not counted."""
    warm_up_s: Real
    """How much time at the beginning is simulated and not counted."""
    requests: Whole
    """How many requests; a part of a mix has no number of its own."""
    first_lbn: Whole
    """First block of the region in which requests lie."""
    size: Literal["geometric", "exponential", "fixed", "listed"]
    """Distribution of sizes: ``"geometric"``, ``"exponential"``, ``"fixed"`` or ``"listed"``."""
    mean_size_kib: Real
    """Mean size before rounding; not with ``"listed"``."""
    sizes_kib: Sequence[Any]
    """The sizes, with ``size = "listed"``, which needs them."""
    size_shares: Sequence[Any]
    """How often each of ``sizes_kib`` comes; shares need not add up to 1."""
    blocking: Whole
    """Blocks of which places and sizes are multiples."""
    read_fraction: Real
    """Probability of a read; the rest are writes."""
    seed: Whole
    """The seed of all that is random."""
    writes: Literal["independent", "read_earlier"]
    """Where writes go: where reads could go, too (``"independent"``), or to what was read before
    (``"read_earlier"``).
    """
    last_lbn: Whole
    """Last block of the region, included."""
    unit_blocks: Whole
    """Length of a unit, a multiple of ``blocking``."""
    scatter: bool
    """Spreads the ranks over the region by a random permutation; ``false``: rank 1 lies first,
    then rank 2.
    """
    zipf_exponent: Real
    """Exponent of the ranks' probability; 0 is uniform."""
    pareto_h: Real
    """Share of the units that gets all but this share of the requests, above 0 and below 1; 0.5
    is uniform.
    """
    hot_fraction: Real
    """The hot part's share of the region."""
    hot_share: Real
    """The hot part's share of the requests."""
    hot_start: Real
    """Where the hot part begins, as a fraction of the region; at most 1 - ``hot_fraction``."""
    streams: Whole
    """How many streams there are."""
    interleave: Literal["round_robin", "random"]
    """Whose turn it is: ``"round_robin"`` or ``"random"``; with two streams or more."""
    sequential_fraction: Real
    """Probability that a request goes on; else its stream jumps to a uniform place first."""
    mean_run_requests: Real
    """Mean length of a run in requests, 1 / (1 - ``sequential_fraction``); in place of
    ``sequential_fraction``.
    """
    unit_kib: Real
    """Length of a unit, a multiple of ``blocking`` that divides ``extent_kib``."""
    popularity: Literal["static", "moving"]
    """The same units are popular at all times (``"static"``), or those used lately
    (``"moving"``).
    """
    interleave_kib: Real
    """Gap left by a request that goes on, a multiple of ``blocking``: the interleave factor of a
    file system.
    """
    clustered: bool
    """Ranks that follow each other share extents, extents in random order; ``false``: units in
    random order.
    """
    part_from: Real
    """Where the part of the set begins that is used, as a fraction of the set."""
    part_to: Real
    """Where the part of the set ends that is used, above ``part_from``."""
    reuse_set: Real
    """Moving: how many units the load used on which distances were measured."""
    reuse_distances: Sequence[Any]
    """Moving: ends of the cells of the histogram in units, rising, up to ``reuse_set``."""
    reuse_counts: Sequence[Any]
    """Moving: how many distances were measured in each cell."""
    new_fraction: Real
    """Moving: probability of a unit that was not used before."""
    set_mib: Real
    """Data that requests choose from."""
    extent_kib: Real
    """Length of an extent, a multiple of ``blocking``."""
    turn_kib: Real
    """How much one reads before it is another's turn, a multiple of ``blocking`` up to
    ``extent_kib``.
    """
    scans: Whole
    """How many scans take turns."""
    order: Literal["in_order", "random"]
    """Which extent comes after one: the next of the set (``"in_order"``), or any (``"random"``)."""
    tables: Sequence[Any]
    """Kinds of tables, a list each: share of the requests, share of the set, and what ``rows``,
    ``row_mask`` and ``rows_per_page`` say otherwise.
    """
    rows: Whole
    """Rows of a table."""
    row_mask: Whole
    """The first argument of NURand."""
    rows_per_page: Whole
    """Rows in a page."""
    part: Table
    """The parts, a table ``part.NAME`` each with the keys of its generator."""
    min_bytes: Whole
    """The least size of a file."""
    max_bytes: Whole
    """The size below which files are created and to which they grow, to 98,304."""
    files: Whole
    """Files at the beginning."""
    transactions: Whole
    """How many transactions follow."""
    cache_mib: Real
    """Size of the buffer cache."""
    data_writes: Literal["full_blocks", "close"]
    """When data are written: a block that is full at once, a part of one later
    (``"full_blocks"``), or all on ``"close"``.
    """


class TraceKeys(TypedDict, total=False):
    """Keys of :func:`sledsim.read_trace`."""

    max_queue: Whole
    """How many requests may be outstanding; with more, the device is saturated and the run ends."""
    warm_up_requests: Whole
    """How many requests at the beginning are simulated and not counted."""
    warm_up_s: Real
    """How much time at the beginning is simulated and not counted."""
    time_scale: Real
    """Times are divided by it, so 2 halves the gaps."""
    time_origin: Literal["file", "first"]
    """``"file"`` keeps the clock of the file, ``"first"`` makes the first request time zero."""
    queue_depth: Whole
    """Requests outstanding; replays closed: the order of the trace, none of its times."""
    think_ms: Real
    """Time from a completion to the next request; replays closed: the order of the trace, none
    of its times.
    """
    think: Literal["recorded"]
    """``"recorded"``: replays closed, with the think times of a recording."""
    depends_on: Literal["stream", "all"]
    """With ``think``: requests wait for others of their ``"stream"``, or for any (``"all"``)."""
    trace_format: Literal[
        "disksim_ascii",
        "mqsim",
        "disksim_validate",
        "fio_iolog",
        "blkparse",
        "hp_srt",
        "spc",
        "msr",
        "systor",
        "alibaba",
        "tencent",
        "vscsi",
        "oracle_general",
        "csv",
        "parquet",
    ]
    """Names the format of the file; ``--format`` on the command line."""
    columns: str
    """Which column is what in a CSV or Parquet trace; ``--columns``."""
    time_unit: str
    """Unit of the times in the file; ``--time-unit``."""
    place_unit: str
    """Unit of the places in the file; ``--place-unit``."""
    length_unit: str
    """Unit of the lengths in the file; ``--length-unit``."""
    blk_action: Literal["Q", "D", "C"]
    """Which events of a ``blkparse`` trace are the requests: queued (``"Q"``), issued (``"D"``)
    or completed (``"C"``); ``--blk-action``.
    """
    glitches: Literal["error", "drop"]
    """Single requests whose clock jumped are an ``"error"``, or dropped and counted
    (``"drop"``); ``--drop-glitches``.
    """
    trace_device: int | str
    """Which device of the trace: its number or name, ``"all"`` for one shared address space, or
    ``"separate"`` to lay them one after the other.
    """
    address: Literal["error", "wrap", "scale", "compact"]
    """What to do with blocks the device does not have: ``"error"``, ``"wrap"``, ``"scale"`` or
    ``"compact"``.
    """
    address_offset: Whole
    """Block of the device from which on, to its end, the trace is laid."""
    sort_ms: Real
    """Requests may come so much out of order, and are sorted; ``--sort [MS]``, 1000 ms by
    default.
    """
    requests: Whole
    """How many requests are taken, from the first on (of the chosen device)."""


class DeviceKeys(TypedDict, total=False):
    """Keys of :func:`sledsim.device`."""

    bit_cell_nm: Real
    """Width of a bit cell."""
    travel_x_um: Real
    """Full travel of the sled in X; the displacement is up to half of it either way."""
    travel_y_um: Real
    """Full travel of the sled in Y."""
    tips: Whole
    """Probe tips, a multiple of ``active_tips``."""
    active_tips: Whole
    """Tips active at once, a multiple of ``tips_per_lbn``."""
    tips_per_lbn: Whole
    """Tips a block is striped over."""
    tip_sector_bits: Whole
    """Coded bits of a tip sector; ten code a byte."""
    servo_bits: Whole
    """Servo field between tip sectors."""
    turn: Literal["after_servo", "in_place"]
    """Where the sled turns to pass over a row again: beyond the servo field behind the row
    (``"after_servo"``), or where the row ends (``"in_place"``).
    """
    lbn_map: Literal["serpentine", "ascending"]
    """Order of LBNs over the rows of a track: ``"serpentine"`` or ``"ascending"``."""
    spring_factor: Real
    """Pull of the springs at ``spring_reference_um`` as a share of the actuators'."""
    spring_reference_um: Real
    """Displacement that ``spring_factor`` refers to, usually half the travel."""
    acceleration_x_m_s2: Real
    """Acceleration of the sled in X by its actuators."""
    acceleration_y_m_s2: Real
    """Acceleration of the sled in Y by its actuators."""
    tip_rate_kbit_s: Real
    """Data rate of one tip; times the bit cell, the access velocity."""
    resonance_hz: Real
    """Resonance of sled and springs."""
    settling_constants: Real
    """Time constants to wait after an X move: each is 1/(2 pi ``resonance_hz``)."""
    cylinder_switch: Literal["seek", "tip"]
    """A move to the next cylinder: a seek (``"seek"``), or the tips deflect (``"tip"``)."""
    turnaround: Literal["paper", "exact"]
    """Formula for turnarounds, ``"paper"`` or ``"exact"``; ``"disksim"`` kinematics have their
    own.
    """
    piecewise_chunks: Whole
    """Chunks per push, which ``"piecewise"`` kinematics use."""
    kinematics: Literal["analytic", "piecewise", "disksim"]
    """How moves are computed: ``"analytic"``, ``"piecewise"`` or ``"disksim"``."""
    direction: Literal["greedy_row", "best_run"]
    """How the direction of a pass is chosen: for the next row alone (``"greedy_row"``, as
    DiskSim does), or for a run of neighbouring rows (``"best_run"``).
    """
    reads_both_ways: bool
    """Reads rows downwards too."""
    inactive_after_ms: Real
    """Idle time until it parks, or ``inf``; 0: as soon as it is idle."""
    startup_ms: Real
    """Time to wake."""
    power_active_mw: Real
    """Power of the sled seeking or moving under tips."""
    power_idle_mw: Real
    """Power of the sled when it is ready."""
    power_inactive_mw: Real
    """Power of the sled when it is parked."""
    power_startup_mw: Real
    """Power of the sled while it wakes."""
    power_tip_mw: Real
    """Power of each powered tip, during a transfer."""
    tips_powered: Literal["used", "all"]
    """The tips of the blocks transferred (``"used"``), or all that can be active (``"all"``)."""
    power: Table
    """When it goes inactive, what saves energy, how it starts."""
    idle: Literal["hold", "coast"]
    """After a request: stay (``"hold"``), or sweep up and down (``"coast"``)."""
    park: Literal["middle_lbn", "centre"]
    """Where the inactive sled waits: ``"middle_lbn"`` or ``"centre"``."""
    command_overhead_ms: Real
    """Paid once per request on arrival; holds the bus."""
    bus_ms_per_block: Real
    """Bus time of one block in ms."""
    buffer: Table
    """Its buffer; without the table it has none."""
    micropositioning_cylinders: Whole
    """How far a tip reaches over neighbouring cylinders, in either direction."""
    micropositioning_later: Sequence[Any]
    """How far a tip reaches from some second on, a list of ``[from_s, cylinders]``."""
    conflicts: Table
    """Squares that share a resource."""
    batching: Table
    """Which requests are served together."""
    faults: Table
    """What fails, and what is done about it."""
    hold_up_us: Real
    """How long passes under way go on after a power failure; a block under the tips that is not
    whole by then is torn.
    """
    base: str
    """Names the preset or file that a variant starts from; a path is relative to the variant."""
    title: str
    """What the device is."""
    controller_cache: Table
    """Memory of a controller before the device."""
    kind: Literal[
        "mems",
        "disk",
        "flash",
        "memory",
        "stripe",
        "raid0",
        "raid1",
        "raid5",
        "raid6",
        "raid10",
        "actuators",
        "read_cache",
        "mcd",
        "mwb",
    ]
    """The kind of device, which decides the other keys."""
    surfaces: Whole
    """How many surfaces; a sector passes under one head, which is switched, and all heads move
    together.
    """
    cylinders: Whole
    """How many cylinders."""
    start_angle_revolutions: Real
    """Angle under the heads at time zero; sectors 0 of all tracks begin at angle 0."""
    revolution_ms: Real
    """Time of a revolution, to the picosecond; in place of ``rpm``."""
    rpm: Real
    """Revolutions a minute, exact."""
    mapping: Literal["ascending", "serpentine_zone", "serpentine_drive", "serpentine_bands"]
    """Order in which blocks visit the heads of a cylinder: ``"ascending"``,
    ``"serpentine_zone"`` or ``"serpentine_drive"``; or the tracks of a band:
    ``"serpentine_bands"``.
    """
    band_cylinders: Whole
    """With ``"serpentine_bands"``, which needs it: cylinders of a band, counted from the first
    of the zone; the last may be narrower.
    """
    sparing: Literal[
        "none",
        "zone_end_tracks",
        "cylinder_end",
        "track_end",
        "cylinder_end_no_slips",
        "cylinder_front",
        "cylinder_front_no_slips",
        "disk_end",
        "range_end",
        "zone_end",
        "zone_end_no_slips",
    ]
    """Where spare sectors are."""
    sparing_range_cylinders: Whole
    """With ``"range_end"``, which needs it: length of a range, counted from the first cylinder
    of the zone; the last may be shorter.
    """
    zone: Table
    """The zones, from the outer edge inwards."""
    unused_cylinders: Sequence[Any]
    """Cylinders in no zone, each a number or a pair of the first and the last."""
    unused_end_blocks: Whole
    """How many of the last blocks that would fit are not offered."""
    blocks: Whole
    """Capacity in blocks; if it is given, it must be what the zones come to."""
    seek: Literal["table", "three_part", "hpl", "datasheet"]
    """Model of the arm: ``"table"``, ``"hpl"``, ``"three_part"`` or ``"datasheet"``."""
    seek_zero_ms: Real
    """An access whose arm need not move."""
    head_switch_ms: Real
    """Time to change the head; a seek goes on at the same time, and the longer of the two
    counts.
    """
    write_settle_ms: Real
    """Time added to a seek or head switch before a write; may be negative."""
    zero_latency_read: bool
    """Takes sectors of a track in the order in which they pass, of a read; ``false``: from its
    first block on.
    """
    zero_latency_write: bool
    """Takes sectors of a track in the order in which they pass, of a write; ``false``: from its
    first block on.
    """
    bus_write_ms_per_block: Real
    """Bus time of a block to the drive in ms, if it differs."""
    hold_bus_reads: bool
    """Keeps the bus for a read from its first block to its last, not only while blocks cross."""
    never_disconnect: bool
    """Keeps the bus from the arrival of a request to its completion: the drive knows of one
    request at a time.
    """
    overheads: Table
    """Times of the processor."""
    queue: Table
    """The queue in the drive; without it the scheduler orders all requests."""
    cache: Table
    """The write cache of a drive of today."""
    physical_sector_blocks: Whole
    """Blocks of a physical sector, a power of two: a write that does not fill its sectors reads
    them first and writes a revolution later; 8 for drives that emulate sectors of 512 bytes.
    """
    seek_falls: Literal["refuse", "keep", "smooth"]
    """With ``"table"`` and ``"hpl"``: what to do where measured times fall: ``"refuse"``,
    ``"keep"`` or ``"smooth"``.
    """
    seek_min_ms: Real
    """``datasheet``: time for one cylinder; the three times are met exactly by a + b √d + c d."""
    seek_full_ms: Real
    """``datasheet``: time across all cylinders."""
    seek_two_cylinders_ms: Real
    """``datasheet``: time for two cylinders, if the curve begins there: a track that is next
    needs less settling than others.
    """
    seek_average_ms: Real
    """``datasheet``: average over all moves between two cylinders."""
    seek_table_ms: Sequence[Any]
    """``table``: list of ``[cylinders, ms]`` with straight lines between; before the first point
    and after the last the time is theirs.
    """
    seek_acceleration_cylinders_per_ms2: Real
    """``three_part``: how fast the arm speeds up and slows down, in cylinders per ms^2."""
    seek_top_speed_cylinders_per_ms: Real
    """``three_part``: the speed at which it coasts, in cylinders per ms."""
    seek_settle_ms: Real
    """``three_part``: time to settle."""
    seek_knee_cylinders: Whole
    """``hpl``: distance from which on ``seek_long_ms`` holds."""
    seek_short_ms: Sequence[Any]
    """``hpl``: ``[a, b]`` for a + b √d below ``seek_knee_cylinders``."""
    seek_long_ms: Sequence[Any]
    """``hpl``: ``[a, b]`` for a + b d from ``seek_knee_cylinders`` on."""
    seek_first_ms: Sequence[Any]
    """``hpl``: list of measured times for one cylinder, two and so on."""
    units: Whole
    """Pages that are read or programmed at once; page *n* is on unit *n* modulo ``units``."""
    page_blocks: Whole
    """Size of a page; a write of less programs all of it."""
    read_us: Real
    """Time of a unit to read a page."""
    program_us: Real
    """Time of a unit to program a page."""
    link_mb_s: Real
    """Rate of the link that all units share, or ``inf``."""
    power_unit_mw: Real
    """Power of each unit at work."""
    latency_ms: Real
    """Time before the first block of a request."""
    ms_per_block: Real
    """Time for each block in ms."""
    battery: bool
    """Keeps its data over a power failure of a served device."""
    children: Whole
    """How many devices, all as in the table ``[child]``."""
    unit_blocks: Whole
    """What follows on one device before the next one's turn comes."""
    child: Table
    """The device of each child."""
    start: Literal["together", "in_turn"]
    """How children that start without power are started: ``"together"`` or ``"in_turn"``."""
    reads: Literal["shortest_queue", "round_robin", "nearest"]
    """The copy that a read goes to: ``"shortest_queue"``, ``"round_robin"`` or ``"nearest"``."""
    spares: Whole
    """Devices like the (first) child that stand by."""
    fail_child: Sequence[Any] | Whole
    """Which child fails, by its number from 0, spares after the others; a list for several."""
    fail_at_ms: Real | Sequence[Any]
    """When the child of ``fail_child`` fails; a list for several."""
    rebuild_after_ms: Real
    """Time from a failure to the begin of the rebuild."""
    rebuild_idle_ms: Real
    """Goes on with a rebuild when there has been no request of the host for so long."""
    rebuild_min_mb_s: Real
    """How fast a rebuild goes on in any case; 0 is in idle time only, ``inf`` does not wait."""
    rebuild_unit_blocks: Whole
    """What of a child is rebuilt in one go, a multiple of ``unit_blocks``."""
    actuators: Whole
    """How many arms, each as the disk in the table ``[child]``."""
    front: Table
    """The fast device."""
    back: Table
    """The slow device."""
    segment_kib: Real
    """Size of a segment, a multiple of 512 bytes."""
    headers: bool
    """Gives every segment a header block on the front; if not, the table is in non-volatile
    memory.
    """
    front_mib: Real
    """How much of the front is used; no more than the back holds."""
    front_placement: Literal["first", "centre", "whole"]
    """Where on the front the segments are: ``"first"``, ``"centre"`` or ``"whole"``."""
    shortcut: bool
    """Serves pending requests by the buffer."""
    immediate_report: bool
    """Frees a segment as soon as its data are in the buffer."""
    read_priority: bool
    """With Immediate Report: writes data in the buffer when the back is idle, the buffer is
    full, or a request waits for them; if not, at once.
    """
    partial_write: bool
    """Writes a part of a segment without reading the rest."""
    fetch_kib: Real | str
    """What a read miss fetches: the aligned group around the segment, a multiple of it, or
    ``"auto"``.
    """
    bypass_after_kib: Real
    """Reads that go on after so much read in sequence go to the back and are not cached."""
    buffer_kib: Real
    """Size of the non-volatile segment buffer, a segment or more."""
    exchange_kib: Real
    """The most that one request to the back moves, up to the buffer: neighbouring segments are
    fetched and written together.
    """
    buffer_latency_ms: Real
    """Latency of the buffer before the first block, to the host."""
    buffer_ms_per_block: Real
    """Time of a block from the buffer to the host in ms."""
    policy: str
    """Which segment is given up: ``"lru"``, ``"lfuda"``, ``"slru"``, ``"arc"`` or ``"s3fifo"``,
    with its keys in parentheses.
    """
    clean_after_idle_ms: Real
    """Writes dirty segments to a back that had nothing to do for so long."""
    clean_above: Real
    """Writes dirty segments, idle or not, while more than this share is dirty."""
    log_kib: Real
    """Size of a log, a multiple of 512 bytes."""
    clean_logs: Whole
    """Logs that are cleaned together, up to what the buffer holds."""
    clean_idle_above: Real
    """Share of the logs in use above which an idle back is written to."""
    clean_to: Real
    """Share of the logs in use at which cleaning stops."""
