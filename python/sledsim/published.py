"""Models of disks against numbers that were measured and published."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib.resources import files
from statistics import harmonic_mean, median
from typing import TYPE_CHECKING, Any, Literal

from sledsim._above import Tabled
from sledsim._arguments import refuse, text
from sledsim._core import VERSION
from sledsim._number_text import number, percent
from sledsim._progress import told
from sledsim.hardware import device_of
from sledsim.loads import read_trace, workload
from sledsim.results.reported import Reported
from sledsim.results.rows import Rows, rows_of
from sledsim.show.sheet import Sheet, Table
from sledsim.simulation import simulate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sledsim._progress import ProgressLike
    from sledsim.hardware import Device, DeviceLike
    from sledsim.results.rows import Kind

_FOLDER = files("sledsim") / "data" / "published"
_REQUESTS = 20_000
_PIECES = 20
_ALIGNED: dict[str, Any] = {"size": "fixed", "mean_size_kib": 4, "blocking": 8}
_MIB = 2048
_FLUSHES = 21


@dataclass(frozen=True)
class _Model:
    """Makes the simulations that numbers need, each once."""

    device: Device
    made: dict[tuple[object, ...], Any]

    def reads(self, depth: int) -> Any:
        """Return a run of random reads of 4 KiB."""
        return self._random(depth, 1.0, _REQUESTS)

    def _random(self, depth: int, reads: float, requests: int, part: int = 1) -> Any:
        key = (depth, reads, part)
        if key not in self.made:
            load = workload(
                "random",
                queue_depth=depth,
                read_fraction=reads,
                requests=requests,
                last_lbn=self.device.blocks // part - 1,
                **_ALIGNED,
            )
            self.made[key] = simulate(load, self.device, rows=False)
        return self.made[key]

    def read_ms(self, percent: float, depth: int = 1) -> float | None:
        """Return a percentile of the response times of random reads."""
        ms: float | None = self.reads(depth).percentile(percent)
        return ms

    def read_iops(self, depth: int) -> float:
        """Return random reads a second."""
        return float(self.reads(depth).summary["throughput_iops"])

    def tenth_gain(self, depth: int) -> float:
        """Return how many times as many random reads a second the outer tenth serves."""
        tenth = self._random(depth, 1.0, _REQUESTS, part=10)
        return float(tenth.summary["throughput_iops"]) / self.read_iops(depth)

    def write_iops(self, requests: int, depth: int = 1) -> float:
        """Return random writes a second of so many, with what the cache takes at first."""
        return float(self._random(depth, 0.0, requests).summary["throughput_iops"])

    def sequential_read_mb_s(self) -> float:
        """Return the rate over the whole range, from pieces of it."""
        return self._sequential(1.0)

    def sequential_write_mb_s(self) -> float:
        """Return the rate of writes."""
        return self._sequential(0.0)

    def _sequential(self, reads: float) -> float:
        starts = [self.device.blocks * piece // _PIECES // _MIB * _MIB for piece in range(_PIECES)]
        return harmonic_mean(
            self._rate_mb_s(reads, 1, first_lbn=first, last_lbn=first + 201 * _MIB - 1)
            for first in starts
        )

    def outer_read_mb_s(self, streams: int = 1) -> float:
        """Return the rate of streams, each from the beginning of one of as many equal ranges."""
        return self._rate_mb_s(1.0, streams)

    def _rate_mb_s(self, reads: float, streams: int, **region: Any) -> float:
        """Return the rate of requests of 1 MiB, each where the last of its stream ended."""
        load = workload(
            "sequential",
            queue_depth=streams,
            requests=200 * streams,
            read_fraction=reads,
            size="fixed",
            mean_size_kib=1024,
            streams=streams,
            **region,
        )
        return float(simulate(load, self.device, rows=False).summary["throughput_mb_s"])

    def flush_ms(self, writes: int) -> float:
        """Return the median time of a flush after so many scattered writes."""
        times = []
        step = self.device.blocks // (writes * _FLUSHES) // 8 * 8
        for turn in range(_FLUSHES):
            # Each write lies in a part of its own, the parts in an order without a pattern.
            places = [(turn * 7 + n * 41) % (writes * _FLUSHES) * step for n in range(writes)]
            rows = [_row(float(n), lbn, 8, "W") for n, lbn in enumerate(places)]
            trace = read_trace([*rows, _row(writes + 1.0, 0, 0, "F")], columns=_COLUMNS)
            run = simulate(trace, self.device, rows=True)
            flush = max(range(len(run.rows["id"])), key=run.rows["arrival_ns"].__getitem__)
            times.append((run.rows["completion_ns"][flush] - run.rows["arrival_ns"][flush]) / 1e6)
        return float(median(times))


_COLUMNS = "time=ms:ms, offset=lbn:512B, bytes=blocks:512B, op=op"


def _row(ms: float, lbn: int, blocks: int, op: str) -> dict[str, object]:
    return {"ms": ms, "lbn": lbn, "blocks": blocks, "op": op}


class Published(Tabled, Reported):
    """Numbers of a device beside those of its model; made by :func:`validate_published`."""

    _kind = "published"

    def __repr__(self) -> str:
        missed = len(self.missed)
        return f"<sledsim published numbers of {self._document['device']}: {missed} missed>"

    @property
    def table(self) -> Rows:
        """One row for each number: ``what``, ``unit``, ``measured``, ``simulated``, and others.

        ``distance`` is simulated / measured - 1; ``role`` is ``"fitted"`` or ``"test"``; ``goal``
        is the largest distance of a test that has one, and ``met`` whether it is kept.
        """
        return rows_of(self._document["numbers"], _KINDS)

    @property
    def missed(self) -> list[str]:
        """What was farther off than its goal."""
        return [line["what"] for line in self._document["numbers"] if line["met"] == "no"]

    def _sheet(self) -> Sheet:
        lines = self._document["numbers"]
        rows = [
            [
                line["what"],
                number(line["measured"], 4),
                number(line["simulated"], 4),
                f"{100 * line['distance']:+.1f} %",
                line["role"],
                _verdict(line),
            ]
            for line in lines
        ]
        tests = [line for line in lines if line["met"]]
        kept = sum(line["met"] == "yes" for line in tests)
        return Sheet(
            title=f"{self._document['device']} against {self._document['title']}",
            lead=[f"{kept} of {len(tests)} tests are within their goals."],
            tables=[
                Table(
                    ["number", "measured", "simulated", "distance", "", ""],
                    rows,
                    "Published numbers beside those of the model",
                    frozenset({0, 4, 5}),
                )
            ],
            named=True,
        )


_KINDS: dict[str, Kind] = dict.fromkeys(("what", "unit", "role", "met"), "text")


def _verdict(line: dict[str, Any]) -> str:
    if not line["met"]:
        return ""
    bound = percent(line["goal"])
    return f"within {bound}" if line["met"] == "yes" else f"MISSED {bound}"


def published_devices() -> list[str]:
    """Return the names of the devices of which measured numbers come with sledsim."""
    return sorted(file.name.removesuffix(".toml") for file in _FOLDER.iterdir())


def validate_published(
    name: Literal["barracuda2t", "exos2x18", "nearline20t"] | str,
    *,
    device: DeviceLike | None = None,
    progress: ProgressLike = None,
) -> Published:
    """Simulate what was measured on a device, and compare the numbers.

    Parameters
    ----------
    name
        One of :func:`published_devices`.
    device
        The model; by default the preset of that name.
    progress
        As for :func:`~sledsim.simulate`; it counts numbers.

    Raises
    ------
    SledsimError
        For an unknown name, or errors in the device.
    """
    if text("name", name) not in published_devices():
        refuse("name", name, f"one of {', '.join(published_devices())}")
    content = tomllib.loads((_FOLDER / f"{name}.toml").read_text())
    model = _Model(device_of(content["device"] if device is None else device), {})
    with told(progress) as beat:
        lines = []
        for done, (wanted, given) in enumerate(_numbers(content)):
            kind = wanted.pop("kind")
            lines.append(_line(given, _unit(kind), getattr(model, kind)(**wanted)))
            if beat is not None:
                beat(done + 1, len(content["number"]))
    return Published(
        {
            "sledsim": VERSION,
            "published": name,
            "device": model.device.name,
            "title": content["title"],
            "numbers": lines,
        }
    )


_OWN = ("what", "measured", "fitted", "goal")


def _numbers(content: dict[str, Any]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    for line in content["number"]:
        yield {key: value for key, value in line.items() if key not in _OWN}, line


def _unit(kind: str) -> str:
    """Return the unit that the name of a method of the model ends in; a ratio has none."""
    return next((unit for end, unit in _UNITS.items() if kind.endswith(end)), "")


_UNITS = {"_ms": "ms", "_iops": "1/s", "_mb_s": "MB/s"}


def _line(given: dict[str, Any], unit: str, simulated: float) -> dict[str, Any]:
    distance = simulated / given["measured"] - 1
    goal = given.get("goal")
    return {
        "what": given["what"],
        "unit": unit,
        "measured": float(given["measured"]),
        "simulated": simulated,
        "distance": distance,
        "role": "fitted" if given.get("fitted") else "test",
        "goal": goal,
        "met": None if goal is None else "yes" if abs(distance) <= goal else "no",
    }
