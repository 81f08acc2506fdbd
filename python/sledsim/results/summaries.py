"""Types of the summary of a run, for type checkers and editors.

``scripts/summary_types.py`` writes this file from the schema of the summary. A number that is
undefined, such as the mean of no requests, is ``None``, and so is an unknown energy. Type checkers
take them as known all the same, since they are in nearly every run; check for ``None`` where there
may be no requests, or a device without values of power.
"""

from __future__ import annotations

from typing import Any, NotRequired, TypeAlias, TypedDict

MaybeNone: TypeAlias = Any
"""``None``, which type checkers do not insist on handling."""


class Saturated(TypedDict):
    """Set if the run was stopped because requests arrived faster than they could be served."""

    at_s: float
    """When it was stopped, in seconds."""
    queue: int
    """How many requests were waiting then."""


class Overloaded(TypedDict):
    """Set if requests of an open load arrived faster than they could be served, as far as the
    run tells; ``None`` also for a run that was stopped (saturated), and below 512 requests.
    Of several seeds, about all of them together.
    """

    offered_iops: float | MaybeNone
    """Requests that arrived per second; ``None`` if all arrived at once."""
    load: float | MaybeNone
    """The work that arrived, as time at the full rate of the device, as a share of the time in
    which it arrived; ``None`` if that is zero.
    """
    found_first: float
    """Mean of the requests under way that the first eighth of the arrivals found."""
    found_last: float
    """The same of the last eighth."""


class WarmUp(TypedDict):
    """What was run to warm up and is not counted; ``None`` without warm-up."""

    requests: int
    """Requests completed and not counted."""
    until_s: float
    """When counting began: the arrival of the first request that counts, in seconds."""


class Precision(TypedDict):
    """What came of the precision that was asked for; ``None`` if none was."""

    target: float
    """Half the interval of the mean response time was to be at most this share of it."""
    reached: float | MaybeNone
    """What it came to; with several seeds the worst of their own intervals."""
    met: bool
    """Whether the target was met."""
    missed: str | None
    """Why not; ``None`` if it was."""


class TimesMs(TypedDict):
    """One kind of time over all requests (service_time_ms: over those that met a mechanism), in
    milliseconds; everything is ``None`` without requests.
    """

    mean: float | MaybeNone
    """Mean over all of them, zeros included."""
    sd: float | MaybeNone
    """Standard deviation of the population."""
    scv: float | MaybeNone
    """Squared coefficient of variation: variance of the population over mean squared; ``None``
    if the mean is 0.
    """
    p50: float | MaybeNone
    """The time that 50 % of the requests did not exceed; at most 1/1024 too high."""
    p90: float | MaybeNone
    """The time that 90 % of the requests did not exceed; at most 1/1024 too high."""
    p99: float | MaybeNone
    """The time that 99 % of the requests did not exceed; at most 1/1024 too high."""
    p99_9: float | MaybeNone
    """The time that 99.9 % of the requests did not exceed; at most 1/1024 too high."""
    p99_99: float | MaybeNone
    """The time that 99.99 % of the requests did not exceed; at most 1/1024 too high."""
    max: float | MaybeNone
    """The longest."""


class IntervalMs(TypedDict):
    """Confidence interval of a mean, in milliseconds; ``None`` where there are too few requests
    for one.
    """

    mean: float | MaybeNone
    """Its middle: the mean over all whole batches, or over the means of all seeds."""
    low: float | MaybeNone
    """Its lower end."""
    high: float | MaybeNone
    """Its upper end."""
    half_width_share: float | MaybeNone
    """Half its width as a share of the mean."""
    batches: int
    """How many batches or seeds it is from."""
    batch_requests: int
    """Requests in each batch; 0 for seeds."""
    lag1: float | MaybeNone
    """Correlation of the means of neighbouring eighths of batches; 0 for seeds."""
    caution: str | None
    """Why it is not to be relied on: too few requests, correlated batches, overloaded, or
    saturated; ``None`` if it is.
    """


class Confidence(TypedDict):
    """Confidence intervals of means."""

    level: float
    """The share of such intervals that hold the true mean."""
    method: str
    """batch_means of a single run; replications: the means of several seeds; strata: the parts
    of a trace that was split.
    """
    response_time_ms: IntervalMs
    service_time_ms: IntervalMs
    queue_ms: IntervalMs


class LongestWait(TypedDict):
    """The request that waited longest in the queue; ``None`` if none had to wait."""

    queue_ms: float
    """How long it waited, in milliseconds."""
    seed: int | MaybeNone
    """In the run with this seed, of several."""
    id: int
    """Its id in the rows."""
    op: str
    """What it did: read, write, flush or trim."""
    lbn: int
    """Its first logical block."""
    blocks: int
    """Its length in blocks of 512 bytes."""
    arrival_s: float
    """When it arrived, in seconds."""


