"""Comparisons: the same load on several devices or under several schedulers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from sledsim import executors
from sledsim._above import Drawn, Explained, Tabled
from sledsim._arguments import as_list, optional, refuse, whole
from sledsim._core import VERSION, SpecError
from sledsim._load import Load
from sledsim._number_text import half_width, mean, number
from sledsim._own_schedulers import label_of
from sledsim._progress import told
from sledsim.layout_maps import with_layout
from sledsim.loads import load_of
from sledsim.results import cautions
from sledsim.results.pairs import STATISTICS, between, have_one_order, responses
from sledsim.results.reported import Reported
from sledsim.results.rows import Rows, rows_of
from sledsim.simulation import Run, simulate

if TYPE_CHECKING:
    import threading
    from array import array
    from collections.abc import Mapping, Sequence

    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from sledsim._name_types import LayoutName
    from sledsim._own_schedulers import SchedulerLike
    from sledsim._progress import Beat, ProgressLike
    from sledsim.hardware import DeviceLike
    from sledsim.loads import LoadLike
    from sledsim.results.rows import Kind
    from sledsim.results.summaries import IntervalMs


class Comparison(Drawn, Explained, Tabled, Reported):
    """The result of a comparison; made by :func:`compare`."""

    _kind = "comparison"

    def __init__(
        self,
        runs: Sequence[Run],
        document: dict[str, Any],
        differences: Mapping[str, list[tuple[float, float]]] | None = None,
    ) -> None:
        super().__init__(document)
        self._differences = dict(differences or {})
        self.runs = runs
        """One run for each device and scheduler, in the order of ``to_dict()["runs"]``."""

    def __repr__(self) -> str:
        parts = []
        for line in self.table.to_dicts():
            mark = cautions.mark(self.cautions[line["label"]])
            took = mean(line["mean_ms"], half_width(line["mean_low_ms"], line["mean_high_ms"]))
            parts.append(f"{line['label']} {took} ms{' ' * bool(mark)}{mark}")
        return f"<sledsim comparison, mean response times: {', '.join(parts)}>"

    @property
    def labels(self) -> list[str]:
        """The label of each run in tables and pictures."""
        return [line["label"] for line in self._document["runs"]]

    @property
    def cautions(self) -> dict[str, list[dict[str, Any]]]:
        """The cautions of each run, by its label, as :attr:`Run.cautions`."""
        return dict(zip(self.labels, (run.cautions for run in self.runs), strict=True))

    @property
    def table(self) -> Rows:
        """One row for each run: its label, times with their intervals, rates, speed-up, pairs."""
        return rows_of([_record(line) for line in self._document["runs"]], _KINDS)

    @property
    def has_pairs(self) -> bool:
        """Whether requests were paired with those of the baseline."""
        return bool(self._differences)

    @property
    def on_trace(self) -> str | None:
        """The ratios of means on a trace as a sentence without its full stop, if there are any."""
        baseline, *others = self._document["runs"]
        ratios = [
            f"{number(line['trace_ratio'], 3)} times that of {line['label']}"
            for line in others
            if line["trace_ratio"] is not None
        ]
        label = baseline["label"]
        said = f"On this trace the mean response time of {label}, the baseline, is "
        return said + ", ".join(ratios) if ratios else None

    def percentile(
        self, percent: float, time: str = "response_time", op: str | None = None
    ) -> dict[str, float | None]:
        """Return a percentile in ms of each run, by its label.

        Parameters
        ----------
        percent, time, op
            As for :meth:`Run.percentile`.

        Raises
        ------
        SledsimError
            As there.
        """
        found = (run.percentile(percent, time, op) for run in self.runs)
        return dict(zip(self.labels, found, strict=True))

    def differences(self, label: str) -> list[tuple[float, float]]:
        """Return the distribution of paired differences of response time from the baseline.

        Parameters
        ----------
        label
            Of a run other than the baseline.

        Returns
        -------
        list of (ms, share)
            Rising differences, negative where the request was faster than on the baseline, each
            with the share of the pairs that do not exceed it; at most 1,000. Empty without pairs.

        Raises
        ------
        SledsimError
            For another label.
        RuntimeError
            If the requests were not paired.
        """
        if not self.has_pairs and len(self.runs) > 1:
            raise RuntimeError("there are no pairs: compare(..., paired=True) makes them")
        if label not in self._differences:
            others = ", ".join(self.labels[1:])
            refuse("label", label, f"of a run other than the baseline: {others or 'there is none'}")
        return self._differences[label]

    def to_pandas(self) -> pd.DataFrame:
        """Return :attr:`table` as a data frame of pandas; see :meth:`Rows.to_pandas`."""
        return self.table.to_pandas()

    def to_polars(self) -> pl.DataFrame:
        """Return :attr:`table` as a data frame of Polars; see :meth:`Rows.to_polars`."""
        return self.table.to_polars()

    def to_arrow(self) -> pa.Table:
        """Return :attr:`table` as a table of pyarrow; see :meth:`Rows.to_arrow`."""
        return self.table.to_arrow()


def compare(
    load: LoadLike,
    devices: Sequence[DeviceLike],
    schedulers: Sequence[SchedulerLike] = ("fcfs",),
    *,
    layout: LayoutName | str | Mapping[str, object] | None = None,
    same_lbns: bool = False,
    rows: bool = False,
    paired: bool = False,
    precision: float | str | None = None,
    replications: int = 1,
    workers: int | None = None,
    progress: ProgressLike = None,
) -> Comparison:
    """Run one load on every device under every scheduler, on all cores.

    A trace is the same everywhere. A generated workload draws the same arrivals, operations and
    sizes everywhere; its places are the same shares of each device, as a run on that device alone
    would have them, or with ``same_lbns`` the same LBNs, those of the smallest device.

    Parameters
    ----------
    load
        What to run: a load, or the name of one, as for :func:`~sledsim.simulate`.
    devices, schedulers
        What to compare, devices also by their names, schedulers of your own as for
        :func:`~sledsim.simulate`; the first of each is the baseline that speed-ups refer to.
    layout
        The layout of each of the devices, as for :func:`~sledsim.simulate`.
    same_lbns
        Lay the load on the first so many LBNs that every device has.
    rows
        Keep the rows of each run, as for :func:`sledsim.plots.path`.
    paired
        Compare request by request with the baseline: how many were faster, and by how much. For a
        trace, but one that is replayed with ``think="recorded"``, or an open load; of one seed. It
        takes two to four times as long, and while a run goes on 230 bytes for each of its requests.
    precision, replications
        As for :func:`~sledsim.simulate`; under ``precision`` a run goes on until it is precise,
        so runs may differ in length: the longer one begins with the requests of the shorter.
    workers
        How many runs at a time; by default as many as there are cores.
    progress
        ``True`` for a bar on stderr, or what is called now and then with the number of requests
        completed by all runs and of all to come, if known.

    Raises
    ------
    SledsimError
        For errors in the load, a pipe that cannot be copied, a layout that one of the
        devices cannot have, nothing to compare, a pair given twice, or requests that have no pairs.
    """
    load, workers = load_of(load), optional(whole, "workers", workers, 1, 1024)
    models = [with_layout(each, layout) for each in as_list("devices", devices)]
    orders: list[Any] = as_list("schedulers", schedulers)
    pairs = [(device, scheduler) for device in models for scheduler in orders]
    labels = _labels([device.name for device in models], [label_of(each) for each in orders])
    if not pairs:
        raise SpecError("nothing to compare: give a device and a scheduler at least")
    _check_paired(load, paired=paired, replications=replications)
    times: dict[int, array[int]] = {}
    blocks = min(device.blocks for device in models) if same_lbns else None
    shared = load if blocks is None else Load(load._core.within(blocks), load.name)
    kind = "threads" if workers is None else f"threads:{workers}"
    with told(progress) as beat:
        if len(pairs) > 1:
            shared.keep(beat)  # all runs read the same trace
        with executors.workers(kind, len(pairs)) as pool:
            tally = _Tally(len(pairs), beat, pool.stopped)

            def run(index: int) -> Run:
                device, scheduler = pairs[index]
                ran = simulate(
                    shared,
                    device,
                    scheduler,
                    rows=rows or paired,
                    precision=precision,
                    replications=replications,
                    workers=1,
                    progress=tally.callback(index),
                )
                if paired:
                    warm_up = ran.summary["warm_up"]
                    times[index] = responses(ran.rows, warm_up["requests"] if warm_up else 0)
                    if not rows:
                        ran._rows = None
                return ran

            tally.report()
            runs = dict(executors.completed(pool, run, range(len(pairs)), tally.report))
    in_order = [runs[index] for index in range(len(pairs))]
    found = {index: between(times[0], times[index]) for index in sorted(times)[1:]}
    documents = {index: document for index, (document, _) in found.items()}
    return Comparison(
        in_order,
        _document(in_order, labels, blocks, documents),
        {labels[index]: steps for index, (_, steps) in found.items()},
    )


def _check_paired(load: Load, *, paired: object, replications: object) -> None:
    """Refuse to pair the requests of runs that need not have the same ones in one order."""
    if not isinstance(paired, bool):
        refuse("paired", paired, "True or False")
    if paired and whole("replications", replications, 1) > 1:
        refuse("paired", paired, "left out with replications: rows are kept of a single run only")
    if paired and not have_one_order(load):
        refuse(
            "paired",
            paired,
            'given with an open load, or a trace that is replayed without think = "recorded": of'
            f" load {load.name} the order of the requests may depend on the device",
        )


class _Tally:
    """Progress of several runs, which end when ``stopped`` is set."""

    def __init__(
        self,
        runs: int,
        beat: Beat | None,
        stopped: threading.Event,
    ) -> None:
        self._stopped = stopped
        self._done: list[tuple[int, int | None]] = [(0, None)] * runs
        self._beat = beat

    def callback(self, index: int) -> Beat:
        """Return the progress callback of run ``index``."""

        def beat(done: int, of: int | None) -> None:
            if self._stopped.is_set():
                raise KeyboardInterrupt
            self._done[index] = (done, of)

        return beat

    def report(self) -> None:
        """Report to the caller, from its own thread."""
        if self._beat is not None:
            totals = [of for _, of in self._done]
            known = [of for of in totals if of is not None]
            total = sum(known) if len(known) == len(totals) else None
            self._beat(sum(done for done, _ in self._done), total)


def _labels(devices: Sequence[str], schedulers: Sequence[str]) -> list[str]:
    """Label each run by its device, its scheduler, or both."""
    labels = []
    for device in devices:
        for scheduler in schedulers:
            parts = [device] * (len(devices) > 1 or len(schedulers) == 1)
            labels.append(", ".join(parts + [scheduler] * (len(schedulers) > 1)))
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        raise SpecError(f"'{twice}' is compared with itself: name each device and scheduler once")
    return labels


def _document(
    runs: Sequence[Run],
    labels: Sequence[str],
    blocks: int | None,
    pairs: Mapping[int, dict[str, Any]],
) -> dict[str, Any]:
    return {
        "sledsim": VERSION,
        "baseline": labels[0],
        "lbns": "each device's own" if blocks is None else f"0 to {blocks - 1} on every device",
        "runs": [
            {
                "label": label,
                **run.to_dict(),
                **_speed_up(runs[0], run),
                **_trace_ratio(runs[0], run),
                "pairs": pairs.get(index),
            }
            for index, (label, run) in enumerate(zip(labels, runs, strict=True))
        ],
    }


def _no_speed_up(baseline: Run, run: Run) -> str | None:
    """Return why there is no speed-up: cautions of the run, or else of the baseline."""
    own, first = (cautions.codes(r.cautions, unreliable=True) for r in (run, baseline))
    if not own and not first:
        return None
    reasons = own or [f"baseline: {first[0]}", *first[1:]]
    return ", ".join(code.replace("_", " ") for code in reasons)


def _speed_up(baseline: Run, run: Run) -> dict[str, Any]:
    """Return the speed-up, or why there is none."""
    reason = _no_speed_up(baseline, run)
    return {"speed_up": _ratio(baseline, run) if reason is None else None, "no_speed_up": reason}


def _trace_ratio(baseline: Run, run: Run) -> dict[str, Any]:
    """Return how many times shorter the mean is on this trace, or why that cannot be said.

    It is a fact about these requests, and says nothing of other loads.
    """
    found: dict[str, Any] = {"trace_ratio": None, "no_trace_ratio": None}
    if run.workload["workload"] != "trace":
        return found
    counts = {each.requests for each in (baseline, run)}
    if run.summary["saturated"]:
        return found | {"no_trace_ratio": "saturated"}
    if baseline.summary["saturated"]:
        return found | {"no_trace_ratio": "baseline: saturated"}
    if len(counts) > 1:
        return found | {"no_trace_ratio": "different requests"}
    theirs, ours = (each.summary["response_time_ms"]["mean"] for each in (baseline, run))
    return found | {"trace_ratio": theirs / ours if theirs and ours else None}


def _ratio(baseline: Run, run: Run) -> dict[str, Any] | None:
    """How many times shorter the mean response time is than the baseline's.

    The interval takes the two means as independent. Their loads are the same, so that they rise
    and fall together, and it is rather too wide.
    """
    theirs, ours = (r.summary["response_time_ms"]["mean"] for r in (baseline, run))
    if not ours or not theirs:
        return None
    ratio = theirs / ours
    if run is baseline:
        return {"ratio": 1.0, "low": 1.0, "high": 1.0}
    widths = [_interval(r)["half_width_share"] for r in (baseline, run)]
    if None in widths or max(widths) >= 1:
        return {"ratio": ratio, "low": None, "high": None}
    # The logarithm of the ratio is nearly normal, and its limits are never negative.
    spread = math.exp(math.hypot(*widths))
    return {"ratio": ratio, "low": ratio / spread, "high": ratio * spread}


def _interval(run: Run) -> IntervalMs:
    return run.summary["confidence"]["response_time_ms"]


_KINDS: dict[str, Kind] = {
    **dict.fromkeys(("label", "device", "scheduler", "caution", "busiest"), "text"),
    **dict.fromkeys(("no_speed_up", "no_trace_ratio"), "text"),
    **dict.fromkeys(("requests", "pairs"), "whole"),
    "saturated": "truth",
}
"""What is in the columns of :attr:`Comparison.table` that are not of numbers."""


def _record(line: dict[str, Any]) -> dict[str, Any]:
    summary, speed_up = line["summary"], line["speed_up"] or {}
    times = summary["response_time_ms"]
    interval = summary["confidence"]["response_time_ms"]
    requests, energy = summary["requests"], summary["energy_j"]
    pairs = line["pairs"] or {}
    differences = pairs.get("difference_ms", {})
    joules = None if energy is None else energy["total"]
    return {
        "label": line["label"],
        "device": line["device"],
        "scheduler": line["scheduler"],
        "requests": requests,
        "caution": ", ".join(cautions.codes(line["caution"])),
        "saturated": summary["saturated"] is not None,
        "mean_ms": times["mean"],
        "mean_low_ms": interval["low"],
        "mean_high_ms": interval["high"],
        "mean_half_width_share": interval["half_width_share"],
        "p50_ms": times["p50"],
        "p99_ms": times["p99"],
        "p99_9_ms": times["p99_9"],
        "max_ms": times["max"],
        "service_ms": summary["service_time_ms"]["mean"],
        "throughput_iops": summary["throughput_iops"],
        "throughput_mb_s": summary["throughput_mb_s"],
        "utilisation": summary["utilisation"],
        "busiest": summary["busiest"],
        "energy_j": joules,
        "energy_mj_per_request": None
        if joules is None or not requests
        else 1e3 * joules / requests,
        "speed_up": speed_up.get("ratio"),
        "speed_up_low": speed_up.get("low"),
        "speed_up_high": speed_up.get("high"),
        **{key: line[key] for key in ("no_speed_up", "trace_ratio", "no_trace_ratio")},
        "pairs": pairs.get("requests", 0),
        **{f"{key}_share": pairs.get(f"{key}_share") for key in ("faster", "equal", "slower")},
        **{f"difference_{key}_ms": differences.get(key) for key in STATISTICS},
    }
