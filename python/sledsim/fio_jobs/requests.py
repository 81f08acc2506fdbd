"""From a job of fio to the keys of a generator."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from sledsim.fio_jobs.options import (
    ASYNCHRONOUS,
    IGNORED,
    REFUSED,
    SYNCHRONOUS,
    TAKEN,
    UNCACHED,
)

if TYPE_CHECKING:
    from sledsim.fio_jobs.values import Job

_BLOCK = 512
_TRIMS = ("trim", "randtrim", "trimwrite", "randtrimwrite")
_PATTERNS = ("read", "write", "randread", "randwrite", "randrw")


class Client(NamedTuple):
    """One process of a job, which ``numjobs`` repeats."""

    keys: dict[str, Any]
    """Those of the generator, without ``requests``."""
    requests: int | None
    """``None`` if the job ends by the clock alone."""


class _Sizes(NamedTuple):
    """Sizes of requests in bytes, and their shares."""

    sizes: list[int]
    shares: list[int]

    @property
    def mean(self) -> float:
        total = sum(size * share for size, share in zip(self.sizes, self.shares, strict=True))
        return total / sum(self.shares)


class _Region(NamedTuple):
    """Where a job works, in bytes."""

    offset: int
    length: int
    """A multiple of the smallest request."""
    amount: int
    """What is read or written in one pass, unless ``io_size`` says otherwise."""


def clients_of(job: Job, device_blocks: int | None) -> list[Client]:
    """Return the clients of a job.

    Parameters
    ----------
    job
        The job; what is to be said of it is added to its cautions.
    device_blocks
        How many blocks the device has, if that is known.

    Raises
    ------
    SledsimError
        For an option that would change the requests and is not taken, and a wrong value.
    """
    _check_names(job)
    write, random, read_share = _pattern(job)
    sizes = _sizes(job, write)
    arrivals = _arrivals(job, write)
    _say_what_differs(job)
    clients = []
    for number in range(job.whole("numjobs", 1, 1, 1000)):
        region = _region(job, sizes.sizes[0], number, device_blocks, random=random)
        keys: dict[str, Any] = {"kind": "sequential", "read_fraction": read_share}
        keys |= _sizes_as_keys(sizes) | arrivals
        if random:
            keys |= _places(job, sizes, region, write)
        requests = _requests(job, sizes, region, arrivals.get("rate"))
        keys["first_lbn"] = region.offset // _BLOCK
        keys["last_lbn"] = (region.offset + region.length) // _BLOCK - 1
        if random and keys["kind"] == "random":
            _say_what_repeats(job, requests, region.length, sizes)
        clients.append(Client(keys, requests))
    return clients


def _check_names(job: Job) -> None:
    for name, option in job.section.options.items():
        if name in TAKEN or name in IGNORED:
            continue
        if name not in REFUSED:
            job.refuse(name, "is not taken; the page on fio says which options are")
        why, harmless = REFUSED[name]
        if option.value not in harmless:
            job.refuse(name, f"is not taken, and would change the requests: {why}")
    for name in ("direct", "buffered", "norandommap", "time_based"):
        job.flag(name)
    if job.has("filename") and ":" in (job.section.options["filename"].value or ""):
        job.refuse("filename", "must be one file; several are not taken")


def _pattern(job: Job) -> tuple[bool, bool, float]:
    """Return whether sizes and rates are those of writes, whether places are random, the reads."""
    word = job.text("rw", "read")
    if word in _TRIMS:
        job.refuse("rw", "is not taken: workloads have no trims")
    if word in ("rw", "readwrite"):
        problem = (
            "is not taken: fio reads and writes on at two places, a workload that is sequential at "
            "one; write a job that reads and one that writes"
        )
        job.refuse("rw", problem)
    if word.partition(":")[0] in _PATTERNS and ":" in word:
        job.refuse("rw", "is not taken with a number behind the colon")
    job.one_of("rw", "read", _PATTERNS)
    reads_percent = job.whole("rwmixread", 50, 0, 100)
    writes_percent = job.whole("rwmixwrite", 50, 0, 100)
    if [name for name in job.section.options if name.startswith("rwmix")][-1:] == ["rwmixwrite"]:
        reads_percent = 100 - writes_percent
    if word != "randrw":
        reads = word.endswith("read")
        return not reads, word.startswith("rand"), float(reads)
    for name in ("bs", "bsrange", "bssplit", "ba"):
        default = "4k" if job.has(name) else ""
        if job.of_operation(name, default, False) != job.of_operation(name, default, True):
            job.refuse(name, "must be the same for reads and writes of one job")
    return False, True, reads_percent / 100


def _sizes(job: Job, write: bool) -> _Sizes:
    """Return the sizes of requests, the smallest first."""
    name = next((name for name in ("bssplit", "bsrange") if job.has(name)), "bs")
    if name == "bssplit" and job.has("bsrange"):
        job.refuse("bsrange", "must not stand beside bssplit")
    text = job.of_operation(name, "4k" if name == "bs" else "", write)
    if name == "bssplit":
        found = _split(job, text)
    elif name == "bsrange" and text:
        ends = [job.number(name, end) for end in re.split("[-:]", text)]
        if len(ends) != 2 or min(ends) == 0:
            job.refuse(name, "must be two sizes, as in 4k-16k")
        low, high = sorted(ends)
        count = -(-high // low)
        if count > 4096:
            job.refuse(name, "must have at most 4,096 sizes: multiples of the smallest")
        found = _Sizes([min(low * at, high) for at in range(1, count + 1)], [1] * count)
    else:
        found = _Sizes([job.number(name, text or "4k")], [1])
    for size in found.sizes:
        if size == 0 or size % _BLOCK or size % found.sizes[0]:
            problem = "must be multiples of the 512 bytes of a block, and of the smallest size"
            if not job.has(name):
                name = "kb_base"
            job.refuse(name, f"{size} bytes: sizes {problem}")
    return found


def _split(job: Job, text: str) -> _Sizes:
    entries: dict[int, int | None] = {}
    for part in text.split(":"):
        size, _, percent = part.partition("/")
        known = entries.setdefault(job.number("bssplit", size), None)
        if known is not None:
            job.refuse("bssplit", "must name a size once")
        if percent.strip():
            entries[job.number("bssplit", size)] = job.number("bssplit", percent)
    given = sum(share for share in entries.values() if share is not None)
    blanks = sum(share is None for share in entries.values())
    if given > 100 or (given < 100 and not blanks):
        job.refuse("bssplit", f"its percentages are {given} in all, and must be 100")
    rest = 100 - given
    scale = max(blanks, 1)
    shares = {size: rest if share is None else share * scale for size, share in entries.items()}
    sizes = sorted(size for size, share in shares.items() if share)
    return _Sizes(sizes, [shares[size] for size in sizes])


def _sizes_as_keys(sizes: _Sizes) -> dict[str, Any]:
    if len(sizes.sizes) == 1:
        return {"size": "fixed", "mean_size_kib": sizes.sizes[0] / 1024}
    listed = [size / 1024 for size in sizes.sizes]
    return {"size": "listed", "sizes_kib": listed, "size_shares": sizes.shares}


def _arrivals(job: Job, write: bool) -> dict[str, Any]:
    """Return how requests arrive: closed, or open with a rate."""
    depth = job.whole("iodepth", 1, 1, 10**6)
    engine = job.text("ioengine", "psync")
    if engine in SYNCHRONOUS and depth > 1:
        note = "" if job.has("ioengine") else ", which is fio's own choice"
        job.caution(
            f"iodepth={depth}: is 1, as in fio: the engine {engine}{note} waits for each request",
            "iodepth",
        )
        depth = 1
    elif engine not in SYNCHRONOUS | ASYNCHRONOUS:
        known = ", ".join(sorted(SYNCHRONOUS | ASYNCHRONOUS))
        job.refuse("ioengine", f"is not taken; must be one of {known}")
    think_us = job.time_us("thinktime", "us")
    rate = job.number("rate_iops", job.of_operation("rate_iops", "0", write))
    if rate:
        if think_us:
            job.refuse("thinktime", "must not stand beside rate_iops")
        if job.text("rw", "read") == "randrw":
            problem = (
                "is not taken with randrw, where fio holds reads and writes to it apart; write a "
                "job that reads and one that writes"
            )
            job.refuse("rate_iops", problem)
        process = job.one_of("rate_process", "linear", ("linear", "poisson"))
        job.caution(
            f"rate_iops={rate}: arrivals are open here, {rate} per s whatever the device does; fio "
            f"has no more than iodepth={depth} outstanding. The two agree as long as so many "
            "suffice; else fio asks later, and its times of completion have no such wait in them",
            "rate_iops",
        )
        return {"rate": rate, "arrivals": "constant" if process == "linear" else "poisson"}
    if not think_us:
        return {"queue_depth": depth}
    if job.whole("thinktime_blocks", 1, 0) != 1:
        job.refuse("thinktime_blocks", "must be 1: a client thinks after each request here")
    if depth > 1:
        text = f"iodepth={depth}: is 1, as in fio: with thinktime no more is outstanding"
        job.caution(text, "iodepth" if job.has("iodepth") else "thinktime")
    return {"queue_depth": 1, "think_ms": think_us / 1000}


def _region(
    job: Job, smallest: int, number: int, device_blocks: int | None, *, random: bool
) -> _Region:
    """Return where the client of this number works."""
    whole = None if device_blocks is None else device_blocks * _BLOCK

    start, of_start = job.amount("offset", whole) or (0, False)
    step, of_step = job.amount("offset_increment", whole) or (0, False)
    offset = start + number * step
    if of_start or of_step:
        offset = _up(offset, smallest)
    name = "offset_increment" if number and job.has("offset_increment") else "offset"
    if offset % _BLOCK:
        job.refuse(name, f"begins at byte {offset}; must be a multiple of the 512 of a block")
    given, percentage = job.amount("size", whole) or (0, False)
    if whole is None and not given:
        job.refuse_missing("size", "a job without one works on all of the device: give the device")
    if whole is not None and (percentage or not given):
        given = min(given or whole, whole - offset) // smallest * smallest
    length = given // smallest * smallest if random else _up(given, smallest)
    if length < smallest:
        name = "size" if job.has("size") else name
        job.refuse(name, f"leaves {max(given, 0)} bytes, too few for a request of {smallest}")
    if whole is not None and offset + length > whole:
        name = "size" if job.has("size") else name
        end = f"the job ends at byte {offset + length}"
        job.refuse(name, f"{end}; must end in the {whole} bytes of the device")
    # With a map of the blocks visited, no part of one is left for another request.
    repeats = job.flag("norandommap") or job.has("random_distribution")
    return _Region(offset, length, given if random and repeats else length)


def _up(amount: int, unit: int) -> int:
    return -(-amount // unit) * unit


def _places(job: Job, sizes: _Sizes, region: _Region, write: bool) -> dict[str, Any]:
    """Return where random requests go."""
    smallest = sizes.sizes[0]
    align = smallest
    if job.has("ba"):
        align = job.number("ba", job.of_operation("ba", str(smallest), write))
        if align == 0 or align % _BLOCK or smallest % align:
            job.refuse("ba", "must be a multiple of the 512 bytes of a block that divides the size")
    if region.offset % align:
        name = "offset" if job.has("offset") else "offset_increment"
        job.refuse(name, f"must be a multiple of the {align} bytes to which requests are aligned")
    keys: dict[str, Any] = {"kind": "random", "blocking": align // _BLOCK}
    kind, _, theta = job.text("random_distribution", "random").partition(":")
    if kind == "zipf":
        if not re.fullmatch(r"[0-9]+(\.[0-9]*)?|\.[0-9]+", theta) or not 0 < float(theta) <= 10:
            job.refuse("random_distribution", "must be zipf:THETA, above 0 and at most 10")
        if float(theta) == 1:
            job.refuse("random_distribution", "fio takes no theta of 1; write 0.99, say")
        keys |= {"kind": "zipf", "zipf_exponent": float(theta), "unit_blocks": smallest // _BLOCK}
    elif kind == "pareto":
        if not re.fullmatch(r"0?\.[0-9]*[1-9][0-9]*", theta):
            job.refuse("random_distribution", "must be pareto:H, above 0 and below 1")
        keys |= {"kind": "pareto", "pareto_h": float(theta), "unit_blocks": smallest // _BLOCK}
    elif kind != "random" or theta:
        job.refuse("random_distribution", "is not taken; must be random, zipf:THETA or pareto:H")
    return keys


def _requests(job: Job, sizes: _Sizes, region: _Region, rate: int | None) -> int | None:
    """Return how many requests a client sends, ``None`` if the clock alone ends it."""
    given, _ = job.amount("io_size", region.length) or (0, False)
    count = max(math.ceil((given or region.amount) / sizes.mean), 1)
    if job.has("number_ios") and (most := job.whole("number_ios", 0, 0)):
        count = min(count, most)
    count *= job.whole("loops", 1, 1)
    runtime_us = job.time_us("runtime", "s")
    if not runtime_us:
        return count
    if rate is not None:
        in_time = max(rate * runtime_us // 10**6, 1)
        return in_time if job.flag("time_based") else min(count, in_time)
    if job.flag("time_based"):
        return None
    text = "runtime: fio ends the job then if it is not through; here it sends all its requests"
    job.caution(text, "runtime")
    return count


def _say_what_differs(job: Job) -> None:
    engine = job.text("ioengine", "psync")
    direct = job.flag("direct") or (job.has("buffered") and not job.flag("buffered"))
    if engine not in UNCACHED:
        if not direct:
            name = "direct" if job.has("direct") else None
            text = "direct=1 is missing: fio goes through the page cache, which is not simulated"
            job.caution(text, name)
        if not job.has("filename"):
            job.caution(
                "filename is missing: fio makes files, which the file system places; here the job "
                "works at its offset on the device"
            )


def _say_what_repeats(job: Job, requests: int | None, length: int, sizes: _Sizes) -> None:
    """Tell how often a block comes twice, where fio visits all before any again."""
    if job.flag("norandommap"):
        return
    text = "norandommap is missing: fio visits each block once before any again; here "
    if len(sizes.sizes) > 1 or requests is None:
        cut = ", and cuts requests for that" if len(sizes.sizes) > 1 else ""
        text = text.replace(";", f"{cut};")
        job.caution(f"{text}places and sizes are drawn independently")
        return
    blocks = length // sizes.sizes[0]
    # Of n draws from b blocks, b (1 - (1 - 1/b)^n) differ in the mean.
    differ = -blocks * math.expm1(requests * math.log1p(-1 / blocks)) if blocks > 1 else 1.0
    again = min(requests, blocks) - differ
    if again >= 0.5:
        job.caution(
            f"{text}places are drawn independently, and of {requests:,} requests, about "
            f"{again:,.0f} go to a block that was visited where fio's go to a new one"
        )