class EnergyJ(TypedDict):
    """Energy by cause in joules."""

    seek: float
    """Moving to where a transfer starts."""
    transfer: float
    """Moving under active tips or heads."""
    idle: float
    """Ready but without work."""
    inactive: float
    """Parked."""
    startup: float
    """Waking from the parked state."""
    read_ahead: float
    """Reading ahead: seeks, transfers and startups alike; not in the causes above."""
    destage: float
    """Writing what a buffer held back: seeks, transfers and startups alike; not in the causes
    above.
    """
    background: float
    """Tips that accessed blocks for background tasks; the passes that a task asked for itself
    are seek and transfer.
    """
    retry: float
    """Passes made again after errors or to verify writes, and seek errors: seeks, transfers and
    startups alike; not in the causes above.
    """
    total: float
    """The sum."""


class DelayedAccess(TypedDict):
    """An access that an episode delayed."""

    id: int | MaybeNone
    """The request in the rows of the device; ``None`` for what it writes back."""
    at_ns: int
    """When it would have begun, in ns."""
    by_ns: int
    """By how much it was delayed, in ns."""


class EpisodeSummary(TypedDict):
    """An episode in which a disk was slow."""

    begin_ns: int
    """Its beginning, in ns."""
    end_ns: int
    """Its end, in ns."""
    delayed: list[DelayedAccess]
    """The accesses to the media that it delayed."""


class DeviceSummary(TypedDict):
    """One device."""

    name: str
    """Its name in the tree."""
    energy_j: EnergyJ | MaybeNone
    """Its energy, without that of the devices inside it, in joules; ``None`` without values of
    power.
    """
    counts: dict[str, int]
    """What else it counts, by name; of a cache how many segments were asked for and found, and
    the blocks it moved.
    """
    episodes: NotRequired[list[EpisodeSummary]]
    """Of a disk with slow episodes those that began, from the start of the simulation on, of
    several seeds one after the other; else the key is missing.
    """


class MechanismSummary(TypedDict):
    """One mechanism."""

    name: str
    """The name of its device in the tree; of a bus with .bus behind it, of the link of flash
    with .link.
    """
    busy_s: float
    """How long it was busy, in seconds; of the units of flash the mean."""
    utilisation: float | MaybeNone
    """busy_s as a share of the time from the first arrival to the end of the simulation."""
    host: float | MaybeNone
    """The part of it for requests of the host."""
    other: float | MaybeNone
    """The part of it for other work: destaging, reading ahead, filling a cache, rebuilding,
    background tasks.
    """


class SeedSummary(TypedDict):
    """One run."""

    seed: int
    """Its seed."""
    requests: int
    """Requests counted."""
    throughput_iops: float | MaybeNone
    """Requests per second of its duration."""
    saturated: bool
    """Whether the load outran the device."""
    overloaded: bool
    """Whether its own requests arrived faster than they could be served."""
    mean_response_time_ms: float | MaybeNone
    """Mean response time."""
    mean_service_time_ms: float | MaybeNone
    """Mean service time."""
    mean_queue_ms: float | MaybeNone
    """Mean time in the queue."""
    confidence: IntervalMs


class TaskProgress(TypedDict):
    """For 0, 1, ... 100 % of its blocks, when so many were done first; ``None`` where they never
    were.
    """

    time_s: list[float | MaybeNone]
    """The end of the pass, in seconds."""
    requests: list[int | MaybeNone]
    """Requests of the load that had begun by then."""
    free_blocks: list[int | MaybeNone]
    """free_blocks by then."""


class TaskSummary(TypedDict):
    """One background task."""

    task: str
    """scan, scrub, backup or refresh."""
    order: str
    """In which order it takes the blocks that one pass might give it: nearest or lbn."""
    first_lbn: int
    """The first block that it is about, as the device counts."""
    blocks: int
    """How many blocks it is about."""
    tail: float
    """Share of its blocks from which on it asks for passes of its own."""
    done_blocks: int
    """Blocks that it is done with."""
    foreground_blocks: int
    """Blocks that it became done with because the load accessed them."""
    free_blocks: int
    """Blocks that it accessed with unused tips; refresh reads and writes each."""
    active_blocks: int
    """Blocks that it accessed in passes of its own."""
    again_blocks: int
    """How often a block was to be done again, because the load wrote it (backup)."""
    complete: bool
    """Whether it is done with all its blocks."""
    percent: TaskProgress
    """For 0, 1, ... 100 % of its blocks, when so many were done first; ``None`` where they never
    were.
    """


class Summary(TypedDict):
    """Statistics of a run. Units are in the names. What is undefined, such as the mean of no
    requests, is ``None``.
    """

    requests: int
    """Requests completed."""
    reads: int
    """Read requests."""
    writes: int
    """Write requests."""
    flushes: int
    """Flush requests."""
    trims: int
    """Trim requests."""
    read_fraction: float | MaybeNone
    """Reads as a share of reads and writes; ``None`` if there are neither."""
    errors: int
    """Requests that the device could not serve."""
    duration_s: float | MaybeNone
    """First arrival to last completion of what is counted, in seconds; ``None`` without
    requests. The sum over several seeds.
    """
    simulated_s: float
    """Instant at which the simulation ended, in seconds since its start. The sum over several
    seeds.
    """
    throughput_iops: float | MaybeNone
    """Requests per second of duration_s."""
    throughput_mb_s: float | MaybeNone
    """Data read and written, in 10^6 bytes per second of duration_s."""
    blocks_read: int
    """Blocks of 512 bytes read by requests without error."""
    blocks_written: int
    """Blocks of 512 bytes written by requests without error."""
    passes: int
    """Uninterrupted sweeps over the media."""
    retries: int
    """Repeated attempts."""
    mean_outstanding: float | MaybeNone
    """Requests that count in the device, averaged over duration_s, from arrivals and
    completions.
    """
    mean_queue_depth: float | MaybeNone
    """Mean over the arrivals that count of how many other requests were in the device, from
    their arrival to their completion; ``None`` where that is not observed (a served device).
    """
    max_queue_depth: int | MaybeNone
    """The most that one of them found."""
    utilisation: float | MaybeNone
    """Share of the time from the first arrival to the end of the simulation in which the busiest
    mechanism was busy; ``None`` if there is no such time or mechanism.
    """
    busiest: str | None
    """The name of that mechanism."""
    mechanism_requests: int
    """Requests that met a mechanism, over which service_time_ms is taken."""
    saturated: Saturated | None
    """Set if the run was stopped because requests arrived faster than they could be served."""
    overloaded: Overloaded | None
    """Set if requests of an open load arrived faster than they could be served, as far as the
    run tells; ``None`` also for a run that was stopped (saturated), and below 512 requests.
    Of several seeds, about all of them together.
    """
    interrupted: bool
    """Always false: a run that is stopped has no summary."""
    warm_up: WarmUp | None
    """What was run to warm up and is not counted; ``None`` without warm-up."""
    precision: Precision | None
    """What came of the precision that was asked for; ``None`` if none was."""
    response_time_ms: TimesMs
    """Completion minus arrival."""
    service_time_ms: TimesMs
    """Time at mechanisms that a request caused: seek, rotation, head switch, transfer, retry and
    other; over the mechanism_requests that met one.
    """
    queue_ms: TimesMs
    """Waiting for the bus with the command, then for the mechanism."""
    overhead_ms: TimesMs
    """Command processing, paid at arrival."""
    seek_ms: TimesMs
    """Positioning: for every pass the larger of X and Y."""
    x_seek_ms: TimesMs
    """X part of all seeks of a request, settle included."""
    y_seek_ms: TimesMs
    """Y part of all seeks of a request, turnarounds included."""
    settle_ms: TimesMs
    """Settling after X moves."""
    turnaround_ms: TimesMs
    """Reversals of the Y velocity."""
    rotation_ms: TimesMs
    """Rotational latency (disks)."""
    head_switch_ms: TimesMs
    """Head switches (disks)."""
    transfer_ms: TimesMs
    """Media transfer."""
    bus_ms: TimesMs
    """From the end of the media transfer to the last byte on the bus."""
    retry_ms: TimesMs
    """Repeated attempts."""
    other_ms: TimesMs
    """Anything else, such as starting up from the inactive state."""
    confidence: Confidence
    """Confidence intervals of means."""
    longest_wait: LongestWait | None
    """The request that waited longest in the queue; ``None`` if none had to wait."""
    energy_j: EnergyJ | MaybeNone
    """Energy of all devices together until the end of the simulation, in joules; ``None`` if one
    of them has no values of power.
    """
    request_energy_j: float | MaybeNone
    """Energy spent on the requests themselves, idling not included, in joules; ``None`` if
    energy_j is.
    """
    devices: list[DeviceSummary]
    """Every device of the tree, outermost first."""
    mechanisms: list[MechanismSummary]
    """What does the work, such as arms, sleds, memories and buses, outermost device first."""
    seeds: list[SeedSummary] | None
    """What the run with each seed gave, in their order; ``None`` for a single run."""
    background: list[TaskSummary]
    """What background tasks on unused tips came to, from the start of the run on, warm-up
    included; empty without any.
    """
